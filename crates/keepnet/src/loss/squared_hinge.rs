//! Squared hinge loss of a label -1 or 1: `max(0, 1 - u y)^2 / 2`.

use super::{EDGE, Loss, over_slices};

/// `max(0, 1 - u y)^2 / 2`.
pub struct SquaredHinge;

impl SquaredHinge {
    fn one(&self, u: f64, y: f64) -> f64 {
        let z = (1.0 - u * y).max(0.0);
        0.5 * z * z
    }

    fn slope(&self, u: f64, y: f64) -> f64 {
        -(1.0 - u * y).max(0.0) * y
    }

    // A row at the edge of the margin but for rounding counts as inside it: its last digit must
    // not decide whether it has curvature.
    fn curve(&self, u: f64, y: f64) -> f64 {
        if 1.0 - u * y > -EDGE { 1.0 } else { 0.0 }
    }
}

impl Loss for SquaredHinge {
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64) {
        (self.one(u, y), self.slope(u, y), self.curve(u, y))
    }

    over_slices!(Self::one, Self::slope, Self::curve);
}
