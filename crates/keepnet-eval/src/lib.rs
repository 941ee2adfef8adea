//! How good a selection is: splits, classifiers, metrics, stability and tests between methods.
//!
//! [`splits`] divides the rows, so that a selection is made from the training part alone;
//! [`classify`] has the classifiers that judge it on the rest; [`metrics`] are the numbers;
//! [`stability`] compares selections with each other; [`stats`] has the tests between methods.
//! [`select`] makes the selections of several methods on several splits from few reads,
//! [`columns`] reads what they chose once more and [`evaluate`](mod@evaluate) judges it; [`comparison`] holds
//! the numbers of many and says what they mean.
//! [`trust`] bounds and tests the errors of one selection.
//! [`report`] makes a page of it.
//! [`matrix`] is the small dense table that they share, [`rank`] ranks with ties.

#![forbid(unsafe_code)]

pub mod classify;
pub mod columns;
pub mod comparison;
pub mod evaluate;
pub mod matrix;
pub mod metered;
pub mod metrics;
pub mod rank;
pub mod report;
pub mod select;
pub mod splits;
pub mod stability;
pub mod stats;
pub mod trust;

pub use classify::{Classifier, ClassifierKind, judge, judge_raw};
pub use columns::Columns;
pub use comparison::{Comparison, Ranking, Record};
pub use evaluate::{Judge, Score, evaluate};
pub use matrix::{Matrix, Scale};
pub use select::{Entrant, FeatureRun, Found, select_rows};
pub use splits::{Split, SplitSpec, subset};
