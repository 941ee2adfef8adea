//! A symmetric matrix in f32, lower half stored, for methods that multiply by it many times.
//!
//! ```text
//! y_i = sum_j s_ij x_j     row i left of the diagonal serves y_i and every y_j, j < i, at once
//! ```
//!
//! Rows are stored in bands of eight. A band has the columns left of its square on the diagonal and
//! the whole square, so a product is one loop over vectors in which `x` and `y` are read and written
//! once for eight rows (once for four where the registers hold no more). Rows are padded with zeros
//! to whole bands. A product reads `2 p^2` bytes, a quarter of a full f64 matrix, and sums in f64;
//! each sum has its own fixed order.

use faer::Mat;

use super::kernel::Element;
use super::lanczos::largest_eigenvalue;
use super::simd::{LANES, Vector, fold, on_best};

/// Rows of a band, and columns of a step.
const BAND: usize = LANES;

/// The bands, one after another; row after row within each.
pub(crate) struct Symmetric {
    p: usize,
    s: Vec<f32>,
}

/// Where band `b` starts: the bands before have `8 (8 b' + 8)` entries each.
fn start(b: usize) -> usize {
    BAND * BAND * (b * (b + 1) / 2)
}

impl Symmetric {
    /// A full symmetric matrix, rounded to f32.
    pub(crate) fn of(full: &Mat<f64>) -> Self {
        Self::from(full.nrows(), |i, out| {
            out.iter_mut().zip(full.col_as_slice(i)).for_each(|(out, s)| *out = *s as f32);
        })
    }

    /// `fill` writes the first entries of row `i`, at most as many as there is room for.
    fn from(p: usize, mut fill: impl FnMut(usize, &mut [f32])) -> Self {
        let bands = p.div_ceil(BAND);
        let mut s = vec![0.0; start(bands)];
        for i in 0..p {
            let (band, row) = (i / BAND, i % BAND);
            let length = BAND * (band + 1);
            let from = start(band) + row * length;
            fill(i, &mut s[from..from + length.min(p)]);
        }
        Self { p, s }
    }

    /// Rows and columns.
    pub(crate) fn p(&self) -> usize {
        self.p
    }

    /// Length of the vectors of a product: `p` padded to whole bands.
    pub(crate) fn width(&self) -> usize {
        self.p.next_multiple_of(BAND)
    }

    /// The rows and columns `keep`, ascending.
    pub(crate) fn keep(&mut self, keep: &[usize]) {
        let old = std::mem::take(&mut self.s);
        let row = |i: usize| {
            let length = BAND * (i / BAND + 1);
            &old[start(i / BAND) + i % BAND * length..][..length]
        };
        *self = Self::from(keep.len(), |i, out| {
            let from = row(keep[i]);
            // Entries right of the diagonal may lie in another band of the old matrix.
            let (left, right) = out.split_at_mut(i + 1);
            left.iter_mut().zip(keep).for_each(|(out, j)| *out = from[*j]);
            right.iter_mut().zip(&keep[i + 1..]).for_each(|(out, j)| *out = row(*j)[keep[i]]);
        });
    }

    /// `y = S x`; both have [`Symmetric::width`] entries, those of `x` beyond `p` zero.
    pub(crate) fn times(&self, x: &[f64], y: &mut [f64]) {
        debug_assert!(x.len() == self.width() && y.len() == self.width());
        on_best!(v => product(v, &self.s, x, y));
    }

    /// The largest eigenvalue, estimated from above; at least 1, which the unit diagonal guarantees.
    pub(crate) fn largest_eigenvalue(&self) -> f64 {
        largest_eigenvalue(self.p, self.width(), |x, y| self.times(x, y)).max(1.0)
    }
}

/// For every band: its rows times `x`, and the transpose of its part left of the diagonal times the
/// band's own `x`.
#[inline(always)]
fn product<V: Vector>(v: V, s: &[f32], x: &[f64], y: &mut [f64]) {
    let (x, y) = (x.as_chunks::<BAND>().0, y.as_chunks_mut::<BAND>().0);
    let mut rest = s.as_chunks::<BAND>().0;
    for band in 0..x.len() {
        let (rows, tail) = rest.split_at(BAND * (band + 1));
        rest = tail;
        if V::MANY {
            y[band] = part(v, rows, x[band], x, &mut y[..band]);
        } else {
            let (low, high) = rows.split_at(rows.len() / 2);
            let [a, b, c, d, e, f, g, h] = x[band];
            let [a, b, c, d] = part(v, low, [a, b, c, d], x, &mut y[..band]);
            let [e, f, g, h] = part(v, high, [e, f, g, h], x, &mut y[..band]);
            y[band] = [a, b, c, d, e, f, g, h];
        }
    }
}

/// `R` rows of a band times `x`. Their part left of the diagonal times `own`, the entries of `x` of
/// these rows, is added to `y`.
#[inline(always)]
fn part<V: Vector, const R: usize>(
    v: V,
    rows: &[[f32; BAND]],
    own: [f64; R],
    x: &[[f64; BAND]],
    y: &mut [[f64; BAND]],
) -> [f64; R] {
    let band = y.len();
    let mut lines: [&[[f32; BAND]]; R] = [&[]; R];
    let (mut factors, mut sums) = ([v.splat(0.0); R], [v.splat(0.0); R]);
    for r in 0..R {
        lines[r] = &rows[r * (band + 1)..][..band + 1];
        factors[r] = v.splat(own[r]);
    }
    for i in 0..band {
        let (xs, mut out) = (v.load64(&x[i]), v.load64(&y[i]));
        for r in 0..R {
            let a = f32::load(v, &lines[r][i]);
            sums[r] = v.fma(a, xs, sums[r]);
            out = v.fma(a, factors[r], out);
        }
        y[i] = v.store(out);
    }
    let (xs, mut out) = (v.load64(&x[band]), [0.0; R]);
    for r in 0..R {
        out[r] = fold(v.store(v.fma(f32::load(v, &lines[r][band]), xs, sums[r])));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_the_plain_one_before_and_after_rows_are_removed() {
        // The plain sum over the Gram's own entries, rounded to f32 as the matrix is.
        let gram = crate::learn::testing::gram(80, 43, 4);
        let mut matrix = Symmetric::of(&gram.s);
        let mut alive: Vec<usize> = (0..43).collect();
        for _ in 0..4 {
            let mut x: Vec<f64> = (0..alive.len()).map(|i| (i as f64).sin()).collect();
            x.resize(matrix.width(), 0.0);
            let mut y = vec![9.0; x.len()];
            matrix.times(&x, &mut y);
            for (i, y) in alive.iter().zip(&y) {
                let entry = |j: &usize| f64::from(gram.column(*i)[*j] as f32);
                let plain: f64 = alive.iter().zip(&x).map(|(j, x)| entry(j) * x).sum();
                assert!((plain - y).abs() < 1e-12, "row {i}: {y} for {plain}");
            }
            let keep: Vec<usize> = (0..alive.len()).filter(|i| i % 3 != 1).collect();
            matrix.keep(&keep);
            alive = keep.iter().map(|i| alive[*i]).collect();
        }
    }
}
