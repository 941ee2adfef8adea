//! What can be said of the errors of a selection: bounds on false features, p-values from rows that
//! did not choose, knockoffs.

pub mod bounds;
pub mod correction;
pub mod fits;
pub mod knockoffs;
mod lasso;
mod qr;
