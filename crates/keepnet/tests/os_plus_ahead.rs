//! `os-plus` on kept columns that are larger than a cache, where it computes residuals of models to
//! come. Blocks of one feature look at nothing ahead, so they say what every other run must give.

use keepnet::{
    Budget, ColumnData, Driver, Generated, Lane, MethodSpec, Numbers, Order, Problem, Quiet,
    RunOptions, registry,
};

const ROWS: usize = 9000;
const FEATURES: usize = 240;

/// A number in -1..1 by place.
fn value(i: usize, j: usize) -> f64 {
    let mut h = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (j as u64) << 32;
    for _ in 0..2 {
        h = (h ^ h >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
    (h >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Columns that share a part with their neighbours, in f32, f64 or both.
fn columns(storage: usize) -> Vec<ColumnData> {
    let column = |j: usize| (0..ROWS).map(move |i| value(i, j) + 0.6 * value(i, 1000 + j / 3));
    (0..FEATURES)
        .map(|j| match (storage, j % 2) {
            (0, _) | (2, 0) => ColumnData::f32(column(j).map(|x| x as f32).collect()),
            _ => ColumnData::Dense(Numbers::F64(column(j).collect())),
        })
        .collect()
}

fn run(
    data: &[ColumnData],
    problem: &Problem,
    spec: &MethodSpec,
    width: usize,
) -> (Vec<u64>, Vec<u64>, u64) {
    let data = data.to_vec();
    let mut source = Generated::columns(ROWS, data);
    let method = registry::find("os-plus").unwrap();
    let selector = registry::make(method, spec, problem, Budget::unlimited()).unwrap();
    let options = RunOptions { scans: 2, order: Order::Shuffled, seed: 3, width };
    let lanes = vec![Lane::new(problem.clone(), selector)];
    let report = Driver::new(&mut source, lanes, options).unwrap().run(&mut Quiet).unwrap();
    let selection = &report.lanes[0].selection;
    let mut digits: Vec<u64> =
        selection.selected.iter().map(|s| s.coefficient[0].to_bits()).collect();
    digits.push(selection.loss.unwrap().to_bits());
    (selection.indices(), digits, selection.substitutions)
}

#[test]
fn looking_ahead_changes_no_digit() {
    for (storage, weighted, reserve) in [(0, false, 0), (1, true, 0), (2, false, 20)] {
        let data = columns(storage);
        let y = (0..ROWS).map(|i| {
            (0..FEATURES).step_by(3).map(|j| value(i, j) / (1 + j % 7) as f64).sum::<f64>()
                + 2.0 * value(i, 5000)
        });
        let mut problem = Problem::regression(y.collect());
        problem.weight = weighted.then(|| (0..ROWS).map(|i| 0.5 + (i % 3) as f64).collect());
        let spec = MethodSpec::k(70).set("reserve", reserve);
        let want = run(&data, &problem, &spec, 1);
        assert!(want.2 > 30, "{} substitutions", want.2);
        for (threads, width) in [(1, 5), (1, 128), (3, 64)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let got = pool.install(|| run(&data, &problem, &spec, width));
            assert_eq!(got, want, "storage {storage}, {threads} threads, width {width}");
        }
    }
}
