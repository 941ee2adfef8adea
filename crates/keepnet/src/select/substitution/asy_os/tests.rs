//! Workers with each centre: equal to `os` where they must be, and no delta lost.

use super::*;
use crate::data::block::{ColumnBlock, FeatureId, RawColumn};
use crate::data::check::{CheckPolicy, check_block};
use crate::data::column::ColumnData;
use crate::data::order::{Order, generator};
use crate::data::source::Generated;
use crate::loss::LossKind;
use crate::run::{Driver, Lane, Quiet, RunOptions};
use crate::select::substitution::os::{Eta, Os, OsParams};
use rand_distr::{Distribution, StandardNormal};

fn columns(n: usize, p: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut rng = generator(seed, 1);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let x: Vec<Vec<f64>> =
        (0..p).map(|_| (0..n).map(|_| f64::from(normal() as f32)).collect()).collect();
    let mut y: Vec<f64> = (0..n).map(|_| 0.5 * normal()).collect();
    for x in x.iter().step_by(9) {
        let w = normal();
        y.iter_mut().zip(x).for_each(|(y, x)| *y += w * x);
    }
    (x, y)
}

fn source(x: &[Vec<f64>]) -> Generated {
    Generated::columns(x[0].len(), x.iter().map(|x| ColumnData::dense(x.clone())).collect())
}

fn run(x: &[Vec<f64>], problem: &Problem, selector: Box<dyn ColumnSelector>) -> Selection {
    let options = RunOptions { order: Order::Shuffled, width: 32, ..RunOptions::default() };
    let mut source = source(x);
    let lanes = vec![Lane::new(problem.clone(), selector)];
    let mut report = Driver::new(&mut source, lanes, options).unwrap().run(&mut Quiet).unwrap();
    report.lanes.remove(0).selection
}

fn metric(selection: &Selection, name: &str) -> f64 {
    match selection.metrics.iter().find(|(n, _)| *n == name).map(|(_, value)| value) {
        Some(crate::Value::Int(v)) => *v as f64,
        Some(crate::Value::Float(v)) => *v,
        other => panic!("{name}: {other:?}"),
    }
}

/// Every loss and step rule, with sample weights, offset and a covariate.
#[test]
fn one_worker_without_delay_is_os_through_every_centre_here() {
    let (n, p) = (120, 150);
    let (x, y) = columns(n, p, 3);
    let labels: Vec<f64> = y.iter().map(|y| y.signum()).collect();
    for loss in LossKind::ALL {
        let mut problem = match loss.task() {
            Some(crate::Task::Classification) => Problem::binary(&labels),
            _ => Problem::regression(y.clone()),
        };
        problem.weight = Some((0..n).map(|i| 0.5 + (i % 3) as f64).collect());
        problem.offset = Some((0..n).map(|i| 0.01 * (i % 7) as f64).collect());
        let values = (0..n).map(|i| (i % 5) as f64).collect();
        problem.covariates.push(crate::Covariate { name: "age".into(), values });
        for (eta, m) in [(Eta::Auto, 1.0), (Eta::OverL(1.0), 2.0), (Eta::Fixed(0.1), 3.0)] {
            for intercept in [true, false] {
                let os = OsParams { eta, m, loss: Some(loss), intercept, ..OsParams::new(10) };
                let want = Os::new(os.clone(), &problem, Budget::unlimited()).unwrap();
                let want = run(&x, &problem, Box::new(want));
                for centre in [CentreKind::Threads, CentreKind::Simulated] {
                    let params = AsyOsParams { os: os.clone(), centre, workers: 1, tau: 1 };
                    let got = AsyOs::new(params, &problem, &Budget::unlimited()).unwrap();
                    let got = run(&x, &problem, Box::new(got));
                    let what = format!("{loss:?} {eta:?} {intercept} {centre:?}");
                    assert_eq!(got.indices(), want.indices(), "{what}");
                    assert_eq!(got.substitutions, want.substitutions, "{what}");
                    for (a, b) in got.selected.iter().zip(&want.selected) {
                        let (a, b) = (a.coefficient[0], b.coefficient[0]);
                        assert!((a - b).abs() <= 1e-10 * (1.0 + b.abs()), "{what}: {a} {b}");
                    }
                    assert!(metric(&got, "centre_error") < 1e-10, "{what}");
                    assert_eq!(metric(&got, "staleness_max"), 1.0, "{what}");
                }
            }
        }
    }
}

