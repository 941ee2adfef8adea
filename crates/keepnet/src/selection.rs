//! What a method would keep: the same type from columns or rows, from any method.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::data::block::FeatureId;
use crate::data::kept::Kept;

/// A setting or a measured number, as results show it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(u64),
    /// A number.
    Float(f64),
    /// A word.
    Text(String),
    /// Several numbers.
    List(Vec<f64>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(v) => write!(f, "{v}"),
            Self::Int(v) => write!(f, "{v}"),
            Self::Float(v) => write!(f, "{v}"),
            Self::Text(v) => write!(f, "{v}"),
            Self::List(v) => write!(f, "{v:?}"),
        }
    }
}

macro_rules! value_from {
    ($($from:ty => $make:expr),* $(,)?) => {
        $(impl From<$from> for Value {
            fn from(value: $from) -> Self {
                ($make)(value)
            }
        })*
    };
}
value_from! {
    bool => Value::Bool,
    u64 => Value::Int,
    i32 => |v: i32| u64::try_from(v).map_or(Value::Float(f64::from(v)), Value::Int),
    usize => |v| Value::Int(v as u64),
    f64 => Value::Float,
    &str => |v: &str| Value::Text(v.into()),
    String => Value::Text,
    &String => |v: &String| Value::Text(v.clone()),
    Vec<f64> => Value::List,
}

/// The test of one feature, where a method decides by tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tested {
    /// The name of the test.
    pub test: &'static str,
    /// Its statistic, where it has one.
    pub statistic: Option<f64>,
    /// Natural logarithm of the p-value.
    pub log_p: f64,
    /// The p-value adjusted for all features tested, where that is known.
    pub q_value: Option<f64>,
    /// The level that the feature was tested at, where features have levels of their own.
    pub level: Option<f64>,
}

/// The error rate that a selection is said to keep, and on what terms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorControl {
    /// What controls it.
    pub procedure: &'static str,
    /// `fdr`, `fwer` or `mfdr`.
    pub rate: &'static str,
    /// Its level.
    pub level: f64,
    /// Features tested.
    pub tested: u64,
    /// Features whose p-values were held to the end, where some were.
    pub held: Option<u64>,
    /// Features selected.
    pub rejected: u64,
    /// What the guarantee rests on.
    pub assumes: String,
    /// All of this in a line.
    #[serde(skip)]
    pub line: String,
}

/// A feature that was passed over as it is correlated with a selected one.
#[derive(Clone, Debug, PartialEq)]
pub struct Affiliated {
    /// Its identity.
    pub id: FeatureId,
    /// Its name.
    pub name: String,
    /// The selected feature that it is correlated with most.
    pub of: FeatureId,
    /// Their absolute correlation.
    pub correlation: f64,
}

/// One selected feature.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected {
    /// Its identity.
    pub id: FeatureId,
    /// Its name.
    pub name: String,
    /// Place of its file in the source's list.
    pub source: u32,
    /// Place in the scan at which it was taken.
    pub arrival: u64,
    /// Place in the method's own kept list.
    pub order: usize,
    /// Its group, where groups were given.
    pub group: Option<u32>,
    /// Coefficient on the original scale, one per output; empty where the method has no model.
    pub coefficient: Vec<f64>,
    /// The number that the method ranks by.
    pub score: f64,
    /// A p-value, only where it is valid.
    pub p_value: Option<f64>,
    /// The test, where the method decides by tests.
    pub tested: Option<Tested>,
    /// Weighted mean.
    pub mean: f64,
    /// Weighted standard deviation over the rows used, where it was computed.
    pub deviation: Option<f64>,
    /// Missing values, where they were counted.
    pub missing: Option<u32>,
}

impl Selected {
    /// The coefficients on a common scale: by how much the prediction, or the margin of a class,
    /// changes when the feature changes by its standard deviation. Empty where there is no model
    /// or the deviation is not known.
    #[must_use]
    pub fn standardised(&self) -> Vec<f64> {
        let Some(deviation) = self.deviation else { return Vec::new() };
        self.coefficient.iter().map(|b| b * deviation).collect()
    }

    /// A kept feature without coefficient and score; `None` for covariates.
    #[must_use]
    pub fn from_kept(kept: &Kept, order: usize) -> Option<Self> {
        Some(Self {
            id: kept.id?,
            name: kept.name.clone(),
            source: kept.source,
            arrival: kept.arrival,
            order,
            group: kept.group,
            coefficient: Vec::new(),
            score: 0.0,
            p_value: None,
            tested: None,
            mean: kept.stats.original_mean(),
            deviation: Some(kept.stats.variance.sqrt()),
            missing: Some(kept.stats.missing),
        })
    }
}

/// The coefficient of an unpenalised covariate.
#[derive(Clone, Debug, PartialEq)]
pub struct CovariateCoefficient {
    /// Its name.
    pub name: String,
    /// Coefficient on the original scale, one per output.
    pub coefficient: Vec<f64>,
}

/// What a method would keep, and with which coefficients.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The method's name.
    pub method: &'static str,
    /// Every setting with the value that was used.
    pub params: Vec<(&'static str, Value)>,
    /// The selected features, by descending score, ties to the earlier feature.
    pub selected: Vec<Selected>,
    /// Pinned features.
    pub pinned: Vec<Selected>,
    /// Unpenalised covariates.
    pub covariates: Vec<CovariateCoefficient>,
    /// Intercept, one per output; empty where the method has no model.
    pub intercept: Vec<f64>,
    /// What `score` means.
    pub score_kind: &'static str,
    /// What `p_value` means.
    pub p_value_kind: Option<&'static str>,
    /// The error rate that is controlled, where one is.
    pub error_control: Option<ErrorControl>,
    /// Loss of the model on the rows used.
    pub loss: Option<f64>,
    /// What the method minimised, its ridge or penalty included, at the model before the refit.
    pub objective: Option<f64>,
    /// Features that replaced another.
    pub substitutions: u64,
    /// Constant features, where the method counts them and not the driver.
    pub constant: Option<u64>,
    /// Features that stand behind a selected one, where the method notes them.
    pub affiliated: Option<Vec<Affiliated>>,
    /// Further numbers that the method reports.
    pub metrics: Vec<(&'static str, Value)>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl Selection {
    /// Sorts the features as results show them.
    pub fn sort(&mut self) {
        let key = |a: &Selected, b: &Selected| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id));
        self.selected.sort_by(key);
        self.pinned.sort_by_key(|feature| feature.id);
    }

    /// The selected features' indices, in the order shown.
    #[must_use]
    pub fn indices(&self) -> Vec<u64> {
        self.selected.iter().map(|feature| feature.id.index).collect()
    }
}
