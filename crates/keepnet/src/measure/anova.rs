//! The F statistic of a feature against the target, and correlation between features.
//!
//! ```text
//! classes:  F = [sum_c n_c (m_c - m)^2 / (C - 1)] / [sum_c sum_{i in c} (x_i - m_c)^2 / (n - C)]
//! numbers:  F = r^2 (n - 2) / (1 - r^2)
//! ```
//!
//! Both are `b / (1 - b)` times degrees of freedom, with `b` the share of the variance that the
//! target explains. A share below 1e-14 counts as none, and where less than 1e-12 is left that
//! counts as 1e-12: what is below is rounding.
//! With sample weights every sum is weighted and `n` is their sum.

use super::fisher_z::{FisherZ, Sums};
use super::{Evidence, Measure, MeasureKind, Side, rows_counted};
use crate::data::check::ColumnStats;
use crate::data::column::Column;
use crate::data::target::{Problem, Target};
use crate::error::{Error, Result};
use crate::tails::f_tail;

/// Share of the variance below which only rounding is left of it.
const NOTHING_LEFT: f64 = 1e-12;

/// A share below which there is only rounding.
const NOTHING: f64 = 1e-14;

/// The F statistic, and correlation between features.
pub(crate) struct Anova {
    z: FisherZ,
    // Class of each row and weight of each class, where the target has classes.
    classes: Option<(Vec<u32>, Vec<f64>)>,
    weight: Option<Vec<f64>>,
    sums: Vec<f64>,
    // Degrees of freedom above and below.
    degrees: (f64, f64),
}

impl Anova {
    /// The measure against the problem's target.
    pub(crate) fn new(problem: &Problem) -> Result<Self> {
        let total = rows_counted(problem)?;
        let weight = problem.weight.clone();
        let (classes, numbers) = match &problem.target {
            Target::Numbers(y) => (None, y.clone()),
            Target::Classes { names, codes } => {
                let mut mass = vec![0.0; names.len()];
                for (row, code) in codes.iter().enumerate() {
                    mass[*code as usize] += weight.as_ref().map_or(1.0, |weight| weight[row]);
                }
                let numbers = codes.iter().map(|code| f64::from(*code)).collect();
                (Some((codes.clone(), mass)), numbers)
            }
        };
        let above = match &classes {
            Some((_, mass)) => mass.iter().filter(|mass| **mass > 0.0).count() as f64 - 1.0,
            None => 1.0,
        };
        let degrees = (above, total - above - 1.0);
        if degrees.0 < 1.0 || degrees.1 <= 0.0 {
            let want = above + 1.0;
            return Err(Error::Data(format!(
                "the F statistic needs two classes and more than {want} rows, got {total} rows"
            )));
        }
        // Features are compared with each other alone, so any target does.
        let pairs = Problem { target: Target::Numbers(numbers), ..problem.clone() };
        let z = FisherZ::new(&pairs, 0.01)?;
        Ok(Self { z, classes, weight, sums: Vec::new(), degrees })
    }

    /// The share of a column's variance that the classes explain.
    fn between(&mut self, x: Column<'_>, stats: &ColumnStats) -> Option<f64> {
        let (codes, mass) = self.classes.as_ref()?;
        let sums = &mut self.sums;
        sums.clear();
        sums.resize(mass.len(), 0.0);
        // What a sparse column does not store is 0, and 0 is as good as any value to count from.
        let shift = if x.is_dense() { stats.mean } else { 0.0 };
        x.each(|row, value| {
            let one = self.weight.as_ref().map_or(1.0, |weight| weight[row]);
            sums[codes[row] as usize] += one * (value - shift);
        });
        let total: f64 = mass.iter().sum();
        let mean = stats.mean - shift;
        let square = |(sum, mass): (&f64, &f64)| {
            let off = sum / mass - mean;
            mass * off * off
        };
        let there = sums.iter().zip(mass).filter(|(_, mass)| **mass > 0.0);
        Some(there.map(square).sum::<f64>() / (total * stats.variance))
    }
}

impl Measure for Anova {
    type Facts = Sums;

    const KIND: MeasureKind = MeasureKind::FisherZ;

    fn weigh(&mut self, x: Column<'_>, stats: &ColumnStats) -> Result<(Sums, Evidence)> {
        let (sums, r) = self.z.describe(x, stats);
        let share = self.between(x, stats).unwrap_or(r * r);
        let share = if share > NOTHING { share.min(1.0) } else { 0.0 };
        let (above, below) = self.degrees;
        let f = share * below / ((1.0 - share).max(NOTHING_LEFT) * above);
        let p_value = Some(f_tail(f, above, below));
        Ok((sums, Evidence { strength: f, relevant: f > 0.0, p_value }))
    }

    fn load(&mut self, newcomer: Side<'_, Sums>) {
        self.z.load(newcomer);
    }

    fn strength(&mut self, newcomer: Side<'_, Sums>, other: Side<'_, Sums>) -> f64 {
        self.z.strength(newcomer, other)
    }

    fn strength_disjoint(&mut self, a: &Sums, b: &Sums) -> Option<f64> {
        self.z.strength_disjoint(a, b)
    }

    fn ties_count(&self) -> bool {
        true
    }

    fn centres(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f(x: &[f64], problem: &Problem) -> f64 {
        let n = x.len() as f64;
        let mean = x.iter().sum::<f64>() / n;
        let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let stats = ColumnStats { mean, variance, ..ColumnStats::default() };
        let mut anova = Anova::new(problem).unwrap();
        anova.weigh(Column::dense(x), &stats).unwrap().1.strength
    }

    /// Classes 1, 2, 3 and 4, 6, 8: means 2 and 6 around 4; 2 (3 * 4) between with 1 degree of
    /// freedom, 2 + 8 within with 4: F = 24 / 2.5.
    #[test]
    fn f_of_classes_worked_by_hand() {
        let x = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0];
        let problem = Problem::binary(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        assert!((f(&x, &problem) - 9.6).abs() < 1e-12);
        // With two classes it is that of the regression on them.
        let numbers = Problem::regression(vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        assert!((f(&x, &numbers) - 9.6).abs() < 1e-12);
    }

    #[test]
    fn nothing_left_within_the_classes_is_finite_and_the_same_for_all() {
        let y = [0.0, 0.0, 1.0, 1.0, 1.0];
        let problem = Problem::binary(&y);
        let scaled: Vec<f64> = y.iter().map(|y| 0.1 + 0.3 * y).collect();
        let (a, b) = (f(&y, &problem), f(&scaled, &problem));
        assert!((a - 3e12).abs() < 1e6 && (a - b).abs() < 1.0, "{a} {b}");
    }
}
