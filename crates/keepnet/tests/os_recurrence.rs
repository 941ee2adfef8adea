//! `os` against Algorithm 1 written out plainly: one arrival at a time, dense f64 columns
//! centred in place, two matrix-vector products each. Nothing is shared with the engine.

mod common;

use common::{Data, width};
use keepnet::{
    Budget, CheckedBlock, ColumnBlock, ColumnSelector, FeatureSource, Generated, LossKind, Problem,
    data as check,
    select::substitution::os::{Eta, Os, OsParams},
};

/// Slope of one sample, from the table of losses in the paper and its usual forms.
fn slope(loss: LossKind, u: f64, y: f64, epsilon: f64) -> f64 {
    match loss {
        LossKind::Squared => u - y,
        LossKind::SquaredHinge => -(1.0 - u * y).max(0.0) * y,
        LossKind::Logistic => -y / (1.0 + (u * y).exp()),
        LossKind::SquaredEpsilon => (u - y).signum() * ((u - y).abs() - epsilon).max(0.0),
        other => panic!("the cases below have no {other:?}"),
    }
}

struct Plain {
    ids: Vec<usize>,
    w: Vec<f64>,
}

/// Algorithm 1 with sample weights `v`, step `eta` and `m`, centring and intercept as in the docs.
fn plain(
    data: &Data,
    y: &[f64],
    v: &[f64],
    (loss, epsilon, intercept): (LossKind, f64, bool),
    (k, eta, m, scans): (usize, f64, f64, usize),
) -> Plain {
    let total: f64 = v.iter().sum();
    let mean = |x: &[f64]| x.iter().zip(v).map(|(x, v)| x * v).sum::<f64>() / total;
    let shift = |x: &[f64]| if intercept { mean(x) } else { 0.0 };
    let centred = |x: &[f64]| -> Vec<f64> { x.iter().map(|value| value - shift(x)).collect() };
    let columns: Vec<Vec<f64>> = data.columns.iter().map(|x| centred(x)).collect();
    let squared = loss == LossKind::Squared;
    let y = if squared { centred(y) } else { y.to_vec() };
    let (mut ids, mut w, mut b) = (Vec::<usize>::new(), Vec::<f64>::new(), 0.0);
    for j in (0..scans).flat_map(|_| 0..columns.len()) {
        if ids.contains(&j) {
            continue;
        }
        let u = |i: usize| b + ids.iter().zip(&w).map(|(id, w)| columns[*id][i] * w).sum::<f64>();
        let g: Vec<f64> =
            (0..data.n).map(|i| v[i] * slope(loss, u(i), y[i], epsilon) / total).collect();
        let dot = |x: &[f64]| x.iter().zip(&g).map(|(x, g)| x * g).sum::<f64>();
        let slopes: Vec<f64> = ids.iter().map(|id| dot(&columns[*id])).collect();
        w.iter_mut().zip(&slopes).for_each(|(w, s)| *w -= eta / m * s);
        if intercept && !squared {
            b -= eta / m * g.iter().sum::<f64>();
        }
        ids.push(j);
        w.push(-eta * dot(&columns[j]));
        if ids.len() > k {
            // The least weight goes, the latest among equals, the newcomer on a tie.
            let least = w.iter().map(|w| w.abs()).fold(f64::INFINITY, f64::min);
            let out =
                (0..w.len()).filter(|i| w[*i].abs() == least).max_by_key(|i| ids[*i]).unwrap();
            let out = if w[k].abs() == least { k } else { out };
            ids.swap_remove(out);
            w.swap_remove(out);
        }
    }
    Plain { ids, w }
}

/// The raw coefficients of `os` before any refit.
fn engine(
    source: &mut Generated,
    problem: &Problem,
    params: &OsParams,
    scans: usize,
    width: usize,
) -> Vec<(usize, f64)> {
    let mut os = Os::new(params.clone(), problem, Budget::unlimited()).unwrap();
    let policy = check::CheckPolicy::default();
    for _ in 0..scans {
        source.rewind().unwrap();
        let (mut block, mut first) = (ColumnBlock::new(width), 0);
        loop {
            block.reset(width);
            if !source.next_block(&mut block).unwrap() {
                break;
            }
            let checked: CheckedBlock<'_> =
                check::check_block(&block, first, problem, &policy).unwrap();
            first += block.len() as u64;
            os.offer_block(&checked, &mut Vec::new()).unwrap();
        }
        os.end_scan().unwrap();
    }
    os.coefficients().into_iter().map(|(id, w)| (id.index as usize, w[0])).collect()
}

