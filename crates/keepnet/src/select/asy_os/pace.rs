//! How old the predictions were that updates were computed from, and the step that follows.
//!
//! Theorem 2 of the paper asks of `q` workers with staleness `tau`
//!
//! ```text
//! 1 / (2 eta) > L_F + (1 / (2 m^2 q) + 1 / (2 (p - s))) tau^2 L_f^2 / L_F
//! ```
//!
//! Without delay `os` steps by `1 / L_F`. The automatic step takes the theorem's second term on
//! top of that, with the mean square of the delay that this worker has seen for `tau^2`, the
//! curvature of the kept set for `L_f`, and without the term in `p`, which is not known:
//!
//! ```text
//! step = 1 / (L_F (1 + (tau - 1)^2 / q))
//! ```

use serde::{Deserialize, Serialize};

/// Share of the newest delay in the mean square.
const NEW: f64 = 1.0 / 32.0;

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

/// The delay that a worker sees, and the factor on its steps.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Pace {
    workers: f64,
    /// Mean of `(tau - 1)^2`, the newer ones weighing more.
    mean_square: f64,
}

impl Pace {
    /// One of `workers` workers, each of which is taken to be as fast as the others at first.
    pub(super) fn new(workers: usize) -> Self {
        let workers = workers as f64;
        Self { workers, mean_square: (workers - 1.0).powi(2) }
    }

    /// An update was made from a prediction that was `tau` updates old.
    pub(super) fn see(&mut self, tau: u64) {
        let delay = tau.saturating_sub(1) as f64;
        self.mean_square += NEW * (delay * delay - self.mean_square);
    }

    /// Factors on the steps of a newcomer and of the kept set.
    pub(super) fn factors(&self) -> (f64, f64) {
        let factor = 1.0 / (1.0 + self.mean_square / self.workers);
        (factor, factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_delay_is_the_step_of_os_and_more_delay_is_a_smaller_one() {
        let mut pace = Pace::new(1);
        pace.see(1);
        assert_eq!(pace.factors(), (1.0, 1.0));
        // Four workers in turn: (tau - 1)^2 / q = 9 / 4.
        let mut pace = Pace::new(4);
        assert!((pace.factors().1 - 4.0 / 13.0).abs() < 1e-15);
        pace.see(9);
        assert!(pace.factors().1 < 4.0 / 13.0);
    }
}
