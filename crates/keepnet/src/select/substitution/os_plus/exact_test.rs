//! The exact test of every column of a block against the model, and the best that it finds.
//!
//! ```text
//! d = A <X_S, x>     schur = <x, x> - <X_S, x> d     v = <x, r> / schur
//! fall = (<x, r> v - min over i of (w_i - d_i v)^2 / (A_ii + d_i^2 / schur)) / 2
//! ```
//!
//! It is the formula of the full test, which computes it (`squared/matrix.rs`, `curved/exact.rs`),
//! without the quick test before it: that one is no proof, since a column that is correlated with
//! the kept set can have a small slope and a large exact gain. Products come for a group of columns
//! at a time and have the same digits in any group, so no fall depends on the block.

use serde::{Deserialize, Serialize};

use super::OsPlus;
use crate::data::block::FeatureId;
use crate::data::check::Feature;
use crate::data::kept::Kept;
use crate::error::Result;
use crate::run::snapshot::ensure;
use crate::select::kept_products::{Against, GROUP, Products};

/// A newcomer with its products.
pub(super) type Newcomer<'a, 'f> = (&'a Feature<'f>, &'a Products);

/// An exchange of a newcomer for a kept feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Exchange {
    /// By how much the loss falls; below zero where it would rise.
    pub(super) fall: f64,
    /// The slot that leaves; `None` while there is room.
    pub(super) leaves: Option<usize>,
}

/// A column whose exchange for a kept one lowers the loss.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Found {
    /// By how much the loss falls, penalty included.
    pub fall: f64,
    /// The kept feature that leaves; `None` while there is room.
    pub leaves: Option<FeatureId>,
    /// The column.
    pub column: Kept,
}

/// The columns of largest fall so far; ties go to the earlier feature.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Best {
    top: usize,
    found: Vec<Found>,
}

impl Best {
    /// Room for `top` columns.
    #[must_use]
    pub fn new(top: usize) -> Self {
        Self { top, found: Vec::new() }
    }

    /// The columns, largest fall first.
    #[must_use]
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// Takes the columns out.
    pub fn take(&mut self) -> Vec<Found> {
        std::mem::take(&mut self.found)
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let of = |found: &Found| (size_of::<Found>() + found.column.data().bytes()) as u64;
        self.found.iter().map(of).sum()
    }

    /// Takes a copy of the feature in where its fall is among the largest; `true` if it is.
    pub(super) fn offer(
        &mut self,
        fall: f64,
        leaves: Option<FeatureId>,
        feature: &Feature<'_>,
    ) -> bool {
        let earlier = |other: &Found| match other.fall.total_cmp(&fall) {
            std::cmp::Ordering::Equal => other.column.id < Some(feature.id),
            order => order.is_gt(),
        };
        let at = self.found.partition_point(earlier);
        if at >= self.top {
            return false;
        }
        self.found.truncate(self.top - 1);
        self.found.insert(at, Found { fall, leaves, column: Kept::of(feature) });
        true
    }

    /// Whether one that was read back can be of columns of `rows` rows.
    pub(super) fn sound(&self, rows: usize) -> bool {
        let fits = |found: &Found| sound_column(&found.column, rows) && found.fall.is_finite();
        self.found.len() <= self.top && self.found.iter().all(fits)
    }
}

/// Whether a column that was read back is one of `rows` rows with finite values.
fn sound_column(column: &Kept, rows: usize) -> bool {
    let data = column.data();
    data.sound() && data.finite() && column.column().rows() == rows && column.stats.sound()
}

/// Refuses columns that were read back and do not fit.
pub(super) fn ensure_sound(columns: &[Kept], rows: usize) -> Result<()> {
    let sound = columns.iter().all(|column| sound_column(column, rows));
    ensure(sound, "a column has other rows or no numbers")
}

impl OsPlus {
    /// Tests every feature against the model and takes the best into `best`; it changes no
    /// decision. Features that are kept are passed over, and those whose exchange lowers the loss
    /// by no more than `tolerance` of it.
    pub fn screen(
        &mut self,
        features: &[Feature<'_>],
        tolerance: f64,
        best: &mut Best,
    ) -> Result<()> {
        let least = self.core.least_fall(tolerance);
        for (feature, exchange) in features.iter().zip(self.exact(features)) {
            if let Some(Exchange { fall, leaves }) = exchange.filter(|e| e.fall > least) {
                let leaves = leaves.and_then(|slot| self.core.kept().slots()[slot].id);
                best.offer(fall, leaves, feature);
            }
        }
        Ok(())
    }

    /// The best exchange of every feature; `None` of those that are kept or pinned.
    pub(super) fn exact(&mut self, features: &[Feature<'_>]) -> Vec<Option<Exchange>> {
        let mut out = vec![None; features.len()];
        let new =
            |t: &usize| !features[*t].pinned && self.core.kept().slot(features[*t].id).is_none();
        let new: Vec<usize> = (0..features.len()).filter(new).collect();
        self.products.reset(features.len());
        for group in new.chunks(GROUP) {
            let products = self.products_of(features, group);
            let newcomers: Vec<Newcomer<'_, '_>> =
                group.iter().zip(&products).map(|(t, own)| (&features[*t], own)).collect();
            for (t, exchange) in group.iter().zip(self.core.exact(&newcomers)) {
                out[*t] = exchange;
            }
        }
        out
    }

    fn products_of(&mut self, features: &[Feature<'_>], group: &[usize]) -> Vec<Products> {
        let core = &*self.core;
        let (scales, extra) = (core.scales(), core.targets());
        let (frame, kept) = (&self.frame, core.kept());
        let against = Against { frame, kept, scales: &scales, extra: &extra };
        let products = &mut self.products;
        let fill = |t: &usize| !products.has(*t, &features[*t]);
        let missing: Vec<usize> = group.iter().copied().filter(fill).collect();
        if !missing.is_empty() {
            products.fill(against, core.clock(), features, &missing);
        }
        let own = |t: &usize| {
            let changed_at = |slot| core.changed_at(slot);
            products.take(against, core.clock(), changed_at, *t, &features[*t])
        };
        group.iter().map(own).collect()
    }
}
