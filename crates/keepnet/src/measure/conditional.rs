//! Conditional independence of a column and the target, given a few kept columns.
//!
//! OSFS asks one question many times: is `v` independent of the target given a set `S` of up to
//! three others? [`Partial`] answers it for Fisher's Z from a matrix of correlations, without
//! touching the data again:
//!
//! ```text
//! [v, y | S]: eliminate S, one member after the other, from the correlation matrix
//! a_ij <- a_ij - a_ic a_cj / a_cc          r = a_vy / sqrt(a_vv a_yy)
//! ```
//!
//! A newcomer costs one product with each held column; a test of three conditions costs 30
//! operations. Memory: half the square of the number of held columns.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::fisher_z::Sums;
use super::{Evidence, FisherZ, Measure, MeasureKind, Side};
use crate::data::check::ColumnStats;
use crate::data::column::{Column, ColumnData};
use crate::error::Result;
use crate::run::snapshot::is_lower;
use crate::tails::normal_cutoff;

/// Tests of independence given held columns, which are numbered in list order.
pub trait Conditional: Send {
    /// Facts that are computed once per column.
    type Facts: Clone + Send + Serialize + DeserializeOwned;
    /// Products of the held columns; part of a checkpoint.
    type Memory: Clone + Default + Send + Serialize + DeserializeOwned;

    /// Which measure it is.
    const KIND: MeasureKind;

    /// Whether a memory from a checkpoint is one of `columns` held columns.
    fn holds(&self, memory: &Self::Memory, columns: usize) -> bool {
        let _ = (memory, columns);
        true
    }

