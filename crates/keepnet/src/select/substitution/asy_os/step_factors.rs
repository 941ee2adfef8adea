//! Factors on the automatic steps of a worker, from the staleness of its reads.
//!
//! Theorem 2 of the paper asks of `q` workers with staleness `tau`
//!
//! ```text
//! 1 / (2 eta) > L_F + (1 / (2 m^2 q) + 1 / (2 (p - s))) tau^2 L_f^2 / L_F
//! ```
//!
//! with steps `eta` for a newcomer and `eta / m` for the kept set. The term of a newcomer is
//! negligible among many features; the term of the kept set is not. So the automatic step of `os`,
//! `1 / L`, becomes
//!
//! ```text
//! kept set:  trust / (L (1 + (tau - 1)^2 / q))        newcomer:  trust / h
//! ```
//!
//! with a running mean of `(tau - 1)^2` over this worker's reads, recent ones counting more. A
//! shorter step for newcomers as well would keep them out: on the paper's regression data with
//! twenty workers that cost two thirds of the recall.
//!
//! The theorem does not account for correlated columns, where all workers correct the same error
//! at once. `trust` does. It starts at `1 / q`, is halved when the loss at a read is above the loss
//! at the previous read, and grows by a twentieth otherwise, up to 1. For one worker without delay
//! the loss never rises, so its steps are those of `os`.

use serde::{Deserialize, Serialize};

/// Share of the newest delay in the running mean square.
const NEW: f64 = 1.0 / 32.0;
/// Factors on the trust when the loss rose, and when it did not.
const LESS: f64 = 0.5;
const MORE: f64 = 1.05;

/// The delay of a worker's reads, and the factors on its steps.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct StepFactors {
    workers: f64,
    /// Running mean of `(tau - 1)^2`.
    mean_square: f64,
    trust: f64,
    /// The loss at the last read.
    loss: f64,
}

impl StepFactors {
    /// For one of `workers` workers, which are assumed to be equally fast at first.
    pub(super) fn new(workers: usize) -> Self {
        let workers = workers as f64;
        let mean_square = (workers - 1.0).powi(2);
        Self { workers, mean_square, trust: 1.0 / workers, loss: f64::INFINITY }
    }

    /// An update was made from a prediction that was `tau` updates old.
    pub(super) fn add_staleness(&mut self, tau: u64) {
        let delay = tau.saturating_sub(1) as f64;
        self.mean_square += NEW * (delay * delay - self.mean_square);
    }

    /// The prediction just read has this loss.
    pub(super) fn add_loss(&mut self, loss: f64) {
        // Within rounding the loss did not rise.
        if loss <= self.loss * (1.0 + 1e-9) {
            self.trust = (MORE * self.trust).min(1.0);
        } else {
            self.trust = (LESS * self.trust).max(0.25 / self.workers);
        }
        self.loss = loss;
    }

    /// Factors on the steps of a newcomer and of the kept set.
    pub(super) fn factors(&self) -> (f64, f64) {
        (self.trust, self.trust / (1.0 + self.mean_square / self.workers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_delay_is_the_step_of_os_and_more_delay_is_a_smaller_one() {
        let mut steps = StepFactors::new(1);
        steps.add_staleness(1);
        steps.add_loss(2.0);
        steps.add_loss(1.0);
        assert_eq!(steps.factors(), (1.0, 1.0));
        // Four workers in turn: (tau - 1)^2 / q = 9 / 4, and a trust of 1/4 at first.
        let mut steps = StepFactors::new(4);
        let (newcomer, kept) = steps.factors();
        assert!(newcomer == 0.25 && (kept - 0.25 * 4.0 / 13.0).abs() < 1e-15);
        steps.add_staleness(9);
        assert!(steps.factors().1 < kept);
    }

    #[test]
    fn trust_grows_while_the_loss_falls_and_halves_when_it_rises() {
        let mut steps = StepFactors::new(2);
        // 0.5 * 1.05^15 is above 1.
        for read in 0..15 {
            steps.add_loss(9.0 - 0.1 * f64::from(read));
        }
        assert_eq!(steps.factors().0, 1.0);
        steps.add_loss(8.0);
        assert_eq!(steps.factors().0, 0.5);
    }
}
