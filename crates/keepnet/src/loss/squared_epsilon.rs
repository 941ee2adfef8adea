//! Squared epsilon-insensitive loss (SVM regression): `max(0, |u - y| - eps)^2 / 2`.

use super::{EDGE, Loss, over_slices};
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

    fn one(&self, u: f64, y: f64) -> f64 {
        let z = ((u - y).abs() - self.epsilon).max(0.0);
        0.5 * z * z
    }

    fn slope(&self, u: f64, y: f64) -> f64 {
        let r = u - y;
        (r.abs() - self.epsilon).max(0.0) * r.signum()
    }

    // A row at the edge of the tube but for rounding counts as outside it, where the curvature is.
    fn curve(&self, u: f64, y: f64) -> f64 {
        if (u - y).abs() >= self.epsilon * (1.0 - EDGE) { 1.0 } else { 0.0 }
    }
}

impl Loss for SquaredEpsilon {
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64) {
        (self.one(u, y), self.slope(u, y), self.curve(u, y))
    }

    over_slices!(Self::one, Self::slope, Self::curve);
}
