//! Asynchronous online substitution: Algorithms 2 and 3 of Yang, Fujimaki, Kusumura, Liu,
//! "Online Feature Selection: A Limited-Memory Substitution Algorithm and Its Asynchronous
//! Parallel Variation", KDD 2016.
//!
//! ```text
//! centre:   u_C = sum of the workers' deltas
//! worker t, arrival x_j that no worker keeps:   read u_C,  g = dL/du at u_C
//!   w_S(t) = w_S(t) - (eta / m) X_S(t)'g
//!   w_j = - eta x_j'g,  S(t) = S(t) + {j}
//!   |S(t)| > k / q:  the feature of least |w| goes
//!   add  X_S(t) w_S(t) after - before  to u_C
//! ```
//!
//! There are `q` workers, without a barrier between them. A [`Worker`] is the recurrence of `os`
//! with its slopes taken at a [`Centre`]. The centres are shared memory ([`SharedCentre`], one
//! thread per worker), a delay line ([`DelayedCentre`], deterministic) and MPI ranks (in a crate of
//! its own). With one worker and no delay the result is that of `os`. With `eta=auto` steps are
//! shorter the staler the predictions are (`step_factors.rs`).
//!
//! On threads the operating system decides the order of updates, so another run may keep another
//! set. The simulated centre gives the same digits each time.

mod centre_evaluator;
mod delayed;
mod params;
mod pool;
mod report;
mod shared;
mod step_factors;
mod sync;
mod tally;
#[cfg(test)]
mod tests;
mod worker;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::check::CheckedBlock;
use crate::data::kept::Kept;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::numeric::inner_product::Frame;
use crate::run::budget::Budget;
use crate::run::snapshot::{Snapshot, decode, encode};
use crate::select::refit::Outputs;
use crate::select::{ColumnSelector, Holds, Late, Memory, Outcome, Status, Verdict};
use crate::selection::Selection;

pub use delayed::DelayedCentre;
pub use params::{AsyOsParams, CentreKind, INFO};
pub use report::{Merged, merge};
pub use shared::SharedCentre;
pub use tally::Tally;
pub use worker::{Share, Worker};

use pool::Pool;

/// The prediction that workers share, output after output. Several workers may use it at once.
pub trait Centre: Send {
    /// Copies the prediction to `u`.
    fn read(&mut self, u: &mut [f64]) -> Seen;

    /// Adds a delta that was computed from a prediction with `updates_read` updates.
    fn add(&mut self, delta: &[f64], updates_read: u64);
}

/// What a read tells a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Updates by all workers that the prediction contains.
    pub updates: u64,
    /// Staleness of this worker's last update: how many updates old the prediction was that it was
    /// computed from, that update included. 1 is no delay; `None` where it is not known.
    pub tau: Option<u64>,
}

/// The workers and their centre.
enum Team {
    Threads { pool: Pool, centre: SharedCentre },
    Simulated { workers: Vec<Worker>, centre: DelayedCentre, turn: u64 },
}

/// The method, with its workers in this process.
pub struct AsyOs {
    params: AsyOsParams,
    frame: Frame,
    outputs: Outputs,
    y: Vec<Vec<f64>>,
    team: Team,
}

impl AsyOs {
    /// Starts the workers, each with an empty share.
    pub fn new(params: AsyOsParams, problem: &Problem, budget: &Budget) -> Result<Self> {
        problem.check()?;
        let frame = Frame::new(problem, params.os.intercept);
        let outputs = params.os.outputs(problem, &frame)?;
        let y = outputs.y.clone();
        let length = problem.n() * outputs.y.len();
        let team = match params.centre {
            CentreKind::Threads => {
                let centre = SharedCentre::new(length);
                let workers = make_workers(&params, problem, budget, |t| centre.worker(t))?;
                Team::Threads { pool: Pool::new(workers)?, centre }
            }
            CentreKind::Simulated => {
                let centre = DelayedCentre::new(length, params.tau, params.workers);
                let workers = make_workers(&params, problem, budget, |t| centre.worker(t))?;
                Team::Simulated { workers, centre, turn: 0 }
            }
        };
        Ok(Self { params, frame, outputs, y, team })
    }

