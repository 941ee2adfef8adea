//! The log of one lane: what became of each feature, and its trace.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::pins::Pins;
use super::trace::Trace;
use crate::data::block::FeatureId;
use crate::select::{Outcome, Reason, Verdict};

/// What became of the features, by their fate in the last scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Too little to do with the target.
    pub weak: u64,
    /// Redundant beside another feature.
    pub redundant: u64,
    /// Constant or too rare.
    pub constant: u64,
    /// Missing values.
    pub missing: u64,
    /// An allele that is too rare.
    pub maf: u64,
    /// Kept for a while, then driven out.
    pub evicted: u64,
}

/// The log of one lane; part of a checkpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Log {
    pub(super) dropped: Dropped,
    // Features that arrived in this scan and are still held: bounded by the kept set.
    pub(super) alive: HashSet<FeatureId>,
    pub(super) trace: Trace,
    pub(super) pins: Pins,
    // Blocks so far, the unit of the trace.
    pub(super) blocks: u64,
    // Scans after which another would have changed nothing, while other lanes go on.
    pub(super) rests: Option<u32>,
}

impl Log {
    /// Forgets the fates of the last scan: each scan counts its own.
    pub(super) fn begin_scan(&mut self) {
        self.dropped = Dropped::default();
        self.alive.clear();
    }

    pub(super) fn count(&mut self, reason: Reason) {
        let count = match reason {
            Reason::Weak => &mut self.dropped.weak,
            Reason::Redundant { .. } => &mut self.dropped.redundant,
            Reason::Constant => &mut self.dropped.constant,
            Reason::Missing => &mut self.dropped.missing,
            Reason::Maf => &mut self.dropped.maf,
        };
        *count += 1;
    }

    pub(super) fn outcome(&mut self, id: FeatureId, outcome: &Outcome) {
        match outcome.verdict {
            Verdict::Dropped(reason) => {
                // It may have been reserved until now.
                self.alive.remove(&id);
                self.count(reason);
            }
            _ => {
                self.alive.insert(id);
            }
        }
        for id in &outcome.evicted {
            // One that has not come round in this scan yet is judged when it does.
            if self.alive.remove(id) {
                self.dropped.evicted += 1;
            }
        }
    }
}
