//! Every column is checked here, once, before a method sees it.
//!
//! Rows that do not count are left out, missing values meet the policy, columns that carry
//! nothing are dropped, and the statistics that methods need are computed:
//!
//! ```text
//! mean = sum v_i x_i / W        variance = sum v_i (x_i - mean)^2 / W        W = sum v_i
//! ```
//!
//! with sample weights `v`. NaN and infinities both count as missing. A column whose mean is large
//! against its deviation is held less a shift, so that nothing cancels later (`offset.rs`).

mod block;
mod missing;
pub(crate) mod offset;

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::block::{FeatureId, RawColumn};
use super::column::{Column, ColumnData, Genotypes};
use super::kept::Kept;
use super::name::Name;
pub use super::policy::{CheckPolicy, Missing};
use super::pool::Pool;
use super::target::{Problem, RowMap};
use crate::error::{Error, Result};
use crate::select::{Glance, Glances, Reason};

pub use block::{CheckedBlock, Wants, check_block, check_block_for};
use missing::{missing_indicator, repair};

/// Statistics of one column over the rows that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnStats {
    /// Weighted mean of the values as they are held.
    pub mean: f64,
    /// Weighted variance, divided by the sum of weights.
    pub variance: f64,
    /// What was taken off every value before it was held; 0 for nearly all columns.
    pub shift: f64,
    /// Values that were missing.
    pub missing: u32,
}

impl ColumnStats {
    /// Whether statistics that were read back can be those of a column.
    pub(crate) fn sound(&self) -> bool {
        let finite = self.mean.is_finite() && self.shift.is_finite() && self.variance.is_finite();
        finite && self.variance >= 0.0
    }

    /// Weighted mean of the values as they came.
    #[must_use]
    pub fn original_mean(&self) -> f64 {
        self.shift + self.mean
    }

    /// The weighted mean square, centred or not.
    #[must_use]
    pub fn square(&self, centred: bool) -> f64 {
        if centred { self.variance } else { self.mean.mul_add(self.mean, self.variance) }
    }
}

/// One feature, checked: what a method decides on.
pub struct Feature<'a> {
    /// Its identity.
    pub id: FeatureId,
    /// Its name.
    pub name: Cow<'a, Name>,
    /// Place of its file in [`crate::FeatureSource::sources`].
    pub source: u32,
    /// Place in the scan at which it arrived.
    pub arrival: u64,
    /// Kept whatever happens, and not counted in `k`.
    pub pinned: bool,
    /// The group it belongs to, where groups were given.
    pub group: Option<u32>,
    /// Mean, variance and missing count.
    pub stats: ColumnStats,
    /// What the method saw when the column was checked.
    pub glance: Option<Glance>,
    values: Cow<'a, ColumnData>,
    // Where lanes keep the columns that they share.
    pool: Option<&'a Pool>,
}

impl<'a> Feature<'a> {
    /// A held column as a newcomer; `None` of a covariate, which is no feature.
    #[must_use]
    pub fn of_kept(kept: &'a Kept) -> Option<Self> {
        Some(Self {
            id: kept.id?,
            name: Cow::Owned(Name::Text(kept.name.clone())),
            source: kept.source,
            arrival: kept.arrival,
            pinned: kept.pinned,
            group: kept.group,
            stats: kept.stats,
            glance: None,
            values: Cow::Borrowed(kept.data()),
            pool: None,
        })
    }

    /// A covariate in the shape of a pinned feature.
    pub(crate) fn covariate(raw: &'a RawColumn, stats: ColumnStats) -> Self {
        Self {
            id: raw.id,
            name: Cow::Borrowed(&raw.name),
            source: raw.source,
            arrival: 0,
            pinned: true,
            group: None,
            stats,
            glance: None,
            values: Cow::Borrowed(&raw.data),
            pool: None,
        }
    }
}

