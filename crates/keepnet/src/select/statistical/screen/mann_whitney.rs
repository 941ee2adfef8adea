//! The Mann-Whitney test that two classes have the same distribution.
//!
//! ```text
//! U1 = sum over rows of class 1 of (rows of class 0 below + half of those equal)
//! U = max(U1, n1 n0 - U1)     s^2 = n1 n0 / 12 ((n + 1) - sum (t^3 - t) / (n (n - 1)))
//! p = 2 Phi(-(U - n1 n0 / 2 - 1/2) / s)
//! p = 2 P(U' >= U)            exact, where a class has at most 8 rows and no two values are equal
//! ```
//!
//! The counts of the exact law are the coefficients of the Gaussian binomial of n over n1, made
//! once a run, when they are first needed.

use std::sync::OnceLock;

use super::Sign;
use super::rows::Ties;
use crate::tails::ln_normal_two_sided;

/// A class of at most so many rows has the exact law.
pub(super) const SMALL: u64 = 8;

/// The law of U for two classes, made when it is needed.
#[derive(Default)]
pub(super) struct Law(OnceLock<Vec<f64>>);

impl Law {
    /// `P(U' <= u)`, for `u` up to half of the largest.
    fn below(&self, u: u64, (n1, n0): (u64, u64)) -> f64 {
        self.0.get_or_init(|| law(n1, n0))[u as usize]
    }
}

/// The test of counts `(class 1, class 0)` at ascending values.
pub(super) fn test(
    values: impl Iterator<Item = (u64, u64)> + Clone,
    (n1, n0): (u64, u64),
    exact: &Law,
) -> Sign {
    let (mut below, mut twice, mut most) = (0, 0, 0);
    for (one, zero) in values.clone() {
        twice += one * (2 * below + zero);
        below += zero;
        most = most.max(one + zero);
    }
    let all = n1 * n0;
    let statistic = Some(0.5 * twice as f64);
    let twice = twice.max(2 * all - twice);
    if n1.min(n0) <= SMALL && most == 1 {
        let p = 2.0 * exact.below(all - twice / 2, (n1, n0));
        return Sign { statistic, log_p: p.ln().min(0.0) };
    }
    let n = (n1 + n0) as f64;
    let ties = Ties::of(values.map(|(one, zero)| one + zero)).ranks;
    let variance = all as f64 / 12.0 * ((n + 1.0) - ties / (n * (n - 1.0)));
    let z = (0.5 * twice as f64 - 0.5 * all as f64 - 0.5) / variance.sqrt();
    let log_p = if z <= 0.0 { 0.0 } else { ln_normal_two_sided(z) };
    Sign { statistic, log_p }
}

/// The lower half of the distribution function.
fn law(n1: u64, n0: u64) -> Vec<f64> {
    let (small, large) = (n1.min(n0) as usize, n1.max(n0) as usize);
    let mut counts = vec![0.0; small * large / 2 + 1];
    counts[0] = 1.0;
    let mut all = 1.0;
    for k in 1..=small {
        // Times 1 - q^(large + k), over 1 - q^k.
        for at in (large + k..counts.len()).rev() {
            counts[at] -= counts[at - large - k];
        }
        for at in k..counts.len() {
            counts[at] += counts[at - k];
        }
        all *= (large + k) as f64 / k as f64;
    }
    let mut sum = 0.0;
    for count in &mut counts {
        sum += *count;
        *count = sum / all;
    }
    counts
}

/// Bytes of the law for classes of these sizes, where it may be needed.
pub(super) fn law_bytes(n1: u64, n0: u64) -> u64 {
    if n1.min(n0) <= SMALL { 8 * (n1 * n0 / 2 + 1) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counts of every order of two small samples, one by one.
    #[test]
    fn the_exact_law_counts_orders() {
        for (n1, n0) in [(1u64, 1u64), (2, 3), (4, 4), (3, 8), (8, 5)] {
            let u = |order: u32| {
                let (mut zero, mut u) = (0, 0);
                for at in 0..n1 + n0 {
                    if order >> at & 1 == 1 { u += zero } else { zero += 1 }
                }
                u
            };
            let orders = (0..1u32 << (n1 + n0)).filter(|o| u64::from(o.count_ones()) == n1);
            let all: Vec<u64> = orders.map(u).collect();
            for (at, got) in law(n1, n0).into_iter().enumerate() {
                let want =
                    all.iter().filter(|u| **u <= at as u64).count() as f64 / all.len() as f64;
                assert!((got / want - 1.0).abs() < 1e-12, "{n1} {n0} {at}: {got} {want}");
            }
        }
    }
}
