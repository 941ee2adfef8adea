//! Columns without a value, in a file or in a part of one: they have no type of their own.
//!
//! Expected values are those that the files were made from.

mod common;

use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int8Array, Int64Array, NullArray,
    PrimitiveArray, RecordBatch, StringArray,
};
use common::write::write_parquet;
use common::{Dir, columns};
use keepnet_io::{Categorical, ColumnKind, OpenOptions, ProblemSpec, SeriesValues, open};
use parquet::file::properties::WriterProperties;

type Part<'a> = Vec<(&'a str, ArrayRef)>;

/// A part in Parquet and in Arrow.
fn columnar(dir: &Dir, stem: &str, part: Part<'_>) -> [String; 2] {
    let batch = batch(part);
    let parquet = dir.path(&format!("{stem}.parquet"));
    let properties = WriterProperties::builder().build();
    write_parquet(&parquet, batch.schema(), std::slice::from_ref(&batch), properties);
    [parquet, arrow(dir, stem, &batch)]
}

fn batch(part: Part<'_>) -> RecordBatch {
    let all = part.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(all).unwrap()
}

fn arrow(dir: &Dir, stem: &str, batch: &RecordBatch) -> String {
    let path = dir.path(&format!("{stem}.arrow"));
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    path
}

fn floats(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

/// The same table in three parts, in each of which other columns have no value.
fn parts(dir: &Dir) -> Vec<Vec<String>> {
    let csv = ["a,t,b,y\n1,,,1\n2,,,3\n", "a,t,b,y\n,red,true,2\n", "a,t,b,y\n4,blue,false,7\n"];
    let jsonl = [
        "{\"a\":1,\"t\":null,\"b\":null,\"y\":1}\n{\"a\":2,\"t\":null,\"b\":null,\"y\":3}\n",
        "{\"a\":null,\"t\":\"red\",\"b\":true,\"y\":2}\n",
        "{\"a\":4,\"t\":\"blue\",\"b\":false,\"y\":7}\n",
    ];
    let none = |rows| Arc::new(NullArray::new(rows)) as ArrayRef;
    let text = |text: &str| Arc::new(StringArray::from(vec![text])) as ArrayRef;
    let flag = |flag| Arc::new(BooleanArray::from(vec![flag])) as ArrayRef;
    let arrays: [Part<'_>; 3] = [
        vec![
            ("a", floats(&[1.0, 2.0])),
            ("t", none(2)),
            ("b", none(2)),
            ("y", floats(&[1.0, 3.0])),
        ],
        vec![("a", none(1)), ("t", text("red")), ("b", flag(true)), ("y", floats(&[2.0]))],
        vec![("a", floats(&[4.0])), ("t", text("blue")), ("b", flag(false)), ("y", floats(&[7.0]))],
    ];
    let mut all = vec![Vec::new(); 4];
    for (at, part) in arrays.into_iter().enumerate() {
        all[0].push(dir.write(&format!("part{at}.csv"), csv[at]));
        all[1].push(dir.write(&format!("part{at}.jsonl"), jsonl[at]));
        let [parquet, arrow] = columnar(dir, &format!("part{at}"), part);
        all[2].push(parquet);
        all[3].push(arrow);
    }
    all
}

#[test]
fn a_part_without_a_value_takes_the_type_of_the_others() {
    let dir = Dir::new();
    for parts in parts(&dir) {
        // The part without text first, in the middle, and last.
        for turn in 0..3 {
            let (mut files, mut want) = (
                parts.clone(),
                vec![vec![(1.0, ""), (2.0, "")], vec![(f64::NAN, "red")], vec![(4.0, "blue")]],
            );
            files.rotate_left(turn);
            want.rotate_left(turn);
            let want: Vec<(f64, &str)> = want.concat();
            let options = OpenOptions { categorical: Categorical::Codes, ..Default::default() };
            let mut data = open(&files, &options).unwrap();
            let kinds: Vec<_> = data.columns().iter().map(|c| c.kind.clone()).collect();
            assert_eq!(kinds[1..3], [ColumnKind::Text, ColumnKind::Bool], "{files:?}");
            let SeriesValues::Text(got) = data.series("t").unwrap().values else { panic!() };
            let text: Vec<&str> = got.iter().map(|t| t.as_deref().unwrap_or("")).collect();
            assert_eq!(text, want.iter().map(|w| w.1).collect::<Vec<_>>(), "{files:?}");
            let flags = data.series("b").unwrap().values;
            assert!(matches!(flags, SeriesValues::Numbers { boolean: true, .. }), "{files:?}");
            let got = columns(data.source(&["y".into()]).unwrap());
            // Codes in the order of the levels: blue, red.
            let code = |text: &str| match text {
                "" => f64::NAN,
                text => f64::from(u8::from(text == "red")),
            };
            let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
            assert_eq!(got[0].2.len(), want.len());
            for (row, (a, text)) in want.iter().enumerate() {
                assert!(same(got[0].2[row], *a), "{files:?} {got:?}");
                assert!(same(got[1].2[row], code(text)), "{files:?} {got:?}");
            }
        }
    }
}

#[test]
fn types_that_differ_are_refused_with_the_files_that_say_so() {
    let dir = Dir::new();
    let parts = ["t,y\n,1\n", "t,y\nred,2\n", "t,y\n3,3\n"];
    let files: Vec<String> = (0..3).map(|at| dir.write(&format!("p{at}.csv"), parts[at])).collect();
    let why = open(&files, &OpenOptions::default()).err().unwrap().to_string();
    let want = format!("column \"t\" is text in {} and a number in {}", files[1], files[2]);
    assert!(why.starts_with(&want), "{why}");
}

/// The features of a stream of rows.
fn rows(paths: &[String]) -> keepnet::Result<Vec<Vec<f64>>> {
    let spec = ProblemSpec { target: "y".into(), ..ProblemSpec::default() };
    common::rows(paths, &spec, &OpenOptions::default())
}

/// Types as of pandas: `null`, a dictionary of nothing, and dictionaries of numbers.
fn odd() -> Part<'static> {
    let keys: PrimitiveArray<Int8Type> = Int8Array::from(vec![None, None, None]);
    let nothing = DictionaryArray::<Int8Type>::new(keys, Arc::new(NullArray::new(0)));
    let keys = arrow_array::Int32Array::from(vec![Some(1), None, Some(0)]);
    let numbers = DictionaryArray::<Int32Type>::new(keys.clone(), floats(&[0.1, f64::INFINITY]));
    let whole = DictionaryArray::<Int32Type>::new(keys, Arc::new(Int64Array::from(vec![7, -5])));
    vec![
        ("null", Arc::new(NullArray::new(3))),
        ("nothing", Arc::new(nothing)),
        ("numbers", Arc::new(numbers)),
        ("whole", Arc::new(whole)),
        ("y", floats(&[1.0, 2.0, 4.0])),
    ]
}

