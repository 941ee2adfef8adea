//! Squared loss: `(u - y)^2 / 2`.

use super::Loss;

/// `(u - y)^2 / 2`.
pub struct Squared;

impl Loss for Squared {
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64) {
        let r = u - y;
        (0.5 * r * r, r, 1.0)
    }
}
