//! Projected gradient descent on all features at once: a gradient step, then the `k` largest.
//!
//! ```text
//! v = w - eta X'g / W,   w = the k largest |v_j|, the rest 0
//! eta = c/L: c over the largest eigenvalue of X_S'X_S / W of the current S, times the steepest
//!            curvature; halved where the loss would rise
//! eta = c/Lf: the same of all columns          eta = a number: that step, unguarded
//! ```
//!
//! Ends when a step moves the coefficients by less than 1e-6 of their length, or after 500 steps.
//! The published curves need `1/L`, the default: `1/Lf` is far shorter and gets stuck. Cost: one
//! pass over all columns per step; memory: every column. Source: the batch L0 rival of Yang,
//! Fujimaki, Kusumura, Liu, KDD 2016; iterative hard thresholding, Blumensath and Davies 2009.

use super::batch::{Answer, Batch, Solver};
use super::settings::{EPSILON, INTERCEPT, STANDARDISE};
use super::{Columns, L1Params, Point, norm};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::numeric::lanczos::largest_eigenvalue;
use crate::registry::setting::Given;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::ties::above;
use crate::selection::Value;

/// Most steps.
const STEPS: usize = 500;
/// A step shorter than this share of the coefficients' length is the last.
const STILL: f64 = 1e-6;
/// Most halvings of a step with which the loss would rise.
const HALVINGS: usize = 30;

/// The step length.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Fixed(f64),
    OverL(f64),
    OverLf(f64),
}

const ETA: Setting = Setting::step(
    "eta",
    &["L", "Lf"],
    Given::Over(1.0, "L"),
    "step length: a number, c/L of the kept set, or c/Lf of all columns",
);

impl Step {
    fn of(given: Given) -> Option<Self> {
        match given {
            Given::Number(eta) => Some(Self::Fixed(eta)),
            Given::Over(c, "L") => Some(Self::OverL(c)),
            Given::Over(c, _) => Some(Self::OverLf(c)),
            _ => None,
        }
    }
}

struct ProjGd {
    params: L1Params,
    k: usize,
    eta: String,
    step: Step,
}

impl ProjGd {
    /// `v` with all but the `k` largest and the pinned coefficients set to 0, and their slots.
    fn project(&self, columns: &Columns, v: &[f64], order: &[usize]) -> (Vec<f64>, Vec<usize>) {
        let count = columns.count();
        let size = |j: &usize| norm(&v[j * count..(j + 1) * count]);
        let (mut set, free): (Vec<usize>, Vec<usize>) =
            order.iter().copied().partition(|j| columns.pinned(*j));
        let k = self.k.min(free.len());
        if k == free.len() {
            set.extend(&free);
        } else if k > 0 {
            let mut sizes: Vec<f64> = free.iter().map(size).collect();
            sizes.sort_by(|a, b| b.total_cmp(a));
            let edge = sizes[k - 1];
            let (larger, rest): (Vec<usize>, Vec<usize>) =
                free.iter().partition(|j| above(size(j), edge));
            // `free` is in the order of the features, so ties at the edge, equal within rounding,
            // go to the earlier ones.
            let tied = rest.into_iter().filter(|j| !above(edge, size(j)));
            set.extend(larger.iter().copied().chain(tied.take(k - larger.len())));
        }
        let mut w = vec![0.0; v.len()];
        for j in &set {
            w[j * count..(j + 1) * count].copy_from_slice(&v[j * count..(j + 1) * count]);
        }
        (w, set)
    }

    fn descend(&self, columns: &Columns, order: &[usize]) -> (Point, f64, usize) {
        let steepest = columns.outputs.loss.steepest();
        let mut point = columns.origin();
        let mut set: Vec<usize> = Vec::new();
        let whole = match self.step {
            Step::OverLf(c) => Some(c / (steepest * largest(columns, order))),
            Step::Fixed(eta) => Some(eta),
            Step::OverL(_) => None,
        };
        let (mut eta, mut steps) = (whole.unwrap_or(1.0), 0);
        let mut value = columns.loss(&point.u);
        while steps < STEPS {
            steps += 1;
            let slopes = self.slopes(columns, &point);
            if let Step::OverL(c) = self.step {
                if set.is_empty() {
                    let first: Vec<f64> = slopes.0.iter().map(|s| -s).collect();
                    set = self.project(columns, &first, order).1;
                }
                eta = c / (steepest * largest(columns, &set));
            }
            let (mut next, mut chosen) = self.step(columns, &point, &slopes, eta, order);
            let mut found = columns.loss(&next.u);
            let guard = matches!(self.step, Step::OverL(_));
            for _ in 0..HALVINGS {
                if !(guard && found > value * (1.0 + 1e-12)) {
                    break;
                }
                eta *= 0.5;
                (next, chosen) = self.step(columns, &point, &slopes, eta, order);
                found = columns.loss(&next.u);
            }
            let pairs = next.w.iter().zip(&point.w).chain(next.b.iter().zip(&point.b));
            let moved = pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            let length = next.w.iter().map(|w| w * w).sum::<f64>().sqrt();
            (point, set, value) = (next, chosen, found);
            if moved < STILL * length.max(columns.outputs.scale) || !value.is_finite() {
                break;
            }
        }
        (point, eta, steps)
    }

