//! What a worker counts during a run.

use serde::{Deserialize, Serialize};

/// What a worker counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Features that it looked at.
    pub features: u64,
    /// Deltas that it added to the centre.
    pub updates: u64,
    /// Updates of known staleness, and the sum of it; 1 is no delay.
    pub dated: u64,
    /// Sum of their staleness.
    pub staleness: u64,
    /// The largest.
    pub stalest: u64,
    /// Seconds at work.
    pub seconds: f64,
    /// Seconds of those in reads and adds of the centre.
    pub waiting: f64,
    /// Seconds without a feature to look at.
    pub idle: f64,
}