/// Many small updates from eight workers: the centre ends with the sum of their predictions.
#[test]
fn the_centre_ends_with_the_sum_of_the_workers() {
    let (x, y) = columns(40, 4000, 5);
    let labels: Vec<f64> = y.iter().map(|y| y.signum()).collect();
    for problem in [Problem::regression(y), Problem::binary(&labels)] {
        for (eta, m) in [(Eta::Auto, 1.0), (Eta::Fixed(0.05), 20.0)] {
            let os = OsParams { eta, m, ..OsParams::new(16) };
            for centre in [CentreKind::Threads, CentreKind::Simulated] {
                let params = AsyOsParams { os: os.clone(), centre, workers: 8, tau: 8 };
                let selector = AsyOs::new(params, &problem, &Budget::unlimited()).unwrap();
                let got = run(&x, &problem, Box::new(selector));
                assert_eq!(got.selected.len(), 16);
                assert!(metric(&got, "centre_error") < 1e-9, "{:?}", got.metrics);
                assert!(metric(&got, "updates") > 7000.0, "{:?}", got.metrics);
                let mut ids = got.indices();
                ids.sort_unstable();
                ids.dedup();
                assert_eq!(ids.len(), 16, "a feature is kept once");
            }
        }
    }
}

/// A centre that breaks after a while.
struct Broken(u32);

impl Centre for Broken {
    fn read(&mut self, u: &mut [f64]) -> Seen {
        u.fill(0.0);
        Seen { updates: 0, tau: None }
    }

    fn add(&mut self, _: &[f64], _: u64) {
        self.0 += 1;
        assert!(self.0 < 5, "the centre broke");
    }
}

#[test]
fn a_worker_that_panics_ends_the_run_with_its_reason() {
    let (x, y) = columns(30, 60, 6);
    let problem = Problem::regression(y);
    let params = OsParams::new(4);
    let workers = (0..2)
        .map(|worker| {
            let share = Share { worker, workers: 2 };
            Worker::new(&params, share, &problem, &Budget::unlimited(), Broken(0)).unwrap()
        })
        .collect();
    let pool = pool::Pool::new(workers).unwrap();
    let mut block = ColumnBlock::new(60);
    for (j, x) in x.iter().enumerate() {
        let (id, name) = (FeatureId::new(j as u64), format!("f{j}"));
        block.push(RawColumn {
            id,
            name: name.into(),
            source: 0,
            data: ColumnData::dense(x.clone()),
        });
    }
    let checked = check_block(&block, 0, &problem, &CheckPolicy::default()).unwrap();
    pool.offer(&checked.features).unwrap();
    let error = pool.settle(true, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("panicked: the centre broke"), "{error}");
    assert!(pool.offer(&checked.features).is_err());
}

/// With few features all shares are filled, however fast each worker is.
#[test]
fn few_features_fill_every_share() {
    let (x, y) = columns(60, 9, 7);
    let problem = Problem::regression(y);
    for _ in 0..20 {
        let params = AsyOsParams::new(8, 4);
        let selector = AsyOs::new(params, &problem, &Budget::unlimited()).unwrap();
        assert_eq!(run(&x, &problem, Box::new(selector)).selected.len(), 8);
    }
}

