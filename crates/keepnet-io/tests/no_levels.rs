//! Text columns with no level, or one, in a file or a part of one.
//!
//! Expected values are those that the arrays were made from.

mod common;

use std::fs::File;
use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int8Array, RecordBatch, StringArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use common::write::write_parquet;
use common::{Dir, columns};
use keepnet::{RowBlock, SampleSource};
use keepnet_io::{Categorical, OpenOptions, ProblemSpec, Reading, SeriesValues, open, open_rows};
use parquet::file::properties::WriterProperties;

/// Text as text, as a dictionary and as one with smaller keys, and numbers without a value.
fn batch(text: &[Option<&str>]) -> RecordBatch {
    let rows = text.len();
    let coded: DictionaryArray<Int32Type> = text.iter().copied().collect();
    let small: DictionaryArray<Int8Type> = text.iter().copied().collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("y", Arc::new(Float64Array::from_iter_values((0..rows).map(|r| r as f64)))),
        ("coded", Arc::new(coded)),
        ("small", Arc::new(small)),
        ("text", Arc::new(text.iter().copied().collect::<StringArray>())),
        ("none", Arc::new(Float64Array::from(vec![None; rows]))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, a)| (n, a, true)))
        .unwrap()
}

/// The batch in two, with one without rows between them: in Parquet, Arrow files and streams.
fn everywhere(dir: &Dir, stem: &str, whole: &RecordBatch) -> Vec<String> {
    let half = whole.num_rows() / 2;
    let parts =
        [whole.slice(0, half), whole.slice(half, 0), whole.slice(half, whole.num_rows() - half)];
    let parquet = dir.path(&format!("{stem}.parquet"));
    write_parquet(&parquet, whole.schema(), &parts, WriterProperties::builder().build());
    let mut paths = vec![parquet];
    let codecs = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
    for (at, codec) in codecs.into_iter().enumerate() {
        let options = || IpcWriteOptions::default().try_with_compression(codec).unwrap();
        let file = dir.path(&format!("{stem}{at}.feather"));
        let create = File::create(&file).unwrap();
        let mut writer =
            FileWriter::try_new_with_options(create, &whole.schema(), options()).unwrap();
        parts.iter().for_each(|part| writer.write(part).unwrap());
        writer.finish().unwrap();
        let stream = dir.path(&format!("{stem}{at}.arrows"));
        let create = File::create(&stream).unwrap();
        let mut writer =
            StreamWriter::try_new_with_options(create, &whole.schema(), options()).unwrap();
        parts.iter().for_each(|part| writer.write(part).unwrap());
        writer.finish().unwrap();
        paths.extend([file, stream]);
    }
    paths
}

/// Checks the columns of files that stack, mapped and copied.
fn check_columns(paths: &[String], text: &[Option<&str>], codes: &[f64]) {
    for reading in [Reading::Mapped, Reading::Copied] {
        let categorical = Categorical::Codes;
        let options = OpenOptions { categorical, reading, ..Default::default() };
        let mut data = open(paths, &options).unwrap();
        for name in ["coded", "small", "text"] {
            let SeriesValues::Text(got) = data.series(name).unwrap().values else { panic!() };
            let got: Vec<_> = got.iter().map(Option::as_deref).collect();
            assert_eq!(got, text, "{name} of {paths:?}");
        }
        let got = columns(data.source(&[]).unwrap());
        assert_eq!(got.len(), 5, "{paths:?}");
        let same = |a: &[f64], b: &[f64]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
        };
        for (_, name, values) in &got[1..4] {
            assert!(same(values, codes), "{name} of {paths:?}: {values:?}");
        }
        assert!(same(&got[4].2, &vec![f64::NAN; text.len()]), "{paths:?}");
    }
}

/// Checks that a stream of rows, text left out, has so many.
fn check_rows(paths: &[String], rows: usize) {
    let spec = ProblemSpec { target: "y".into(), ..ProblemSpec::default() };
    let options = OpenOptions { categorical: Categorical::Skip, ..OpenOptions::default() };
    let mut source = open_rows(paths, &spec, &options).unwrap();
    let (p, mut seen) = (source.names().len(), 0);
    let mut block = RowBlock::new(p, 1);
    loop {
        block.reset(64);
        let more = source.next_block(&mut block).unwrap();
        seen += block.rows().count();
        if !more {
            break;
        }
    }
    assert_eq!(seen, rows, "{paths:?}");
}

#[test]
fn a_text_column_without_a_value_is_missing_throughout() {
    let dir = Dir::new();
    let text = [None; 5];
    for path in everywhere(&dir, "x", &batch(&text)) {
        check_columns(std::slice::from_ref(&path), &text, &[f64::NAN; 5]);
        check_rows(&[path], 5);
    }
}

#[test]
fn a_part_without_a_level_stacks_with_parts_of_one_and_of_two() {
    let dir = Dir::new();
    let parts: [&[Option<&str>]; 3] =
        [&[None; 4], &[Some("red"); 3], &[Some("blue"), None, Some("red")]];
    let files: Vec<Vec<String>> =
        (0..3).map(|at| everywhere(&dir, &format!("part{at}-"), &batch(parts[at]))).collect();
    let nan = f64::NAN;
    let codes = [nan, nan, nan, nan, 1.0, 1.0, 1.0, 0.0, nan, 1.0];
    for form in 0..files[0].len() {
        let paths: Vec<String> = files.iter().map(|part| part[form].clone()).collect();
        check_columns(&paths, &parts.concat(), &codes);
        check_rows(&paths, 10);
    }
}

#[test]
fn a_dictionary_that_is_left_out_has_no_levels() {
    // The body of a stream is copied without its dictionaries, as a writer may leave them.
    let dir = Dir::new();
    let text = [None; 3];
    let paths = everywhere(&dir, "x", &batch(&text));
    let bytes = std::fs::read(&paths[2]).unwrap();
    let path = dir.write("without.arrows", without_dictionaries(&bytes));
    check_columns(std::slice::from_ref(&path), &text, &[f64::NAN; 3]);
    check_rows(&[path], 3);
    // Where a value asks for a level, it is damage.
    let keys = Int8Array::from(vec![0, 0]);
    let levels = Arc::new(StringArray::from(vec!["a"]));
    let coded: ArrayRef = Arc::new(DictionaryArray::new(keys, levels));
    assert_eq!(coded.null_count(), 0);
    let batch = RecordBatch::try_from_iter([("coded", coded)]).unwrap();
    let paths = everywhere(&dir, "z", &batch);
    let bytes = std::fs::read(&paths[2]).unwrap();
    let path = dir.write("lost.arrows", without_dictionaries(&bytes));
    let read = open(&[path], &OpenOptions::default()).and_then(|mut data| data.series("coded"));
    assert!(read.err().unwrap().to_string().contains("cannot be read"));
}

/// A stream without its batches of dictionary values.
fn without_dictionaries(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::new(), 0);
    loop {
        let length = i32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        if length == 0 {
            out.extend(&bytes[at..]);
            return out;
        }
        let message = arrow_ipc::root_as_message(&bytes[at + 8..at + 8 + length]).unwrap();
        let end = at + 8 + length + message.bodyLength() as usize;
        if message.header_as_dictionary_batch().is_none() {
            out.extend(&bytes[at..end]);
        }
        at = end;
    }
}
