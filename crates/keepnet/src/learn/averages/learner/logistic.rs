//! Two classes by the logistic loss, on top of a learner for regression.
//!
//! `irls` turns each block of rows into rows of weighted least squares. The learner that averages
//! them, on the Gram of all features or on an active set, treats them as rows with numeric targets.

use std::cell::OnceCell;

use super::irls::{DAMP, Irls};
use crate::data::row::{Row, RowBlock, RowProblem};
use crate::error::{Error, Result};
use crate::learn::averages::fit::{CachedFit, Fit};
use crate::learn::averages::running::check_target;
use crate::learn::averages::validity::refuse_unless;
use crate::learn::{RowLearner, RunningAverages};
use crate::run::snapshot::{self, Snapshot};
use crate::select::Status;
use crate::selection::Selection;

/// A learner for numeric targets that can damp its past rows.
pub(crate) trait RegressionLearner: RowLearner + CachedFit {
    /// Multiplies the sample weight of every row so far.
    fn damp(&mut self, factor: f64);
}

/// The logistic loss on any learner for regression.
pub(crate) struct Logistic {
    problem: RowProblem,
    inner: Box<dyn RegressionLearner>,
    irls: Irls,
    fit: OnceCell<Fit>,
}

impl Logistic {
    /// `inner` is made for [`Logistic::numbers`] of the same problem.
    pub(crate) fn new(problem: RowProblem, inner: Box<dyn RegressionLearner>, forget: f64) -> Self {
        let irls = Irls::new(problem.features(), forget);
        Self { problem, inner, irls, fit: OnceCell::new() }
    }

    /// The problem of the linearised rows, whose targets are numbers; an error unless there are two
    /// classes.
    pub(crate) fn numbers(problem: &RowProblem) -> Result<RowProblem> {
        if problem.classes.len() != 2 {
            return Err(Error::Unsupported(
                "the logistic loss needs a target of two classes; use `loss=squared`".into(),
            ));
        }
        Ok(RowProblem { classes: Vec::new(), ..problem.clone() })
    }

    /// Number of features.
    pub(crate) fn features(&self) -> usize {
        self.problem.features()
    }
}

/// An error where all rows are of one class, with the text of [`crate::Problem::check`].
pub(crate) fn check_classes(problem: &RowProblem, counts: &[u64]) -> Result<()> {
    let present: Vec<usize> = (0..counts.len()).filter(|c| counts[*c] > 0).collect();
    match present.as_slice() {
        [one] => Err(Error::Data(format!(
            "the target has one class only ({:?}); two or more are needed",
            problem.classes[*one]
        ))),
        _ => Ok(()),
    }
}

/// An error where a row cannot be linearised.
pub(crate) fn check_rows(rows: &RowBlock, before: u64) -> Result<()> {
    for (i, row) in rows.rows().enumerate() {
        let at = before + i as u64;
        if let Some(j) = row.beyond(1e17) {
            let value = row.get(j);
            return Err(Error::Data(format!(
                "feature {j} is {value} at row {at}: not a finite number small enough to square; \
                 scale the column down or choose a `missing` policy"
            )));
        }
        check_target(2, rows.y()[i], rows.weight()[i], at)?;
    }
    Ok(())
}

impl CachedFit for Logistic {
    fn cache(&self) -> &OnceCell<Fit> {
        &self.fit
    }

    fn rows(&self) -> u64 {
        self.irls.rows()
    }

    fn fit_with(&self, more: Option<&RowBlock>) -> Result<Fit> {
        let mut counts = self.irls.class_counts();
        more.iter().flat_map(|more| more.y()).for_each(|y| counts[usize::from(*y > 0.5)] += 1);
        check_classes(&self.problem, &counts)?;
        self.inner.fit_with(Some(&self.irls.pending_with(more)?))
    }

    fn selection_of(&self, fit: &Fit, rows: u64) -> Selection {
        let mut selection = self.inner.selection_of(fit, rows);
        // Deviations of the working rows are not those of the data.
        for feature in selection.selected.iter_mut().chain(&mut selection.pinned) {
            feature.deviation = None;
        }
        selection
    }
}

impl RowLearner for Logistic {
    fn learn_block(&mut self, rows: &RowBlock) -> Result<()> {
        check_rows(rows, self.irls.rows())?;
        let inner = &mut self.inner;
        self.irls.push(rows, |block, ended| {
            inner.learn_block(block)?;
            if ended {
                inner.damp(DAMP);
            }
            Ok(())
        })?;
        self.fit.take();
        Ok(())
    }

    fn predict(&self, x: Row<'_>, out: &mut [f64]) -> Result<()> {
        self.margins(x, out)
    }

    fn selection(&self) -> Result<Selection> {
        self.current_selection()
    }

    fn status(&self) -> Status {
        self.current_status(self.inner.status())
    }

    /// The learner on the working rows, the weights that make them, and a matrix of those rows.
    fn memory(&self) -> u64 {
        let p = self.features();
        self.inner.memory() + Irls::bytes_for(p) + 8 * (p * p) as u64
    }

    fn load(&mut self, _: RunningAverages) -> Result<()> {
        Err(Error::Unsupported(
            "averages are sums for least squares, which the logistic loss cannot use; leave `loss` \
             logistic out"
                .into(),
        ))
    }
}

impl Snapshot for Logistic {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&(&self.irls, self.inner.save()?))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (irls, inner): (Irls, Vec<u8>) = snapshot::decode(state)?;
        refuse_unless(irls.sound(self.problem.features()))?;
        self.inner.restore(&inner)?;
        self.irls = irls;
        self.fit.take();
        Ok(())
    }
}
