//! Loss and size of a model along a stream, in a bounded number of points.
//!
//! A point is taken at every multiple of a stride. When there are 200, every other one is dropped
//! and the stride doubles, so that a long run has its points evenly spread.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::select::Status;

/// Most points of a trace.
const MOST: usize = 200;

/// One point of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TracePoint {
    /// Features that had arrived, over all scans; on a stream of rows, the rows that were used.
    pub arrived: u64,
    /// Loss then.
    pub loss: Option<f64>,
    /// Features in the model then.
    pub kept: usize,
    /// Substitutions until then.
    pub substitutions: u64,
}

/// The trace of a run; part of a checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Trace {
    // Each point with its place in the stream: the number of its block.
    points: Vec<(u64, TracePoint)>,
    stride: NonZeroU64,
}

impl Default for Trace {
    fn default() -> Self {
        Self { points: Vec::new(), stride: NonZeroU64::MIN }
    }
}

impl Trace {
    /// How far it is from `place` to the next place that has a point.
    #[must_use]
    pub(super) fn ahead(&self, place: u64) -> u64 {
        self.stride.get() - place % self.stride
    }

    /// Takes a point, where one is due at `place`.
    pub(super) fn take(&mut self, place: u64, arrived: u64, status: Status) {
        if self.points.len() >= MOST && place.is_multiple_of(self.stride.get()) {
            self.stride = self.stride.saturating_mul(NonZeroU64::MIN.saturating_add(1));
            self.points.retain(|(place, _)| place.is_multiple_of(self.stride.get()));
        }
        if place.is_multiple_of(self.stride.get()) {
            let Status { kept, loss, substitutions, .. } = status;
            self.points.push((place, TracePoint { arrived, loss, kept, substitutions }));
        }
    }

    /// The points, in order.
    #[must_use]
    pub(super) fn points(&self) -> Vec<TracePoint> {
        self.points.iter().map(|(_, point)| *point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_trace_keeps_evenly_spread_points() {
        let mut trace = Trace::default();
        for block in 0..1000 {
            trace.take(block, 10 * block, Status::default());
        }
        // 1,000 places: strides 1, 2, 4 are full at 200, 400 and 800 blocks; 8 is left.
        let arrived: Vec<u64> = trace.points().iter().map(|point| point.arrived).collect();
        assert_eq!(arrived, (0..125).map(|point| 80 * point).collect::<Vec<_>>());
        assert_eq!(trace.ahead(1000), 8);
        assert_eq!(trace.ahead(1003), 5);
    }
}
