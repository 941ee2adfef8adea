//! Annealed ridge: block backward elimination with exact ridge solves; the default for rows.
//!
//! ```text
//! A = all;  lambda by generalised cross-validation on the full S
//! while |A| > k:  solve (S_AA + lambda (|A| / p)^cool I) b = s_A;
//!                 keep the max(k, ceil((1 - drop) |A|)) largest |b|
//! refit by least squares on A
//! ```
//!
//! The ridge keeps the early rankings stable when there are hardly more rows than features. Each
//! stage ranks the remaining features again, as Sun and Barbu's annealing does, but with exact
//! solves. When features without effect have left, the others have more effect each and need less
//! ridge. With `cool` above 0 the ridge falls with their number, which helps correlated features
//! (docs/running-averages.md). With several outputs `|b|` is the norm over outputs. Cost `1.2 p^3` flops at drop 0.1 and `4/3 p^3`
//! for the ridge; memory two copies of `S`. Source: specs of this project; the schedule follows
//! Barbu, She, Ding and Gramajo, PAMI 39 (2017), the elimination is ours.

use super::extract::Extract;
use super::gcv;
use super::gram::{Gram, gather, sizes, solve};
use super::settings::{build, info, with_shared};
use super::ties::{same, weakest};
use crate::data::row::RowProblem;
use crate::error::Result;
use crate::learn::RowLearner;
use crate::registry::setting::Bounds;
use crate::registry::{MethodInfo, MethodSpec, Promises, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

/// Settings of [`AnnealedRidge`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnnealedRidgeParams {
    /// The ridge on correlations; `None` asks generalised cross-validation.
    pub ridge: Option<f64>,
    /// Share of the features dropped in a stage, above 0 and below 1.
    pub drop: f64,
    /// Power of the share of features left by which the ridge falls, in `0..=1`; 0 keeps it.
    pub cool: f64,
}

impl Default for AnnealedRidgeParams {
    fn default() -> Self {
        let (drop, cool) = const { (DROP.usual_number(), COOL.usual_number()) };
        Self { ridge: None, drop, cool }
    }
}

/// Backward elimination with ridge solves.
#[derive(Clone, Copy, Debug)]
pub struct AnnealedRidge {
    params: AnnealedRidgeParams,
}

impl AnnealedRidge {
    /// Checks the settings.
    pub fn new(params: AnnealedRidgeParams) -> Result<Self> {
        params.ridge.map_or(Ok(()), |ridge| RIDGE.check(ridge))?;
        DROP.check(params.drop)?;
        COOL.check(params.cool)?;
        Ok(Self { params })
    }

    fn ridge(&self, gram: &Gram) -> f64 {
        self.params.ridge.unwrap_or_else(|| gcv::ridge(gram))
    }

    /// Eliminates down to `k`; calls `dropped` for each feature that leaves, the weakest of a stage
    /// first.
    fn eliminate(
        &self,
        gram: &Gram,
        k: usize,
        mut dropped: impl FnMut(usize),
    ) -> Result<Vec<usize>> {
        let first = self.ridge(gram);
        let mut alive: Vec<usize> = (0..gram.p()).collect();
        while alive.len() > k {
            let share = alive.len() as f64 / gram.p() as f64;
            // Without a ridge S may be singular; a ridge this small changes no ranking.
            let ridge = (first * share.powf(self.params.cool)).max(super::gram::JITTER);
            let xy: Vec<Vec<f64>> =
                gram.xy.iter().map(|xy| alive.iter().map(|j| xy[*j]).collect()).collect();
            let size = sizes(&solve(|| gather(&gram.s, &alive), &xy, ridge)?);
            let next = ((1.0 - self.params.drop) * alive.len() as f64).ceil() as usize;
            let next = next.min(alive.len() - 1).max(k);
            // Rounding makes the coefficients of copies differ by this much.
            let same = same(gram).max(10.0 * f64::EPSILON / ridge);
            let mut stays = vec![true; alive.len()];
            for at in weakest(&size, alive.len() - next, same) {
                dropped(alive[at]);
                stays[at] = false;
            }
            let mut stays = stays.into_iter();
            alive.retain(|_| stays.next().unwrap_or(false));
        }
        Ok(alive)
    }
}

impl Extract for AnnealedRidge {
    fn name(&self) -> &'static str {
        "annealed-ridge"
    }

    fn choose(&self, gram: &Gram, k: usize) -> Result<Vec<usize>> {
        self.eliminate(gram, k, |_| {})
    }

    fn rank(&self, gram: &Gram, most: usize) -> Result<Vec<usize>> {
        let mut order = Vec::with_capacity(gram.p());
        let last = self.eliminate(gram, 1, |place| order.push(place))?;
        order.extend(last);
        order.reverse();
        order.truncate(most);
        Ok(order)
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        let ridge = self.params.ridge.map_or(Value::from("gcv"), Value::from);
        vec![("ridge", ridge), ("drop", self.params.drop.into()), ("cool", self.params.cool.into())]
    }

    fn many_outputs(&self) -> bool {
        true
    }

    fn notes(&self, gram: &Gram) -> Result<Vec<(&'static str, Value)>> {
        Ok(vec![("ridge", self.ridge(gram).into())])
    }
}

const RIDGE: Setting = Setting::number(
    "ridge",
    Bounds::at_least(0.0),
    0.0,
    "ridge on correlations, a number of at least 0, or gcv",
)
.or(&["gcv"]);
const DROP: Setting = Setting::number(
    "drop",
    Bounds::between(0.0, 1.0),
    0.1,
    "share of the features let go in a stage",
);
const COOL: Setting = Setting::number(
    "cool",
    Bounds::from_to(0.0, 1.0),
    0.0,
    "power of the share left by which the ridge falls; try 0.5 if features correlate",
);

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "annealed-ridge",
    "backward elimination with exact ridge solves, the ridge by generalised cross-validation",
    "p^2 flops a row; 2.5 p^3 an extraction",
    "this project, after Sun and Barbu, arXiv 1803.11521",
    &with_shared::<3, 8>([RIDGE, DROP, COOL]),
    make,
)
.promising(Promises::CROSS_VALIDATED);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let params = AnnealedRidgeParams {
        ridge: spec.optional_number(&RIDGE)?,
        drop: spec.number(&DROP)?,
        cool: spec.number(&COOL)?,
    };
    let extract = AnnealedRidge::new(params)?;
    build(spec, problem, extract, budget)
}
