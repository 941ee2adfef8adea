//! Tests between methods: paired t, win/tie/loss, Friedman, Nemenyi.
//!
//! ```text
//! t      = mean(d) / (sd(d) / sqrt n),  d = a - b,  n - 1 degrees of freedom, two-sided
//! chi2   = 12 / (N k (k+1)) (sum_j R_j^2 - N^2 k (k+1)^2 / 4) / (1 - sum (t^3 - t) / (N k (k^2-1)))
//! F      = (N - 1) chi2 / (N (k - 1) - chi2),  k - 1 and (k - 1)(N - 1) degrees of freedom
//! CD     = q_alpha sqrt(k (k + 1) / (6 N)),  q_alpha = studentized range(k, infinity) / sqrt 2
//! ```
//!
//! with `k` methods on `N` data sets, `R_j` the rank sums and `t` the sizes of groups of ties.
//! Source: Demsar, JMLR 7 (2006), sections 3.1 and 3.2. Two methods differ by Nemenyi's test
//! where their average ranks differ by at least `CD`.

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor, Normal, StudentsT};

use crate::rank::average_ranks;

/// A paired t-test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedT {
    /// Mean of the differences.
    pub mean: f64,
    /// The statistic; infinite where every difference is the same and not zero.
    pub t: f64,
    /// Degrees of freedom.
    pub df: f64,
    /// Two-sided p-value.
    pub p: f64,
}

/// Compares paired numbers; `None` with fewer than two pairs.
#[must_use]
pub fn paired_t(a: &[f64], b: &[f64]) -> Option<PairedT> {
    let n = a.len().min(b.len());
    if n < 2 {
        return None;
    }
    let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let mean = d.iter().sum::<f64>() / n as f64;
    let variance = d.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / (n - 1) as f64;
    let df = (n - 1) as f64;
    if d.iter().all(|x| *x == d[0]) {
        let (t, p) = if d[0] == 0.0 { (0.0, 1.0) } else { (d[0] * f64::INFINITY, 0.0) };
        return Some(PairedT { mean, t, df, p });
    }
    let t = mean / (variance / n as f64).sqrt();
    let p = 2.0 * StudentsT::new(0.0, 1.0, df).ok()?.sf(t.abs());
    Some(PairedT { mean, t, df, p })
}

/// On how many data sets one method is better, equal and worse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WinTieLoss {
    /// Better, significantly.
    pub win: usize,
    /// No significant difference.
    pub tie: usize,
    /// Worse, significantly.
    pub loss: usize,
}

impl WinTieLoss {
    /// Adds one data set: paired numbers of both methods, of which small ones are good.
    ///
    /// With one pair alone there is no test, and a difference counts as a tie.
    pub fn add(&mut self, ours: &[f64], theirs: &[f64], alpha: f64) {
        let significant = paired_t(ours, theirs).filter(|test| test.p < alpha);
        match significant.map(|test| test.mean) {
            Some(mean) if mean < 0.0 => self.win += 1,
            Some(mean) if mean > 0.0 => self.loss += 1,
            _ => self.tie += 1,
        }
    }
}

impl std::fmt::Display for WinTieLoss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.win, self.tie, self.loss)
    }
}

/// Friedman's test over several data sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Friedman {
    /// Average rank of each method; 1 is best.
    pub ranks: Vec<f64>,
    /// Data sets.
    pub n: usize,
    /// Friedman's statistic, corrected for ties.
    pub chi2: f64,
    /// Its p-value by the chi-squared distribution.
    pub p: f64,
    /// Iman and Davenport's statistic, less conservative.
    pub f: f64,
    /// Its p-value by the F distribution.
    pub f_p: f64,
}

/// Ranks methods on each data set: `table` has a line a data set with a number a method, of
/// which small ones are good. `None` with fewer than two of either, or where all is tied.
#[must_use]
pub fn friedman(table: &[Vec<f64>]) -> Option<Friedman> {
    let (n, k) = (table.len(), table.first()?.len());
    if n < 2 || k < 2 || table.iter().any(|line| line.len() != k) {
        return None;
    }
    let mut sums = vec![0.0; k];
    let mut ties = 0.0;
    for line in table {
        sums.iter_mut().zip(average_ranks(line)).for_each(|(s, r)| *s += r);
        let mut sorted = line.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let groups = sorted.chunk_by(|a, b| a == b).map(|group| group.len() as f64);
        ties += groups.map(|t| t * t * t - t).sum::<f64>();
    }
    let (rows, cols) = (n as f64, k as f64);
    let correction = 1.0 - ties / (rows * cols * (cols * cols - 1.0));
    if correction <= 0.0 {
        return None;
    }
    let squares: f64 = sums.iter().map(|r| r * r).sum();
    let plain = 12.0 / (rows * cols * (cols + 1.0)) * squares - 3.0 * rows * (cols + 1.0);
    let chi2 = (plain / correction).max(0.0);
    let p = ChiSquared::new(cols - 1.0).ok()?.sf(chi2);
    let room = rows * (cols - 1.0) - chi2;
    let f = if room > 1e-9 { (rows - 1.0) * chi2 / room } else { f64::INFINITY };
    let f_p = match f.is_finite() {
        true => FisherSnedecor::new(cols - 1.0, (cols - 1.0) * (rows - 1.0)).ok()?.sf(f),
        false => 0.0,
    };
    let ranks = sums.iter().map(|r| r / rows).collect();
    Some(Friedman { ranks, n, chi2, p, f, f_p })
}

/// The probability that the range of `k` standard normal variates is at most `q`.
///
/// ```text
/// P(q) = k int phi(z) (Phi(z) - Phi(z - q))^(k-1) dz
/// ```
fn range_probability(q: f64, k: usize) -> f64 {
    let normal = Normal::standard();
    let density = |z: f64| (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let value = |z: f64| density(z) * (normal.cdf(z) - normal.cdf(z - q)).powi(k as i32 - 1);
    // Simpson's rule: the integrand is smooth and gone beyond nine deviations.
    let (low, high, steps) = (-9.0, 9.0 + q, 2000);
    let h = (high - low) / f64::from(steps);
    let inner: f64 = (1..steps)
        .map(|i| value(low + h * f64::from(i)) * if i % 2 == 1 { 4.0 } else { 2.0 })
        .sum();
    k as f64 * h / 3.0 * (value(low) + inner + value(high))
}

/// Nemenyi's `q` for `k` methods at level `alpha`: the studentized range over sqrt 2.
#[must_use]
pub fn nemenyi_q(k: usize, alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, 20.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if range_probability(middle, k) < 1.0 - alpha {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high) / std::f64::consts::SQRT_2
}

/// The difference of average ranks from which `k` methods on `n` data sets differ.
#[must_use]
pub fn critical_difference(k: usize, n: usize, alpha: f64) -> f64 {
    let k_ = k as f64;
    nemenyi_q(k, alpha) * (k_ * (k_ + 1.0) / (6.0 * n as f64)).sqrt()
}

/// Mean, and the standard deviation divided by `n - 1`; the deviation of one number is 0.
#[must_use]
pub fn mean_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, if values.len() > 1 { (square / (n - 1.0)).sqrt() } else { 0.0 })
}

#[cfg(test)]
mod tests;
