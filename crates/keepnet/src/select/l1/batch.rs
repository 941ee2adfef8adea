//! Holds every column and solves once, at the end: the frame of the batch rivals.
//!
//! A batch method is a [`Solver`] on the columns that came. A second scan brings nothing new.
//! Memory: every column in its stored width, within the budget, or a refusal.

use super::copies::without_copies;
use super::gram::Gram;
use super::stream::choose;
use super::{Columns, L1Params, Point, norm};
use crate::data::block::FeatureId;
use crate::data::check::CheckedBlock;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::learn::averages::descent::lambda_path;
use crate::run::budget::Budget;
use crate::run::snapshot::{Snapshot, decode, encode};
use crate::select::{ColumnSelector, Outcome, Status, Verdict, fitted};
use crate::selection::{Selection, Value};

/// Share of the largest lambda below which no more features are looked for.
const LEAST: f64 = 1e-4;
/// Share of lambda to which the KKT conditions are solved along the walk and at its end.
const LOOSE: f64 = 1e-5;
const TIGHT: f64 = 1e-8;
/// Share of lambda beyond which a KKT residual is worth a warning.
const DOUBT: f64 = 1e-4;

/// What a batch method found.
#[derive(Clone, Default)]
pub(in crate::select) struct Answer {
    /// Slots of the model, ascending.
    pub(in crate::select) model: Vec<usize>,
    /// Numbers for the result.
    pub(in crate::select) metrics: Vec<(&'static str, Value)>,
    /// What the user should know.
    pub(in crate::select) warnings: Vec<String>,
}

/// Solves for all columns at once.
pub(in crate::select) trait Solver: Send {
    /// The method's name.
    fn name(&self) -> &'static str;
    /// The settings as a result shows them.
    fn params(&self, columns: &Columns) -> Vec<(&'static str, Value)>;
    /// Chooses the model.
    fn solve(&self, columns: &Columns) -> Result<Answer>;
}

/// A method that holds every column until the end.
pub(in crate::select) struct Batch<S> {
    solver: S,
    columns: Columns,
    answer: Option<Answer>,
}

impl<S: Solver> Batch<S> {
    pub(in crate::select) fn new(
        solver: S,
        params: &L1Params,
        problem: &Problem,
        budget: Budget,
    ) -> Result<Self> {
        params.check(problem)?;
        Ok(Self { solver, columns: Columns::new(params, problem, budget)?, answer: None })
    }
}

impl<S: Solver> ColumnSelector for Batch<S> {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        for feature in &block.features {
            let held = self.columns.kept.slot(feature.id).is_some();
            if !held {
                self.columns.push(feature)?;
                self.answer = None;
            }
            out.push(Outcome::new(if held { Verdict::Held } else { Verdict::Reserved }));
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        Ok(true)
    }

    fn finish(&mut self) -> Result<()> {
        if self.answer.is_none() {
            self.answer = Some(self.solver.solve(&self.columns)?);
        }
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let answer = match &self.answer {
            Some(answer) => answer.clone(),
            None => self.solver.solve(&self.columns)?,
        };
        let columns = &self.columns;
        let mut selection =
            fitted::selection(&columns.frame, &columns.kept, &answer.model, &columns.outputs)?;
        selection.method = self.solver.name();
        selection.params = self.solver.params(columns);
        (selection.metrics, selection.warnings) = (answer.metrics, answer.warnings);
        Ok(selection)
    }

    fn fitted(
        &self,
        see: &mut dyn FnMut(&crate::run::verdict::Fitted<'_>) -> Result<()>,
    ) -> Result<()> {
        self.columns.fitted(see)
    }

    fn centres(&self) -> bool {
        self.columns.frame.centred()
    }

    fn status(&self) -> Status {
        let (kept, bytes) = (self.columns.free(), self.columns.kept.bytes());
        Status { kept, loss: None, substitutions: 0, bytes }
    }
}

impl<S: Solver> Snapshot for Batch<S> {
    fn save(&self) -> Result<Vec<u8>> {
        encode(&self.columns.kept)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let budget = self.columns.kept.budget().clone();
        let kept = decode::<crate::data::kept::KeptSet>(state)?;
        self.columns.kept = kept.resumed(budget, self.columns.frame.n())?;
        self.columns.scale.clear();
        self.columns.rescale();
        self.answer = None;
        Ok(())
    }
}

/// A point and the sizes of its free weights, which a walk counts.
#[derive(Clone)]
struct State {
    point: Point,
    sizes: Vec<f64>,
}

/// The L1 problem over all columns with a working set.
struct Whole<'a> {
    columns: &'a Columns,
    gram: std::cell::RefCell<Gram>,
    /// Slots in the order of their features, so that the answer does not hang on arrival; of
    /// copies the first alone.
    slots: Vec<usize>,
}

impl Whole<'_> {
    fn working(&self, point: &Point) -> Vec<usize> {
        let used = |j: &usize| self.columns.pinned(*j) || point.size(*j) != 0.0;
        self.slots.iter().copied().filter(used).collect()
    }

