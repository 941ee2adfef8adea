//! The nearest neighbour: the class of the training row at the least Euclidean distance, ties
//! to the earlier row. A prediction costs O(n d), and stops early on rows that are far away.

use super::Classifier;
use crate::matrix::Matrix;

/// The training rows and their classes.
pub struct Nearest {
    rows: Matrix,
    codes: Vec<u32>,
}

impl Nearest {
    /// Holds the rows.
    #[must_use]
    pub fn fit(rows: Matrix, codes: &[u32]) -> Self {
        Self { rows, codes: codes.to_vec() }
    }

    /// The place of the nearest training row.
    #[must_use]
    pub fn nearest(&self, row: &[f64]) -> usize {
        let (mut best, mut least) = (0, f64::INFINITY);
        for i in 0..self.rows.rows() {
            let distance = within(self.rows.row(i), row, least);
            if distance < least {
                (best, least) = (i, distance);
            }
        }
        best
    }
}

/// The squared distance, or some number not below `limit` once it has passed it.
fn within(a: &[f64], b: &[f64], limit: f64) -> f64 {
    let mut sum = 0.0;
    for (a, b) in a.chunks(32).zip(b.chunks(32)) {
        sum += a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        if sum >= limit {
            return sum;
        }
    }
    sum
}

impl Classifier for Nearest {
    fn scores(&self, row: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        out[self.codes[self.nearest(row)] as usize] = 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_row_decides_and_the_earlier_wins_a_tie() {
        let rows = Matrix::new(3, 1, vec![0.0, 2.0, 2.0]).unwrap();
        let nearest = Nearest::fit(rows, &[2, 0, 1]);
        assert_eq!(nearest.nearest(&[0.9]), 0);
        assert_eq!(nearest.nearest(&[1.0]), 0);
        assert_eq!(nearest.nearest(&[5.0]), 1);
        let mut scores = [9.0; 3];
        nearest.scores(&[5.0], &mut scores);
        assert_eq!(scores, [1.0, 0.0, 0.0]);
    }
}
