//! Sample weights are numbers of rows: a row of weight 2 is the row twice, in tests too.

use keepnet::data::generator;
use keepnet::{MethodSpec, Problem, Selection};
use rand::RngExt;

use crate::data::{Data, Storage, listed, random, run};

/// Every method with a setting for numbers and, where it knows one, for codes.
fn cases() -> Vec<(&'static str, MethodSpec, Option<u64>)> {
    let spec = |measure: &str| MethodSpec::default().set("measure", measure);
    let loose = |measure: &str| spec(measure).set("alpha", 0.2);
    let mut cases = vec![
        ("group-saola", spec("su"), Some(3)),
        ("group-saola", loose("fisher-z"), Some(3)),
        ("alpha-investing", MethodSpec::default(), None),
    ];
    for measure in ["su", "mi"] {
        cases.push(("saola", spec(measure), None));
        cases.push(("saola-max", spec(measure), None));
    }
    cases.push(("saola", loose("fisher-z"), None));
    for measure in ["fisher-z", "g2"] {
        cases.push(("osfs", loose(measure), None));
        cases.push(("fast-osfs", loose(measure), None));
    }
    cases
}

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-3)
}

/// The same list, scores and p-values.
fn same(a: &Selection, b: &Selection) -> bool {
    let numbers = |s: &Selection| -> Vec<(u64, f64, f64)> {
        let mut all: Vec<_> =
            s.selected.iter().map(|s| (s.arrival, s.score, s.p_value.unwrap_or(-1.0))).collect();
        all.sort_by_key(|s| s.0);
        all
    };
    let pairs = numbers(a).into_iter().zip(numbers(b));
    listed(a) == listed(b) && pairs.into_iter().all(|(a, b)| close(a.1, b.1) && close(a.2, b.2))
}

/// Every third row with weight 2, and every third row twice.
fn both(data: &Data) -> (Problem, Data) {
    let n = data.y.len();
    let twice = |x: &[f64]| -> Vec<f64> {
        let copies = (0..n).filter(|i| i % 3 == 0).map(|i| x[i]);
        x.iter().copied().chain(copies).collect()
    };
    let mut problem = Problem::binary(&data.y);
    problem.weight = Some((0..n).map(|i| if i % 3 == 0 { 2.0 } else { 1.0 }).collect());
    (problem, Data { x: data.x.iter().map(|x| twice(x)).collect(), y: twice(&data.y) })
}

#[test]
fn a_row_of_weight_two_is_two_rows_for_every_method() {
    let (mut kept, mut told) = (0, 0);
    for seed in 0..60 {
        let data = random(seed);
        let (problem, doubled) = both(&data);
        for (method, spec, group) in cases() {
            for storage in [Storage::Mixed, Storage::Dense64] {
                let weighted = run(&data, storage, method, &spec, problem.clone(), group);
                let plain = Problem::binary(&doubled.y);
                let copied = run(&doubled, storage, method, &spec, plain, group);
                assert!(same(&weighted, &copied), "seed {seed} {method} {storage:?}");
                kept += weighted.selected.len();
                told += weighted.selected.iter().filter(|s| s.p_value.is_some()).count();
            }
        }
    }
    assert!(kept > 1000 && told > 500, "{kept} kept, {told} with a p-value");
}

#[test]
fn a_row_of_weight_two_is_two_rows_for_ogfs() {
    let mut kept = 0;
    for seed in 0..60 {
        // Measurements: between exact copies of a column a lasso has no one answer.
        let mut data = random(seed);
        let mut noise = generator(seed, 3);
        data.x.iter_mut().flatten().for_each(|x| *x += 0.3 * noise.random::<f64>());
        let (problem, doubled) = both(&data);
        let spec = MethodSpec::default();
        let weighted = run(&data, Storage::Dense64, "ogfs", &spec, problem, Some(3));
        let plain = Problem::binary(&doubled.y);
        let copied = run(&doubled, Storage::Dense64, "ogfs", &spec, plain, Some(3));
        assert!(same(&weighted, &copied), "seed {seed}");
        kept += weighted.selected.len();
    }
    assert!(kept > 100, "{kept}");
}

#[test]
fn equal_weights_count_rows() {
    // Weights of 3 are three times the rows: p-values shrink, correlations stay.
    let data = random(5);
    let n = data.y.len();
    let spec = MethodSpec::default().set("measure", "fisher-z").set("alpha", 0.5);
    let alone = run(&data, Storage::Dense64, "saola", &spec, Problem::binary(&data.y), None);
    let mut problem = Problem::binary(&data.y);
    problem.weight = Some(vec![3.0; n]);
    let thrice = run(&data, Storage::Dense64, "saola", &spec, problem, None);
    for found in &thrice.selected {
        let before = alone.selected.iter().find(|s| s.arrival == found.arrival);
        if let Some(before) = before.filter(|s| s.score < 0.999) {
            assert!(close(before.score, found.score));
            // p = 2 (1 - Phi(sqrt(n - 3) atanh r)), so more rows make it smaller.
            assert!(found.p_value.unwrap() < before.p_value.unwrap());
        }
    }
    assert!(!thrice.selected.is_empty());
}
