//! What becomes of each row on its way to a learner: missing targets and values, and the counts.
//!
//! The policy for missing values is applied row by row and by the rows before alone, so no
//! result depends on the source's blocks. Rows whose target is missing are left out and counted. A
//! value that a sparse row does not name is zero, and counts in the mean as one.

use serde::{Deserialize, Serialize};

use super::trace::{Trace, TracePoint};
use crate::data::row::{Row, RowBlock};
use crate::error::{Error, Result};
use crate::numeric::row_loops;
use crate::select::Status;
use crate::selection::Selection;

/// What to do with missing values in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowMissing {
    /// Stop and name the feature and the row.
    #[default]
    Error,
    /// Leave the row out, and count it.
    DropRow,
    /// Zero in its place.
    Zero,
    /// The mean of the feature in the rows before, 0 where there is none.
    Mean,
}

impl RowMissing {
    /// `error`, `drop-row`, `mean` or `zero`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "error" => Ok(Self::Error),
            "drop-row" => Ok(Self::DropRow),
            "mean" => Ok(Self::Mean),
            "zero" => Ok(Self::Zero),
            _ => {
                let want = "error, drop-row, mean or zero with a method on rows";
                Err(Error::param("missing", name, want))
            }
        }
    }
}

/// Whether every row can be learnt from as it is, so that none need be copied.
fn clean(block: &RowBlock) -> bool {
    let whole = |row: Row<'_>| match row {
        Row::F32(x) => row_loops::within(x, f64::MAX),
        Row::F64(x) => row_loops::within(x, f64::MAX),
        Row::Sparse { value, .. } => row_loops::within(value, f64::MAX),
    };
    block.y().iter().all(|y| !y.is_nan()) && block.rows().all(whole)
}

/// Where a run stands; part of a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowCounts {
    /// Rows that came.
    pub input: u64,
    /// Rows that were learnt from.
    pub used: u64,
    /// Rows without a target.
    pub without_target: u64,
    /// Rows left out for a missing value.
    pub dropped: u64,
    /// Missing values that were filled.
    pub filled: u64,
}

/// What a run remembers of its rows from one source to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowFilter {
    counts: RowCounts,
    /// Missing values of each feature in the rows that have a target.
    missing: Vec<u64>,
    /// Rows learnt from of each class; empty for numbers.
    classes: Vec<u64>,
    /// Means of the present values, and their number when a row last named the feature; empty
    /// unless means are filled in.
    mean: Vec<f64>,
    present: Vec<u64>,
    /// Rows that the means are of.
    averaged: u64,
    /// Hash of the targets and weights that came.
    seen: u64,
    trace: Trace,
}

/// Rows between two points of a trace that is not full yet.
const TRACED: u64 = 256;

impl RowFilter {
    /// Before the first row.
    pub(super) fn new(features: usize, classes: usize, missing: RowMissing) -> Self {
        let means = if missing == RowMissing::Mean { features } else { 0 };
        Self {
            missing: vec![0; features],
            classes: vec![0; classes],
            mean: vec![0.0; means],
            present: vec![0; means],
            ..Self::default()
        }
    }

    /// As after these rows, which came in another way.
    #[must_use]
    pub fn counted(counts: RowCounts) -> Self {
        Self { counts, ..Self::default() }
    }

    /// Rows so far.
    #[must_use]
    pub fn counts(&self) -> RowCounts {
        self.counts
    }

    /// The learner along the stream, by its status after every 256 rows that were used, thinned
    /// to 200 points. Empty for a learner whose status has no loss between two selections.
    #[must_use]
    pub fn trace(&self) -> Vec<TracePoint> {
        self.trace.points().into_iter().filter(|point| point.loss.is_some()).collect()
    }

    /// Rows that may be used before the next point of the trace: what comes of a stream must not
    /// depend on the blocks that it comes in.
    pub(super) fn until_traced(&self) -> u64 {
        let used = self.counts.used;
        TRACED.saturating_mul(self.trace.ahead(used / TRACED)) - used % TRACED
    }

    /// Takes a point of the trace, where one is due.
    pub(super) fn take_trace(&mut self, status: Status) {
        let used = self.counts.used;
        if used.is_multiple_of(TRACED) {
            self.trace.take(used / TRACED, used, status);
        }
    }

    /// Rows learnt from of each class, where they were counted.
    #[must_use]
    pub fn class_counts(&self) -> Option<&[u64]> {
        let all: u64 = self.classes.iter().sum();
        (!self.classes.is_empty() && all == self.counts.used).then_some(&self.classes)
    }

    /// Adds the counts of another part of the rows.
    pub fn add(&mut self, other: &Self) {
        let add = |to: &mut Vec<u64>, from: &[u64]| {
            to.resize(to.len().max(from.len()), 0);
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        };
        add(&mut self.missing, &other.missing);
        add(&mut self.classes, &other.classes);
        let (mine, other) = (&mut self.counts, &other.counts);
        mine.input += other.input;
        mine.used += other.used;
        mine.without_target += other.without_target;
        mine.dropped += other.dropped;
        mine.filled += other.filled;
    }

