//! How one column of each design is made.
//!
//! ```text
//! normal           x = e
//! scales           x = 10^U(-3,3) e
//! equicorrelated   x = sqrt(rho) f + sqrt(1 - rho) e            f is shared by all columns
//! toeplitz         corr(x_i, x_j) = rho^|i - j|
//! student          x has a Student t distribution with `df` degrees of freedom
//! binary           x = 1 with probability `share`
//! offset           x = e + shift
//! duplicates       x_{2i+1} = x_{2i}
//! sparse           c_j rows are not zero, c_j = min(n / 2, C / rank_j), at least 1
//! ```
//!
//! The Toeplitz design is a stationary Markov chain, so a column follows from two others that
//! stand `d` away on either side:
//!
//! ```text
//! x_j = c (x_{j-d} + x_{j+d}) + sqrt(v) e_j,   c = rho^d / (1 + rho^2d),   v = (1 - rho^2d) / (1 + rho^2d)
//! ```
//!
//! Halving the interval from [0, 2^t] down to `j` takes log2(p) columns of noise: exact, with
//! random access, and O(n log p) work for a column instead of the whole chain before it.

use std::sync::Arc;

use rand::RngExt;
use rand::seq::index;
use rand_distr::{Distribution, StandardNormal, StudentT};

use super::{Purpose, Workload};
use keepnet::{ColumnData, Numbers};

/// The distribution of the columns.
#[derive(Clone, Debug)]
pub(super) enum Design {
    Normal { shift: f32 },
    Scales,
    Equicorrelated { rho: f64 },
    Toeplitz { rho: f64 },
    Student { df: f64 },
    Binary { share: f64 },
    Duplicates,
    Sparse(Arc<PowerLaw>),
}

impl Design {
    pub(super) fn column(&self, workload: &Workload, j: u64) -> ColumnData {
        let n = workload.n;
        let mut rng = workload.rng(Purpose::Column, j);
        match self {
            Self::Normal { shift } => {
                let value = |_| -> f32 { StandardNormal.sample(&mut rng) };
                let mut values: Vec<f32> = (0..n).map(value).collect();
                if *shift != 0.0 {
                    values.iter_mut().for_each(|v| *v += shift);
                }
                ColumnData::f32(values)
            }
            Self::Scales => {
                let power: f64 = workload.rng(Purpose::Scale, j).random_range(-3.0..3.0);
                let scale = 10f64.powf(power) as f32;
                let value = |_| scale * Distribution::<f32>::sample(&StandardNormal, &mut rng);
                ColumnData::f32((0..n).map(value).collect())
            }
            Self::Equicorrelated { rho } => {
                let (a, b) = (rho.sqrt() as f32, (1.0 - rho).sqrt() as f32);
                let mut factor = workload.rng(Purpose::Factor, 0);
                let normal = |rng: &mut _| -> f32 { StandardNormal.sample(rng) };
                let value = |_| a * normal(&mut factor) + b * normal(&mut rng);
                ColumnData::f32((0..n).map(value).collect())
            }
            Self::Toeplitz { rho } => toeplitz(workload, *rho, j),
            Self::Student { df } => {
                let student = StudentT::new(*df).expect("the settings ask for df above 0");
                ColumnData::f32((0..n).map(|_| student.sample(&mut rng) as f32).collect())
            }
            Self::Binary { share } => {
                let mut words = vec![0u64; n.div_ceil(64)];
                for i in 0..n {
                    words[i / 64] |= u64::from(rng.random::<f64>() < *share) << (i % 64);
                }
                ColumnData::Bits { rows: n, words }
            }
            Self::Duplicates => {
                let mut rng = workload.rng(Purpose::Column, j & !1);
                ColumnData::f32((0..n).map(|_| StandardNormal.sample(&mut rng)).collect())
            }
            Self::Sparse(law) => {
                let count = law.count(j, n);
                let mut rows: Vec<u32> =
                    index::sample(&mut rng, n, count).into_iter().map(|i| i as u32).collect();
                rows.sort_unstable();
                let size = |_| (0.5 * Distribution::<f32>::sample(&StandardNormal, &mut rng)).exp();
                let value = Numbers::F32((0..count).map(size).collect());
                ColumnData::Sparse { rows: n, index: rows, value }
            }
        }
    }

