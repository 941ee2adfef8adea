//! The state that the baselines on a stream share: held columns, coefficients, lambda, counters.
//!
//! With a fixed lambda all columns with a coefficient other than 0 are held, as published; only the
//! budget limits them. With `lambda=auto` exactly `k` columns are held once `k` have arrived, and a
//! method moves lambda so that their coefficients are not 0.

use serde::{Deserialize, Serialize};

use super::gram::Gram;
use super::penalty::L1;
use super::{Columns, Gradient, L1Params, Point, norm};
use crate::data::block::FeatureId;
use crate::data::check::Feature;
use crate::data::kept::KeptSet;
use crate::data::target::Problem;
use crate::error::Result;
use crate::run::budget::Budget;
use crate::run::snapshot::{decode, encode, ensure};
use crate::select::{Holds, Memory, Status, fitted, ties};
use crate::selection::{Selection, Value};

/// Factor on lambda at an arrival while a held column has a coefficient of 0.
pub(in crate::select) const FALL: f64 = 0.99;
/// Share of lambda to which the KKT conditions are solved.
pub(in crate::select) const TOLERANCE: f64 = 1e-7;

/// Held columns, coefficients and counters of a method on a stream.
pub(in crate::select) struct Held {
    pub(in crate::select) params: L1Params,
    pub(in crate::select) columns: Columns,
    pub(in crate::select) gram: Gram,
    pub(in crate::select) point: Point,
    /// The gradient at `point`, once it has been computed.
    pub(in crate::select) gradient: Option<Gradient>,
    pub(in crate::select) progress: Progress,
}

/// Lambda, step and counters; part of a checkpoint.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::select) struct Progress {
    pub(in crate::select) lambda: f64,
    /// Step length, for the methods that adapt one.
    pub(in crate::select) eta: f64,
    pub(in crate::select) substitutions: u64,
    /// Most columns held at once.
    pub(in crate::select) most: u64,
    /// Whether the kept set changed in this scan.
    pub(in crate::select) changed: bool,
}

impl Held {
    /// The covariates alone, fitted together with the intercept.
    pub(in crate::select) fn new(
        params: L1Params,
        problem: &Problem,
        budget: Budget,
    ) -> Result<Self> {
        params.check(problem)?;
        let columns = Columns::new(&params, problem, budget)?;
        let point = columns.origin();
        let lambda = params.lambda.unwrap_or(0.0);
        let eta = 1.0 / columns.outputs.loss.steepest();
        let progress = Progress { lambda, eta, ..Progress::default() };
        let (gram, gradient) = (Gram::default(), None);
        let mut held = Self { params, columns, gram, point, gradient, progress };
        // Nothing held so far has a penalty; `scale` only sets the tolerance.
        held.solve(held.columns.outputs.scale);
        Ok(held)
    }

    /// Most unpinned features that are kept; `None` with a fixed lambda.
    pub(in crate::select) fn limit(&self) -> Option<usize> {
        self.params.k.filter(|_| self.params.lambda.is_none())
    }

    /// Whether the limit is reached.
    pub(in crate::select) fn full(&self) -> bool {
        self.limit().is_some_and(|k| self.columns.free() >= k)
    }

    /// Whether more than `k` features are held, so that one must go.
    pub(in crate::select) fn over(&self) -> bool {
        self.limit().is_some_and(|k| self.columns.free() > k)
    }

