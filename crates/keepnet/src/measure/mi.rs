//! Mutual information in bits.
//!
//! ```text
//! I(X;Y) = sum p_xy log2(p_xy / (p_x p_y))
//! ```

use super::coded::Information;
use super::discrete::{Discrete, Kind};
use super::{MeasureInfo, MeasureKind};

/// What the measure is and can do.
pub(super) const INFO: MeasureInfo = MeasureInfo {
    name: "mi",
    score: "mutual information with the target in bits",
    numbers: false,
    tested: false,
    pairs: true,
    conditional: false,
};

/// Marks [`Discrete`] as mutual information.
pub struct MiKind;

/// Mutual information.
pub type Mi = Discrete<MiKind>;

impl Kind for MiKind {
    const KIND: MeasureKind = MeasureKind::Mi;

    fn strength(information: Information) -> f64 {
        information.mutual * information.bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::check::ColumnStats;
    use crate::data::column::Column;
    use crate::data::target::Problem;
    use crate::measure::Measure;

    #[test]
    fn a_fair_coin_tells_one_bit_about_itself() {
        let y = [0.0, 1.0, 1.0, 0.0];
        let mut mi = Mi::new(&Problem::binary(&y), 0.0, None).unwrap();
        let data = mi.code(Column::dense(&y)).unwrap().unwrap();
        let (_, evidence) = mi.weigh(data.view(), &ColumnStats::default()).unwrap();
        assert_eq!(evidence.strength, 1.0);
        // G2 = 2 n I ln 2 = 8 ln 2 with one degree of freedom; scipy.stats.chi2.sf.
        assert!((evidence.p_value.unwrap() - 0.018_531_677_751_2).abs() < 1e-12);
    }
}
