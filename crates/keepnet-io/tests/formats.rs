//! The same values in every format give the same columns, whatever the block, memory or order.

mod common;

use std::sync::Arc;

use common::write::{Matrix, everywhere};
use common::{Dir, columns_by};
use keepnet::FeatureSource;
use keepnet_io::{OpenOptions, TableSource, open};

fn source(path: &str, memory: Option<u64>) -> TableSource {
    let options = OpenOptions { memory, ..Default::default() };
    open(&[path.to_string()], &options).unwrap().source(&[]).unwrap()
}

fn check(m: &Matrix, path: &str, width: usize, memory: Option<u64>) {
    let got = columns_by(&mut source(path, memory), width);
    assert_eq!(got.len(), m.columns.len(), "{path}");
    for (c, (index, _, values)) in got.iter().enumerate() {
        assert_eq!(*index, c as u64);
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        let differs = values.iter().zip(&m.columns[c]).position(|pair| !same(pair));
        assert_eq!(differs, None, "{path} column {c} width {width} memory {memory:?}");
        assert_eq!(values.len(), m.rows());
    }
}

#[test]
fn every_format_gives_the_same_columns_for_every_block_size() {
    let (dir, m) = (Dir::new(), Matrix::random(37, 11, 1));
    for path in everywhere(&m, &dir) {
        for width in 1..=12 {
            check(&m, &path, width, None);
        }
    }
}

#[test]
fn transposing_through_a_file_gives_the_same_columns() {
    // Large enough for many chunks, tiles and column ranges at the smallest sizes.
    let (dir, m) = (Dir::new(), Matrix::random(400, 61, 2));
    for path in everywhere(&m, &dir) {
        // A compressed stream has no index, so it needs memory; a test of its own says so.
        if path.contains("stream-zstd") {
            continue;
        }
        for memory in [0, 60_000, 300_000] {
            check(&m, &path, 16, Some(memory));
        }
    }
}

#[test]
fn names_come_from_the_file() {
    let (dir, m) = (Dir::new(), Matrix::random(6, 3, 3));
    for path in everywhere(&m, &dir) {
        let names: Vec<String> =
            columns_by(&mut source(&path, None), 2).into_iter().map(|c| c.1).collect();
        let want = match &path {
            p if p.ends_with(".npy") => ["f0", "f1", "f2"],
            p if p.contains(".svm") => ["1", "2", "3"],
            _ => ["x0", "x1", "x2"],
        };
        assert_eq!(names, want, "{path}");
    }
}

#[test]
fn every_source_can_be_reordered_divided_skipped_and_read_again() {
    let (dir, m) = (Dir::new(), Matrix::random(9, 7, 4));
    for path in everywhere(&m, &dir) {
        let mut source = source(&path, None);
        assert_eq!((source.rows(), source.features()), (9, Some(7)), "{path}");
        let ids = |mut s: Box<dyn FeatureSource>| {
            columns_by(&mut *s, 2).into_iter().map(|c| c.0).collect::<Vec<_>>()
        };
        let shard = |s: &TableSource, i| s.shard(i, 2).unwrap();
        assert_eq!(ids(shard(&source, 1)), [1, 3, 5]);
        source.reorder(Arc::from([6, 2, 0, 5])).unwrap();
        source.rewind().unwrap();
        source.skip(1).unwrap();
        let got = columns_by(&mut *source.shard(0, 1).unwrap(), 3);
        let order: Vec<u64> = got.iter().map(|c| c.0).collect();
        assert_eq!(order, [6, 2, 0, 5], "{path}");
        assert!(got.iter().all(|(c, _, values)| *values == m.columns[*c as usize]), "{path}");
        assert_eq!(columns_by(&mut source, 3).len(), 3);
    }
}

#[test]
fn a_fingerprint_changes_with_the_file_and_with_the_columns() {
    let dir = Dir::new();
    let path = dir.write("x.csv", "a,b\n1,2\n3,4\n");
    let print = |options: &OpenOptions| {
        open(std::slice::from_ref(&path), options).unwrap().source(&[]).unwrap().fingerprint()
    };
    let first = print(&OpenOptions::default());
    assert_eq!(first, print(&OpenOptions::default()));
    let one = OpenOptions { exclude: vec!["b".into()], ..Default::default() };
    assert_ne!(first, print(&one));
    dir.write("x.csv", "a,b\n1,2\n3,4\n5,6\n");
    assert_ne!(first, print(&OpenOptions::default()));
}

#[test]
fn narrow_integers_and_floats_are_read_as_they_are() {
    let dir = Dir::new();
    let mut m = Matrix::random(20, 4, 5);
    m.columns.iter_mut().flatten().for_each(|v| *v = v.rem_euclid(100.0).floor());
    for (name, descr) in [("i2.npy", "<i2"), ("f4.npy", "<f4")] {
        for fortran in [true, false] {
            // Integers stay as they are where a column lies in one piece.
            let bytes = if fortran && descr == "<i2" { 40 } else { 80 };
            let path = dir.write(name, m.npy(fortran, descr));
            check(&m, &path, 3, None);
            let source = source(&path, None);
            assert_eq!(source.column_bytes(), Some(bytes));
            assert_eq!(source.integral(), descr == "<i2");
        }
    }
}
