//! A total order of features by a number that rounding may touch.
//!
//! Two numbers are equal where they round to the same multiple of 1e-12 (below 1) or to the same 40
//! binary digits (from 1 on); the earlier feature is then first. Unlike "within 1e-12" this is
//! transitive, so the first of a stream is the first in any order of comparisons.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::data::block::FeatureId;

/// Binary digits of a number from 1 on that count.
const DIGITS: u32 = 40;

/// A number as it is compared.
#[must_use]
pub(crate) fn level(x: f64) -> f64 {
    if x.abs() < 1.0 {
        // Adding 0 makes one zero of two.
        return (x * 1e12).round() / 1e12 + 0.0;
    }
    rounded(x, DIGITS)
}

/// A number with so many binary digits.
fn rounded(x: f64, digits: u32) -> f64 {
    let drop = 52 - digits;
    let half = 1u64 << (drop - 1);
    let rounded = f64::from_bits((x.to_bits() + half) >> drop << drop);
    if x.is_finite() { rounded } else { x }
}

/// A p-value or statistic as it is compared, with fewer digits: equal to 1e-9, relative from 1 on.
///
/// Relabelled columns have equal evidence, but the sums behind it may be taken in another order.
#[must_use]
pub(crate) fn evidence(x: f64) -> f64 {
    if x.abs() < 1.0 { (x * 1e9).round() / 1e9 + 0.0 } else { rounded(x, 30) }
}

/// A place in a ranking: the largest number first, then the largest second number, where there is
/// one, and of equal ones the earlier feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Rank(Reverse<u64>, Reverse<u64>, FeatureId);

impl Rank {
    /// The place of a feature with this number.
    #[must_use]
    pub(crate) fn new(number: f64, id: FeatureId) -> Self {
        Self::pair(number, 0.0, id)
    }

    /// The place of a feature with these numbers.
    #[must_use]
    pub(crate) fn pair(number: f64, second: f64, id: FeatureId) -> Self {
        Self(Reverse(ordered(number)), Reverse(ordered(second)), id)
    }

    /// The number, as it is compared.
    #[must_use]
    pub(crate) fn number(&self) -> f64 {
        let bits = self.0.0;
        f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
    }

    /// The feature.
    #[must_use]
    pub(crate) fn id(&self) -> FeatureId {
        self.2
    }
}

/// Unsigned integers in the order of the numbers.
fn ordered(number: f64) -> u64 {
    let bits = level(number).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_numbers_come_first_and_of_equal_ones_the_earlier_feature() {
        let rank = |x: f64, j: u64| Rank::new(x, FeatureId::new(j));
        let numbers = [f64::INFINITY, 1e300, 2.5, 1.0, 0.5, 1e-11, 0.0, -1e-11, -0.5, -7.0, -1e300];
        for x in numbers {
            assert_eq!(rank(x, 3).number(), level(x));
        }
        for pair in numbers.windows(2) {
            assert!(rank(pair[0], 9) < rank(pair[1], 0), "{pair:?}");
        }
        for x in [0.3, 1.0, 17.25, 1e9, -0.2, -5.0] {
            let next = x * (1.0 + 2.0 * f64::EPSILON);
            assert!(rank(x, 1) < rank(next, 2) && rank(next, 1) < rank(x, 2), "{x}");
        }
        assert_eq!(rank(0.0, 1), rank(-0.0, 1));
        assert_eq!(level(1.0 - 1e-16), level(1.0 + 1e-16));
    }
}
