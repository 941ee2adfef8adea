//! A penalised problem over all columns: a working set that grows until the KKT conditions hold, and
//! the lambda that leaves `k` features. `lasso` and its kin are the L1 problem here; the sparse
//! group lasso brings a [`Family`] of its own.
//!
//! Cost: a solve on the working set and one pass over all columns for each check.

use smallvec::{SmallVec, smallvec};

use super::batch::Answer;
use super::copies::without_copies;
use super::gram::Gram;
use super::held::choose_slots;
use super::penalty::{L1, Penalty};
use super::{Columns, L1Params, Point, norm};
use crate::data::block::FeatureId;
use crate::error::{Error, Result};
use crate::learn::averages::descent::lambda_path;
use crate::selection::Value;

/// Share of the largest lambda at which the search for more features ends.
const LEAST: f64 = 1e-4;
/// Share of lambda to which the KKT conditions are solved along the lambda path.
const LOOSE: f64 = 1e-5;
/// The same at the chosen lambda.
const TIGHT: f64 = 1e-8;
/// Share of lambda above which a KKT residual is a warning.
const DOUBT: f64 = 1e-4;

/// Penalties that lambda scales.
///
/// Sizes are norms over the outputs, by slot, and 0 for slots that are pinned or left out.
pub(super) trait Family {
    /// The penalty at one lambda.
    type At<'a>: Penalty
    where
        Self: 'a;
    /// What its problem is called in messages.
    const NAME: &'static str;

    /// The penalty at `lambda`.
    fn at(&self, lambda: f64) -> Self::At<'_>;

    /// The largest lambda of use, and the one that was asked for, where one was: given the sizes of
    /// the slopes while only pinned columns have a coefficient.
    fn begin(&mut self, slopes: &[f64]) -> (f64, Option<f64>);

    /// Whether a slot is in the working set from the start, for its coefficients or for others'.
    fn starts(&self, point: &Point, slot: usize) -> bool;

    /// Slots outside the working set that must enter, those that enter together, each with a number
    /// by which the largest enter first.
    fn violating(
        &self,
        at: (f64, f64),
        point: &Point,
        slopes: &[f64],
        inside: &[bool],
    ) -> Vec<Violation>;

    /// The sizes of the coefficients, as features are counted and ranked by them.
    fn sizes(&self, columns: &Columns, point: &Point) -> Vec<f64>;

    /// Further numbers for the result.
    fn metrics(&self, lambda: f64) -> Vec<(&'static str, Value)>;
}

/// By how much slots violate the KKT conditions, and which.
pub(super) type Violation = (f64, SmallVec<[usize; 1]>);

/// The L1 problem: each column by itself.
struct Single {
    lambda: Option<f64>,
    /// The slots of the problem.
    slots: Vec<usize>,
}

impl Family for Single {
    type At<'a> = L1;
    const NAME: &'static str = "the L1 problem";

    fn at(&self, lambda: f64) -> L1 {
        L1(lambda)
    }

    fn begin(&mut self, slopes: &[f64]) -> (f64, Option<f64>) {
        (slopes.iter().copied().fold(f64::MIN_POSITIVE, f64::max), self.lambda)
    }

    fn starts(&self, point: &Point, slot: usize) -> bool {
        point.size(slot) != 0.0
    }

    fn violating(
        &self,
        (lambda, tolerance): (f64, f64),
        _: &Point,
        slopes: &[f64],
        inside: &[bool],
    ) -> Vec<Violation> {
        let outside = self.slots.iter().filter(|slot| !inside[**slot]);
        let over = outside.filter(|slot| slopes[**slot] > lambda + tolerance);
        over.map(|slot| (slopes[*slot], smallvec![*slot])).collect()
    }

    fn sizes(&self, columns: &Columns, point: &Point) -> Vec<f64> {
        let size = |j: usize| if columns.pinned(j) { 0.0 } else { point.size(j) };
        (0..columns.kept.len()).map(size).collect()
    }

