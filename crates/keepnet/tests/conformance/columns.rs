//! Blocks, threads, storages and scales change nothing that they should not.

use keepnet::registry::Relation;
use keepnet::{ColumnData, FeatureSource, Generated, Numbers, Order, RunOptions, RunReport};

use crate::cases::{Case, cases, digits};
use crate::common::{Data, width};

#[test]
fn neither_blocks_nor_threads_change_a_digit() {
    let data = Data::normal(150, 300, 11);
    for case in cases() {
        let shuffled = |width_: usize| RunOptions { order: Order::Shuffled, ..width(width_) };
        let report = case.go(&data, shuffled(128));
        assert!(!report.lanes[0].selection.selected.is_empty(), "{case} keeps nothing");
        let want = digits(&report);
        for block in [1, 3, 16, 512] {
            assert_eq!(digits(&case.go(&data, shuffled(block))), want, "{case}");
        }
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let got = pool.install(|| digits(&case.go(&data, shuffled(64))));
            assert_eq!(got, want, "{case} on {threads} threads");
        }
    }
}

/// The same set; coefficients, scores and the loss but for rounding.
fn assert_near(case: &Case, what: &str, a: &RunReport, b: &RunReport) {
    let (a, b) = (&a.lanes[0].selection, &b.lanes[0].selection);
    assert_eq!(a.indices(), b.indices(), "{case} {what}");
    let near = |x: f64, y: f64| {
        assert!((x - y).abs() <= 1e-10 * (1.0 + x.abs()), "{case} {what}: {x} {y}");
    };
    for (x, y) in a.selected.iter().zip(&b.selected) {
        assert_eq!(x.coefficient.len(), y.coefficient.len(), "{case} {what}");
        x.coefficient.iter().zip(&y.coefficient).for_each(|(x, y)| near(*x, *y));
        near(x.score, y.score);
    }
    assert_eq!(a.loss.is_some(), b.loss.is_some(), "{case} {what}");
    a.loss.iter().zip(&b.loss).for_each(|(x, y)| near(*x, *y));
}

#[test]
fn the_storage_of_the_columns_changes_only_rounding() {
    let data = Data::normal(120, 200, 12).thinned(0.6, 13);
    for case in cases() {
        let sparse = case.run(&mut data.sparse(), case.problem(&data), width(32));
        assert_near(&case, "sparse", &case.go(&data, width(32)), &sparse);
    }
}

/// Columns of zeros and ones, and columns of a few whole numbers, in turn.
fn whole_numbers() -> Data {
    let mut data = Data::normal(130, 90, 24);
    for (j, column) in data.columns.iter_mut().enumerate() {
        for x in column {
            *x = if j % 2 == 0 { f64::from(u8::from(*x > 0.4)) } else { x.round() };
        }
    }
    data
}

fn bits(x: &[f64]) -> Option<ColumnData> {
    let mut words = vec![0u64; x.len().div_ceil(64)];
    for i in (0..x.len()).filter(|i| x[*i] != 0.0) {
        words[i / 64] |= 1 << (i % 64);
    }
    let zeros_and_ones = x.iter().all(|x| *x == 0.0 || *x == 1.0);
    zeros_and_ones.then_some(ColumnData::Bits { rows: x.len(), words })
}

fn codes(x: &[f64]) -> ColumnData {
    let mut levels = x.to_vec();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let code = |x: &f64| levels.iter().position(|level| level == x).unwrap() as u8;
    ColumnData::Codes { codes: x.iter().map(code).collect(), levels }
}

#[test]
fn bits_and_codes_are_the_numbers_that_they_stand_for() {
    let data = whole_numbers();
    let bits = |x: &Vec<f64>| bits(x).unwrap_or_else(|| ColumnData::dense(x.clone()));
    let bits = data.columns.iter().map(bits).collect();
    let codes = data.columns.iter().map(|x| codes(x)).collect();
    let mut stored = [("bits", bits), ("codes", codes)]
        .map(|(what, columns)| (what, Generated::columns(data.n, columns)));
    for case in cases() {
        let want = case.go(&data, width(32));
        for (what, source) in &mut stored {
            source.rewind().unwrap();
            assert_near(&case, what, &want, &case.run(source, case.problem(&data), width(32)));
        }
    }
}

#[test]
fn narrow_and_wide_storage_of_the_same_values_agree() {
    let data = Data::normal(100, 80, 23);
    let wide = |x: &Vec<f64>| ColumnData::Dense(Numbers::F64(x.clone()));
    for case in cases() {
        let narrow = case.go(&data, width(16));
        let mut wide = Generated::columns(100, data.columns.iter().map(wide).collect());
        let wide = case.run(&mut wide, case.problem(&data), width(16));
        assert_eq!(digits(&narrow), digits(&wide), "{case}");
    }
}

#[test]
fn scaling_columns_by_powers_of_two_changes_only_their_weights() {
    let data = Data::normal(150, 200, 14);
    let mut scaled = data.clone();
    let factor = |j: usize| 2f64.powi((j % 13) as i32 - 6);
    for (j, column) in scaled.columns.iter_mut().enumerate() {
        column.iter_mut().for_each(|x| *x *= factor(j));
    }
    for case in cases().into_iter().filter(|case| case.promises(Relation::Columns)) {
        let (a, b) = (case.go(&data, width(32)), case.go(&scaled, width(32)));
        let (a, b) = (&a.lanes[0].selection, &b.lanes[0].selection);
        assert_eq!(a.indices(), b.indices(), "{case}");
        for (x, y) in a.selected.iter().zip(&b.selected) {
            let factor = factor(y.id.index as usize);
            assert_eq!(x.coefficient.len(), y.coefficient.len(), "{case}");
            for (x, y) in x.coefficient.iter().zip(&y.coefficient) {
                assert_eq!(x.to_bits(), (y * factor).to_bits(), "{case}");
            }
        }
        assert_eq!(a.loss, b.loss);
    }
}