    /// The centre's current prediction.
    fn prediction(&self) -> Vec<f64> {
        match &self.team {
            Team::Threads { centre, .. } => {
                let mut u = vec![0.0; self.frame.n() * self.y.len()];
                centre.worker(0).read(&mut u);
                u
            }
            Team::Simulated { centre, .. } => centre.now(),
        }
    }

    fn loss(&self, u: &[f64]) -> f64 {
        let offset = &self.outputs.offset;
        let value = |(u, y): (&[f64], &Vec<f64>)| {
            let mut u = u.to_vec();
            offset.iter().for_each(|offset| crate::numeric::kernel::axpy(1.0, offset, &mut u));
            self.outputs.loss.value(&u, y, self.frame.weight())
        };
        let sum: f64 = u.chunks(self.frame.n()).zip(&self.y).map(value).sum();
        sum / self.frame.weight_sum()
    }

    /// Calls `with` with all workers while none of them is active.
    fn with_workers<T>(&self, with: impl FnOnce(&[&Worker]) -> T) -> T {
        match &self.team {
            Team::Threads { pool, .. } => {
                let guards: Vec<_> = pool.workers().collect();
                with(&guards.iter().map(|guard| &**guard).collect::<Vec<_>>())
            }
            Team::Simulated { workers, .. } => with(&workers.iter().collect::<Vec<_>>()),
        }
    }
}

fn make_workers<C: Centre + 'static>(
    params: &AsyOsParams,
    problem: &Problem,
    budget: &Budget,
    centre: impl Fn(usize) -> C,
) -> Result<Vec<Worker>> {
    let workers = params.workers;
    let one = |worker| {
        let share = Share { worker, workers };
        Worker::new(&params.os, share, problem, budget, centre(worker))
    };
    (0..workers).map(one).collect()
}

impl ColumnSelector for AsyOs {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        match &mut self.team {
            Team::Threads { pool, .. } => pool.offer(&block.features),
            Team::Simulated { workers, turn, .. } => {
                for feature in &block.features {
                    let held = |w: &Worker| w.kept().iter().any(|kept| kept.id == Some(feature.id));
                    if workers.iter().any(held) {
                        out.push(Outcome::new(Verdict::Held));
                        continue;
                    }
                    let at = (*turn % workers.len() as u64) as usize;
                    out.push(workers[at].offer(feature)?);
                    *turn += 1;
                }
                Ok(())
            }
        }
    }

    fn settle(&mut self, wait: bool, out: &mut Vec<Late>) -> Result<()> {
        match &self.team {
            Team::Threads { pool, .. } => pool.settle(wait, out),
            Team::Simulated { .. } => Ok(()),
        }
    }

    fn end_scan(&mut self) -> Result<bool> {
        // No short circuit: every worker must note the end of the scan.
        let mut converged = true;
        match &mut self.team {
            Team::Threads { pool, .. } => {
                for mut worker in pool.workers() {
                    converged &= worker.end_scan()?;
                }
            }
            Team::Simulated { workers, .. } => {
                for worker in workers {
                    converged &= worker.end_scan()?;
                }
            }
        }
        Ok(converged)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        self.with_workers(|workers| {
            let kept: Vec<&Kept> = workers.iter().flat_map(|worker| worker.kept()).collect();
            let mut predicted = vec![0.0; self.frame.n() * self.y.len()];
            workers.iter().for_each(|worker| worker.add_prediction(&mut predicted));
            let all = Merged {
                params: &self.params.os,
                centre: self.params.centre.name(),
                timed: self.params.centre == CentreKind::Threads,
                tau: Some(self.params.tau).filter(|_| self.params.centre == CentreKind::Simulated),
                kept: &kept,
                tallies: &workers.iter().map(|worker| worker.tally()).collect::<Vec<_>>(),
                substitutions: workers.iter().map(|worker| worker.substitutions()).sum(),
                diverged: workers.iter().any(|worker| worker.diverged()),
                workers_prediction: &predicted,
                centre_prediction: &self.prediction(),
            };
            report::merged(&self.frame, &self.outputs, &all)
        })
    }

    fn fitted(
        &self,
        see: &mut dyn FnMut(&crate::run::verdict::Fitted<'_>) -> Result<()>,
    ) -> Result<()> {
        self.with_workers(|workers| {
            let columns: Vec<&Kept> = workers.iter().flat_map(|worker| worker.kept()).collect();
            see(&crate::run::verdict::Fitted {
                columns: &columns,
                frame: &self.frame,
                outputs: &self.outputs,
            })
        })
    }

    fn centres(&self) -> bool {
        self.frame.centred()
    }

    fn status(&self) -> Status {
        let statuses = match &self.team {
            Team::Threads { pool, .. } => pool.statuses(),
            Team::Simulated { workers, .. } => {
                workers.iter().map(Worker::status_without_loss).collect()
            }
        };
        let own = (8 * self.frame.n() * self.y.len() * 2) as u64;
        Status {
            kept: statuses.iter().map(|status| status.kept).sum(),
            loss: Some(self.loss(&self.prediction())),
            substitutions: statuses.iter().map(|status| status.substitutions).sum(),
            bytes: own + statuses.iter().map(|status| status.bytes).sum::<u64>(),
        }
    }

    /// The columns of all workers, and for each one under test and those that wait; what is more in
    /// the queue is the block. Eight vectors an output for each worker, the centre's, those of the
    /// delay, and a refit.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let (q, workers) = (self.y.len(), self.params.workers);
        let (waiting, delay) = match &self.team {
            Team::Threads { .. } => (pool::LOW * workers, 0),
            Team::Simulated { .. } => (0, self.params.tau as usize + 1),
        };
        let covariates = |workers: &[&Worker]| {
            workers.iter().flat_map(|worker| worker.kept()).filter(|kept| kept.id.is_none()).count()
        };
        Holds {
            rows: self.frame.n(),
            kept: Some(self.params.os.k),
            spare: workers + waiting,
            facts: 0,
            covariates: self.with_workers(covariates),
            vectors: 18 + q * (8 * workers + 4 + delay) + (workers + 1),
            matrices: 5,
        }
        .bytes(column, features)
    }
}

