//! `eta=auto` and `os-plus` on the stress designs: nothing diverges, nothing is NaN, and under
//! the automatic step the loss never rises. The designs are those of the prototypes' study
//! (p = 1000, k = 30, n = 400, signal-to-noise 10), where fixed steps diverged on several.

mod common;

use common::width;
use keepnet::{
    Budget, ColumnData, Driver, Generated, Lane, LossKind, MethodSpec, Order, Problem, Quiet,
    RunOptions, Task, data::generator, registry,
};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal, StudentT};

const P: usize = 1000;
const K: usize = 30;

fn design(kind: &str, n: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut rng = generator(seed, 40);
    let mut x: Vec<Vec<f64>> = (0..P).map(|_| normals(&mut rng, n)).collect();
    match kind {
        "scales" => x.iter_mut().for_each(|x| {
            let scale = 10f64.powf(rng.random_range(-3.0..3.0));
            x.iter_mut().for_each(|x| *x *= scale);
        }),
        "equicorrelated" => {
            let common = normals(&mut rng, n);
            for x in &mut x {
                x.iter_mut().zip(&common).for_each(|(x, c)| *x = (*x + c) / 2f64.sqrt());
            }
        }
        "toeplitz" => {
            for j in 1..P {
                let (before, rest) = x.split_at_mut(j);
                let mix = |(x, b): (&mut f64, &f64)| *x = 0.9 * b + (1.0 - 0.81f64).sqrt() * *x;
                rest[0].iter_mut().zip(&before[j - 1]).for_each(mix);
            }
        }
        "heavy" => {
            let t = StudentT::new(1.5).unwrap();
            x.iter_mut().flatten().for_each(|x| *x = t.sample(&mut rng));
        }
        "binary" => {
            x.iter_mut()
                .flatten()
                .for_each(|x| *x = f64::from(u8::from(rng.random::<f64>() < 0.02)));
        }
        "offset" => x.iter_mut().flatten().for_each(|x| *x += 5.0),
        "duplicates" => (1..P).step_by(2).for_each(|j| x[j] = x[j - 1].clone()),
        _ => {}
    }
    let mut y = vec![0.0; n];
    for _ in 0..K {
        let j = rng.random_range(0..P);
        let size = (x[j].iter().map(|x| x * x).sum::<f64>() / n as f64).sqrt().max(1e-300);
        let w: f64 = StandardNormal.sample(&mut rng);
        y.iter_mut().zip(&x[j]).for_each(|(y, x)| *y += w / size * x);
    }
    let mean = y.iter().sum::<f64>() / n as f64;
    let sd = (y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n as f64).sqrt();
    let noise = normals(&mut rng, n);
    y.iter_mut().zip(noise).for_each(|(y, e)| *y += sd / 10f64.sqrt() * e);
    (x, y)
}

fn normals(rng: &mut impl Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| StandardNormal.sample(rng)).collect()
}

#[test]
fn nothing_diverges_on_the_stress_designs() {
    let designs = [
        ("iid", 400),
        ("scales", 400),
        ("equicorrelated", 400),
        ("toeplitz", 400),
        ("heavy", 400),
        ("binary", 400),
        ("offset", 400),
        ("duplicates", 400),
        ("iid", 25),
    ];
    for (kind, n) in designs {
        let (x, y) = design(kind, n, 3);
        let median = {
            let mut sorted = y.clone();
            sorted.sort_by(f64::total_cmp);
            sorted[n / 2]
        };
        let labels: Vec<f64> = y.iter().map(|y| f64::from(u8::from(*y > median))).collect();
        for loss in LossKind::ALL {
            let classes = loss.task() == Some(Task::Classification);
            // With the squared loss k stays below n.
            let k = if n < K && loss == LossKind::Squared { n - 1 } else { K };
            for (name, intercept) in [("os", true), ("os", false), ("os-plus", true)] {
                let problem =
                    if classes { Problem::binary(&labels) } else { Problem::regression(y.clone()) };
                let columns = x.iter().map(|x| ColumnData::dense(x.clone())).collect();
                let mut source = Generated::columns(n, columns);
                let spec = MethodSpec { loss: Some(loss), ..MethodSpec::k(k) };
                let spec = spec.set("intercept", intercept);
                let method = registry::find(name).unwrap();
                let selector =
                    registry::make(method, &spec, &problem, Budget::unlimited()).unwrap();
                let options = RunOptions { order: Order::Shuffled, ..width(64) };
                let lanes = vec![Lane::new(problem, selector)];
                let report =
                    Driver::new(&mut source, lanes, options).unwrap().run(&mut Quiet).unwrap();
                let lane = &report.lanes[0];
                let label = format!("{name} {loss:?} {kind} n = {n} intercept {intercept}");
                assert!(lane.selection.loss.is_some_and(f64::is_finite), "{label}");
                let finite =
                    lane.selection.selected.iter().all(|s| {
                        s.score.is_finite() && s.coefficient.iter().all(|w| w.is_finite())
                    });
                assert!(finite, "{label}");
                let losses: Vec<f64> = lane.trace.iter().map(|point| point.loss.unwrap()).collect();
                // Rounding of a loss that is nearly zero beside the target's own square.
                let slack = 1e-9 * losses[0].abs();
                let falls = losses.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-9) + slack);
                assert!(falls, "{label}: the loss rose: {losses:?}");
            }
        }
    }
}
