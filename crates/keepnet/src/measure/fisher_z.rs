//! Fisher's Z: correlation of numbers, and the test that it is zero.
//!
//! ```text
//! r = (n S_xy - S_x S_y) / sqrt((n S_xx - S_x^2) (n S_yy - S_y^2))
//! W = sqrt(n - |S| - 3) atanh r       independent where |W| < z(1 - alpha/2)
//! ```
//!
//! The strength is `abs(r)`. The test is turned into a bound on `abs(r)` once, so a rejected
//! column costs one pass: its two moments and its product with the target. Dense columns are
//! centred first (`sum (x - mean) y`). The others keep their sums, which are exact for whole
//! numbers, so that ties are the same in every storage. Two sparse columns that share no row have
//! `S_xy = 0`. With sample weights every sum is weighted and `n` is the sum of the sample weights.
//! Peña 2008; section 3.4.2 of the SAOLA paper.

use serde::{Deserialize, Serialize};

use super::dot::{Shifted, against_dense, dot};
use super::{
    ALPHA, Evidence, LEAST_ROWS, Measure, MeasureInfo, MeasureKind, Named, Side, Thresholds,
    numeric_target, rows_counted,
};
use crate::data::check::ColumnStats;
use crate::data::column::{Column, NumbersRef, each_dense};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::numeric::inner_product::centre;
use crate::numeric::kernel::{self, Element};
use crate::numeric::popcount;
use crate::tails::{normal_cutoff, normal_two_sided};

/// Sums of a column; coded levels are counted from the lowest one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// `S_x`; 0 for dense and weighted columns, which are centred.
    pub sum: f64,
    /// `n S_xx - S_x^2`.
    pub spread: f64,
    mean: f64,
    shift: f64,
}

impl Sums {
    /// Mean of the stored values.
    #[must_use]
    pub fn stored_mean(&self) -> f64 {
        self.mean
    }
}

/// Correlation with the target and between columns.
pub struct FisherZ {
    n: f64,
    // Whole numbers from their least one on, so that sums with them are exact; others centred.
    y: Vec<f64>,
    y_sum: f64,
    y_spread: f64,
    // `v (y - mean)`, for dense and weighted columns.
    y_centred: Vec<f64>,
    y_bits: Option<Vec<u64>>,
    weight: Option<Vec<f64>>,
    least: f64,
    scratch: Vec<f64>,
}

impl FisherZ {
    /// The measure against the problem's target, with a test at level `alpha`.
    pub fn new(problem: &Problem, alpha: f64) -> Result<Self> {
        ALPHA.check(alpha)?;
        let mut y = numeric_target(&problem.target)?;
        let total = rows_counted(problem)?;
        if total <= LEAST_ROWS {
            return Err(Error::Data(format!("Fisher's Z needs more than 3 rows, got {total}")));
        }
        let weight = problem.weight.clone();
        let one = |i: usize| weight.as_ref().map_or(1.0, |v| v[i]);
        let mut centred = y.clone();
        centre(&mut centred, weight.as_deref(), total);
        let y_centred: Vec<f64> = centred.iter().enumerate().map(|(i, y)| one(i) * y).collect();
        let whole = y.iter().all(|y| y.fract() == 0.0 && y.abs() < 1e6);
        if whole {
            let low = y.iter().copied().fold(f64::INFINITY, f64::min);
            y.iter_mut().for_each(|y| *y -= low);
        } else {
            y = centred;
        }
        let (y_sum, square) = kernel::moments(&y, 0.0);
        let y_spread = if weight.is_some() {
            total * y_centred.iter().enumerate().map(|(i, y)| y * y / one(i)).sum::<f64>()
        } else {
            total * square - y_sum * y_sum
        };
        let y_bits = y.iter().all(|y| *y == 0.0 || *y == 1.0).then(|| {
            let mut words = vec![0u64; y.len().div_ceil(64)];
            y.iter().enumerate().for_each(|(i, y)| words[i / 64] |= (*y as u64) << (i % 64));
            words
        });
        let least = (normal_cutoff(alpha) / (total - 3.0).sqrt()).tanh();
        let (n, scratch) = (total, Vec::new());
        Ok(Self { n, y, y_sum, y_spread, y_centred, y_bits, weight, least, scratch })
    }

