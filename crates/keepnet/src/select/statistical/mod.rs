//! Methods that test each feature against the target and the features kept.

pub mod alpha_investing;
pub mod group_saola;
pub mod ogfs;
pub mod osfs;
pub(crate) mod rules;
pub mod saola;
pub(crate) mod shelf;

pub use rules::{OnFull, Rules};
