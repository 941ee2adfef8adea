//! Association of a feature with the target or with another feature, one measure per file.
//!
//! | measure | data | relevant | strength |
//! | --- | --- | --- | --- |
//! | [`Su`] | codes | `SU > delta` | `2 I / (H + H)` in [0, 1] |
//! | [`Mi`] | codes | `I > delta` | `I` in bits |
//! | [`FisherZ`] | numbers | two-sided test at `alpha` | `abs(r)` |
//! | [`G2`] | codes, conditional tests | `p < alpha` | the statistic |
//!
//! Sample weights are numbers of rows: a row of sample weight 2 counts as two equal rows, in every
//! sum, table, test and p-value.
//!
//! `lofs` has [`Su`] and [`FisherZ`] in the arithmetic of the library that the SAOLA authors
//! published, to compare with its results.

pub(crate) mod anova;
pub(crate) mod coded;
pub(crate) mod conditional;
pub(crate) mod discrete;
pub(crate) mod dot;
pub(crate) mod entropy;
pub(crate) mod fisher_z;
pub(crate) mod g2;
pub(crate) mod interaction;
pub(crate) mod lofs;
pub(crate) mod mi;
pub(crate) mod newcomer;
pub(crate) mod shared_rows;
pub(crate) mod su;

use serde::{Serialize, de::DeserializeOwned};

use crate::data::check::ColumnStats;
use crate::data::column::{Column, ColumnData};
use crate::data::compact::MOST_LEVELS;
use crate::data::target::{Problem, Target};
use crate::error::{Error, Result};
use crate::registry::MethodSpec;
use crate::registry::setting::{Bounds, Given, Setting};
use crate::selection::Value;

/// With no more rows than this a test has no degree of freedom.
pub(crate) const LEAST_ROWS: f64 = 3.0;

pub use coded::Levels;
pub use conditional::Conditional;
pub use discrete::Discrete;
pub use fisher_z::{FisherZ, Sums};
pub use g2::G2;
pub use mi::Mi;
pub use su::Su;

/// The association of a column with the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Strength of the association.
    pub strength: f64,
    /// Whether it passes the relevance test.
    pub relevant: bool,
    /// Marginal p-value, computed for relevant columns only.
    pub p_value: Option<f64>,
}

impl Evidence {
    /// The evidence of a column that is not relevant.
    #[must_use]
    pub fn weak(strength: f64) -> Self {
        Self { strength, relevant: false, p_value: None }
    }
}

/// One column of a comparison, with the facts computed from it.
pub struct Side<'a, F> {
    /// The values.
    pub x: Column<'a>,
    /// Facts computed from the values.
    pub facts: &'a F,
}

// Not derived: a side copies the reference and not the facts, so `F` need not be `Copy`.
impl<F> Clone for Side<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F> Copy for Side<'_, F> {}

/// Association between columns; it holds the target and scratch memory.
pub trait Measure: Send {
    /// Facts that are computed once per column: entropies, level counts, moments.
    type Facts: Clone + Send + Serialize + DeserializeOwned;

    /// Which measure it is.
    const KIND: MeasureKind;

    /// Whether its p-values are those of the feature alone against the target.
    const P_VALUES: bool = true;

    /// The column in the storage that the measure works on; `None` where it is that already.
    fn code(&self, x: Column<'_>) -> Result<Option<ColumnData>> {
        let _ = x;
        Ok(None)
    }

