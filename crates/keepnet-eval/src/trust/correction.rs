//! Adjusted p-values of a few tests.
//!
//! ```text
//! holm   max over j <= i of (m + 1 - j) p_(j)        bh   min over j >= i of m p_(j) / j
//! ```
//!
//! cut at 1. Holm, Scandinavian Journal of Statistics 6 (1979); Benjamini and Hochberg, JRSS-B 57
//! (1995).

/// How p-values are adjusted for their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Correction {
    /// The chance of any false rejection.
    #[default]
    Holm,
    /// The expected share of false ones among the rejections.
    Bh,
    /// Not at all.
    None,
}

impl Correction {
    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Holm => "holm",
            Self::Bh => "bh",
            Self::None => "none",
        }
    }

    /// Adjusted p-values, in the order of `p`.
    #[must_use]
    pub fn adjust(self, p: &[f64]) -> Vec<f64> {
        let m = p.len();
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
        let mut out = p.to_vec();
        match self {
            Self::None => {}
            Self::Holm => {
                let mut most = 0.0f64;
                for (rank, at) in order.iter().enumerate() {
                    most = most.max((m - rank) as f64 * p[*at]).min(1.0);
                    out[*at] = most;
                }
            }
            Self::Bh => {
                let mut least = 1.0f64;
                for (rank, at) in order.iter().enumerate().rev() {
                    least = least.min(m as f64 * p[*at] / (rank + 1) as f64);
                    out[*at] = least;
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: sorted 0.01, 0.02, 0.04; Holm 0.03, 0.04, 0.04; BH 0.03, 0.03, 0.04.
    #[test]
    fn adjusted_values_are_those_of_the_definitions() {
        let p = [0.02, 0.04, 0.01];
        assert_eq!(Correction::Holm.adjust(&p), [0.04, 0.04, 0.03]);
        assert_eq!(Correction::Bh.adjust(&p), [0.03, 0.04, 0.03]);
        assert_eq!(Correction::None.adjust(&p), p);
    }
}
