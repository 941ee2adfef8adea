//! A small part of the `os_tables` example: few seeds, within 3.5 standard errors of the tables
//! of the reference prototypes (means over 3 to 40 seeds). The example runs and judges them all.

use keepnet_papers::Mean;
use keepnet_papers::columns::{Data, Drawn, Score, method};

fn scores(data: &Data, name: &'static str, scans: u32, seeds: u64) -> Vec<Score> {
    // Seeds apart from the example's, which start at 0.
    let one = |seed| Drawn::new(data, seed).unwrap().score(&method(name), scans).unwrap();
    (100..100 + seeds).map(one).collect()
}

fn assert_near(what: &str, ours: Mean, reference: f64, se_reference: f64) {
    let z = ours.z(reference, se_reference);
    assert!(z.abs() <= 3.5, "{what}: {:.3} where the table has {reference}: z = {z:.1}", ours.mean);
}

/// Matched noise, p = 2000, two scans: the table has recall .738 and recovery error .219 for
/// `os eta=1/L m=1`, and .758 and .218 for `os-plus reserve=0`, of 5 seeds each.
#[test]
fn regression_with_matched_noise() {
    let data = ("regression", vec![("p", "2000".into()), ("noise", "matched".into())]);
    for (name, recall, error) in
        [("os eta=1/L m=1", 0.738, 0.219), ("os-plus reserve=0", 0.758, 0.218)]
    {
        let scores = scores(&data, name, 2, 3);
        let recalls = Mean::of(scores.iter().map(|s| s.recall));
        assert_near(&format!("{name}, recall"), recalls, recall, 0.015);
        let errors = Mean::of(scores.iter().map(|s| s.error));
        // The spread of a recovery error over seeds: the example prints errors of 0.008 for 10.
        assert_near(&format!("{name}, error"), errors, error, 0.025 / 5f64.sqrt());
    }
}

/// p = 1000, two scans: the table has recall .637 and test error .109, of 3 seeds.
#[test]
fn classification_by_the_squared_hinge() {
    let data = ("classification", vec![("p", "1000".into())]);
    let scores = scores(&data, "os eta=2 m=100 loss=squared-hinge", 2, 3);
    assert_near("recall", Mean::of(scores.iter().map(|s| s.recall)), 0.637, 0.015);
    let errors = Mean::of(scores.iter().map(|s| s.error));
    assert_near("test error", errors, 0.109, 0.015 / 3f64.sqrt());
}

/// Toeplitz .9, two scans, no reserve, of 40 seeds: recall .637 with theta=auto; a theta of 1
/// misses columns that hide behind others, and reaches .312.
#[test]
fn theta_guards_against_correlated_columns() {
    let data = ("toeplitz", Vec::new());
    for (name, recall) in
        [("os-plus reserve=0 theta=auto", 0.637), ("os-plus reserve=0 theta=1", 0.312)]
    {
        let recalls = scores(&data, name, 2, 10);
        assert_near(name, Mean::of(recalls.iter().map(|s| s.recall)), recall, 0.012);
    }
}

/// The rivals at p = 2000, matched noise: the table has recall .746 for `lasso` and `grafting` at
/// its lambda, .698 for `l1-cd`, .634 for `l0-cd`, .766 for `proj-gd`, of 5 seeds each.
#[test]
fn the_rivals_with_matched_noise() {
    let data = ("regression", vec![("p", "2000".into()), ("noise", "matched".into())]);
    for (name, scans, recall) in [
        ("lasso standardise=false", 1, 0.746),
        ("grafting standardise=false lambda=lasso", 2, 0.746),
        ("grafting", 2, 0.746),
        ("l1-cd standardise=false lambda=lasso", 2, 0.698),
        ("l0-cd eta=.62 standardise=false", 2, 0.634),
        ("proj-gd standardise=false", 1, 0.766),
    ] {
        let recalls = scores(&data, name, scans, 2);
        assert_near(name, Mean::of(recalls.iter().map(|s| s.recall)), recall, 0.015);
    }
}
