//! Grafting-light: one gradient step over the held coefficients and the newcomer in place of
//! grafting's full optimisation.
//!
//! ```text
//! arrival x, not held:   enters where |x'g| > lambda
//!   v = w - eta X_S'g,   w = v (1 - eta lambda / |v|)+      eta halved until the loss obeys
//!                                                           the quadratic bound of 1 / eta
//! fixed lambda:  features with w = 0 leave
//! lambda=auto:   k + 1 held: lambda rises to the least |v| / eta, and that feature leaves;
//!                while a held w is zero lambda falls by 1 % at each arrival
//! ```
//!
//! Cost: `4 n k` flops per arrival. With a fixed lambda only the budget limits the held set; with
//! `lambda=auto`, which is ours, it is at most `k + 1` columns.
//! Source: Zhu, Lao, Xing, Grafting-light, KDD 2010.

use super::baseline::Baseline;
use super::held::{FALL, Held};
use super::quadratic_model::EDGE;
use super::settings::{EPSILON, INTERCEPT, LAMBDA, STANDARDISE};
use super::{L1Params, Point, norm};
use crate::FeatureId;
use crate::data::check::Feature;
use crate::data::target::Problem;
use crate::error::Result;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Stream};
use crate::run::budget::Budget;
use crate::select::{ColumnSelector, Outcome, Reason, Verdict};

/// Factor on the step length after each step.
const GROW: f64 = 1.05;
/// Most halvings of a step; then it is so short that only rounding is left, and it is taken.
const HALVINGS: usize = 100;

/// The method, for any loss.
pub struct GraftingLight {
    held: Held,
}

impl GraftingLight {
    /// Starts with an empty kept set.
    pub fn new(params: L1Params, problem: &Problem, budget: Budget) -> Result<Self> {
        Ok(Self { held: Held::new(params, problem, budget)? })
    }

    /// One proximal gradient step over all held columns.
    fn step(&mut self) {
        let held = &mut self.held;
        let count = held.columns.count();
        let slopes = held.slopes();
        let total = held.columns.frame.weight_sum();
        let intercept: Vec<f64> = match held.columns.has_intercept() {
            true => held.gradient().sum.iter().map(|sum| sum / total).collect(),
            false => vec![0.0; count],
        };
        let (over, before) = (held.over(), held.columns.loss(&held.point.u));
        for halving in 0..=HALVINGS {
            let held = &self.held;
            let eta = held.progress.eta;
            let v: Vec<f64> = held.point.w.iter().zip(&slopes).map(|(w, s)| w - eta * s).collect();
            let mut lambda = held.progress.lambda;
            if over {
                // Where all k + 1 coefficients would stay nonzero, the least of them sets lambda.
                let free = (0..held.columns.kept.len()).filter(|j| !held.columns.pinned(*j));
                let size = |j: usize| norm(&v[j * count..(j + 1) * count]);
                lambda = lambda.max(free.map(size).fold(f64::INFINITY, f64::min) / eta);
            }
            let next = self.shrunk(&v, &intercept, lambda);
            let held = &mut self.held;
            let (bound, moved) = step_bound(&held.point, &next, &slopes, &intercept, eta);
            // With a single column the bound holds with equality, which rounding must not decide.
            let tiny = 1e-9 * before.abs();
            let within_bound = !moved || held.columns.loss(&next.u) <= before + bound + tiny;
            if within_bound || halving == HALVINGS {
                held.progress.eta = eta * GROW;
                held.progress.lambda = lambda;
                held.progress.changed |= moved;
                held.point = next;
                held.gradient = None;
                return;
            }
            held.progress.eta = 0.5 * eta;
        }
    }

