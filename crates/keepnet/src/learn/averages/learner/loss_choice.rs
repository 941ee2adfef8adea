//! The choice between the squared and the logistic loss, by hold-out.
//!
//! ```text
//! hold-out rows: every fifth row; the latest 2,048 and up to 256 more are stored, both models learn
//! from older ones
//! log-loss of a f + b on the hold-out rows, a and b fitted to them, for either model
//! the loss with the smaller log-loss is chosen and fitted again with the hold-out rows
//! ```
//!
//! Both models are fitted without the hold-out rows. The margins of least squares are no log-odds;
//! the two numbers `a, b` make them comparable. Rows count by their sample weights. Memory: two
//! running averages, a third during the last fit, and 2,304 rows.

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

use super::averaged::{Averaged, AveragedParams, check_holdout_rows, is_holdout_row};
use super::irls::{Irls, sigmoid};
use super::logistic::{Logistic, check_rows};
use crate::data::row::{Row, RowBlock, RowProblem};
use crate::error::Result;
use crate::learn::RowLearner;
use crate::learn::averages::extract::Extract;
use crate::learn::averages::fit::{CachedFit, Fit};
use crate::learn::averages::path::Choose;
use crate::learn::averages::running::{GRID, RunningAverages, check_target};
use crate::learn::averages::validity::refuse_unless;
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot};
use crate::select::Status;
use crate::selection::Selection;

/// Largest number of full hold-out blocks that are stored.
const BLOCKS: usize = 8;

/// Two learners and the hold-out rows that decide between them.
pub(crate) struct LossChoice {
    squared: Averaged,
    logistic: Logistic,
    holdout: Holdout,
    choice: OnceCell<Choice>,
}

#[derive(Serialize, Deserialize)]
struct Holdout {
    /// All rows so far, hold-out or not.
    rows: u64,
    /// The latest blocks of hold-out rows, oldest first; the last is unfinished.
    blocks: Vec<RowBlock>,
}

/// The chosen loss and its model, fitted to every row.
struct Choice {
    logistic: bool,
    /// Log-loss of least squares and of the logistic model.
    losses: [f64; 2],
    fit: Fit,
}

impl LossChoice {
    pub(crate) fn new(
        problem: &RowProblem,
        params: AveragedParams,
        (first, second): (Box<dyn Extract>, Box<dyn Extract>),
        budget: Budget,
    ) -> Result<Self> {
        problem.check()?;
        let numbers = Logistic::numbers(problem)?;
        let params = AveragedParams { choose: Choose::Bic, ..params };
        let plain = AveragedParams { logistic: false, ..params };
        let p = problem.features();
        budget.check(
            2 * Averaged::need(problem, &params)
                + RunningAverages::bytes_for(p, 1, params.averages.f32_storage)
                + Irls::bytes_for(p)
                + 8 * ((BLOCKS + 1) * GRID * p) as u64,
            "two running averages",
        )?;
        let make =
            |problem, params, extract| Averaged::new(problem, params, extract, Budget::unlimited());
        let squared = make(problem.clone(), plain, first)?;
        let inner = Box::new(make(numbers, params, second)?);
        let logistic = Logistic::new(problem.clone(), inner, params.averages.forget);
        let holdout = Holdout { rows: 0, blocks: Vec::new() };
        Ok(Self { squared, logistic, holdout, choice: OnceCell::new() })
    }

    /// Log-loss of both models on the hold-out rows, after calibration.
    fn losses(&self) -> Result<[f64; 2]> {
        let learners: [&dyn RowLearner; 2] = [&self.squared, &self.logistic];
        let mut losses = [0.0; 2];
        for (learner, loss) in learners.into_iter().zip(&mut losses) {
            let (mut f, mut y, mut w) = (Vec::new(), Vec::new(), Vec::new());
            for block in &self.holdout.blocks {
                for row in block.rows() {
                    let mut out = [0.0];
                    learner.predict(row, &mut out)?;
                    f.push(out[0]);
                }
                y.extend_from_slice(block.y());
                w.extend_from_slice(block.weight());
            }
            *loss = calibrated_loss(&f, &y, &w);
        }
        Ok(losses)
    }

