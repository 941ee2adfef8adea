//! Symmetrical uncertainty.
//!
//! ```text
//! SU(X, Y) = 2 I(X;Y) / (H(X) + H(Y))      in [0, 1], 0 where both are constant
//! ```
//!
//! Press et al. 1996; section 3.4.3 of the SAOLA paper.

use super::coded::Information;
use super::discrete::{Discrete, Kind};
use super::{MeasureInfo, MeasureKind};

/// What the measure is and can do.
pub(super) const INFO: MeasureInfo = MeasureInfo {
    name: "su",
    score: "symmetrical uncertainty with the target",
    numbers: false,
    tested: false,
    pairs: true,
    conditional: false,
};

/// Marks [`Discrete`] as symmetrical uncertainty.
pub struct SuKind;

/// Symmetrical uncertainty.
pub type Su = Discrete<SuKind>;

impl Kind for SuKind {
    const KIND: MeasureKind = MeasureKind::Su;

    fn strength(information: Information) -> f64 {
        let Information { mutual, entropies, .. } = information;
        if entropies > 0.0 { (2.0 * mutual / entropies).min(1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::check::ColumnStats;
    use crate::data::column::Column;
    use crate::data::target::Problem;
    use crate::measure::{Measure, Side};

    #[test]
    fn a_copy_and_a_relabelled_copy_have_uncertainty_one() {
        let y = [0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0];
        let mut su = Su::new(&Problem::binary(&y), 0.0, None).unwrap();
        for x in [[5.0, 5.0, -3.0, -3.0, -3.0, 5.0, -3.0], y] {
            let data = su.code(Column::dense(&x)).unwrap().unwrap();
            let (facts, evidence) = su.weigh(data.view(), &ColumnStats::default()).unwrap();
            assert_eq!(evidence.strength, 1.0);
            let side = Side { x: data.view(), facts: &facts };
            assert_eq!(su.strength(side, side), 1.0);
        }
    }

    #[test]
    fn uncertainty_worked_by_hand() {
        // Table (2 0; 1 1): H = 1 and 0.811278, joint 1.5 bits, I = 0.311278.
        let mut su = Su::new(&Problem::binary(&[0.0, 0.0, 1.0, 1.0]), 0.0, None).unwrap();
        let data = su.code(Column::dense(&[0.0, 0.0, 0.0, 1.0])).unwrap().unwrap();
        let (_, evidence) = su.weigh(data.view(), &ColumnStats::default()).unwrap();
        assert!((evidence.strength - 2.0 * 0.311_278_124 / 1.811_278_124).abs() < 1e-9);
    }

    #[test]
    fn continuous_values_are_refused_unless_binned() {
        let y: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        let x: Vec<f64> = (0..40).map(|i| f64::from(i) / 7.0).collect();
        let su = Su::new(&Problem::binary(&y), 0.0, None).unwrap();
        assert!(su.code(Column::dense(&x)).unwrap_err().to_string().contains("bins=N"));
        let su = Su::new(&Problem::binary(&y), 0.0, Some(crate::measure::Bins::Equal(4))).unwrap();
        assert!(su.code(Column::dense(&x)).unwrap().is_some());
    }
}