    /// Facts of a coded column and its evidence against the target, in one pass over its values.
    fn weigh(&mut self, x: Column<'_>, stats: &ColumnStats) -> Result<(Self::Facts, Evidence)>;

    /// Sets the newcomer that the next calls of [`Measure::strength`] compare with kept columns.
    fn load(&mut self, newcomer: Side<'_, Self::Facts>) {
        let _ = newcomer;
    }

    /// Strength between the newcomer loaded last and another column.
    fn strength(&mut self, newcomer: Side<'_, Self::Facts>, other: Side<'_, Self::Facts>) -> f64;

    /// The exact strength of two sparse columns that share no row; `None` without a closed form.
    fn strength_disjoint(&mut self, a: &Self::Facts, b: &Self::Facts) -> Option<f64> {
        let _ = (a, b);
        None
    }

    /// A bound that the strength of two columns with these facts does not exceed.
    fn upper_bound(&self, a: &Self::Facts, b: &Self::Facts) -> f64 {
        let _ = (a, b);
        f64::INFINITY
    }

    /// Whether a strength equal to the bound makes a feature redundant.
    ///
    /// Steps 11 and 16 of SAOLA say yes; section 3.4.2 of the paper says no for Fisher's Z.
    fn ties_count(&self) -> bool;

    /// Whether a constant added to a column changes no answer. It may change one where values are
    /// compared for equality, or where the arithmetic of a library is asked for.
    fn centres(&self) -> bool {
        false
    }
}

/// Level of the tests of `fisher-z` and `g2`.
pub(crate) const ALPHA: Setting = Setting::number(
    "alpha",
    Bounds::between(0.0, 1.0),
    0.01,
    "level of the tests, between 0 and 1",
);
/// Threshold of `su` and `mi`.
pub(crate) const DELTA: Setting = Setting::number(
    "delta",
    Bounds::from_below(0.0, 1e9),
    0.0,
    "su and mi: a feature is relevant above this strength",
);
/// Bins of measures on codes.
pub(crate) const BINS: Setting = Setting::whole(
    "bins",
    (2, MOST_LEVELS as u64),
    2,
    "equal-frequency bins for columns with more levels, 2 to 256; mean: above the mean or not",
)
.or(&["none", "mean"]);

/// How a measure on codes cuts the columns that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bins {
    /// Into so many bins of equal frequency, where a column has more levels.
    Equal(usize),
    /// Every column, into what is above its mean and what is not.
    Mean,
}

impl Bins {
    /// The setting `bins`; `None` where columns stay as they are.
    pub(crate) fn of(spec: &MethodSpec) -> Result<Option<Self>> {
        Ok(match spec.value(&BINS)? {
            Some(Given::Word("mean")) => Some(Self::Mean),
            _ => spec.optional_whole(&BINS)?.map(Self::Equal),
        })
    }
}

impl From<Bins> for Value {
    fn from(bins: Bins) -> Self {
        match bins {
            Bins::Equal(bins) => bins.into(),
            Bins::Mean => "mean".into(),
        }
    }
}

/// What a measure is and can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasureInfo {
    /// Its name in settings and results.
    pub name: &'static str,
    /// What its strength against the target is called.
    pub score: &'static str,
    /// Whether it works on numbers; the others work on codes.
    pub numbers: bool,
    /// Whether a feature is relevant by a test at level `alpha`; else by a strength above `delta`.
    pub tested: bool,
    /// Whether it compares features in pairs.
    pub pairs: bool,
    /// Whether it tests independence given other features.
    pub conditional: bool,
}

/// The thresholds that a measure is made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thresholds {
    pub(crate) alpha: f64,
    pub(crate) delta: f64,
    pub(crate) bins: Option<Bins>,
}

/// A measure of pairs that is made by its name.
pub(crate) trait Named: Measure + Sized + 'static {
    fn made(problem: &Problem, thresholds: Thresholds) -> Result<Self>;
}

/// Makes something of whatever measure was asked for.
pub(crate) trait WithMeasure {
    type Made;

    fn with<M: Measure + 'static>(self, measure: M) -> Result<Self::Made>;
}

