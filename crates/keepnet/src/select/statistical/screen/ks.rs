//! The two-sample Kolmogorov-Smirnov test.
//!
//! ```text
//! D = max |F1 - F0|        p = share of the lattice paths from (0, 0) to (n1, n0) that reach
//!                              |i / n1 - j / n0| >= D
//! ```
//!
//! exact where neither sample has more than 10,000 rows. `q(i, j)`, the share of the paths to
//! `(i, j)` that have reached the bound, is 1 beyond it and otherwise
//! `(i q(i-1, j) + j q(i, j-1)) / (i + j)`: a sum of positive terms, so a small p keeps its digits;
//! where it leaves the range of `f64` the same recursion runs on logarithms. Cost: the cells within
//! the bound, at most `n1 n0`. Larger samples have the one-sample law at `n1 n0 / n` rows
//! (`kolmogorov.rs`).

use super::Sign;
use super::fisher::ln_choose;
use super::kolmogorov;

/// Most rows of a sample for which p is exact.
const EXACT: u64 = 10_000;
/// Below this the recursion runs on logarithms.
const TINY: f64 = 1e-250;

/// The test of counts `(sample 1, sample 0)` at ascending values.
pub(super) fn test(values: impl Iterator<Item = (u64, u64)>, (n1, n0): (u64, u64)) -> Sign {
    let (mut one, mut zero, mut most) = (0, 0, 0);
    for (a, b) in values {
        (one, zero) = (one + a, zero + b);
        most = most.max((one * n0).abs_diff(zero * n1));
    }
    of_distance(most, (n1, n0))
}

/// The test where the largest `|n0 F1 n1 - n1 F0 n0|` is known.
pub(super) fn of_distance(most: u64, (n1, n0): (u64, u64)) -> Sign {
    let d = most as f64 / (n1 as f64 * n0 as f64);
    let (m, n) = (n1.max(n0), n1.min(n0));
    let log_p = if m <= EXACT {
        exact(m, n, most)
    } else {
        let rows = (m as f64 * n as f64 / (m + n) as f64).round_ties_even();
        // No bound is rarer than the two paths along the edges.
        kolmogorov::ln_tail(rows, d).max(std::f64::consts::LN_2 - ln_choose(m + n, n))
    };
    Sign { statistic: Some(d), log_p: log_p.min(0.0) }
}

/// The logarithm of the exact p; `most` is D in units of `1 / (m n)`.
fn exact(m: u64, n: u64, most: u64) -> f64 {
    let divisor = gcd(m, n);
    let (h, step_i, step_j) = ((most / divisor) as i64, (n / divisor) as i64, (m / divisor) as i64);
    if h == 0 {
        return 0.0;
    }
    let p =
        paths(m, n, (h, step_i, step_j), 0.0, 1.0, |a, b, share| a.mul_add(1.0 - share, b * share));
    if p > TINY {
        return p.ln();
    }
    let add = |a: f64, b: f64, share: f64| {
        let (a, b) = (a + (1.0 - share).ln(), b + share.ln());
        let high = a.max(b);
        if high == f64::NEG_INFINITY { high } else { high + (a.min(b) - high).exp().ln_1p() }
    };
    paths(m, n, (h, step_i, step_j), f64::NEG_INFINITY, 0.0, add)
}

/// `q(m, n)` where a path that has not reached the bound has `never` and one that has `reached`;
/// `mix(q(i-1, j), q(i, j-1), j / (i + j))`.
fn paths(
    m: u64,
    n: u64,
    (h, step_i, step_j): (i64, i64, i64),
    never: f64,
    reached: f64,
    mix: impl Fn(f64, f64, f64) -> f64,
) -> f64 {
    let one_over: Vec<f64> = (0..=m + n).map(|sum| 1.0 / sum as f64).collect();
    let mut row: Vec<f64> =
        (0..=n as i64).map(|j| if j * step_j >= h { reached } else { never }).collect();
    for i in 1..=m as i64 {
        // The cells with |i step_i - j step_j| < h.
        let low = (i * step_i - h).div_euclid(step_j) + 1;
        let high = (i * step_i + h + step_j - 1).div_euclid(step_j).min(n as i64 + 1);
        let mut last = reached;
        if low > 0 {
            if low > n as i64 {
                return reached;
            }
            row[low as usize - 1] = reached;
        }
        for j in low.max(0)..high {
            let cell = &mut row[j as usize];
            // From the left edge there is one way only.
            if j > 0 {
                *cell = mix(*cell, last, j as f64 * one_over[(i + j) as usize]);
            }
            last = *cell;
        }
    }
    row[n as usize]
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every order of two small samples, one by one.
    #[test]
    fn p_is_the_share_of_the_orders() {
        for (m, n) in [(3u64, 3u64), (5, 3), (6, 4), (7, 2), (4, 8)] {
            let distance = |order: u32| {
                let (mut one, mut zero, mut most) = (0, 0, 0);
                for at in 0..m + n {
                    if order >> at & 1 == 1 {
                        one += 1
                    } else {
                        zero += 1
                    }
                    most = most.max((one * n).abs_diff(zero * m));
                }
                most
            };
            let orders = (0..1u32 << (m + n)).filter(|order| u64::from(order.count_ones()) == m);
            let all: Vec<u64> = orders.map(distance).collect();
            for most in &all {
                let want = all.iter().filter(|other| *other >= most).count() as f64;
                let got = of_distance(*most, (m, n)).log_p.exp();
                assert!((got * all.len() as f64 / want - 1.0).abs() < 1e-12, "{m} {n} {most}");
            }
        }
    }

    /// Two paths of all, where the samples are apart: far below the range of f64.
    #[test]
    fn a_perfect_split_has_its_logarithm() {
        let want = std::f64::consts::LN_2 - ln_choose(3500, 1500);
        let got = of_distance(1500 * 2000, (1500, 2000)).log_p;
        assert!(want < -2000.0 && (got - want).abs() < 1e-9 * want.abs(), "{got} {want}");
    }
}
