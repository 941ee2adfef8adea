//! Pinned features against least squares done on the rows themselves.

use super::*;
use crate::data::row::{Row, RowBlock};
use crate::learn::{AveragesParams, RunningAverages, testing};
use crate::registry::{self, MethodSpec};
use crate::run::budget::Budget;

const P: usize = 9;

/// Rows of the common-factor design as columns, the target last.
fn columns(n: usize) -> Vec<Vec<f64>> {
    let block = testing::rows(n, P, 4, 5);
    let mut columns: Vec<Vec<f64>> =
        (0..P).map(|j| block.rows().map(|row| row.get(j)).collect()).collect();
    columns.push(block.y().to_vec());
    columns
}

fn centred(x: &[f64]) -> Vec<f64> {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    x.iter().map(|v| v - mean).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Projects the columns `pins` out of every column, by Gram and Schmidt, twice for precision.
fn residuals(columns: &[Vec<f64>], pins: &[usize]) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let project = |x: &[f64], basis: &[Vec<f64>]| {
        let mut x = centred(x);
        for _ in 0..2 {
            for u in basis {
                let scale = dot(&x, u);
                x.iter_mut().zip(u).for_each(|(x, u)| *x -= scale * u);
            }
        }
        x
    };
    for pin in pins {
        let x = project(&columns[*pin], &basis);
        let size = dot(&x, &x).sqrt();
        basis.push(x.iter().map(|v| v / size).collect());
    }
    columns.iter().map(|x| project(x, &basis)).collect()
}

fn block(columns: &[Vec<f64>]) -> RowBlock {
    let (y, x) = columns.split_last().unwrap();
    let mut block = RowBlock::new(x.len(), y.len());
    for (i, y) in y.iter().enumerate() {
        let row: Vec<f64> = x.iter().map(|column| column[i]).collect();
        block.push(Row::F64(&row), *y, 1.0).unwrap();
    }
    block
}

fn averages(columns: &[Vec<f64>]) -> RunningAverages {
    let params = AveragesParams { f64_products: true, ..AveragesParams::default() };
    let mut averages = RunningAverages::new(columns.len() - 1, 0, params).unwrap();
    averages.push(&block(columns)).unwrap();
    averages
}

/// `P` features of which 2 is pinned and the last is a covariate.
fn problem() -> RowProblem {
    RowProblem { pinned: vec![2], covariates: 1, ..RowProblem::regression(P) }
}

#[test]
fn the_free_gram_is_that_of_the_residuals() {
    let columns = columns(60);
    let pinned = Pinned::new(averages(&columns).gram().unwrap(), &problem()).unwrap();
    let mut rest = residuals(&columns, &[2, 8]);
    let y = rest.pop().unwrap();
    let kept: Vec<Vec<f64>> = [0, 1, 3, 4, 5, 6, 7].iter().map(|j| rest[*j].clone()).collect();
    let brute = averages(&[kept, vec![y]].concat()).gram().unwrap();
    let free = pinned.free();
    assert_eq!(free.index, [0, 1, 3, 4, 5, 6, 7]);
    assert_eq!(free.n, 58.0);
    assert!((free.yy[0] / brute.yy[0] - 1.0).abs() < 1e-8);
    for i in 0..7 {
        assert!((free.sd[i] / brute.sd[i] - 1.0).abs() < 1e-8);
        assert!((free.xy[0][i] - brute.xy[0][i]).abs() < 1e-8 * brute.yy[0].sqrt());
        for j in 0..7 {
            assert!((free.s[(i, j)] - brute.s[(i, j)]).abs() < 1e-8, "{i} {j}");
        }
    }
}