fn compare(plain: &Plain, got: &[(usize, f64)], label: &str) {
    let mut want: Vec<(usize, f64)> = plain.ids.iter().copied().zip(plain.w.clone()).collect();
    let mut got = got.to_vec();
    want.sort_by_key(|(id, _)| *id);
    got.sort_by_key(|(id, _)| *id);
    let ids = |list: &[(usize, f64)]| list.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    assert_eq!(ids(&got), ids(&want), "{label}: another set");
    for ((id, a), (_, b)) in got.iter().zip(&want) {
        assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{label}: feature {id}: {a} {b}");
    }
}

#[test]
fn explicit_steps_equal_the_plain_recurrence() {
    let losses = [
        (LossKind::Squared, 0.4, 1.0),
        (LossKind::SquaredHinge, 1.0, 4.0),
        (LossKind::Logistic, 2.0, 4.0),
        (LossKind::SquaredEpsilon, 0.4, 2.0),
    ];
    for (loss, eta, m) in losses {
        for (weighted, intercept) in [(false, false), (true, true), (false, true)] {
            for thin in [false, true] {
                let mut data = Data::normal(90, 160, 5);
                if thin {
                    data = data.thinned(0.7, 6);
                }
                let mut problem = data.problem(loss);
                let v: Vec<f64> = match weighted {
                    true => (0..data.n).map(|i| 0.5 + (i % 4) as f64).collect(),
                    false => vec![1.0; data.n],
                };
                problem.weight = weighted.then(|| v.clone());
                let y = match loss {
                    LossKind::SquaredHinge | LossKind::Logistic => data.labels(),
                    _ => data.y.clone(),
                };
                let epsilon = 0.3;
                let want = plain(&data, &y, &v, (loss, epsilon, intercept), (12, eta, m, 2));
                let params = OsParams {
                    eta: Eta::Fixed(eta),
                    m,
                    loss: Some(loss),
                    epsilon: Some(epsilon),
                    intercept,
                    ..OsParams::new(12)
                };
                for width in [1, 2, 7, 64, 512] {
                    let label = format!("{loss:?} {weighted} {intercept} {thin} width {width}");
                    let got = engine(&mut data.dense(), &problem, &params, 2, width);
                    compare(&want, &got, &label);
                    let got = engine(&mut data.sparse(), &problem, &params, 2, width);
                    compare(&want, &got, &format!("{label} sparse"));
                }
            }
        }
    }
}

#[test]
fn duplicates_and_ties_go_to_the_earlier_feature() {
    let mut data = Data::normal(60, 40, 9);
    for j in (1..40).step_by(2) {
        data.columns[j] = data.columns[j - 1].clone();
    }
    let want = plain(&data, &data.y, &[1.0; 60], (LossKind::Squared, 0.0, true), (8, 0.3, 1.0, 2));
    let params = OsParams { eta: Eta::Fixed(0.3), ..OsParams::new(8) };
    let problem = data.problem(LossKind::Squared);
    for width in [1, 16] {
        let got = engine(&mut data.dense(), &problem, &params, 2, width);
        compare(&want, &got, "duplicates");
    }
}

#[test]
fn a_scan_that_moves_little_is_the_last() {
    let data = Data::normal(200, 30, 3);
    let spec = keepnet::MethodSpec::k(5).set("eta", 0.5).set("tolerance", 1e-3);
    let options = keepnet::RunOptions { scans: 100, ..width(16) };
    let report =
        common::run(&mut data.dense(), data.problem(LossKind::Squared), "os", &spec, options);
    assert!(report.complete && report.scans < 100, "{} scans", report.scans);
}
