//! Coordinate descent on the stream with an L1 penalty: one step for the feature that arrives.
//!
//! ```text
//! arrival x, held or not:   h = <x, x> max curvature,  z = h w_x - x'g
//!   w_x = z (1 - lambda / |z|)+ / h                     no other w moves
//! fixed lambda:  a feature with w = 0 leaves
//! lambda=auto:   k + 1 held: lambda rises to the least |h w_i - x_i'g|, and that feature leaves;
//!                while a held w is zero lambda falls by 1 % at each arrival
//! ```
//!
//! The intercept and pinned columns take their own step at every arrival. Cost: `4 n` flops per
//! arrival, `n k` more where a feature must go. With a fixed lambda only the budget limits the held
//! set, as in the paper's naive rival; `lambda=auto`, which is ours, holds at most `k + 1` columns.
//! Source: section 5, baseline methods, of Yang, Fujimaki, Kusumura, Liu, KDD 2016.

use super::baseline::Baseline;
use super::held::{FALL, Held};
use super::quadratic_model::EDGE;
use super::settings::{EPSILON, INTERCEPT, LAMBDA, STANDARDISE};
use super::{L1Params, norm};
use crate::FeatureId;
use crate::data::check::Feature;
use crate::data::target::Problem;
use crate::error::Result;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Stream};
use crate::run::budget::Budget;
use crate::select::ties::NOTHING;
use crate::select::{ColumnSelector, Outcome, Reason, Verdict};

/// The method, for any loss.
pub struct L1Cd {
    held: Held,
}

impl L1Cd {
    /// Starts with an empty kept set.
    pub fn new(params: L1Params, problem: &Problem, budget: Budget) -> Result<Self> {
        Ok(Self { held: Held::new(params, problem, budget)? })
    }

    /// Lowers lambda while a held coefficient is 0.
    fn lower_lambda(&mut self) {
        let held = &mut self.held;
        if held.full() && !held.idle().is_empty() {
            held.progress.lambda *= FALL;
        }
    }

    /// Removes the feature whose coefficient would be the first to become 0 as lambda rises.
    fn make_room(&mut self) -> Option<FeatureId> {
        let held = &mut self.held;
        let slot = match held.idle_of_least_slope() {
            Some(slot) => slot,
            None => {
                let (slopes, count) = (held.slopes(), held.columns.count());
                let need = |j: usize| {
                    let h = held.columns.curvature(&held.columns.kept.slots()[j]);
                    let slopes = &slopes[j * count..(j + 1) * count];
                    let coefficients = held.coefficients(j);
                    let z: Vec<f64> =
                        coefficients.iter().zip(slopes).map(|(w, s)| h * w - s).collect();
                    norm(&z)
                };
                let slot = held.least(held.slots().into_iter(), need)?;
                held.progress.lambda = held.progress.lambda.max(need(slot));
                held.set(slot, &vec![0.0; count]);
                slot
            }
        };
        held.remove(slot)
    }
}

/// The coordinate step with a soft threshold. Sizes up to `nothing`, or within [`EDGE`] of lambda,
/// are rounding and become 0.
fn shrunk(w: &[f64], slope: &[f64], h: f64, lambda: f64, nothing: f64) -> Vec<f64> {
    let z: Vec<f64> = w.iter().zip(slope).map(|(w, s)| h * w - s).collect();
    let size = norm(&z);
    let edge = (EDGE * lambda).max(nothing);
    let keep = if size <= edge || h <= 0.0 { 0.0 } else { (1.0 - lambda / size) / h };
    z.iter().map(|z| z * keep).collect()
}

impl Baseline for L1Cd {
    const NAME: &'static str = INFO.name;
    const COORDINATES: bool = true;

    fn held(&self) -> &Held {
        &self.held
    }

    fn held_mut(&mut self) -> &mut Held {
        &mut self.held
    }

    fn arrival(&mut self, x: &Feature<'_>) -> Result<Outcome> {
        self.held.check_room(x)?;
        self.held.step_pinned();
        let held = &mut self.held;
        let (size, slope) = held.slope(x);
        let slot = held.columns.kept.slot(x.id);
        let now = slot.map_or(vec![0.0; slope.len()], |slot| held.coefficients(slot));
        let lambda = if x.pinned { 0.0 } else { held.progress.lambda };
        let nothing = NOTHING * held.columns.outputs.scale * held.columns.length(x);
        let next = shrunk(&now, &slope, held.columns.curvature(x), lambda, nothing);
        let filling = held.limit().is_some() && !held.full();
        let outcome = |verdict| Outcome { marginal: Some(size), ..Outcome::new(verdict) };
        if slot.is_none() && norm(&next) == 0.0 && !x.pinned && !filling {
            self.lower_lambda();
            return Ok(outcome(Verdict::Dropped(Reason::Weak)));
        }
        let at = match slot {
            Some(slot) => slot,
            None => held.push(x)?,
        };
        held.set(at, &next);
        if slot.is_some() {
            let leaves = held.limit().is_none() && norm(&next) == 0.0 && !x.pinned;
            if leaves {
                held.remove(at);
                return Ok(outcome(Verdict::Dropped(Reason::Weak)));
            }
            self.lower_lambda();
            return Ok(outcome(Verdict::Held));
        }
        let mut evicted = Vec::new();
        if held.over() {
            evicted.extend(self.make_room());
        }
        self.lower_lambda();
        let stays = self.held.columns.kept.slot(x.id).is_some();
        evicted.retain(|id| *id != x.id);
        self.held.progress.substitutions += u64::from(stays && !evicted.is_empty());
        let verdict = if stays { Verdict::Kept } else { Verdict::Dropped(Reason::Weak) };
        Ok(Outcome { evicted, ..outcome(verdict) })
    }
}

/// The registry's entry.
pub const INFO: MethodInfo = MethodInfo {
    name: "l1-cd",
    stream: Stream::Features,
    summary: "one coordinate step with a soft threshold for the feature that arrives",
    tasks: "regression, classification (several classes one against the rest)",
    cost: "4 n flops an arrival, n k more where one must go",
    memory: "lambda=auto: k + 1 columns; a fixed lambda: no bound but `memory`",
    paper: "Yang, Fujimaki, Kusumura, Liu, KDD 2016, baseline methods",
    scans: 2,
    needs_k: false,
    has_loss: true,
    settings: &[LAMBDA, STANDARDISE, EPSILON, INTERCEPT],
    promises: Promises::ALL,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    Ok(Box::new(L1Cd::new(L1Params::read(spec)?, problem, budget)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: `h = 2, w = 1, slope = 0.5` gives `z = 1.5`, and lambda 0.5 leaves 1 / 2.
    #[test]
    fn a_step_is_the_soft_threshold_of_the_coordinate() {
        assert_eq!(shrunk(&[1.0], &[0.5], 2.0, 0.5, 0.0), [0.5]);
        assert_eq!(shrunk(&[1.0], &[0.5], 2.0, 1.5, 0.0), [0.0]);
        assert_eq!(shrunk(&[0.0], &[-3.0], 1.5, 0.0, 1e-13), [2.0]);
        // A slope within rounding of 0 gives a coefficient of 0, whatever lambda is.
        assert_eq!(shrunk(&[0.0], &[3e-17], 1.0, 0.0, 1e-13), [0.0]);
    }
}
