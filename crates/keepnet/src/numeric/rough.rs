//! Products of a strip of columns with many vectors in single precision, and how far they may be
//! off.
//!
//! ```text
//! a strip    32 columns, row after row            a side    12 vectors, row after row
//! sums       f32 over 512 rows, these in f64      |error| <= ROUGH |x| |v|
//! ```
//!
//! For numbers near 1: what is put in is scaled first. Twice as fast as products in f64, for tests
//! that leave the doubtful cases to exact ones.

use pulp::{Simd, WithSimd};

use super::row_loops;
use super::tile::{SIDE, Tile};

/// Columns of a strip.
pub(crate) const WIDE: usize = 32;
/// Rows that are summed in f32.
const CHUNK: usize = 512;
/// Most that a product is off, as a share of the product of the lengths: a rounding of each term,
/// of the sum and of both factors, twice over.
pub(crate) const ROUGH: f64 = (CHUNK + 16) as f64 * f32::EPSILON as f64;

/// Vectors, twelve by twelve.
pub(crate) struct Sides {
    sides: Vec<Vec<[f32; SIDE]>>,
}

impl Sides {
    /// `count` vectors of `n` zeros.
    pub(crate) fn new(n: usize, count: usize) -> Self {
        Self { sides: vec![vec![[0.0; SIDE]; n]; count.div_ceil(SIDE)] }
    }

    /// The sides; vector `v` is in place `v % SIDE` of side `v / SIDE`.
    pub(crate) fn each(&self) -> &[Vec<[f32; SIDE]>] {
        &self.sides
    }

    /// See [`Sides::each`].
    pub(crate) fn each_mut(&mut self) -> &mut [Vec<[f32; SIDE]>] {
        &mut self.sides
    }
}

/// Products of a strip with the vectors of a side.
pub(crate) fn products(strip: &[[f32; WIDE]], side: &[[f32; SIDE]]) -> [[f64; WIDE]; SIDE] {
    row_loops::dispatch(Job { strip, side })
}

struct Job<'a> {
    strip: &'a [[f32; WIDE]],
    side: &'a [[f32; SIDE]],
}

impl WithSimd for Job<'_> {
    type Output = [[f64; WIDE]; SIDE];

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) -> Self::Output {
        let mut out = [[0.0; WIDE]; SIDE];
        for (strip, side) in self.strip.chunks(CHUNK).zip(self.side.chunks(CHUNK)) {
            let sums = f32::tile(simd, side, strip, false);
            for (out, sums) in out.iter_mut().zip(&sums) {
                for (out, sum) in out.iter_mut().zip(sums) {
                    *out += f64::from(*sum);
                }
            }
        }
        out
    }
}

/// Products of a strip with one vector, whose value `i` belongs to row `rows[i]`.
pub(crate) fn with_one(strip: &[[f32; WIDE]], rows: &[u32], v: &[f32]) -> [f64; WIDE] {
    let mut out = [0.0; WIDE];
    row_loops::run(|| {
        for (rows, v) in rows.chunks(CHUNK).zip(v.chunks(CHUNK)) {
            let mut sums = [0.0f32; WIDE];
            for (row, v) in rows.iter().zip(v) {
                let line = &strip[*row as usize];
                for c in 0..WIDE {
                    sums[c] += v * line[c];
                }
            }
            for c in 0..WIDE {
                out[c] += f64::from(sums[c]);
            }
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generator;
    use rand::RngExt;

    /// Against sums in f64, for lengths around a chunk.
    #[test]
    fn products_are_within_their_bound() {
        for n in [1, 511, 512, 513, 3000] {
            let mut random = generator(3, n as u64);
            let mut number = || random.random::<f32>() - 0.4;
            let strip: Vec<[f32; WIDE]> = (0..n).map(|_| [(); WIDE].map(|()| number())).collect();
            let mut sides = Sides::new(n, 13);
            for side in sides.each_mut() {
                side.iter_mut().for_each(|row| *row = [(); SIDE].map(|()| number()));
            }
            assert_eq!(sides.each().len(), 2);
            let side = &sides.each()[1];
            let got = products(&strip, side);
            let rows: Vec<u32> = (0..n as u32).collect();
            let first: Vec<f32> = side.iter().map(|row| row[0]).collect();
            let one = with_one(&strip, &rows, &first);
            let length = |x: &dyn Fn(usize) -> f64| (0..n).map(|i| x(i) * x(i)).sum::<f64>().sqrt();
            for v in 0..SIDE {
                for c in 0..WIDE {
                    let (x, y) =
                        (|i: usize| f64::from(strip[i][c]), |i: usize| f64::from(side[i][v]));
                    let want: f64 = (0..n).map(|i| x(i) * y(i)).sum();
                    let most = ROUGH * length(&x) * length(&y);
                    assert!((got[v][c] - want).abs() <= most, "{n} {v} {c}");
                    assert!(v > 0 || (one[c] - want).abs() <= most, "{n} {c}");
                }
            }
        }
    }
}
