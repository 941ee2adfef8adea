//! The geometry of a problem: inner products with sample weights and implicit centring.
//!
//! ```text
//! <x, z> = sum_i v_i (x_i - mean(x)) (z_i - mean(z)) / W        (means 0 without an intercept)
//! ```
//!
//! One side is written into a dense scratch vector `v_i (x_i - mean(x))`. Its sum is zero, so the
//! other side needs no centring and stays as it is stored.

use super::genotypes;
use super::kernel;
use super::linalg::Square;
use super::panel;
use super::products::{combine, cross};
use crate::data::check::{ColumnStats, Feature, offset};
use crate::data::column::{Column, ColumnData, each_dense};
use crate::data::kept::Kept;
use crate::data::target::Problem;

/// Columns that are made dense at a time when all pairs are multiplied.
const TOGETHER: usize = 8;

/// Rows, sample weights and whether columns are centred.
#[derive(Clone, Debug)]
pub struct Frame {
    n: usize,
    weight: Option<Vec<f64>>,
    weight_sum: f64,
    centred: bool,
}

/// Columns with their statistics, as both kept columns and newcomers have them.
pub trait HasColumn {
    /// The values.
    fn values(&self) -> Column<'_>;
    /// Mean and variance.
    fn stats(&self) -> &ColumnStats;
}

impl HasColumn for Kept {
    fn values(&self) -> Column<'_> {
        self.column()
    }
    fn stats(&self) -> &ColumnStats {
        &self.stats
    }
}

impl HasColumn for Feature<'_> {
    fn values(&self) -> Column<'_> {
        self.column()
    }
    fn stats(&self) -> &ColumnStats {
        &self.stats
    }
}

impl Frame {
    /// The frame of a problem; columns are centred where there is an intercept.
    #[must_use]
    pub fn new(problem: &Problem, intercept: bool) -> Self {
        let weight = problem.weight.clone();
        Self { n: problem.n(), weight, weight_sum: problem.weight_sum(), centred: intercept }
    }

    /// Rows.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Sum of the sample weights.
    #[must_use]
    pub fn weight_sum(&self) -> f64 {
        self.weight_sum
    }

    /// Sample weights, where there are any.
    #[must_use]
    pub fn weight(&self) -> Option<&[f64]> {
        self.weight.as_deref()
    }

    /// Whether columns are centred.
    #[must_use]
    pub fn centred(&self) -> bool {
        self.centred
    }

    /// The mean that is subtracted from a stored column.
    #[must_use]
    pub fn mean(&self, stats: &ColumnStats) -> f64 {
        if self.centred { stats.mean } else { 0.0 }
    }

    /// The mean that is subtracted from the original values of a column.
    #[must_use]
    pub fn original_mean(&self, stats: &ColumnStats) -> f64 {
        if self.centred { stats.original_mean() } else { 0.0 }
    }

    /// `<x, x>`.
    #[must_use]
    pub fn square(&self, stats: &ColumnStats) -> f64 {
        stats.square(self.centred)
    }

    /// `out_i = scale_i (x_i - mean)`, with `scale` the sample weights where `None`.
    pub fn spread(&self, x: &impl HasColumn, scale: Option<&[f64]>, out: &mut [f64]) {
        let mean = self.mean(x.stats());
        let column = x.values();
        each_dense!(column, x => kernel::widen(x, mean, out), _ => match column {
            Column::Genotypes(x) => genotypes::decode(x, 0, mean, out),
            _ => {
                out.fill(-mean);
                column.each(|i, x| out[i] = x - mean);
            }
        });
        if let Some(scale) = scale.or(self.weight.as_deref()) {
            kernel::scale_by(out, scale);
        }
    }

    /// A dense vector as a column with its statistics, shifted as a feature would be.
    #[must_use]
    pub fn column(&self, values: &[f64]) -> (ColumnData, ColumnStats) {
        offset::column(values, self.weight(), self.weight_sum, self.centred)
    }

    /// Subtracts the weighted mean from a vector where columns are centred; returns that mean.
    pub fn centre(&self, y: &mut [f64]) -> f64 {
        if self.centred { centre(y, self.weight(), self.weight_sum) } else { 0.0 }
    }

    /// `sum_i v_i y_i^2 / W`.
    #[must_use]
    pub fn mean_square(&self, y: &[f64]) -> f64 {
        let sum: f64 = match self.weight() {
            Some(v) => y.iter().zip(v).map(|(y, v)| v * y * y).sum(),
            None => y.iter().map(|y| y * y).sum(),
        };
        sum / self.weight_sum
    }

