//! Holds every column and solves once, at the end: the frame of the batch baselines.
//!
//! A batch method is a [`Solver`] on all columns. A second scan adds nothing.
//! Memory: every column in its stored width; over budget is an error.

use super::{Columns, L1Params};
use crate::data::check::CheckedBlock;
use crate::data::target::Problem;
use crate::error::Result;
use crate::run::budget::Budget;
use crate::run::snapshot::{Snapshot, decode, encode};
use crate::select::{ColumnSelector, Holds, Memory, Outcome, Status, Verdict, fitted, no_groups};
use crate::selection::{Selection, Value};

/// What a batch method found.
#[derive(Clone, Default)]
pub(in crate::select) struct Answer {
    /// Slots of the model, ascending.
    pub(in crate::select) model: Vec<usize>,
    /// Numbers for the result.
    pub(in crate::select) metrics: Vec<(&'static str, Value)>,
    /// Warnings for the user.
    pub(in crate::select) warnings: Vec<String>,
}

/// Solves for all columns at once.
pub(in crate::select) trait Solver: Send {
    /// The method's name.
    fn name(&self) -> &'static str;
    /// Whether every feature must have a group.
    fn grouped(&self) -> bool {
        false
    }
    /// Columns that it has products of at most, where `k` of `n` rows' worth were asked for.
    fn walked(&self, k: Option<usize>, n: usize) -> usize {
        k.map_or(n, |k| k.saturating_add(50))
    }
    /// The settings as a result shows them.
    fn params(&self, columns: &Columns) -> Vec<(&'static str, Value)>;
    /// Chooses the model.
    fn solve(&self, columns: &Columns) -> Result<Answer>;
}

/// A method that holds every column until the end.
pub(in crate::select) struct Batch<S> {
    solver: S,
    k: Option<usize>,
    columns: Columns,
    answer: Option<Answer>,
}

impl<S: Solver> Batch<S> {
    pub(in crate::select) fn new(
        solver: S,
        params: &L1Params,
        problem: &Problem,
        budget: Budget,
    ) -> Result<Self> {
        params.check(problem)?;
        let columns = Columns::new(params, problem, budget)?;
        Ok(Self { solver, k: params.k, columns, answer: None })
    }
}

impl<S: Solver> ColumnSelector for Batch<S> {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        for feature in &block.features {
            if self.solver.grouped() && feature.group.is_none() {
                return Err(no_groups());
            }
            let held = self.columns.kept.slot(feature.id).is_some();
            if !held {
                self.columns.push(feature)?;
                self.answer = None;
            }
            out.push(Outcome::new(if held { Verdict::Held } else { Verdict::Reserved }));
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        Ok(true)
    }

    fn finish(&mut self) -> Result<()> {
        if self.answer.is_none() {
            self.answer = Some(self.solver.solve(&self.columns)?);
        }
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let answer = match &self.answer {
            Some(answer) => answer.clone(),
            None => self.solver.solve(&self.columns)?,
        };
        let columns = &self.columns;
        let mut selection =
            fitted::selection(&columns.frame, &columns.kept, &answer.model, &columns.outputs)?;
        selection.method = self.solver.name();
        selection.params = self.solver.params(columns);
        (selection.metrics, selection.warnings) = (answer.metrics, answer.warnings);
        Ok(selection)
    }

    fn fitted(
        &self,
        see: &mut dyn FnMut(&crate::run::verdict::Fitted<'_>) -> Result<()>,
    ) -> Result<()> {
        self.columns.fitted(see)
    }

    fn centres(&self) -> bool {
        self.columns.frame.centred()
    }

    fn status(&self) -> Status {
        let (kept, bytes) = (self.columns.free(), self.columns.kept.bytes());
        Status { kept, loss: None, substitutions: 0, bytes }
    }

    /// Every column; prediction, slopes and trials an output, 12 columns written out and a refit.
    /// Products are of the columns in a model along the walk: taken to be `k` and 50 more, and with
    /// a fixed lambda as many as there are rows; three times as many where whole groups enter.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let Columns { frame, outputs, kept, .. } = &self.columns;
        let q = outputs.y.len();
        let all = Holds {
            rows: frame.n(),
            kept: features.map(|features| features as usize),
            spare: 0,
            facts: 0,
            covariates: kept.covariates(),
            vectors: 18 + 10 * q + 2 * usize::from(frame.weight().is_some()),
            matrices: 0,
        };
        let walked = Some(self.solver.walked(self.k, frame.n()));
        let model = Holds { kept: walked, covariates: 0, vectors: 0, matrices: 3 + q, ..all };
        let (all, model) = (all.bytes(column, features), model.bytes(0, features));
        Memory { bytes: all.bytes.saturating_add(model.bytes), ..all }
    }
}

impl<S: Solver> Snapshot for Batch<S> {
    fn save(&self) -> Result<Vec<u8>> {
        encode(&self.columns.kept)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let budget = self.columns.kept.budget().clone();
        let kept = decode::<crate::data::kept::KeptSet>(state)?;
        self.columns.kept = kept.resumed(budget, self.columns.frame.n())?;
        self.columns.scale.clear();
        self.columns.rescale();
        self.answer = None;
        Ok(())
    }
}