    fn metrics(&self, _: f64) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

/// A point and the sizes of its coefficients: the lambda path counts them.
#[derive(Clone)]
struct Solution {
    point: Point,
    sizes: Vec<f64>,
}

/// A penalised problem over all columns.
struct Whole<'a, F> {
    columns: &'a Columns,
    family: F,
    gram: std::cell::RefCell<Gram>,
    /// The slots of the problem, in the order of their features, so that the answer does not depend
    /// on arrival.
    slots: Vec<usize>,
}

impl<F: Family> Whole<'_, F> {
    /// Pinned slots and those that are in the working set from the start.
    fn nonzero(&self, point: &Point) -> Vec<usize> {
        let used = |j: &usize| self.columns.pinned(*j) || self.family.starts(point, *j);
        self.slots.iter().copied().filter(used).collect()
    }

    /// Sizes of the slopes at a point, by slot.
    fn slopes(&self, point: &Point) -> Vec<f64> {
        let gradient = self.columns.gradient(&point.u);
        let slopes = self.columns.slopes(&gradient, &self.slots);
        let mut sizes = vec![0.0; self.columns.kept.len()];
        for (slope, slot) in slopes.chunks(self.columns.count()).zip(&self.slots) {
            if !self.columns.pinned(*slot) {
                sizes[*slot] = norm(slope);
            }
        }
        sizes
    }

    /// Solves at `lambda`: minimises over the working set, adds the slots with the largest
    /// violations of the KKT conditions, and repeats until there are none.
    fn solve(&self, solution: &mut Solution, lambda: f64, tolerance: f64) {
        let (columns, point) = (self.columns, &mut solution.point);
        let (penalty, tolerance) = (self.family.at(lambda), tolerance * lambda);
        let mut set = self.nonzero(point);
        let mut inside = vec![false; columns.kept.len()];
        set.iter().for_each(|j| inside[*j] = true);
        loop {
            columns.solve(&mut self.gram.borrow_mut(), point, &set, &penalty, tolerance);
            let slopes = self.slopes(point);
            let mut violating = self.family.violating((lambda, tolerance), point, &slopes, &inside);
            if violating.is_empty() {
                break;
            }
            violating.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (_, slots) in violating.into_iter().take(set.len().max(30)) {
                for slot in slots {
                    inside[slot] = true;
                    set.push(slot);
                }
            }
        }
        solution.sizes = self.family.sizes(columns, point);
    }
}

/// The L1 solution at the lambda of `params`, or at one that leaves `k` coefficients.
///
/// Of copies of a column only the first is in the problem.
pub(in crate::select) fn solve_l1(columns: &Columns, params: &L1Params) -> Result<Answer> {
    let slots = without_copies(columns, &in_order(columns));
    let family = Single { lambda: params.lambda, slots: slots.clone() };
    solve_whole(columns, params, family, slots)
}

/// Every slot, in the order of the features.
pub(super) fn in_order(columns: &Columns) -> Vec<usize> {
    let id = |slot: &usize| -> Option<FeatureId> { columns.kept.slots()[*slot].id };
    let mut slots: Vec<usize> = (0..columns.kept.len()).collect();
    slots.sort_by_key(id);
    slots
}

/// The solution at the lambda that was asked for, or at one that leaves `k` coefficients.
pub(super) fn solve_whole<F: Family>(
    columns: &Columns,
    params: &L1Params,
    family: F,
    slots: Vec<usize>,
) -> Result<Answer> {
    let mut problem = Whole { columns, family, gram: Gram::default().into(), slots };
    let mut solution = Solution { point: columns.origin(), sizes: vec![0.0; columns.kept.len()] };
    if columns.free() == 0 {
        return Ok(Answer { model: problem.slots, ..Answer::default() });
    }
    // Pinned columns and the intercept first: their slopes give the largest lambda.
    let pinned = problem.nonzero(&solution.point);
    columns.solve(
        &mut problem.gram.borrow_mut(),
        &mut solution.point,
        &pinned,
        &problem.family.at(1.0),
        LOOSE * columns.outputs.scale,
    );
    let slopes = problem.slopes(&solution.point);
    let (most, asked) = problem.family.begin(&slopes);
    let (loose, lambda) = match asked {
        Some(lambda) => (solution, lambda),
        None => {
            let free = problem.slots.iter().filter(|slot| !columns.pinned(**slot)).count();
            let k = params.k.unwrap_or(usize::MAX).min(free);
            let solve =
                |solution: &mut Solution, lambda: f64| problem.solve(solution, lambda, LOOSE);
            lambda_path(solution, (most, LEAST * most), k, solve, |solution| &solution.sizes)
        }
    };
    let mut tight = loose.clone();
    problem.solve(&mut tight, lambda, TIGHT);
    if !tight.point.w.iter().chain(&tight.point.b).all(|w| w.is_finite()) {
        return Err(Error::overflow(&format!("the weights of {}", F::NAME)));
    }
    Ok(answer(&problem, params, (loose, tight), (lambda, most, asked.is_some())))
}

