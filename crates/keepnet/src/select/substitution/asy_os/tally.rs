//! What a worker counts during a run.

use serde::{Deserialize, Serialize};

/// Counts and times of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Features that it decided on.
    pub features: u64,
    /// Deltas that it added to the centre.
    pub updates: u64,
    /// Updates of known staleness.
    pub dated: u64,
    /// Sum of their staleness; 1 is no delay.
    pub staleness: u64,
    /// The largest staleness.
    pub stalest: u64,
    /// Seconds of work.
    pub seconds: f64,
    /// Seconds of the work spent in reads and adds of the centre.
    pub waiting: f64,
    /// Seconds without a feature to decide on.
    pub idle: f64,
}
