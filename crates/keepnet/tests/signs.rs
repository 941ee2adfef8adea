//! The sign of a column changes the sign of its coefficient and nothing else.
//!
//! Every product with a column turns round exactly, so even the digits stay. The table has copies
//! of columns with both signs: a step length from an eigenvalue was too long for those where the
//! start of its iteration was at right angles to the eigenvector.

mod common;

use common::column_methods::{cases, problem, spec};
use common::{Data, run, width};
use keepnet::{
    Budget, ColumnData, Driver, Generated, Groups, Lane, LossKind, MethodSpec, Numbers, Problem,
    Quiet, Selection, registry,
};

const N: usize = 60;
const P: usize = 24;

/// Six columns, each four times.
fn data(seed: u64) -> Data {
    let mut data = Data::normal(N, P, seed);
    for j in 6..P {
        data.columns[j] = data.columns[j % 6].clone();
    }
    for i in 0..N {
        data.y[i] = data.columns[0][i] - 0.7 * data.columns[3][i] + 0.3 * data.y[i];
    }
    data
}

/// The columns with signs of their own; the other way round where `turned`.
fn source(data: &Data, turned: bool) -> Generated {
    let one = |(j, x): (usize, &Vec<f64>)| {
        let sign = if (j * j + j / 6) % 3 == 0 && turned { -1.0 } else { 1.0 };
        ColumnData::Dense(Numbers::F64(x.iter().map(|x| sign * x).collect()))
    };
    Generated::columns(N, data.columns.iter().enumerate().map(one).collect())
}

#[test]
fn a_column_with_the_other_sign_is_the_same_feature() {
    for seed in 0..12 {
        let data = data(seed);
        for (method, loss) in cases() {
            let spec = spec(method, loss);
            let problem: Problem = problem(&data, method, loss);
            let go = |turned: bool| -> Selection {
                let mut source = source(&data, turned);
                let selector =
                    registry::make(method, &spec, &problem, Budget::unlimited()).unwrap();
                let lane = Lane::new(problem.clone(), selector);

                let driver = Driver::new(&mut source, vec![lane], width(16)).unwrap();
                let groups = Groups::block(4).unwrap();
                driver.with_groups(groups).run(&mut Quiet).unwrap().lanes.remove(0).selection
            };
            let (plain, turned) = (go(false), go(true));
            let what = format!("{} {loss:?}, seed {seed}", method.name);
            assert_eq!(plain.indices(), turned.indices(), "{what}");
            for (a, b) in plain.selected.iter().zip(&turned.selected) {
                for (x, y) in a.coefficient.iter().zip(&b.coefficient) {
                    assert!((x.abs() - y.abs()).abs() <= 1e-9, "{what}, {:?}: {x} {y}", a.id);
                }
            }
        }
    }
}

/// The batch methods with an L1 penalty: of copies of a column, whatever their sign, unit and
/// origin, the first has the weight, and the model is that of the table without the others.
#[test]
fn copies_of_a_column_leave_the_l1_model_as_it_is_without_them() {
    for seed in 0..12 {
        let mut data = Data::normal(40, 9, seed);
        let alone = data.clone();
        for (j, (scale, shift)) in
            [(1.0, 0.0), (-1.0, 0.0), (3e4, 7.0), (-1e-3, 2.0)].iter().enumerate()
        {
            let copy = data.columns[2 * j].iter().map(|x| scale * x + shift).collect();
            data.columns.push(copy);
        }
        for (method, loss) in [("lasso", LossKind::Squared), ("l1-hinge", LossKind::SquaredHinge)] {
            let problem = data.problem(loss);
            for k in [2, 5, 9] {
                let go = |data: &Data| {
                    let spec = MethodSpec::k(k);
                    let report = run(&mut data.dense(), problem.clone(), method, &spec, width(16));
                    report.lanes.into_iter().next().unwrap().selection
                };
                let (with, without) = (go(&data), go(&alone));
                assert_eq!(with.indices(), without.indices(), "{method}, k = {k}, seed {seed}");
                assert_eq!(with.intercept, without.intercept, "{method}, k = {k}, seed {seed}");
            }
        }
    }
}
