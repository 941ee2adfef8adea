//! Truncation to `k` coefficients, for rules that set all others to zero at every row.

use serde::{Deserialize, Serialize};

use crate::data::row::Row;

/// The features that may have a coefficient; a truncation keeps the `k` of largest key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Truncation {
    pub(crate) members: Vec<u32>,
    is_member: Vec<bool>,
    k: usize,
}

impl Truncation {
    pub(crate) fn new(features: usize, k: usize) -> Self {
        Self { members: Vec::new(), is_member: vec![false; features], k }
    }

    /// Whether a loaded state can belong to so many features.
    pub(crate) fn sound(&self, features: usize) -> bool {
        self.k > 0
            && self.is_member.len() == features
            && self.members.iter().all(|j| (*j as usize) < features)
    }

    /// Adds the features of `x`, keeps the `k` of largest `key` and zeroes the others in `w`.
    ///
    /// Only members and the row's own features can have changed, so this is O(k + nnz).
    pub(crate) fn truncate(&mut self, x: Row<'_>, w: &mut [f64], key: impl Fn(usize, f64) -> f64) {
        x.each(|j, v| {
            if v != 0.0 && !self.is_member[j] {
                self.is_member[j] = true;
                self.members.push(j as u32);
            }
        });
        if self.members.len() <= self.k {
            return;
        }
        // Compared in f32: in the first rows every standardised feature is -1 or 1 up to rounding,
        // which must not decide between them.
        let rank = |j: &u32| key(*j as usize, w[*j as usize]) as f32;
        let by = |a: &u32, b: &u32| rank(b).total_cmp(&rank(a)).then(a.cmp(b));
        self.members.select_nth_unstable_by(self.k - 1, by);
        for j in self.members.drain(self.k..) {
            self.is_member[j as usize] = false;
            w[j as usize] = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_does_not_choose_between_equal_coefficients() {
        for off in [0.0, 1.0, -1.0, 3.0] {
            let mut support = Truncation::new(3, 1);
            let mut w = [0.7, 0.7 * (1.0 + off * f64::EPSILON), 0.6];
            support.truncate(Row::F64(&[1.0; 3]), &mut w, |_, w| w.abs());
            assert_eq!(support.members, [0], "the earlier of equals stays: {off}");
            assert_eq!(w, [0.7, 0.0, 0.0]);
        }
    }
}
