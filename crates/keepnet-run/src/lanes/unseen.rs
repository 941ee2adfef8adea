//! Models on rows that they were not fitted on: the columns of what is selected, read once more.

use std::collections::BTreeSet;
use std::sync::Arc;

use keepnet::registry::{self, MethodSpec};
use keepnet::{
    Budget, ColumnData, Driver, Error, FeatureId, FeatureSource, Generated, Lane, LossKind,
    Missing, Problem, Quiet, Result, RowMap, RunOptions, Selected, Selection, Target, Value,
};
use keepnet_eval::Columns;

use crate::request::Request;

/// Columns that are held at a time.
const TOGETHER: usize = 64;

/// Reads selected columns of a run's source once more.
pub struct Unseen<'a> {
    source: &'a mut dyn FeatureSource,
    missing: Missing,
    spec: MethodSpec,
    epsilon: Option<f64>,
}

/// A fitted model and the rows that it is to be judged on.
pub struct Model<'a> {
    /// The model.
    pub selection: &'a Selection,
    /// What it was fitted on.
    pub learnt: &'a Problem,
    /// The rows, by their places in the whole problem.
    pub rows: &'a [u32],
    /// The problem on these rows.
    pub problem: &'a Problem,
}

/// How a model does on rows that it was not fitted on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The method's own loss, by the sum of sample weights.
    pub loss: f64,
    /// The share of rows put into a wrong class.
    pub error: Option<f64>,
}

/// The loss of a selection's model; `None` of methods without one.
pub(super) fn loss_of(selection: &Selection) -> Option<LossKind> {
    selection.loss?;
    let named = selection.params.iter().find(|(name, _)| *name == "loss")?;
    match &named.1 {
        Value::Text(name) => LossKind::parse(name).ok(),
        _ => None,
    }
}

impl<'a> Unseen<'a> {
    /// Reads columns of `source` as the request has them filled.
    pub fn new(source: &'a mut dyn FeatureSource, request: &Request) -> Result<Self> {
        let spec = request.method.spec(request.run.seed)?;
        let epsilon = match request.method.info()?.setting("epsilon") {
            Ok(setting) => spec.optional_number(setting)?,
            Err(_) => None,
        };
        Ok(Self { source, missing: request.policy()?.missing, spec, epsilon })
    }

    /// What is asked of the method.
    #[must_use]
    pub fn spec(&self) -> &MethodSpec {
        &self.spec
    }

    /// Passes the values of each of these features to `see`, one for each row of `whole`, missing
    /// ones still missing. A feature comes once, in the order of the features.
    fn read(
        &mut self,
        whole: &Problem,
        wanted: &BTreeSet<FeatureId>,
        mut see: impl FnMut(&Columns) -> Result<()>,
    ) -> Result<()> {
        let wanted: Vec<FeatureId> = wanted.iter().copied().collect();
        for some in wanted.chunks(TOGETHER) {
            see(&Columns::read(self.source, some, whole, None)?)?;
        }
        Ok(())
    }

    /// The values of these features on some rows of `whole`, missing ones filled.
    pub fn columns(
        &mut self,
        whole: &Problem,
        features: &[&Selected],
        rows: &[u32],
    ) -> Result<Vec<Vec<f64>>> {
        let ids: Vec<FeatureId> = features.iter().map(|feature| feature.id).collect();
        let columns = Columns::read(self.source, &ids, whole, None)?;
        let pick = |values: Vec<f64>| rows.iter().map(|row| values[*row as usize]).collect();
        let one = |feature: &&Selected| columns.of(feature, self.missing, whole, &[]).map(pick);
        features.iter().map(one).collect()
    }

    /// Gives selected and pinned features their mean and missing values over all rows, where a lane
    /// knew those of its own rows only.
    pub fn restate(&mut self, whole: &Problem, selection: &mut Selection) -> Result<()> {
        let Selection { selected, pinned, .. } = selection;
        let wanted = selected.iter().chain(&*pinned).map(|feature| feature.id).collect();
        let missing = self.missing;
        self.read(whole, &wanted, |columns| {
            for feature in selected.iter_mut().chain(&mut *pinned) {
                if let Some((mean, holes)) = columns.stated(feature.id, missing, whole) {
                    (feature.mean, feature.missing) = (mean, feature.missing.map(|_| holes));
                }
            }
            Ok(())
        })
    }

