//! Knockoffs of a few columns: which of them have an effect given the others.
//!
//! ```text
//! Z       the K columns, centred, of unit variance;  Sigma their correlations;  s = min(1, 2 lambda_min)
//! Z~      = Z - Z Sigma^-1 D + N(0, V),   D = s I,   V = 2 D - D Sigma^-1 D          second-order
//! W_j     = |b_j| - |b_{j+K}|,  b the lasso of y on [Z Z~] at its cross-validated penalty
//! T       = min { t in |W| : (1 + #{W <= -t}) / max(1, #{W >= t}) <= q };  selected: W_j >= T
//! M > 1   T_m at q / 2;  e_j = mean over m of K 1{W_j >= T_m} / (1 + #{W <= -T_m});  e-BH at q
//! ```
//!
//! Exact for Gaussian columns whose correlations are known. The null of a column: no effect given
//! the other K - 1. Candès, Fan, Janson and Lv, JRSS-B 80 (2018); Barber and Candès, Annals of
//! Statistics 43 (2015) and 47 (2019); Ren and Barber, JRSS-B 86 (2024) for the repeats.

use faer::{Mat, Side};
use keepnet::data::generator;
use keepnet::{Error, Result};
use rand::seq::SliceRandom;
use rand_distr::{Distribution, StandardNormal};

use super::fits::Named;
use super::lasso::{Fit, at_cv, folds};

/// Keeps these random numbers apart from those of methods and splits.
const STREAM: u64 = 0x6b_0c0f;
/// The least eigenvalue of the correlations that leaves knockoffs some room.
const LEAST: f64 = 1e-4;
/// How far inside its bound `s` is.
const INSIDE: f64 = 1.0 - 1e-8;

/// What knockoffs say of the columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdicts {
    /// By how much each column did better than its knockoff, in the mean over repeats.
    pub w: Vec<f64>,
    /// With repeats the e-value of each column.
    pub e: Option<Vec<f64>>,
    /// Without repeats the least `w` that is selected; `None` where none is.
    pub threshold: Option<f64>,
    /// Whether each column is selected.
    pub selected: Vec<bool>,
}

