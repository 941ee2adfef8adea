//! What the extraction methods share: choosing `k` features from a standardised Gram.

use super::gram::Gram;
use crate::error::Result;
use crate::selection::Value;

/// Chooses features from a standardised Gram, without the rows.
pub trait Extract: Send {
    /// The method's name.
    fn name(&self) -> &'static str;

    /// The places in the Gram of the `k` features to keep, ascending; fewer where fewer have an
    /// effect.
    ///
    /// `k` is at least 1 and at most the Gram's size.
    fn choose(&self, gram: &Gram, k: usize) -> Result<Vec<usize>>;

    /// Places from the most to the least important, at most `most`. The first `k` are the `k` that
    /// the method keeps on a path that only drops features.
    fn rank(&self, gram: &Gram, most: usize) -> Result<Vec<usize>>;

    /// Every setting with its value.
    fn params(&self) -> Vec<(&'static str, Value)>;

    /// Whether the method can do several outputs at once.
    fn many_outputs(&self) -> bool {
        false
    }

    /// A set whose size follows from the settings, such as a given penalty; `None` asks for `k`.
    fn fixed(&self, gram: &Gram) -> Option<Result<Vec<usize>>> {
        let _ = gram;
        None
    }

    /// Standardised coefficients of a chosen set, one vector an output, where they are not those of
    /// a least-squares refit. A refit needs more rows than features.
    fn coefficients(&self, gram: &Gram, set: &[usize]) -> Option<Result<Vec<Vec<f64>>>> {
        let _ = (gram, set);
        None
    }

    /// Numbers of the extraction worth showing, such as the ridge that was chosen.
    fn notes(&self, gram: &Gram) -> Result<Vec<(&'static str, Value)>> {
        let _ = gram;
        Ok(Vec::new())
    }
}

/// Places by descending value, ties to the earlier, at most `most`.
pub(crate) fn ranked(values: &[f64], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*b].total_cmp(&values[*a]).then(a.cmp(b)));
    order.truncate(most);
    order
}
