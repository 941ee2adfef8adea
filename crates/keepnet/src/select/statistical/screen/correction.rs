//! Corrections at the end of the scan: p-values adjusted for all features tested.
//!
//! With m tested and `p_(1) <= p_(2) <= ...`, all cut at 1:
//!
//! ```text
//! bh          min over j >= i of m p_(j) / j                by   the same times 1 + 1/2 + ... + 1/m
//! holm        max over j <= i of (m + 1 - j) p_(j)          bonferroni   m p
//! ```
//!
//! A feature is selected where its adjusted value is at most the level. That value is at least p,
//! so p-values above the level need not be held: none is selected, and as terms they change no
//! value at or below the level. Benjamini and Hochberg (1995); Benjamini and Yekutieli (2001); Holm
//! (1979).

/// What is done at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtEnd {
    /// Benjamini and Yekutieli.
    By,
    /// Benjamini and Hochberg.
    Bh,
    /// Holm.
    Holm,
    /// Bonferroni.
    Bonferroni,
}

impl AtEnd {
    /// Adjusted values of the least p-values, in ascending order by their logarithms, of `m`.
    pub(super) fn adjusted(self, log_p: &[f64], m: u64) -> Vec<f64> {
        let m_f = m as f64;
        let p = || log_p.iter().map(|p| p.exp());
        let mut out: Vec<f64> = match self {
            Self::Bonferroni => p().map(|p| m_f * p).collect(),
            Self::Holm => {
                let mut most = 0.0_f64;
                let terms = p().enumerate().map(|(at, p)| (m_f - at as f64) * p);
                terms
                    .map(|term| {
                        most = most.max(term);
                        most
                    })
                    .collect()
            }
            Self::Bh | Self::By => {
                let harmonic = if self == Self::By { harmonic(m) } else { 1.0 };
                let mut least = f64::INFINITY;
                let terms = p().enumerate().map(|(at, p)| harmonic * m_f * p / (at + 1) as f64);
                let mut values: Vec<f64> = terms.collect();
                for value in values.iter_mut().rev() {
                    least = least.min(*value);
                    *value = least;
                }
                values
            }
        };
        out.iter_mut().for_each(|value| *value = value.min(1.0));
        out
    }
}

/// `1 + 1/2 + ... + 1/m`, the small terms first.
fn harmonic(m: u64) -> f64 {
    (1..=m).rev().map(|i| 1.0 / i as f64).sum()
}
