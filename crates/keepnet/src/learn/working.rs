//! Working rows of the logistic loss: each block weighted least squares at the model before it.
//!
//! ```text
//! f = w'x + b0 at the model held before the block;  s = 1 / (1 + exp(-f));  h = max(s (1 - s), 1e-3)
//! pushed: target f + (y01 - s) / h with weight h (times the row's own)
//! w: logistic gradient descent, step 0.1 / p, over the same rows
//! after 1024, 2048, 4096, ... rows what was pushed before is damped by 0.3
//! ```
//!
//! A row is linearised once, when it passes; the weighted Gram then feeds every extraction
//! unchanged. Rows near the boundary weigh most, where least squares on -1 and 1 weighs all rows
//! alike; damping lets linearisations at early, poor models fade. Better than least squares where
//! classes are nearly separable, no better where they overlap much. The model is frozen over each
//! block of 256 rows by row number. Source: this project (renewable iteratively reweighted least
//! squares, specs of running averages, section 5).

use serde::{Deserialize, Serialize};

use super::averages::GRID;
use crate::row::Row;

const FLOOR: f64 = 1e-3;
const RATE: f64 = 0.1;
/// What remains of earlier linearisations when an epoch ends.
pub(crate) const DAMP: f64 = 0.3;
const FIRST: u64 = 1024;

/// The model at which rows are linearised.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Working {
    live: Vec<f64>,
    live0: f64,
    frozen: Vec<f64>,
    frozen0: f64,
    rows: u64,
    epoch_end: u64,
}

/// `1 / (1 + exp(-f))`, without overflow.
pub(crate) fn sigmoid(f: f64) -> f64 {
    let e = (-f.abs()).exp();
    if f >= 0.0 { 1.0 / (1.0 + e) } else { e / (1.0 + e) }
}

impl Working {
    pub(crate) fn new(features: usize) -> Self {
        let zeros = vec![0.0; features];
        Self {
            live: zeros.clone(),
            live0: 0.0,
            frozen: zeros,
            frozen0: 0.0,
            rows: 0,
            epoch_end: FIRST,
        }
    }

    /// The working target and weight of a row of class `y01`; then the model learns from it.
    pub(crate) fn pass(&mut self, x: Row<'_>, y01: f64, weight: f64) -> (f64, f64) {
        if self.rows.is_multiple_of(GRID as u64) {
            self.frozen.copy_from_slice(&self.live);
            self.frozen0 = self.live0;
        }
        let f = x.dot(&self.frozen) + self.frozen0;
        let s = sigmoid(f);
        let h = (s * (1.0 - s)).max(FLOOR);
        let slope = sigmoid(x.dot(&self.live) + self.live0) - y01;
        let eta = RATE / self.live.len() as f64;
        x.axpy(-eta * weight * slope, &mut self.live);
        self.live0 -= eta * weight * slope;
        self.rows += 1;
        (f + (y01 - s) / h, weight * h)
    }

    /// Whether the row just passed ended an epoch.
    pub(crate) fn epoch_ended(&mut self) -> bool {
        if self.rows < self.epoch_end {
            return false;
        }
        self.epoch_end *= 2;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_is_linearised_at_zero() {
        // f = 0: s = 1/2, h = 1/4, target (y - 1/2) / (1/4) = 2 or -2.
        let mut working = Working::new(2);
        assert_eq!(working.pass(Row::F64(&[1.0, -2.0]), 1.0, 3.0), (2.0, 0.75));
        // The model is frozen over the block, whatever it has learnt.
        assert_eq!(working.pass(Row::F64(&[1.0, 1.0]), 0.0, 1.0), (-2.0, 0.25));
        // Step 0.1 / 2, slope -1/2, weight 3: live = 0.075 (1, -2) after the first row.
        assert!((working.live[1] + 0.15).abs() < 0.03);
    }
}
