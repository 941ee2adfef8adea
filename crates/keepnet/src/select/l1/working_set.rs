//! The L1 problem over all columns: a working set that grows until the KKT conditions hold, and the
//! lambda that leaves `k` features.
//!
//! Cost: a solve on the working set and one pass over all columns for each check.

use super::batch::Answer;
use super::copies::without_copies;
use super::gram::Gram;
use super::held::choose_slots;
use super::{Columns, L1Params, Point, norm};
use crate::data::block::FeatureId;
use crate::error::{Error, Result};
use crate::learn::averages::descent::lambda_path;

/// Share of the largest lambda at which the search for more features ends.
const LEAST: f64 = 1e-4;
/// Share of lambda to which the KKT conditions are solved along the lambda path.
const LOOSE: f64 = 1e-5;
/// The same at the chosen lambda.
const TIGHT: f64 = 1e-8;
/// Share of lambda above which a KKT residual is a warning.
const DOUBT: f64 = 1e-4;

/// A point and the sizes of its coefficients, 0 for pinned columns: the lambda path counts them.
#[derive(Clone)]
struct Solution {
    point: Point,
    sizes: Vec<f64>,
}

/// The L1 problem over all columns.
struct L1Problem<'a> {
    columns: &'a Columns,
    gram: std::cell::RefCell<Gram>,
    /// Slots in the order of their features, so that the answer does not depend on arrival. Of
    /// copies only the first is here.
    slots: Vec<usize>,
}

impl L1Problem<'_> {
    /// Pinned slots and slots with a coefficient other than 0.
    fn nonzero(&self, point: &Point) -> Vec<usize> {
        let used = |j: &usize| self.columns.pinned(*j) || point.size(*j) != 0.0;
        self.slots.iter().copied().filter(used).collect()
    }

    /// Solves at `lambda`: minimises over the working set, adds the slots with the largest
    /// violations of the KKT conditions, and repeats until there are none.
    fn solve(&self, solution: &mut Solution, lambda: f64, tolerance: f64) {
        let (columns, point) = (self.columns, &mut solution.point);
        let tolerance = tolerance * lambda;
        let mut set = self.nonzero(point);
        let mut inside = vec![false; columns.kept.len()];
        set.iter().for_each(|j| inside[*j] = true);
        loop {
            columns.solve(&mut self.gram.borrow_mut(), point, &set, lambda, tolerance);
            let gradient = columns.gradient(&point.u);
            let slopes = columns.slopes(&gradient, &self.slots);
            let size = slopes.chunks(columns.count()).map(norm);
            let mut violating: Vec<(f64, usize)> = size
                .zip(&self.slots)
                .filter(|(size, slot)| *size > lambda + tolerance && !inside[**slot])
                .map(|(size, slot)| (size, *slot))
                .collect();
            if violating.is_empty() {
                break;
            }
            violating.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (_, slot) in violating.into_iter().take(set.len().max(30)) {
                inside[slot] = true;
                set.push(slot);
            }
        }
        let size = |j: usize| if columns.pinned(j) { 0.0 } else { point.size(j) };
        solution.sizes = (0..columns.kept.len()).map(size).collect();
    }
}

/// The L1 solution at the lambda of `params`, or at one that leaves `k` coefficients.
pub(in crate::select) fn solve_l1(columns: &Columns, params: &L1Params) -> Result<Answer> {
    let id = |slot: &usize| -> Option<FeatureId> { columns.kept.slots()[*slot].id };
    let mut slots: Vec<usize> = (0..columns.kept.len()).collect();
    slots.sort_by_key(id);
    let slots = without_copies(columns, &slots);
    let problem = L1Problem { columns, gram: Gram::default().into(), slots };
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
        1.0,
        LOOSE * columns.outputs.scale,
    );
    let gradient = columns.gradient(&solution.point.u);
    let slopes = columns.slopes(&gradient, &problem.slots);
    let free = slopes.chunks(columns.count()).zip(&problem.slots);
    let free = free.filter(|(_, slot)| !columns.pinned(**slot));
    let most = free.map(|(slope, _)| norm(slope)).fold(f64::MIN_POSITIVE, f64::max);
    let (loose, lambda) = match (params.lambda, params.k) {
        (Some(lambda), _) => (solution, lambda),
        (None, k) => {
            let free = problem.slots.iter().filter(|slot| !columns.pinned(**slot)).count();
            let k = k.unwrap_or(usize::MAX).min(free);
            let solve =
                |solution: &mut Solution, lambda: f64| problem.solve(solution, lambda, LOOSE);
            lambda_path(solution, (most, LEAST * most), k, solve, |solution| &solution.sizes)
        }
    };
    let mut tight = loose.clone();
    problem.solve(&mut tight, lambda, TIGHT);
    if !tight.point.w.iter().chain(&tight.point.b).all(|w| w.is_finite()) {
        return Err(Error::overflow("the weights of the L1 problem"));
    }
    Ok(answer(&problem, params, (loose, tight), (lambda, most)))
}

fn answer(
    problem: &L1Problem<'_>,
    params: &L1Params,
    (loose, tight): (Solution, Solution),
    (lambda, most): (f64, f64),
) -> Answer {
    let columns = problem.columns;
    let residual = columns.kkt(&tight.point, &problem.slots, lambda) / lambda;
    let count_nonzero =
        |solution: &Solution| solution.sizes.iter().filter(|size| **size != 0.0).count();
    let nonzero = count_nonzero(&tight);
    let mut warnings = Vec::new();
    if residual > DOUBT {
        warnings.push(format!(
            "the L1 problem is not solved: its KKT conditions are off by {residual:.1e} of lambda; raise lambda"
        ));
    }
    if let Some(k) =
        params.k.filter(|k| params.lambda.is_none() && nonzero < (*k).min(columns.free()))
        && count_nonzero(&loose) < k
    {
        warnings.push(format!("the penalty gives {nonzero} features a weight, not {k}"));
    }
    // At the edge of a lambda the tight solve may lose the last coefficient that the lambda path
    // counted.
    let enough = params.lambda.is_some() || nonzero >= count_nonzero(&loose);
    let solution = if enough { &tight } else { &loose };
    let size = |slot: &usize| solution.sizes[*slot];
    let model = choose_slots(columns, problem.slots.clone(), size, params.k, &mut warnings);
    let metrics = vec![
        ("lambda", lambda.into()),
        ("lambda_max", most.into()),
        ("objective", columns.objective(&tight.point, lambda).into()),
        ("nonzero", nonzero.into()),
        ("kkt_residual", residual.into()),
    ];
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
            block.push(RawColumn { id, name, source: 0, data });
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
