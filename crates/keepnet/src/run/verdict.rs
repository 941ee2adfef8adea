//! The last look at a result: it must agree with itself before it is an answer.
//!
//! ```text
//! told     the loss that the result names
//! own      sum_i v_i l(o_i + b + sum_j w_j x_ij, y_i) / W   with the weights and intercepts that
//!          it names, on the values as they came, against the target as it came
//! nothing  the loss of the intercepts and covariates alone, fitted as the model is
//!
//! told = own       but for rounding
//! told <= nothing  the model has more freedom, and its ridge is 0 where its weights are
//! ```
//!
//! A result that fails is a defect of the program and not an answer. Methods without a model have
//! nothing to compare. Rounding of `own` is bounded a row: with
//! `m_i = |o_i| + |b| + sum |w_j x_ij|` the prediction is off by at most `(k + 2) eps m_i`, and the
//! loss by its slope times that. Cost: a pass over the kept columns, and one fit without features
//! a run.

use std::sync::OnceLock;

use crate::data::kept::Kept;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::numeric::inner_product::Frame;
use crate::select::refit::{Outputs, refit};
use crate::selection::Selection;

/// Share of a loss that the two ways of computing it may differ by, and that a model may be above
/// the constant one: Newton steps end at slopes of 1e-9, ridges are up to 1e-3.
const SHARE: f64 = 1e-6;
/// The same of the loss of the constant model, for fits that leave next to nothing.
const NOTHING: f64 = 1e-9;

/// What a selection's model was fitted on.
pub struct Fitted<'a> {
    /// Held columns; those of the model are among them, covariates in their order.
    pub(crate) columns: &'a [&'a Kept],
    /// Rows and weights.
    pub(crate) frame: &'a Frame,
    /// Targets and loss.
    pub(crate) outputs: &'a Outputs,
}

/// The loss of the constant model of a problem, once it was asked for.
#[derive(Debug, Default)]
pub struct Constant(OnceLock<f64>);

impl Constant {
    fn loss(&self, fitted: &Fitted<'_>) -> Result<f64> {
        if let Some(loss) = self.0.get() {
            return Ok(*loss);
        }
        let alone: Vec<&Kept> = covariates(fitted).collect();
        let loss = refit(fitted.frame, &alone, fitted.outputs)?.loss;
        Ok(*self.0.get_or_init(|| loss))
    }
}

/// Compares a result with its own prediction and with the constant model.
pub fn check(
    problem: &Problem,
    selection: &Selection,
    fitted: &Fitted<'_>,
    constant: &Constant,
) -> Result<()> {
    let Some(told) = selection.loss else { return Ok(()) };
    let features = selection.selected.iter().chain(&selection.pinned);
    let weights = features.clone().flat_map(|feature| &feature.coefficient);
    let weights = weights.chain(selection.covariates.iter().flat_map(|c| &c.coefficient));
    let scores = features.map(|feature| &feature.score);
    let mut numbers = weights.chain(scores).chain(&selection.intercept).chain([&told]);
    if !numbers.all(|number| number.is_finite()) {
        return Err(Error::overflow("the numbers of the result"));
    }
    let nothing = constant.loss(fitted)?;
    let (own, rounding) = own_loss(problem, selection, fitted)?;
    let room = SHARE * told.abs() + NOTHING * nothing + rounding;
    let agrees = (own - told).abs() <= room;
    if !agrees {
        return Err(Error::Defect(format!(
            "the result names a loss of {told}, but its weights have one of {own}"
        )));
    }
    let learnt = told <= nothing * (1.0 + SHARE) + room;
    if !learnt {
        return Err(Error::Defect(format!(
            "the result has a loss of {told}, above the {nothing} of the model without features"
        )));
    }
    Ok(())
}

/// The loss of the named weights on the values as they came, and what rounding may add to it.
fn own_loss(problem: &Problem, selection: &Selection, fitted: &Fitted<'_>) -> Result<(f64, f64)> {
    let (n, targets) = (problem.n(), problem.target.outputs());
    let columns = named(selection, fitted)?;
    let (mut loss, mut rounding) = (0.0, 0.0);
    for (c, y) in targets.iter().enumerate() {
        let intercept = selection.intercept.get(c).copied().unwrap_or(0.0);
        let mut u = vec![intercept; n];
        let mut size = vec![intercept.abs(); n];
        if let Some(offset) = &problem.offset {
            u.iter_mut().zip(offset).for_each(|(u, o)| *u += o);
            size.iter_mut().zip(offset).for_each(|(size, o)| *size += o.abs());
        }
        for (kept, coefficient) in &columns {
            let (w, shift) = (coefficient[c], kept.stats.shift);
            kept.column().each(|i, x| {
                let part = w * (x + shift);
                u[i] += part;
                size[i] += part.abs();
            });
        }
        let places = (columns.len() + 2) as f64;
        for (i, ((u, y), size)) in u.iter().zip(y).zip(&size).enumerate() {
            let v = problem.weight.as_ref().map_or(1.0, |v| v[i]);
            let (value, slope, _) = fitted.outputs.loss.at(*u, *y);
            let off = places * f64::EPSILON * (size + y.abs());
            loss += v * value;
            rounding += v * off * (slope.abs() + fitted.outputs.loss.steepest() * off);
        }
    }
    let total = problem.weight_sum();
    Ok((loss / total, rounding / total))
}

/// The columns of the model with their weights, one an output.
fn named<'a>(selection: &'a Selection, fitted: &Fitted<'a>) -> Result<Vec<(&'a Kept, &'a [f64])>> {
    let lost = |name: &str| Error::Defect(format!("{name:?} is in the result but not held"));
    let mut out = Vec::new();
    for feature in selection.selected.iter().chain(&selection.pinned) {
        let kept = fitted.columns.iter().find(|kept| kept.id == Some(feature.id));
        out.push((*kept.ok_or_else(|| lost(&feature.name))?, feature.coefficient.as_slice()));
    }
    let mut held = covariates(fitted);
    for covariate in &selection.covariates {
        let kept = held.next().filter(|kept| kept.name == covariate.name);
        out.push((kept.ok_or_else(|| lost(&covariate.name))?, covariate.coefficient.as_slice()));
    }
    Ok(out)
}

fn covariates<'a>(fitted: &Fitted<'a>) -> impl Iterator<Item = &'a Kept> {
    fitted.columns.iter().copied().filter(|kept| kept.id.is_none())
}