    /// From how many columns the informative ones are drawn.
    pub(super) fn candidates(&self, workload: &Workload) -> u64 {
        match self {
            Self::Duplicates => workload.p / 2,
            Self::Sparse(law) => law.common(workload.n),
            _ => workload.p,
        }
    }

    /// The index of candidate `at`.
    pub(super) fn candidate(&self, _: &Workload, at: u64) -> u64 {
        match self {
            Self::Duplicates => 2 * at,
            Self::Sparse(law) => law.column_of_rank(at),
            _ => at,
        }
    }
}

fn toeplitz(workload: &Workload, rho: f64, j: u64) -> ColumnData {
    let noise = |j: u64| -> Vec<f64> {
        let mut rng = workload.rng(Purpose::Column, j);
        (0..workload.n).map(|_| StandardNormal.sample(&mut rng)).collect()
    };
    let mut span = workload.p.max(2).next_power_of_two();
    let (mut low, mut left) = (0, noise(0));
    let far = rho.powf(span as f64);
    let mut right = mix(far, &left, 0.0, &left, (1.0 - far * far).sqrt(), noise(span));
    while low != j {
        span /= 2;
        let near = rho.powf(span as f64);
        let (c, v) = (near / (1.0 + near * near), (1.0 - near * near) / (1.0 + near * near));
        let middle = mix(c, &left, c, &right, v.sqrt(), noise(low + span));
        if j < low + span {
            right = middle;
        } else {
            (low, left) = (low + span, middle);
        }
    }
    ColumnData::f32(left.into_iter().map(|v| v as f32).collect())
}

/// `a x + b y + scale e`, in the memory of `e`.
fn mix(a: f64, x: &[f64], b: f64, y: &[f64], scale: f64, mut e: Vec<f64>) -> Vec<f64> {
    for ((e, x), y) in e.iter_mut().zip(x).zip(y) {
        *e = a * x + b * y + scale * *e;
    }
    e
}

/// A power law of column counts: the column of rank `r` (from 1) has about `C / r` values.
#[derive(Debug)]
pub(super) struct PowerLaw {
    p: u64,
    constant: f64,
    // Ranks are spread over the columns by rank = (step * column) mod p, which is one to one.
    step: u64,
    back: u64,
}

/// An informative column of the sparse design has values in at least one row in this many.
const COMMON: usize = 50;

impl PowerLaw {
    /// The law under which `n` rows have `per_row` values on average.
    pub(super) fn new(p: u64, n: usize, per_row: f64, seed: u64) -> Self {
        let wanted = per_row * n as f64;
        let total = |constant: f64| -> f64 {
            (1..=p).map(|rank| (constant / rank as f64).clamp(1.0, n as f64 / 2.0)).sum()
        };
        let (mut low, mut high) = (0.0, n as f64 * p as f64);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if total(middle) < wanted { low = middle } else { high = middle }
        }
        let mut step = (p as f64 * 0.618_033_988_749_895) as u64 + seed % 97;
        step = step.clamp(1, p.max(2) - 1);
        while gcd(step, p) != 1 {
            step = if step + 1 < p { step + 1 } else { 1 };
        }
        Self { p, constant: high, step, back: inverse(step, p) }
    }

    fn count(&self, j: u64, n: usize) -> usize {
        let rank = (u128::from(j) * u128::from(self.step) % u128::from(self.p)) as u64 + 1;
        let most = (n / 2).max(1) as f64;
        (self.constant / rank as f64).clamp(1.0, most).round() as usize
    }

    fn column_of_rank(&self, rank: u64) -> u64 {
        (u128::from(rank) * u128::from(self.back) % u128::from(self.p)) as u64
    }

    /// How many columns have values in at least one row in [`COMMON`].
    pub(super) fn common(&self, n: usize) -> u64 {
        let least = (n / COMMON).max(1) as f64;
        ((self.constant / least) as u64).clamp(1, self.p)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The inverse of `a` modulo `p`, which have no common factor.
fn inverse(a: u64, p: u64) -> u64 {
    let (mut r, mut next_r) = (p as i128, a as i128);
    let (mut t, mut next_t) = (0i128, 1i128);
    while next_r != 0 {
        let quotient = r / next_r;
        (r, next_r) = (next_r, r - quotient * next_r);
        (t, next_t) = (next_t, t - quotient * next_t);
    }
    t.rem_euclid(p as i128) as u64
}
