//! Squared epsilon-insensitive loss (SVM regression): `max(0, |u - y| - eps)^2 / 2`.

use super::{EDGE_SHARE, Loss, LossInfo, slice_loops};
use crate::data::target::{Target, Task};
use crate::error::Result;
use crate::registry::setting::Bounds;

/// Half-widths that a tube may have.
pub(crate) const TUBE: Bounds = Bounds::at_least(0.0);

/// `max(0, |u - y| - eps)^2 / 2`.
pub struct SquaredEpsilon {
    epsilon: f64,
}

impl SquaredEpsilon {
    /// A tube of half-width `epsilon`, finite and not negative.
    pub fn new(epsilon: f64) -> Result<Self> {
        TUBE.check("epsilon", epsilon)?;
        Ok(Self { epsilon })
    }

    fn value_at(&self, u: f64, y: f64) -> f64 {
        let z = ((u - y).abs() - self.epsilon).max(0.0);
        0.5 * z * z
    }

    fn slope_at(&self, u: f64, y: f64) -> f64 {
        let r = u - y;
        (r.abs() - self.epsilon).max(0.0) * r.signum()
    }

    // A row within rounding of the edge counts as outside the tube: its last digit must not
    // decide whether it has curvature.
    fn curvature_at(&self, u: f64, y: f64) -> f64 {
        if (u - y).abs() >= self.epsilon * (1.0 - EDGE_SHARE) { 1.0 } else { 0.0 }
    }
}

pub(super) const INFO: LossInfo =
    LossInfo { name: "squared-epsilon", task: Some(Task::Regression), of_difference: true, make };

/// The tube is a tenth of the target's standard deviation unless it is given.
fn make(target: &Target, epsilon: Option<f64>) -> Result<Box<dyn Loss>> {
    Ok(Box::new(SquaredEpsilon::new(match (epsilon, target) {
        (Some(epsilon), _) => epsilon,
        (None, Target::Numbers(y)) => 0.1 * deviation(y),
        (None, Target::Classes { .. }) => 0.1,
    })?))
}

fn deviation(y: &[f64]) -> f64 {
    let n = y.len().max(1) as f64;
    let mean = y.iter().sum::<f64>() / n;
    (y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / n).sqrt()
}

impl Loss for SquaredEpsilon {
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64) {
        (self.value_at(u, y), self.slope_at(u, y), self.curvature_at(u, y))
    }

    slice_loops!(Self::value_at, Self::slope_at, Self::curvature_at);
}
