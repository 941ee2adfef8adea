//! One worker: the recurrence of `os` on its own share of the kept set, around a centre.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::centre_evaluator::CentreEvaluator;
use super::{Centre, Tally};
use crate::data::check::{CheckedBlock, Feature};
use crate::data::kept::Kept;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::run::budget::Budget;
use crate::run::snapshot::{Snapshot, decode, encode};
use crate::select::substitution::os::{Os, OsParams};
use crate::select::{ColumnSelector, Memory, Outcome, Status, fitted};
use crate::selection::Selection;

/// One worker of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// This worker, from 0.
    pub worker: usize,
    /// Number of workers.
    pub workers: usize,
}

impl Share {
    /// How many of the `k` features this worker keeps: an equal part; the first workers share the
    /// remainder.
    #[must_use]
    pub fn of(self, k: usize) -> usize {
        k / self.workers + usize::from(self.worker < k % self.workers)
    }
}

/// One worker of Algorithm 3, around any [`Centre`].
///
/// Covariates and the intercept belong to the first worker. A pinned feature belongs to the worker
/// that gets it.
pub struct Worker {
    os: Os,
    k: usize,
    tally: Tally,
}

impl Worker {
    /// A worker with an empty share; `params.k` is for all workers together.
    pub fn new<C: Centre + 'static>(
        params: &OsParams,
        share: Share,
        problem: &Problem,
        budget: &Budget,
        centre: C,
    ) -> Result<Self> {
        let k = share.of(params.k);
        if k == 0 {
            let got = format!("{} with {} workers", params.k, share.workers);
            return Err(Error::param("k", got, "at least one feature a worker"));
        }
        let own = OsParams { k, ..params.clone() };
        let part = |limit: u64| Budget::bytes((limit as f64 * k as f64 / params.k as f64) as u64);
        let budget = budget.limit().map_or_else(Budget::unlimited, part);
        let first = match share.worker {
            0 => problem.clone(),
            _ => Problem { covariates: Vec::new(), ..problem.clone() },
        };
        if params.loss_for(problem.target.task()) == LossKind::Squared {
            fitted::check_k(params.k, problem.n())?;
        }
        let live = Arc::new(AtomicBool::new(false));
        let centre_and_flag = (centre, Arc::clone(&live));
        let os = Os::with(own, &first, budget, |own, frame, outputs| {
            Ok(Box::new(CentreEvaluator::new(own, frame, outputs, share, centre_and_flag)))
        })?;
        live.store(true, Ordering::Relaxed);
        Ok(Self { os, k, tally: Tally::default() })
    }

    /// Decides on one feature.
    pub fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
        let start = Instant::now();
        let outcome = self.os.arrival(0, std::slice::from_ref(feature))?;
        self.tally.seconds += start.elapsed().as_secs_f64();
        self.tally.features += 1;
        Ok(outcome)
    }

    /// Adds time without a feature to decide on.
    pub fn add_idle(&mut self, seconds: f64) {
        self.tally.idle += seconds;
    }

    /// Whether its share is full.
    #[must_use]
    pub fn full(&self) -> bool {
        self.os.model.full(self.k)
    }

    /// The columns that it keeps, including covariates and pinned features.
    #[must_use]
    pub fn kept(&self) -> &[Kept] {
        self.os.model.kept.slots()
    }

    /// Adds its part of the centre's prediction, `X_S w` and its intercepts, to `u`.
    pub fn add_prediction(&self, u: &mut [f64]) {
        let model = &self.os.model;
        let kept: Vec<&Kept> = self.kept().iter().collect();
        for (c, u) in u.chunks_mut(model.frame.n()).enumerate() {
            model.frame.add_prediction(&kept, &model.coefficients(&model.w, c), u);
            u.iter_mut().for_each(|u| *u += model.b[c]);
        }
    }

    /// Its counts.
    #[must_use]
    pub fn tally(&self) -> Tally {
        let Tally { features, seconds, idle, .. } = self.tally;
        Tally { features, seconds, idle, ..self.os.evaluator.tally() }
    }

    /// Features that replaced another.
    #[must_use]
    pub fn substitutions(&self) -> u64 {
        self.os.substitutions
    }

    /// Status without the loss: a worker does not have the whole prediction.
    pub(super) fn status_without_loss(&self) -> Status {
        let model = &self.os.model;
        Status {
            kept: model.kept.len() - model.pinned,
            loss: None,
            substitutions: self.os.substitutions,
            bytes: model.kept.bytes() + self.os.evaluator.bytes(),
        }
    }

    /// Whether a coefficient is not finite.
    #[must_use]
    pub fn diverged(&self) -> bool {
        self.os.diverged()
    }
}

impl ColumnSelector for Worker {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        for feature in &block.features {
            out.push(self.offer(feature)?);
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        self.os.end_scan()
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    /// The worker's own share, fitted alone.
    fn selection(&self) -> Result<Selection> {
        Ok(Selection { method: super::INFO.name, ..self.os.selection()? })
    }

    fn fitted(
        &self,
        see: &mut dyn FnMut(&crate::run::verdict::Fitted<'_>) -> Result<()>,
    ) -> Result<()> {
        self.os.fitted(see)
    }

    fn centres(&self) -> bool {
        self.os.centres()
    }

    fn status(&self) -> Status {
        self.os.status()
    }

    /// That of `os` with its share of `k`.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        self.os.memory(column, features)
    }
}

impl Snapshot for Worker {
    fn save(&self) -> Result<Vec<u8>> {
        encode(&(self.os.save()?, self.tally))
    }

    /// Restores the worker alone; the caller sets the centre from [`Worker::add_prediction`].
    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (os, tally): (Vec<u8>, Tally) = decode(state)?;
        self.os.restore(&os)?;
        self.tally = tally;
        Ok(())
    }
}