    /// The held columns, `k` of them unless lambda is fixed, and one under test; prediction, slopes
    /// and trials an output, 12 columns written out and a refit; the Gram, and those of the refit.
    pub(in crate::select) fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let Columns { frame, outputs, kept, .. } = &self.columns;
        let q = outputs.y.len();
        Holds {
            rows: frame.n(),
            kept: self.limit(),
            spare: 1,
            facts: 0,
            covariates: kept.covariates(),
            vectors: 14 + 8 * q + 2 * usize::from(frame.weight().is_some()),
            matrices: 3 + 2 * q,
        }
        .bytes(column, features)
    }

    pub(in crate::select) fn slots(&self) -> Vec<usize> {
        (0..self.columns.kept.len()).collect()
    }

    /// Solves the L1 problem over all held columns at `lambda`.
    pub(in crate::select) fn solve(&mut self, lambda: f64) {
        let slots = self.slots();
        if slots.is_empty() && !self.columns.has_intercept() {
            return;
        }
        let tolerance = TOLERANCE * lambda;
        self.columns.solve(&mut self.gram, &mut self.point, &slots, &L1(lambda), tolerance);
        self.gradient = None;
    }

    /// Whether every coefficient is finite.
    pub(in crate::select) fn finite(&self) -> bool {
        self.point.w.iter().chain(&self.point.b).all(|w| w.is_finite())
    }

    /// The gradient at the current point.
    pub(in crate::select) fn gradient(&mut self) -> &Gradient {
        let (columns, point) = (&self.columns, &self.point);
        self.gradient.get_or_insert_with(|| columns.gradient(&point.u))
    }

    /// Norm of the slopes in a newcomer, and the slopes themselves.
    pub(in crate::select) fn slope(&mut self, x: &Feature<'_>) -> (f64, Vec<f64>) {
        self.gradient();
        let gradient = self.gradient.as_ref().expect("just made");
        let slopes = self.columns.slope_of(gradient, x);
        (norm(&slopes), slopes)
    }

    /// Slopes of every slot.
    pub(in crate::select) fn slopes(&mut self) -> Vec<f64> {
        let slots = self.slots();
        self.gradient();
        let gradient = self.gradient.as_ref().expect("just made");
        self.columns.slopes(gradient, &slots)
    }

    /// Whether a newcomer that is sure to enter fits into the budget.
    pub(in crate::select) fn check_room(&self, x: &Feature<'_>) -> Result<()> {
        let enters = x.pinned || self.limit().is_some() && !self.full();
        match enters && self.columns.kept.slot(x.id).is_none() {
            true => self.columns.kept.check_room(x),
            false => Ok(()),
        }
    }

    /// Adds a feature with a coefficient of 0.
    pub(in crate::select) fn push(&mut self, x: &Feature<'_>) -> Result<usize> {
        let slot = self.columns.push(x)?;
        self.point.w.resize((slot + 1) * self.columns.count(), 0.0);
        self.progress.most = self.progress.most.max(self.columns.free() as u64);
        self.progress.changed = true;
        Ok(slot)
    }

    /// Removes a slot, which no longer has a part in the predictions.
    pub(in crate::select) fn remove(&mut self, slot: usize) -> Option<FeatureId> {
        let (count, held) = (self.columns.count(), self.columns.kept.len());
        let removed = self.columns.remove(slot);
        if self.columns.squared() {
            self.gram.swap_remove(slot, held, count);
        }
        let tail: Vec<f64> = self.point.w.drain((held - 1) * count..).collect();
        if slot != held - 1 {
            self.point.w[slot * count..(slot + 1) * count].copy_from_slice(&tail);
        }
        self.progress.changed = true;
        removed.id
    }

    /// Unpinned slots with a coefficient of 0.
    pub(in crate::select) fn idle(&self) -> Vec<usize> {
        let idle = |j: &usize| !self.columns.pinned(*j) && self.point.size(*j) == 0.0;
        (0..self.columns.kept.len()).filter(idle).collect()
    }

    /// The unpinned slot of least `size` among `slots`; the latest feature among equals.
    pub(in crate::select) fn least(
        &self,
        slots: impl Iterator<Item = usize>,
        size: impl Fn(usize) -> f64,
    ) -> Option<usize> {
        let id = |slot: usize| self.columns.kept.slots()[slot].id;
        let free = slots.filter(|slot| !self.columns.pinned(*slot));
        ties::least(free.map(|slot| (size(slot), slot)), id).map(|(_, slot)| slot)
    }

    /// The idle slot of least slope: the last to get a coefficient as lambda falls.
    pub(in crate::select) fn idle_of_least_slope(&mut self) -> Option<usize> {
        let idle = self.idle();
        if idle.len() < 2 {
            return idle.first().copied();
        }
        let (slopes, count) = (self.slopes(), self.columns.count());
        self.least(idle.into_iter(), |j| norm(&slopes[j * count..(j + 1) * count]))
    }

    /// Coefficients of a slot, one per output.
    pub(in crate::select) fn coefficients(&self, slot: usize) -> Vec<f64> {
        let count = self.columns.count();
        self.point.w[slot * count..(slot + 1) * count].to_vec()
    }

    /// Sets the coefficients of a slot and updates the predictions.
    pub(in crate::select) fn set(&mut self, slot: usize, w: &[f64]) {
        let count = self.columns.count();
        for (c, w) in w.iter().enumerate() {
            let change = w - self.point.w[slot * count + c];
            if change != 0.0 {
                let x = &self.columns.kept.slots()[slot];
                self.columns.add_one(x, change, &mut self.point.u[c]);
                self.point.w[slot * count + c] = *w;
                self.gradient = None;
                self.progress.changed = true;
            }
        }
    }

    /// One step along the intercepts and along each pinned column.
    pub(in crate::select) fn step_pinned(&mut self) {
        if self.columns.has_intercept() {
            let per = self.columns.frame.weight_sum() * self.columns.outputs.loss.steepest();
            let steps: Vec<f64> = self.gradient().sum.iter().map(|sum| -sum / per).collect();
            for (c, step) in steps.into_iter().enumerate() {
                self.point.b[c] += step;
                self.point.u[c].iter_mut().for_each(|u| *u += step);
            }
            self.gradient = None;
        }
        for slot in 0..self.columns.kept.len() {
            if !self.columns.pinned(slot) {
                continue;
            }
            self.gradient();
            let gradient = self.gradient.as_ref().expect("just made");
            let slope = self.columns.slopes(gradient, &[slot]);
            let h = self.columns.curvature(&self.columns.kept.slots()[slot]);
            let next: Vec<f64> =
                self.coefficients(slot).iter().zip(&slope).map(|(w, s)| w - s / h).collect();
            self.set(slot, &next);
        }
    }

    /// Ends a scan of a coordinate method: computes the predictions anew, so that rounding does
    /// not add up.
    pub(in crate::select) fn end_coordinate_scan(&mut self) -> bool {
        self.columns.predict(&mut self.point);
        self.gradient = None;
        self.end_scan()
    }

    /// Ends a scan; `true` when it changed nothing.
    pub(in crate::select) fn end_scan(&mut self) -> bool {
        !std::mem::take(&mut self.progress.changed)
    }

    /// The slots of the model.
    fn model(&self, warnings: &mut Vec<String>) -> Vec<usize> {
        let slots = self.slots();
        if self.limit().is_some() {
            return slots;
        }
        let size = |slot: &usize| self.point.size(*slot);
        choose_slots(&self.columns, slots, size, self.params.k, warnings)
    }

    /// The refitted model.
    pub(in crate::select) fn selection(&self, method: &'static str) -> Result<Selection> {
        let mut warnings = Vec::new();
        let model = self.model(&mut warnings);
        let columns = &self.columns;
        let mut selection =
            fitted::selection(&columns.frame, &columns.kept, &model, &columns.outputs)?;
        selection.method = method;
        selection.params = self.params.shown(columns.outputs.kind);
        selection.substitutions = self.progress.substitutions;
        selection.metrics = vec![("most_held", self.progress.most.into())];
        selection.warnings = warnings;
        Ok(selection)
    }

    /// Adds lambda, objective and KKT residual of the held set.
    pub(in crate::select) fn add_l1(&self, selection: &mut Selection) {
        let lambda = self.progress.lambda;
        let nonzero = self.slots().len() - self.idle().len();
        let off = self.columns.kkt(&self.point, &self.slots(), &L1(lambda));
        selection.metrics.extend([
            ("lambda", lambda.into()),
            ("objective", self.columns.objective(&self.point, &L1(lambda)).into()),
            ("nonzero", nonzero.into()),
            ("kkt_residual", Value::Float(off / lambda.max(f64::MIN_POSITIVE))),
        ]);
    }

    pub(in crate::select) fn status(&self) -> Status {
        let vectors = 24 * self.columns.count() as u64 * self.columns.frame.n() as u64;
        Status {
            kept: self.columns.free(),
            loss: Some(self.columns.loss(&self.point.u)),
            substitutions: self.progress.substitutions,
            bytes: self.columns.kept.bytes() + self.gram.bytes() + vectors,
        }
    }

    pub(in crate::select) fn save(&self) -> Result<Vec<u8>> {
        encode(&(&self.columns.kept, &self.gram, &self.point, &self.progress))
    }

    pub(in crate::select) fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (kept, gram, point, progress): (KeptSet, Gram, Point, Progress) = decode(state)?;
        let budget = self.columns.kept.budget().clone();
        let kept = kept.resumed(budget, self.columns.frame.n())?;
        let (n, count) = (self.columns.frame.n(), self.columns.count());
        ensure(gram.is_valid(kept.len(), count), "products of other columns")?;
        ensure(point.is_valid(kept.len(), count, n), "weights of other columns")?;
        let numbers = [progress.lambda, progress.eta];
        ensure(numbers.iter().all(|v| v.is_finite() && *v >= 0.0), "no penalty or step")?;
        self.columns.kept = kept;
        self.columns.scale.clear();
        self.columns.rescale();
        (self.gram, self.point, self.progress, self.gradient) = (gram, point, progress, None);
        Ok(())
    }
}

/// The pinned slots, and at most `k` others: those with the largest coefficients other than 0.
pub(in crate::select) fn choose_slots(
    columns: &Columns,
    slots: Vec<usize>,
    size: impl Fn(&usize) -> f64,
    k: Option<usize>,
    warnings: &mut Vec<String>,
) -> Vec<usize> {
    let (pinned, mut free): (Vec<usize>, Vec<usize>) =
        slots.into_iter().partition(|slot| columns.pinned(*slot));
    free.retain(|slot| size(slot) != 0.0);
    let id = |slot: &usize| columns.kept.slots()[*slot].id;
    free.sort_by(|a, b| size(b).total_cmp(&size(a)).then(id(a).cmp(&id(b))));
    free.truncate(k.unwrap_or(usize::MAX));
    let room = (columns.frame.n() - 1).saturating_sub(pinned.len());
    if columns.squared() && free.len() > room {
        warnings.push(format!(
            "{} features have a weight but {} rows can fit fewer; the largest {room} are kept: raise lambda",
            free.len(),
            columns.frame.n()
        ));
        free.truncate(room);
    }
    let mut model: Vec<usize> = pinned.into_iter().chain(free).collect();
    model.sort_unstable();
    model
}
