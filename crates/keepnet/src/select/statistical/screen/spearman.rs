//! Spearman's rank correlation, tested as Pearson's on mid-ranks.
//!
//! ```text
//! rho = sum (R_x - mean) (R_y - mean) / sqrt(sum (R_x - mean)^2 sum (R_y - mean)^2)
//! sum (R - mean)^2 = (n^3 - n - sum (t^3 - t)) / 12
//! ```
//!
//! Twice a rank less its mean is a whole number, so the sum of products is exact.

use super::Sign;
use super::correlation;
use super::profile::Profile;
use super::rows::{Ranked, Rows, Ties};

/// The test of a column against numbers.
pub(super) fn test(x: &Profile, rows: &Rows, y: &Ranked) -> Sign {
    let n = rows.n as i64;
    let (mut below, mut products, mut listed) = (0, 0i128, 0i128);
    let mut rest = 0;
    for at in 0..x.len() {
        let count = x.totals[at] as i64;
        // Twice the mid-rank less twice the mean rank.
        let own = 2 * below + count - n;
        below += count;
        if Some(at) == x.rest {
            rest = own;
            continue;
        }
        let sum: i128 = x
            .members(at)
            .iter()
            .map(|row| {
                let rank = y.rank[*row as usize] as usize;
                let twice = (y.below[rank] + y.below[rank + 1]) as i64 - n;
                i128::from(rows.count(*row)) * i128::from(twice)
            })
            .sum();
        products += i128::from(own) * sum;
        listed += sum;
    }
    products -= i128::from(rest) * listed;
    let n = n as f64;
    let square = |ties: &Ties| (n * n * n - n - ties.ranks) / 12.0;
    let spread = (square(&Ties::of(x.sizes())) * square(&y.ties)).sqrt();
    correlation::pearson((0.25 * products as f64 / spread).clamp(-1.0, 1.0), rows.n)
}
