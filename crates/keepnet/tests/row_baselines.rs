//! The streaming baselines: units and origins, features far from zero, rare features and heavy rows.

#[path = "common/row_blocks.rs"]
mod row_blocks;

use keepnet::registry::{self, MethodSpec};
use keepnet::{Budget, Row, RowBlock, RowProblem, Selection};
use row_blocks::{P, block, make, problem, random, rows};

const BASELINES: [&str; 10] = [
    "sgd",
    "tsgd",
    "siht",
    "truncated-gradient",
    "opg",
    "rda",
    "opg-sadmm",
    "rda-sadmm",
    "ofs",
    "sofs",
];

/// Coefficients by feature, and the intercept.
fn fitted(name: &str, rows: &[(Vec<f64>, f64, f64)]) -> (Vec<f64>, f64, Selection) {
    let mut learner = make(name, &MethodSpec::k(4));
    learner.learn_block(&block(rows, false)).unwrap();
    let selection = learner.selection().unwrap();
    let mut w = vec![0.0; P];
    selection.selected.iter().for_each(|f| w[f.id.index as usize] = f.coefficient[0]);
    (w, selection.intercept[0], selection)
}

#[test]
fn the_unit_and_origin_of_features_and_target_do_not_show_in_a_baseline() {
    for name in BASELINES {
        let (_, classes) = problem(name);
        let base = rows(900, 12, classes);
        let (w, b, plain) = fitted(name, &base);
        assert_eq!(plain.selected.len(), 4, "{name}");
        let unit = |j: usize| 10.0f64.powi(j as i32 % 7 - 3);
        let origin = |j: usize| unit(j) * [0.0, 10.0, -1e3, 1e5][j % 4];
        let (scale, shift) = if classes { (1.0, 0.0) } else { (100.0, 1e4) };
        let moved: Vec<_> = base
            .iter()
            .map(|(x, y, weight)| {
                let x = x.iter().enumerate().map(|(j, v)| unit(j) * v + origin(j)).collect();
                (x, scale * y + shift, 50.0 * weight)
            })
            .collect();
        let (v, c, other) = fitted(name, &moved);
        // Of features that had the same few values so far a rule that cuts keeps those that
        // rounding prefers; what that does to the first steps fades, and is not gone.
        let cuts = ["tsgd", "siht", "ofs", "sofs"].contains(&name);
        let near = if cuts { 1e-4 } else { 1e-6 };
        assert_eq!(plain.indices(), other.indices(), "{name}");
        for j in 0..P {
            let back = v[j] * unit(j) / scale;
            assert!((back - w[j]).abs() < near * (1.0 + w[j].abs()), "{name} {j}: {back} {}", w[j]);
        }
        let at: f64 = (0..P).map(|j| v[j] * origin(j)).sum();
        let back = (c + at - shift) / scale;
        assert!((back - b).abs() < 10.0 * near * (1.0 + b.abs()), "{name}: {back} {b}");
        // Means are those of the rows, weights counted.
        let total: f64 = moved.iter().map(|row| row.2).sum();
        for f in &other.selected {
            let j = f.id.index as usize;
            let mean = moved.iter().map(|(x, _, w)| w * x[j]).sum::<f64>() / total;
            assert!((f.mean - mean).abs() < 1e-9 * (1.0 + mean.abs()), "{name}: {} {mean}", f.mean);
        }
    }
}

#[test]
fn a_baseline_on_features_far_from_zero_learns_and_has_an_intercept() {
    // The error of the best constant is half the variance of the target; least squares on the
    // first three features leaves 0.3 / sqrt 3 of noise.
    for name in &BASELINES[..8] {
        let mut far = rows(4000, 13, false);
        far.iter_mut().for_each(|(x, y, w)| {
            x.iter_mut().for_each(|v| *v += 10.0);
            (*y, *w) = (*y + 50.0, 1.0);
        });
        let mean = far.iter().map(|r| r.1).sum::<f64>() / far.len() as f64;
        let variance = far.iter().map(|r| (r.1 - mean).powi(2)).sum::<f64>() / far.len() as f64;
        let (w, b, selection) = fitted(name, &far);
        let loss = selection.loss.unwrap();
        if loss >= 0.5 * variance {
            let said = selection.warnings.join(" ");
            assert!(said.contains("best constant"), "{name}: {loss} {variance} {said}");
            continue;
        }
        let predict = |x: &[f64]| b + w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
        let rest = far.iter().map(|(x, y, _)| (predict(x) - y).powi(2)).sum::<f64>();
        assert!(rest / (far.len() as f64) < variance, "{name}");
    }
    let (_, _, sgd) = fitted("sgd", &rows(4000, 13, false));
    let mut found = sgd.indices();
    found.truncate(3);
    found.sort_unstable();
    assert_eq!(found, [0, 1, 2]);
}

#[test]
fn a_rare_feature_a_heavy_row_and_a_raw_overflow_each_have_an_answer() {
    // A feature that is 1 in one row of 500 has a standardised value of 22: its square is far
    // beyond the two features' own length, and made a plain step diverge.
    let rare = |standardise: bool, scale: f64, weight: f64| {
        let method = registry::find("sgd").unwrap();
        let spec = MethodSpec::k(2).set("rate", 1).set("standardise", standardise);
        let problem = RowProblem::regression(2);
        let mut learner =
            registry::make_rows(method, &spec, &problem, Budget::unlimited()).unwrap();
        let mut next = random(14);
        for i in 0..40_000 {
            let x = [scale * next(), f64::from(u8::from(i % 500 == 499))];
            let w = if i % 1000 == 0 { weight } else { 1.0 };
            let mut one = RowBlock::new(2, 1);
            one.push(Row::F64(&x), x[0] / scale + x[1] + 0.1 * next(), w).unwrap();
            learner.learn_block(&one)?;
        }
        learner.selection()
    };
    for weight in [1.0, 1e6] {
        let found = rare(true, 1.0, weight).unwrap();
        assert!(found.selected.iter().all(|f| (f.coefficient[0] - 1.0).abs() < 0.3), "{found:?}");
    }
    let lost = rare(false, 100.0, 1.0).unwrap_err().to_string();
    assert!(lost.contains("diverged") && lost.contains("standardise"), "{lost}");
}
