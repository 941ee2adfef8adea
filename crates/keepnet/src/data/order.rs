//! The order in which features come, scan by scan.

use std::sync::Arc;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The order in which features come.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Order {
    /// As the source has them.
    #[default]
    Given,
    /// A new random order each scan, by seed.
    Shuffled,
    /// The same list of indices each scan; features that it leaves out do not come.
    Fixed(Arc<[u32]>),
}

impl Order {
    /// The indices of scan `scan` (from 0) of `features` features; `None` for the given order.
    #[must_use]
    pub fn indices(&self, features: u64, seed: u64, scan: u32) -> Option<Arc<[u32]>> {
        match self {
            Self::Given => None,
            Self::Fixed(order) => Some(Arc::clone(order)),
            Self::Shuffled => {
                let mut order: Vec<u32> = (0..features as u32).collect();
                order.shuffle(&mut generator(seed, u64::from(scan)));
                Some(order.into())
            }
        }
    }
}

/// A random generator for one purpose: `stream` keeps purposes apart under one seed.
#[must_use]
pub fn generator(seed: u64, stream: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_order_is_new_each_scan_and_the_same_each_run() {
        let scan = |scan| Order::Shuffled.indices(50, 7, scan).unwrap();
        assert_eq!(scan(0), scan(0));
        assert_ne!(scan(0), scan(1));
        let mut all = scan(1).to_vec();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..50));
    }
}
