//! Symmetrical uncertainty and Fisher's Z in the arithmetic of the LOFS library.
//!
//! ```text
//! codes    floor(x) - min floor(x), no limit on their number
//! H        sum over states in increasing order of -p ln p, divided by ln 2 at the end
//! I(A;B)   over the joint table, A the fast index: p_ab ln((p_ab / p_a) / p_b), / ln 2 at the end
//! r        columns centred by their left-to-right mean, left-to-right products / (n - 1)
//! ```
//!
//! All sums run left to right in f64, so that ties are decided as in the library. Each column is
//! held as codes or centred numbers, n words per column: a mode for comparison, not for speed.

use serde::{Deserialize, Serialize};

use super::{ALPHA, Evidence, Measure, MeasureKind, Side, numeric_target};
use crate::data::check::ColumnStats;
use crate::data::column::Column;
use crate::data::target::{Problem, Target};
use crate::error::{Error, Result};
use crate::tails::{normal_cutoff, normal_two_sided};

/// Whether the values, summed left to right, are exactly 0: LOFS skips such columns.
#[must_use]
pub fn sums_to_zero(x: Column<'_>) -> bool {
    let mut sum = 0.0;
    x.each(|_, v| sum += v);
    sum == 0.0
}

/// Refuses sample weights, which the library does not have.
pub(crate) fn plain(problem: &Problem) -> Result<()> {
    match problem.weight {
        Some(_) => Err(Error::Unsupported(
            "rules=lofs knows no sample or class weights; leave them out or take rules=paper"
                .into(),
        )),
        None => Ok(()),
    }
}

/// A column as states.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct States {
    codes: Vec<u32>,
    // Probabilities by state.
    p: Vec<f64>,
    entropy: f64,
}

/// Symmetrical uncertainty as LOFS computes it.
pub struct LofsSu {
    target: States,
    threshold: f64,
    table: Vec<u32>,
    pairs: Vec<u64>,
}

impl LofsSu {
    /// The measure against the problem's target; relevant is above `threshold`.
    pub fn new(problem: &Problem, threshold: f64) -> Result<Self> {
        plain(problem)?;
        let y = match &problem.target {
            Target::Classes { codes, .. } => numeric_target(&problem.target)
                .unwrap_or_else(|_| codes.iter().map(|c| f64::from(*c)).collect()),
            Target::Numbers(y) => y.clone(),
        };
        let (table, pairs) = (Vec::new(), Vec::new());
        Ok(Self { target: states(Column::dense(&y)), threshold, table, pairs })
    }

    fn uncertainty(&mut self, a: &States, b: &States) -> f64 {
        let n = a.codes.len();
        let (fast, slow) = (a.p.len() as u64, b.p.len() as u64);
        let mut sum = 0.0;
        let mut add = |cell: u64, count: u32| {
            let p = f64::from(count) / n as f64;
            let (pa, pb) = (a.p[(cell % fast) as usize], b.p[(cell / fast) as usize]);
            sum += p * ((p / pa) / pb).ln();
        };
        let cells = a.codes.iter().zip(&b.codes).map(|(a, b)| u64::from(*b) * fast + u64::from(*a));
        if fast * slow <= 4 * n as u64 + 64 {
            self.table.clear();
            self.table.resize((fast * slow) as usize, 0);
            cells.for_each(|cell| self.table[cell as usize] += 1);
            let filled = self.table.iter().enumerate().filter(|(_, count)| **count > 0);
            filled.for_each(|(cell, count)| add(cell as u64, *count));
        } else {
            self.pairs.clear();
            self.pairs.extend(cells);
            self.pairs.sort_unstable();
            self.pairs.chunk_by(|a, b| a == b).for_each(|run| add(run[0], run.len() as u32));
        }
        2.0 * (sum / std::f64::consts::LN_2) / (a.entropy + b.entropy)
    }
}

/// States in increasing order; empty states are left out, which changes no sum.
fn states(x: Column<'_>) -> States {
    let mut values = vec![0.0; x.rows()];
    x.fill(&mut values);
    values.iter_mut().for_each(|v| *v = v.floor());
    let mut levels = values.clone();
    levels.sort_unstable_by(f64::total_cmp);
    // Zero and negative zero are one state.
    levels.dedup();
    let code = |v: &f64| levels.partition_point(|level| level < v) as u32;
    let codes: Vec<u32> = values.iter().map(code).collect();
    let mut counts = vec![0u32; levels.len()];
    codes.iter().for_each(|c| counts[*c as usize] += 1);
    let p: Vec<f64> = counts.iter().map(|c| f64::from(*c) / codes.len() as f64).collect();
    let mut sum = 0.0;
    p.iter().filter(|p| **p > 0.0).for_each(|p| sum -= p * p.ln());
    States { codes, p, entropy: sum / std::f64::consts::LN_2 }
}

impl Measure for LofsSu {
    type Facts = States;

    const KIND: MeasureKind = MeasureKind::Su;
    const P_VALUES: bool = false;

