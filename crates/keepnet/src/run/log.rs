//! The books of a run: what became of each feature, and the course of the loss.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::pins::Pins;
use crate::data::block::FeatureId;
use crate::select::{Outcome, Reason, Status, Verdict};

/// Most points of a trace.
const TRACE_POINTS: usize = 200;

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
    /// Kept for a while, then driven out.
    pub evicted: u64,
}

/// One point of the course of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// Features that had arrived, over all scans.
    pub arrived: u64,
    /// Loss then.
    pub loss: Option<f64>,
    /// Features in the model then.
    pub kept: usize,
    /// Substitutions until then.
    pub substitutions: u64,
}

/// The books of one lane; part of a checkpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Log {
    pub(super) dropped: Dropped,
    // Features that arrived in this scan and are still held: bounded by the kept set.
    pub(super) alive: HashSet<FeatureId>,
    pub(super) trace: Vec<TracePoint>,
    pub(super) pins: Pins,
    stride: u64,
    blocks: u64,
}

impl Log {
    pub(super) fn count(&mut self, reason: Reason) {
        let count = match reason {
            Reason::Weak => &mut self.dropped.weak,
            Reason::Redundant { .. } => &mut self.dropped.redundant,
            Reason::Constant => &mut self.dropped.constant,
            Reason::Missing => &mut self.dropped.missing,
        };
        *count += 1;
    }

    pub(super) fn outcome(&mut self, id: FeatureId, outcome: &Outcome) {
        match outcome.verdict {
            Verdict::Dropped(reason) => self.count(reason),
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

    pub(super) fn point(&mut self, arrived: u64, status: Status) {
        self.stride = self.stride.max(1);
        if self.blocks.is_multiple_of(self.stride) {
            if self.trace.len() >= TRACE_POINTS {
                let mut at = 0;
                self.trace.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
                self.stride *= 2;
            }
            if self.blocks.is_multiple_of(self.stride) {
                let Status { kept, loss, substitutions, .. } = status;
                self.trace.push(TracePoint { arrived, loss, kept, substitutions });
            }
        }
        self.blocks += 1;
    }
}
