//! Least squares by an orthogonal basis of a few columns.

/// An orthonormal basis of columns and the triangle that gives them back, `Z = Q R`.
pub(super) struct Qr {
    q: Vec<Vec<f64>>,
    // R column by column: `r[j][i]` for i <= j.
    r: Vec<Vec<f64>>,
}

/// Share of a column's square that has to be its own.
const OWN: f64 = 1e-10;

/// Where a column depends on those before it.
pub(super) struct Depends(pub(super) usize);

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Qr {
    /// The basis, by Gram and Schmidt, each column twice.
    pub(super) fn new(columns: Vec<Vec<f64>>) -> Result<Self, Depends> {
        let mut out = Self { q: Vec::with_capacity(columns.len()), r: Vec::new() };
        for (j, mut z) in columns.into_iter().enumerate() {
            let whole = dot(&z, &z);
            let mut r = vec![0.0; j + 1];
            for _ in 0..2 {
                for (i, q) in out.q.iter().enumerate() {
                    let share = dot(q, &z);
                    r[i] += share;
                    z.iter_mut().zip(q).for_each(|(z, q)| *z -= share * q);
                }
            }
            let own = dot(&z, &z);
            let depends = own.is_nan() || own <= OWN * whole;
            if depends {
                return Err(Depends(j));
            }
            r[j] = own.sqrt();
            z.iter_mut().for_each(|z| *z /= r[j]);
            out.q.push(z);
            out.r.push(r);
        }
        Ok(out)
    }

    /// The coefficients of the projection of `y`.
    pub(super) fn solve(&self, y: &[f64]) -> Vec<f64> {
        let mut b: Vec<f64> = self.q.iter().map(|q| dot(q, y)).collect();
        for j in (0..b.len()).rev() {
            b[j] /= self.r[j][j];
            let own = b[j];
            (0..j).for_each(|i| b[i] -= own * self.r[j][i]);
        }
        b
    }

    /// The diagonal of `(Z'Z)^-1`: squared lengths of the rows of `R^-1`.
    pub(super) fn inverse_diagonal(&self) -> Vec<f64> {
        let d = self.r.len();
        let mut out = vec![0.0; d];
        for column in 0..d {
            // Column `column` of the inverse of R.
            let mut v = vec![0.0; column + 1];
            v[column] = 1.0;
            for j in (0..=column).rev() {
                v[j] /= self.r[j][j];
                let own = v[j];
                (0..j).for_each(|i| v[i] -= own * self.r[j][i]);
            }
            out.iter_mut().zip(&v).for_each(|(out, v)| *out += v * v);
        }
        out
    }
}