    /// The weakest `abs(r)` that counts as dependent.
    #[must_use]
    pub fn min_correlation(&self) -> f64 {
        self.least
    }

    /// Rows that the tests count: the sum of the sample weights.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.n
    }

    /// Sums of a column and its signed correlation with the target.
    #[must_use]
    pub fn describe(&self, x: Column<'_>, stats: &ColumnStats) -> (Sums, f64) {
        self.sums(x, stats)
    }

    /// Two-coded_column p-value of a correlation given `conditions` others.
    #[must_use]
    pub fn p_value(&self, r: f64, conditions: usize) -> f64 {
        let df = self.n - conditions as f64 - 3.0;
        if df <= 0.0 { 1.0 } else { normal_two_sided(df.sqrt() * r.abs().min(1.0).atanh()) }
    }

    /// Correlation of a sparse column with the target, straight from its two arrays.
    #[inline]
    pub fn weigh_sparse<T: Element>(&self, index: &[u32], value: &[T]) -> (Sums, f64) {
        let (mut sum, mut square, mut product) = (0.0, 0.0, 0.0);
        for (i, x) in index.iter().zip(value) {
            let x = x.wide();
            sum += x;
            square += x * x;
            product += x * self.y[*i as usize];
        }
        self.finish(sum, square, product, 0.0)
    }

    #[inline]
    fn finish(&self, sum: f64, square: f64, product: f64, shift: f64) -> (Sums, f64) {
        let spread = self.n * square - sum * sum;
        let r = correlation(self.n * product - sum * self.y_sum, spread, self.y_spread);
        (Sums { sum, spread, mean: sum / self.n + shift, shift }, r)
    }

    fn sums(&self, x: Column<'_>, stats: &ColumnStats) -> (Sums, f64) {
        match x {
            _ if self.weight.is_some() => self.centred(x, stats),
            Column::F32(_) | Column::F64(_) | Column::Whole(_) | Column::Genotypes(_) => {
                self.centred(x, stats)
            }
            Column::Sparse { index, value: NumbersRef::F32(v), .. } => self.weigh_sparse(index, v),
            Column::Sparse { index, value: NumbersRef::F64(v), .. } => self.weigh_sparse(index, v),
            Column::Bits { words, .. } => {
                let ones = popcount::count_ones(words) as f64;
                let product = match &self.y_bits {
                    Some(y) => popcount::count_and(words, y) as f64,
                    None => x.dot(&self.y),
                };
                self.finish(ones, ones, product, 0.0)
            }
            Column::Codes { codes, levels } => {
                let mut by_level = vec![(0u32, 0.0); levels.len()];
                for (code, y) in codes.iter().zip(&self.y) {
                    let level = &mut by_level[usize::from(*code)];
                    *level = (level.0 + 1, level.1 + y);
                }
                let shift = levels.first().copied().unwrap_or(0.0);
                let (mut sum, mut square, mut product) = (0.0, 0.0, 0.0);
                for ((count, y), level) in by_level.iter().zip(levels) {
                    let (x, count) = (level - shift, f64::from(*count));
                    sum += count * x;
                    square += count * x * x;
                    product += x * y;
                }
                self.finish(sum, square, product, shift)
            }
        }
    }

    fn centred(&self, x: Column<'_>, stats: &ColumnStats) -> (Sums, f64) {
        let spread = self.n * self.n * stats.variance;
        let r = correlation(self.n * x.dot(&self.y_centred), spread, self.y_spread);
        (Sums { sum: 0.0, spread, mean: stats.mean, shift: stats.mean }, r)
    }

    fn is_centred(&self, x: Column<'_>) -> bool {
        self.weight.is_some() || x.in_tiles()
    }
}

/// `product / sqrt(spread_a spread_b)` within [-1, 1]; 0 where a column has no spread.
#[inline]
#[must_use]
pub fn correlation(product: f64, a: f64, b: f64) -> f64 {
    let both = a * b;
    // The product of two spreads may overflow or underflow where neither spread does.
    let inside = both.is_finite() && both > f64::MIN_POSITIVE;
    let scale = if inside { both.sqrt() } else { a.max(0.0).sqrt() * b.max(0.0).sqrt() };
    if scale > 0.0 { (product / scale).clamp(-1.0, 1.0) } else { 0.0 }
}

