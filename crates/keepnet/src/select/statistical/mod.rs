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
