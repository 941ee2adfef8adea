//! One matrix in every format.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::Dir;

/// A matrix column by column; missing values are NaN.
pub struct Matrix {
    pub names: Vec<String>,
    pub columns: Vec<Vec<f64>>,
}

impl Matrix {
    /// Numbers of several kinds: halves, decimals, integers, mostly zeros, and by `seed`.
    pub fn random(rows: usize, columns: usize, seed: u64) -> Self {
        let mut state = seed;
        let mut next = || {
            // A 64-bit mixing step (Steele, Lea and Flood 2014); any sequence would do.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        let mut value = |c: usize| {
            let u = next();
            match c % 4 {
                0 => (u % 64) as f64 / 2.0 - 16.0,
                1 => (u >> 11) as f64 / (1_u64 << 53) as f64 - 0.5,
                2 => (u % 100_000) as f64 * 1e4,
                _ => f64::from(u8::from(u.is_multiple_of(7))) * (u % 13) as f64,
            }
        };
        let columns: Vec<Vec<f64>> =
            (0..columns).map(|c| (0..rows).map(|_| value(c)).collect()).collect();
        Self { names: (0..columns.len()).map(|c| format!("x{c}")).collect(), columns }
    }

    pub fn rows(&self) -> usize {
        self.columns[0].len()
    }

    pub fn text(&self, separator: char) -> String {
        let mut text = self.names.join(&separator.to_string()) + "\n";
        for r in 0..self.rows() {
            let row: Vec<String> = self.columns.iter().map(|c| c[r].to_string()).collect();
            text += &(row.join(&separator.to_string()) + "\n");
        }
        text
    }

    pub fn svm(&self) -> String {
        let mut text = String::new();
        for r in 0..self.rows() {
            text += &(r % 2).to_string();
            for (c, column) in self.columns.iter().enumerate().filter(|(_, x)| x[r] != 0.0) {
                text += &format!(" {}:{}", c + 1, column[r]);
            }
            text += "\n";
        }
        text
    }

    pub fn jsonl(&self) -> String {
        let mut text = String::new();
        for r in 0..self.rows() {
            let entries = self.names.iter().zip(&self.columns);
            let entries: Vec<String> = entries.map(|(n, c)| format!("{n:?}:{}", c[r])).collect();
            text += &format!("{{{}}}\n", entries.join(","));
        }
        text
    }

    pub fn npy(&self, fortran: bool, descr: &str) -> Vec<u8> {
        let (rows, columns) = (self.rows(), self.columns.len());
        let value = |r: usize, c: usize| match descr {
            "<f8" => self.columns[c][r].to_le_bytes().to_vec(),
            ">f8" => self.columns[c][r].to_be_bytes().to_vec(),
            "<f4" => (self.columns[c][r] as f32).to_le_bytes().to_vec(),
            "<i2" => (self.columns[c][r] as i16).to_le_bytes().to_vec(),
            other => panic!("{other}"),
        };
        let mut bytes = npy_header(descr, fortran, &[rows, columns]);
        if fortran {
            (0..columns).for_each(|c| (0..rows).for_each(|r| bytes.extend(value(r, c))));
        } else {
            (0..rows).for_each(|r| (0..columns).for_each(|c| bytes.extend(value(r, c))));
        }
        bytes
    }

    pub fn batches(&self, of: usize, wide: bool) -> (Arc<Schema>, Vec<RecordBatch>) {
        let kind = if wide { DataType::Float64 } else { DataType::Float32 };
        let fields: Vec<Field> =
            self.names.iter().map(|n| Field::new(n, kind.clone(), true)).collect();
        let schema = Arc::new(Schema::new(fields));
        let option = |v: &f64| (!v.is_nan()).then_some(*v);
        let make = |range: std::ops::Range<usize>| {
            let array = |c: &Vec<f64>| -> ArrayRef {
                let values = c[range.clone()].iter().map(option);
                if wide {
                    Arc::new(values.collect::<Float64Array>())
                } else {
                    Arc::new(values.map(|v| v.map(|v| v as f32)).collect::<Float32Array>())
                }
            };
            let arrays = self.columns.iter().map(array).collect();
            RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap()
        };
        let rows = self.rows();
        let starts = (0..rows).step_by(of);
        let batches = starts.map(|start| make(start..rows.min(start + of))).collect();
        (Arc::clone(&schema), batches)
    }

