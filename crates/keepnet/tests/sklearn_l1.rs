//! The L1 rivals against scikit-learn's objectives; `reference/sklearn_l1.py` made the numbers.

mod common;

use common::{Data, run, width};
use keepnet::{MethodSpec, Problem, Selection, Value};

fn numbers(line: &str) -> Vec<f64> {
    line.split(',').skip(1).map(|v| v.parse().unwrap()).collect()
}

fn data() -> (Data, &'static str) {
    let text = include_str!("reference/sklearn_l1.csv");
    let rows: Vec<_> = text.lines().filter(|l| l.starts_with("data")).map(numbers).collect();
    let column = |j: usize| rows.iter().map(|row| row[j]).collect::<Vec<f64>>();
    let columns = (1..rows[0].len()).map(column).collect();
    (Data { n: rows.len(), columns, y: column(0) }, text)
}

fn metric(selection: &Selection, name: &str) -> f64 {
    match selection.metrics.iter().find(|(key, _)| *key == name) {
        Some((_, Value::Float(value))) => *value,
        other => panic!("{name}: {other:?}"),
    }
}

fn check(method: &str, problem: &Problem, spec: &MethodSpec, want: f64) {
    let (data, _) = data();
    let options = keepnet::RunOptions { scans: 60, ..width(16) };
    let report = run(&mut data.dense(), problem.clone(), method, spec, options);
    let selection = &report.lanes[0].selection;
    let got = metric(selection, "objective");
    assert!((got / want - 1.0).abs() < 1e-5, "{method} {spec:?}: {got} where sklearn has {want}");
    let off = metric(selection, "kkt_residual");
    assert!(off < 1e-4, "{method} {spec:?}: KKT off by {off:e} of lambda");
}

/// The lasso itself, and grafting, which repeats its scans until no column wants in.
#[test]
fn the_squared_loss_reaches_the_objective_of_lasso() {
    let (data, text) = data();
    let problem = Problem::regression(data.y.clone());
    let mut fits = 0;
    for fit in text.lines().filter(|l| l.starts_with("lasso")).map(numbers) {
        let spec = MethodSpec::default().set("lambda", fit[0]).set("standardise", false);
        check("lasso", &problem, &spec, fit[1]);
        check("grafting", &problem, &spec, fit[1]);
        fits += 1;
    }
    assert_eq!(fits, 4);
}

/// LIBLINEAR penalises an intercept, so the problem has none here.
#[test]
fn the_squared_hinge_reaches_the_objective_of_linear_svc() {
    let (data, text) = data();
    let problem = Problem::binary(&data.labels());
    let mut fits = 0;
    for fit in text.lines().filter(|l| l.starts_with("hinge")).map(numbers) {
        let lambda = 1.0 / (2.0 * data.n as f64 * fit[0]);
        let spec = MethodSpec::default().set("lambda", lambda).set("standardise", false);
        let spec = spec.set("intercept", false);
        check("l1-hinge", &problem, &spec, fit[1]);
        check("grafting", &problem, &spec, fit[1]);
        fits += 1;
    }
    assert_eq!(fits, 3);
}

/// `lambda=auto` finds a lambda at which scikit-learn would have about `k` weights: the walk
/// ends at the smallest model with at least `k`.
#[test]
fn a_lambda_is_found_for_k_features() {
    let (data, _) = data();
    let problem = Problem::regression(data.y.clone());
    for k in [3, 10, 25] {
        let report = run(&mut data.dense(), problem.clone(), "lasso", &MethodSpec::k(k), width(16));
        let selection = &report.lanes[0].selection;
        assert_eq!(selection.selected.len(), k);
        let nonzero = selection.metrics.iter().find(|(name, _)| *name == "nonzero").unwrap();
        assert_eq!(nonzero.1, Value::Int(k as u64));
        assert!(selection.warnings.is_empty(), "{:?}", selection.warnings);
    }
}
