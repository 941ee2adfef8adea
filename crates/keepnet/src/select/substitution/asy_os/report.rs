//! The result of all workers: one fit on all kept columns, and the workers' counts.

use super::{INFO, Tally};
use crate::data::kept::Kept;
use crate::data::target::Problem;
use crate::error::Result;
use crate::numeric::inner_product::Frame;
use crate::numeric::kernel;
use crate::run::verdict::{self, Fitted};
use crate::select::fitted;
use crate::select::refit::Outputs;
use crate::select::substitution::os::{DIVERGED, OsParams};
use crate::selection::{Selection, Value};

/// The shares of all workers and the centre at the end of a run.
pub struct Merged<'a> {
    /// Settings; `k` is for all workers together.
    pub params: &'a OsParams,
    /// The centre's name.
    pub centre: &'static str,
    /// Whether the result shows times. Not where it must be the same in every run.
    pub timed: bool,
    /// The staleness of the simulated centre.
    pub tau: Option<u64>,
    /// The kept columns of all workers.
    pub kept: &'a [&'a Kept],
    /// Counts of each worker.
    pub tallies: &'a [Tally],
    /// Features that replaced another.
    pub substitutions: u64,
    /// Whether a coefficient is not finite.
    pub diverged: bool,
    /// The sum of the workers' own predictions.
    pub workers_prediction: &'a [f64],
    /// The prediction of the centre: the same sum, within rounding.
    pub centre_prediction: &'a [f64],
}

/// Fits the kept columns of workers elsewhere together, and checks the result as the driver would.
pub fn merge(problem: &Problem, all: &Merged<'_>) -> Result<Selection> {
    let frame = Frame::new(problem, all.params.intercept);
    let outputs = all.params.outputs(problem, &frame)?;
    let selection = merged(&frame, &outputs, all)?;
    let fitted = Fitted { columns: all.kept, frame: &frame, outputs: &outputs };
    verdict::check(problem, &selection, &fitted, &verdict::Constant::default())?;
    Ok(selection)
}

/// Fits the kept columns of all workers together.
pub(super) fn merged(frame: &Frame, outputs: &Outputs, all: &Merged<'_>) -> Result<Selection> {
    let mut selection = fitted::of_columns(frame, all.kept, outputs)?;
    selection.method = INFO.name;
    selection.substitutions = all.substitutions;
    selection.params = all.params.values(outputs.kind);
    let workers = all.tallies.len();
    selection.params.push(("centre", all.centre.into()));
    selection.params.push(("workers", workers.into()));
    if let Some(tau) = all.tau {
        selection.params.push(("tau", tau.into()));
    }
    selection.metrics = metrics(all);
    if all.timed && workers > 1 {
        let order = "the order of updates is up to the machine: another run may keep another set";
        selection.warnings.push(order.into());
    }
    if all.diverged {
        selection.warnings.push(DIVERGED.into());
    }
    Ok(selection)
}

fn metrics(all: &Merged<'_>) -> Vec<(&'static str, Value)> {
    let tallies = all.tallies;
    let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum::<u64>();
    let list = |of: fn(&Tally) -> f64| Value::List(tallies.iter().map(of).collect());
    let mean = sum(|t| t.staleness) as f64 / sum(|t| t.dated).max(1) as f64;
    let stalest = tallies.iter().map(|t| t.stalest).max().unwrap_or(0);
    let mut out = vec![
        ("updates", sum(|t| t.updates).into()),
        ("staleness_mean", mean.into()),
        ("staleness_max", stalest.into()),
        ("worker_features", list(|t| t.features as f64)),
        ("centre_error", relative_distance(all.workers_prediction, all.centre_prediction).into()),
    ];
    if all.timed {
        out.push(("worker_seconds", list(|t| t.seconds)));
        out.push(("worker_waiting_seconds", list(|t| t.waiting)));
        out.push(("worker_idle_seconds", list(|t| t.idle)));
    }
    out
}

/// Distance of two vectors, relative to the longer one.
fn relative_distance(a: &[f64], b: &[f64]) -> f64 {
    let d: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let longest = kernel::dot(a, a).max(kernel::dot(b, b));
    if longest > 0.0 { (kernel::dot(&d, &d) / longest).sqrt() } else { 0.0 }
}