    /// The column in the storage that the test works on; `None` where it is that already.
    fn code(&self, x: Column<'_>) -> Result<Option<ColumnData>>;

    /// Facts of a column and its evidence against the target, without conditions.
    fn weigh(&mut self, x: Column<'_>, stats: &ColumnStats) -> Result<(Self::Facts, Evidence)>;

    /// Adds the last of `columns` to the memory of the others.
    fn push(&mut self, memory: &mut Self::Memory, columns: &[Side<'_, Self::Facts>]);

    /// Forgets column `at`; later ones move down.
    fn remove(&self, memory: &mut Self::Memory, at: usize);

    /// Whether column `v` is independent of the target given the columns `given`.
    ///
    /// A test without an answer (no variance left) counts as independence.
    fn independent(
        &mut self,
        memory: &Self::Memory,
        columns: &[Side<'_, Self::Facts>],
        v: usize,
        given: &[usize],
    ) -> bool;

    /// Tests that were skipped because there were too few rows for them.
    fn too_few_rows(&self) -> u64 {
        0
    }

    /// Whether a constant added to a column changes no answer. It may change one where values are
    /// compared for equality, or where the arithmetic of a library is asked for.
    fn centres(&self) -> bool {
        false
    }
}

/// Correlations of the held columns with each other and with the target.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Correlations {
    // Row i holds the correlations with columns 0..i.
    lower: Vec<Vec<f64>>,
    target: Vec<f64>,
}

impl Correlations {
    fn between(&self, i: usize, j: usize) -> f64 {
        match i.cmp(&j) {
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => self.lower[i][j],
            std::cmp::Ordering::Less => self.lower[j][i],
        }
    }
}

/// Partial correlations with the target.
pub struct Partial {
    z: FisherZ,
    cutoff: f64,
}

/// Most columns in a condition.
pub const MOST_CONDITIONS: usize = 8;
/// Share of a variance below which only rounding is left of it.
const NOTHING_LEFT: f64 = 1e-12;

impl Partial {
    /// Tests at level `alpha` on the correlations of `z`.
    #[must_use]
    pub fn new(z: FisherZ, alpha: f64) -> Self {
        Self { z, cutoff: normal_cutoff(alpha) }
    }

    /// The partial correlation and the number of linearly independent conditions; `None` where no
    /// variance is left to correlate.
    fn partial(&self, memory: &Correlations, v: usize, given: &[usize]) -> Option<(f64, usize)> {
        // Order: v, target, conditions. The matrix is at most 5 x 5 for three conditions.
        let size = given.len() + 2;
        let value = |i: usize, j: usize| -> f64 {
            let column = |i: usize| if i == 0 { v } else { given[i - 2] };
            match (i, j) {
                (1, 1) => 1.0,
                (1, other) | (other, 1) => memory.target[column(other)],
                _ => memory.between(column(i), column(j)),
            }
        };
        let mut a = [0.0; (MOST_CONDITIONS + 2) * (MOST_CONDITIONS + 2)];
        for i in 0..size {
            for j in 0..size {
                a[i * size + j] = value(i, j);
            }
        }
        let mut conditions = 0;
        for c in (2..size).rev() {
            let pivot = a[c * size + c];
            // This condition is a combination of the others: it adds none.
            if pivot < NOTHING_LEFT {
                continue;
            }
            conditions += 1;
            for i in 0..c {
                let factor = a[i * size + c] / pivot;
                for j in 0..c {
                    a[i * size + j] -= factor * a[c * size + j];
                }
            }
        }
        let (vv, yy) = (a[0], a[size + 1]);
        (vv > NOTHING_LEFT && yy > NOTHING_LEFT).then(|| (a[1] / (vv * yy).sqrt(), conditions))
    }
}

impl Conditional for Partial {
    type Facts = Sums;
    type Memory = Correlations;

    const KIND: MeasureKind = MeasureKind::FisherZ;

    fn code(&self, _: Column<'_>) -> Result<Option<ColumnData>> {
        Ok(None)
    }

    fn weigh(&mut self, x: Column<'_>, stats: &ColumnStats) -> Result<(Sums, Evidence)> {
        self.z.weigh(x, stats)
    }

    fn centres(&self) -> bool {
        true
    }

    fn push(&mut self, memory: &mut Correlations, columns: &[Side<'_, Sums>]) {
        let Some((newcomer, others)) = columns.split_last() else { return };
        self.z.load(*newcomer);
        memory.lower.push(
            others.iter().map(|other| self.z.signed_correlation(*newcomer, *other)).collect(),
        );
        memory.target.push(self.z.with_target(*newcomer));
    }

    fn holds(&self, memory: &Correlations, columns: usize) -> bool {
        memory.target.len() == columns && is_lower(&memory.lower, columns, 0)
    }

    fn remove(&self, memory: &mut Correlations, at: usize) {
        memory.lower.remove(at);
        for row in &mut memory.lower[at..] {
            row.remove(at);
        }
        memory.target.remove(at);
    }

    fn independent(
        &mut self,
        memory: &Correlations,
        _: &[Side<'_, Sums>],
        v: usize,
        given: &[usize],
    ) -> bool {
        let Some((r, conditions)) = self.partial(memory, v, given) else { return true };
        let df = self.z.total() - conditions as f64 - 3.0;
        df <= 0.0 || df.sqrt() * r.abs().min(1.0).atanh() < self.cutoff
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::target::Problem;

    /// r(v,y|c) = (r_vy - r_vc r_yc) / sqrt((1 - r_vc^2)(1 - r_yc^2)), worked by hand.
    #[test]
    fn one_condition_is_the_textbook_formula() {
        let y: Vec<f64> = (0..10).map(f64::from).collect();
        let z = FisherZ::new(&Problem::regression(y), 0.01).unwrap();
        let partial = Partial::new(z, 0.01);
        let memory = Correlations {
            lower: vec![vec![], vec![0.5], vec![0.2, 0.1]],
            target: vec![0.6, 0.7, 0.3],
        };
        let want = (0.6 - 0.5 * 0.7) / ((1.0 - 0.25) * (1.0 - 0.49f64)).sqrt();
        assert!((partial.partial(&memory, 0, &[1]).unwrap().0 - want).abs() < 1e-14);
        // Two conditions by the same formula applied twice.
        let step =
            |ab: f64, ac: f64, bc: f64| (ab - ac * bc) / ((1.0 - ac * ac) * (1.0 - bc * bc)).sqrt();
        let (vy, vd, yd) = (step(0.6, 0.5, 0.7), step(0.2, 0.5, 0.1), step(0.3, 0.7, 0.1));
        let want = step(vy, vd, yd);
        assert!((partial.partial(&memory, 0, &[1, 2]).unwrap().0 - want).abs() < 1e-14);
    }

    #[test]
    fn a_condition_twice_is_that_condition_once() {
        let y: Vec<f64> = (0..10).map(f64::from).collect();
        let partial = Partial::new(FisherZ::new(&Problem::regression(y), 0.01).unwrap(), 0.01);
        let memory = Correlations {
            lower: vec![vec![], vec![0.5], vec![0.5, 1.0]],
            target: vec![0.6, 0.7, 0.7],
        };
        assert_eq!(partial.partial(&memory, 0, &[1, 2]), partial.partial(&memory, 0, &[1]));
    }
}
