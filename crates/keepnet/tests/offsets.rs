//! A constant added to columns or target changes the intercept and nothing else.
//!
//! Values are multiples of 2^-18 and offsets whole numbers below 2^31, so that every sum is exact
//! in f64 and the table with offsets holds the very values of the one without: what is expected
//! of it is the answer on the table without.

mod common;

use common::column_methods::{cases, problem, spec};
use common::{Data, width};
use keepnet::{
    Budget, CheckPolicy, ColumnData, Covariate, Driver, Generated, Groups, Lane, LossKind,
    MethodInfo, MethodSpec, Missing, Numbers, Problem, Quiet, Selection, Stream, Target, registry,
};

const N: usize = 120;
const P: usize = 60;

fn data(seed: u64) -> Data {
    let mut data = Data::normal(N, P, seed);
    let grid = |x: &mut f64| *x = (*x * 262_144.0).round() / 262_144.0;
    data.columns.iter_mut().flatten().for_each(grid);
    data
}

/// Deviations are about 1, so these are the ratios of mean and deviation.
fn offset(j: usize) -> f64 {
    [1e5, -3e6, 1e8, 0.0, 1e9, -1e7, 2e9][j % 7]
}

/// What was added to a feature; an indicator of missing values has no offset.
fn added(feature: &keepnet::Selected) -> f64 {
    if feature.name.ends_with(":missing") { 0.0 } else { offset(feature.id.index as usize) }
}

