//! Methods on a stream of rows, behind [`RowLearner`].

pub mod annealed_ridge;
pub mod averages;
mod descent;
pub mod extract;
mod gcv;
pub mod gram;
mod ista;
mod lanes;
mod lars;
pub mod oalasso;
pub mod oelnet;
pub mod ofsa;
pub mod olasso;
pub mod ols;
pub mod olsth;
pub mod omcp;
pub mod oscad;
mod packed;
pub mod penalised;
mod penalty;
#[cfg(test)]
mod testing;

pub use annealed_ridge::{AnnealedRidge, AnnealedRidgeParams};
pub use averages::{AveragesParams, GRID, RunningAverages};
pub use extract::Extract;
pub use gram::{Gram, Model};
pub use oalasso::{Oalasso, OalassoParams};
pub use oelnet::{Oelnet, OelnetParams};
pub use ofsa::{Ofsa, OfsaParams};
pub use olasso::{Olasso, OlassoParams};
pub use ols::{Ols, OlsParams};
pub use olsth::Olsth;
pub use omcp::{Omcp, OmcpParams};
pub use oscad::{Oscad, OscadParams};
pub use penalised::Solver;
