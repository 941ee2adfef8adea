//! What is tried: see each test.

use keepnet::data::check_block;
use keepnet::select::substitution::asy_os::{Centre, Seen};
use keepnet::{CheckPolicy, ColumnBlock, ColumnData, FeatureId, Problem, RawColumn};

use crate::select::Late;
use pool::Pool;
use shared::SharedCentre;
use worker::Worker;

#[path = "../../src/select/substitution/asy_os/pool.rs"]
#[allow(dead_code, reason = "the driver's side of it is not tried here")]
mod pool;
#[path = "../../src/select/substitution/asy_os/shared.rs"]
#[allow(dead_code, reason = "restoring is not tried here")]
mod shared;

mod sync {
    pub(super) use loom::sync::atomic::{AtomicU64, Ordering};
    pub(super) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(super) use loom::thread;
    pub(super) use std::sync::PoisonError;

    pub(super) fn use_one_thread() -> Result<(), String> {
        Ok(())
    }
}

/// A worker that keeps every feature and remembers it, or panics.
mod worker {
    use crate::data::block::FeatureId;
    use crate::data::check::Feature;
    use crate::error::Result;
    use crate::select::{Outcome, Status, Verdict};

    pub struct Kept {
        pub id: Option<FeatureId>,
    }

    pub struct Worker {
        pub kept: Vec<Kept>,
        pub panics: bool,
    }

    impl Worker {
        pub fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
            if self.panics {
                // Without the hook, which would print it a thousand times.
                std::panic::resume_unwind(Box::new("as asked"));
            }
            self.kept.push(Kept { id: Some(feature.id) });
            Ok(Outcome::new(Verdict::Kept))
        }

        pub fn add_idle(&mut self, _: f64) {}

        /// A share of one feature.
        pub fn full(&self) -> bool {
            !self.kept.is_empty()
        }

        pub fn kept(&self) -> &[Kept] {
            &self.kept
        }

        pub fn status_without_loss(&self) -> Status {
            Status { kept: self.kept.len(), ..Status::default() }
        }
    }
}

/// Tries every order with at most that many preemptions.
fn model(preemptions: usize, body: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(body);
}

/// Two pieces, two workers, a delta each: none is lost, none is counted twice, and what a reader
/// is told to have seen is in every row that it read.
#[test]
fn deltas_arrive_once_and_counted_updates_are_seen() {
    const ROWS: usize = 1024 + 1;
    model(3, || {
        let centre = SharedCentre::new(ROWS);
        let threads: Vec<_> = (0..2)
            .map(|worker| {
                let mut own = centre.worker(worker);
                loom::thread::spawn(move || {
                    let mut u = vec![0.0; ROWS];
                    let Seen { updates, tau } = own.read(&mut u);
                    assert!(tau.is_none() && updates <= 1);
                    let other = (2 - worker) as f64;
                    // One row of each piece stands for it: a piece is under one lock.
                    for row in [0, ROWS - 1] {
                        assert!(u[row] == other || (u[row] == 0.0 && updates == 0));
                    }
                    own.add(&vec![(worker + 1) as f64; ROWS], updates);
                    own.read(&mut u).tau
                })
            })
            .collect();
        let taus: Vec<u64> = threads.into_iter().map(|t| t.join().unwrap().unwrap()).collect();
        // Whoever came first had no delay; the other had none, or one update's.
        assert!(taus.contains(&1) && taus.iter().all(|tau| (1..=2).contains(tau)), "{taus:?}");
        let mut u = vec![0.0; ROWS];
        assert_eq!(centre.worker(0).read(&mut u).updates, 2);
        assert!(u.iter().all(|u| *u == 3.0));
    });
}

fn offer(pool: &Pool, ids: &[u64]) -> keepnet::Result<()> {
    let column = |id: &u64| RawColumn {
        id: FeatureId::new(*id),
        name: format!("f{id}").into(),
        source: 0,
        data: ColumnData::dense(vec![0.0, 1.0, *id as f64]),
    };
    let mut block = ColumnBlock::new(3);
    ids.iter().for_each(|id| block.push(column(id)));
    let problem = Problem::regression(vec![0.0, 1.0, 2.0]);
    let checked = check_block(&block, 0, &problem, &CheckPolicy::default())?;
    pool.offer(&checked.features)
}

fn crew(panics: bool) -> Vec<Worker> {
    (0..2).map(|at| Worker { kept: Vec::new(), panics: panics && at == 1 }).collect()
}

/// Three features, one of them twice, and two workers: each is decided once, nobody sleeps
/// through the end, and closing the pool ends every thread.
#[test]
fn every_feature_is_decided_once() {
    model(2, || {
        let pool = Pool::new(crew(false)).unwrap();
        let mut late = Vec::new();
        offer(&pool, &[4, 5]).unwrap();
        pool.settle(false, &mut late).unwrap();
        offer(&pool, &[4]).unwrap();
        pool.settle(true, &mut late).unwrap();
        let mut names: Vec<String> = late.iter().map(|late: &Late| late.name.to_string()).collect();
        names.sort_unstable();
        assert_eq!(names, ["f4", "f4", "f5"]);
        let held: usize = pool.workers().map(|worker| worker.kept().len()).sum();
        assert_eq!(held, 2);
    });
}

/// A worker that panics ends the run with its words, whatever the others are doing.
#[test]
fn a_panic_reaches_the_reader() {
    model(2, || {
        let pool = Pool::new(crew(true)).unwrap();
        let mut late = Vec::new();
        let end = offer(&pool, &[4, 5, 6]).and_then(|()| pool.settle(true, &mut late));
        match end {
            // The other worker may have had them all before the first one woke.
            Ok(()) => assert_eq!(late.len(), 3),
            Err(error) => assert!(error.to_string().contains("worker 1 panicked: as asked")),
        }
    });
}
