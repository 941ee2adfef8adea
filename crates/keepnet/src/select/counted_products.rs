//! Products of a newcomer of genotypes with kept columns: integers, counted by planes of bits.
//!
//! ```text
//! sum_i (x_i - mean_x) z_i = x'z - mean_x sum(z)
//! ```
//!
//! Where both are genotypes `x'z` is exact (`numeric/genotypes.rs`), so it does not matter when and
//! beside what it is computed. Other columns, such as covariates, are multiplied with the packed
//! newcomer. Only without row weights: weighted products go through decoding.

use rayon::prelude::*;

use super::kept_products::Against;
use crate::data::check::Feature;
use crate::data::column::{Column, Genotypes};
use crate::numeric::genotypes::Planes;
use crate::numeric::inner_product::HasColumn;
use crate::numeric::kernel;

/// Kept columns of a job for one thread.
const SHARE: usize = 32;

/// A newcomer whose products are counted.
pub(super) struct Counted<'a> {
    x: Genotypes<'a>,
    planes: Planes,
    mean: f64,
    n: f64,
}

impl<'a> Counted<'a> {
    /// `None` for other storage, and under row weights.
    pub(super) fn new(against: Against<'_>, feature: &'a Feature<'_>) -> Option<Self> {
        let Column::Genotypes(x) = feature.column() else { return None };
        suits(against, feature).then(|| {
            let mut planes = Planes::default();
            planes.set(x);
            let mean = against.frame.mean(&feature.stats);
            Self { x, planes, mean, n: against.frame.weight_sum() }
        })
    }

    /// The products with some kept columns, one after the other.
    pub(super) fn with<T: HasColumn + Sync>(&self, columns: &[&T]) -> Vec<f64> {
        columns.par_iter().with_min_len(SHARE).map(|z| self.product(*z)).collect()
    }

    /// The product with a vector such as the target.
    pub(super) fn with_vector(&self, y: &[f64]) -> f64 {
        Column::Genotypes(self.x).dot(y) - self.mean * kernel::sum(y)
    }

    fn product(&self, z: &impl HasColumn) -> f64 {
        let stats = z.stats();
        let raw = match z.values() {
            Column::Genotypes(z) => self.planes.product(z, stats.missing == 0),
            Column::F64(z) => Column::Genotypes(self.x).dot(z),
            other => {
                let mut wide = vec![0.0; other.rows()];
                other.fill(&mut wide);
                Column::Genotypes(self.x).dot(&wide)
            }
        };
        raw - self.mean * (self.n * stats.mean)
    }
}

/// Whether the products of a feature are counted.
pub(super) fn suits(against: Against<'_>, feature: &Feature<'_>) -> bool {
    let plain = against.frame.weight().is_none() && against.scales.iter().all(Option::is_none);
    plain && matches!(feature.column(), Column::Genotypes(_))
}
