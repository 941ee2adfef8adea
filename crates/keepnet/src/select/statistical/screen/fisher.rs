//! Fisher's exact test of a table of two by two.
//!
//! ```text
//! p = sum of P(k) over k with P(k) <= P(observed)      P hypergeometric, margins fixed
//! ```
//!
//! Probabilities whose logarithms are within 1e-7 are equal, as rounding must not decide a tie.
//! Both tails are sums of ratios from their largest term outwards, which stop where terms no longer
//! count: O(log n) and a few terms.

use super::Sign;
use crate::tails::stirling_error;

const TIE: f64 = 1e-7;

/// The test of `[[a, b], [c, d]]`.
pub(super) fn test([[a, b], [c, d]]: [[u64; 2]; 2]) -> Sign {
    let (row, column, n) = (a + b, a + c, a + b + c + d);
    let law = Hypergeometric { row, column, n };
    let low = column.saturating_sub(c + d);
    let high = row.min(column);
    let mode = ((row + 1) as u128 * (column + 1) as u128 / (n + 2) as u128) as u64;
    let mode = mode.clamp(low, high);
    if a == mode {
        return Sign { statistic: None, log_p: 0.0 };
    }
    let seen = law.ln(a);
    let rare = |k: u64| law.ln(k) <= seen + TIE;
    // The near tail from what was seen, the far one from the first as rare on the other side.
    let (near, far) = if a < mode {
        let first = first(mode, high, rare);
        (law.below(a), first.map(|k| law.ln(k) + law.above(k).ln()))
    } else {
        let first = first(0, mode - low, |down| rare(mode - down)).map(|down| mode - down);
        (law.above(a), first.map(|k| law.ln(k) + law.below(k).ln()))
    };
    let near = seen + near.ln();
    let log_p = match far {
        Some(far) => near.max(far) + (-(near - far).abs()).exp().ln_1p(),
        None => near,
    };
    Sign { statistic: None, log_p: log_p.min(0.0) }
}

/// The first of `low..=high` that is so, where all after it are.
fn first(mut low: u64, high: u64, so: impl Fn(u64) -> bool) -> Option<u64> {
    if low > high || !so(high) {
        return None;
    }
    let mut end = high;
    while low < end {
        let middle = low + (end - low) / 2;
        if so(middle) { end = middle } else { low = middle + 1 }
    }
    Some(low)
}

/// How many of `column` draws from `n` are among the first `row`.
struct Hypergeometric {
    row: u64,
    column: u64,
    n: u64,
}

impl Hypergeometric {
    fn ln(&self, k: u64) -> f64 {
        ln_choose(self.row, k) + ln_choose(self.n - self.row, self.column - k)
            - ln_choose(self.n, self.column)
    }

    /// `P(k + 1) / P(k)`.
    fn ratio(&self, k: u64) -> f64 {
        let up = (self.row - k) as f64 * (self.column - k) as f64;
        up / ((k + 1) as f64 * (self.n + k + 1 - self.row - self.column) as f64)
    }

    /// `P(K >= k) / P(k)` for a `k` above the mode.
    fn above(&self, k: u64) -> f64 {
        let high = self.row.min(self.column);
        total((k..high).map(|k| self.ratio(k)))
    }

    /// `P(K <= k) / P(k)` for a `k` below the mode.
    fn below(&self, k: u64) -> f64 {
        let low = self.column.saturating_sub(self.n - self.row);
        total((low..k).rev().map(|k| 1.0 / self.ratio(k)))
    }
}

/// `1 + r_1 + r_1 r_2 + ...` for falling ratios.
fn total(ratios: impl Iterator<Item = f64>) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for ratio in ratios {
        term *= ratio;
        sum += term;
        if term < 1e-18 * sum {
            break;
        }
    }
    sum
}

/// The logarithm of the binomial coefficient, by Stirling's formula with what it leaves.
pub(super) fn ln_choose(n: u64, k: u64) -> f64 {
    if k == 0 || k >= n {
        return 0.0;
    }
    let (n, k) = (n as f64, k as f64);
    let rest = n - k;
    let spread = 0.5 * (n / (std::f64::consts::TAU * k * rest)).ln();
    let errors = stirling_error(n) - stirling_error(k) - stirling_error(rest);
    -k * (k / n).ln() - rest * (rest / n).ln() + spread + errors
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every table with the margins, by products of fractions.
    fn plain([[a, b], [c, d]]: [[u64; 2]; 2]) -> f64 {
        let (row, column, n) = (a + b, a + c, a + b + c + d);
        let choose =
            |n: u64, k: u64| (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product::<f64>();
        let p = |k: u64| choose(row, k) * choose(n - row, column - k) / choose(n, column);
        let all = column.saturating_sub(n - row)..=row.min(column);
        all.map(p).filter(|other| *other <= p(a) * (1.0 + 1e-7)).sum::<f64>().min(1.0)
    }

    #[test]
    fn every_small_table_has_the_sum_of_the_definition() {
        for code in 0..8u64.pow(4) {
            let [a, b, c, d] = [code % 8, code / 8 % 8, code / 64 % 8, code / 512];
            if a + b == 0 || c + d == 0 || a + c == 0 || b + d == 0 {
                continue;
            }
            let (got, want) = (test([[a, b], [c, d]]).log_p.exp(), plain([[a, b], [c, d]]));
            assert!((got / want - 1.0).abs() < 1e-12, "{a} {b} {c} {d}: {got} {want}");
        }
    }
}
