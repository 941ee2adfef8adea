//! The measures by their definitions, on plain vectors.

use std::collections::BTreeMap;

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};

/// Numbers closer than this are equal: no two different strengths of such small data are.
pub const TIE: f64 = 1e-10;

pub fn above(a: f64, b: f64) -> bool {
    a > b + TIE
}

pub fn at_least(a: f64, b: f64) -> bool {
    a > b - TIE
}

pub fn constant(x: &[f64]) -> bool {
    x.iter().all(|v| *v == x[0])
}

fn entropy<K: Ord>(keys: impl Iterator<Item = K>, n: f64) -> f64 {
    let mut counts: BTreeMap<K, f64> = BTreeMap::new();
    keys.for_each(|k| *counts.entry(k).or_default() += 1.0);
    counts.values().map(|c| -(c / n) * (c / n).log2()).sum()
}

/// Mutual information in bits and the sum of the entropies.
pub fn information(a: &[f64], b: &[f64]) -> (f64, f64) {
    let n = a.len() as f64;
    let key = |v: &f64| (v * 1000.0) as i64;
    let (ha, hb) = (entropy(a.iter().map(key), n), entropy(b.iter().map(key), n));
    let joint = entropy(a.iter().zip(b).map(|(a, b)| (key(a), key(b))), n);
    (ha + hb - joint, ha + hb)
}

/// A measure as the tests use it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    Su,
    Mi,
    Z,
}

impl Measure {
    pub fn name(self) -> &'static str {
        match self {
            Self::Su => "su",
            Self::Mi => "mi",
            Self::Z => "fisher-z",
        }
    }

    pub fn strength(self, a: &[f64], b: &[f64]) -> f64 {
        match self {
            Self::Su => {
                let (mutual, entropies) = information(a, b);
                2.0 * mutual / entropies
            }
            Self::Mi => information(a, b).0,
            Self::Z => correlation(a, b).abs(),
        }
    }

    /// Relevance of a column that is not constant: above 0, or Fisher's test at `alpha`.
    pub fn relevant(self, strength: f64, n: usize, alpha: f64) -> bool {
        match self {
            Self::Su | Self::Mi => above(strength, 0.0),
            Self::Z => dependent(strength, n as f64 - 3.0, alpha),
        }
    }

    /// Whether `t` reaches the bound: strictly for Fisher's Z.
    pub fn reaches(self, t: f64, bound: f64) -> bool {
        if self == Self::Z { above(t, bound) } else { at_least(t, bound) }
    }
}

pub fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len() as f64;
    let (ma, mb) = (a.iter().sum::<f64>() / n, b.iter().sum::<f64>() / n);
    let cov = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
        x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum()
    };
    cov(a, ma, b, mb) / (cov(a, ma, a, ma) * cov(b, mb, b, mb)).sqrt()
}

pub fn dependent(r: f64, df: f64, alpha: f64) -> bool {
    let z = if r.abs() >= 1.0 - 1e-13 { f64::INFINITY } else { r.abs().atanh() };
    df.sqrt() * z >= normal_cutoff(alpha)
}

/// What least squares on an intercept and `given` leaves of `x`, by Gram-Schmidt done twice.
pub fn residual(x: &[f64], given: &[&[f64]]) -> Vec<f64> {
    let n = x.len();
    let mut basis: Vec<Vec<f64>> = vec![vec![1.0 / (n as f64).sqrt(); n]];
    let off = |x: &[f64], basis: &[Vec<f64>]| -> Vec<f64> {
        let mut x = x.to_vec();
        for _ in 0..2 {
            for b in basis {
                let along: f64 = x.iter().zip(b).map(|(x, b)| x * b).sum();
                x.iter_mut().zip(b).for_each(|(x, b)| *x -= along * b);
            }
        }
        x
    };
    for g in given {
        let rest = off(g, &basis);
        let length = rest.iter().map(|v| v * v).sum::<f64>().sqrt();
        if length > 1e-7 {
            basis.push(rest.iter().map(|v| v / length).collect());
        }
    }
    off(x, &basis)
}

pub fn square(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}

/// Whether `v` and `y` are independent given columns, by Fisher's Z.
pub fn independent_z(v: &[f64], y: &[f64], given: &[&[f64]], alpha: f64) -> bool {
    // A condition that the ones before it explain says nothing of its own.
    let own = |i: &usize| square(&residual(given[*i], &given[..*i])) >= 1e-9;
    let given: Vec<&[f64]> = (0..given.len()).filter(own).map(|i| given[i]).collect();
    let given = given.as_slice();
    let (a, b) = (residual(v, given), residual(y, given));
    if square(&a) < 1e-9 || square(&b) < 1e-9 {
        return true;
    }
    let r = a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() / (square(&a) * square(&b)).sqrt();
    let df = v.len() as f64 - given.len() as f64 - 3.0;
    df <= 0.0 || !dependent(r, df, alpha)
}

/// Whether `v` and `y` are independent given columns, by G2.
pub fn independent_g2(v: &[f64], y: &[f64], given: &[&[f64]], alpha: f64) -> bool {
    let levels = |x: &[f64]| {
        let mut x = x.to_vec();
        x.sort_by(f64::total_cmp);
        x.dedup();
        x.len() as f64
    };
    let conditions: f64 = given.iter().map(|g| levels(g)).product();
    let df = ((levels(v) - 1.0) * (levels(y) - 1.0) * conditions).max(1.0);
    if (v.len() as f64) < 5.0 * df {
        return true;
    }
    let mut strata: BTreeMap<Vec<i64>, Vec<usize>> = BTreeMap::new();
    for i in 0..v.len() {
        strata.entry(given.iter().map(|g| g[i] as i64).collect()).or_default().push(i);
    }
    let mut g2 = 0.0;
    for rows in strata.values() {
        let pick = |x: &[f64]| -> Vec<f64> { rows.iter().map(|i| x[*i]).collect() };
        // G2 of a stratum is 2 n I in nats.
        let (mutual, _) = information(&pick(v), &pick(y));
        g2 += 2.0 * rows.len() as f64 * mutual * std::f64::consts::LN_2;
    }
    chi_squared_tail(g2, df) >= alpha
}

fn normal_cutoff(alpha: f64) -> f64 {
    Normal::standard().inverse_cdf(1.0 - 0.5 * alpha)
}

fn chi_squared_tail(x: f64, df: f64) -> f64 {
    ChiSquared::new(df).unwrap().sf(x)
}

/// `P(|T| >= |t|)` for Student's `T`.
pub fn student_two_sided(t: f64, df: f64) -> f64 {
    2.0 * StudentsT::new(0.0, 1.0, df).unwrap().sf(t.abs())
}