/// The settings of the team that saved a state; only the same team can restore it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct TeamSettings {
    centre: String,
    workers: usize,
    tau: Option<u64>,
}

impl fmt::Display for TeamSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "centre={} workers={}", self.centre, self.workers)?;
        self.tau.map_or(Ok(()), |tau| write!(f, " tau={tau}"))
    }
}

impl AsyOs {
    fn team_settings(&self) -> TeamSettings {
        let AsyOsParams { centre, workers, tau, .. } = self.params;
        let tau = Some(tau).filter(|_| centre == CentreKind::Simulated);
        TeamSettings { centre: centre.name().into(), workers, tau }
    }
}

impl Snapshot for AsyOs {
    fn save(&self) -> Result<Vec<u8>> {
        let workers = self.with_workers(|workers| {
            workers.iter().map(|worker| worker.save()).collect::<Result<Vec<_>>>()
        })?;
        let team = match &self.team {
            Team::Threads { .. } => encode(&self.prediction())?,
            Team::Simulated { centre, turn, .. } => encode(&(&*centre.line(), turn))?,
        };
        encode(&(self.team_settings(), workers, team))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (made, states, team): (TeamSettings, Vec<Vec<u8>>, Vec<u8>) = decode(state)?;
        let mine = self.team_settings();
        if made != mine {
            let with = made.to_string().replace(' ', "` `");
            let text =
                format!("it was made with {made}, this run has {mine}; resume with `{with}`");
            return Err(Error::Snapshot(text));
        }
        if states.len() != mine.workers {
            let text = format!("it is damaged ({} workers of {})", states.len(), mine.workers);
            return Err(Error::Snapshot(text));
        }
        match &mut self.team {
            Team::Threads { pool, centre } => {
                let u: Vec<f64> = decode(&team)?;
                if u.len() != self.frame.n() * self.y.len() {
                    return Err(Error::Snapshot("it is damaged (the prediction's length)".into()));
                }
                for (mut worker, state) in pool.workers().zip(&states) {
                    worker.restore(state)?;
                }
                centre.set(&u);
                pool.restored();
            }
            Team::Simulated { workers, centre, turn } => {
                let (line, at): (delayed::DelayLine, u64) = decode(&team)?;
                for (worker, state) in workers.iter_mut().zip(&states) {
                    worker.restore(state)?;
                }
                centre.restore(line)?;
                *turn = at;
            }
        }
        Ok(())
    }
}
