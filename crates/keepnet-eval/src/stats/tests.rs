//! Expected numbers: SciPy 1.17.1 (`ttest_rel`, `friedmanchisquare`, `rankdata`,
//! `studentized_range.ppf`), and the critical differences that the SAOLA paper states.

use super::*;

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() < tolerance, "{a} and {b}");
}

#[test]
fn the_paired_t_test_agrees_with_scipy() {
    let a = [0.12, 0.15, 0.11, 0.2, 0.18, 0.13];
    let b = [0.14, 0.15, 0.16, 0.22, 0.17, 0.19];
    let test = paired_t(&a, &b).unwrap();
    close(test.t, -2.091_650_066_335_189_4, 1e-12);
    close(test.p, 0.090_709_602_186_114_14, 1e-10);
    assert_eq!(test.df, 5.0);
}

#[test]
fn equal_and_constant_differences_need_no_variance() {
    assert_eq!(paired_t(&[1.0, 2.0], &[1.0, 2.0]).unwrap().p, 1.0);
    let constant = paired_t(&[2.0, 3.0], &[1.0, 2.0]).unwrap();
    assert_eq!((constant.p, constant.t), (0.0, f64::INFINITY));
    assert!(paired_t(&[1.0], &[2.0]).is_none());
}

#[test]
fn wins_ties_and_losses_are_counted_for_small_numbers() {
    let mut count = WinTieLoss::default();
    count.add(&[0.1, 0.11, 0.1], &[0.3, 0.32, 0.29], 0.05);
    count.add(&[0.3, 0.32, 0.29], &[0.1, 0.11, 0.1], 0.05);
    count.add(&[0.1, 0.5, 0.3], &[0.3, 0.32, 0.29], 0.05);
    assert_eq!(count.to_string(), "1/1/1");
}

/// Accuracies of four classifiers on 14 data sets, with ties (Demsar 2006, Table 6).
const DEMSAR: [[f64; 4]; 14] = [
    [0.763, 0.768, 0.771, 0.798],
    [0.599, 0.591, 0.590, 0.569],
    [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657],
    [0.882, 0.888, 0.886, 0.898],
    [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685],
    [0.583, 0.583, 0.563, 0.625],
    [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000],
    [0.940, 0.962, 0.965, 0.962],
    [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975],
    [0.957, 0.978, 0.946, 0.970],
];

#[test]
fn friedmans_test_with_ties_agrees_with_scipy() {
    let table: Vec<Vec<f64>> =
        DEMSAR.iter().map(|line| line.iter().map(|accuracy| -accuracy).collect()).collect();
    let test = friedman(&table).unwrap();
    // The ranks are those of the paper: 3.143, 2.000, 2.893, 1.964.
    for (got, want) in test.ranks.iter().zip([44.0 / 14.0, 2.0, 40.5 / 14.0, 27.5 / 14.0]) {
        close(*got, want, 1e-12);
    }
    close(test.chi2, 10.228_346_456_692_925, 1e-10);
    close(test.p, 0.016_721_580_328_441_323, 1e-10);
    close(test.f, 4.185_130_111_524_17, 1e-9);
    close(test.f_p, 0.011_620_659_515_310_975, 1e-9);
}

#[test]
fn a_table_that_is_all_tied_or_too_small_has_no_test() {
    assert_eq!(friedman(&[vec![1.0, 1.0], vec![2.0, 2.0]]), None);
    assert_eq!(friedman(&[vec![1.0, 2.0]]), None);
    assert_eq!(friedman(&[]), None);
}

#[test]
fn nemenyis_q_agrees_with_scipys_studentized_range() {
    for (k, five, ten) in [
        (2, 1.959_963_984_540_053_4, 1.644_853_626_951_472_2),
        (3, 2.343_700_586_378_409, 2.052_292_730_496_775_5),
        (5, 2.727_774_370_870_376_3, 2.459_515_764_271_418_3),
        (10, 3.163_683_577_053_373, 2.919_888_840_061_538_4),
        (20, 3.543_799_131_517_781_5, 3.319_233_059_548_415),
    ] {
        close(nemenyi_q(k, 0.05), five, 1e-6);
        close(nemenyi_q(k, 0.1), ten, 1e-6);
    }
}

#[test]
fn critical_differences_are_those_of_the_saola_paper() {
    // Section 5.2: three methods on ten data sets, 1.047; section 5.3: two on fourteen, 0.5238.
    close(critical_difference(3, 10, 0.05), 1.047, 2e-3);
    close(critical_difference(2, 14, 0.05), 0.5238, 1e-4);
}

#[test]
fn the_deviation_is_that_of_a_sample() {
    assert_eq!(mean_sd(&[1.0, 3.0]), (2.0, 2f64.sqrt()));
    assert_eq!(mean_sd(&[4.0]), (4.0, 0.0));
}
