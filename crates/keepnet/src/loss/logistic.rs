//! Logistic loss of a label -1 or 1: `log(1 + exp(-u y))`.

use super::{Loss, over_slices};

/// `log(1 + exp(-u y))`.
pub struct Logistic;

impl Logistic {
    fn one(&self, u: f64, y: f64) -> f64 {
        let m = u * y;
        (-m).max(0.0) + (-m.abs()).exp().ln_1p()
    }

    /// The probability of the less likely class. Of exp(m) and exp(-m) only the one that cannot
    /// overflow is taken.
    fn small(m: f64) -> f64 {
        let e = (-m.abs()).exp();
        e / (1.0 + e)
    }

    fn slope(&self, u: f64, y: f64) -> f64 {
        let m = u * y;
        let small = Self::small(m);
        -y * if m > 0.0 { small } else { 1.0 - small }
    }

    fn curve(&self, u: f64, y: f64) -> f64 {
        let small = Self::small(u * y);
        small * (1.0 - small)
    }
}

impl Loss for Logistic {
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64) {
        (self.one(u, y), self.slope(u, y), self.curve(u, y))
    }

    fn steepest(&self) -> f64 {
        0.25
    }

    over_slices!(Self::one, Self::slope, Self::curve);
}