/// The target of the rows that decide.
pub enum Answers<'a> {
    /// Numbers.
    Numbers(&'a [f64]),
    /// -1 or 1.
    Classes(&'a [f64]),
}

/// Columns of unit variance, and how their knockoffs are made.
struct Maker {
    /// Rows that decide, row after row.
    z: Vec<Vec<f64>>,
    /// `I - Sigma^-1 D`.
    kept: Mat<f64>,
    /// A root of V.
    root: Mat<f64>,
}

fn failed() -> Error {
    Error::Data("the correlations of the selected features have no eigenvalues".into())
}

impl Maker {
    /// Columns with a value for every row; `rows` are those that decide.
    fn new(columns: &[Named], rows: &[u32]) -> Result<Self> {
        let k = columns.len();
        let all: Vec<Vec<f64>> = columns.iter().map(standard).collect();
        let n = all[0].len() as f64;
        let entry = |i: usize, j: usize| match i == j {
            true => 1.0,
            false => all[i].iter().zip(&all[j]).map(|(a, b)| a * b).sum::<f64>() / n,
        };
        let sigma = Mat::from_fn(k, k, |i, j| entry(i.max(j), i.min(j)));
        let (values, vectors) = eigen(&sigma)?;
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        if least < LEAST {
            return Err(too_close(columns, &sigma));
        }
        let s = (2.0 * least).min(1.0) * INSIDE;
        // Sigma^-1 by its eigenvalues: Q diag(1/l) Q'.
        let by = |f: &dyn Fn(f64) -> f64, values: &[f64], vectors: &Mat<f64>| {
            Mat::from_fn(k, k, |i, j| {
                (0..k).map(|a| vectors[(i, a)] * f(values[a]) * vectors[(j, a)]).sum::<f64>()
            })
        };
        let inverse = by(&|l| 1.0 / l, &values, &vectors);
        let one = |i: usize, j: usize| f64::from(u8::from(i == j));
        let kept = Mat::from_fn(k, k, |i, j| one(i, j) - s * inverse[(i, j)]);
        let spread = Mat::from_fn(k, k, |i, j| 2.0 * s * one(i, j) - s * s * inverse[(i, j)]);
        let (values, vectors) = eigen(&spread)?;
        let root = by(&|l| l.max(0.0).sqrt(), &values, &vectors);
        let row = |row: &u32| all.iter().map(|z| z[*row as usize]).collect();
        Ok(Self { z: rows.iter().map(row).collect(), kept, root })
    }

    /// The columns that decide, then a draw of their knockoffs.
    fn draw(&self, random: &mut impl rand::Rng) -> Vec<Vec<f64>> {
        let k = self.kept.nrows();
        let mut out = vec![Vec::with_capacity(self.z.len()); 2 * k];
        for row in &self.z {
            let normal: Vec<f64> = (0..k).map(|_| StandardNormal.sample(random)).collect();
            for j in 0..k {
                let part = |i: usize| row[i] * self.kept[(i, j)] + normal[i] * self.root[(i, j)];
                out[j].push(row[j]);
                out[k + j].push((0..k).map(part).sum());
            }
        }
        out
    }
}

fn eigen(matrix: &Mat<f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let found = matrix.self_adjoint_eigen(Side::Lower).map_err(|_| failed())?;
    let values = found.S().column_vector().iter().copied().collect();
    Ok((values, found.U().to_owned()))
}

/// A column centred, of unit variance; one value only leaves zeros.
fn standard(column: &Named) -> Vec<f64> {
    let n = column.values.len() as f64;
    let first = column.values[0];
    let mean = column.values.iter().map(|x| x - first).sum::<f64>() / n;
    let centred: Vec<f64> = column.values.iter().map(|x| (x - first) - mean).collect();
    let scale = (centred.iter().map(|x| x * x).sum::<f64>() / n).sqrt();
    centred.iter().map(|x| if scale > 0.0 { x / scale } else { 0.0 }).collect()
}

fn too_close(columns: &[Named], sigma: &Mat<f64>) -> Error {
    let k = columns.len();
    let pairs = (0..k).flat_map(|i| (0..i).map(move |j| (i, j)));
    let closest = pairs.max_by(|a, b| sigma[*a].abs().total_cmp(&sigma[*b].abs()));
    let (i, j) = closest.unwrap_or((0, 0));
    let (a, b, r) = (&columns[j].name, &columns[i].name, sigma[(i, j)]);
    Error::Data(format!(
        "the selected features depend on each other, so knockoffs cannot tell them apart; closest \
         are {a:?} and {b:?}, with a correlation of {r:.6}; leave one out, or lower `k`"
    ))
}

/// The least `t` at which the estimated share of false ones among `W >= t` is at most `q`.
fn threshold(w: &[f64], q: f64) -> Option<f64> {
    let mut sizes: Vec<f64> = w.iter().map(|w| w.abs()).filter(|w| *w > 0.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.into_iter().find(|t| {
        let below = w.iter().filter(|w| **w <= -t).count();
        let above = w.iter().filter(|w| **w >= *t).count();
        (1 + below) as f64 <= q * above.max(1) as f64
    })
}

/// e-BH: the `r` largest, with the largest `r` whose least is at least `K / (q r)`.
fn e_bh(e: &[f64], q: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..e.len()).collect();
    order.sort_by(|a, b| e[*b].total_cmp(&e[*a]));
    let need = |r: usize| e.len() as f64 / (q * r as f64) * (1.0 - 1e-12);
    let most = (1..=e.len()).rev().find(|r| e[order[r - 1]] >= need(*r)).unwrap_or(0);
    let mut out = vec![false; e.len()];
    order[..most].iter().for_each(|at| out[*at] = true);
    out
}

/// How the columns do against `repeats` draws of knockoffs at the level `q`; `columns` have all
/// rows, from which their correlations come, and `rows` are those that `answers` speaks of.
pub fn knockoffs(
    columns: &[Named],
    rows: &[u32],
    answers: &Answers<'_>,
    (q, repeats): (f64, usize),
    seed: u64,
) -> Result<Verdicts> {
    let k = columns.len();
    let maker = Maker::new(columns, rows)?;
    let (y, fit) = match answers {
        Answers::Numbers(y) => (*y, Fit::Squared),
        Answers::Classes(y) => (*y, Fit::Logistic),
    };
    let mut mean = vec![0.0; k];
    let (mut e, mut last) = (vec![0.0; k], None);
    let mut selected = vec![false; k];
    for m in 0..repeats {
        let mut random = generator(seed, STREAM ^ ((m as u64) << 24));
        let z = maker.draw(&mut random);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.shuffle(&mut random);
        let b = at_cv(&z, y, fit, &folds(&order));
        let w: Vec<f64> = (0..k).map(|j| b[j].abs() - b[k + j].abs()).collect();
        mean.iter_mut().zip(&w).for_each(|(mean, w)| *mean += w / repeats as f64);
        last = threshold(&w, if repeats > 1 { q / 2.0 } else { q });
        let Some(t) = last else { continue };
        let below = w.iter().filter(|w| **w <= -t).count();
        let unit = k as f64 / (1 + below) as f64 / repeats as f64;
        for j in (0..k).filter(|j| w[*j] >= t) {
            (e[j], selected[j]) = (e[j] + unit, true);
        }
    }
    Ok(match repeats > 1 {
        false => Verdicts { w: mean, e: None, threshold: last, selected },
        true => Verdicts { w: mean, selected: e_bh(&e, q), e: Some(e), threshold: None },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(n: usize, k: usize, rho: f64) -> Vec<Named> {
        let mut random = generator(11, 0);
        let mut out: Vec<Named> = Vec::new();
        for j in 0..k {
            let own: Vec<f64> = (0..n).map(|_| StandardNormal.sample(&mut random)).collect();
            let values = match out.last() {
                None => own,
                Some(last) => {
                    let rest = (1.0 - rho * rho).sqrt();
                    own.iter().zip(&last.values).map(|(x, y)| rest * x + rho * y).collect()
                }
            };
            out.push(Named { name: format!("x{j}"), values });
        }
        out
    }

    /// The Gram of [Z Z~] is that of the definition up to sampling: Sigma, and Sigma - D across.
    #[test]
    fn knockoffs_have_the_correlations_that_they_should() {
        let (n, k) = (4000, 6);
        let columns = columns(n, k, 0.5);
        let maker = Maker::new(&columns, &(0..n as u32).collect::<Vec<_>>()).unwrap();
        let z = maker.draw(&mut generator(1, 2));
        let gram =
            |a: usize, b: usize| z[a].iter().zip(&z[b]).map(|(x, y)| x * y).sum::<f64>() / n as f64;
        let s = gram(0, 0) - gram(0, k);
        assert!(s > 0.3, "{s}");
        let near = 4.0 / (n as f64).sqrt();
        for i in 0..k {
            for j in 0..k {
                let d = if i == j { s } else { 0.0 };
                assert!((gram(k + i, k + j) - gram(i, j)).abs() < near, "{i} {j}");
                assert!((gram(i, k + j) - gram(i, j) + d).abs() < near, "{i} {j}");
            }
        }
    }

    #[test]
    fn swapping_a_column_and_its_knockoff_flips_its_sign() {
        let (n, k) = (200, 5);
        let columns = columns(n, k, 0.3);
        let maker = Maker::new(&columns, &(0..n as u32).collect::<Vec<_>>()).unwrap();
        let mut z = maker.draw(&mut generator(5, 5));
        let y: Vec<f64> =
            (0..n).map(|i| z[0][i] - 0.6 * z[3][i] + 0.5 * z[4][(i + 1) % n]).collect();
        let fold: Vec<usize> = (0..n).map(|i| i % 5).collect();
        let w = |z: &[Vec<f64>]| {
            let b = at_cv(z, &y, Fit::Squared, &fold);
            (0..k).map(|j| b[j].abs() - b[k + j].abs()).collect::<Vec<f64>>()
        };
        let before = w(&z);
        z.swap(3, k + 3);
        let after = w(&z);
        for j in 0..k {
            let want = if j == 3 { -before[j] } else { before[j] };
            assert!((after[j] - want).abs() < 1e-6, "{j}: {before:?} {after:?}");
        }
        assert!(before[0] > 0.1 && before[3] > 0.1);
    }

    /// By hand: at t = 2 one of 4 is negative enough, (1 + 1) / 4; at 3 (1 + 0) / 3.
    #[test]
    fn thresholds_and_e_values_are_those_of_the_definitions() {
        let w = [5.0, 4.0, 3.0, 2.0, -2.0, 0.0];
        assert_eq!(threshold(&w, 0.4), Some(3.0));
        assert_eq!(threshold(&w, 0.5), Some(2.0));
        assert_eq!(threshold(&w, 0.3), None);
        // K / (q r) = 4 / (0.5 r): 8, 4, 2.67, 2.
        assert_eq!(e_bh(&[5.0, 4.0, 2.5, 0.0], 0.5), [true, true, false, false]);
    }

    #[test]
    fn copies_are_named() {
        let mut all = columns(100, 3, 0.2);
        all[2].values = all[0].values.clone();
        let rows: Vec<u32> = (0..100).collect();
        let y = vec![0.5; 100];
        let error = knockoffs(&all, &rows, &Answers::Numbers(&y), (0.1, 1), 0).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("\"x0\" and \"x2\"") && text.contains("1.000000"), "{text}");
    }
}