/// With pinned features every method chooses the features that it chooses among residuals, and the
/// coefficients are those of least squares on all columns together.
#[test]
fn every_method_chooses_among_the_residuals_and_refits_on_all() {
    let columns = columns(300);
    let mut rest = residuals(&columns, &[2, 8]);
    // The residuals of the pinned columns are only rounding, so they are left out.
    rest.remove(8);
    rest.remove(2);
    let back = [0u64, 1, 3, 4, 5, 6, 7];
    for name in ["annealed-ridge", "olsth", "ofsa", "olasso", "oalasso", "oelnet", "omcp", "oscad"]
    {
        let spec = MethodSpec::k(2).set("products", "f64");
        let make = |problem: &RowProblem| {
            let method = registry::find(name).unwrap();
            registry::make_rows(method, &spec, problem, Budget::unlimited()).unwrap()
        };
        let (mut with, mut brute) = (make(&problem()), make(&RowProblem::regression(7)));
        with.learn_block(&block(&columns)).unwrap();
        brute.learn_block(&block(&rest)).unwrap();
        let (with, brute) = (with.selection().unwrap(), brute.selection().unwrap());
        let mut want: Vec<u64> = brute.indices().iter().map(|j| back[*j as usize]).collect();
        let mut got = with.indices();
        want.sort_unstable();
        got.sort_unstable();
        assert_eq!(got, want, "{name}");
        assert_eq!(with.pinned.iter().map(|f| f.id.index).collect::<Vec<_>>(), [2], "{name}");
        assert_eq!(with.covariates.len(), 1, "{name}");
        assert_eq!(with.covariates[0].name, "f8");
        // Normal equations: the residual is orthogonal to every column of the model.
        let all = with.selected.iter().chain(&with.pinned);
        let mut model: Vec<(usize, f64)> =
            all.map(|f| (f.id.index as usize, f.coefficient[0])).collect();
        model.push((8, with.covariates[0].coefficient[0]));
        let fitted = |i: usize| {
            with.intercept[0] + model.iter().map(|(j, w)| w * columns[*j][i]).sum::<f64>()
        };
        let left: Vec<f64> = (0..300).map(|i| columns[P][i] - fitted(i)).collect();
        assert!(left.iter().sum::<f64>().abs() < 1e-6, "{name}");
        for (j, _) in &model {
            assert!(dot(&left, &columns[*j]).abs() < 1e-5, "{name} column {j}");
        }
    }
}

#[test]
fn a_ridge_does_not_shrink_pinned_coefficients() {
    // The slope of the squared error is zero in a pinned coefficient, but not in a penalised one.
    let columns = columns(80);
    let spec = MethodSpec::default().set("ridge", 5).set("products", "f64");
    let method = registry::find("ols").unwrap();
    let mut ols = registry::make_rows(method, &spec, &problem(), Budget::unlimited()).unwrap();
    ols.learn_block(&block(&columns)).unwrap();
    let found = ols.selection().unwrap();
    assert_eq!((found.selected.len(), found.pinned.len(), found.covariates.len()), (7, 1, 1));
    let coefficient = |j: usize| match j {
        8 => found.covariates[0].coefficient[0],
        2 => found.pinned[0].coefficient[0],
        _ => found.selected.iter().find(|f| f.id.index == j as u64).unwrap().coefficient[0],
    };
    let fitted =
        |i: usize| found.intercept[0] + (0..P).map(|j| coefficient(j) * columns[j][i]).sum::<f64>();
    let left: Vec<f64> = (0..80).map(|i| columns[P][i] - fitted(i)).collect();
    for j in 0..P {
        let slope = dot(&left, &centred(&columns[j]));
        assert_eq!(slope.abs() < 1e-5, [2, 8].contains(&j), "column {j}: {slope}");
    }
}

