//! The automatic step: it has no setting, and the loss never rises.
//!
//! On columns scaled to `x_j / sqrt(h_j)`, `h_j = <x_j, x_j>`:
//!
//! ```text
//! newcomer:   step 1 / h^D_j,  h^D_j = <x_j, D x_j> / h_j, at least 0.05
//! kept set:   step 1 / L_u,    L_u = L_S (squared loss), max(L_S, k h^D_j) (others)
//! L_S:        1.1 times one warm-started power step per arrival, falls by at most 2 % per
//!             arrival, at least 1 (squared loss) or 0.05
//! goes:       the least scaled coefficient
//! guard:      where the loss would rise, the newcomer is refused and the kept set takes a
//!             step halved until the loss does not rise
//! ```

use super::{Os, Slopes, Trial};
use crate::data::check::Feature;
use crate::error::Result;
use crate::loss::LossKind;
use crate::numeric::kernel;
use crate::select::ties::{NOTHING, above};
use crate::select::{Outcome, Reason, Verdict};

const LEAST_CURVE: f64 = 0.05;
const HEADROOM: f64 = 1.1;
const SHRINK: f64 = 0.98;
const HALVINGS: usize = 30;

impl Os {
    /// One arrival under the automatic rule.
    pub(super) fn auto_step(&mut self, t: usize, features: &[Feature<'_>]) -> Result<Outcome> {
        let feature = &features[t];
        let count = self.model.count();
        let mut slopes = Slopes::default();
        self.evaluator.kept_slopes(&self.model, &mut slopes);
        self.evaluator.newcomer_slope(&self.model, t, features, &mut slopes);
        // One over the squared norm of each kept column, and of the newcomer.
        let unit: Vec<f64> = self
            .model
            .kept
            .slots()
            .iter()
            .map(|kept| 1.0 / self.model.frame.square(&kept.stats).max(f64::MIN_POSITIVE))
            .collect();
        let own = 1.0 / self.model.frame.square(&feature.stats).max(f64::MIN_POSITIVE);
        let curve: Vec<f64> = (0..count)
            .map(|c| (self.evaluator.curve(&self.model, feature, c) * own).max(LEAST_CURVE))
            .collect();
        self.power_steps(&unit, &slopes);
        let (pace, kept_pace) = self.evaluator.step_factors();
        let steps: Vec<f64> = (0..count)
            .map(|c| match self.model.outputs.kind {
                LossKind::Squared => kept_pace / self.rule.largest[c],
                _ => kept_pace / self.rule.largest[c].max(self.params.k as f64 * curve[c]),
            })
            .collect();
        let mut trial = self.kept_step(&slopes, &unit, &steps);
        let newcomer: Vec<f64> =
            (0..count).map(|c| -slopes.newcomer[c] * own / curve[c] * pace).collect();
        let scaled = |w: &[f64], unit: f64| w.iter().map(|w| w.abs()).sum::<f64>() / unit.sqrt();
        let score = scaled(&newcomer, own);
        let full = self.model.full(self.params.k) && !feature.pinned;
        let size = |slot: usize| scaled(&trial.kept[slot * count..(slot + 1) * count], unit[slot]);
        let least = if full { self.model.least(size) } else { None };
        let enters = least.is_none_or(|(least, _)| above(score, least));
        let out = least.filter(|_| enters).map(|(_, slot)| slot);
        if let Some(out) = out {
            trial.kept[out * count..(out + 1) * count].fill(0.0);
        }
        trial.newcomer = enters.then(|| newcomer.clone());
        let rise = self.evaluator.change(&self.model, feature, &slopes, &trial);
        if rise <= 1e-12 * self.evaluator.loss(&self.model) {
            return self.commit(feature, trial, out, &newcomer, score);
        }
        self.guarded(feature, &slopes, &unit, full, score)
    }

    fn kept_step(&self, slopes: &Slopes, unit: &[f64], steps: &[f64]) -> Trial {
        let count = steps.len();
        let kept = self.model.w.iter().zip(&slopes.kept).enumerate();
        let kept = kept.map(|(i, (w, g))| w - steps[i % count] * unit[i / count] * g).collect();
        let mut b = self.model.b.clone();
        if self.model.has_intercept() {
            let slopes = steps.iter().zip(&slopes.intercept);
            b.iter_mut().zip(slopes).for_each(|(b, (step, slope))| *b -= step * slope);
        }
        Trial { kept, b, newcomer: None }
    }

    fn commit(
        &mut self,
        feature: &Feature<'_>,
        trial: Trial,
        out: Option<usize>,
        newcomer: &[f64],
        score: f64,
    ) -> Result<Outcome> {
        let enters = trial.newcomer.is_some();
        self.model.w = trial.kept;
        self.model.b = trial.b;
        let outcome = match enters {
            true => self.insert(feature, out, newcomer)?,
            false => {
                self.evaluator.step_taken(&self.model);
                Outcome::dropped(Reason::Weak)
            }
        };
        Ok(Outcome { score: Some(score), ..outcome })
    }

    /// Where the loss would rise: a step of the kept set alone, short enough that it does not.
    fn guarded(
        &mut self,
        feature: &Feature<'_>,
        slopes: &Slopes,
        unit: &[f64],
        full: bool,
        score: f64,
    ) -> Result<Outcome> {
        let count = self.model.count();
        let (_, pace) = self.evaluator.step_factors();
        let mut steps: Vec<f64> = self.rule.largest.iter().map(|largest| pace / largest).collect();
        let mut moved = false;
        for halving in 0..HALVINGS {
            let trial = self.kept_step(slopes, unit, &steps);
            let rise = self.evaluator.change(&self.model, feature, slopes, &trial);
            if rise <= 1e-12 * self.evaluator.loss(&self.model) {
                (self.model.w, self.model.b) = (trial.kept, trial.b);
                moved = true;
                break;
            }
            steps.iter_mut().for_each(|step| *step *= 0.5);
            if halving < 3 {
                self.rule.largest.iter_mut().for_each(|largest| *largest *= 1.5);
            }
        }
        if !moved {
            self.evaluator.step_rejected();
        }
        if full {
            if moved {
                self.evaluator.step_taken(&self.model);
            }
            let outcome = Outcome::dropped(Reason::Weak);
            return Ok(Outcome { score: Some(score), ..outcome });
        }
        // There is room: it is kept with a coefficient of 0.
        let outcome = self.insert(feature, None, &vec![0.0; count])?;
        Ok(Outcome { verdict: Verdict::Kept, ..outcome })
    }

    /// One warm-started power step per output on the scaled columns.
    ///
    /// New entries of its vector have the signs of the coefficients. So the vector changes sign
    /// with a column that does, and copies of a column, which make the largest eigenvalue, add up.
    /// A coefficient within rounding of 0 has no sign; then the slope gives it.
    fn power_steps(&mut self, unit: &[f64], slopes: &Slopes) {
        if unit.is_empty() {
            return;
        }
        let root: Vec<f64> = unit.iter().map(|unit| unit.sqrt()).collect();
        let count = self.model.count();
        for c in 0..self.rule.vectors.len() {
            let nothing = NOTHING * self.model.outputs.scale;
            let sign = |slot: usize| {
                let (w, slope) = (self.model.w[slot * count + c], slopes.kept[slot * count + c]);
                let sizes = [(w, w / root[slot]), (-slope, slope * root[slot])];
                let first = sizes.iter().find(|(_, size)| size.abs() > nothing);
                first.map_or(0.0, |(value, _)| value.signum())
            };
            let start = 1.0 / (unit.len() as f64).sqrt();
            let entry = |(slot, v): (usize, &f64)| if *v == 0.0 { sign(slot) * start } else { *v };
            let mut v: Vec<f64> = self.rule.vectors[c].iter().enumerate().map(entry).collect();
            let before = kernel::dot(&v, &v).sqrt();
            kernel::scale_by(&mut v, &root);
            let mut next = self.evaluator.product(&self.model, &v, c, true);
            kernel::scale_by(&mut next, &root);
            let after = kernel::dot(&next, &next).sqrt();
            let estimate = HEADROOM * after / before.max(f64::MIN_POSITIVE);
            let largest = &mut self.rule.largest[c];
            *largest = self.rule.floor.max(estimate).max(SHRINK * *largest);
            if after > 0.0 && after.is_finite() {
                // The small push keeps every entry away from 0.
                let pushed = |(slot, v): (usize, &f64)| v / after + 1e-3 * sign(slot);
                self.rule.vectors[c] = next.iter().enumerate().map(pushed).collect();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::select::ColumnSelector;
    use crate::select::substitution::os::{Os, OsParams};
    use crate::{Budget, CheckPolicy, ColumnBlock, FeatureId, FeatureSource, Generated, LossKind};
    use crate::{ColumnData, Problem};

    /// The labels are unbalanced, so a step along the intercept would lower the loss.
    #[test]
    fn without_an_intercept_none_is_fitted() {
        let n = 60;
        let labels: Vec<f64> = (0..n).map(|i| if i % 5 == 0 { -1.0 } else { 1.0 }).collect();
        let column = |j: usize| (0..n).map(|i| ((i * (j + 2) + j) % 11) as f64).collect();
        let columns: Vec<_> = (0..12).map(|j| ColumnData::dense(column(j))).collect();
        let problem = Problem::binary(&labels);
        for loss in [LossKind::SquaredHinge, LossKind::Logistic] {
            let params = OsParams { intercept: false, loss: Some(loss), ..OsParams::new(4) };
            let mut os = Os::new(params, &problem, Budget::unlimited()).unwrap();
            let mut block = ColumnBlock::new(12);
            let mut source = Generated::columns(n, columns.clone());
            while block.room() > 0 && source.next_block(&mut block).unwrap() {}
            let policy = CheckPolicy::default();
            let checked = crate::data::check::check_block(&block, 0, &problem, &policy).unwrap();
            os.offer_block(&checked, &mut Vec::new()).unwrap();
            assert!(
                os.coefficients().iter().any(|(id, w)| *id < FeatureId::new(12) && w[0] != 0.0)
            );
            assert_eq!(os.model.b, [0.0], "{loss:?}");
        }
    }
}
