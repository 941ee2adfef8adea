//! Strength of a feature with the target given one other: what `ossfs-dd` and `sfs-fi` ask.
//!
//! ```text
//! codes:    I(f; y | t) in bits, from one table of f, y and t
//! numbers:  abs r(f, y | t) = abs(r_fy - r_ft r_ty) / sqrt((1 - r_ft^2) (1 - r_ty^2))
//! ```
//!
//! Numbers are tested first: no answer where the test at level `alpha` finds independence, or
//! where one of the two correlations leaves no variance. Mutual information has no such test.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::coded::{CodedColumn, Levels};
use super::discrete::{Discrete, Kind};
use super::fisher_z::Sums;
use super::{Bins, Evidence, FisherZ, G2, Measure, MeasureKind, Side};
use crate::data::check::ColumnStats;
use crate::data::column::{Column, ColumnData};
use crate::data::target::Problem;
use crate::error::Result;
use crate::tails::normal_cutoff;

/// Share of a variance below which only rounding is left of it.
const NOTHING_LEFT: f64 = 1e-14;

/// Strength with the target, with the target given another feature, and between features.
pub trait Interaction: Send {
    /// Facts that are computed once per column.
    type Facts: Clone + Send + Serialize + DeserializeOwned;

    /// Which measure the strength with the target is.
    const KIND: MeasureKind;

    /// The column in the storage that the measure works on; `None` where it is that already.
    fn code(&self, x: Column<'_>) -> Result<Option<ColumnData>>;

    /// Facts of a coded column and its evidence against the target.
    fn weigh(&mut self, x: Column<'_>, stats: &ColumnStats) -> Result<(Self::Facts, Evidence)>;

    /// Strength of `f` with the target given `t`; `None` where a test finds independence.
    fn given(&mut self, f: Side<'_, Self::Facts>, t: Side<'_, Self::Facts>) -> Option<f64>;

    /// Strength between two columns; `None` where a test finds independence.
    fn between(&mut self, a: Side<'_, Self::Facts>, b: Side<'_, Self::Facts>) -> Option<f64>;

    /// Whether a constant added to a column changes no answer.
    fn centres(&self) -> bool;
}

/// Mutual information of codes; the strength without conditions is that of `K`.
pub struct Information<K> {
    strength: Discrete<K>,
    tables: G2,
}

impl<K: Kind> Information<K> {
    /// The measure against the problem's target.
    pub fn new(problem: &Problem, bins: Option<Bins>) -> Result<Self> {
        // Neither threshold is asked for: relevance is a strength above 0.
        let (strength, tables) =
            (Discrete::new(problem, 0.0, bins)?, G2::new(problem, 0.01, bins, false)?);
        Ok(Self { strength, tables })
    }
}

fn coded_column(side: Side<'_, Levels>) -> CodedColumn<'_> {
    CodedColumn { x: side.x, levels: side.facts }
}

impl<K: Kind> Interaction for Information<K> {
    type Facts = Levels;

    const KIND: MeasureKind = K::KIND;

    fn code(&self, x: Column<'_>) -> Result<Option<ColumnData>> {
        self.strength.code(x)
    }

    fn weigh(&mut self, x: Column<'_>, stats: &ColumnStats) -> Result<(Levels, Evidence)> {
        self.strength.weigh(x, stats)
    }

    fn given(&mut self, f: Side<'_, Levels>, t: Side<'_, Levels>) -> Option<f64> {
        Some(self.tables.information_given(coded_column(f), &[coded_column(t)]))
    }

    fn between(&mut self, a: Side<'_, Levels>, b: Side<'_, Levels>) -> Option<f64> {
        self.strength.load(a);
        Some(self.strength.strength(a, b))
    }

    fn centres(&self) -> bool {
        self.strength.centres()
    }
}

/// Sums of a column and its correlation with the target.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Correlated {
    sums: Sums,
    r: f64,
}

/// Partial correlations.
pub struct Correlation {
    z: FisherZ,
    cutoff: f64,
}

impl Correlation {
    /// The measure against the problem's target, with tests at level `alpha`.
    pub fn new(problem: &Problem, alpha: f64) -> Result<Self> {
        Ok(Self { z: FisherZ::new(problem, alpha)?, cutoff: normal_cutoff(alpha) })
    }

    /// The correlation, unless the test finds independence.
    fn tested(&self, r: f64, conditions: f64) -> Option<f64> {
        let df = self.z.total() - conditions - 3.0;
        let r = r.abs().min(1.0);
        (df > 0.0 && df.sqrt() * r.atanh() >= self.cutoff).then_some(r)
    }

    fn correlation(&mut self, a: Side<'_, Correlated>, b: Side<'_, Correlated>) -> f64 {
        let (a, b) = (Side { x: a.x, facts: &a.facts.sums }, Side { x: b.x, facts: &b.facts.sums });
        self.z.load(a);
        self.z.signed_correlation(a, b)
    }
}

impl Interaction for Correlation {
    type Facts = Correlated;

    const KIND: MeasureKind = MeasureKind::FisherZ;

    fn code(&self, _: Column<'_>) -> Result<Option<ColumnData>> {
        Ok(None)
    }

    fn weigh(&mut self, x: Column<'_>, stats: &ColumnStats) -> Result<(Correlated, Evidence)> {
        let (sums, r) = self.z.describe(x, stats);
        let evidence = match self.tested(r, 0.0) {
            Some(strength) => {
                let p_value = Some(self.z.p_value(r, 0));
                Evidence { strength, relevant: true, p_value }
            }
            None => Evidence::weak(r.abs()),
        };
        Ok((Correlated { sums, r }, evidence))
    }

    fn given(&mut self, f: Side<'_, Correlated>, t: Side<'_, Correlated>) -> Option<f64> {
        let (fy, ty, ft) = (f.facts.r, t.facts.r, self.correlation(t, f));
        let left = (1.0 - ft * ft) * (1.0 - ty * ty);
        if left <= NOTHING_LEFT {
            return None;
        }
        self.tested((fy - ft * ty) / left.sqrt(), 1.0)
    }

    fn between(&mut self, a: Side<'_, Correlated>, b: Side<'_, Correlated>) -> Option<f64> {
        let r = self.correlation(a, b);
        self.tested(r, 0.0)
    }

    fn centres(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::mi::MiKind;

    /// y is the exclusive or of a and b: each alone tells nothing, one given the other all.
    #[test]
    fn an_exclusive_or_is_one_bit_given_the_other() {
        let (a, b) = ([0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]);
        let problem = Problem::binary(&[0.0, 1.0, 1.0, 0.0]);
        let mut measure = Information::<MiKind>::new(&problem, None).unwrap();
        let data = [a, b].map(|x| measure.code(Column::dense(&x)).unwrap().unwrap());
        let facts = [0, 1].map(|at| {
            let (facts, evidence) =
                measure.weigh(data[at].view(), &ColumnStats::default()).unwrap();
            assert_eq!(evidence.strength, 0.0);
            facts
        });
        let side = |at: usize| Side { x: data[at].view(), facts: &facts[at] };
        assert_eq!(measure.given(side(0), side(1)), Some(1.0));
        assert_eq!(measure.between(side(0), side(1)), Some(0.0));
    }
}
