//! A small dense table of numbers, row after row: the selected columns of some rows.

use keepnet::{Error, Result};

/// A value a row and column, row after row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// A table from its values, row after row.
    pub fn new(rows: usize, columns: usize, values: Vec<f64>) -> Result<Self> {
        if rows.checked_mul(columns) != Some(values.len()) {
            let (what, got, want) = ("a table".to_string(), values.len(), rows * columns);
            return Err(Error::Rows { what, got, want });
        }
        Ok(Self { rows, columns, values })
    }

    /// A table of these columns, restricted to `take`, in that order.
    ///
    /// # Panics
    ///
    /// Where a column has no such row.
    #[must_use]
    pub fn gather(columns: &[&[f64]], take: &[u32]) -> Self {
        let mut values = Vec::with_capacity(columns.len() * take.len());
        for row in take {
            values.extend(columns.iter().map(|column| column[*row as usize]));
        }
        Self { rows: take.len(), columns: columns.len(), values }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One row.
    #[must_use]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// One value.
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.columns + j]
    }
}

/// Mean and standard deviation of every column of a training part, applied to any part.
///
/// A column without spread in the training part becomes zero there, and is not scaled.
#[derive(Clone, Debug)]
pub struct Scale {
    mean: Vec<f64>,
    inverse: Vec<f64>,
}

impl Scale {
    /// Measures the columns; the variance is divided by the number of rows.
    #[must_use]
    pub fn fit(x: &Matrix) -> Self {
        let n = (x.rows().max(1)) as f64;
        let mut mean = vec![0.0; x.columns()];
        for i in 0..x.rows() {
            mean.iter_mut().zip(x.row(i)).for_each(|(m, v)| *m += v);
        }
        mean.iter_mut().for_each(|m| *m /= n);
        let mut square = vec![0.0; x.columns()];
        for i in 0..x.rows() {
            for ((s, v), m) in square.iter_mut().zip(x.row(i)).zip(&mean) {
                *s += (v - m) * (v - m);
            }
        }
        let inverse = |s: &f64| {
            let deviation = (s / n).sqrt();
            if deviation > 0.0 && deviation.is_finite() { 1.0 / deviation } else { 1.0 }
        };
        Self { inverse: square.iter().map(inverse).collect(), mean }
    }

    /// The table with every column shifted and scaled.
    #[must_use]
    pub fn apply(&self, x: &Matrix) -> Matrix {
        let mut out = x.clone();
        for i in 0..x.rows() {
            let row = &mut out.values[i * x.columns..(i + 1) * x.columns];
            for ((v, m), s) in row.iter_mut().zip(&self.mean).zip(&self.inverse) {
                *v = (*v - m) * s;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_centred_and_scaled_by_the_training_rows() {
        let train = Matrix::new(2, 2, vec![1.0, 5.0, 3.0, 5.0]).unwrap();
        let scale = Scale::fit(&train);
        // Mean 2, deviation 1; the second column is constant.
        assert_eq!(scale.apply(&train).row(0), [-1.0, 0.0]);
        let test = Matrix::new(1, 2, vec![4.0, 7.0]).unwrap();
        assert_eq!(scale.apply(&test).row(0), [2.0, 2.0]);
        assert!(Matrix::new(2, 2, vec![0.0; 3]).is_err());
    }
}
