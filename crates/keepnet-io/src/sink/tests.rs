//! What each format writes, byte for byte where the format is text.

use std::sync::{Arc, Mutex};

use keepnet::Numbers;

use super::*;

/// Three rows: a sparse feature, a dense one with a missing value, and a target.
struct Table {
    fields: Vec<Field>,
    columns: Vec<Cells>,
    rows: Range<usize>,
    at: usize,
}

fn table(text: bool) -> Table {
    let field = |name: &str, kind| Field { name: name.into(), kind };
    let target = match text {
        true => Cells::Text(vec!["no".into(), "a,b".into(), "yes".into()]),
        false => Cells::Numbers(ColumnData::dense(vec![1.0, -1.0, 1e-9])),
    };
    Table {
        fields: vec![
            field("a", FieldKind::F32),
            field("b \"q\"", FieldKind::F64),
            field("y", if text { FieldKind::Text } else { FieldKind::F64 }),
        ],
        columns: vec![
            Cells::Numbers(ColumnData::Sparse {
                rows: 3,
                index: vec![0, 2],
                value: Numbers::F32(vec![0.1, 2.0]),
            }),
            Cells::Numbers(ColumnData::dense(vec![0.1, f64::NAN, 1e300])),
            target,
        ],
        rows: 0..3,
        at: 0,
    }
}

impl Columns for Table {
    fn rows(&self) -> usize {
        3
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn start(&mut self, rows: Range<usize>) -> Result<()> {
        (self.rows, self.at) = (rows, 0);
        Ok(())
    }

    fn next(&mut self) -> Result<Cells> {
        self.at += 1;
        Ok(match &self.columns[self.at - 1] {
            Cells::Numbers(data) => Cells::Numbers(rows_of(data, &self.rows)),
            Cells::Text(text) => Cells::Text(text[self.rows.clone()].to_vec()),
        })
    }
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn written(format: Format, text: bool, memory: u64) -> Result<Vec<u8>> {
    let out = Memory::default();
    write(format, Box::new(out.clone()), &mut table(text), memory)?;
    let bytes = out.0.lock().unwrap().clone();
    Ok(bytes)
}

#[test]
fn text_is_the_same_for_any_slice_of_rows() {
    // 0.1 as f32 is 0.10000000149011612 in f64; a missing number is empty.
    let want = "a,\"b \"\"q\"\"\",y\n0.10000000149011612,0.1,1\n0,,-1\n2,1e300,1e-9\n";
    for memory in [0, 45, 1 << 20] {
        let csv = written(Format::Csv, false, memory).unwrap();
        assert_eq!(String::from_utf8(csv).unwrap(), want);
    }
    let tsv = String::from_utf8(written(Format::Tsv, true, 0).unwrap()).unwrap();
    assert!(tsv.ends_with("0\t\ta,b\n2\t1e300\tyes\n"), "{tsv}");
}

#[test]
fn csv_quotes_what_needs_it() {
    let csv = String::from_utf8(written(Format::Csv, true, 0).unwrap()).unwrap();
    assert!(csv.contains("\n0,,\"a,b\"\n"), "{csv}");
}

#[test]
fn svm_leaves_zeros_out_and_puts_the_target_first() {
    let svm = String::from_utf8(written(Format::Svm, false, 45).unwrap()).unwrap();
    assert_eq!(svm, "1 1:0.10000000149011612 2:0.1\n-1 2:NaN\n1e-9 1:2 2:1e300\n");
    assert!(written(Format::Svm, true, 0).unwrap_err().to_string().contains("target is text"));
}

#[test]
fn json_lines_are_objects_with_null_for_missing() {
    let lines = String::from_utf8(written(Format::Jsonl, true, 0).unwrap()).unwrap();
    assert_eq!(lines.lines().nth(1).unwrap(), "{\"a\":0,\"b \\\"q\\\"\":null,\"y\":\"a,b\"}");
}

#[test]
fn npy_is_aligned_and_in_fortran_order() {
    let npy = written(Format::Npy, false, 0).unwrap();
    let header = usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    assert_eq!((10 + header) % 64, 0);
    let text = std::str::from_utf8(&npy[10..10 + header]).unwrap();
    assert!(text.contains("'<f8', 'fortran_order': True, 'shape': (3, 3)"), "{text}");
    let value = |at: usize| {
        let from = 10 + header + 8 * at;
        f64::from_le_bytes(npy[from..from + 8].try_into().unwrap())
    };
    assert_eq!((value(0), value(2), value(3), value(8)), (f64::from(0.1f32), 2.0, 0.1, 1e-9));
    assert!(written(Format::Npy, true, 0).unwrap_err().to_string().contains("\"y\" is text"));
}

#[test]
fn parquet_and_arrow_read_back() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float32Type;
    let parquet = parquet_bytes(written(Format::Parquet, true, 0).unwrap());
    let arrow = written(Format::Arrow, true, 45).unwrap();
    let reader = arrow_ipc::reader::FileReader::try_new(std::io::Cursor::new(arrow), None).unwrap();
    let arrow: Vec<_> = reader.map(|batch| batch.unwrap()).collect();
    for batches in [parquet, arrow] {
        let mut first = Vec::new();
        let mut last = Vec::new();
        for batch in &batches {
            first.extend_from_slice(batch.column(0).as_primitive::<Float32Type>().values());
            last.extend(batch.column(2).as_string::<i32>().iter().map(|v| v.unwrap().to_string()));
        }
        assert_eq!(first, [0.1, 0.0, 2.0]);
        assert_eq!(last, ["no", "a,b", "yes"]);
    }
}

fn parquet_bytes(bytes: Vec<u8>) -> Vec<arrow_array::RecordBatch> {
    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    reader.map(|batch| batch.unwrap()).collect()
}
