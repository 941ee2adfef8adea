//! Pearson's correlation, by Student's t and by Fisher's z.
//!
//! ```text
//! pearson    t = r sqrt((n - 2) / (1 - r^2)),  n - 2 degrees of freedom
//! fisher-z   p = 2 Phi(-|atanh r| sqrt(n - 3))
//! ```
//!
//! Two classes are 0 and 1. A correlation is known to rounding only, so `1 - r^2` is not taken as
//! less than 2.2e-16, and a perfect one has a finite logarithm of p.

use super::profile::Profile;
use super::rows::{Ranked, Rows};
use super::{KNOWN, Sign};
use crate::tails::{ln_normal_two_sided, ln_student_two_sided};

/// Pearson's test of a correlation over `n` rows.
pub(super) fn pearson(r: f64, n: u64) -> Sign {
    let df = n as f64 - 2.0;
    let open = ((1.0 - r.abs()) * (1.0 + r.abs())).max(KNOWN);
    Sign { statistic: Some(r), log_p: ln_student_two_sided(r * (df / open).sqrt(), df) }
}

/// Fisher's test of a correlation over `n` rows.
pub(super) fn fisher_z(r: f64, n: u64) -> Sign {
    let z = r.abs().min(1.0 - 0.5 * KNOWN).atanh() * (n as f64 - 3.0).sqrt();
    Sign { statistic: Some(r), log_p: ln_normal_two_sided(z) }
}

/// The correlation with numbers.
pub(super) fn with_numbers(x: &Profile, rows: &Rows, y: &Ranked) -> f64 {
    let (mean, square) = x.moments();
    let mut product = 0.0;
    for at in 0..x.len() {
        let sum: f64 = x
            .members(at)
            .iter()
            .map(|row| rows.count(*row) as f64 * y.centred[*row as usize])
            .sum();
        // Zeros that are not listed have the rest of a sum that is zero.
        product += match x.rest {
            Some(_) => x.values[at] * sum,
            None => (x.values[at] - mean) * sum,
        };
    }
    (product / (square * y.square).sqrt()).clamp(-1.0, 1.0)
}

/// The correlation with membership of a class, from the counts `(class, others)` at each value.
pub(super) fn with_class(
    x: &Profile,
    counts: impl Iterator<Item = (u64, u64)>,
    (n1, n0): (u64, u64),
) -> f64 {
    let (mean, square) = x.moments();
    let share = n1 as f64 / (n1 + n0) as f64;
    let product: f64 = x
        .values
        .iter()
        .zip(counts)
        .map(|(value, (one, zero))| (value - mean) * (one as f64 - share * (one + zero) as f64))
        .sum();
    let spread = share * n0 as f64;
    (product / (square * spread).sqrt()).clamp(-1.0, 1.0)
}
