//! Logistic loss of a label -1 or 1: `log(1 + exp(-u y))`.

use super::Loss;

/// `log(1 + exp(-u y))`.
pub struct Logistic;

impl Loss for Logistic {
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64) {
        let m = u * y;
        // Of exp(m) and exp(-m) only the one that cannot overflow is taken.
        let e = (-m.abs()).exp();
        let small = e / (1.0 + e);
        let miss = if m > 0.0 { small } else { 1.0 - small };
        ((-m).max(0.0) + e.ln_1p(), -y * miss, small * (1.0 - small))
    }

    fn steepest(&self) -> f64 {
        0.25
    }
}