fn answer<F: Family>(
    problem: &Whole<'_, F>,
    params: &L1Params,
    (loose, tight): (Solution, Solution),
    (lambda, most, asked): (f64, f64, bool),
) -> Answer {
    let (columns, penalty) = (problem.columns, problem.family.at(lambda));
    let residual = columns.kkt(&tight.point, &problem.slots, &penalty) / lambda;
    let count_nonzero =
        |solution: &Solution| solution.sizes.iter().filter(|size| **size != 0.0).count();
    let nonzero = count_nonzero(&tight);
    let mut warnings = Vec::new();
    if residual > DOUBT {
        let name = F::NAME;
        warnings.push(format!(
            "{name} is not solved: its KKT conditions are off by {residual:.1e} of lambda; raise lambda"
        ));
    }
    if let Some(k) = params.k.filter(|k| !asked && nonzero < (*k).min(columns.free()))
        && count_nonzero(&loose) < k
    {
        warnings.push(format!("the penalty gives {nonzero} features a weight, not {k}"));
    }
    // At the edge of a lambda the tight solve may lose the last coefficient that the lambda path
    // counted.
    let enough = asked || nonzero >= count_nonzero(&loose);
    let solution = if enough { &tight } else { &loose };
    let size = |slot: &usize| solution.sizes[*slot];
    let model = choose_slots(columns, problem.slots.clone(), size, params.k, &mut warnings);
    let mut metrics = vec![
        ("lambda", lambda.into()),
        ("lambda_max", most.into()),
        ("objective", columns.objective(&tight.point, &penalty).into()),
        ("nonzero", nonzero.into()),
        ("kkt_residual", residual.into()),
    ];
    metrics.extend(problem.family.metrics(lambda));
    Answer { model, metrics, warnings }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::block::{ColumnBlock, RawColumn};
    use crate::data::check::{CheckPolicy, check_block};
    use crate::data::column::ColumnData;
    use crate::data::target::Problem;
    use crate::registry::MethodSpec;
    use crate::run::budget::Budget;

    /// A scale whose square overflows gives an infinite curvature and a coefficient that is not
    /// finite. No real column has such a scale.
    #[test]
    fn coefficients_that_are_not_finite_are_an_error() {
        let y: Vec<f64> = (0..30).map(|i| f64::from(i * i % 13)).collect();
        let problem = Problem::regression(y);
        let mut block = ColumnBlock::new(3);
        for j in 0..3u32 {
            let data = ColumnData::dense((0..30).map(|i| f64::from(i * (j + 3) % 11)).collect());
            let (id, name) = (FeatureId::new(j.into()), format!("f{j}"));
            block.push(RawColumn { id, name: name.into(), source: 0, data });
        }
        let checked = check_block(&block, 0, &problem, &CheckPolicy::default()).unwrap();
        let spec = MethodSpec::k(2).set("lambda", 0.1);
        let params = L1Params::read(&spec).unwrap();
        let mut columns = Columns::new(&params, &problem, Budget::unlimited()).unwrap();
        for feature in &checked.features {
            columns.push(feature).unwrap();
        }
        assert_eq!(solve_l1(&columns, &params).unwrap().model.len(), 2);
        columns.scale[0] = 1e160;
        let error = solve_l1(&columns, &params).err().unwrap().to_string();
        assert!(error.contains("no finite numbers"), "{error}");
    }
}
