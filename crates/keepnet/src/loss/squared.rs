//! Squared loss: `(u - y)^2 / 2`.

use super::{Loss, LossInfo, slice_loops};

/// `(u - y)^2 / 2`.
pub struct Squared;

impl Squared {
    fn value_at(&self, u: f64, y: f64) -> f64 {
        0.5 * (u - y) * (u - y)
    }

    fn slope_at(&self, u: f64, y: f64) -> f64 {
        u - y
    }

    fn curvature_at(&self, _u: f64, _y: f64) -> f64 {
        1.0
    }
}

pub(super) const INFO: LossInfo = LossInfo {
    name: "squared",
    task: None,
    of_difference: true,
    make: |_, _| Ok(Box::new(Squared)),
};

impl Loss for Squared {
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64) {
        (self.value_at(u, y), self.slope_at(u, y), 1.0)
    }

    slice_loops!(Self::value_at, Self::slope_at, Self::curvature_at);
}