    /// `out_i += sum_j w_j (x_j,i - mean_j)`.
    pub fn add_prediction<T: HasColumn>(&self, columns: &[&T], w: &[f64], out: &mut [f64]) {
        let views: Vec<_> = columns.iter().map(|x| x.values()).collect();
        combine(&views, w, out);
        self.subtract_means(columns, w, out);
    }

    /// [`Frame::add_prediction`] of several models on the same columns, which are read once for all
    /// of them; the coefficient of column `j` in model `m` is at `j * out.len() + m`. A model with a
    /// zero has the digits that it has without that column.
    pub fn add_predictions(&self, columns: &[&dyn HasColumn], w: &[f64], out: &mut [Vec<f64>]) {
        let views: Vec<_> = columns.iter().map(|x| x.values()).collect();
        panel::combine_several(&views, w, out);
        let models = out.len();
        for (m, out) in out.iter_mut().enumerate() {
            self.subtract_means(columns, &panel::set(w, models, m), out);
        }
    }

    fn subtract_means<T: HasColumn + ?Sized>(&self, columns: &[&T], w: &[f64], out: &mut [f64]) {
        let shift: f64 = columns.iter().zip(w).map(|(x, w)| w * self.mean(x.stats())).sum();
        if shift != 0.0 {
            out.iter_mut().for_each(|u| *u -= shift);
        }
    }

    /// `H_jk = sum_i d_i (x_j,i - mean_j)(x_k,i - mean_k) / W` for all pairs, and
    /// `sum_i d_i (x_j,i - mean_j) / W` for each; `d` includes the sample weights.
    #[must_use]
    pub fn hessian<T: HasColumn>(&self, columns: &[&T], d: &[f64]) -> (Square, Vec<f64>) {
        let k = columns.len();
        let views: Vec<_> = columns.iter().map(|x| x.values()).collect();
        if views.iter().all(|x| matches!(x, Column::Sparse { .. })) {
            return self.sparse_hessian(columns, d);
        }
        let (mut h, mut sums) = (Square::new(k), vec![0.0; k]);
        let mut scratch = vec![vec![0.0; self.n]; TOGETHER.min(k)];
        let mut products = Vec::new();
        for first in (0..k).step_by(TOGETHER) {
            let group = TOGETHER.min(k - first);
            for (g, out) in scratch.iter_mut().enumerate().take(group) {
                self.spread(columns[first + g], Some(d), out);
                sums[first + g] = kernel::sum(out) / self.weight_sum;
            }
            let v: Vec<&[f64]> = scratch[..group].iter().map(Vec::as_slice).collect();
            products.resize((k - first) * group, 0.0);
            cross(&views[first..], &v, &mut products);
            for j in first..k {
                for g in 0..group.min(j - first + 1) {
                    let raw = products[(j - first) * group + g] / self.weight_sum;
                    let mean = self.mean(columns[j].stats());
                    h.set(j, first + g, raw - mean * sums[first + g]);
                }
            }
        }
        (h, sums)
    }

    /// [`Frame::hessian`] row by row: only pairs of values that stand in the same row.
    fn sparse_hessian<T: HasColumn>(&self, columns: &[&T], d: &[f64]) -> (Square, Vec<f64>) {
        let k = columns.len();
        // Sorts the values by row: counts, then positions, then the values themselves.
        let mut ends = vec![0_usize; self.n + 1];
        columns.iter().for_each(|x| x.values().each(|i, _| ends[i + 1] += 1));
        (0..self.n).for_each(|i| ends[i + 1] += ends[i]);
        let mut entries = vec![(0_u32, 0.0); ends[self.n]];
        for (j, x) in columns.iter().enumerate() {
            x.values().each(|i, value| {
                entries[ends[i]] = (j as u32, value);
                ends[i] += 1;
            });
        }
        let (mut h, mut raw_sums) = (Square::new(k), vec![0.0; k]);
        let mut start = 0;
        for (end, d) in ends.iter().zip(d) {
            let row = &entries[start..*end];
            start = *end;
            for (at, (j, x)) in row.iter().enumerate() {
                let (j, dx) = (*j as usize, d * x);
                raw_sums[j] += dx;
                let below = &mut h.row_mut(j)[..=j];
                row[..=at].iter().for_each(|(g, z)| below[*g as usize] += dx * z);
            }
        }
        let total_d = kernel::sum(d);
        let mean = |j: usize| self.mean(columns[j].stats());
        let sums: Vec<f64> =
            (0..k).map(|j| (raw_sums[j] - mean(j) * total_d) / self.weight_sum).collect();
        for j in 0..k {
            for g in 0..=j {
                let raw = (h.row(j)[g] - mean(g) * raw_sums[j]) / self.weight_sum;
                h.set(j, g, raw - mean(j) * sums[g]);
            }
        }
        (h, sums)
    }
}