/// A line a measure: its name in the code, the `INFO` of its file and, where it compares
/// features in pairs, its type.
macro_rules! measures {
    ($($(#[$doc:meta])* $variant:ident = $info:path $(, pairs by $pair:ty)?;)*) => {
        /// Which measure, as the user names it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum MeasureKind {
            $($(#[$doc])* $variant,)*
        }

        impl MeasureKind {
            /// Every measure.
            pub const ALL: [Self; [$(stringify!($variant)),*].len()] = [$(Self::$variant),*];

            /// What it is and can do.
            #[must_use]
            pub const fn info(self) -> MeasureInfo {
                match self {
                    $(Self::$variant => $info,)*
                }
            }

            /// Makes the measure for pairs; `None` where it does not compare them.
            pub(crate) fn pairwise<W: WithMeasure>(
                self,
                problem: &Problem,
                thresholds: Thresholds,
                with: W,
            ) -> Option<Result<W::Made>> {
                match self {
                    $($(Self::$variant => {
                        Some(<$pair>::made(problem, thresholds).and_then(|made| with.with(made)))
                    })?)*
                    #[allow(unreachable_patterns)] // Where every measure compares pairs.
                    _ => None,
                }
            }
        }
    };
}

measures! {
    /// Symmetrical uncertainty.
    Su = su::INFO, pairs by Su;
    /// Mutual information.
    Mi = mi::INFO, pairs by Mi;
    /// Fisher's Z.
    FisherZ = fisher_z::INFO, pairs by FisherZ;
    /// The likelihood-ratio test.
    G2 = g2::INFO;
}

/// How many measures compare pairs, or test with conditions.
pub(crate) const fn able(conditional: bool) -> usize {
    let (mut count, mut at) = (0, 0);
    while at < MeasureKind::ALL.len() {
        count += MeasureKind::ALL[at].info().can(conditional) as usize;
        at += 1;
    }
    count
}

/// `auto`, and the names of the measures that compare pairs, or that test with conditions: the
/// choices of a setting `measure`. `N` is one more than [`able`].
pub(crate) const fn choices<const N: usize>(conditional: bool) -> [&'static str; N] {
    let (mut names, mut used, mut at) = (["auto"; N], 1, 0);
    while at < MeasureKind::ALL.len() {
        let info = MeasureKind::ALL[at].info();
        if info.can(conditional) {
            names[used] = info.name;
            used += 1;
        }
        at += 1;
    }
    names
}

impl MeasureInfo {
    const fn can(&self, conditional: bool) -> bool {
        if conditional { self.conditional } else { self.pairs }
    }
}

impl MeasureKind {
    /// The name in settings and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The measure of that name; `None` for `auto`, which the columns decide.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The target as numbers: itself, 0 and 1 for two classes, or class names that are numbers.
pub fn numeric_target(target: &Target) -> Result<Vec<f64>> {
    match target {
        Target::Numbers(y) => Ok(y.clone()),
        Target::Classes { names, codes } => {
            let value = |name: &String| name.trim().parse().ok().filter(|v: &f64| v.is_finite());
            let values: Option<Vec<f64>> = names.iter().map(value).collect();
            let values = match values {
                Some(values) => values,
                None if names.len() == 2 => vec![0.0, 1.0],
                None => {
                    return Err(Error::Data(format!(
                        "class {:?} is no number, and this method reads the target as one; \
                         choose `measure=su`, or recode the classes",
                        names[0]
                    )));
                }
            };
            Ok(codes.iter().map(|c| values[*c as usize]).collect())
        }
    }
}

/// The target as codes, one level per class or distinct number.
pub fn coded_target(target: &Target) -> Result<ColumnData> {
    let data = match target {
        Target::Classes { codes, .. } => {
            let y: Vec<f64> = codes.iter().map(|c| f64::from(*c)).collect();
            crate::data::compact::encode(Column::dense(&y))
        }
        Target::Numbers(y) => crate::data::compact::encode(Column::dense(y)),
    };
    let data = data.ok_or_else(|| {
        Error::Data(
            "the target has more than 256 levels, too many for a discrete measure; \
             choose `measure=fisher-z`"
                .into(),
        )
    })?;
    let two = matches!(&data, ColumnData::Codes { levels, .. } if levels.len() == 2);
    match data {
        ColumnData::Codes { codes, .. } if two => {
            let mut words = vec![0u64; codes.len().div_ceil(64)];
            let ones = codes.iter().enumerate().filter(|(_, c)| **c == 1);
            ones.for_each(|(i, _)| words[i / 64] |= 1 << (i % 64));
            Ok(ColumnData::Bits { rows: codes.len(), words })
        }
        data => Ok(data),
    }
}

/// Rows that a test counts: the sum of the sample weights.
///
/// A model takes sample weights of any scale. A test does not: a sample weight of 2 is the row
/// twice, and significance depends on the number of rows.
pub(crate) fn rows_counted(problem: &Problem) -> Result<f64> {
    let total = problem.weight_sum();
    if problem.weight.is_some() && total <= LEAST_ROWS {
        let (sum, n) = ((total * 1e6).round() / 1e6, problem.n());
        return Err(Error::Data(format!(
            "weights are counts of rows; these sum to {sum}: multiply them so that they sum to \
             the rows that they stand for (there are {n}), or use a method with a model"
        )));
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_of_a_test_are_counts_of_rows() {
        let mut problem = Problem::regression(vec![1.0, 2.0, 4.0, 8.0]);
        assert_eq!(rows_counted(&problem).unwrap(), 4.0);
        problem.weight = Some(vec![0.25; 4]);
        let error = rows_counted(&problem).unwrap_err().to_string();
        assert!(error.contains("weights are counts of rows; these sum to 1:"), "{error}");
        assert!(error.contains("there are 4"), "{error}");
        problem.weight = Some(vec![25.0; 4]);
        assert_eq!(rows_counted(&problem).unwrap(), 100.0);
    }
}
