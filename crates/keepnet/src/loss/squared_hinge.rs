//! Squared hinge loss of a label -1 or 1: `max(0, 1 - u y)^2 / 2`.

use super::Loss;

/// `max(0, 1 - u y)^2 / 2`.
pub struct SquaredHinge;

impl Loss for SquaredHinge {
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64) {
        let z = (1.0 - u * y).max(0.0);
        (0.5 * z * z, -z * y, if z > 0.0 { 1.0 } else { 0.0 })
    }
}