    fn weigh(&mut self, x: Column<'_>, _: &ColumnStats) -> Result<(States, Evidence)> {
        let states = states(x);
        let target = std::mem::replace(&mut self.target, empty());
        let strength = self.uncertainty(&states, &target);
        self.target = target;
        // In the library NaN passes: it is not <= the threshold.
        let relevant = strength > self.threshold || strength.is_nan();
        Ok((states, Evidence { strength, relevant, p_value: None }))
    }

    fn strength(&mut self, newcomer: Side<'_, States>, other: Side<'_, States>) -> f64 {
        self.uncertainty(newcomer.facts, other.facts)
    }

    fn ties_count(&self) -> bool {
        false
    }
}

fn empty() -> States {
    States { codes: Vec::new(), p: Vec::new(), entropy: 0.0 }
}

/// A centred column and its variance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Centred {
    x: Vec<f64>,
    variance: f64,
}

/// Fisher's Z as LOFS computes it.
pub struct LofsFisherZ {
    target: Centred,
    cutoff: f64,
}

impl LofsFisherZ {
    /// The measure against the problem's target, with a test at level `alpha`.
    pub fn new(problem: &Problem, alpha: f64) -> Result<Self> {
        plain(problem)?;
        ALPHA.check(alpha)?;
        let y = numeric_target(&problem.target)?;
        if y.len() < 4 {
            return Err(Error::Data("Fisher's Z needs more than 3 rows".into()));
        }
        Ok(Self { target: centred(Column::dense(&y)), cutoff: normal_cutoff(alpha) })
    }
}

fn sequential_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    a.iter().zip(b).for_each(|(a, b)| sum += a * b);
    sum
}

fn centred(column: Column<'_>) -> Centred {
    let mut x = vec![0.0; column.rows()];
    column.fill(&mut x);
    let mut sum = 0.0;
    x.iter().for_each(|v| sum += v);
    let mean = sum / x.len() as f64;
    x.iter_mut().for_each(|v| *v -= mean);
    let variance = sequential_dot(&x, &x) / (x.len() as f64 - 1.0);
    Centred { x, variance }
}

fn strength(a: &Centred, b: &Centred) -> f64 {
    let covariance = sequential_dot(&a.x, &b.x) / (a.x.len() as f64 - 1.0);
    (covariance / (a.variance * b.variance).sqrt()).abs()
}

impl Measure for LofsFisherZ {
    type Facts = Centred;

    const KIND: MeasureKind = MeasureKind::FisherZ;

    fn weigh(&mut self, x: Column<'_>, _: &ColumnStats) -> Result<(Centred, Evidence)> {
        let column = centred(x);
        let strength = strength(&column, &self.target);
        // Above 1 by rounding, the logarithm of the library is complex with a large modulus.
        let z = if strength >= 1.0 { f64::INFINITY } else { strength.atanh() };
        let w = (column.x.len() as f64 - 3.0).sqrt() * z;
        let relevant = !strength.is_nan() && w >= self.cutoff;
        let p_value = relevant.then(|| normal_two_sided(w));
        Ok((column, Evidence { strength, relevant, p_value }))
    }

    fn strength(&mut self, newcomer: Side<'_, Centred>, other: Side<'_, Centred>) -> f64 {
        strength(newcomer.facts, other.facts)
    }

    fn ties_count(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_floored_and_cancelling_columns_are_found() {
        let s = states(Column::dense(&[0.2, -0.5, 0.9, 1.0]));
        assert_eq!(s.codes, [1, 0, 1, 2]);
        assert_eq!(s.entropy, 1.5);
        assert!(sums_to_zero(Column::dense(&[-2.0, 0.0, 2.0])));
        // Left to right: 0.1 + 0.2 - 0.3 is not 0, 0.3 - 0.1 - 0.2 is not either.
        assert!(!sums_to_zero(Column::dense(&[0.1, 0.2, -0.3])));
    }

    #[test]
    fn a_table_and_a_sort_give_the_same_uncertainty() {
        let y: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        let mut su = LofsSu::new(&Problem::binary(&y), 0.0).unwrap();
        let column = |f: fn(i32) -> i32| {
            states(Column::dense(&(0..40).map(|i| f64::from(f(i))).collect::<Vec<_>>()))
        };
        // 40 states against 20: too many cells for a table. I = log2 20, H = log2 40 + log2 20.
        let sorted = su.uncertainty(&column(|i| i), &column(|i| i % 20));
        assert!(su.table.is_empty());
        assert!((sorted - 2.0 * 20f64.log2() / (40f64.log2() + 20f64.log2())).abs() < 1e-14);
        // 40 states against 4: a table. I = 2 bits.
        let tabled = su.uncertainty(&column(|i| i), &column(|i| i % 4));
        assert!(!su.table.is_empty());
        assert!((tabled - 4.0 / (40f64.log2() + 2.0)).abs() < 1e-14);
    }
}
