//! Methods on a stream of rows, behind [`RowLearner`].
//!
//! Running averages ([`RunningAverages`]) are accumulated once and any model is extracted from
//! them at any time, by one of the methods behind [`Extract`]; [`Averaged`] joins the two. The
//! streaming rivals hold O(p) state and learn a row at a time.

pub mod active_set;
pub mod annealed_ridge;
pub mod averaged;
pub mod averages;
mod contest;
pub(crate) mod descent;
pub mod extract;
mod filter;
mod fit;
mod gcv;
pub mod gram;
mod ista;
mod lanes;
mod lars;
mod logistic;
mod means;
mod moments;
pub mod oalasso;
pub mod oelnet;
pub mod ofs;
pub mod ofsa;
pub mod olasso;
pub mod ols;
pub mod olsth;
pub mod omcp;
pub mod opg;
pub mod opg_sadmm;
pub mod oscad;
mod packed;
pub mod path;
pub mod penalised;
mod penalty;
mod pinned;
mod product;
pub mod rda;
pub mod rda_sadmm;
mod rival;
pub mod run;
mod sadmm;
pub mod saved;
mod scale;
mod screen;
mod settings;
pub mod sgd;
pub mod siht;
pub mod sofs;
mod sound;
mod stream;
mod symmetric;
#[cfg(test)]
mod testing;
mod ties;
pub mod truncated_gradient;
mod truncation;
pub mod tsgd;
mod working;

pub use active_set::{ActiveSet, ActiveSetParams};
pub use annealed_ridge::{AnnealedRidge, AnnealedRidgeParams};
pub use averaged::{Averaged, AveragedParams};
pub use averages::{AveragesParams, GRID, RunningAverages};
pub use extract::Extract;
pub use filter::{RowCounts, RowFilter, RowMissing};
pub use gram::{Gram, Model};
pub use oalasso::{Oalasso, OalassoParams};
pub use oelnet::{Oelnet, OelnetParams};
pub use ofsa::{Ofsa, OfsaParams};
pub use olasso::{Olasso, OlassoParams};
pub use ols::{Ols, OlsParams};
pub use olsth::Olsth;
pub use omcp::{Omcp, OmcpParams};
pub use oscad::{Oscad, OscadParams};
pub use path::{Choose, Path};
pub use penalised::Solver;
pub use run::{RowDriver, RowObserver, RowOptions, RowReport};
pub use saved::SavedAverages;

use crate::budget::Budget;
use crate::error::Result;
use crate::registry::MethodSpec;
use crate::row::{Row, RowBlock, RowProblem};
use crate::select::Status;
use crate::selection::Selection;
use crate::snapshot::Snapshot;

/// Learns from samples as they arrive and can say at any time what it would keep.
///
/// Rows are complete: finite values, a known target, a positive weight. An `Err` leaves the
/// state as it was.
pub trait RowLearner: Snapshot + Send {
    /// Learns from the rows of a block, in order. Blocks are for speed, never for another result.
    fn learn_block(&mut self, rows: &RowBlock) -> Result<()>;

    /// The margins of one row: one value an output.
    fn predict(&self, x: Row<'_>, out: &mut [f64]) -> Result<()>;

    /// What is kept now, at any moment.
    fn selection(&self) -> Result<Selection>;

    /// The few numbers that a progress line shows; cheap.
    fn status(&self) -> Status;

    /// The running averages so far, where the method has them.
    fn averages(&self) -> Option<Result<RunningAverages>> {
        None
    }

    /// Takes up running averages accumulated elsewhere, in place of rows.
    fn load(&mut self, averages: RunningAverages) -> Result<()> {
        let _ = averages;
        Err(crate::error::Error::Unsupported(
            "this method does not work on running averages; `keepnet methods` lists those that do"
                .into(),
        ))
    }
}

/// Makes a learner from what the user asked for.
pub type MakeRows = fn(&MethodSpec, &RowProblem, Budget) -> Result<Box<dyn RowLearner>>;