fn moved(data: &Data) -> Data {
    let mut moved = data.clone();
    for (j, column) in moved.columns.iter_mut().enumerate() {
        column.iter_mut().for_each(|x| *x += offset(j));
    }
    moved
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Storage {
    F64,
    Sparse,
}

fn source(data: &Data, storage: Storage) -> Generated {
    let one = |x: &Vec<f64>| match storage {
        Storage::F64 => ColumnData::Dense(Numbers::F64(x.clone())),
        Storage::Sparse => {
            let index: Vec<u32> = (0..N as u32).filter(|i| x[*i as usize] != 0.0).collect();
            let value = index.iter().map(|i| x[*i as usize]).collect();
            ColumnData::Sparse { rows: N, index, value: Numbers::F64(value) }
        }
    };
    Generated::columns(N, data.columns.iter().map(one).collect())
}

fn run(
    (method, spec): (&MethodInfo, &MethodSpec),
    problem: Problem,
    policy: &CheckPolicy,
    mut source: Generated,
) -> Selection {
    let selector = registry::make(method, spec, &problem, Budget::unlimited()).unwrap();
    let mut lane = Lane::new(problem, selector);
    lane.policy = policy.clone();
    let driver = Driver::new(&mut source, vec![lane], width(16)).unwrap();
    let groups = Groups::block(4).unwrap();
    driver.with_groups(groups).run(&mut Quiet).unwrap().lanes.remove(0).selection
}

/// The same features with the same weights; what the intercept lacks is what the offsets add.
fn same(want: &Selection, got: &Selection, near: f64, what: &str) {
    assert_eq!(want.indices(), got.indices(), "{what}");
    let most = |s: &Selection| -> f64 {
        s.selected.iter().flat_map(|s| &s.coefficient).fold(0.0, |most: f64, w| most.max(w.abs()))
    };
    for (a, b) in want.selected.iter().zip(&got.selected) {
        for (x, y) in a.coefficient.iter().zip(&b.coefficient) {
            assert!((x - y).abs() <= near * most(want), "{what}, {:?}: {x} {y}", a.id);
        }
        assert!((a.score - b.score).abs() <= near * (1.0 + a.score.abs()), "{what} {:?}", a.id);
        let by = added(b);
        assert!((a.mean + by - b.mean).abs() <= near.max(1e-15 * by.abs()), "{what}");
    }
    for (c, (x, y)) in want.intercept.iter().zip(&got.intercept).enumerate() {
        let parts = got.selected.iter().filter(|s| !s.coefficient.is_empty());
        let parts: Vec<f64> = parts.map(|s| s.coefficient[c] * added(s)).collect();
        let size: f64 = parts.iter().map(|part| part.abs()).sum();
        let shift: f64 = parts.iter().sum();
        assert!((x - shift - y).abs() <= near * (1.0 + size), "{what}: intercept {x} {y} {shift}");
    }
    if let (Some(x), Some(y)) = (want.loss, got.loss) {
        assert!((x - y).abs() <= near * x.abs().max(1e-6), "{what}: loss {x} {y}");
    }
}

#[test]
fn columns_with_an_offset_are_the_columns_without_it() {
    let plain = data(5);
    let moved = moved(&plain);
    let policy = CheckPolicy::default();
    for (method, loss) in cases() {
        let spec = spec(method, loss);
        for weighted in [false, true] {
            let mut problem = problem(&plain, method, loss);
            if weighted {
                problem.weight = Some((0..N).map(|i| 1.0 + (i % 3) as f64).collect());
            }
            let go = |source| run((method, &spec), problem.clone(), &policy, source);
            let want = go(source(&plain, Storage::F64));
            assert!(!want.selected.is_empty(), "{} keeps nothing", method.name);
            for storage in [Storage::F64, Storage::Sparse] {
                let what = format!("{} {loss:?} {storage:?} weighted {weighted}", method.name);
                same(&want, &go(source(&moved, storage)), 1e-10, &what);
            }
        }
    }
}

#[test]
fn covariates_and_pinned_features_may_have_an_offset_too() {
    let plain = data(6);
    let moved = moved(&plain);
    for (method, loss) in cases().into_iter().filter(|(method, _)| method.has_loss) {
        let spec = spec(method, loss);
        let go = |data: &Data| {
            let mut problem = problem(data, method, loss);
            let covariate = |j: usize| Covariate {
                name: format!("c{j}"),
                values: data.columns[j].iter().map(|x| 0.5 * x).collect(),
            };
            problem.covariates = vec![covariate(4), covariate(9)];
            let selector = registry::make(method, &spec, &problem, Budget::unlimited()).unwrap();
            let mut lane = Lane::new(problem, selector);
            lane.pinned = ["f11".to_string(), "f30".to_string()].into();
            let kept = |j: usize| j != 4 && j != 9;
            let columns = data.columns.iter().enumerate().filter(|(j, _)| kept(*j));
            let columns = columns.map(|(_, x)| ColumnData::Dense(Numbers::F64(x.clone())));
            let mut source = Generated::columns(N, columns.collect());
            let mut driver = Driver::new(&mut source, vec![lane], width(16)).unwrap();
            if method.stream == Stream::Groups {
                driver = driver.with_groups(Groups::block(3).unwrap());
            }
            driver.run(&mut Quiet).unwrap().lanes.remove(0).selection
        };
        let (want, got) = (go(&plain), go(&moved));
        let what = format!("{} {loss:?}", method.name);
        assert_eq!(want.indices(), got.indices(), "{what}");
        let weights = |s: &Selection| -> Vec<f64> {
            let own = s.selected.iter().chain(&s.pinned).flat_map(|s| s.coefficient.clone());
            own.chain(s.covariates.iter().flat_map(|s| s.coefficient.clone())).collect()
        };
        for (x, y) in weights(&want).iter().zip(weights(&got)) {
            assert!((x - y).abs() <= 1e-9 * (1.0 + x.abs()), "{what}: {x} {y}");
        }
    }
}

/// The mean that fills is a number beside the offset, so it has the digits that leaves: 1e-7 of a
/// deviation at an offset of 2e9.
#[test]
fn missing_values_are_filled_with_the_mean_whatever_the_offset() {
    let mut plain = data(7);
    for (j, column) in plain.columns.iter_mut().enumerate().filter(|(j, _)| j % 3 == 0) {
        column.iter_mut().skip(j % 5).step_by(17).for_each(|x| *x = f64::NAN);
    }
    let moved = moved(&plain);
    for missing in [Missing::Mean, Missing::Indicator] {
        let policy = CheckPolicy { missing, ..CheckPolicy::default() };
        for name in ["os-plus", "os", "saola", "lasso", "alpha-investing"] {
            let method = registry::find(name).unwrap();
            let loss = Some(LossKind::Squared).filter(|_| method.has_loss);
            let spec = spec(method, loss);
            let problem = problem(&plain, method, loss);
            let go = |source| run((method, &spec), problem.clone(), &policy, source);
            let want = go(source(&plain, Storage::F64));
            for storage in [Storage::F64, Storage::Sparse] {
                same(&want, &go(source(&moved, storage)), 1e-6, &format!("{name} {storage:?}"));
            }
        }
    }
}

/// Without an intercept an offset is part of the model, which must not be taken out of it.
#[test]
fn without_an_intercept_columns_are_taken_as_they_are() {
    let mut plain = data(8);
    plain.columns[3].iter_mut().for_each(|x| *x += 2e4);
    plain.y.iter_mut().for_each(|y| *y += 5.0);
    for (method, _) in cases().into_iter().filter(|(_, loss)| *loss == Some(LossKind::Squared)) {
        let spec = spec(method, Some(LossKind::Squared)).set("intercept", "false");
        let problem = Problem::regression(plain.y.clone());
        let source = source(&plain, Storage::F64);
        let got = run((method, &spec), problem, &CheckPolicy::default(), source);
        assert_eq!(got.intercept, [0.0], "{}", method.name);
        // The loss that is reported is that of the weights that are reported.
        let residual = |i: usize| {
            let own =
                |s: &keepnet::Selected| s.coefficient[0] * plain.columns[s.id.index as usize][i];
            plain.y[i] - got.selected.iter().map(own).sum::<f64>()
        };
        let loss = (0..N).map(|i| residual(i).powi(2)).sum::<f64>() / (2 * N) as f64;
        let told = got.loss.unwrap();
        assert!((loss - told).abs() < 1e-6 * (1.0 + loss), "{}: {loss} {told}", method.name);
    }
}

/// The slope of a target far from zero: 0.0101 became 0.0196 at an offset of 1e10.
#[test]
fn a_target_with_an_offset_is_the_target_without_it() {
    let mut plain = data(9);
    plain.y.iter_mut().for_each(|y| *y = (*y * 1024.0).round() / 1024.0);
    for (method, loss) in cases() {
        let Target::Numbers(y) = problem(&plain, method, loss).target else { continue };
        let spec = spec(method, loss);
        let go = |by: f64, weighted: bool| {
            let mut problem = Problem::regression(y.iter().map(|y| y + by).collect());
            if weighted {
                problem.weight = Some((0..N).map(|i| 1.0 + (i % 3) as f64).collect());
            }
            run((method, &spec), problem, &CheckPolicy::default(), source(&plain, Storage::F64))
        };
        for weighted in [false, true] {
            let want = go(0.0, weighted);
            for by in [1e6, 1e10, -4e12] {
                let got = go(by, weighted);
                let what = format!("{} {loss:?} {by} weighted {weighted}", method.name);
                for (x, y) in want.intercept.iter().zip(&got.intercept) {
                    assert!((x + by - y).abs() <= 1e-15 * by.abs() + 1e-9, "{what}: {x} {y}");
                }
                same_weights(&want, &got, &what);
            }
        }
    }
}

fn same_weights(want: &Selection, got: &Selection, what: &str) {
    assert_eq!(want.indices(), got.indices(), "{what}");
    for (a, b) in want.selected.iter().zip(&got.selected) {
        for (x, y) in a.coefficient.iter().zip(&b.coefficient) {
            assert!((x - y).abs() <= 1e-9 * (1.0 + x.abs()), "{what}, {:?}: {x} {y}", a.id);
        }
        assert!((a.score - b.score).abs() <= 1e-9 * (1.0 + a.score.abs()), "{what} {:?}", a.id);
    }
}
