//! The number of features: nested models of one ranking for every `k`, and the choice of `k`.
//!
//! ```text
//! S in ranked order = L L';  z = L^-1 s;  RSS_k = syy - sum_{i <= k} z_i^2    for every k at once
//! BIC(k) = n_eff log RSS_k + k log n_eff        EBIC(k) = BIC(k) + 2 k log p
//! hold-out: mean squared error of the refit on k features, on hold-out rows; the smallest k
//!           within one standard error of the least
//! ```
//!
//! BIC compares sizes along one method's path. Across methods it rewards the support that fits the
//! noise best, so methods are compared only by hold-out. Cost `p^3 / 3` for all `k`.

use faer::Mat;

use super::gram::{Gram, JITTER, gather};
use crate::error::{Error, Result};
use crate::learn::averages::running::RunningAverages;

/// How the number of features is chosen when it is not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choose {
    /// Bayesian information criterion.
    #[default]
    Bic,
    /// Extended for many candidate features.
    Ebic,
    /// Error on every fifth row, which is held out.
    Holdout,
}

impl Choose {
    /// Every way.
    pub const ALL: [Self; 3] = [Self::Bic, Self::Ebic, Self::Holdout];

    /// The name in settings and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bic => "bic",
            Self::Ebic => "ebic",
            Self::Holdout => "holdout",
        }
    }
}

/// The nested models of a ranking.
pub struct Path {
    /// The features of every model, then the ranking.
    order: Vec<usize>,
    /// Number of features of every model.
    fixed: usize,
    factor: Mat<f64>,
    /// For each output `L^-1 s`.
    z: Vec<Vec<f64>>,
    /// For each output the residual variance with 0, 1, 2, ... features of the order.
    pub rss: Vec<Vec<f64>>,
}

impl Path {
    /// Models of the first 0, 1, 2, ... features of `ranking`.
    pub fn new(gram: &Gram, ranking: Vec<usize>) -> Result<Self> {
        Self::after(gram, &[], &ranking)
    }

    /// Models of all of `fixed` and the first 0, 1, 2, ... of `ranking`.
    pub(crate) fn after(gram: &Gram, fixed: &[usize], ranking: &[usize]) -> Result<Self> {
        let order = [fixed, ranking].concat();
        let m = order.len();
        let mut s = gather(&gram.s, &order);
        for j in 0..m {
            s[(j, j)] += JITTER;
        }
        let llt = s.llt(faer::Side::Lower).map_err(|_| {
            Error::Data(
                "some features are linearly dependent, so the path over k stops short; give -k"
                    .into(),
            )
        })?;
        let factor = llt.L().to_owned();
        let mut z: Vec<Vec<f64>> =
            gram.xy.iter().map(|xy| order.iter().map(|j| xy[*j]).collect()).collect();
        for z in &mut z {
            for j in 0..m {
                z[j] /= factor[(j, j)];
                let (head, tail) = z.split_at_mut(j + 1);
                crate::numeric::kernel::axpy(-head[j], &factor.col_as_slice(j)[j + 1..], tail);
            }
        }
        let rss = z.iter().zip(&gram.yy).map(|(z, yy)| {
            let mut left = *yy;
            let drop = z.iter().map(|z| {
                left = (left - z * z).max(1e-12 * yy);
                left
            });
            std::iter::once(*yy).chain(drop).collect()
        });
        Ok(Self { rss: rss.collect(), order, fixed: fixed.len(), factor, z })
    }

    /// Number of features that are ranked.
    fn ranked(&self) -> usize {
        self.order.len() - self.fixed
    }

    /// The size of least information criterion, at least 1. No size here counts the features that
    /// every model has.
    #[must_use]
    pub fn best(&self, gram: &Gram, extended: bool) -> usize {
        let n = gram.n;
        let price = n.ln() + if extended { 2.0 * (gram.p() as f64).ln() } else { 0.0 };
        let score = |k: usize| {
            let rss = self.rss.iter().map(|rss| rss[self.fixed + k]);
            rss.map(|rss| n * rss.max(f64::MIN_POSITIVE).ln()).sum::<f64>()
                + k as f64 * self.rss.len() as f64 * price
        };
        let better = |a: &usize, b: &usize| score(*a).total_cmp(&score(*b));
        (1..=self.ranked()).min_by(better).unwrap_or(1)
    }

    /// The smallest size whose error on `holdout` is within one standard error of the least,
    /// among all small sizes and a geometric grid above.
    ///
    /// The standard error is that of the difference of the two models' squared errors,
    /// `sqrt(4 error E (f_k - f_best)^2 / n)`. A few noise features never cost more than that.
    #[must_use]
    pub fn best_on(&self, gram: &Gram, holdout: &RunningAverages) -> usize {
        let model = |k: usize| {
            let size = self.fixed + k;
            gram.model(&self.order[..size], &self.coefficients(size))
        };
        let grid = std::iter::successors(Some(1), |k| Some(k + 1 + k / 20))
            .take_while(|k| *k <= self.ranked());
        let error = |k| (k, holdout.error_of(&model(k)).iter().sum::<f64>());
        let tried: Vec<(usize, f64)> = grid.map(error).collect();
        let Some((best, least)) = tried.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return 1;
        };
        let (best_model, n) = (model(best), holdout.effective_rows().max(1.0));
        let close = |(k, error): &&(usize, f64)| {
            let difference = holdout.difference_of(&model(*k), &best_model);
            error - least <= (4.0 * least * difference / n).sqrt()
        };
        tried.iter().find(close).map_or(best, |(k, _)| *k)
    }

    /// Least squares on the first `k` of the order: `L_k' b = z_k`.
    fn coefficients(&self, k: usize) -> Vec<Vec<f64>> {
        let solve = |z: &Vec<f64>| {
            let mut b = z[..k].to_vec();
            for j in (0..k).rev() {
                let column = &self.factor.col_as_slice(j)[j + 1..k];
                b[j] =
                    (b[j] - crate::numeric::kernel::dot(column, &b[j + 1..])) / self.factor[(j, j)];
            }
            b
        };
        self.z.iter().map(solve).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::testing;

    #[test]
    fn one_factor_gives_the_residual_of_every_refit() {
        let gram = testing::gram(200, 12, 4);
        let path = Path::new(&gram, vec![3, 0, 7, 2, 1, 9]).unwrap();
        for k in 1..=6 {
            let set = [3, 0, 7, 2, 1, 9][..k].to_vec();
            let b = gram.refit(&set).unwrap();
            assert!((path.rss[0][k] / gram.rss(&set, &b) - 1.0).abs() < 1e-8);
            for (a, b) in path.coefficients(k)[0].iter().zip(&b[0]) {
                assert!((a - b).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn bic_and_hold_out_find_the_true_size() {
        use crate::learn::{AveragesParams, RunningAverages};
        let gram = testing::gram(2000, 20, 5);
        let path = Path::new(&gram, (0..20).collect()).unwrap();
        assert_eq!(path.best(&gram, false), 5);
        assert_eq!(path.best(&gram, true), 5);
        let mut other = RunningAverages::new(20, 0, AveragesParams::default()).unwrap();
        other.push(&testing::rows(4000, 20, 5, 77)).unwrap();
        assert_eq!(path.best_on(&gram, &other), 5);
    }
}
