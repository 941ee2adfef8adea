//! Online least squares with thresholding: the `k` largest weights of the full model.
//!
//! ```text
//! b = (S + ridge I)^-1 s;  keep the k largest |b_j|, ties to the earlier;  refit
//! ```
//!
//! Weights are compared on the standardised scale. Near as many rows as features plain least
//! squares is at its worst; a ridge (ridge 0.1 to 10) repairs it. Cost `p^3 / 3` flops. Source:
//! Sun and Barbu, arXiv 1803.11521, Algorithm 1 (the ridge is ours).

use super::extract::{Extract, ranked};
use super::gram::{Gram, largest, sizes};
use super::ols::{OlsParams, check_ridge, full};
use crate::error::Result;
use crate::selection::Value;

/// The `k` largest weights of the least-squares model.
#[derive(Clone, Copy, Debug)]
pub struct Olsth {
    params: OlsParams,
}

impl Olsth {
    /// Checks the settings.
    pub fn new(params: OlsParams) -> Result<Self> {
        check_ridge(params.ridge)?;
        Ok(Self { params })
    }
}

impl Extract for Olsth {
    fn name(&self) -> &'static str {
        "olsth"
    }

    fn choose(&self, gram: &Gram, k: usize) -> Result<Vec<usize>> {
        Ok(largest(&sizes(&full(gram, self.params.ridge)?), k))
    }

    fn rank(&self, gram: &Gram, most: usize) -> Result<Vec<usize>> {
        Ok(ranked(&sizes(&full(gram, self.params.ridge)?), most))
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        vec![("ridge", self.params.ridge.into())]
    }

    fn many_outputs(&self) -> bool {
        true
    }
}