    /// Slopes of all slots, by slot, and of the intercepts.
    fn slopes(&self, columns: &Columns, point: &Point) -> (Vec<f64>, Vec<f64>) {
        let gradient = columns.gradient(&point.u);
        let all: Vec<usize> = (0..columns.kept.len()).collect();
        let total = columns.frame.weight_sum();
        let free = if columns.has_intercept() { 1.0 } else { 0.0 };
        let intercept = gradient.sum.iter().map(|sum| free * sum / total).collect();
        (columns.slopes(&gradient, &all), intercept)
    }

    fn step(
        &self,
        columns: &Columns,
        point: &Point,
        slopes: &(Vec<f64>, Vec<f64>),
        eta: f64,
        order: &[usize],
    ) -> (Point, Vec<usize>) {
        let v: Vec<f64> = point.w.iter().zip(&slopes.0).map(|(w, s)| w - eta * s).collect();
        let (w, set) = self.project(columns, &v, order);
        let b = point.b.iter().zip(&slopes.1).map(|(b, s)| b - eta * s).collect();
        let mut next = Point { w, b, u: Vec::new() };
        columns.predict(&mut next);
        (next, set)
    }
}

/// The largest eigenvalue of `X_S'X_S / W` on scaled columns.
fn largest(columns: &Columns, set: &[usize]) -> f64 {
    let times = |v: &[f64], out: &mut [f64]| {
        let mut u = vec![0.0; columns.frame.n()];
        columns.add(set, v, 0.0, &mut u);
        out.copy_from_slice(&columns.products(set, u));
    };
    largest_eigenvalue(set.len(), set.len(), times).max(f64::MIN_POSITIVE)
}

impl Solver for ProjGd {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn params(&self, columns: &Columns) -> Vec<(&'static str, Value)> {
        let mut params = self.params.shown(columns.outputs.kind);
        params.retain(|(name, _)| *name != "lambda");
        params.push(("eta", self.eta.as_str().into()));
        params
    }

    fn solve(&self, columns: &Columns) -> Result<Answer> {
        let mut order: Vec<usize> = (0..columns.kept.len()).collect();
        order.sort_by_key(|slot| columns.kept.slots()[*slot].id);
        if columns.free() == 0 {
            return Ok(Answer { model: order, ..Answer::default() });
        }
        let (point, eta, steps) = self.descend(columns, &order);
        let mut model = self.project(columns, &point.w, &order).1;
        model.sort_unstable();
        let mut answer = Answer { model, ..Answer::default() };
        answer.metrics = vec![("steps", steps.into()), ("last_eta", eta.into())];
        if steps == STEPS {
            answer.warnings.push(format!("the weights still moved after {STEPS} steps"));
        }
        if !point.w.iter().all(|w| w.is_finite()) {
            answer.warnings.push("the weights diverged: eta is too large; use eta=1/L".into());
        }
        Ok(answer)
    }
}

/// The registry's entry.
pub const INFO: MethodInfo = MethodInfo {
    name: "proj-gd",
    stream: Stream::Batch,
    summary: "gradient steps on all features at once, each cut to the k largest weights",
    tasks: "regression, classification (several classes one against the rest)",
    cost: "one pass over all columns a step, at most 500 steps",
    memory: "every column",
    paper: "Yang, Fujimaki, Kusumura, Liu, KDD 2016, baseline methods",
    scans: 1,
    needs_k: true,
    has_loss: true,
    settings: &[ETA, STANDARDISE, EPSILON, INTERCEPT],
    promises: Promises::ALL,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    let k = spec.need_k()?;
    let params = L1Params::read(spec)?;
    let (eta, step) = spec
        .value(&ETA)?
        .and_then(|eta| Some((eta.to_string(), Step::of(eta)?)))
        .ok_or_else(|| Error::param("eta", "not given", ETA.wanted()))?;
    let solver = ProjGd { params: params.clone(), k, eta, step };
    Ok(Box::new(Batch::new(solver, &params, problem, budget)?))
}