#[test]
fn a_feature_that_the_pinned_explain_is_left_out_and_a_constant_one_gives_a_warning() {
    let mut columns = columns(60);
    columns[5] = columns[2].iter().zip(&columns[8]).map(|(a, b)| 3.0 * a - b + 1.0).collect();
    let pinned = Pinned::new(averages(&columns).gram().unwrap(), &problem()).unwrap();
    assert_eq!(pinned.free().index, [0, 1, 3, 4, 6, 7]);
    columns[2] = vec![4.0; 60];
    let gram = averages(&columns).gram().unwrap();
    assert_eq!(constant_warnings(&gram, &problem()).len(), 1);
    assert!(constant_warnings(&gram, &problem())[0].contains("\"f2\""));
    assert!(Pinned::new(gram, &problem()).unwrap().free().index.contains(&5));
}

#[test]
fn of_collinear_pinned_features_the_earlier_stays_and_the_other_gives_a_warning() {
    // 4 = 2 - 3 + an offset, all three pinned: the model is that of 2 and 3 pinned, without 4.
    for products in ["f32", "f64"] {
        let mut columns = columns(400);
        columns[4] = columns[2].iter().zip(&columns[3]).map(|(a, b)| a - b + 7.0).collect();
        let run = |pinned: Vec<u32>, columns: &[Vec<f64>]| {
            let problem = RowProblem { pinned, ..RowProblem::regression(columns.len() - 1) };
            let spec = MethodSpec::k(2).set("products", products);
            let method = registry::find("annealed-ridge").unwrap();
            let mut learner =
                registry::make_rows(method, &spec, &problem, Budget::unlimited()).unwrap();
            learner.learn_block(&block(columns)).unwrap();
            learner.selection().unwrap()
        };
        let found = run(vec![2, 3, 4], &columns);
        columns.remove(4);
        let want = run(vec![2, 3], &columns);
        assert_eq!(found.pinned.iter().map(|f| f.id.index).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
        assert!(found.warnings[0].contains("\"f4\""), "{:?}", found.warnings);
        assert_eq!(found.indices(), want.indices());
        for (a, b) in found.pinned.iter().zip(&want.pinned) {
            assert!((a.coefficient[0] - b.coefficient[0]).abs() < 1e-6);
        }
    }
}

#[test]
fn sizes_are_chosen_without_counting_the_pinned() {
    // The target is the sum of 0 to 3 and noise; 2 is pinned, so three remain to be found.
    let columns = columns(2000);
    for choose in ["bic", "ebic", "holdout"] {
        let spec = MethodSpec::default().set("choose", choose);
        let method = registry::find("annealed-ridge").unwrap();
        let mut learner =
            registry::make_rows(method, &spec, &problem(), Budget::unlimited()).unwrap();
        learner.learn_block(&block(&columns)).unwrap();
        let mut found = learner.selection().unwrap().indices();
        found.sort_unstable();
        assert_eq!(found, [0, 1, 3], "{choose}");
    }
}

#[test]
fn an_active_set_never_drops_the_pinned() {
    let columns = columns(4000);
    let spec = MethodSpec::k(1).set("active", 6);
    let method = registry::find("ofsa").unwrap();
    // Feature 7 is noise: it would not stay if it were not pinned.
    let problem = RowProblem { pinned: vec![7], covariates: 1, ..RowProblem::regression(P) };
    let mut learner = registry::make_rows(method, &spec, &problem, Budget::unlimited()).unwrap();
    learner.learn_block(&block(&columns)).unwrap();
    let found = learner.selection().unwrap();
    assert!(found.substitutions >= 2);
    assert_eq!(found.pinned[0].id.index, 7);
    assert_eq!(found.covariates.len(), 1);
    assert!(found.indices()[0] < 4, "{:?}", found.indices());
}

#[test]
fn rules_that_move_every_coefficient_refuse_pins() {
    for name in
        ["sgd", "tsgd", "siht", "truncated-gradient", "opg", "rda", "opg-sadmm", "rda-sadmm"]
    {
        let method = registry::find(name).unwrap();
        let made = registry::make_rows(method, &MethodSpec::k(2), &problem(), Budget::unlimited());
        let error = made.err().unwrap().to_string();
        assert!(error.contains(name) && error.contains("`always`"), "{error}");
    }
}
