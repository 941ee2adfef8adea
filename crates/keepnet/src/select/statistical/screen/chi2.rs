//! Pearson's chi-squared test and the likelihood ratio test of a table of counts.
//!
//! ```text
//! chi2 = sum (o - e)^2 / e      g2 = 2 sum o ln(o / e)      e = row total column total / n
//! df = (rows - 1) (columns - 1),  rows and columns without a count left out
//! ```

use super::Sign;
use crate::tails::ln_chi_squared_tail;

/// Expected counts below this make the law a rough one.
const THIN: f64 = 5.0;

/// The test of a table with `columns` columns, row by row, and whether more than a fifth of its
/// expected counts are small.
pub(super) fn test(cells: &[u64], columns: usize, likelihood: bool) -> (Sign, bool) {
    let n: u64 = cells.iter().sum();
    let row_totals: Vec<u64> = cells.chunks(columns).map(|row| row.iter().sum()).collect();
    let column_totals: Vec<u64> =
        (0..columns).map(|column| cells.iter().skip(column).step_by(columns).sum()).collect();
    let (mut statistic, mut thin, mut filled) = (0.0, 0, 0);
    for (row, row_total) in cells.chunks(columns).zip(&row_totals) {
        for (observed, column_total) in row.iter().zip(&column_totals) {
            let expected = *row_total as f64 * *column_total as f64 / n as f64;
            if expected == 0.0 {
                continue;
            }
            filled += 1;
            thin += usize::from(expected < THIN);
            let observed = *observed as f64;
            statistic += match likelihood {
                true if observed == 0.0 => 0.0,
                true => 2.0 * observed * (observed / expected).ln(),
                false => (observed - expected) * (observed - expected) / expected,
            };
        }
    }
    let there = |totals: &[u64]| totals.iter().filter(|total| **total > 0).count() as f64;
    let df = (there(&row_totals) - 1.0) * (there(&column_totals) - 1.0);
    let statistic = statistic.max(0.0);
    let log_p = ln_chi_squared_tail(statistic, df);
    (Sign { statistic: Some(statistic), log_p }, 5 * thin > filled)
}
