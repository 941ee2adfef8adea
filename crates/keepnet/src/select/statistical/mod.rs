//! Methods that test each feature against the target and the features kept.

pub mod alpha_investing;
pub mod group_saola;
pub mod kept_list;
pub mod ogfs;
pub mod osfs;
pub mod row_index;
pub mod rules;
pub mod saola;
