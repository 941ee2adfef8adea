//! The state that the rivals on a stream share: held columns, weights, lambda, and the books.
//!
//! With a fixed lambda the held set is whatever has a weight, as published, without a bound but
//! the budget. With `lambda=auto` exactly `k` columns are held once `k` have come, and a method
//! moves lambda so that they have weights.

use serde::{Deserialize, Serialize};

use super::gram::Gram;
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

/// How far lambda falls at an arrival while a held column has no weight.
pub(in crate::select) const FALL: f64 = 0.99;
/// Share of lambda to which the KKT conditions are solved.
pub(in crate::select) const TOLERANCE: f64 = 1e-7;

/// Held columns, weights and counters of a method on a stream.
pub(in crate::select) struct Held {
    pub(in crate::select) params: L1Params,
    pub(in crate::select) columns: Columns,
    pub(in crate::select) gram: Gram,
    pub(in crate::select) point: Point,
    /// The gradient at `point`, where it is known.
    pub(in crate::select) gradient: Option<Gradient>,
    pub(in crate::select) books: Books,
}

/// The numbers of a run; part of a checkpoint.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(in crate::select) struct Books {
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
    /// Nothing held but the covariates, fitted together with the intercept.
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
        let books = Books { lambda, eta, ..Books::default() };
        let (gram, gradient) = (Gram::default(), None);
        let mut held = Self { params, columns, gram, point, gradient, books };
        // The size of a slope: what is free of a penalty is fitted to a share of it.
        held.settle(held.columns.outputs.scale);
        Ok(held)
    }

    /// The most features that may stay; `None` with a fixed lambda.
    pub(in crate::select) fn limit(&self) -> Option<usize> {
        self.params.k.filter(|_| self.params.lambda.is_none())
    }

    /// Whether the next free feature is one too many.
    pub(in crate::select) fn full(&self) -> bool {
        self.limit().is_some_and(|k| self.columns.free() >= k)
    }

    /// Whether more than `k` are held, so that one must go.
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

    /// Goes to the minimum of the L1 problem over everything held, at `lambda`.
    pub(in crate::select) fn settle(&mut self, lambda: f64) {
        let slots = self.slots();
        if slots.is_empty() && !self.columns.has_intercept() {
            return;
        }
        let tolerance = TOLERANCE * lambda;
        self.columns.solve(&mut self.gram, &mut self.point, &slots, lambda, tolerance);
        self.gradient = None;
    }

    /// Whether every weight is a number.
    pub(in crate::select) fn finite(&self) -> bool {
        self.point.w.iter().chain(&self.point.b).all(|w| w.is_finite())
    }

    /// The gradient at the current point.
    pub(in crate::select) fn gradient(&mut self) -> &Gradient {
        let (columns, point) = (&self.columns, &self.point);
        self.gradient.get_or_insert_with(|| columns.gradient(&point.u))
    }

    /// Size of the slope in a newcomer, and the slopes themselves.
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

    /// Takes a feature in without a weight.
    pub(in crate::select) fn push(&mut self, x: &Feature<'_>) -> Result<usize> {
        let slot = self.columns.push(x)?;
        self.point.w.resize((slot + 1) * self.columns.count(), 0.0);
        self.books.most = self.books.most.max(self.columns.free() as u64);
        self.books.changed = true;
        Ok(slot)
    }

    /// Lets a slot go; its weight must have been taken off the predictions.
    pub(in crate::select) fn remove(&mut self, slot: usize) -> Option<FeatureId> {
        let (count, held) = (self.columns.count(), self.columns.kept.len());
        let gone = self.columns.remove(slot);
        if self.columns.squared() {
            self.gram.swap_remove(slot, held, count);
        }
        let tail: Vec<f64> = self.point.w.drain((held - 1) * count..).collect();
        if slot != held - 1 {
            self.point.w[slot * count..(slot + 1) * count].copy_from_slice(&tail);
        }
        self.books.changed = true;
        gone.id
    }

    /// Free slots without a weight.
    pub(in crate::select) fn idle(&self) -> Vec<usize> {
        let idle = |j: &usize| !self.columns.pinned(*j) && self.point.size(*j) == 0.0;
        (0..self.columns.kept.len()).filter(idle).collect()
    }

    /// The free slot of least `size` among `slots`, the latest feature among equals.
    pub(in crate::select) fn least(
        &self,
        slots: impl Iterator<Item = usize>,
        size: impl Fn(usize) -> f64,
    ) -> Option<usize> {
        let id = |slot: usize| self.columns.kept.slots()[slot].id;
        let free = slots.filter(|slot| !self.columns.pinned(*slot));
        ties::least(free.map(|slot| (size(slot), slot)), id).map(|(_, slot)| slot)
    }

    /// Among the idle slots the one that is furthest from a weight: of least slope.
    pub(in crate::select) fn idlest(&mut self) -> Option<usize> {
        let idle = self.idle();
        if idle.len() < 2 {
            return idle.first().copied();
        }
        let (slopes, count) = (self.slopes(), self.columns.count());
        self.least(idle.into_iter(), |j| norm(&slopes[j * count..(j + 1) * count]))
    }

    /// Weights of a slot, one an output.
    pub(in crate::select) fn weights(&self, slot: usize) -> Vec<f64> {
        let count = self.columns.count();
        self.point.w[slot * count..(slot + 1) * count].to_vec()
    }

    /// Gives a slot new weights and brings the predictions along.
    pub(in crate::select) fn set(&mut self, slot: usize, w: &[f64]) {
        let count = self.columns.count();
        for (c, w) in w.iter().enumerate() {
            let change = w - self.point.w[slot * count + c];
            if change != 0.0 {
                let x = &self.columns.kept.slots()[slot];
                self.columns.add_one(x, change, &mut self.point.u[c]);
                self.point.w[slot * count + c] = *w;
                self.gradient = None;
                self.books.changed = true;
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
                self.weights(slot).iter().zip(&slope).map(|(w, s)| w - s / h).collect();
            self.set(slot, &next);
        }
    }

    /// Ends a scan of a coordinate method: makes the predictions anew, against drift.
    pub(in crate::select) fn end_coordinate_scan(&mut self) -> bool {
        self.columns.predict(&mut self.point);
        self.gradient = None;
        self.end_scan()
    }

    /// Ends a scan: whether it changed nothing.
    pub(in crate::select) fn end_scan(&mut self) -> bool {
        !std::mem::take(&mut self.books.changed)
    }

    /// The slots of the model: all that have a weight, or the `k` largest weights.
    fn model(&self, warnings: &mut Vec<String>) -> Vec<usize> {
        let slots = self.slots();
        if self.limit().is_some() {
            return slots;
        }
        let size = |slot: &usize| self.point.size(*slot);
        choose(&self.columns, slots, size, self.params.k, warnings)
    }

    /// The refitted model with the numbers of the L1 problem.
    pub(in crate::select) fn selection(&self, method: &'static str) -> Result<Selection> {
        let mut warnings = Vec::new();
        let model = self.model(&mut warnings);
        let columns = &self.columns;
        let mut selection =
            fitted::selection(&columns.frame, &columns.kept, &model, &columns.outputs)?;
        selection.method = method;
        selection.params = self.params.shown(columns.outputs.kind);
        selection.substitutions = self.books.substitutions;
        selection.metrics = vec![("most_held", self.books.most.into())];
        selection.warnings = warnings;
        Ok(selection)
    }

    /// Adds lambda, objective and KKT residual of the held set.
    pub(in crate::select) fn add_l1(&self, selection: &mut Selection) {
        let lambda = self.books.lambda;
        let weights = self.slots().len() - self.idle().len();
        let off = self.columns.kkt(&self.point, &self.slots(), lambda);
        selection.metrics.extend([
            ("lambda", lambda.into()),
            ("objective", self.columns.objective(&self.point, lambda).into()),
            ("nonzero", weights.into()),
            ("kkt_residual", Value::Float(off / lambda.max(f64::MIN_POSITIVE))),
        ]);
    }

    pub(in crate::select) fn status(&self) -> Status {
        let vectors = 24 * self.columns.count() as u64 * self.columns.frame.n() as u64;
        Status {
            kept: self.columns.free(),
            loss: Some(self.columns.loss(&self.point.u)),
            substitutions: self.books.substitutions,
            bytes: self.columns.kept.bytes() + self.gram.bytes() + vectors,
        }
    }

    pub(in crate::select) fn save(&self) -> Result<Vec<u8>> {
        encode(&(&self.columns.kept, &self.gram, &self.point, &self.books))
    }

    pub(in crate::select) fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (kept, gram, point, books): (KeptSet, Gram, Point, Books) = decode(state)?;
        let budget = self.columns.kept.budget().clone();
        let kept = kept.resumed(budget, self.columns.frame.n())?;
        let (n, count) = (self.columns.frame.n(), self.columns.count());
        ensure(gram.sound(kept.len(), count), "products of other columns")?;
        ensure(point.sound(kept.len(), count, n), "weights of other columns")?;
        let numbers = [books.lambda, books.eta];
        ensure(numbers.iter().all(|v| v.is_finite() && *v >= 0.0), "no penalty or step")?;
        self.columns.kept = kept;
        self.columns.scale.clear();
        self.columns.rescale();
        (self.gram, self.point, self.books, self.gradient) = (gram, point, books, None);
        Ok(())
    }
}

/// Slots with a weight, at most `k` free ones, the largest first come; pinned ones always.
pub(in crate::select) fn choose(
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