    pub fn parquet(&self, path: &str, group: usize, compression: Compression) {
        let (schema, batches) = self.batches(self.rows(), true);
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(group))
            .set_data_page_row_count_limit(50)
            .set_write_batch_size(16)
            .set_compression(compression)
            .build();
        write_parquet(path, schema, &batches, properties);
    }

    pub fn arrow(&self, path: &str, of: usize, options: IpcWriteOptions) {
        let (schema, batches) = self.batches(of, true);
        let file = File::create(path).unwrap();
        let mut writer = FileWriter::try_new_with_options(file, &schema, options).unwrap();
        batches.iter().for_each(|b| writer.write(b).unwrap());
        writer.finish().unwrap();
    }

    pub fn arrow_stream(&self, path: &str, of: usize, options: IpcWriteOptions) {
        let (schema, batches) = self.batches(of, true);
        let file = File::create(path).unwrap();
        let mut writer = StreamWriter::try_new_with_options(file, &schema, options).unwrap();
        batches.iter().for_each(|b| writer.write(b).unwrap());
        writer.finish().unwrap();
    }
}

pub fn write_parquet(
    path: &str,
    schema: Arc<Schema>,
    batches: &[RecordBatch],
    properties: WriterProperties,
) {
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
    batches.iter().for_each(|b| writer.write(b).unwrap());
    writer.close().unwrap();
}

pub fn npy_header(descr: &str, fortran: bool, shape: &[usize]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let sides: String = shape.iter().map(|s| format!("{s}, ")).collect();
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({sides}), }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

/// The matrix in every format: paths, and whether the file has names of its own.
pub fn everywhere(m: &Matrix, dir: &Dir) -> Vec<String> {
    use arrow_ipc::CompressionType;
    let zstd =
        || IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD)).unwrap();
    let third = m.rows().div_ceil(3);
    let mut paths = vec![
        dir.write("a.csv", m.text(',')),
        dir.write("crlf.csv", m.text(',').replace('\n', "\r\n")),
        dir.write("a.tsv", m.text('\t')),
        dir.write("a.csv.gz", gz(m.text(',').as_bytes())),
        dir.write("a.csv.zst", zstd::encode_all(m.text(',').as_bytes(), 1).unwrap()),
        dir.write("a.svm", m.svm()),
        dir.write("a.svm.gz", gz(m.svm().as_bytes())),
        dir.write("a.jsonl", m.jsonl()),
        dir.write("c.npy", m.npy(false, "<f8")),
        dir.write("f.npy", m.npy(true, "<f8")),
        dir.write("big.npy", m.npy(true, ">f8")),
    ];
    for (name, group, compression) in [
        ("one.parquet", m.rows(), Compression::UNCOMPRESSED),
        ("many.parquet", third, Compression::SNAPPY),
        ("zstd.parquet", third + 1, Compression::ZSTD(Default::default())),
    ] {
        paths.push(dir.path(name));
        m.parquet(&dir.path(name), group, compression);
    }
    for (name, of, options) in [
        ("one.arrow", m.rows(), IpcWriteOptions::default()),
        ("many.arrow", third, IpcWriteOptions::default()),
        ("zstd.arrow", third, zstd()),
    ] {
        paths.push(dir.path(name));
        m.arrow(&dir.path(name), of, options.clone());
        paths.push(dir.path(&format!("stream-{name}")));
        m.arrow_stream(&dir.path(&format!("stream-{name}")), of, options);
    }
    paths
}
