//! Methods on a stream of rows, behind [`RowLearner`].

pub mod annealed_ridge;
pub mod averages;
pub mod extract;
mod gcv;
pub mod gram;
mod lanes;
pub mod ofsa;
pub mod ols;
pub mod olsth;
mod packed;
#[cfg(test)]
mod testing;

pub use annealed_ridge::{AnnealedRidge, AnnealedRidgeParams};
pub use averages::{AveragesParams, GRID, RunningAverages};
pub use extract::Extract;
pub use gram::{Gram, Model};
pub use ofsa::{Ofsa, OfsaParams};
pub use ols::{Ols, OlsParams};
pub use olsth::Olsth;
