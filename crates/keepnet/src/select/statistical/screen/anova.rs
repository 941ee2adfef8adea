//! One-way analysis of variance: that all classes have the same mean.
//!
//! ```text
//! F = (between / (C - 1)) / (within / (n - C))
//! ```
//!
//! The share of the variance within classes is known to rounding only, and not taken as less than
//! 2.2e-16.

use super::welch::Sample;
use super::{KNOWN, Sign};
use crate::tails::ln_f_tail;

/// The test of a sample a class.
pub(super) fn test(samples: &[Sample]) -> Sign {
    let n: u64 = samples.iter().map(|s| s.n).sum();
    let first = samples[0].mean;
    let mean =
        first + samples.iter().map(|s| s.n as f64 * (s.mean - first)).sum::<f64>() / n as f64;
    let between: f64 = samples.iter().map(|s| s.n as f64 * (s.mean - mean) * (s.mean - mean)).sum();
    let within = samples.iter().map(|s| s.square).sum::<f64>().max(KNOWN * between);
    let (up, down) = (samples.len() as f64 - 1.0, (n - samples.len() as u64) as f64);
    let f = if between == 0.0 { 0.0 } else { (between / up) / (within / down) };
    Sign { statistic: Some(f), log_p: ln_f_tail(f, up, down) }
}
