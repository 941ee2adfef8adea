//! Squared loss: `(u - y)^2 / 2`.

use super::{Loss, over_slices};

/// `(u - y)^2 / 2`.
pub struct Squared;

impl Squared {
    fn one(&self, u: f64, y: f64) -> f64 {
        0.5 * (u - y) * (u - y)
    }

    fn slope(&self, u: f64, y: f64) -> f64 {
        u - y
    }

    fn curve(&self, _u: f64, _y: f64) -> f64 {
        1.0
    }
}

impl Loss for Squared {
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64) {
        (self.one(u, y), self.slope(u, y), 1.0)
    }

    over_slices!(Self::one, Self::slope, Self::curve);
}
