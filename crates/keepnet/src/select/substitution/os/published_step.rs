//! The published step, and the state of the step rules.

use serde::{Deserialize, Serialize};

use super::{Eta, Os, Slopes, Trial};
use crate::data::check::Feature;
use crate::error::Result;
use crate::loss::LossKind;
use crate::numeric::lanczos::largest_eigenvalue;
use crate::select::ties::above;
use crate::select::{Outcome, Reason, Verdict};

/// Estimates of the largest eigenvalue of the kept set's curvature, one per output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StepRule {
    pub(super) largest: Vec<f64>,
    /// The vectors of the automatic rule's power steps; an entry of 0 is not set yet.
    pub(super) vectors: Vec<Vec<f64>>,
    pub(super) floor: f64,
    stale: bool,
}

impl StepRule {
    pub(super) fn new(eta: Eta, kind: LossKind, outputs: usize) -> Self {
        // `c/L` uses the Gram, which is the same for every output.
        let count = if eta == Eta::Auto { outputs } else { 1 };
        let floor = if kind == LossKind::Squared { 1.0 } else { 0.05 };
        Self { largest: vec![1.0; count], vectors: vec![Vec::new(); count], floor, stale: true }
    }

    /// Whether a rule from a checkpoint fits the run of `new` with `held` columns.
    pub(super) fn fits(&self, new: &Self, held: usize) -> bool {
        self.largest.len() == new.largest.len()
            && self.vectors.len() == new.vectors.len()
            && self.vectors.iter().all(|vector| vector.len() == held)
    }

    /// A slot was added at the end.
    pub(super) fn slot_added(&mut self) {
        for vector in &mut self.vectors {
            vector.push(0.0);
        }
        self.stale = true;
    }

    /// The column of a slot was replaced.
    pub(super) fn slot_replaced(&mut self, slot: usize) {
        for vector in &mut self.vectors {
            vector[slot] = 0.0;
        }
        self.stale = true;
    }
}

impl Os {
    /// The current `eta`; for `c/L` the eigenvalue is computed anew after the kept set changed.
    fn eta(&mut self) -> f64 {
        let c = match self.params.eta {
            Eta::Fixed(eta) => return eta,
            Eta::OverL(c) => c,
            Eta::Auto => unreachable!("the automatic rule has steps of its own"),
        };
        if self.model.kept.is_empty() {
            return c;
        }
        if self.rule.stale {
            let (held, evaluator) = (self.model.kept.len(), &self.evaluator);
            let times = |v: &[f64], out: &mut [f64]| {
                out.copy_from_slice(&evaluator.product(&self.model, v, 0, false));
            };
            self.rule.largest[0] = largest_eigenvalue(held, held, times);
            self.rule.stale = false;
        }
        c / self.rule.largest[0].max(f64::MIN_POSITIVE)
    }

    /// One arrival of Algorithm 1.
    pub(super) fn fixed_step(&mut self, t: usize, features: &[Feature<'_>]) -> Result<Outcome> {
        let feature = &features[t];
        let eta = self.eta();
        let count = self.model.count();
        let mut slopes = Slopes::default();
        self.evaluator.kept_slopes(&self.model, &mut slopes);
        let step = eta / self.params.m;
        let moved = |w: &[f64], g: &[f64]| -> Vec<f64> {
            w.iter().zip(g).map(|(w, g)| w - step * g).collect()
        };
        let trial = Trial {
            kept: moved(&self.model.w, &slopes.kept),
            b: moved(&self.model.b, &slopes.intercept),
            newcomer: None,
        };
        let full = self.model.full(self.params.k) && !feature.pinned;
        let size = |w: &[f64]| w.iter().map(|w| w.abs()).sum::<f64>();
        let least = match full {
            true => self.model.least(|slot| size(&trial.kept[slot * count..(slot + 1) * count])),
            false => None,
        };
        if let Some((least, _)) = least
            && self.evaluator.surely_below(&self.model, t, feature, eta, least)
        {
            self.take_step(trial);
            self.evaluator.step_taken(&self.model);
            return Ok(Outcome::dropped(Reason::Weak));
        }
        self.evaluator.newcomer_slope(&self.model, t, features, &mut slopes);
        let newcomer: Vec<f64> = slopes.newcomer.iter().map(|g| -eta * g).collect();
        self.take_step(trial);
        let score = size(&newcomer);
        let out = match least {
            Some((least, _)) if !above(score, least) || !score.is_finite() => {
                self.evaluator.step_taken(&self.model);
                let outcome = Outcome::dropped(Reason::Weak);
                return Ok(Outcome { score: Some(score), ..outcome });
            }
            other => other.map(|(_, slot)| slot),
        };
        let outcome = self.insert(feature, out, &newcomer)?;
        Ok(Outcome { score: Some(score), ..outcome })
    }

    fn take_step(&mut self, trial: Trial) {
        self.model.w = trial.kept;
        if self.model.has_intercept() {
            self.model.b = trial.b;
        }
    }

    /// Adds the newcomer with coefficients `w`, in place of slot `out` where there is one.
    pub(super) fn insert(
        &mut self,
        feature: &Feature<'_>,
        out: Option<usize>,
        w: &[f64],
    ) -> Result<Outcome> {
        if let Some(slot) = out {
            self.evaluator.before_removal(&self.model, slot);
        }
        let evicted = self.model.insert(feature, out, w)?;
        let slot = out.unwrap_or(self.model.kept.len() - 1);
        match out {
            Some(slot) => self.rule.slot_replaced(slot),
            None => self.rule.slot_added(),
        }
        self.evaluator.inserted(&self.model, feature, slot);
        self.substitutions += u64::from(evicted.is_some());
        let evicted = evicted.and_then(|kept| kept.id).into_iter().collect();
        Ok(Outcome { evicted, ..Outcome::new(Verdict::Kept) })
    }
}
