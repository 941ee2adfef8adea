//! The models of the curved form: prediction, slopes, curvature and the Newton step.

use super::{Curved, DRIFT, HALVINGS, Model};
use crate::data::check::ColumnStats;
use crate::data::kept::Kept;
use crate::error::{Error, Result};
use crate::numeric::linalg::{Square, inverse};

/// Ridge of covariates, against collinearity only.
pub(super) const COVARIATE_RIDGE: f64 = 1e-8;

impl Curved {
    /// Penalised loss of output `c` at the prediction `u` and coefficients `w`.
    pub(super) fn value(&self, c: usize, u: &[f64], w: &[f64], ridges: &[f64]) -> f64 {
        let loss = self.outputs.loss.value(u, &self.outputs.y[c], self.frame.weight());
        let squares = w[self.base()..].iter().zip(ridges).map(|(w, r)| r * w * w);
        loss / self.frame.weight_sum() + 0.5 * squares.sum::<f64>()
    }

    pub(super) fn predict(&self, w: &[f64]) -> Vec<f64> {
        let mut u = self.outputs.start(self.frame.n());
        self.frame.add_prediction(&self.columns(), &w[self.base()..], &mut u);
        if self.base() > 0 {
            u.iter_mut().for_each(|u| *u += w[0]);
        }
        u
    }

    /// Sets the prediction of the current coefficients, with its value and slopes.
    pub(super) fn renew_slopes(&mut self, c: usize, u: Vec<f64>) {
        let value = self.value(c, &u, &self.state.models[c].w, &self.ridges());
        self.set_prediction(c, u, value);
    }

    /// Sets a prediction whose value is known, and computes its slopes.
    fn set_prediction(&mut self, c: usize, u: Vec<f64>, value: f64) {
        let (y, weight) = (&self.outputs.y[c], self.frame.weight());
        let model = &mut self.state.models[c];
        self.outputs.loss.slopes(&u, y, weight, &mut model.g);
        model.sum_g = crate::numeric::kernel::sum(&model.g);
        model.value = value;
        model.u = u;
    }

    /// Computes prediction, slopes and curvature of every output anew.
    pub(super) fn evaluate(&mut self) -> Result<()> {
        for c in 0..self.state.models.len() {
            let u = self.predict(&self.state.models[c].w);
            self.renew_slopes(c, u);
            self.renew_curvature(c, true)?;
        }
        self.all_stale();
        Ok(())
    }

    /// Computes one output's curvature anew if it drifted or if `always`; `true` if it did.
    pub(super) fn renew_curvature(&mut self, c: usize, always: bool) -> Result<bool> {
        let mut d = vec![0.0; self.frame.n()];
        let (y, weight) = (&self.outputs.y[c], self.frame.weight());
        self.outputs.loss.curvatures(&self.state.models[c].u, y, weight, &mut d);
        let old = &self.state.models[c];
        let moved: f64 = d.iter().zip(&old.d).map(|(a, b)| (a - b).abs()).sum();
        if !always && moved <= DRIFT * old.sum_d {
            return Ok(false);
        }
        let (total, base, size) = (self.frame.weight_sum(), self.base(), self.size());
        let (h, ones) = self.frame.hessian(&self.columns(), &d);
        let ridges = self.ridges();
        let sum_d = crate::numeric::kernel::sum(&d);
        let entry = |i: usize, j: usize| match (i >= base, j >= base) {
            (true, true) => h.at(i - base, j - base) + if i == j { ridges[i - base] } else { 0.0 },
            (true, false) => ones[i - base],
            (false, true) => ones[j - base],
            // The intercept needs a finite step also where no row has curvature.
            (false, false) => (sum_d / total).max(1e-6),
        };
        let a = inverse(size, entry).ok_or_else(|| {
            Error::Data("the curvature of the kept set is not positive definite".into())
        })?;
        let model = &mut self.state.models[c];
        model.swept = Square::new(size);
        for i in 0..size {
            for j in 0..=i {
                model.swept.set(i, j, -a.at(i, j));
            }
        }
        model.sum_d = sum_d;
        model.d = d;
        Ok(true)
    }