/// Many small whole-number deltas from four threads: the sum is exact, so one lost or
/// doubled delta anywhere shows.
#[test]
fn no_delta_is_lost_or_counted_twice() {
    let length = 3 * 1024 + 17;
    let centre = SharedCentre::new(length);
    let rounds = 3000u64;
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let mut own = centre.worker(worker);
            scope.spawn(move || {
                let mut u = vec![0.0; length];
                for round in 0..rounds {
                    let seen = own.read(&mut u);
                    let delta: Vec<f64> = (0..length)
                        .map(|i| ((i as u64 + round + worker as u64) % 5) as f64)
                        .collect();
                    own.add(&delta, seen.updates);
                }
            });
        }
    });
    let mut u = vec![0.0; length];
    let seen = centre.worker(0).read(&mut u);
    assert_eq!(seen.updates, 4 * rounds);
    for (i, u) in u.iter().enumerate() {
        let want: u64 = (0..4u64)
            .flat_map(|worker| (0..rounds).map(move |round| (i as u64 + round + worker) % 5))
            .sum();
        assert_eq!(*u, want as f64, "row {i}");
    }
}

/// A state belongs to its centre, workers and staleness: any other team refuses it and stays as
/// it was.
#[test]
fn a_state_of_another_team_is_refused() {
    let (x, y) = columns(60, 80, 8);
    let problem = Problem::regression(y);
    let made = |centre, workers, tau| {
        let params = AsyOsParams { os: OsParams::new(8), centre, workers, tau };
        AsyOs::new(params, &problem, &Budget::unlimited()).unwrap()
    };
    let (threads, simulated) = (CentreKind::Threads, CentreKind::Simulated);
    let teams = [(threads, 4, 4), (threads, 2, 2), (simulated, 4, 4), (simulated, 4, 2)];
    for one in teams {
        let mut selector = made(one.0, one.1, one.2);
        let mut block = ColumnBlock::new(80);
        for (j, x) in x.iter().enumerate() {
            let (id, name) = (FeatureId::new(j as u64), format!("f{j}"));
            block.push(RawColumn {
                id,
                name: name.into(),
                source: 0,
                data: ColumnData::dense(x.clone()),
            });
        }
        let checked = check_block(&block, 0, &problem, &CheckPolicy::default()).unwrap();
        selector.offer_block(&checked, &mut Vec::new()).unwrap();
        selector.settle(true, &mut Vec::new()).unwrap();
        let state = selector.save().unwrap();
        for other in teams {
            let mut resumed = made(other.0, other.1, other.2);
            let before = resumed.save().unwrap();
            if one == other {
                resumed.restore(&state).unwrap();
                let (a, b) = (resumed.selection().unwrap(), selector.selection().unwrap());
                assert_eq!(a.indices(), b.indices());
                assert!(metric(&a, "centre_error") < 1e-12);
                continue;
            }
            let error = resumed.restore(&state).unwrap_err().to_string();
            let workers = format!("workers={}", one.1);
            assert!(error.contains(&workers) && error.contains("resume with"), "{error}");
            assert_eq!(resumed.save().unwrap(), before);
        }
        // Bytes that are missing or of other lengths are an error, never a panic.
        for cut in (0..state.len()).step_by(97) {
            assert!(made(one.0, one.1, one.2).restore(&state[..cut]).is_err(), "cut at {cut}");
        }
    }
}

/// The simulated centre has a number of workers of its own.
#[test]
fn threads_do_not_change_the_simulated_workers() {
    let spec = crate::registry::MethodSpec::k(20).set("centre", "simulated");
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let params = pool.install(|| AsyOsParams::from_spec(&spec)).unwrap();
        assert_eq!((params.workers, params.tau), (4, 4), "{threads} threads");
        let on_threads = crate::registry::MethodSpec::k(20);
        let params = pool.install(|| AsyOsParams::from_spec(&on_threads)).unwrap();
        assert_eq!(params.workers, threads);
    }
    let few = crate::registry::MethodSpec::k(3).set("centre", "simulated");
    assert_eq!(AsyOsParams::from_spec(&few).unwrap().workers, 3);
}