impl FisherZ {
    /// Signed correlation between the newcomer loaded last and another column.
    pub fn signed_correlation(&self, newcomer: Side<'_, Sums>, other: Side<'_, Sums>) -> f64 {
        let (a, b) = (newcomer.facts, other.facts);
        let shifted = |side: Side<'_, Sums>| side.facts.shift;
        let product = if self.is_centred(newcomer.x) {
            self.n * other.x.dot(&self.scratch)
        } else {
            let x = Shifted { x: newcomer.x, shift: shifted(newcomer) };
            each_dense!(
                other.x,
                // It is enough to centre the dense side, and nothing cancels.
                y => self.n * against_dense(x, y, b.mean),
                _ => self.n * dot(x, Shifted { x: other.x, shift: b.shift }) - a.sum * b.sum
            )
        };
        correlation(product, a.spread, b.spread)
    }

    /// Signed correlation with the target.
    pub fn with_target(&self, x: Side<'_, Sums>) -> f64 {
        let stats = ColumnStats {
            mean: x.facts.mean,
            variance: x.facts.spread / (self.n * self.n),
            ..ColumnStats::default()
        };
        self.sums(x.x, &stats).1
    }
}

/// What the measure is and can do.
pub(super) const INFO: MeasureInfo = MeasureInfo {
    name: "fisher-z",
    score: "absolute correlation with the target",
    numbers: true,
    tested: true,
    pairs: true,
    conditional: true,
};

impl Named for FisherZ {
    fn made(problem: &Problem, thresholds: Thresholds) -> Result<Self> {
        Self::new(problem, thresholds.alpha)
    }
}

impl Measure for FisherZ {
    type Facts = Sums;

    const KIND: MeasureKind = MeasureKind::FisherZ;

    fn weigh(&mut self, x: Column<'_>, stats: &ColumnStats) -> Result<(Sums, Evidence)> {
        let (sums, r) = self.sums(x, stats);
        let strength = r.abs();
        if strength < self.least {
            return Ok((sums, Evidence::weak(strength)));
        }
        let p_value = Some(self.p_value(r, 0));
        Ok((sums, Evidence { strength, relevant: true, p_value }))
    }

    fn load(&mut self, newcomer: Side<'_, Sums>) {
        if !self.is_centred(newcomer.x) {
            return;
        }
        self.scratch.resize(self.y.len(), 0.0);
        newcomer.x.fill(&mut self.scratch);
        let mean = newcomer.facts.mean;
        self.scratch.iter_mut().for_each(|x| *x -= mean);
        if let Some(weight) = &self.weight {
            kernel::scale_by(&mut self.scratch, weight);
        }
    }

    fn strength(&mut self, newcomer: Side<'_, Sums>, other: Side<'_, Sums>) -> f64 {
        self.signed_correlation(newcomer, other).abs()
    }

    fn strength_disjoint(&mut self, a: &Sums, b: &Sums) -> Option<f64> {
        // Both columns are sparse, so neither has a shift.
        let product = -(a.sum * b.sum);
        self.weight.is_none().then(|| correlation(product, a.spread, b.spread).abs())
    }

    fn ties_count(&self) -> bool {
        false
    }

