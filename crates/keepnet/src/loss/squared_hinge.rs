//! Squared hinge loss of a label -1 or 1: `max(0, 1 - u y)^2 / 2`.

use super::{EDGE_SHARE, Loss, LossInfo, slice_loops};
use crate::data::target::Task;

/// `max(0, 1 - u y)^2 / 2`.
pub struct SquaredHinge;

impl SquaredHinge {
    fn value_at(&self, u: f64, y: f64) -> f64 {
        let z = (1.0 - u * y).max(0.0);
        0.5 * z * z
    }

    fn slope_at(&self, u: f64, y: f64) -> f64 {
        -(1.0 - u * y).max(0.0) * y
    }

    // A row within rounding of the edge counts as inside the margin: its last digit must not
    // decide whether it has curvature.
    fn curvature_at(&self, u: f64, y: f64) -> f64 {
        if 1.0 - u * y > -EDGE_SHARE { 1.0 } else { 0.0 }
    }
}

pub(super) const INFO: LossInfo = LossInfo {
    name: "squared-hinge",
    task: Some(Task::Classification),
    of_difference: false,
    make: |_, _| Ok(Box::new(SquaredHinge)),
};

impl Loss for SquaredHinge {
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64) {
        (self.value_at(u, y), self.slope_at(u, y), self.curvature_at(u, y))
    }

    slice_loops!(Self::value_at, Self::slope_at, Self::curvature_at);
}
