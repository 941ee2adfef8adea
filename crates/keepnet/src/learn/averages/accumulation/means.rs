//! Means with twice the digits of an f64, so that a large offset costs no precision.
//!
//! ```text
//! mean = high + low,  |low| <= ulp(high) / 2      d = (high' - high) + (low' - low)
//! ```
//!
//! Adding the moments of two sets of rows needs the difference of their means. At an offset of 1e12
//! a mean in one f64 is off by 1e-4, and the joint sums would be too. The mean of equal values is
//! exactly that value.

use serde::{Deserialize, Serialize};

/// A list of means.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Means {
    /// The nearest f64.
    pub(crate) high: Vec<f64>,
    /// The remainder.
    pub(crate) low: Vec<f64>,
}

/// `a + b` and its rounding error, exactly (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

impl Means {
    pub(crate) fn zeros(n: usize) -> Self {
        Self { high: vec![0.0; n], low: vec![0.0; n] }
    }

    /// `shift + rest`.
    pub(crate) fn of(shift: Vec<f64>, rest: Vec<f64>) -> Self {
        let mut means = Self { high: shift, low: rest };
        for (high, low) in means.high.iter_mut().zip(&mut means.low) {
            (*high, *low) = two_sum(*high, *low);
        }
        means
    }

    /// Number of means.
    pub(crate) fn len(&self) -> usize {
        self.high.len()
    }

    /// Each mean minus the other's.
    pub(crate) fn minus(&self, other: &Self) -> Vec<f64> {
        let high = self.high.iter().zip(&other.high).map(|(a, b)| a - b);
        let low = self.low.iter().zip(&other.low).map(|(a, b)| a - b);
        high.zip(low).map(|(high, low)| high + low).collect()
    }

    /// Each mean minus a value.
    pub(crate) fn less(&self, shift: &[f64]) -> Vec<f64> {
        let parts = self.high.iter().zip(&self.low).zip(shift);
        parts.map(|((high, low), shift)| (high - shift) + low).collect()
    }

    /// `mean += share d`.
    pub(crate) fn step(&mut self, share: f64, d: &[f64]) {
        for ((high, low), d) in self.high.iter_mut().zip(&mut self.low).zip(d) {
            (*high, *low) = two_sum(*high, share.mul_add(*d, *low));
        }
    }

    /// Whether a loaded list has `n` finite means.
    pub(crate) fn sound(&self, n: usize) -> bool {
        self.high.len() == n
            && self.low.len() == n
            && self.high.iter().chain(&self.low).all(|v| v.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_costs_no_digit() {
        // 1e12 + 0.25 and 1e12 + 0.75 with weights 3 and 1: mean 1e12 + 0.375, all exact in binary.
        let mut mean = Means::of(vec![1e12], vec![0.25]);
        let other = Means::of(vec![1e12 + 0.5], vec![0.25]);
        let d = other.minus(&mean);
        assert_eq!(d, [0.5]);
        mean.step(0.25, &d);
        assert_eq!(mean.less(&[1e12]), [0.375]);
        // 1e12 + 1/3 does not fit one f64; the low part has 1/3 to full precision.
        let third = Means::of(vec![1e12], vec![1.0 / 3.0]);
        assert_eq!(third.less(&[1e12]), [1.0 / 3.0]);
    }
}
