//! The simulated centre: a delay line, deterministic.
//!
//! A worker reads the prediction as it was `tau - 1` updates ago, or at the start if there were
//! fewer updates; `tau = 1` is no delay. The right-hand columns of the paper's figures have `tau`
//! equal to the number of workers. Memory: `tau` predictions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::{Centre, Seen};
use crate::error::{Error, Result};
use crate::numeric::kernel;

/// The prediction and the earlier ones that workers can still read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DelayLine {
    /// Oldest first; the last is the current prediction.
    states: VecDeque<Vec<f64>>,
    updates: u64,
    tau: u64,
    /// Staleness of each worker's last update, until the worker reads it.
    last: Vec<Option<u64>>,
}

/// A worker's access to a prediction that it reads with delay.
#[derive(Clone)]
pub struct DelayedCentre {
    line: Arc<Mutex<DelayLine>>,
    worker: usize,
}

impl DelayedCentre {
    /// A prediction of `length` zeros that `workers` workers read `tau - 1` updates late; `tau` is
    /// at least 1. This is the first worker's access.
    #[must_use]
    pub fn new(length: usize, tau: u64, workers: usize) -> Self {
        let states = VecDeque::from([vec![0.0; length]]);
        let line = DelayLine { states, updates: 0, tau: tau.max(1), last: vec![None; workers] };
        Self { line: Arc::new(Mutex::new(line)), worker: 0 }
    }

    /// The same prediction for another worker.
    #[must_use]
    pub fn worker(&self, worker: usize) -> Self {
        Self { line: Arc::clone(&self.line), worker }
    }

    /// The current prediction.
    #[must_use]
    pub fn now(&self) -> Vec<f64> {
        self.line().states.back().cloned().unwrap_or_default()
    }

    pub(super) fn line(&self) -> MutexGuard<'_, DelayLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restores the delay line of a centre with the same settings; an error where it does not fit.
    pub(super) fn restore(&self, line: DelayLine) -> Result<()> {
        let mut own = self.line();
        let (length, held) = (own.states[0].len(), line.states.len() as u64);
        let fits = (line.tau, line.last.len()) == (own.tau, own.last.len())
            && (1..=own.tau.min(line.updates.saturating_add(1))).contains(&held)
            && line.states.iter().all(|state| state.len() == length);
        if !fits {
            return Err(Error::Snapshot("it is damaged (the delay line does not fit)".into()));
        }
        *own = line;
        Ok(())
    }
}

impl Centre for DelayedCentre {
    fn read(&mut self, u: &mut [f64]) -> Seen {
        let mut line = self.line();
        u.copy_from_slice(&line.states[0]);
        let updates = line.updates + 1 - line.states.len() as u64;
        Seen { updates, tau: line.last[self.worker].take() }
    }

    fn add(&mut self, delta: &[f64], updates_read: u64) {
        let mut line = self.line();
        let mut next = match line.states.len() as u64 == line.tau && line.tau > 1 {
            true => line.states.pop_front().unwrap_or_default(),
            false => Vec::new(),
        };
        match line.tau {
            1 => next = line.states.pop_back().unwrap_or_default(),
            _ => next.clone_from(&line.states[line.states.len() - 1]),
        }
        kernel::axpy(1.0, delta, &mut next);
        line.states.push_back(next);
        line.updates += 1;
        let tau = line.updates - updates_read;
        line.last[self.worker] = Some(tau);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_is_tau_less_one_updates_old() {
        for tau in [1, 2, 3] {
            let mut centre = DelayedCentre::new(1, tau, 1);
            for update in 0..6u64 {
                let mut u = [0.0];
                let seen = centre.read(&mut u);
                // Each update adds 1, so the value is the number of updates that it contains.
                let want = (update + 1).saturating_sub(tau);
                assert_eq!((u[0], seen.updates), (want as f64, want), "tau {tau}");
                let before = update.checked_sub(1).map(|last| (last + 1).min(tau));
                assert_eq!(seen.tau, before);
                centre.add(&[1.0], seen.updates);
            }
            assert_eq!(centre.now(), [6.0]);
        }
    }
}
