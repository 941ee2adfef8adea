//! A lane of a run: one problem and the selector that works on it.

use std::collections::HashSet;
use std::sync::Arc;

use super::log::{Dropped, Log};
use super::observer::{Decision, Observer};
use super::trace::TracePoint;
use super::verdict::{self, Constant};
use crate::data::block::ColumnBlock;
use crate::data::check::{CheckPolicy, CheckedBlock, Wants};
use crate::data::groups::Groups;
use crate::data::name::Name;
use crate::data::target::Problem;
use crate::error::Result;
use crate::select::{ColumnSelector, Late, Outcome};
use crate::selection::Selection;

/// One problem and the selector that works on it.
///
/// Lanes whose problems have the same rows and weights, and the same policy, share the check of
/// each column, and the columns that they keep.
pub struct Lane {
    /// What is asked of the rows.
    pub problem: Arc<Problem>,
    /// Which columns are fit to be offered.
    pub policy: CheckPolicy,
    /// Names of features that are kept whatever happens.
    pub pinned: HashSet<String>,
    /// Nobody asks what became of the features that were tested and not selected, nor for the loss
    /// along the stream: many such lanes look at a column together; see `quick.rs`.
    pub brief: bool,
    /// The method.
    pub selector: Box<dyn ColumnSelector>,
    pub(super) log: Log,
    constant: Constant,
}

/// One lane's result.
#[derive(Clone, Debug)]
pub struct LaneReport {
    /// What is kept.
    pub selection: Selection,
    /// What became of the rest.
    pub dropped: Dropped,
    /// Loss and substitutions along the stream.
    pub trace: Vec<TracePoint>,
    /// Scans begun, until another would have changed nothing.
    pub scans: u32,
    /// Whether the lane came to its end, whatever became of the others.
    pub complete: bool,
}

/// A block on its way through the lanes.
#[derive(Clone, Copy)]
pub(super) struct Offered<'a> {
    pub(super) block: &'a ColumnBlock,
    /// Place in the scan of its first column.
    pub(super) first: u64,
    pub(super) scan: u32,
    /// Features that have arrived with this block, over all scans.
    pub(super) arrived: u64,
}

impl Lane {
    /// A lane with the default policy.
    pub fn new(problem: impl Into<Arc<Problem>>, selector: Box<dyn ColumnSelector>) -> Self {
        Self {
            problem: problem.into(),
            policy: CheckPolicy::default(),
            pinned: HashSet::new(),
            brief: false,
            selector,
            log: Log::default(),
            constant: Constant::default(),
        }
    }

    /// What the selector wants of the check, glances left out.
    pub(super) fn wants(&self) -> Wants<'_> {
        let (centres, compacts) = (self.selector.centres(), self.selector.compacts());
        Wants { glances: None, centres, compacts }
    }

    /// Whether a column checked for the other lane is checked for this one: the target has no
    /// part in the check.
    pub(super) fn checks_as(&self, other: &Self) -> bool {
        let (a, b) = (self.wants(), other.wants());
        self.policy == other.policy
            && (a.centres, a.compacts) == (b.centres, b.compacts)
            && (Arc::ptr_eq(&self.problem, &other.problem)
                || self.problem.rows == other.problem.rows
                    && self.problem.weight == other.problem.weight)
    }

    /// Offers a checked block to the selector and logs what became of it; `at` is the place of
    /// this lane.
    pub(super) fn offer(
        &mut self,
        at: usize,
        offered: Offered<'_>,
        mut checked: CheckedBlock<'_>,
        groups: Option<&mut Groups>,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let Offered { block, first, scan, arrived } = offered;
        let mark = self.log.pins.mark();
        if !self.pinned.is_empty() {
            let pinned = |name: &Name| name.with(|name| self.pinned.contains(name));
            // A method without a model has no intercept to do without.
            let centred = self.selector.centres() || self.selector.status().loss.is_none();
            self.log.pins.admit(&mut checked, pinned, &self.problem, centred);
        }
        if let Some(groups) = groups {
            groups.assign(&mut checked, block, first)?;
        }
        let mut outcomes = Vec::with_capacity(checked.features.len());
        if let Err(error) = self.selector.offer_block(&checked, &mut outcomes) {
            self.log.pins.back_to(mark);
            return Err(error);
        }
        debug_assert!(outcomes.is_empty() || outcomes.len() == checked.features.len());
        let mut report = |id, name: &Name, outcome: &Outcome| {
            observer.decision(&Decision { lane: at, scan, id, name, outcome })
        };
        for (id, name, _, reason) in &checked.dropped {
            self.log.count(*reason);
            report(*id, name, &Outcome::dropped(*reason))?;
        }
        for (feature, outcome) in checked.features.iter().zip(&outcomes) {
            self.log.outcome(feature.id, outcome);
            report(feature.id, &feature.name, outcome)?;
        }
        self.settle(at, scan, false, observer)?;
        self.log.trace.take(self.log.blocks, arrived, self.selector.status());
        self.log.blocks += 1;
        Ok(())
    }

    /// Offers checked features to the selector of a brief lane; what was dropped before it could
    /// be tested is counted, and nothing else is logged.
    pub(super) fn offer_briefly(&mut self, checked: &CheckedBlock<'_>) -> Result<()> {
        checked.dropped.iter().for_each(|(.., reason)| self.log.count(*reason));
        let mut outcomes = Vec::with_capacity(checked.features.len());
        self.selector.offer_block(checked, &mut outcomes)
    }

    /// Takes in the outcomes that come late; `wait` for those under way.
    pub(super) fn settle(
        &mut self,
        at: usize,
        scan: u32,
        wait: bool,
        observer: &mut dyn Observer,
    ) -> Result<()> {
        let mut late = Vec::new();
        self.selector.settle(wait, &mut late)?;
        for Late { id, name, outcome } in &late {
            self.log.outcome(*id, outcome);
            observer.decision(&Decision { lane: at, scan, id: *id, name, outcome })?;
        }
        Ok(())
    }

    /// Whether it waits for the end of other lanes.
    pub(super) fn rests(&self) -> bool {
        self.log.rests.is_some()
    }

    /// The result as it stands, of a run of so many scans that is `complete` or not.
    pub(super) fn report(&self, scans: u32, complete: bool) -> Result<LaneReport> {
        let mut selection = self.selector.selection()?;
        let lost = self.log.pins.warnings(&self.pinned, &selection);
        selection.warnings.extend(lost);
        self.selector.fitted(&mut |fitted| {
            verdict::check(&self.problem, &selection, fitted, &self.constant)
        })?;
        let kept: HashSet<_> =
            selection.selected.iter().chain(&selection.pinned).map(|s| s.id).collect();
        let mut dropped = self.log.dropped;
        dropped.evicted += self.log.alive.difference(&kept).count() as u64;
        let trace = self.log.trace.points();
        let scans = self.log.rests.unwrap_or(scans);
        Ok(LaneReport { selection, dropped, trace, scans, complete })
    }
}
