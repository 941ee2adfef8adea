//! Coordinate descent on the stream; the `k` largest coefficients are kept.
//!
//! ```text
//! arrival x, held or not:   w_x = w_x - eta x'g / max curvature      no other w moves
//!   more than k:  the feature of least |w| goes, the newcomer where it ties
//! ```
//!
//! The intercept and pinned columns take their own step at every arrival. Cost: `4 n` flops per
//! arrival; memory `k` columns and `O(n)`. Unlike in `os`, the kept set takes no step: a
//! coefficient moves only when its own feature arrives.
//! Source: section 5, baseline methods, of Yang, Fujimaki, Kusumura, Liu, KDD 2016.

use super::baseline::Baseline;
use super::held::Held;
use super::settings::{EPSILON, INTERCEPT, STANDARDISE};
use super::{L1Params, norm};
use crate::data::check::Feature;
use crate::data::target::Problem;
use crate::error::Result;
use crate::registry::setting::Bounds;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::select::{ColumnSelector, Outcome, Reason, Verdict};
use crate::selection::Selection;

/// The method, for any loss.
pub struct L0Cd {
    held: Held,
    eta: f64,
}

impl L0Cd {
    /// Starts with an empty kept set; `eta` is the step on the scaled column.
    pub fn new(params: L1Params, eta: f64, problem: &Problem, budget: Budget) -> Result<Self> {
        ETA.check(eta)?;
        Ok(Self { held: Held::new(params, problem, budget)?, eta })
    }
}

impl Baseline for L0Cd {
    const NAME: &'static str = INFO.name;
    const COORDINATES: bool = true;
    const MAY_DIVERGE: bool = true;

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
        let step = self.eta / held.columns.outputs.loss.steepest();
        let slot = held.columns.kept.slot(x.id);
        let now = slot.map_or(vec![0.0; slope.len()], |slot| held.coefficients(slot));
        let next: Vec<f64> = now.iter().zip(&slope).map(|(w, s)| w - step * s).collect();
        let score = norm(&next);
        let outcome =
            |verdict| Outcome { marginal: Some(size), score: Some(score), ..Outcome::new(verdict) };
        if let Some(slot) = slot {
            held.set(slot, &next);
            return Ok(outcome(Verdict::Held));
        }
        let mut evicted = Vec::new();
        if held.full() && !x.pinned {
            let Some(least) = held.least(held.slots().into_iter(), |j| held.point.size(j)) else {
                return Ok(outcome(Verdict::Dropped(Reason::Weak)));
            };
            if score <= held.point.size(least) {
                return Ok(outcome(Verdict::Dropped(Reason::Weak)));
            }
            let at = held.push(x)?;
            held.set(least, &vec![0.0; next.len()]);
            held.set(at, &next);
            evicted.extend(held.remove(least));
            held.progress.substitutions += 1;
        } else {
            let at = held.push(x)?;
            held.set(at, &next);
        }
        Ok(Outcome { evicted, ..outcome(Verdict::Kept) })
    }

    fn complete(&self, selection: &mut Selection) {
        selection.params.retain(|(name, _)| *name != "lambda");
        selection.params.push(("eta", self.eta.into()));
        if !self.held.finite() {
            let text = "the weights diverged: eta is too large for these columns";
            selection.warnings.push(text.into());
        }
    }
}

const ETA: Setting = Setting::number(
    "eta",
    Bounds::above(0.0),
    1.0,
    "step on the scaled column, over the steepest curvature of the loss",
);

/// The registry's entry.
pub const INFO: MethodInfo = MethodInfo {
    name: "l0-cd",
    stream: Stream::Features,
    summary: "one coordinate step for the feature that arrives; the k largest weights stay",
    tasks: "regression, classification (several classes one against the rest)",
    cost: "4 n flops an arrival",
    memory: "k columns, O(n) vectors",
    paper: "Yang, Fujimaki, Kusumura, Liu, KDD 2016, baseline methods",
    scans: 2,
    needs_k: true,
    has_loss: true,
    settings: &[ETA, STANDARDISE, EPSILON, INTERCEPT],
    promises: Promises::ALL,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    spec.need_k()?;
    let eta = spec.number(&ETA)?;
    Ok(Box::new(L0Cd::new(L1Params::read(spec)?, eta, problem, budget)?))
}
