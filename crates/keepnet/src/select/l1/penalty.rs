//! What a penalty is to a solver: its value, its KKT conditions, and its descent on a quadratic model.

use super::quadratic_model::QuadraticModel;
use super::{Columns, Point, norm};

/// A penalty on the coefficients of the columns that are not pinned.
pub(in crate::select) trait Penalty {
    /// Its value at a point.
    fn value(&self, columns: &Columns, point: &Point) -> f64;

    /// The largest violation of its KKT conditions over `set`, given the slopes there.
    fn violation(&self, columns: &Columns, point: &Point, set: &[usize], slopes: &[f64]) -> f64;

    /// Minimises a quadratic model over `set` from `w`, one vector per output, until no slope moves
    /// by `tolerance`. Where the intercept is a variable, it is the model's last and is free.
    fn descend(
        &self,
        columns: &Columns,
        model: &QuadraticModel,
        set: &[usize],
        w: &mut [Vec<f64>],
        tolerance: f64,
    );
}

/// `lambda sum_j |w_j|`.
#[derive(Clone, Copy, Debug)]
pub(in crate::select) struct L1(pub(in crate::select) f64);

impl Penalty for L1 {
    fn value(&self, columns: &Columns, point: &Point) -> f64 {
        let free = (0..columns.kept.len()).filter(|j| !columns.pinned(*j));
        self.0 * free.map(|j| point.size(j)).sum::<f64>()
    }

    fn violation(&self, columns: &Columns, point: &Point, set: &[usize], slopes: &[f64]) -> f64 {
        let (count, lambda) = (columns.count(), self.0);
        let mut most: f64 = 0.0;
        for (slot, slope) in set.iter().zip(slopes.chunks(count)) {
            let (w, size) = (&point.w[slot * count..(slot + 1) * count], point.size(*slot));
            let here = if columns.pinned(*slot) {
                norm(slope)
            } else if size == 0.0 {
                (norm(slope) - lambda).max(0.0)
            } else {
                let violation = |(s, w): (&f64, &f64)| (s + lambda * w / size).abs();
                slope.iter().zip(w).map(violation).fold(0.0, f64::max)
            };
            most = most.max(here);
        }
        most
    }

    fn descend(
        &self,
        columns: &Columns,
        model: &QuadraticModel,
        set: &[usize],
        w: &mut [Vec<f64>],
        tolerance: f64,
    ) {
        let each = |slot: &usize| if columns.pinned(*slot) { 0.0 } else { self.0 };
        let mut lambda: Vec<f64> = set.iter().map(each).collect();
        lambda.resize(model.size, 0.0);
        model.descend(w, &lambda, tolerance);
    }
}
