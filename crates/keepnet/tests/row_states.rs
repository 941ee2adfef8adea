//! Forged states of learners on rows: refused, or taken up and worked with, but never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use keepnet::learn::{AveragesParams, RunningAverages, SavedAverages};
use keepnet::registry::{self, MethodSpec};
use keepnet::run::snapshot::{Identity, open, seal};
use keepnet::{Budget, LossKind, Row, RowBlock, RowProblem};

fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    }
}

fn rows(n: usize, p: usize, classes: bool, sparse: bool) -> RowBlock {
    let mut next = random(7);
    let mut unit = || next() as f64 / f64::from(1u32 << 30) - 1.0;
    let mut block = RowBlock::new(p, n);
    for _ in 0..n {
        let x: Vec<f64> = (0..p).map(|_| unit()).collect();
        let u = x[0] - x[1] + 0.3 * unit();
        let y = if classes { f64::from(u8::from(u > 0.0)) } else { u };
        if sparse {
            let index: Vec<u32> = (0..p as u32).filter(|j| x[*j as usize] > 0.0).collect();
            let value: Vec<f64> = index.iter().map(|j| x[*j as usize]).collect();
            block.push(Row::Sparse { index: &index, value: &value }, y, 1.0).unwrap();
        } else {
            block.push(Row::F64(&x), y, 1.0 + unit().abs()).unwrap();
        }
    }
    block
}

/// Changed copies of a state: a byte another, eight bytes a number, a piece gone or twice.
fn forge(state: &[u8], next: &mut impl FnMut() -> u64) -> Vec<u8> {
    let mut out = state.to_vec();
    let at = next() as usize % out.len();
    match next() % 5 {
        0 => out[at] = next() as u8,
        1 => out[at] ^= 1 << (next() % 8),
        2 => {
            let value =
                [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e308, -1e-300, 1e-310][next() as usize % 7];
            for (to, from) in out[at..].iter_mut().zip(value.to_le_bytes()) {
                *to = from;
            }
        }
        3 => {
            out.remove(at);
        }
        _ => out.insert(at, [0, 1, 0x7f, 0x80, 0xff][next() as usize % 5]),
    }
    out
}

/// Runs a piece of work and fails where it panics.
fn survives<T>(what: &str, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| panic!("{what}: a panic"))
}

fn learners() -> Vec<(String, RowProblem, MethodSpec)> {
    let mut out = Vec::new();
    let logistic = |spec: MethodSpec| MethodSpec { loss: Some(LossKind::Logistic), ..spec };
    for name in ["annealed-ridge", "olsth", "ofsa"] {
        out.push((name.into(), RowProblem::regression(6), MethodSpec::k(2)));
    }
    let name = "annealed-ridge".to_string();
    let holdout = MethodSpec::default().set("choose", "holdout");
    out.push((name.clone(), RowProblem::regression(6), holdout.clone()));
    out.push((name.clone(), RowProblem::regression(6), MethodSpec::k(1).set("active", 5)));
    out.push((name.clone(), RowProblem::binary(6), logistic(MethodSpec::k(2))));
    out.push((name.clone(), RowProblem::binary(6), logistic(MethodSpec::k(1).set("active", 5))));
    out.push((name, RowProblem::binary(6), logistic(holdout)));
    out
}

#[test]
fn a_forged_state_of_a_learner_never_panics() {
    for (name, problem, spec) in learners() {
        let make = || {
            let method = registry::find(&name).unwrap();
            registry::make_rows(method, &spec, &problem, Budget::unlimited()).unwrap()
        };
        for sparse in [false, true] {
            let classes = !problem.classes.is_empty();
            let mut first = make();
            first.learn_block(&rows(1300, 6, classes, sparse)).unwrap();
            let state = first.save().unwrap();
            let (mut next, mut refused) = (random(11), 0);
            for at in 0..150 {
                let forged = forge(&state, &mut next);
                let what = format!("{name} {:?} {at}", spec.settings);
                survives(&what, || {
                    let mut second = make();
                    if second.restore(&forged).is_err() {
                        refused += 1;
                        return;
                    }
                    // What passes for a state is worked with; an error is an answer too.
                    let _ = second.selection();
                    let _ = second.learn_block(&rows(300, 6, classes, sparse));
                    let _ = second.selection();
                });
            }
            assert!(refused > 40, "{name}: {refused}");
        }
    }
}

#[test]
fn a_forged_file_of_averages_is_refused_or_harmless() {
    let version = env!("CARGO_PKG_VERSION").to_string();
    let identity =
        Identity { version, data: 0, problem: 0, settings: "running averages, format 2".into() };
    for (sparse, f32_storage) in [(false, false), (true, false), (false, true)] {
        let params = AveragesParams { f32_storage, ..AveragesParams::default() };
        let mut averages = RunningAverages::new(5, 0, params).unwrap();
        averages.push(&rows(300, 5, false, sparse)).unwrap();
        let saved = SavedAverages { problem: RowProblem::regression(5), averages };
        let file = saved.to_bytes().unwrap();
        let body = open(&identity, &file).unwrap();
        assert!(SavedAverages::from_bytes(&seal(&identity, body).unwrap()).is_ok());
        let mut twice = saved.clone();
        twice.merge(&saved).unwrap();
        assert_eq!(SavedAverages::from_bytes(&twice.to_bytes().unwrap()).unwrap(), twice);
        let (mut next, mut refused) = (random(13), 0);
        for at in 0..600 {
            let forged = seal(&identity, &forge(body, &mut next)).unwrap();
            survives(&format!("file {at}"), || {
                let Ok(mut read) = SavedAverages::from_bytes(&forged) else {
                    refused += 1;
                    return;
                };
                let method = registry::find("annealed-ridge").unwrap();
                let spec = MethodSpec::k(2);
                let made = registry::make_rows(method, &spec, &read.problem, Budget::unlimited());
                let Ok(mut learner) = made else { return };
                if learner.load(read.averages.clone()).is_ok() {
                    let _ = learner.selection();
                    let _ = learner.learn_block(&rows(300, 5, false, sparse));
                    let _ = learner.selection();
                }
                let _ = read.merge(&saved);
                let _ = read.averages.gram();
            });
        }
        assert!(refused > 200, "{refused}");
    }
}
