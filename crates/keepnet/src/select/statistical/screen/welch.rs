//! Welch's t-test that two samples have the same mean, without equal variances.
//!
//! ```text
//! t = (m1 - m0) / sqrt(a1 + a0)    a = s^2 / n    df = (a1 + a0)^2 / (a1^2 / (n1 - 1) + a0^2 / (n0 - 1))
//! ```
//!
//! Where neither sample varies, the difference is known to rounding only and t is not infinite.

use super::{KNOWN, Sign};
use crate::tails::ln_student_two_sided;

/// Rows, mean and sum of squares about it.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    pub(super) n: u64,
    pub(super) mean: f64,
    pub(super) square: f64,
}

impl Sample {
    /// Of values with counts.
    pub(super) fn of(values: impl Iterator<Item = (f64, u64)> + Clone) -> Self {
        let n: u64 = values.clone().map(|(_, count)| count).sum();
        let first = values.clone().find(|(_, count)| *count > 0).map_or(0.0, |(value, _)| value);
        let sum: f64 = values.clone().map(|(value, count)| count as f64 * (value - first)).sum();
        let mean = first + sum / n as f64;
        let square = values.map(|(value, count)| count as f64 * (value - mean) * (value - mean));
        Self { n, mean, square: square.sum() }
    }
}

/// The test of two samples, each of two rows at least.
pub(super) fn test(one: Sample, zero: Sample) -> Sign {
    let part = |s: Sample| s.square / (s.n as f64 - 1.0) / s.n as f64;
    let (a, b) = (part(one), part(zero));
    let apart = one.mean - zero.mean;
    let spread = (a + b).max(KNOWN * apart * apart);
    if spread == 0.0 {
        return Sign { statistic: Some(0.0), log_p: 0.0 };
    }
    let t = apart / spread.sqrt();
    let each = a * a / (one.n as f64 - 1.0) + b * b / (zero.n as f64 - 1.0);
    let fewest = one.n.min(zero.n) as f64 - 1.0;
    let df = if each > 0.0 { (a + b) * (a + b) / each } else { fewest };
    Sign { statistic: Some(t), log_p: ln_student_two_sided(t, df) }
}
