//! SPSF-LAR: features that preserve the similarity of the samples, by least angles.
//!
//! ```text
//! columns centred, of unit length;  Y Y' the similarity;  R = Y;  A = {argmax |x_j'R|}
//! repeat to k:  D = the projection of R on the columns of A;  for j outside, of the least s:
//!     |x_j'(R - s D)| = (1 - s) a       with a = |x_i'R|, the same for all i in A
//!     R -= s D;  add j, ties to the earlier
//! ```
//!
//! Zhao, Wang, Liu, Ye, IEEE TKDE 25 (2013). The similarity of classes is `1/n_c` within a class of
//! `n_c` samples, so `Y` are the indicators over `sqrt(n_c)`, centred; a target of numbers is its
//! own response, and this is then least angle regression. Features never leave. It ends early where
//! no feature has anything to add. Steps within 1e-12 are equal. A feature that is level with the
//! active ones joins at once. Pinned features come before all others: their fit is taken off first.
//!
//! Out of core: a scan computes the step of every feature that it would be met at, and keeps the
//! feature of the least one; so the first step after a scan is exact. The features of the longest
//! `x_j'R` are held besides. With `f` the longest of those that are not held, no such feature can
//! be met up to `s` as long as
//!
//! ```text
//! f + |R_0 - R + s D| < (1 - s) a        R_0: the residual at the scan
//! ```
//!
//! so further steps among the held ones need no scan. Scans: at most `k`, and one. Cost: `2 (C - 1)`
//! products a feature and scan, with C classes. Memory: `hold` columns, the one of the least step,
//! `k` columns in double precision.

mod path;

use self::path::{Path, Products};
use super::hold::{HOLD, Hold};
use super::pool::{Candidate, Chosen, Offered, Pool, sound};
use super::rank::{Rank, level};
use crate::data::block::FeatureId;
use crate::data::check::{CheckedBlock, ColumnStats, Feature};
use crate::data::column::Column;
use crate::data::target::Problem;
use crate::error::Result;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot};
use crate::select::statistical::rules;
use crate::select::{ColumnSelector, Memory, Outcome, Reason, Status, Verdict};
use crate::selection::{Selection, Value};

/// A step without a scan is made only where it is clearly before every other.
const CLEAR: f64 = 1e-9;

/// SPSF-LAR on a stream.
struct SpsfLar {
    k: usize,
    hold: Hold,
    settings: Vec<(&'static str, Value)>,
    budget: Budget,
    start: Path,
    path: Path,
    // The residual when the last scan began.
    before: Vec<Vec<f64>>,
    // By the length of their products with that residual.
    pool: Pool<()>,
    // The feature that is met first, where not every one is held.
    next: Option<(Rank, Candidate<()>)>,
    chosen: Vec<Chosen>,
    // The active ones span these.
    spanned: Vec<FeatureId>,
    ended: bool,
    done: bool,
}

/// What the columns of features come to.
fn seen<'a>(
    features: impl Iterator<Item = (Column<'a>, &'a ColumnStats)>,
    path: &Path,
) -> Vec<Products> {
    path.products(&features.collect::<Vec<_>>())
}

impl SpsfLar {
    fn offer(&mut self, feature: &Feature<'_>, products: &Products) -> Result<Outcome> {
        let id = feature.id;
        if self.chosen.iter().any(|chosen| chosen.id() == id) {
            return Ok(Outcome::new(Verdict::Held));
        }
        if self.done || self.spanned.contains(&id) {
            return Ok(Outcome::dropped(Reason::Weak));
        }
        let length = self.path.length(products);
        let make = || Candidate::new(feature, None, (), (length, None));
        let next = self.path.meets(products).map(|s| Rank::new(-s, id));
        let sooner = |rank: &Rank| self.next.as_ref().is_none_or(|(best, _)| rank < best);
        let next = next.filter(sooner);
        let others = self.fixed() + feature.column().bytes() as u64;
        self.budget.check(others, "the selected columns in double precision")?;
        let room = self.hold.room(&self.budget, others);
        let offered = self.pool.offer(Rank::new(length, id), room, feature.pinned, make)?;
        let first = next.is_some();
        if let Some(rank) = next {
            self.next = Some((rank, make()));
        }
        let outcome = match offered {
            Offered::Held(evicted) => Outcome { evicted, ..Outcome::new(Verdict::Reserved) },
            Offered::Refused if first => Outcome::new(Verdict::Reserved),
            Offered::Refused => Outcome::dropped(Reason::Weak),
        };
        Ok(Outcome { marginal: Some(length), ..outcome })
    }