    /// Tells each feature of a selection how many of its values were missing.
    pub fn tell(&self, selection: &mut Selection) {
        for feature in selection.selected.iter_mut().chain(&mut selection.pinned) {
            let missing = self.missing.get(feature.id.index as usize);
            feature.missing = missing.map(|count| u32::try_from(*count).unwrap_or(u32::MAX));
        }
    }

    /// Goes on after the rows of another run.
    pub(super) fn follow(&mut self, before: Self) {
        let Self { mean, present, .. } = &before;
        let same = mean.len() == self.mean.len() && present.len() == self.present.len();
        let own = std::mem::take(self);
        let sized = |v: Vec<u64>, own: Vec<u64>| if v.len() == own.len() { v } else { own };
        *self = match same {
            true => before,
            false => {
                let averaged = own.averaged;
                Self { mean: own.mean, present: own.present, averaged, ..before }
            }
        };
        self.missing = sized(std::mem::take(&mut self.missing), own.missing);
        self.classes = sized(std::mem::take(&mut self.classes), own.classes);
    }

    /// Refuses a saved state that is not of this run.
    pub(super) fn fits(&self, saved: &Self) -> Result<()> {
        let lengths = |f: &Self| (f.missing.len(), f.classes.len());
        if lengths(self) != lengths(saved) {
            return Err(Error::Snapshot("it has other features or classes".into()));
        }
        let means = |f: &Self| (f.mean.len(), f.present.len());
        if means(self) != means(saved) {
            return Err(Error::Snapshot("it was made with another `missing`".into()));
        }
        Ok(())
    }

    /// Hash of the targets and weights that came.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// Counts targets and weights into the hash.
    pub(super) fn mark(&mut self, block: &RowBlock) {
        for (y, weight) in block.y().iter().zip(block.weight()) {
            for bits in [y.to_bits(), weight.to_bits()] {
                // One step of FNV-1a a word; a rotation lets high bits reach low ones.
                self.seen = (self.seen ^ bits).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
            }
        }
    }

    /// Counts a block in that can be learnt from as it stands; `false` where it must be passed.
    pub(super) fn whole(&mut self, block: &RowBlock, missing: RowMissing) -> bool {
        if missing == RowMissing::Mean || !clean(block) {
            return false;
        }
        self.mark(block);
        self.counts.input += block.len() as u64;
        self.counts.used += block.len() as u64;
        block.y().iter().for_each(|y| self.count_class(*y));
        true
    }

    fn count_class(&mut self, y: f64) {
        if let Some(count) = self.classes.get_mut(y as usize) {
            *count += 1;
        }
    }

    /// Copies the rows that can be learnt from, missing values filled.
    pub(super) fn pass(
        &mut self,
        block: &RowBlock,
        names: &[String],
        missing: RowMissing,
        out: &mut RowBlock,
    ) -> Result<()> {
        self.mark(block);
        for (i, row) in block.rows().enumerate() {
            let at = self.counts.input;
            self.counts.input += 1;
            let (y, weight) = (block.y()[i], block.weight()[i]);
            if y.is_nan() {
                self.counts.without_target += 1;
                continue;
            }
            let hole = row.beyond(f64::MAX);
            match (hole, missing) {
                (None, _) => out.push(row, y, weight)?,
                (Some(j), RowMissing::Error) => {
                    return Err(Error::Data(format!(
                        "feature {:?} has a missing or infinite value at row {at}; \
                         choose `missing=drop-row`, mean or zero",
                        names[j]
                    )));
                }
                (Some(_), RowMissing::DropRow) => {
                    self.count_missing(row);
                    self.counts.dropped += 1;
                    continue;
                }
                (Some(_), _) => self.fill(row, y, weight, out)?,
            }
            if missing == RowMissing::Mean {
                self.learn_means(row);
            }
            if hole.is_some() {
                self.count_missing(row);
            }
            self.counts.used += 1;
            self.count_class(y);
        }
        Ok(())
    }

    fn count_missing(&mut self, row: Row<'_>) {
        row.each(|j, x| self.missing[j] += u64::from(!x.is_finite()));
    }

    /// Counts the present values of a row into the means.
    fn learn_means(&mut self, row: Row<'_>) {
        let Self { averaged, missing, mean, present, .. } = self;
        row.each(|j, x| {
            settle(j, *averaged, missing, mean, present);
            if x.is_finite() {
                present[j] += 1;
                mean[j] += (x - mean[j]) / present[j] as f64;
            }
        });
        *averaged += 1;
    }

