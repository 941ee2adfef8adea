//! Methods that test each feature against the target and the features kept.

pub mod alpha_investing;
pub mod group_saola;
pub(crate) mod interactions;
pub(crate) mod kept_list;
pub mod ogfs;
pub mod osfs;
pub mod ossfs_dd;
pub(crate) mod row_index;
pub(crate) mod rules;
pub mod saola;
pub mod screen;
pub mod sfs_fi;

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
    &ossfs_dd::OSSFS_DD,
    &sfs_fi::SFS_FI,
    &screen::SCREEN,
];