#[test]
fn arrow_reads_columns_of_nothing_and_dictionaries_of_numbers_as_parquet_does() {
    let (dir, nan) = (Dir::new(), f64::NAN);
    let want = [[nan; 3], [nan; 3], [f64::INFINITY, nan, 0.1], [-5.0, nan, 7.0]];
    let same = |a: &f64, b: &f64| a == b || (a.is_nan() && b.is_nan());
    for path in columnar(&dir, "odd", odd()) {
        let data = open(std::slice::from_ref(&path), &OpenOptions::default()).unwrap();
        let kinds: Vec<_> = data.columns().iter().map(|c| c.kind.clone()).collect();
        use ColumnKind::{Float, Int};
        assert_eq!(kinds, [Float, Float, Float, Int, Float], "{path}");
        let got = columns(data.source(&["y".into()]).unwrap());
        for (got, want) in got.iter().zip(&want) {
            assert!(got.2.iter().zip(want).all(|(a, b)| same(a, b)), "{path} {got:?}");
        }
        let got = rows(std::slice::from_ref(&path)).unwrap();
        assert_eq!(got.len(), 3);
        for (row, got) in got.iter().enumerate() {
            assert!((0..4).all(|c| same(&got[c], &want[c][row])), "{path} {got:?}");
        }
    }
}

#[test]
fn rows_of_a_part_without_a_value_stack_in_columnar_formats() {
    let dir = Dir::new();
    let with = |a: ArrayRef| vec![("a", a), ("y", floats(&[1.0, 2.0]))];
    let full = columnar(&dir, "full", with(floats(&[0.5, 1.5])));
    let none = columnar(&dir, "none", with(Arc::new(NullArray::new(2))));
    for (full, none) in full.into_iter().zip(none) {
        let got = rows(&[full, none]).unwrap();
        assert_eq!(got[..2], [[0.5], [1.5]]);
        assert!(got[2][0].is_nan() && got[3][0].is_nan());
    }
}

#[test]
fn an_arrow_file_without_any_value_is_refused_before_its_rows_are_counted_off() {
    let dir = Dir::new();
    let void = batch(vec![("y", Arc::new(NullArray::new(1 << 40)) as ArrayRef)]);
    let why = rows(&[arrow(&dir, "void", &void)]).unwrap_err().to_string();
    assert!(why.contains("no column of the file has a value"), "{why}");
}
