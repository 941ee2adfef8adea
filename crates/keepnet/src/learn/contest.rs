//! Least squares or logistic, whichever predicts rows set aside better.
//!
//! ```text
//! every fifth block of 256 rows is set aside, the latest eight of them held as they are
//! log-loss of a f + b on these rows, a and b fitted to them, for either model;  the lesser wins
//! ```
//!
//! Both learn from the other rows; the two numbers `a, b` put least squares, whose margins are no
//! log-odds, on the same footing. Memory: two running averages and 2,048 rows.

use serde::{Deserialize, Serialize};

use super::RowLearner;
use super::averaged::{Averaged, AveragedParams};
use super::averages::{GRID, check_target};
use super::extract::Extract;
use super::path::Choose;
use super::working::sigmoid;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::row::{Row, RowBlock, RowProblem};
use crate::select::Status;
use crate::selection::Selection;
use crate::snapshot::{self, Snapshot};

/// Rows set aside that are held.
const HELD: usize = 8 * GRID;

/// Two learners and the rows that judge them.
pub(crate) struct Contest {
    squared: Averaged,
    logistic: Averaged,
    aside: Aside,
}

#[derive(Serialize, Deserialize)]
struct Aside {
    rows: u64,
    /// The latest blocks, oldest first.
    blocks: Vec<RowBlock>,
}

impl Contest {
    pub(crate) fn new(
        problem: &RowProblem,
        params: AveragedParams,
        (first, second): (Box<dyn Extract>, Box<dyn Extract>),
        budget: Budget,
    ) -> Result<Self> {
        let params = AveragedParams { choose: Choose::Bic, ..params };
        let plain = AveragedParams { logistic: false, ..params };
        budget.check(
            2 * Averaged::need(problem, &params) + 8 * (HELD * problem.features()) as u64,
            "two running averages",
        )?;
        let make =
            |params, extract| Averaged::new(problem.clone(), params, extract, Budget::unlimited());
        let (squared, logistic) = (make(plain, first)?, make(params, second)?);
        Ok(Self { squared, logistic, aside: Aside { rows: 0, blocks: Vec::new() } })
    }

    /// Log-loss of both models on the rows held, after calibration.
    fn losses(&self) -> Result<[f64; 2]> {
        let mut losses = [0.0; 2];
        for (learner, loss) in [&self.squared, &self.logistic].into_iter().zip(&mut losses) {
            let (mut f, mut y) = (Vec::new(), Vec::new());
            for block in &self.aside.blocks {
                for (i, row) in block.rows().enumerate() {
                    let mut out = [0.0];
                    learner.predict(row, &mut out)?;
                    f.push(out[0]);
                    y.push(block.y()[i]);
                }
            }
            *loss = calibrated_loss(&f, &y);
        }
        Ok(losses)
    }

    /// The learner that wins; least squares on a draw or with nothing set aside yet.
    fn winner(&self) -> Result<(&Averaged, [f64; 2])> {
        let losses = self.losses()?;
        Ok((if losses[1] < losses[0] { &self.logistic } else { &self.squared }, losses))
    }
}

/// The least mean log-loss of `a f + b` on classes 0 and 1, by damped Newton steps.
fn calibrated_loss(f: &[f64], y: &[f64]) -> f64 {
    let n = f.len() as f64;
    if f.is_empty() {
        return f64::INFINITY;
    }
    let mean = f.iter().sum::<f64>() / n;
    let sd = (f.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / n).sqrt().max(1e-300);
    let unit: Vec<f64> = f.iter().map(|f| (f - mean) / sd).collect();
    let loss = |a: f64, b: f64| {
        let one = |(u, y): (&f64, &f64)| {
            let m = (a * u + b) * (2.0 * y - 1.0);
            (-m).max(0.0) + (-m.abs()).exp().ln_1p()
        };
        unit.iter().zip(y).map(one).sum::<f64>() / n
    };
    let (mut a, mut b) = (0.0, 0.0);
    for _ in 0..50 {
        // A little of the identity keeps separable classes from running away.
        let (mut ga, mut gb, mut haa, mut hab, mut hbb) = (1e-6 * a, 0.0, 1e-6, 0.0, 1e-6);
        for (u, y) in unit.iter().zip(y) {
            let s = sigmoid(a * u + b);
            let (r, h) = ((s - y) / n, s * (1.0 - s) / n);
            (ga, gb) = (ga + r * u, gb + r);
            (haa, hab, hbb) = (haa + h * u * u, hab + h * u, hbb + h);
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

impl RowLearner for Contest {
    fn learn_block(&mut self, rows: &RowBlock) -> Result<()> {
        let mut here = RowBlock::new(rows.features(), rows.len());
        let mut apart = Vec::new();
        for (i, row) in rows.rows().enumerate() {
            let at = self.aside.rows + i as u64;
            if let Some(j) = row.beyond(1e17) {
                let value = row.get(j);
                return Err(Error::Data(format!("feature {j} is {value} at row {at}")));
            }
            check_target(2, rows.y()[i], rows.weight()[i], at)?;
            match at / GRID as u64 % 5 {
                4 => apart.push((at, i)),
                _ => here.push(row, rows.y()[i], rows.weight()[i])?,
            }
        }
        self.squared.learn_block(&here)?;
        self.logistic.learn_block(&here)?;
        for (at, i) in apart {
            if at.is_multiple_of(GRID as u64) {
                if self.aside.blocks.len() * GRID >= HELD {
                    self.aside.blocks.remove(0);
                }
                self.aside.blocks.push(RowBlock::new(rows.features(), GRID));
            }
            let block = self.aside.blocks.last_mut().expect("a block begins at each 256 rows");
            block.push(rows.row(i), rows.y()[i], rows.weight()[i])?;
        }
        self.aside.rows += rows.len() as u64;
        Ok(())
    }

    fn predict(&self, x: Row<'_>, out: &mut [f64]) -> Result<()> {
        self.winner()?.0.predict(x, out)
    }

    fn selection(&self) -> Result<Selection> {
        let (winner, [squared, logistic]) = self.winner()?;
        let mut selection = winner.selection()?;
        if squared.is_finite() {
            selection.metrics.push(("holdout_loss_squared", squared.into()));
            selection.metrics.push(("holdout_loss_logistic", logistic.into()));
        }
        Ok(selection)
    }

    fn status(&self) -> Status {
        let (a, b) = (self.squared.status(), self.logistic.status());
        Status { bytes: a.bytes + b.bytes, ..b }
    }
}

impl Snapshot for Contest {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&(self.squared.save()?, self.logistic.save()?, &self.aside))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (squared, logistic, aside): (Vec<u8>, Vec<u8>, Aside) = snapshot::decode(state)?;
        self.squared.restore(&squared)?;
        self.logistic.restore(&logistic)?;
        self.aside = aside;
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
        assert!((calibrated_loss(&[1.0, 1.0, 2.0, 2.0], &y) - 2.0f64.ln()).abs() < 1e-6);
        assert!(calibrated_loss(&[-1.0, 3.0, -2.0, 5.0], &y) < 0.01);
        let (f, y) = ([0.1, 0.4, 0.35, 0.8, 0.2], [0.0, 0.0, 1.0, 1.0, 1.0]);
        let moved = f.map(|f| 100.0 * f - 7.0);
        assert!((calibrated_loss(&f, &y) - calibrated_loss(&moved, &y)).abs() < 1e-6);
    }
}
