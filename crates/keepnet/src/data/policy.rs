//! Which columns are fit to be offered, and what becomes of missing values.

use serde::{Deserialize, Serialize};

use super::column::GenotypeCounts;
use crate::error::{Error, Result};

/// What to do with missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Stop and name the feature and the row.
    #[default]
    Error,
    /// Drop the feature.
    DropFeature,
    /// Fill with the feature's mean.
    Mean,
    /// Fill with zero.
    Zero,
    /// Fill with the mean and add a feature that is 1 where the value was missing.
    Indicator,
}

impl Missing {
    /// `error`, `drop-feature`, `mean`, `zero` or `indicator`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "error" => Ok(Self::Error),
            "drop-feature" => Ok(Self::DropFeature),
            "mean" => Ok(Self::Mean),
            "zero" => Ok(Self::Zero),
            "indicator" => Ok(Self::Indicator),
            _ => Err(Error::param("missing", name, "error, drop-feature, mean, zero or indicator")),
        }
    }
}

/// Which columns are fit to be offered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckPolicy {
    /// What to do with missing values.
    pub missing: Missing,
    /// Largest share of missing values; a feature with more is dropped. `None` is no limit.
    pub max_missing: Option<f64>,
    /// Fewest rows off the commonest value; a feature with fewer is dropped. 0 and 1 ask for a
    /// column that is not constant.
    pub min_count: usize,
    /// Smallest frequency of the rarer allele of genotypes, over the copies that are known.
    pub maf: f64,
    /// Fewest copies of the rarer allele of genotypes.
    pub mac: u64,
}

impl CheckPolicy {
    /// Whether an allele of genotypes is too rare.
    #[must_use]
    pub(crate) fn too_rare(&self, counts: &GenotypeCounts) -> bool {
        let minor = counts.minor();
        minor < self.mac || (minor as f64) < self.maf * (2 * counts.known()) as f64
    }

    /// Whether rare alleles are looked at.
    #[must_use]
    pub(crate) fn limits_alleles(&self) -> bool {
        self.mac > 0 || self.maf > 0.0
    }
}
