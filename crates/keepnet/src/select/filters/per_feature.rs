//! A small value for every feature of a stream, by its identity.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::data::block::FeatureId;

/// Values by feature; a feature that was given none has the usual one.
///
/// The features of a table of numbers take a place in a list. Those that are made from a column,
/// such as the levels of a text column, are looked up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PerFeature<T> {
    plain: Vec<T>,
    made: FxHashMap<FeatureId, T>,
    usual: T,
}

impl<T: Copy> PerFeature<T> {
    /// The usual value for every feature.
    pub(crate) fn new(usual: T) -> Self {
        Self { plain: Vec::new(), made: FxHashMap::default(), usual }
    }

    pub(crate) fn get(&self, id: FeatureId) -> T {
        match id.part {
            0 => self.plain.get(id.index as usize),
            _ => self.made.get(&id),
        }
        .copied()
        .unwrap_or(self.usual)
    }

    pub(crate) fn set(&mut self, id: FeatureId, value: T) {
        if id.part != 0 {
            self.made.insert(id, value);
            return;
        }
        let at = id.index as usize;
        if at >= self.plain.len() {
            if at >= self.plain.capacity() {
                let grown = grown(self.plain.len(), at);
                self.plain.reserve_exact(grown - self.plain.len());
            }
            self.plain.resize(at + 1, self.usual);
        }
        self.plain[at] = value;
    }

    /// Every value that was given, with its feature, in no order that may be relied on.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (FeatureId, T)> {
        let plain = self.plain.iter().enumerate();
        let plain = plain.map(|(at, value)| (FeatureId::new(at as u64), *value));
        plain.chain(self.made.iter().map(|(id, value)| (*id, *value)))
    }

    /// Bytes held once a feature has a value.
    pub(crate) fn bytes_with(&self, id: FeatureId) -> u64 {
        let (plain, made) = match id.part {
            0 if (id.index as usize) < self.plain.len() => (self.plain.len(), self.made.len()),
            0 => (grown(self.plain.len(), id.index as usize), self.made.len()),
            _ => (self.plain.len(), self.made.len() + 1),
        };
        (plain * size_of::<T>() + 2 * made * size_of::<(FeatureId, T)>()) as u64
    }

    /// Bytes for `features` of a table of numbers.
    pub(crate) fn planned(features: u64) -> u64 {
        let bytes = (features + features / 8).saturating_add(1024);
        bytes.saturating_mul(size_of::<T>() as u64)
    }
}

/// How long a list of `length` grows for a value at `at`: by an eighth, as a doubled list of
/// millions would be the largest thing in memory.
fn grown(length: usize, at: usize) -> usize {
    (length + length / 8 + 64).max(at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_again_and_others_are_usual() {
        let mut values = PerFeature::new(-1.0);
        let ids = [FeatureId::new(5), FeatureId::new(0), FeatureId::level(5, 1)];
        ids.iter().zip([0.5, 2.0, 7.0]).for_each(|(id, value)| values.set(*id, value));
        assert_eq!(ids.map(|id| values.get(id)), [0.5, 2.0, 7.0]);
        let others = [FeatureId::new(3), FeatureId::new(99), FeatureId::level(5, 0)];
        assert_eq!(others.map(|id| values.get(id)), [-1.0; 3]);
        assert_eq!(values.iter().filter(|(_, value)| *value > 0.0).count(), 3);
    }
}