/// Subtracts the weighted mean from a vector; returns that mean.
///
/// This is done twice. With an offset that is large against the deviation the first mean has few
/// correct digits. The differences from it are exact, and their mean has all digits.
pub fn centre(y: &mut [f64], weight: Option<&[f64]>, total: f64) -> f64 {
    let mut taken = 0.0;
    for _ in 0..2 {
        let sum: f64 = match weight {
            Some(v) => y.iter().zip(v).map(|(y, v)| y * v).sum(),
            None => y.iter().sum(),
        };
        let mean = sum / total;
        y.iter_mut().for_each(|y| *y -= mean);
        taken += mean;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::Numbers;
    use crate::data::kept::KeptSet;
    use crate::data::target::Target;
    use crate::run::budget::Budget;

    /// The sparse form against the dense one on the same values.
    #[test]
    fn a_sparse_hessian_is_the_dense_one() {
        let n = 40;
        let value =
            |j: usize, i: usize| if (i * (j + 2)).is_multiple_of(5) { (i + j) as f64 } else { 0.0 };
        let d: Vec<f64> = (0..n).map(|i| 0.25 + (i % 3) as f64).collect();
        for intercept in [true, false] {
            let problem = Problem::regression((0..n).map(|i| i as f64).collect());
            let frame = Frame::new(&problem, intercept);
            let set = |sparse: bool| {
                let mut kept = KeptSet::new(Budget::unlimited());
                for j in 0..6 {
                    let values: Vec<f64> = (0..n).map(|i| value(j, i)).collect();
                    let (_, stats) = frame.column(&values);
                    let index: Vec<u32> =
                        (0..n as u32).filter(|i| values[*i as usize] != 0.0).collect();
                    let stored = index.iter().map(|i| values[*i as usize]).collect();
                    let data = match sparse {
                        true => ColumnData::Sparse { rows: n, index, value: Numbers::F64(stored) },
                        false => ColumnData::dense(values),
                    };
                    let raw = crate::data::block::RawColumn {
                        id: crate::FeatureId::new(j as u64),
                        name: j.to_string().into(),
                        source: 0,
                        data,
                    };
                    kept.push(&Feature::covariate(&raw, stats)).unwrap();
                }
                kept
            };
            let (sparse, dense) = (set(true), set(false));
            let both = [&sparse, &dense].map(|kept| {
                let columns: Vec<&Kept> = kept.slots().iter().collect();
                frame.hessian(&columns, &d)
            });
            for j in 0..6 {
                let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + b.abs());
                assert!(near(both[0].1[j], both[1].1[j]));
                for g in 0..6 {
                    assert!(near(both[0].0.at(j, g), both[1].0.at(j, g)), "{j} {g}");
                }
            }
        }
    }

    /// `{1, 2, 4, 9}` with weights `1, 2, 1, 4` has the mean 45/8; an offset adds to it exactly.
    #[test]
    fn a_vector_is_centred_whatever_its_offset() {
        for offset in [0.0, 1e10, -3e13] {
            let mut problem = Problem::regression([1.0, 2.0, 4.0, 9.0].map(|y| y + offset).into());
            problem.weight = Some(vec![1.0, 2.0, 1.0, 4.0]);
            let Target::Numbers(mut y) = problem.target.clone() else { panic!() };
            assert_eq!(Frame::new(&problem, true).centre(&mut y), offset + 5.625);
            assert_eq!(y, [-4.625, -3.625, -1.625, 3.375]);
        }
        // A plain sum of these is off by more than their deviation.
        let n = 100_000;
        let mut y: Vec<f64> = (0..n).map(|i| 1e15 + f64::from(i % 2)).collect();
        centre(&mut y, None, f64::from(n));
        let left: f64 = y.iter().sum();
        assert!(left.abs() < 1e-6, "{left}");
    }
}