impl Feature<'_> {
    /// The same feature for another lane: name and values are borrowed from this one.
    pub(crate) fn share<'s>(&'s self, pool: Option<&'s Pool>) -> Feature<'s> {
        let name = Cow::Borrowed(self.name.as_ref());
        let Self { id, source, arrival, pinned, group, stats, .. } = *self;
        let (glance, values) = (None, Cow::Borrowed(self.values.as_ref()));
        Feature { id, name, source, arrival, pinned, group, stats, glance, values, pool }
    }

    /// A copy of its own, values that are shared with a source or a caller included, to outlive its
    /// block.
    #[must_use]
    pub fn owned(&self) -> Feature<'static> {
        let name = Cow::Owned(self.name.as_ref().clone());
        let Self { id, source, arrival, pinned, group, stats, .. } = *self;
        let (glance, values, pool) = (None, Cow::Owned(self.column().to_data()), None);
        Feature { id, name, source, arrival, pinned, group, stats, glance, values, pool }
    }

    /// A copy of the values that may be held: one for all lanes that share the check.
    pub(crate) fn to_held(&self) -> Arc<ColumnData> {
        match self.pool {
            Some(pool) => pool.held(self.id, || self.column().to_data()),
            None => Arc::new(self.column().to_data()),
        }
    }

    /// The values, finite, a value for each row that counts.
    #[must_use]
    pub fn column(&self) -> Column<'_> {
        self.values.view()
    }
}

/// Checks one column and puts what comes of it into `out`: up to two features, or a reason to drop
/// it. Where values were missing may vary although the values that are there do not.
pub(crate) fn check<'a>(
    raw: &'a RawColumn,
    arrival: u64,
    problem: &Problem,
    policy: &CheckPolicy,
    wants: Wants<'_>,
    out: &mut CheckedBlock<'a>,
) -> Result<()> {
    let mut drop = |reason| out.dropped.push((raw.id, Cow::Borrowed(&raw.name), arrival, reason));
    let stored = raw.data.view();
    let got = stored.rows();
    if got != problem.rows.input() {
        let what = format!("feature {:?}", raw.name);
        return Err(Error::Rows { what, got, want: problem.rows.input() });
    }
    if let Column::Sparse { index: [], .. } = stored {
        // All zeros, whichever rows count.
        drop(Reason::Constant);
        return Ok(());
    }
    let values = match &problem.rows {
        RowMap::All(_) => Cow::Borrowed(&raw.data),
        RowMap::Some { take, place } => Cow::Owned(stored.gather(take, place)),
    };
    if let Column::Genotypes(x) = values.view()
        && policy.limits_alleles()
        && policy.too_rare(&x.counts())
    {
        drop(Reason::Maf);
        return Ok(());
    }
    let mut feature = Feature {
        id: raw.id,
        name: Cow::Borrowed(&raw.name),
        source: raw.source,
        arrival,
        pinned: false,
        group: None,
        stats: ColumnStats::default(),
        glance: None,
        values,
        pool: None,
    };
    let weight = problem.weight.as_deref();
    let x = feature.column();
    let probe = wants.glances.and_then(Glances::probe).filter(|_| weight.is_none() && x.is_dense());
    let (stats, finite, mut product) = match probe {
        Some(probe) => {
            let (moments, product) = x.moments_and_dot(first_value(x), probe);
            let (stats, finite) = stats(x, moments, problem.weight_sum());
            (stats, finite, Some(product).filter(|_| finite))
        }
        None => {
            let (stats, finite) = statistics(x, weight, problem.weight_sum());
            (stats, finite, None)
        }
    };
    feature.stats = stats;
    let mut indicator = None;
    if !finite {
        match repair(&mut feature, problem, policy)? {
            Some(reason) => {
                drop(reason);
                return Ok(());
            }
            None => indicator = missing_indicator(raw, arrival, problem, policy),
        }
    }
    let near = settle_offset(&mut feature, problem);
    if feature.stats.variance <= 0.0 || too_rare(&feature, policy.min_count) {
        drop(Reason::Constant);
        out.features.extend(indicator);
        return Ok(());
    }
    if let Some((data, stats)) = near.filter(|_| wants.centres) {
        feature.stats = ColumnStats { missing: feature.stats.missing, ..stats };
        feature.values = Cow::Owned(data);
        // It was taken of the values as they came.
        product = None;
    }
    if let Some(glances) = wants.glances {
        feature.glance = glances.glance(&feature, product);
    }
    out.features.push(feature);
    out.features.extend(indicator);
    Ok(())
}

/// Where the mean is large against the deviation: the true statistics of the values as they are,
/// and the values near zero with theirs.
fn settle_offset(
    feature: &mut Feature<'_>,
    problem: &Problem,
) -> Option<(ColumnData, ColumnStats)> {
    if !offset::is_far(&feature.stats) {
        return None;
    }
    let x = feature.column();
    if matches!(x, Column::Bits { .. } | Column::Genotypes(_)) {
        return None;
    }
    let near = offset::shifted(x, problem.weight.as_deref(), problem.weight_sum());
    feature.stats.variance = near.as_ref().map_or(0.0, |(_, stats)| stats.variance);
    if let Some((_, stats)) = &near {
        feature.stats.mean = stats.original_mean();
    }
    near
}

