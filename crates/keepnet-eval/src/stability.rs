//! How alike the selections from different training rows or orders are.
//!
//! ```text
//! matching(A, B) = 1 / |M| sum over (a, b) in M of SU(a, b)
//! index(A, B)    = (r - |A||B| / p) / sqrt(|A| (1 - |A|/p) |B| (1 - |B|/p)),  r = |A and B|
//! ```
//!
//! with `M` the matching of largest weight between the two sets, of `min(|A|, |B|)` pairs, and
//! `SU` the symmetrical uncertainty: two sets that hold different copies of the same feature
//! are alike. Source: Yu, Ding and Loscalzo, KDD 2008, each feature a group of its own, as the
//! SAOLA paper uses it (section 5.2.3). For sets of one size `index` is Kuncheva's (AIA 2007);
//! for others it is the correlation of the two indicator vectors, which agrees with hers there
//! (Nogueira and Brown, ECML 2016). Stability is the mean over all pairs of selections.
//!
//! Columns of more than `bins` levels are cut into equal-frequency bins before the uncertainty
//! is taken. A matching costs O(min^2 max); uncertainties are computed once a pair of features.

use std::collections::{BTreeMap, HashMap, HashSet};

use keepnet::measure::{Bins, Measure, Side, Su};
use keepnet::{Column, ColumnData, ColumnStats, Error, Problem, Result};
use pathfinding::prelude::{Matrix as Weights, kuhn_munkres};

/// Weights are matched as integers, so that the result is exact and needs no tolerance.
const UNIT: f64 = (1u64 << 40) as f64;

/// Bins for columns that are no codes.
pub const BINS: usize = 10;

/// The largest sum of weights over pairs that share neither side; `weight(a, b)` is in [0, 1].
pub fn matching(rows: usize, columns: usize, weight: impl Fn(usize, usize) -> f64) -> f64 {
    let (few, many) = (rows.min(columns), rows.max(columns));
    if few == 0 {
        return 0.0;
    }
    let cell = |(a, b): (usize, usize)| {
        let value = if rows <= columns { weight(a, b) } else { weight(b, a) };
        (value * UNIT).round() as i64
    };
    let table = Weights::from_fn(few, many, cell);
    kuhn_munkres(&table).0 as f64 / UNIT
}

/// Kuncheva's index of two sets out of `features`; `None` where one is empty or is everything.
#[must_use]
pub fn kuncheva(a: &[u64], b: &[u64], features: u64) -> Option<f64> {
    let p = features as f64;
    let (ka, kb) = (a.len() as f64, b.len() as f64);
    let spread = ka * (1.0 - ka / p) * kb * (1.0 - kb / p);
    let other: HashSet<_> = b.iter().collect();
    let common = a.iter().filter(|feature| other.contains(feature)).count() as f64;
    (spread > 0.0).then(|| (common - ka * kb / p) / spread.sqrt())
}

/// The mean of Kuncheva's index over all pairs of selections.
#[must_use]
pub fn mean_kuncheva(selections: &[Vec<u64>], features: u64) -> Option<f64> {
    mean_of_pairs(selections, |a, b| kuncheva(a, b, features))
}

fn mean_of_pairs(
    selections: &[Vec<u64>],
    mut value: impl FnMut(&[u64], &[u64]) -> Option<f64>,
) -> Option<f64> {
    let (mut sum, mut pairs) = (0.0, 0u32);
    for (i, a) in selections.iter().enumerate() {
        for b in &selections[..i] {
            if let Some(value) = value(a, b) {
                (sum, pairs) = (sum + value, pairs + 1);
            }
        }
    }
    (pairs > 0).then(|| sum / f64::from(pairs))
}

/// Symmetrical uncertainties between features, computed when they are asked for.
pub struct Uncertainties {
    measure: Su,
    coded: BTreeMap<u64, (ColumnData, <Su as Measure>::Facts)>,
    known: HashMap<(u64, u64), f64>,
}

impl Uncertainties {
    /// Uncertainties between these columns, by feature; the columns have a value a row.
    pub fn new<'a>(
        rows: usize,
        columns: impl IntoIterator<Item = (u64, &'a [f64])>,
        bins: usize,
    ) -> Result<Self> {
        // The measure wants a target; strengths between features do not depend on it.
        let problem = Problem::regression((0..rows).map(|row| (row % 2) as f64).collect());
        let mut measure = Su::new(&problem, 0.0, Some(Bins::Equal(bins)))?;
        let mut coded = BTreeMap::new();
        for (feature, values) in columns {
            if values.len() != rows {
                let what = format!("feature {feature}");
                return Err(Error::Rows { what, got: values.len(), want: rows });
            }
            let column = Column::dense(values);
            let data = measure.code(column)?.unwrap_or_else(|| column.to_data());
            let (facts, _) = measure.weigh(data.view(), &ColumnStats::default())?;
            coded.insert(feature, (data, facts));
        }
        Ok(Self { measure, coded, known: HashMap::new() })
    }