    /// The point after a step to `v` and the shrinkage by `lambda`.
    fn shrunk(&self, v: &[f64], intercept: &[f64], lambda: f64) -> Point {
        let (held, count) = (&self.held, self.held.columns.count());
        let eta = held.progress.eta;
        let mut next = Point { w: v.to_vec(), ..held.point.clone() };
        for (slot, w) in next.w.chunks_mut(count).enumerate() {
            let size = norm(w);
            if held.columns.pinned(slot) {
                continue;
            }
            // Within EDGE of the threshold the difference is rounding: of the division that set
            // lambda, or between copies of a column.
            if size <= eta * lambda * EDGE {
                w.fill(0.0);
            } else {
                w.iter_mut().for_each(|w| *w *= 1.0 - eta * lambda / size);
            }
        }
        next.b.iter_mut().zip(intercept).for_each(|(b, slope)| *b -= eta * slope);
        held.columns.predict(&mut next);
        next
    }

    fn drop_zeros(&mut self) -> Vec<FeatureId> {
        let idle = self.held.idle();
        idle.into_iter().rev().filter_map(|slot| self.held.remove(slot)).collect()
    }

    fn make_room(&mut self) -> Option<FeatureId> {
        let slot = self.held.idle_of_least_slope()?;
        self.held.remove(slot)
    }
}

/// The quadratic bound on the change of the loss by a step, and whether anything moves.
fn step_bound(
    from: &Point,
    to: &Point,
    slopes: &[f64],
    intercept: &[f64],
    eta: f64,
) -> (f64, bool) {
    let coefficients = to.w.iter().zip(&from.w).zip(slopes);
    let intercepts = to.b.iter().zip(&from.b).zip(intercept);
    let (mut linear, mut square) = (0.0, 0.0);
    for ((to, from), slope) in coefficients.chain(intercepts) {
        let d = to - from;
        linear += slope * d;
        square += d * d;
    }
    (linear + square / (2.0 * eta), square > 0.0)
}

impl Baseline for GraftingLight {
    const NAME: &'static str = INFO.name;
    const COORDINATES: bool = false;

    fn held(&self) -> &Held {
        &self.held
    }

    fn held_mut(&mut self) -> &mut Held {
        &mut self.held
    }

    fn arrival(&mut self, x: &Feature<'_>) -> Result<Outcome> {
        let held = &mut self.held;
        if held.columns.kept.slot(x.id).is_some() {
            return Ok(Outcome::new(Verdict::Held));
        }
        let slope = held.slope(x).0;
        let filling = held.limit().is_some() && !held.full();
        let enters = x.pinned || filling || slope > EDGE * held.progress.lambda;
        if enters {
            held.push(x)?;
        }
        self.step();
        let mut evicted = match self.held.limit() {
            None => self.drop_zeros(),
            Some(_) if self.held.over() => self.make_room().into_iter().collect(),
            Some(_) => Vec::new(),
        };
        if self.held.limit().is_some() && self.held.full() && !self.held.idle().is_empty() {
            self.held.progress.lambda *= FALL;
        }
        let stays = self.held.columns.kept.slot(x.id).is_some();
        evicted.retain(|id| *id != x.id);
        let verdict = if stays { Verdict::Kept } else { Verdict::Dropped(Reason::Weak) };
        self.held.progress.substitutions += u64::from(stays && !evicted.is_empty());
        let outcome = Outcome::new(verdict);
        Ok(Outcome { evicted, marginal: Some(slope), ..outcome })
    }
}

/// The registry's entry.
pub const INFO: MethodInfo = MethodInfo {
    name: "grafting-light",
    stream: Stream::Features,
    summary: "grafting with one gradient step in place of each full optimisation",
    tasks: "regression, classification (several classes one against the rest)",
    cost: "4 n k flops an arrival",
    memory: "lambda=auto: k + 1 columns; a fixed lambda: no bound but `memory`",
    paper: "Zhu, Lao, Xing, KDD 2010",
    scans: 2,
    needs_k: false,
    has_loss: true,
    settings: &[LAMBDA, STANDARDISE, EPSILON, INTERCEPT],
    promises: Promises::ALL,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    Ok(Box::new(GraftingLight::new(L1Params::read(spec)?, problem, budget)?))
}
