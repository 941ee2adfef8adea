//! What an arrangement of lanes found beside the selection: the fields of a result.

use std::collections::HashMap;

use keepnet::FeatureId;
use keepnet::selection::ErrorControl;
use keepnet_eval::trust::bounds::Bounds;
use serde::Serialize;

/// All of it; what was not asked for is `None`, and null in the result.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The sizes to choose from, ascending.
    pub path: Option<Vec<PathPoint>>,
    /// The loss on rows that were set aside.
    pub holdout: Option<Holdout>,
    /// Bounds on the false features of stability selection.
    pub stability: Option<Stability>,
    /// How features were tested on rows that did not choose them.
    pub inference: Option<Inference>,
    /// The same method on permuted targets.
    pub null: Option<Null>,
    /// Which error rate is controlled.
    pub error_control: Option<ErrorControl>,
    /// What is known of single features.
    pub features: HashMap<FeatureId, Evidence>,
    /// What the user should know of it.
    pub warnings: Vec<String>,
}

/// One size that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathPoint {
    /// The size.
    pub k: usize,
    /// Mean over the folds of the loss on the fold's rows.
    pub cv_mean: Option<f64>,
    /// Its standard error.
    pub cv_se: Option<f64>,
    /// Mean over the folds of the share of rows put into a wrong class.
    pub cv_error: Option<f64>,
    /// Loss on the rows that it was fitted on.
    pub in_sample: Option<f64>,
    /// The extended Bayesian information criterion.
    pub ebic: Option<f64>,
    /// Whether it is the size of the result.
    pub chosen: bool,
}

/// Rows that nothing was learnt from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Holdout {
    /// How many.
    pub rows: usize,
    /// The loss of the result's model there.
    pub loss: f64,
    /// The share of them put into a wrong class.
    pub error: Option<f64>,
}

/// What is known of one feature; only what was asked for is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Share of the halves that selected it.
    pub frequency: Option<f64>,
    /// Coefficient on the rows for inference, one an output.
    pub estimate: Vec<f64>,
    /// Its standard error.
    pub std_error: Vec<f64>,
    /// The lower end of its interval.
    pub ci_low: Vec<f64>,
    /// The upper end.
    pub ci_high: Vec<f64>,
    /// The p-value of each output.
    pub p_value: Vec<f64>,
    /// The same, adjusted for the number of selected features.
    pub p_adjusted: Vec<f64>,
    /// By how much it did better than its knockoff.
    pub w: Option<f64>,
    /// Its e-value over repeated knockoffs.
    pub e_value: Option<f64>,
}

/// Stability selection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stability {
    /// Pairs of halves.
    pub pairs: usize,
    /// The least frequency of a selected feature.
    pub share: f64,
    /// Features selected by a half, in the mean.
    pub mean_size: f64,
    /// Bounds on the expected number of selected features that are selected by chance.
    #[serde(with = "bounds")]
    pub expected_false: Bounds,
}

/// The bounds as a result has them.
mod bounds {
    use keepnet_eval::trust::bounds::Bounds;
    use serde::{Serialize, Serializer};

    #[derive(Serialize)]
    struct Written {
        mb: Option<f64>,
        unimodal: Option<f64>,
        r_concave: Option<f64>,
    }

    pub(super) fn serialize<S: Serializer>(bounds: &Bounds, to: S) -> Result<S::Ok, S::Error> {
        let Bounds { mb, unimodal, r_concave } = *bounds;
        Written { mb, unimodal, r_concave }.serialize(to)
    }
}

/// Tests on rows that did not choose.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Inference {
    /// `split` or `knockoffs`.
    pub kind: &'static str,
    /// Rows that chose the features.
    pub rows_selection: usize,
    /// Rows that they were tested on.
    pub rows_inference: usize,
    /// The level; intervals are at one less it, not adjusted.
    pub level: f64,
    /// `holm`, `bh` or `none`, of p-values.
    pub correction: Option<&'static str>,
    /// Degrees of freedom of the t-tests.
    pub df: Option<f64>,
    /// Draws of knockoffs.
    pub repeats: Option<usize>,
    /// Features that knockoffs decided among.
    pub screened: Option<usize>,
    /// The least `w` that is selected.
    pub threshold: Option<f64>,
}

/// The losses on permuted targets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Null {
    /// Lanes.
    pub lanes: usize,
    /// The least in-sample loss of them.
    pub least: f64,
    /// Their mean.
    pub mean: f64,
}
