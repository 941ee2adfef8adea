//! Two classes by the logistic loss: working rows in front of a learner of numbers.
//!
//! `working` turns each block of rows into rows of weighted least squares; what averages them, the
//! Gram of all features or an active set, works as it does on any numbers.

use std::cell::OnceCell;

use super::fit::{Fit, Held};
use super::irls::{DAMP, Working};
use super::running::check_target;
use super::sound::refuse_unless;
use crate::data::row::{Row, RowBlock, RowProblem};
use crate::error::{Error, Result};
use crate::learn::{RowLearner, RunningAverages};
use crate::run::snapshot::{self, Snapshot};
use crate::select::Status;
use crate::selection::Selection;

/// A learner on numbers that can look ahead: at what it would fit with a few rows more.
pub(crate) trait Numbers: RowLearner + Held {
    /// Multiplies the weight of every row so far.
    fn damp(&mut self, factor: f64);
}

/// The logistic loss on any learner of numbers.
pub(crate) struct Logistic {
    problem: RowProblem,
    inner: Box<dyn Numbers>,
    working: Working,
    fit: OnceCell<Fit>,
}

impl Logistic {
    /// `inner` is made for [`Logistic::numbers`] of the same problem.
    pub(crate) fn new(problem: RowProblem, inner: Box<dyn Numbers>, forget: f64) -> Self {
        let working = Working::new(problem.features(), forget);
        Self { problem, inner, working, fit: OnceCell::new() }
    }

    /// The problem of the working rows, whose targets are numbers; an error unless there are two
    /// classes.
    pub(crate) fn numbers(problem: &RowProblem) -> Result<RowProblem> {
        if problem.classes.len() != 2 {
            return Err(Error::Unsupported(
                "the logistic loss needs a target of two classes; use `loss=squared`".into(),
            ));
        }
        Ok(RowProblem { classes: Vec::new(), ..problem.clone() })
    }

    /// Values of a row.
    pub(crate) fn features(&self) -> usize {
        self.problem.features()
    }
}

/// That rows of two classes came, in the words of [`crate::Problem::check`].
pub(crate) fn check_classes(problem: &RowProblem, seen: &[u64]) -> Result<()> {
    let came: Vec<usize> = (0..seen.len()).filter(|c| seen[*c] > 0).collect();
    match came.as_slice() {
        [one] => Err(Error::Data(format!(
            "the target has one class only ({:?}); two or more are needed",
            problem.classes[*one]
        ))),
        _ => Ok(()),
    }
}

/// That every row can be linearised.
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

impl Held for Logistic {
    fn cell(&self) -> &OnceCell<Fit> {
        &self.fit
    }

    fn rows(&self) -> u64 {
        self.working.rows()
    }

    fn fit_with(&self, more: Option<&RowBlock>) -> Result<Fit> {
        let mut seen = self.working.seen();
        more.iter().flat_map(|more| more.y()).for_each(|y| seen[usize::from(*y > 0.5)] += 1);
        check_classes(&self.problem, &seen)?;
        self.inner.fit_with(Some(&self.working.look(more)?))
    }

    fn shown(&self, fit: &Fit, rows: u64) -> Selection {
        self.inner.shown(fit, rows)
    }
}

impl RowLearner for Logistic {
    fn learn_block(&mut self, rows: &RowBlock) -> Result<()> {
        check_rows(rows, self.working.rows())?;
        let inner = &mut self.inner;
        self.working.push(rows, |block, ended| {
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
        self.chosen()
    }

    fn status(&self) -> Status {
        self.standing(self.inner.status())
    }

    /// The learner on the working rows, the weights that make them, and a matrix of those rows.
    fn memory(&self) -> u64 {
        let p = self.features();
        self.inner.memory() + Working::bytes_for(p) + 8 * (p * p) as u64
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
        snapshot::encode(&(&self.working, self.inner.save()?))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (working, inner): (Working, Vec<u8>) = snapshot::decode(state)?;
        refuse_unless(working.sound(self.problem.features()))?;
        self.inner.restore(&inner)?;
        self.working = working;
        self.fit.take();
        Ok(())
    }
}