    fn fill(&mut self, row: Row<'_>, y: f64, weight: f64, out: &mut RowBlock) -> Result<()> {
        let Self { counts, averaged, missing, mean, present, .. } = self;
        let mut value = |j: usize, x: f64| {
            if x.is_finite() {
                return x;
            }
            counts.filled += 1;
            if mean.is_empty() {
                return 0.0;
            }
            settle(j, *averaged, missing, mean, present);
            mean[j]
        };
        match row {
            Row::F32(x) => {
                let whole: Vec<f64> =
                    x.iter().enumerate().map(|(j, x)| value(j, f64::from(*x))).collect();
                out.push(Row::F64(&whole), y, weight)
            }
            Row::F64(x) => {
                let whole: Vec<f64> = x.iter().enumerate().map(|(j, x)| value(j, *x)).collect();
                out.push(Row::F64(&whole), y, weight)
            }
            Row::Sparse { index, value: given } => {
                let whole: Vec<f64> =
                    index.iter().zip(given).map(|(j, x)| value(*j as usize, *x)).collect();
                out.push(Row::Sparse { index, value: &whole }, y, weight)
            }
        }
    }
}

/// Counts the zeros of sparse rows that did not name feature `j` since one last did.
fn settle(j: usize, rows: u64, missing: &[u64], mean: &mut [f64], present: &mut [u64]) {
    let now = rows - missing[j].min(rows);
    if present[j] < now {
        mean[j] *= present[j] as f64 / now as f64;
        present[j] = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(rows: &[(Vec<f64>, f64)], sparse: bool, missing: RowMissing) -> (RowFilter, RowBlock) {
        let mut block = RowBlock::new(3, rows.len());
        for (x, y) in rows {
            let index: Vec<u32> = (0..3).filter(|j| x[*j as usize] != 0.0).collect();
            let value: Vec<f64> = index.iter().map(|j| x[*j as usize]).collect();
            let row = match sparse {
                true => Row::Sparse { index: &index, value: &value },
                false => Row::F64(x),
            };
            block.push(row, *y, 1.0).unwrap();
        }
        let mut filter = RowFilter::new(3, 2, missing);
        let mut out = RowBlock::new(3, rows.len());
        let names: Vec<String> = (0..3).map(|j| format!("f{j}")).collect();
        filter.pass(&block, &names, missing, &mut out).unwrap();
        (filter, out)
    }

    #[test]
    fn absent_values_of_sparse_rows_are_zeros_of_the_mean() {
        let hole = f64::NAN;
        let rows = [
            (vec![4.0, 0.0, 1.0], 0.0),
            (vec![0.0, 0.0, hole], 1.0),
            (vec![2.0, hole, 0.0], 1.0),
            (vec![9.0, 9.0, 9.0], hole),
            (vec![hole, 3.0, hole], 0.0),
        ];
        for missing in [RowMissing::Mean, RowMissing::Zero, RowMissing::DropRow] {
            let ((dense, a), (sparse, b)) =
                (pass(&rows, false, missing), pass(&rows, true, missing));
            for (x, y) in a.rows().zip(b.rows()) {
                for j in 0..3 {
                    assert!((x.get(j) - y.get(j)).abs() < 1e-15, "{missing:?}");
                }
            }
            let counted = |f: &RowFilter| (f.counts, f.missing.clone(), f.classes.clone());
            assert_eq!(counted(&dense), counted(&sparse));
            // By hand: five rows, one without a target, three with a hole.
            let RowCounts { input, used, without_target, dropped, filled } = dense.counts;
            let want = match missing {
                RowMissing::DropRow => (5, 1, 1, 3, 0),
                _ => (5, 4, 1, 0, 4),
            };
            assert_eq!((input, used, without_target, dropped, filled), want);
            assert_eq!(dense.missing, [1, 1, 2]);
            let classes = if missing == RowMissing::DropRow { [1, 0] } else { [2, 2] };
            assert_eq!(dense.class_counts(), Some(&classes[..]));
            if missing == RowMissing::Mean {
                // Row 1 has 1 for f2; row 4 has (4 + 0 + 2) / 3 and (1 + 0) / 2.
                assert_eq!(a.row(1).get(2), 1.0);
                assert_eq!(a.row(2).get(1), 0.0);
                assert_eq!((a.row(3).get(0), a.row(3).get(2)), (2.0, 0.5));
            }
        }
    }

    #[test]
    fn other_targets_or_weights_or_their_order_change_the_hash() {
        let hash = |rows: &[(f64, f64)]| {
            let (mut block, mut filter) = (RowBlock::new(1, 4), RowFilter::default());
            for (y, w) in rows {
                block.push(Row::F64(&[0.0]), *y, *w).unwrap();
            }
            filter.mark(&block);
            filter.seen()
        };
        let base = [(1.0, 1.0), (2.0, 1.0)];
        assert_eq!(hash(&base), hash(&base));
        for other in [[(2.0, 1.0), (1.0, 1.0)], [(1.0, 1.0), (2.5, 1.0)], [(1.0, 2.0), (2.0, 1.0)]]
        {
            assert_ne!(hash(&base), hash(&other));
        }
    }
}
