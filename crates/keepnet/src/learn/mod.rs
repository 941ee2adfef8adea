//! Methods on a stream of rows, behind [`RowLearner`].
//!
//! Running averages ([`RunningAverages`]) are accumulated once and any model is extracted from
//! them at any time, by one of the methods behind [`Extract`]; [`Averaged`] joins the two. The
//! streaming baselines hold O(p) state and learn a row at a time.

pub mod averages;
pub mod streaming;
#[cfg(test)]
pub(crate) mod testing;

pub use averages::{
    ActiveSet, ActiveSetParams, AnnealedRidge, AnnealedRidgeParams, Averaged, AveragedParams,
    AveragesParams, Choose, Extract, GRID, Gram, Model, Oalasso, OalassoParams, Oelnet,
    OelnetParams, Ofsa, OfsaParams, Olasso, OlassoParams, Ols, OlsParams, Olsth, Omcp, OmcpParams,
    Oscad, OscadParams, Path, RunningAverages, SavedAverages, Solver,
};

use crate::data::row::{Row, RowBlock, RowProblem};
use crate::error::Result;
use crate::registry::MethodSpec;
use crate::run::budget::Budget;
use crate::run::snapshot::Snapshot;
use crate::select::Status;
use crate::selection::Selection;

/// Learns from samples as they arrive and can say at any time what it would keep.
///
/// Rows are complete: finite values, a known target, a positive sample weight. An `Err` leaves the
/// state as it was.
pub trait RowLearner: Snapshot + Send {
    /// Learns from the rows of a block, in order. Blocks are for speed, never for another result.
    fn learn_block(&mut self, rows: &RowBlock) -> Result<()>;

    /// The margins of one row: one value an output.
    fn predict(&self, x: Row<'_>, out: &mut [f64]) -> Result<()>;

    /// The features kept now; may be asked at any moment.
    fn selection(&self) -> Result<Selection>;

    /// The few numbers that a progress line shows; cheap.
    fn status(&self) -> Status;

    /// Bytes that the method holds at most; known before the first row.
    fn memory(&self) -> u64;

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
