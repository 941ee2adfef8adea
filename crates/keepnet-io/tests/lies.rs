//! Files that lie: any byte of a file changed, and lengths that claim more than the file holds.
//! Each is an error or a table, never a panic, and nothing is allocated on a file's word.

mod common;

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, Int32Array, RecordBatch, StringArray};
use arrow_array::{Float64Array, types::Int32Type};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use common::Dir;
use common::write::{Matrix, everywhere, npy_header, write_parquet};
use keepnet::{ColumnBlock, FeatureSource, Result, RowBlock, SampleSource};
use keepnet_io::{Categorical, OpenOptions, ProblemSpec, Reading, build_problem, open, open_rows};
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterVersion};

fn options(reading: Reading) -> OpenOptions {
    OpenOptions { reading, categorical: Categorical::Skip, ..OpenOptions::default() }
}

/// Reads every column, and the text column `t` as the target where there is one.
fn columns(path: &str, options: &OpenOptions) -> Result<Vec<Vec<f64>>> {
    let mut data = open(&[path.to_string()], options)?;
    let target = ProblemSpec { target: "t".into(), ..Default::default() };
    if data.has("t") {
        build_problem(&mut data, &target, options)?;
    }
    let mut source = data.source(&[])?;
    let (mut block, mut all) = (ColumnBlock::new(4), Vec::new());
    loop {
        block.reset(4);
        if !source.next_block(&mut block)? {
            return Ok(all);
        }
        for column in block.columns() {
            let mut values = vec![0.0; source.rows()];
            column.data.view().fill(&mut values);
            all.push(values);
        }
    }
}

/// Reads every row; how many there are.
fn rows(path: &str, target: &str, options: &OpenOptions) -> Result<usize> {
    let spec = ProblemSpec { target: target.into(), ..Default::default() };
    let mut stream = open_rows(&[path.to_string()], &spec, options)?;
    let (mut block, mut count) = (RowBlock::new(stream.names().len(), 64), 0);
    loop {
        block.reset(64);
        let more = stream.next_block(&mut block)?;
        count += block.len();
        if !more {
            return Ok(count);
        }
    }
}

/// Numbers, integers with a missing one, booleans, text and a dictionary.
fn mixed(rows: usize) -> RecordBatch {
    let numbers = Matrix::random(rows, 2, 3).columns;
    let words = ["one", "two", "three and more"];
    let text = |r: usize| words[r % 3];
    let arrays: Vec<(&str, ArrayRef)> = vec![
        ("a", Arc::new(Float64Array::from(numbers[0].clone()))),
        ("b", Arc::new(Float64Array::from(numbers[1].clone()))),
        (
            "i",
            Arc::new((0..rows).map(|r| (r != 5).then_some(r as i32 % 9)).collect::<Int32Array>()),
        ),
        ("o", Arc::new((0..rows).map(|r| Some(r % 2 == 0)).collect::<BooleanArray>())),
        ("t", Arc::new((0..rows).map(|r| Some(text(r))).collect::<StringArray>())),
        ("d", Arc::new((0..rows).map(text).collect::<DictionaryArray<Int32Type>>())),
    ];
    RecordBatch::try_from_iter(arrays).unwrap()
}