/// Mean, variance and whether every value is finite.
fn statistics(x: Column<'_>, weight: Option<&[f64]>, sum: f64) -> (ColumnStats, bool) {
    stats(x, x.moments(weight, first_value(x)), sum)
}

/// The commonest value of genotypes: about it the moments of a constant column are exactly zero.
fn commonest(x: Genotypes<'_>) -> f64 {
    let counts = x.counts().copies;
    (0..3).max_by_key(|copies| counts[*copies]).map_or(0.0, |copies| copies as f64)
}

/// Shifting by one of the values keeps the digits of a column with a large offset, and makes
/// the second moment of a constant column exactly zero.
fn first_value(x: Column<'_>) -> f64 {
    match x {
        Column::Genotypes(x) => commonest(x),
        _ if x.is_dense() && x.rows() > 0 => x.get(0),
        _ => 0.0,
    }
}

/// Statistics out of the moments about the first value.
fn stats(x: Column<'_>, (first, second): (f64, f64), sum: f64) -> (ColumnStats, bool) {
    let shift = first_value(x);
    let mean = first / sum;
    let mut variance = (second - first * mean) / sum;
    if second == 0.0 || constant_stored(x) {
        variance = 0.0;
    }
    let (mean, variance) = (mean + shift, variance.max(0.0));
    (ColumnStats { mean, variance, ..ColumnStats::default() }, second.is_finite())
}

/// Whether a column that skips zeros, or a coded one, has one value only.
fn constant_stored(x: Column<'_>) -> bool {
    match x {
        Column::Sparse { rows, index, .. } => index.len() == rows && off_commonest(x) == 0,
        Column::Bits { rows, words } => {
            crate::numeric::popcount::count_ones(words) as usize == rows
        }
        Column::Codes { codes, .. } => codes.windows(2).all(|pair| pair[0] == pair[1]),
        _ => false,
    }
}

fn too_rare(feature: &Feature<'_>, min_count: usize) -> bool {
    min_count > 1 && off_commonest(feature.column()) < min_count
}