    /// One step along minus A times the slope, halved until the penalised loss falls.
    pub(super) fn newton_step(&mut self, c: usize) {
        let (total, base, size) = (self.frame.weight_sum(), self.base(), self.size());
        let ridges = self.ridges();
        let model = &self.state.models[c];
        let mut slopes = Vec::with_capacity(size);
        slopes.extend((0..base).map(|_| model.sum_g / total));
        for (slot, kept) in self.state.kept.slots().iter().enumerate() {
            let raw = kept.column().dot(&model.g) - self.frame.mean(&kept.stats) * model.sum_g;
            slopes.push(raw / total + ridges[slot] * model.w[base + slot]);
        }
        let step = model.swept.times(&slopes);
        let descent: f64 = step.iter().zip(&slopes).map(|(d, s)| d * s).sum();
        if -descent <= 1e-9 * model.value {
            return;
        }
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let w: Vec<f64> = model.w.iter().zip(&step).map(|(w, d)| w + length * d).collect();
            let u = self.predict(&w);
            let value = self.value(c, &u, &w, &ridges);
            if value <= model.value + 1e-4 * length * descent {
                self.state.models[c].w = w;
                self.set_prediction(c, u, value);
                return;
            }
            length *= 0.5;
        }
    }

    pub(super) fn ridge_of(&self, stats: &ColumnStats, covariate: bool) -> f64 {
        (if covariate { COVARIATE_RIDGE } else { self.ridge }) * self.frame.square(stats)
    }

    pub(super) fn ridges(&self) -> Vec<f64> {
        let of = |kept: &Kept| self.ridge_of(&kept.stats, kept.id.is_none());
        self.state.kept.slots().iter().map(of).collect()
    }

    pub(super) fn columns(&self) -> Vec<&Kept> {
        self.state.kept.slots().iter().collect()
    }

    pub(super) fn total_value(&self) -> f64 {
        self.state.models.iter().map(|model| model.value).sum()
    }

    /// Whether losses and coefficients are finite. The loss alone does not tell: the hinge of a
    /// margin of NaN is 0.
    pub(super) fn finite(&self) -> bool {
        let known = |model: &Model| model.w.iter().chain([&model.value]).all(|v| v.is_finite());
        self.state.models.iter().all(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::block::{ColumnBlock, FeatureId, RawColumn};
    use crate::data::check::{CheckPolicy, check_block};
    use crate::data::column::ColumnData;
    use crate::data::kept::KeptSet;
    use crate::data::target::Problem;
    use crate::loss::LossKind;
    use crate::numeric::inner_product::Frame;
    use crate::run::budget::Budget;
    use crate::select::kept_products::BlockProducts;
    use crate::select::substitution::os_plus::{OsPlusParams, block};

    /// An intercept of NaN is an error when the next feature enters, under every loss.
    #[test]
    fn a_coefficient_that_is_not_finite_ends_the_run() {
        let labels: Vec<f64> = (0..30).map(|i| f64::from(i * i % 7 % 2)).collect();
        let problem = Problem::binary(&labels);
        let mut columns = ColumnBlock::new(4);
        for j in 0..4u32 {
            let data = ColumnData::dense((0..30).map(|i| f64::from(i * (j + 3) % 11)).collect());
            let (id, name) = (FeatureId::new(j.into()), format!("f{j}"));
            columns.push(RawColumn { id, name: name.into(), source: 0, data });
        }
        let features =
            check_block(&columns, 0, &problem, &CheckPolicy::default()).unwrap().features;
        for kind in [LossKind::Logistic, LossKind::SquaredHinge] {
            let (params, frame) = (OsPlusParams::new(4), Frame::new(&problem, true));
            let kept = KeptSet::new(Budget::unlimited());
            let mut curved = Curved::new(&params, 2, &frame, &problem, kind, kept).unwrap();
            let offer = |curved: &mut Curved, some| {
                block::offer_block(
                    curved,
                    &mut BlockProducts::default(),
                    &frame,
                    some,
                    &mut Vec::new(),
                )
            };
            offer(&mut curved, &features[..2]).unwrap();
            curved.state.models[0].w[0] = f64::NAN;
            let error = offer(&mut curved, &features[2..]).unwrap_err().to_string();
            assert!(error.contains("the weights are no finite numbers"), "{error}");
        }
    }
}
