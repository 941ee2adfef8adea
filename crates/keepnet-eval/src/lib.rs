//! How good a selection is: splits, classifiers, metrics, stability and tests between methods.
//!
//! [`splits`] divides the rows, so that a selection is made from the training part alone;
//! [`classify`] has the classifiers that judge it on the rest; [`metrics`] are the numbers;
//! [`stability`] compares selections with each other; [`stats`] has the tests between methods.
//! [`matrix`] is the small dense table that they share, [`rank`] ranks with ties.

pub mod classify;
pub mod matrix;
pub mod metrics;
pub mod rank;
pub mod splits;
pub mod stability;
pub mod stats;

pub use classify::{Classifier, ClassifierKind, judge};
pub use matrix::{Matrix, Scale};
pub use splits::{Split, SplitSpec, subset};