    fn centres(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::check::{CheckPolicy, CheckedBlock, Wants, check};
    use crate::data::column::ColumnData;
    use crate::data::column::Numbers;
    use crate::data::order::generator;
    use crate::{FeatureId, RawColumn};
    use rand::RngExt;

    fn plain(x: &[f64], y: &[f64], v: &[f64]) -> f64 {
        let total: f64 = v.iter().sum();
        let mean = |x: &[f64]| x.iter().zip(v).map(|(x, v)| x * v).sum::<f64>() / total;
        let (mx, my) = (mean(x), mean(y));
        let cov = |x: &[f64], mx: f64, y: &[f64], my: f64| -> f64 {
            x.iter().zip(y).zip(v).map(|((x, y), v)| v * (x - mx) * (y - my)).sum()
        };
        cov(x, mx, y, my) / (cov(x, mx, x, mx) * cov(y, my, y, my)).sqrt()
    }

    fn kinds(x: &[f64]) -> Vec<ColumnData> {
        let at: Vec<u32> = (0..x.len() as u32).filter(|i| x[*i as usize] != 0.0).collect();
        let value = Numbers::F64(at.iter().map(|i| x[*i as usize]).collect());
        let mut all = vec![
            ColumnData::Dense(Numbers::F64(x.to_vec())),
            ColumnData::Sparse { rows: x.len(), index: at, value },
        ];
        all.extend(crate::data::compact::compact(Column::dense(x)));
        all
    }

    #[test]
    fn every_storage_gives_the_correlation_of_the_definition() {
        let mut random = generator(11, 0);
        for trial in 0..200 {
            let n = random.random_range(8..90);
            let mut column = |kind: usize| -> Vec<f64> {
                let value = |random: &mut rand_xoshiro::Xoshiro256PlusPlus| match kind {
                    0 => f64::from(random.random_range(0..2)),
                    1 => f64::from(random.random_range(-1..3)),
                    _ => random.random::<f64>() + if kind == 3 { 1e4 } else { 0.0 },
                };
                let mut x: Vec<f64> = (0..n).map(|_| value(&mut random)).collect();
                (x[0], x[1]) = (0.0, 1.0);
                x
            };
            let (y, a, b) = (column(trial % 3), column(trial % 4), column(trial / 4 % 4));
            let weight: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
            for weight in [None, Some(weight)] {
                let mut problem = Problem::regression(y.clone());
                problem.weight.clone_from(&weight);
                let v = weight.unwrap_or_else(|| vec![1.0; n]);
                let mut z = FisherZ::new(&problem, 0.01).unwrap();
                let raw =
                    |data| RawColumn { id: FeatureId::new(0), name: "x".into(), source: 0, data };
                let (policy, wants) = (CheckPolicy::default(), Wants::default());
                for p in kinds(&a).into_iter().map(raw) {
                    let mut out = CheckedBlock::default();
                    check(&p, 0, &problem, &policy, wants, &mut out).unwrap();
                    let p = &out.features[0];
                    let (pf, e) = z.weigh(p.column(), &p.stats).unwrap();
                    assert!((e.strength - plain(&a, &y, &v).abs()).abs() < 1e-9);
                    for q in kinds(&b).into_iter().map(raw) {
                        let mut out = CheckedBlock::default();
                        check(&q, 0, &problem, &policy, wants, &mut out).unwrap();
                        let q = &out.features[0];
                        let (qf, _) = z.weigh(q.column(), &q.stats).unwrap();
                        let side = Side { x: p.column(), facts: &pf };
                        z.load(side);
                        let t = z.signed_correlation(side, Side { x: q.column(), facts: &qf });
                        assert!((t - plain(&a, &b, &v)).abs() < 1e-9, "{t}");
                    }
                }
            }
        }
    }

    #[test]
    fn columns_that_share_no_row_are_answered_in_closed_form() {
        let y: Vec<f64> = (0..20).map(|i| f64::from(i % 2)).collect();
        let mut z = FisherZ::new(&Problem::binary(&y), 0.01).unwrap();
        let column = |index: Vec<u32>, value: Vec<f32>| ColumnData::Sparse {
            rows: 20,
            index,
            value: Numbers::F32(value),
        };
        let (a, b) = (column(vec![1, 4], vec![2.0, 1.5]), column(vec![0, 9], vec![1.0, 3.0]));
        let stats = ColumnStats::default();
        let (fa, _) = z.weigh(a.view(), &stats).unwrap();
        let (fb, _) = z.weigh(b.view(), &stats).unwrap();
        let t = z.strength(Side { x: a.view(), facts: &fa }, Side { x: b.view(), facts: &fb });
        assert_eq!(z.strength_disjoint(&fa, &fb), Some(t));
    }

    #[test]
    fn the_test_is_the_cutoff_on_w() {
        // n = 12: W = 3 atanh r, cutoff 2.5758 at 0.01, so |r| >= tanh(0.858610) = 0.695541.
        let y: Vec<f64> = (0..12).map(f64::from).collect();
        let z = FisherZ::new(&Problem::regression(y), 0.01).unwrap();
        assert!((z.min_correlation() - 0.695_540_696_4).abs() < 1e-9, "{}", z.min_correlation());
        assert!((z.p_value(z.min_correlation(), 0) - 0.01).abs() < 1e-12);
    }
}
