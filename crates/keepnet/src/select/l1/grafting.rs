//! Grafting: a newcomer enters where its slope is above lambda; then all held coefficients are
//! optimised.
//!
//! ```text
//! arrival x, not held:   |x'g| <= lambda           dropped
//!   else  S = S + {x};  w_S = argmin L(X_S w) + lambda |w|_1;  features with w = 0 leave
//! lambda=auto, k + 1 held:  lambda = the least at which one w is zero; that feature leaves
//! ```
//!
//! With a fixed lambda this is the published method: only the budget limits the held set, and the
//! features of the `k` largest coefficients are kept at the end. `lambda=auto` is ours: it never
//! holds more than `k + 1` columns, and ends at the lasso of about `k` features. Either way the
//! coefficients of the result are those of a refit on the kept set.
//!
//! Cost: one pass over a feature that is dropped; `n k` flops and a coordinate descent on the
//! Gram for one that enters (squared loss), `n k^2` per Newton step for the other losses.
//! Source: Perkins, Theiler, Online feature selection using grafting, ICML 2003.

use super::baseline::Baseline;
use super::held::{Held, TOLERANCE};
use super::settings::{EPSILON, INTERCEPT, LAMBDA, STANDARDISE};
use super::{L1Params, norm};
use crate::data::check::Feature;
use crate::data::target::Problem;
use crate::error::Result;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Stream};
use crate::run::budget::Budget;
use crate::select::{ColumnSelector, Outcome, Reason, Verdict};

/// Rounds in which a lambda from the quadratic model is corrected on the loss itself.
const ROUNDS: usize = 5;
/// How far the slope of a newcomer must be above lambda. The slope of a copy of a held column is
/// lambda within the tolerance of the solve, which must not decide whether it enters.
const EDGE: f64 = 1.0 + 10.0 * TOLERANCE;

/// The method, for any loss.
pub struct Grafting {
    held: Held,
}

impl Grafting {
    /// Starts with an empty kept set.
    pub fn new(params: L1Params, problem: &Problem, budget: Budget) -> Result<Self> {
        Ok(Self { held: Held::new(params, problem, budget)? })
    }

    /// Solves at the fixed lambda and removes the features with a coefficient of 0.
    fn drop_zeros(&mut self) -> Vec<Option<crate::FeatureId>> {
        self.held.solve(self.held.progress.lambda);
        let idle = self.held.idle();
        idle.into_iter().rev().map(|slot| self.held.remove(slot)).collect()
    }

    /// Moves lambda until one of the `k + 1` coefficients is 0, and removes that feature.
    fn make_room(&mut self) -> Result<Option<crate::FeatureId>> {
        let held = &mut self.held;
        let slots = held.slots();
        let count = held.columns.count();
        if held.progress.lambda == 0.0 {
            let most = held.slopes().chunks(count).map(norm).fold(0.0, f64::max);
            held.progress.lambda = (0.1 * most).max(f64::MIN_POSITIVE);
        }
        for _ in 0..ROUNDS {
            let quadratic_model = held.columns.quadratic_model(&mut held.gram, &held.point, &slots);
            let mut free: Vec<bool> = slots.iter().map(|j| !held.columns.pinned(*j)).collect();
            free.resize(quadratic_model.size, false);
            let mut w: Vec<Vec<f64>> =
                (0..count).map(|c| held.columns.gather(&held.point, &slots, c)).collect();
            let tolerance = |lambda: f64| 0.1 * TOLERANCE * lambda;
            held.progress.lambda =
                quadratic_model.first_zero(&mut w, &free, held.progress.lambda, tolerance)?;
            if held.columns.squared() {
                held.columns.scatter(&mut held.point, &slots, &w);
                held.columns.predict(&mut held.point);
                held.gradient = None;
            } else {
                held.solve(held.progress.lambda);
            }
            if !held.idle().is_empty() {
                break;
            }
        }
        let evicted = match held.idle_of_least_slope() {
            Some(slot) => slot,
            None => {
                // The quadratic model and the loss do not agree: the least coefficient goes.
                let least = held.least(slots.into_iter(), |j| held.point.size(j));
                let Some(slot) = least else { return Ok(None) };
                held.point.w[slot * count..(slot + 1) * count].fill(0.0);
                held.columns.predict(&mut held.point);
                held.gradient = None;
                slot
            }
        };
        Ok(held.remove(evicted))
    }
}

impl Baseline for Grafting {
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
        let with_slope = |outcome: Outcome| Outcome { marginal: Some(slope), ..outcome };
        let filling = held.limit().is_some() && !held.full();
        if !x.pinned && !filling && slope <= EDGE * held.progress.lambda {
            return Ok(with_slope(Outcome::dropped(Reason::Weak)));
        }
        held.push(x)?;
        if filling || x.pinned {
            // Until a feature must go, no lambda is needed.
            if held.progress.lambda > 0.0 {
                held.solve(held.progress.lambda);
            }
            return Ok(with_slope(Outcome::new(Verdict::Kept)));
        }
        let evicted = match held.over() {
            true => vec![self.make_room()?],
            false => self.drop_zeros(),
        };
        let mut evicted: Vec<_> = evicted.into_iter().flatten().collect();
        let stays = self.held.columns.kept.slot(x.id).is_some();
        evicted.retain(|id| *id != x.id);
        let verdict = if stays { Verdict::Kept } else { Verdict::Dropped(Reason::Weak) };
        self.held.progress.substitutions += u64::from(stays && !evicted.is_empty());
        Ok(with_slope(Outcome { evicted, ..Outcome::new(verdict) }))
    }
}

/// The registry's entry.
pub const INFO: MethodInfo = MethodInfo {
    name: "grafting",
    stream: Stream::Features,
    summary: "a newcomer enters where its slope beats lambda; then the L1 problem is solved anew",
    tasks: "regression, classification (several classes one against the rest)",
    cost: "one pass over a feature that is let go; a solve of the held set for one that enters",
    memory: "lambda=auto: k + 1 columns, O(k^2); a fixed lambda: no bound but `memory`",
    paper: "Perkins, Theiler, ICML 2003",
    scans: 2,
    needs_k: false,
    has_loss: true,
    settings: &[LAMBDA, STANDARDISE, EPSILON, INTERCEPT],
    promises: Promises::ALL,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    Ok(Box::new(Grafting::new(L1Params::read(spec)?, problem, budget)?))
}