    /// The chosen model, fitted to all rows; least squares where the losses are equal.
    fn choice(&self) -> Result<&Choice> {
        if let Some(choice) = self.choice.get() {
            return Ok(choice);
        }
        let stored = self.holdout.blocks.iter().map(RowBlock::len).sum::<usize>();
        check_holdout_rows(stored as u64, self.holdout.rows)?;
        let losses = self.losses()?;
        let logistic = losses[1] < losses[0];
        let mut rows = RowBlock::new(self.holdout.blocks[0].features(), stored);
        for block in &self.holdout.blocks {
            for (i, row) in block.rows().enumerate() {
                rows.push(row, block.y()[i], block.weight()[i])?;
            }
        }
        let fit = match logistic {
            true => self.logistic.fit_with(Some(&rows))?,
            false => self.squared.fit_with(Some(&rows))?,
        };
        Ok(self.choice.get_or_init(|| Choice { logistic, losses, fit }))
    }
}

/// The least mean log-loss of `a f + b` on classes 0 and 1, by damped Newton steps.
fn calibrated_loss(f: &[f64], y: &[f64], weight: &[f64]) -> f64 {
    let most = weight.iter().copied().fold(0.0, f64::max);
    let total = weight.iter().map(|w| w / most).sum::<f64>();
    let share: Vec<f64> = weight.iter().map(|w| w / most / total).collect();
    let mean = f.iter().zip(&share).map(|(f, w)| w * f).sum::<f64>();
    let square = f.iter().zip(&share).map(|(f, w)| w * (f - mean).powi(2)).sum::<f64>();
    let sd = square.sqrt().max(1e-300);
    let z: Vec<f64> = f.iter().map(|f| (f - mean) / sd).collect();
    let loss = |a: f64, b: f64| {
        let one = |((z, y), w): ((&f64, &f64), &f64)| {
            let m = (a * z + b) * (2.0 * y - 1.0);
            w * ((-m).max(0.0) + (-m.abs()).exp().ln_1p())
        };
        z.iter().zip(y).zip(&share).map(one).sum::<f64>()
    };
    let (mut a, mut b) = (0.0, 0.0);
    for _ in 0..50 {
        // A small ridge keeps the steps finite where the classes are separable.
        let (mut ga, mut gb, mut haa, mut hab, mut hbb) = (1e-6 * a, 0.0, 1e-6, 0.0, 1e-6);
        for ((z, y), w) in z.iter().zip(y).zip(&share) {
            let s = sigmoid(a * z + b);
            let (r, h) = (w * (s - y), w * s * (1.0 - s));
            (ga, gb) = (ga + r * z, gb + r);
            (haa, hab, hbb) = (haa + h * z * z, hab + h * z, hbb + h);
        }
        let det = haa * hbb - hab * hab;
        let (da, db) = ((hbb * ga - hab * gb) / det, (haa * gb - hab * ga) / det);
        let (now, mut step) = (loss(a, b), 1.0);
        while step > 1e-6 && loss(a - step * da, b - step * db) > now {
            step /= 2.0;
        }
        (a, b) = (a - step * da, b - step * db);
        if step * (da.abs() + db.abs()) < 1e-9 {
            break;
        }
    }
    loss(a, b)
}

impl RowLearner for LossChoice {
    fn learn_block(&mut self, rows: &RowBlock) -> Result<()> {
        check_rows(rows, self.holdout.rows)?;
        let mut train = RowBlock::new(rows.features(), rows.len());
        for (i, row) in rows.rows().enumerate() {
            let (y, weight) = (rows.y()[i], rows.weight()[i]);
            let at = self.holdout.rows + i as u64;
            if !is_holdout_row(at) {
                train.push(row, y, weight)?;
                continue;
            }
            let blocks = &mut self.holdout.blocks;
            if blocks.last().is_none_or(|block| block.room() == 0) {
                blocks.push(RowBlock::new(rows.features(), GRID));
            }
            if let Some(block) = blocks.last_mut() {
                block.push(row, y, weight)?;
            }
            // Both models learn from the oldest hold-out block. The order of rows does not depend
            // on the blocks of the source.
            if blocks.len() > BLOCKS && blocks.last().is_some_and(|block| block.room() == 0) {
                let oldest = blocks.remove(0);
                for part in [&train, &oldest] {
                    self.squared.learn_block(part)?;
                    self.logistic.learn_block(part)?;
                }
                train.reset(rows.len());
            }
        }
        self.squared.learn_block(&train)?;
        self.logistic.learn_block(&train)?;
        self.holdout.rows += rows.len() as u64;
        self.choice.take();
        Ok(())
    }