    /// Goes to the minimum at `lambda`: solves on the working set, adds the slots of largest
    /// breach, and so on until there is none.
    fn solve(&self, state: &mut State, lambda: f64, tolerance: f64) {
        let (columns, point) = (self.columns, &mut state.point);
        let tolerance = tolerance * lambda;
        let mut set = self.working(point);
        let mut inside = vec![false; columns.kept.len()];
        set.iter().for_each(|j| inside[*j] = true);
        loop {
            columns.solve(&mut self.gram.borrow_mut(), point, &set, lambda, tolerance);
            let gradient = columns.gradient(&point.u);
            let slopes = columns.slopes(&gradient, &self.slots);
            let size = slopes.chunks(columns.count()).map(norm);
            let mut out: Vec<(f64, usize)> = size
                .zip(&self.slots)
                .filter(|(size, slot)| *size > lambda + tolerance && !inside[**slot])
                .map(|(size, slot)| (size, *slot))
                .collect();
            if out.is_empty() {
                break;
            }
            out.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (_, slot) in out.into_iter().take(set.len().max(30)) {
                inside[slot] = true;
                set.push(slot);
            }
        }
        let size = |j: usize| if columns.pinned(j) { 0.0 } else { point.size(j) };
        state.sizes = (0..columns.kept.len()).map(size).collect();
    }
}

/// The L1 solution at the lambda of `params`, or at one that leaves `k` weights.
pub(in crate::select) fn l1(columns: &Columns, params: &L1Params) -> Result<Answer> {
    let id = |slot: &usize| -> Option<FeatureId> { columns.kept.slots()[*slot].id };
    let mut slots: Vec<usize> = (0..columns.kept.len()).collect();
    slots.sort_by_key(id);
    let slots = without_copies(columns, &slots);
    let whole = Whole { columns, gram: Gram::default().into(), slots };
    let mut state = State { point: columns.origin(), sizes: vec![0.0; columns.kept.len()] };
    if columns.free() == 0 {
        return Ok(Answer { model: whole.slots, ..Answer::default() });
    }
    // Pinned columns and the intercept first: at this lambda nothing else has a weight.
    let pinned = whole.working(&state.point);
    columns.solve(
        &mut whole.gram.borrow_mut(),
        &mut state.point,
        &pinned,
        1.0,
        LOOSE * columns.outputs.scale,
    );
    let gradient = columns.gradient(&state.point.u);
    let slopes = columns.slopes(&gradient, &whole.slots);
    let free = slopes.chunks(columns.count()).zip(&whole.slots);
    let free = free.filter(|(_, slot)| !columns.pinned(**slot));
    let most = free.map(|(slope, _)| norm(slope)).fold(f64::MIN_POSITIVE, f64::max);
    let (walked, lambda) = match (params.lambda, params.k) {
        (Some(lambda), _) => (state, lambda),
        (None, k) => {
            let free = whole.slots.iter().filter(|slot| !columns.pinned(**slot)).count();
            let k = k.unwrap_or(usize::MAX).min(free);
            let solve = |state: &mut State, lambda: f64| whole.solve(state, lambda, LOOSE);
            lambda_path(state, (most, LEAST * most), k, solve, |state| &state.sizes)
        }
    };
    let mut exact = walked.clone();
    whole.solve(&mut exact, lambda, TIGHT);
    if !exact.point.w.iter().chain(&exact.point.b).all(|w| w.is_finite()) {
        return Err(Error::overflow("the weights of the L1 problem"));
    }
    Ok(answer(&whole, params, (walked, exact), (lambda, most)))
}

fn answer(
    whole: &Whole<'_>,
    params: &L1Params,
    (walked, exact): (State, State),
    (lambda, most): (f64, f64),
) -> Answer {
    let columns = whole.columns;
    let off = columns.kkt(&exact.point, &whole.slots, lambda) / lambda;
    let weights = |state: &State| state.sizes.iter().filter(|size| **size != 0.0).count();
    let nonzero = weights(&exact);
    let mut warnings = Vec::new();
    if off > DOUBT {
        warnings.push(format!(
            "the L1 problem is not solved: its KKT conditions are off by {off:.1e} of lambda; raise lambda"
        ));
    }
    if let Some(k) =
        params.k.filter(|k| params.lambda.is_none() && nonzero < (*k).min(columns.free()))
        && weights(&walked) < k
    {
        warnings.push(format!("the penalty gives {nonzero} features a weight, not {k}"));
    }
    // On the edge of a lambda a tighter solve may lose the last weight that the walk counted.
    let enough = params.lambda.is_some() || nonzero >= weights(&walked);
    let state = if enough { &exact } else { &walked };
    let size = |slot: &usize| state.sizes[*slot];
    let model = choose(columns, whole.slots.clone(), size, params.k, &mut warnings);
    let metrics = vec![
        ("lambda", lambda.into()),
        ("lambda_max", most.into()),
        ("objective", columns.objective(&exact.point, lambda).into()),
        ("nonzero", nonzero.into()),
        ("kkt_residual", off.into()),
    ];
    Answer { model, metrics, warnings }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::block::{ColumnBlock, RawColumn};
    use crate::data::check::{CheckPolicy, check_block};
    use crate::data::column::ColumnData;
    use crate::registry::MethodSpec;

    /// A scale that has no square, which no column has, gives a curvature without bound and a
    /// weight that is no number.
    #[test]
    fn weights_that_are_no_numbers_are_an_error() {
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
        assert_eq!(l1(&columns, &params).unwrap().model.len(), 2);
        columns.scale[0] = 1e160;
        let error = l1(&columns, &params).err().unwrap().to_string();
        assert!(error.contains("no finite numbers"), "{error}");
    }
}