    /// The uncertainty between two features, 1 for a feature and itself.
    pub fn between(&mut self, a: u64, b: u64) -> Result<f64> {
        let pair = (a.min(b), a.max(b));
        if pair.0 == pair.1 {
            return Ok(1.0);
        }
        if let Some(value) = self.known.get(&pair) {
            return Ok(*value);
        }
        let side = |feature: u64| {
            let none = || Error::Data(format!("feature {feature} was not among the columns"));
            self.coded.get(&feature).ok_or_else(none)
        };
        let ((x, x_facts), (y, y_facts)) = (side(pair.0)?, side(pair.1)?);
        let (x, y) = (Side { x: x.view(), facts: x_facts }, Side { x: y.view(), facts: y_facts });
        self.measure.load(x);
        let value = self.measure.strength(x, y);
        self.known.insert(pair, value);
        Ok(value)
    }

    /// How alike two selections are, in [0, 1]; `None` where one is empty.
    pub fn similarity(&mut self, a: &[u64], b: &[u64]) -> Result<Option<f64>> {
        let few = a.len().min(b.len());
        if few == 0 {
            return Ok(None);
        }
        let mut table = vec![0.0; a.len() * b.len()];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                table[i * b.len() + j] = self.between(*x, *y)?;
            }
        }
        let sum = matching(a.len(), b.len(), |i, j| table[i * b.len() + j]);
        Ok(Some(sum / few as f64))
    }

    /// The mean similarity over all pairs of selections.
    pub fn stability(&mut self, selections: &[Vec<u64>]) -> Result<Option<f64>> {
        let mut failed = None;
        let mean = mean_of_pairs(selections, |a, b| match self.similarity(a, b) {
            Ok(value) => value,
            Err(error) => {
                failed.get_or_insert(error);
                None
            }
        });
        failed.map_or(Ok(mean), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matching_is_the_best_and_not_the_greedy_one() {
        // linear_sum_assignment of SciPy 1.17.1: pairs (0,1), (1,0), (2,2), sum 2.3; taking the
        // largest weight first gives 0.9 + 0.7 + 0.1 = 1.7.
        let weights = [[0.9, 0.8, 0.1], [0.8, 0.1, 0.2], [0.3, 0.6, 0.7]];
        let sum = matching(3, 3, |a, b| weights[a][b]);
        assert!((sum - 2.3).abs() < 1e-9, "{sum}");
        // Two against three, either way round: 0.8 + 0.8.
        let wide = matching(2, 3, |a, b| weights[a][b]);
        let tall = matching(3, 2, |a, b| weights[b][a]);
        assert!((wide - 1.6).abs() < 1e-9 && wide == tall, "{wide} {tall}");
        assert_eq!(matching(0, 3, |_, _| 1.0), 0.0);
    }

    #[test]
    fn kunchevas_index_worked_by_hand() {
        // r = 2, k = 4, p = 10: (20 - 16) / (4 * 6) = 1/6.
        let got = kuncheva(&[1, 2, 3, 4], &[3, 4, 5, 6], 10).unwrap();
        assert!((got - 1.0 / 6.0).abs() < 1e-15);
        assert!((kuncheva(&[1, 2], &[2, 1], 10).unwrap() - 1.0).abs() < 1e-15);
        // Sizes 1 and 2, r = 1, p = 4: (1 - 1/2) / sqrt(3/4 * 1) = 1 / sqrt 3.
        let got = kuncheva(&[1], &[1, 2], 4).unwrap();
        assert!((got - 1.0 / 3f64.sqrt()).abs() < 1e-15);
        assert_eq!(kuncheva(&[], &[1], 4), None);
        let three = [vec![1, 2], vec![1, 2], vec![3, 4]];
        // Pairs: 1, and twice (0 - 4/10) / (2 * 0.8) = -1/4.
        assert!((mean_kuncheva(&three, 10).unwrap() - 0.5 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn copies_of_a_feature_count_as_the_feature() {
        let x = [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 0.0, 1.0];
        let copy = x.map(|v| 5.0 - v);
        // Independent of x in the balanced part of the table.
        let other = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0];
        let columns = [(3, &x[..]), (7, &copy[..]), (9, &other[..])];
        let mut su = Uncertainties::new(8, columns, BINS).unwrap();
        assert_eq!(su.between(3, 7).unwrap(), 1.0);
        // H(x) = 1.561278 (3, 3, 2 of 8), H(other) = 1; cells (1,2), (2,1), (1,1):
        // joint 2.5, so I = 0.061278 and SU = 2 I / 2.561278.
        let want = 2.0 * 0.061_278_124_459_132_84 / 2.561_278_124_459_133;
        assert!((su.between(3, 9).unwrap() - want).abs() < 1e-9);
        assert_eq!(su.similarity(&[3], &[7, 9]).unwrap(), Some(1.0));
        let both = su.similarity(&[3, 9], &[7, 9]).unwrap();
        assert_eq!(both, Some(1.0));
        assert_eq!(su.similarity(&[], &[7]).unwrap(), None);
        let stability = su.stability(&[vec![3], vec![7], vec![9]]).unwrap().unwrap();
        assert!((stability - (1.0 + 2.0 * want) / 3.0).abs() < 1e-9);
        assert!(su.between(3, 4).is_err());
    }
}