    fn predict(&self, x: Row<'_>, out: &mut [f64]) -> Result<()> {
        self.choice()?.fit.model.predict(x, out);
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let Choice { logistic, losses, fit } = self.choice()?;
        let mut selection = match logistic {
            true => self.logistic.selection_of(fit, self.holdout.rows),
            false => self.squared.selection_of(fit, self.holdout.rows),
        };
        selection.metrics.push(("holdout_loss_squared", losses[0].into()));
        selection.metrics.push(("holdout_loss_logistic", losses[1].into()));
        Ok(selection)
    }

    fn status(&self) -> Status {
        let (a, b) = (self.squared.status(), self.logistic.status());
        Status { bytes: a.bytes + b.bytes, ..b }
    }

    /// Both learners, and the rows set aside.
    fn memory(&self) -> u64 {
        let aside = 8 * (BLOCKS + 1) * GRID * self.logistic.features();
        self.squared.memory() + self.logistic.memory() + aside as u64
    }
}

impl Snapshot for LossChoice {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&(self.squared.save()?, self.logistic.save()?, &self.holdout))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (squared, logistic, holdout): (Vec<u8>, Vec<u8>, Holdout) = snapshot::decode(state)?;
        let p = self.logistic.features();
        let block = |block: &RowBlock| {
            let rows = block.y().iter().zip(block.weight());
            block.sound()
                && block.features() == p
                && block.limit() == GRID
                && rows.into_iter().all(|(y, w)| check_target(2, *y, *w, 0).is_ok())
        };
        let last = holdout.blocks.len().saturating_sub(1);
        let full = holdout.blocks[..last].iter().all(|block| block.room() == 0);
        let sound = holdout.blocks.len() <= BLOCKS + 1 && holdout.rows < 1 << 60;
        refuse_unless(sound && full && holdout.blocks.iter().all(block))?;
        self.squared.restore(&squared)?;
        self.logistic.restore(&logistic)?;
        self.holdout = holdout;
        self.choice.take();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calibration_ignores_scale_and_offset_and_meets_known_losses() {
        // No information: log 2. Perfect order: near 0. Scale and offset do not matter.
        let y = [0.0, 1.0, 0.0, 1.0];
        assert!((calibrated_loss(&[1.0, 1.0, 2.0, 2.0], &y, &[1.0; 4]) - 2.0f64.ln()).abs() < 1e-6);
        assert!(calibrated_loss(&[-1.0, 3.0, -2.0, 5.0], &y, &[1.0; 4]) < 0.01);
        let (f, y) = ([0.1, 0.4, 0.35, 0.8, 0.2], [0.0, 0.0, 1.0, 1.0, 1.0]);
        let moved = f.map(|f| 100.0 * f - 7.0);
        let plain = calibrated_loss(&f, &y, &[1.0; 5]);
        assert!((plain - calibrated_loss(&moved, &y, &[1e-9; 5])).abs() < 1e-6);
        // A weight of 2 is a row twice.
        let twice = calibrated_loss(
            &[0.1, 0.4, 0.4, 0.35, 0.8, 0.2],
            &[0.0, 0.0, 0.0, 1.0, 1.0, 1.0],
            &[1.0; 6],
        );
        assert!((calibrated_loss(&f, &y, &[1.0, 2.0, 1.0, 1.0, 1.0]) - twice).abs() < 1e-9);
        assert!((plain - twice).abs() > 1e-3);
    }
}