    /// Fits the model of a loss on the selected and pinned features, on the rows of `problem`, and
    /// puts coefficients, intercept and loss into the selection.
    pub fn refit(
        &mut self,
        whole: &Problem,
        problem: &Arc<Problem>,
        kind: LossKind,
        selection: &mut Selection,
    ) -> Result<()> {
        let Selection { selected, pinned, .. } = &*selection;
        let features: Vec<Selected> = pinned.iter().chain(selected).cloned().collect();
        if features.is_empty() {
            return Ok(());
        }
        let rows: Vec<u32> = (0..whole.n() as u32).collect();
        let values = self.columns(whole, &features.iter().collect::<Vec<_>>(), &rows)?;
        let mut spec = MethodSpec { loss: Some(kind), ..MethodSpec::k(features.len()) };
        if let Some(epsilon) = self.epsilon {
            spec = spec.set("epsilon", epsilon);
        }
        if let Some(without) = self.spec.settings.get("intercept") {
            spec = spec.set("intercept", without.clone());
        }
        // The kept columns as a source of their own, and a method that keeps them all: the last
        // fit is then the engine's.
        let mut fit_on = problem.as_ref().clone();
        fit_on.rows = RowMap::All(whole.n());
        let names: Vec<String> = features.iter().map(|feature| feature.name.clone()).collect();
        let columns = values.into_iter().map(ColumnData::dense).collect();
        let mut source =
            Generated::columns(whole.n(), columns).with_names(move |at| names[at as usize].clone());
        let selector =
            registry::make(registry::find("os-plus")?, &spec, &fit_on, Budget::unlimited())?;
        let lane = Lane::new(fit_on, selector);
        let options = RunOptions { scans: 1, ..RunOptions::default() };
        let report = Driver::new(&mut source, vec![lane], options)?.run(&mut Quiet)?;
        let fitted = &report.lanes[0].selection;
        let coefficient = |name: &str| {
            let found = fitted.selected.iter().find(|one| one.name == name);
            found.map_or_else(Vec::new, |one| one.coefficient.clone())
        };
        for feature in selection.selected.iter_mut().chain(&mut selection.pinned) {
            feature.coefficient = coefficient(&feature.name);
        }
        selection.covariates.clone_from(&fitted.covariates);
        selection.intercept.clone_from(&fitted.intercept);
        (selection.loss, selection.objective) = (fitted.loss, None);
        Ok(())
    }

    /// Judges models on rows of `whole`.
    pub fn judge(&mut self, whole: &Problem, models: &[Model<'_>]) -> Result<Vec<Judged>> {
        let mut margins: Vec<Vec<Vec<f64>>> = models.iter().map(|model| start(model)).collect();
        let features = |model: &Model<'_>| {
            let Selection { selected, pinned, .. } = model.selection;
            selected.iter().chain(pinned).map(|feature| feature.id).collect::<Vec<_>>()
        };
        let wanted: BTreeSet<FeatureId> = models.iter().flat_map(features).collect();
        let missing = self.missing;
        self.read(whole, &wanted, |columns| {
            for (model, margins) in models.iter().zip(&mut margins) {
                let Selection { selected, pinned, .. } = model.selection;
                for feature in selected.iter().chain(pinned) {
                    if !columns.has(feature.id) {
                        continue;
                    }
                    let x = columns.of(feature, missing, whole, &[])?;
                    for (u, coefficient) in margins.iter_mut().zip(&feature.coefficient) {
                        for (u, row) in u.iter_mut().zip(model.rows) {
                            *u += coefficient * x[*row as usize];
                        }
                    }
                }
            }
            Ok(())
        })?;
        models.iter().zip(&margins).map(|(model, margins)| self.judged(model, margins)).collect()
    }

    fn judged(&self, model: &Model<'_>, margins: &[Vec<f64>]) -> Result<Judged> {
        let kind = loss_of(model.selection).ok_or_else(no_model)?;
        let epsilon = self.epsilon.or_else(|| tube(model.learnt));
        let loss = kind.make(&model.learnt.target, epsilon)?;
        let weight = model.problem.weight.as_deref();
        let outputs = model.problem.target.outputs();
        let sum: f64 = outputs.iter().zip(margins).map(|(y, u)| loss.value(u, y, weight)).sum();
        let error = match &model.problem.target {
            Target::Numbers(_) => None,
            Target::Classes { codes, .. } => {
                let class = |i: usize| class_of(margins, i);
                let wrong = codes.iter().enumerate().filter(|(i, code)| class(*i) != **code);
                Some(wrong.count() as f64 / codes.len() as f64)
            }
        };
        Ok(Judged { loss: sum / model.problem.weight_sum(), error })
    }
}

/// A method without a model was asked for its loss.
pub(super) fn no_model() -> Error {
    Error::Unsupported(
        "this method has no model whose loss could be compared; use `keepnet compare`".into(),
    )
}

/// The margins of a model without its features: intercept, offset and covariates.
fn start(model: &Model<'_>) -> Vec<Vec<f64>> {
    let (selection, problem) = (model.selection, model.problem);
    let one = |(c, intercept): (usize, &f64)| {
        let mut u = vec![*intercept; problem.n()];
        if let Some(offset) = &problem.offset {
            u.iter_mut().zip(offset).for_each(|(u, o)| *u += o);
        }
        for (fitted, covariate) in selection.covariates.iter().zip(&problem.covariates) {
            let coefficient = fitted.coefficient[c];
            u.iter_mut().zip(&covariate.values).for_each(|(u, x)| *u += coefficient * x);
        }
        u
    };
    selection.intercept.iter().enumerate().map(one).collect()
}

/// The class that the margins of a row speak for; of equal ones the first.
fn class_of(margins: &[Vec<f64>], row: usize) -> u32 {
    match margins {
        [one] => u32::from(one[row] > 0.0),
        many => {
            let best =
                |best: usize, c: usize| if many[c][row] > many[best][row] { c } else { best };
            (1..many.len()).fold(0, best) as u32
        }
    }
}

/// The half-width of the insensitive loss's tube as the methods have it by default: a tenth of the
/// weighted deviation of the target.
fn tube(problem: &Problem) -> Option<f64> {
    let Target::Numbers(y) = &problem.target else { return None };
    let weight = |i: usize| problem.weight.as_ref().map_or(1.0, |v| v[i]);
    let total = problem.weight_sum();
    let mean = y.iter().enumerate().map(|(i, y)| weight(i) * y).sum::<f64>() / total;
    let square = y.iter().enumerate().map(|(i, y)| weight(i) * (y - mean).powi(2)).sum::<f64>();
    Some(0.1 * (square / total).sqrt())
}
