//! Comparing sizes that may be equal within rounding.
//!
//! The coefficients or slopes of two copies of a column differ in the last digits only. These
//! depend on the order of rows or on a shift of the columns, so they must not decide which of the
//! two goes.

/// Sizes that differ by less than this share are equal.
const SAME: f64 = 1e-9;
/// A size below this share of a usual one is 0 within rounding.
pub(in crate::select) const NOTHING: f64 = 1e-12;

/// Whether a size is above another by more than rounding.
pub(in crate::select) fn above(size: f64, other: f64) -> bool {
    size > other * (1.0 + SAME)
}

/// The least size, and the slot of the latest feature that has it. Sizes below [`NOTHING`] of the
/// largest are equal.
pub(in crate::select) fn least<Id: Ord>(
    sizes: impl Iterator<Item = (f64, usize)>,
    id: impl Fn(usize) -> Id,
) -> Option<(f64, usize)> {
    let sizes: Vec<(f64, usize)> = sizes.collect();
    let least = sizes.iter().map(|(size, _)| *size).min_by(f64::total_cmp)?;
    let nothing = NOTHING * sizes.iter().map(|(size, _)| *size).fold(0.0, f64::max);
    let tied = sizes.into_iter().filter(|(size, _)| !above(*size, least.max(nothing)));
    tied.map(|(_, slot)| (least, slot)).max_by_key(|(_, slot)| id(*slot))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_sizes_the_latest_feature_is_least_whatever_the_last_digit() {
        for digit in [-1e-12, 0.0, 1e-12] {
            let sizes = [(0.5 + digit, 0), (0.7, 1), (0.5, 2)];
            let ids = [3, 9, 8];
            let (size, slot) = least(sizes.into_iter(), |slot| ids[slot]).unwrap();
            assert!(slot == 2 && (size - 0.5).abs() <= 1e-12);
            assert!(!above(0.5 + digit, 0.5) && above(0.7, 0.5));
        }
        // Two that are zero within rounding, and one that is not.
        let zeros = [(3e-17, 0), (1e-17, 1), (0.7, 2)];
        assert_eq!(least(zeros.into_iter(), |slot| 9 - slot).map(|(_, slot)| slot), Some(0));
        assert_eq!(least(std::iter::empty(), |slot| slot), None);
    }
}
