//! `theta`: how far below a column's own curvature `h` its Schur complement may be.

use serde::{Deserialize, Serialize};

/// Tests after which the estimate is renewed.
const RENEW: u64 = 500;
/// The value until then.
const GUESS: f64 = 0.1;
/// Bins per octave of schur / h: the percentile is exact to 2 %.
const FINE: f64 = 32.0;
const BINS: usize = 1024;

/// The factor `theta`, fixed or learnt from the full tests so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Theta {
    value: f64,
    counts: Option<Vec<u64>>,
    tests: u64,
}

impl Theta {
    pub(super) fn fixed(value: f64) -> Self {
        Self { value, counts: None, tests: 0 }
    }

    /// Half the first percentile of schur / h, renewed every 500 tests.
    pub(super) fn auto() -> Self {
        Self { value: GUESS, counts: Some(vec![0; BINS]), tests: 0 }
    }

    /// Whether an estimate from a checkpoint fits the run of `new`.
    pub(super) fn fits(&self, new: &Self) -> bool {
        let lengths = |theta: &Self| theta.counts.as_ref().map(Vec::len);
        lengths(self) == lengths(new) && (0.0..=1.0).contains(&self.value)
    }

    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// Adds the ratio of one full test.
    pub(super) fn add(&mut self, ratio: f64) {
        self.tests += 1;
        let Some(counts) = &mut self.counts else { return };
        let octaves = -ratio.clamp(1e-9, 1.0).log2();
        counts[((octaves * FINE) as usize).min(BINS - 1)] += 1;
        if self.tests.is_multiple_of(RENEW) {
            // The smallest ratios are in the last bins.
            let mut left = self.tests / 100;
            let bin = counts.iter().rposition(|count| {
                let here = *count > left;
                left = left.saturating_sub(*count);
                here
            });
            let octaves = bin.map_or(0.0, |bin| (bin + 1) as f64 / FINE);
            self.value = 0.5 * (-octaves).exp2();
        }
    }

    pub(super) fn tests(&self) -> u64 {
        self.tests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_half_the_first_percentile() {
        let mut theta = Theta::auto();
        assert_eq!(theta.value(), 0.1);
        // Ratios 0.001, 0.002 ... 0.5: the first percentile of 500 is the sixth, 0.006.
        (1..=500).for_each(|i| theta.add(f64::from(i) / 1000.0));
        assert!((theta.value() / 0.003 - 1.0).abs() < 0.03, "{}", theta.value());
    }
}
