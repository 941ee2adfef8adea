//! Methods on running averages: accumulated once, and any model is extracted from them.
//!
//! Each method has a file here. The folders have what they share: `accumulation` the averages,
//! `extraction` the way from averages to a model, `penalised` the solvers of penalised problems,
//! `learner` the learners around a method.

mod accumulation;
pub mod annealed_ridge;
mod extraction;
mod learner;
pub mod oalasso;
pub mod oelnet;
pub mod ofsa;
pub mod olasso;
pub mod ols;
pub mod olsth;
pub mod omcp;
pub mod oscad;
mod penalised;
pub(crate) mod settings;

pub use accumulation::running::{AveragesParams, GRID, RunningAverages};
pub use accumulation::saved::SavedAverages;
pub use annealed_ridge::{AnnealedRidge, AnnealedRidgeParams};
pub use extraction::extract::Extract;
pub use extraction::gram::{Gram, Model};
pub use extraction::path::{Choose, Path};
pub use learner::active_set::{ActiveSet, ActiveSetParams};
pub use learner::averaged::{Averaged, AveragedParams};
pub use oalasso::{Oalasso, OalassoParams};
pub use oelnet::{Oelnet, OelnetParams};
pub use ofsa::{Ofsa, OfsaParams};
pub use olasso::{Olasso, OlassoParams};
pub use ols::{Ols, OlsParams};
pub use olsth::Olsth;
pub use omcp::{Omcp, OmcpParams};
pub use oscad::{Oscad, OscadParams};
pub use penalised::Solver;

// The shared parts are named without their folder.
pub(crate) use accumulation::{means, moments, running, validity};
pub(crate) use extraction::{extract, fit, gcv, gram, path, pinned, ties};
pub(crate) use learner::{active_set, averaged, irls, logistic, loss_choice};
pub(crate) use penalised::{descent, penalty};

/// The methods of this folder, in the order of the registry.
pub(crate) const METHODS: &[&crate::registry::MethodInfo] = &[
    &annealed_ridge::INFO,
    &ols::INFO,
    &olsth::INFO,
    &ofsa::INFO,
    &olasso::INFO,
    &oalasso::INFO,
    &oelnet::INFO,
    &omcp::INFO,
    &oscad::INFO,
];
