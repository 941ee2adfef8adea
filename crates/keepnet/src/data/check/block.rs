//! The check of a whole block, and how lanes share it.
//!
//! Lanes with the same problem, policy and wants get one check: its statistics and its copies of
//! the values are made once. Each lane then has its own [`CheckedBlock`], which borrows them.

use std::borrow::Cow;

use rayon::prelude::*;

use super::{CheckPolicy, Feature, check};
use crate::data::block::{ColumnBlock, FeatureId, RawColumn};
use crate::data::compact;
use crate::data::name::Name;
use crate::data::pool::Pool;
use crate::data::target::Problem;
use crate::error::Result;
use crate::select::{Glances, Reason};

/// A block's features that passed the check, and the columns that did not.
#[derive(Default)]
pub struct CheckedBlock<'a> {
    /// Features to offer, in arrival order.
    pub features: Vec<Feature<'a>>,
    /// Columns that were dropped, with their names and places in the scan.
    pub dropped: Vec<(FeatureId, Cow<'a, Name>, u64, Reason)>,
}

impl CheckedBlock<'_> {
    /// The same features for another lane, which may pin, group and drop them on its own; columns
    /// that it keeps go into the pool.
    pub(crate) fn share<'s>(
        &'s self,
        glances: Option<&dyn Glances>,
        pool: &'s Pool,
    ) -> CheckedBlock<'s> {
        let dropped = self.dropped.iter();
        let mut out = CheckedBlock {
            features: self.features.iter().map(|feature| feature.share(Some(pool))).collect(),
            dropped: dropped
                .map(|(id, name, at, why)| (*id, Cow::Borrowed(&**name), *at, *why))
                .collect(),
        };
        if let Some(glances) = glances {
            out.each(|feature| feature.glance = glances.glance(feature, None));
        }
        out
    }

    /// Puts every column into the narrowest storage that loses nothing; see [`compact`].
    fn compact(&mut self) {
        self.each(|feature| {
            if let Some(data) = compact::compact(feature.column()) {
                feature.values = Cow::Owned(data);
            }
        });
    }

    /// Does `one` to every feature, in parallel where that pays.
    fn each(&mut self, one: impl Fn(&mut Feature<'_>) + Send + Sync) {
        if worth_threads(self.features.iter().map(|feature| feature.column().bytes())) {
            self.features.par_iter_mut().for_each(one);
        } else {
            self.features.iter_mut().for_each(one);
        }
    }
}

/// Whether work on columns of these sizes is worth waking other threads: a few short sparse
/// columns are done before they are.
fn worth_threads(bytes: impl Iterator<Item = usize>) -> bool {
    // A column costs something however short it is.
    rayon::current_num_threads() > 1 && bytes.map(|bytes| bytes + 256).sum::<usize>() > 1 << 18
}

/// Columns that a thread checks one after the other.
const TOGETHER: usize = 4;

/// What a method wants of the check.
#[derive(Clone, Copy, Default)]
pub struct Wants<'a> {
    /// A first look at each column while its values are still in the cache.
    pub glances: Option<&'a dyn Glances>,
    /// Whether it centres columns, so that they may come less a constant; see
    /// [`crate::select::ColumnSelector::centres`].
    pub centres: bool,
    /// Whether columns should come in the narrowest storage that loses nothing.
    pub compacts: bool,
}

/// Checks a whole block, in parallel where the pool has threads; `first` is the place of its
/// first column in the scan. Every column comes with the values it has.
pub fn check_block<'a>(
    block: &'a ColumnBlock,
    first: u64,
    problem: &Problem,
    policy: &CheckPolicy,
) -> Result<CheckedBlock<'a>> {
    check_block_for(block, first, problem, policy, Wants::default())
}

/// [`check_block`] for a method.
pub fn check_block_for<'a>(
    block: &'a ColumnBlock,
    first: u64,
    problem: &Problem,
    policy: &CheckPolicy,
    wants: Wants<'_>,
) -> Result<CheckedBlock<'a>> {
    let columns = block.columns();
    let some = |from: usize, columns: &'a [RawColumn]| {
        let mut out = CheckedBlock::default();
        out.features.reserve(columns.len());
        for (at, raw) in columns.iter().enumerate() {
            check(raw, first + (from + at) as u64, problem, policy, wants, &mut out)?;
        }
        Ok(out)
    };
    let mut out = if worth_threads(columns.iter().map(|raw| raw.data.bytes())) {
        // A few at a time: columns are short or long as they come.
        let parts = columns.par_chunks(TOGETHER).enumerate();
        let parts: Vec<Result<CheckedBlock<'a>>> =
            parts.map(|(at, columns)| some(at * TOGETHER, columns)).collect();
        let mut all = CheckedBlock::default();
        all.features.reserve(columns.len());
        for part in parts {
            let part = part?;
            all.features.extend(part.features);
            all.dropped.extend(part.dropped);
        }
        all
    } else {
        some(0, columns)?
    };
    if wants.compacts {
        out.compact();
    }
    Ok(out)
}