/// Rows whose value is not the commonest one.
fn off_commonest(x: Column<'_>) -> usize {
    if let Column::Genotypes(x) = x {
        let counts = x.counts();
        let filled = |copies: usize| u64::from(x.missing() == copies as f64) * counts.missing;
        let longest = (0..3).map(|copies| counts.copies[copies] + filled(copies)).max();
        return x.rows() - longest.unwrap_or(0).max(counts.missing) as usize;
    }
    let mut values = Vec::new();
    x.each(|_, v| values.push(v));
    values.sort_unstable_by(f64::total_cmp);
    let stored_zeros = values.iter().filter(|v| **v == 0.0).count();
    let zeros = x.rows() - values.len() + stored_zeros;
    let longest = values.chunk_by(|a, b| a == b).map(<[f64]>::len).max().unwrap_or(0);
    x.rows() - longest.max(zeros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::Numbers;

    fn raw(data: ColumnData) -> RawColumn {
        RawColumn { id: FeatureId::new(3), name: "x".into(), source: 0, data }
    }

    fn checked(
        data: ColumnData,
        problem: &Problem,
        policy: &CheckPolicy,
    ) -> Result<Result<Vec<(String, ColumnStats)>, Reason>> {
        let raw = raw(data);
        let mut out = CheckedBlock::default();
        check(&raw, 0, problem, policy, Wants::default(), &mut out)?;
        let named = |f: &Feature<'_>| (f.name.to_string(), f.stats);
        Ok(match out.dropped.first() {
            Some(dropped) => Err(dropped.3),
            None => Ok(out.features.iter().map(named).collect()),
        })
    }

    #[test]
    fn statistics_survive_a_large_offset() {
        // 1e8 + {0, 1, 2}: the variance is 2/3, as for {0, 1, 2}.
        let problem = Problem::regression(vec![0.0; 3]);
        let x = ColumnData::Dense(Numbers::F64(vec![1e8, 1e8 + 1.0, 1e8 + 2.0]));
        let stats = checked(x, &problem, &CheckPolicy::default()).unwrap().unwrap()[0].1;
        assert_eq!(stats.mean, 1e8 + 1.0);
        assert!((stats.variance - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn missing_values_meet_the_policy() {
        let problem = Problem::regression(vec![0.0; 4]);
        let x = || ColumnData::dense(vec![1.0, f64::NAN, 3.0, f64::INFINITY]);
        let with = |missing| CheckPolicy { missing, ..CheckPolicy::default() };
        let error = checked(x(), &problem, &with(Missing::Error)).unwrap_err();
        assert!(error.to_string().contains("\"x\"") && error.to_string().contains("row 1"));
        let dropped = checked(x(), &problem, &with(Missing::DropFeature)).unwrap();
        assert_eq!(dropped, Err(Reason::Missing));
        let mean = checked(x(), &problem, &with(Missing::Mean)).unwrap().unwrap();
        assert_eq!((mean[0].1.mean, mean[0].1.variance, mean[0].1.missing), (2.0, 0.5, 2));
        let zero = checked(x(), &problem, &with(Missing::Zero)).unwrap().unwrap();
        assert_eq!(zero[0].1.mean, 1.0);
        let both = checked(x(), &problem, &with(Missing::Indicator)).unwrap().unwrap();
        assert_eq!((both[1].0.as_str(), both[1].1.mean), ("x:missing", 0.5));
        let most = CheckPolicy { max_missing: Some(0.4), ..with(Missing::Mean) };
        assert_eq!(checked(x(), &problem, &most).unwrap(), Err(Reason::Missing));
    }

    #[test]
    fn constant_and_rare_columns_are_dropped_in_every_storage() {
        let problem = Problem::regression(vec![0.0; 4]);
        let policy = CheckPolicy::default();
        for data in [
            ColumnData::dense(vec![0.1; 4]),
            ColumnData::Sparse { rows: 4, index: vec![], value: Numbers::F32(vec![]) },
            ColumnData::Sparse {
                rows: 4,
                index: vec![0, 1, 2, 3],
                value: Numbers::F64(vec![0.1; 4]),
            },
            ColumnData::Bits { rows: 4, words: vec![15] },
            ColumnData::Codes { codes: vec![1; 4], levels: vec![0.0, 0.7] },
        ] {
            assert_eq!(checked(data, &problem, &policy).unwrap(), Err(Reason::Constant));
        }
        let rare = ColumnData::dense(vec![0.0, 0.0, 5.0, 0.0]);
        assert!(checked(rare.clone(), &problem, &policy).unwrap().is_ok());
        let twice = CheckPolicy { min_count: 2, ..policy };
        assert_eq!(checked(rare, &problem, &twice).unwrap(), Err(Reason::Constant));
    }

    /// Of ten alleles three are of the rarer kind: 0, 0, 1, 2, a missing one and 0.
    #[test]
    fn rare_alleles_are_counted_among_those_that_are_known() {
        use crate::data::column::GenotypeData;
        let problem = Problem::regression(vec![0.0; 6]);
        let copies = [Some(0), Some(0), Some(1), Some(2), None, Some(0)];
        let mirrored = copies.map(|copies| copies.map(|copies| 2 - copies));
        for copies in [copies, mirrored] {
            let x = || ColumnData::Genotypes(GenotypeData::of(copies.into_iter()).unwrap());
            let policy = CheckPolicy { missing: Missing::Mean, ..CheckPolicy::default() };
            for (maf, mac, passes) in
                [(0.3, 3, true), (0.31, 0, false), (0.0, 4, false), (0.0, 0, true)]
            {
                let found = checked(x(), &problem, &CheckPolicy { maf, mac, ..policy.clone() });
                assert_eq!(found.unwrap().err(), (!passes).then_some(Reason::Maf), "{maf} {mac}");
            }
        }
    }

    #[test]
    fn only_rows_that_count_are_seen() {
        let mut problem = Problem::regression(vec![0.0; 2]);
        problem.rows = RowMap::new(3, vec![2, 0]).unwrap();
        let x = ColumnData::dense(vec![1.0, f64::NAN, 3.0]);
        let stats = checked(x, &problem, &CheckPolicy::default()).unwrap().unwrap()[0].1;
        assert_eq!((stats.mean, stats.variance), (2.0, 1.0));
        let short = checked(ColumnData::dense(vec![1.0]), &problem, &CheckPolicy::default());
        assert!(short.unwrap_err().to_string().contains("has 1 rows, expected 3"));
    }
}
