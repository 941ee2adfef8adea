//! How `os` gets slopes and changes of the loss: one implementation per way to compute them.
//!
//! `gram_evaluator.rs` is for the squared loss, `pass_evaluator.rs` for the others, and
//! `asy_os/centre_evaluator.rs` for a prediction that workers share.

use super::Model;
use crate::data::check::Feature;
use crate::error::Result;
use crate::select::substitution::asy_os::Tally;

/// Slopes at the current coefficients, divided by W.
#[derive(Default)]
pub(in crate::select::substitution) struct Slopes {
    pub(in crate::select::substitution) kept: Vec<f64>,
    pub(in crate::select::substitution) newcomer: Vec<f64>,
    pub(in crate::select::substitution) intercept: Vec<f64>,
}

/// The coefficients after a step that is being tried.
pub(in crate::select::substitution) struct Trial {
    pub(in crate::select::substitution) kept: Vec<f64>,
    pub(in crate::select::substitution) b: Vec<f64>,
    pub(in crate::select::substitution) newcomer: Option<Vec<f64>>,
}

/// Computes slopes and changes of the loss.
pub(in crate::select::substitution) trait Evaluator: Send {
    /// Called at the start of a block.
    fn begin_block(&mut self, model: &Model, features: &[Feature<'_>]);
    /// Slopes of the kept set and the intercept.
    fn kept_slopes(&mut self, model: &Model, out: &mut Slopes);
    /// Whether a bound shows that the newcomer's coefficient, `eta` times its slope, is below
    /// `least`.
    fn surely_below(
        &mut self,
        model: &Model,
        t: usize,
        x: &Feature<'_>,
        eta: f64,
        least: f64,
    ) -> bool;
    /// The slope of `features[t]`, after [`Evaluator::kept_slopes`] of the same arrival.
    fn newcomer_slope(
        &mut self,
        model: &Model,
        t: usize,
        features: &[Feature<'_>],
        out: &mut Slopes,
    );
    /// `<x, D x>` of the newcomer in output `c`.
    fn curve(&self, model: &Model, x: &Feature<'_>, c: usize) -> f64;
    /// `<X_S, D X_S> v` in output `c`; with `D = 1` where not `curved`.
    fn product(&self, model: &Model, v: &[f64], c: usize, curved: bool) -> Vec<f64>;
    /// Loss at the trial minus the current loss.
    fn change(&mut self, model: &Model, x: &Feature<'_>, slopes: &Slopes, trial: &Trial) -> f64;
    /// Called after the step of the coefficients, before the column in `slot` is removed.
    fn before_removal(&mut self, model: &Model, slot: usize) {
        let _ = (model, slot);
    }
    /// Called after the newcomer was put into `slot`, after the step of the coefficients.
    fn inserted(&mut self, model: &Model, x: &Feature<'_>, slot: usize);
    /// Called after a step of the coefficients, to the last trial if there was one, where the kept
    /// set stayed the same.
    fn step_taken(&mut self, model: &Model);
    /// Called when the last trial was not taken and the coefficients stay.
    fn step_rejected(&mut self);
    fn loss(&self, model: &Model) -> f64;
    /// Factors on the automatic steps of a newcomer and of the kept set.
    fn step_factors(&self) -> (f64, f64) {
        (1.0, 1.0)
    }
    /// Counts of a worker of `asy-os`.
    fn tally(&self) -> Tally {
        Tally::default()
    }
    fn bytes(&self) -> u64;
    fn save(&self) -> Result<Vec<u8>>;
    /// Restores a state of [`Evaluator::save`] for `held` columns.
    fn restore(&mut self, state: &[u8], held: usize) -> Result<()>;
}