    /// Bytes held beside the pool.
    fn fixed(&self) -> u64 {
        let next = self.next.as_ref().map_or(0, |(_, held)| held.bytes());
        let chosen: u64 = self.chosen.iter().map(Chosen::bytes).sum();
        self.path.bytes(self.chosen.len() + 1) + next + chosen
    }

    fn free(&self) -> usize {
        self.chosen.iter().filter(|chosen| !chosen.pinned()).count()
    }

    /// Takes the pinned features of the first scan in.
    fn pin(&mut self) {
        let mut pinned: Vec<Rank> =
            self.pool.iter().filter(|(_, held)| held.kept.pinned).map(|(rank, _)| *rank).collect();
        pinned.sort_unstable_by_key(|rank| rank.id());
        for held in pinned.iter().filter_map(|rank| self.pool.remove(rank)).collect::<Vec<_>>() {
            self.path.pin(held.kept.column(), &held.kept.stats);
            self.chosen.push(Chosen::of(&held, held.strength));
        }
    }

    /// Makes steps as long as those are known to be the first; whether the path has ended.
    fn walk(&mut self) -> bool {
        let floor = self.pool.floor().map(|floor| floor.number());
        let mut exact = true;
        if self.chosen.is_empty() {
            self.pin();
            exact = self.chosen.is_empty();
        }
        while self.free() < self.k {
            let Some((s, rank, common)) = self.first(floor.is_some() && exact) else {
                // Nothing is left to be met, if all were looked at.
                self.ended = exact || floor.is_none();
                return self.ended;
            };
            if !exact && floor.is_some_and(|floor| !self.clear(s, common, floor)) {
                return false;
            }
            let held = match self.next.take_if(|(_, held)| held.id() == rank.id()) {
                Some((_, held)) => {
                    self.pool.remove(&rank);
                    Some(held)
                }
                None => self.pool.remove(&rank),
            };
            let Some(held) = held else { return false };
            if self.path.take(held.kept.column(), &held.kept.stats, s, common) {
                let score = self.path.common().unwrap_or_default();
                self.chosen.push(Chosen::of(&held, score));
            } else {
                self.spanned.push(held.id());
            }
            exact = false;
        }
        true
    }

    /// The step, the place in the pool and the common length of the feature that is met first: of
    /// all features right after a scan, else of the held ones.
    fn first(&self, scanned: bool) -> Option<(f64, Rank, f64)> {
        if scanned && let (Some(common), Some((_, held))) = (self.path.common(), &self.next) {
            let products = seen([(held.kept.column(), &held.kept.stats)].into_iter(), &self.path);
            let s = self.path.meets(&products[0])?;
            return Some((s, Rank::new(held.strength, held.id()), common));
        }
        let columns = self.pool.iter().map(|(_, held)| (held.kept.column(), &held.kept.stats));
        let products = seen(columns, &self.path);
        let places = self.pool.iter().map(|(rank, _)| *rank).zip(&products);
        match self.path.common() {
            Some(common) => {
                let steps = places.filter_map(|(rank, products)| {
                    let s = self.path.meets(products)?;
                    Some((Rank::new(-s, rank.id()), s, rank))
                });
                steps.min_by_key(|(place, ..)| *place).map(|(_, s, rank)| (s, rank, common))
            }
            None => {
                let longest = places.map(|(rank, products)| {
                    let length = self.path.length(products);
                    (Rank::new(length, rank.id()), length, rank)
                });
                let first = longest.min_by_key(|(place, ..)| *place);
                first
                    .filter(|(_, length, _)| level(*length) > 0.0)
                    .map(|(_, l, rank)| (0.0, rank, l))
            }
        }
    }

    /// Whether no feature that is not held can be met up to `s`.
    fn clear(&self, s: f64, common: f64, floor: f64) -> bool {
        let moved = self.path.moved(&self.before, 0.0).max(self.path.moved(&self.before, s));
        floor + moved < (1.0 - s) * common - CLEAR
    }
}

