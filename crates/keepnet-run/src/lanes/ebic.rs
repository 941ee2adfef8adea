//! The extended Bayesian information criterion of a fitted selection.
//!
//! ```text
//! EBIC = n ln(RSS / n) + k ln n + 2 gamma ln C(p, k)         squared loss
//!        2 n (mean negative log-likelihood) in place of the first term of another likelihood
//! ```
//!
//! Chen and Chen, Biometrika 95 (2008), section 2.

use statrs::function::gamma::ln_gamma;

/// Twice the negative log-likelihood of a squared loss, up to a constant: `n ln(RSS / n)`.
pub(super) fn gaussian(n: f64, rss: f64) -> f64 {
    n * (rss / n).ln()
}

/// The criterion of `k` out of `p` features on `n` rows.
pub(super) fn ebic(fit: f64, n: f64, k: f64, p: f64, gamma: f64) -> f64 {
    let choices = ln_gamma(p + 1.0) - ln_gamma(k + 1.0) - ln_gamma(p - k + 1.0);
    fit + k * n.ln() + 2.0 * gamma * choices
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value of the specification's reference program (SciPy's gammaln).
    #[test]
    fn the_criterion_is_that_of_the_reference() {
        let value = ebic(gaussian(100.0, 50.0), 100.0, 5.0, 1000.0, 1.0);
        assert!((value - 13.193_672_111_360_968).abs() < 1e-9, "{value}");
    }
}
