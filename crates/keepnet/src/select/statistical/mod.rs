//! Methods that test each feature against the target and the features kept.

pub mod alpha_investing;
pub mod group_saola;
pub(crate) mod kept_list;
pub mod ogfs;
pub mod osfs;
pub(crate) mod row_index;
pub(crate) mod rules;
pub mod saola;

pub use rules::{OnFull, Rules};

/// The methods of this folder, in the order of the registry.
pub(crate) const METHODS: &[&crate::registry::MethodInfo] = &[
    &saola::SAOLA,
    &saola::SAOLA_MAX,
    &group_saola::GROUP_SAOLA,
    &alpha_investing::ALPHA_INVESTING,
    &osfs::OSFS,
    &osfs::FAST_OSFS,
    &ogfs::OGFS,
];