impl ColumnSelector for SpsfLar {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        let columns = block.features.iter().map(|feature| (feature.column(), &feature.stats));
        let products = if self.done { Vec::new() } else { seen(columns, &self.path) };
        let none = Products::new();
        for (at, feature) in block.features.iter().enumerate() {
            out.push(self.offer(feature, products.get(at).unwrap_or(&none))?);
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        if !self.done {
            self.done = self.walk();
            self.pool = Pool::default();
            self.next = None;
            self.before = self.path.residual().to_vec();
        }
        Ok(self.done)
    }

    fn unfinished(&self) -> bool {
        !self.done
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let mut selection = Selection {
            method: "spsf-lar",
            params: self.settings.clone(),
            score_kind: "product with the residual when it was selected",
            ..Selection::default()
        };
        for (order, chosen) in self.chosen.iter().enumerate() {
            let list = match chosen.pinned() {
                true => &mut selection.pinned,
                false => &mut selection.selected,
            };
            list.extend(chosen.selected(order));
        }
        if self.ended && self.free() < self.k {
            let free = self.free();
            selection
                .warnings
                .push(format!("the path ends after {free} features: no other has anything to add"));
        }
        selection.sort();
        Ok(selection)
    }

    fn centres(&self) -> bool {
        true
    }

    fn status(&self) -> Status {
        let bytes = self.pool.bytes() + self.fixed();
        Status { kept: self.chosen.len(), bytes, ..Status::default() }
    }

    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let k = features.map_or(self.k, |features| self.k.min(features as usize));
        // The start is kept beside the path, and the residual of the scan.
        let fixed = self.path.bytes(k + 1) + 2 * self.path.bytes(0) + 2 * column;
        self.hold.planned(&self.budget, (column, 0), features, fixed)
    }
}

impl Snapshot for SpsfLar {
    fn save(&self) -> Result<Vec<u8>> {
        let ends = (self.ended, self.done);
        snapshot::encode(&(
            &self.path,
            &self.before,
            &self.pool,
            &self.next,
            &self.chosen,
            &self.spanned,
            ends,
        ))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        type State = (
            Path,
            Vec<Vec<f64>>,
            Pool<()>,
            Option<(Rank, Candidate<()>)>,
            Vec<Chosen>,
            Vec<FeatureId>,
            (bool, bool),
        );
        let (path, before, pool, next, chosen, spanned, ends): State = snapshot::decode(state)?;
        let rows = self.before[0].len();
        let path = path.restored(&self.start)?;
        let mut facts = |_: Column<'_>, _: &_| Ok(());
        let pool = pool.restored(rows, &mut facts)?;
        if let Some((_, held)) = &next {
            sound(held, rows, &mut facts)?;
        }
        let whole = |v: &Vec<f64>| v.len() == rows && v.iter().all(|x| x.is_finite());
        let fits = before.len() == path.responses() && before.iter().all(whole);
        snapshot::ensure(fits, "a residual has other rows or no numbers")?;
        snapshot::ensure(chosen.iter().all(Chosen::sound), "a score is no number")?;
        (self.path, self.before, self.pool, self.next) = (path, before, pool, next);
        (self.chosen, self.spanned, (self.ended, self.done)) = (chosen, spanned, ends);
        Ok(())
    }
}

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    rules::no_model(problem, "spsf-lar")?;
    let (k, hold) = (spec.need_k()?, Hold::of(spec)?);
    let path = Path::new(problem)?;
    Ok(Box::new(SpsfLar {
        k,
        hold,
        settings: vec![("k", k.into()), (HOLD.name, hold.shown())],
        budget,
        before: path.residual().to_vec(),
        start: path.clone(),
        path,
        pool: Pool::default(),
        next: None,
        chosen: Vec::new(),
        spanned: Vec::new(),
        ended: false,
        done: false,
    }))
}

/// The registry's entry.
pub const SPSF_LAR: MethodInfo = MethodInfo {
    name: "spsf-lar",
    stream: Stream::Features,
    summary: "features that preserve the similarity of the samples, by least angles; exact out of core",
    tasks: "regression, classification",
    cost: "a pass a scan, 2 products a class and feature; at most k scans and one",
    memory: "hold columns as stored, k in double precision",
    paper: "Zhao, Wang, Liu, Ye, IEEE TKDE 25 (2013)",
    scans: 0,
    needs_k: true,
    has_loss: false,
    settings: &[HOLD],
    promises: Promises::STATISTICAL,
    make: Maker::Columns(make),
};