/// The mixed table as Arrow and Parquet, in the encodings that decoders differ in.
fn files(dir: &Dir) -> Vec<String> {
    let (batch, mut paths) = (mixed(24), Vec::new());
    let compressed = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
    for (at, compression) in compressed.into_iter().enumerate() {
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let (file, stream) = (dir.path(&format!("{at}.arrow")), dir.path(&format!("{at}.arrows")));
        let to = std::fs::File::create(&file).unwrap();
        let mut writer =
            FileWriter::try_new_with_options(to, &batch.schema(), options.clone()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let to = std::fs::File::create(&stream).unwrap();
        let mut writer = StreamWriter::try_new_with_options(to, &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        paths.extend([file, stream]);
    }
    let batch = batch.project(&[0, 1, 2, 3, 4]).unwrap();
    let plain = || WriterProperties::builder().set_data_page_row_count_limit(10);
    let apart = |e| plain().set_dictionary_enabled(false).set_encoding(e);
    let of = |c: &str, e| plain().set_dictionary_enabled(false).set_column_encoding(c.into(), e);
    let properties = [
        plain().set_compression(Compression::SNAPPY),
        plain().set_writer_version(WriterVersion::PARQUET_2_0),
        apart(Encoding::PLAIN).set_compression(Compression::ZSTD(Default::default())),
        of("a", Encoding::BYTE_STREAM_SPLIT),
        of("i", Encoding::DELTA_BINARY_PACKED).set_compression(Compression::LZ4_RAW),
        of("t", Encoding::DELTA_BYTE_ARRAY),
    ];
    for (at, properties) in properties.into_iter().enumerate() {
        let path = dir.path(&format!("{at}.parquet"));
        write_parquet(&path, batch.schema(), std::slice::from_ref(&batch), properties.build());
        paths.push(path);
    }
    paths
}

/// Every third byte set to 0, 0x80 or 0xff, read by columns (mapped and copied) and by rows.
#[test]
fn any_byte_changed_is_a_table_or_an_error() {
    let dir = Dir::new();
    let mut changed = 0;
    for path in files(&dir) {
        let whole = std::fs::read(&path).unwrap();
        columns(&path, &options(Reading::Mapped)).unwrap();
        assert_eq!(rows(&path, "b", &options(Reading::Mapped)).unwrap(), 24, "{path}");
        let name = std::path::Path::new(&path).file_name().unwrap().to_str().unwrap();
        let lie = dir.path(&format!("lie-{name}"));
        for at in (0..whole.len()).step_by(3) {
            let byte = [0x00, 0x80, 0xff][at / 3 % 3];
            if whole[at] == byte {
                continue;
            }
            let mut bytes = whole.clone();
            bytes[at] = byte;
            // A new file each time: cutting one short makes the file system flush it.
            let _ = std::fs::remove_file(&lie);
            std::fs::write(&lie, &bytes).unwrap();
            changed += 1;
            for result in [
                columns(&lie, &options(Reading::Mapped)).map(|_| ()),
                columns(&lie, &options(Reading::Copied)).map(|_| ()),
                rows(&lie, "b", &options(Reading::Mapped)).map(|_| ()),
            ] {
                if let Err(error) = result {
                    let text = error.to_string();
                    assert!(!text.contains('\n'), "{name} at {at}: {text}");
                }
            }
        }
    }
    assert!(changed > 3_000, "{changed} files were changed");
}

/// The unpacked length of a compressed buffer stands in its first eight bytes.
#[test]
fn an_unpacked_length_that_no_codec_reaches_is_refused() {
    let dir = Dir::new();
    let path = dir.path("a.arrow");
    let zstd = IpcWriteOptions::default().try_with_compression(Some(CompressionType::ZSTD));
    let m = Matrix { names: vec!["a".into()], columns: vec![vec![7.25; 4000]] };
    m.arrow(&path, 4000, zstd.unwrap());
    let mut bytes = std::fs::read(&path).unwrap();
    let length = 32_000_i64.to_le_bytes();
    let at = bytes.windows(8).position(|eight| eight == length).unwrap();
    for (claim, words) in [(1_i64 << 46, "claims to unpack to"), (1 << 30, "needs 1.")] {
        bytes[at..at + 8].copy_from_slice(&claim.to_le_bytes());
        let path = dir.write("lie.arrow", &bytes);
        let limited = OpenOptions { memory: Some(50 << 20), ..OpenOptions::default() };
        let error = columns(&path, &limited).unwrap_err().to_string();
        // A gibibyte is beyond the codec or beyond the memory, whichever comes first.
        assert!(error.contains(words) || error.contains("claims to unpack to"), "{error}");
    }
}

#[test]
fn a_shape_that_claims_more_than_the_file_holds_is_refused() {
    let dir = Dir::new();
    for shape in [[0, 1 << 63], [1 << 63, 0], [1 << 40, 1 << 40], [3, 1 << 62], [1 << 32, 1 << 32]]
    {
        let path = dir.write("x.npy", npy_header("<f8", false, &shape));
        for result in [
            columns(&path, &OpenOptions::default()).map(|_| 0),
            rows(&path, "f0", &OpenOptions::default()),
        ] {
            let error = result.unwrap_err().to_string();
            let said = ["no values", "too large", "truncated"];
            assert!(said.iter().any(|words| error.contains(words)), "{shape:?}: {error}");
        }
    }
}

/// Copied columns are those of the map, in every format; a file that was cut since is an error.
#[test]
fn copied_columns_are_the_mapped_ones_and_notice_a_shorter_file() {
    let (dir, m) = (Dir::new(), Matrix::random(60, 7, 5));
    let mut paths = everywhere(&m, &dir);
    paths.push(dir.write("short.npy", m.npy(true, "<i2")));
    paths.push(dir.write("f4.npy", m.npy(true, "<f4")));
    for path in paths {
        let mapped = columns(&path, &options(Reading::Mapped)).unwrap();
        assert_eq!(columns(&path, &options(Reading::Copied)).unwrap(), mapped, "{path}");
    }
    for name in ["f.npy", "one.arrow", "stream-many.arrow", "zstd.arrow"] {
        let path = dir.path(name);
        let data = open(std::slice::from_ref(&path), &options(Reading::Copied)).unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() / 4).unwrap();
        let mut block = ColumnBlock::new(7);
        let error = data.source(&[]).unwrap().next_block(&mut block).unwrap_err().to_string();
        assert!(error.contains("became shorter while it was read"), "{name}: {error}");
    }
}
