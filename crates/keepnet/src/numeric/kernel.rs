//! The few loops that touch every value, on the processor's vector unit.
//!
//! Each reduction has a fixed set of lanes, a fixed order and a fused multiply-add. So its digits
//! depend neither on the processor nor on how columns are grouped into blocks or threads.

mod many;

pub(crate) use super::exp::exp_down;
pub use super::simd::Element;
pub use many::{Lanes, add_combination, add_products};

use super::simd::{LANES, Vector, on_best};

/// Vectors of a single reduction: four hide the latency of a multiply-add.
const CHAINS: usize = 4;

/// The row tiles of a set of columns. A tile is small enough that its part of `vectors` vectors
/// stays in the second-level cache, and long enough that a column streams well from the third.
pub fn tiles(rows: usize, vectors: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let tile = (8192 / vectors.max(1)).clamp(1024, 4096) / 8 * 8;
    (0..rows).step_by(tile).map(move |at| at..rows.min(at + tile))
}

/// Sum of all lanes, pairwise.
#[inline(always)]
fn fold(lanes: [[f64; LANES]; CHAINS]) -> f64 {
    let mut sums = [0.0; LANES];
    for l in 0..LANES {
        sums[l] = (lanes[0][l] + lanes[2][l]) + (lanes[1][l] + lanes[3][l]);
    }
    super::simd::fold(sums)
}

/// Splits into parts of `length` vectors each and the rest.
///
/// A reduction reads the parts side by side. So several streams from memory run at once, and a page
/// boundary in one does not delay the others.
#[inline(always)]
fn parts<T>(x: &[T], length: usize) -> ([&[[T; LANES]]; CHAINS], &[T]) {
    let (vectors, _) = x.as_chunks::<LANES>();
    let mut parts: [&[[T; LANES]]; CHAINS] = [&[]; CHAINS];
    for c in 0..CHAINS {
        parts[c] = &vectors[c * length..][..length];
    }
    (parts, &x[LANES * CHAINS * length..])
}

/// `sum x_i v_i` in f64.
pub fn dot<T: Element>(x: &[T], v: &[f64]) -> f64 {
    debug_assert_eq!(x.len(), v.len());
    on_best!(s => {
        let length = x.len() / (LANES * CHAINS);
        let (xs, x_tail) = parts(x, length);
        let (vs, v_tail) = parts(v, length);
        let mut sums = [s.splat(0.0); CHAINS];
        for i in 0..length {
            for c in 0..CHAINS {
                sums[c] = s.fma(T::load(s, &xs[c][i]), s.load64(&vs[c][i]), sums[c]);
            }
        }
        let mut lanes = sums.map(|sum| s.store(sum));
        for (i, (x, v)) in x_tail.iter().zip(v_tail).enumerate() {
            lanes[i / LANES][i % LANES] = x.wide().mul_add(*v, lanes[i / LANES][i % LANES]);
        }
        fold(lanes)
    })
}

/// `sum x_i` in f64. A plain sum waits for each addition; here 32 run at once.
pub fn sum(x: &[f64]) -> f64 {
    on_best!(s => {
        let length = x.len() / (LANES * CHAINS);
        let (xs, tail) = parts(x, length);
        let mut sums = [s.splat(0.0); CHAINS];
        for i in 0..length {
            for c in 0..CHAINS {
                sums[c] = s.add(sums[c], s.load64(&xs[c][i]));
            }
        }
        let mut lanes = sums.map(|sum| s.store(sum));
        for (i, x) in tail.iter().enumerate() {
            lanes[i / LANES][i % LANES] += x;
        }
        fold(lanes)
    })
}

/// `v_i += scale x_i`.
pub fn axpy<T: Element>(scale: f64, x: &[T], v: &mut [f64]) {
    debug_assert_eq!(x.len(), v.len());
    on_best!(s => {
        let (xs, x_tail) = x.as_chunks::<LANES>();
        let (vs, v_tail) = v.as_chunks_mut::<LANES>();
        let w = s.splat(scale);
        for (x, v) in xs.iter().zip(vs) {
            *v = s.store(s.fma(w, T::load(s, x), s.load64(v)));
        }
        for (x, v) in x_tail.iter().zip(v_tail) {
            *v = scale.mul_add(x.wide(), *v);
        }
    });
}

/// `v_i += scale x_i` at the rows `index`.
pub fn sparse_axpy<T: Element>(scale: f64, index: &[u32], x: &[T], v: &mut [f64]) {
    // The vector unit is used only for its fused multiply-add, which is a call elsewhere.
    on_best!(_s => {
        for (i, x) in index.iter().zip(x) {
            let v = &mut v[*i as usize];
            *v = scale.mul_add(x.wide(), *v);
        }
    });
}

/// `sum x_i g_i`, `sum x_i d_i` and `sum x_i^2 d_i` in one pass: slope and curvature of a column.
pub fn slope_curve<T: Element>(x: &[T], g: &[f64], d: &[f64]) -> (f64, f64, f64) {
    on_best!(s => {
        let length = x.len() / (LANES * CHAINS);
        let (xs, x_tail) = parts(x, length);
        let (gs, g_tail) = parts(g, length);
        let (ds, d_tail) = parts(d, length);
        let mut sums = [[s.splat(0.0); CHAINS]; 3];
        for i in 0..length {
            for c in 0..CHAINS {
                let x = T::load(s, &xs[c][i]);
                let xd = s.mul(x, s.load64(&ds[c][i]));
                sums[0][c] = s.fma(x, s.load64(&gs[c][i]), sums[0][c]);
                sums[1][c] = s.add(sums[1][c], xd);
                sums[2][c] = s.fma(xd, x, sums[2][c]);
            }
        }
        let mut lanes = sums.map(|sums| sums.map(|sum| s.store(sum)));
        for (i, ((x, g), d)) in x_tail.iter().zip(g_tail).zip(d_tail).enumerate() {
            let (x, c, l) = (x.wide(), i / LANES, i % LANES);
            lanes[0][c][l] = x.mul_add(*g, lanes[0][c][l]);
            lanes[1][c][l] += x * d;
            lanes[2][c][l] = (x * d).mul_add(x, lanes[2][c][l]);
        }
        (fold(lanes[0]), fold(lanes[1]), fold(lanes[2]))
    })
}

/// `out_i = x_i - shift`, widened.
pub fn widen<T: Element>(x: &[T], shift: f64, out: &mut [f64]) {
    on_best!(s => {
        let (xs, x_tail) = x.as_chunks::<LANES>();
        let (outs, out_tail) = out.as_chunks_mut::<LANES>();
        let m = s.splat(shift);
        for (x, out) in xs.iter().zip(outs) {
            *out = s.store(s.sub(T::load(s, x), m));
        }
        for (x, out) in x_tail.iter().zip(out_tail) {
            *out = x.wide() - shift;
        }
    });
}

/// `out_i *= v_i`.
pub fn scale_by(out: &mut [f64], v: &[f64]) {
    on_best!(s => {
        let (vs, v_tail) = v.as_chunks::<LANES>();
        let (outs, out_tail) = out.as_chunks_mut::<LANES>();
        for (v, out) in vs.iter().zip(outs) {
            *out = s.store(s.mul(s.load64(out), s.load64(v)));
        }
        for (v, out) in v_tail.iter().zip(out_tail) {
            *out *= v;
        }
    });
}

/// `sum (x_i - shift)` and `sum (x_i - shift)^2`.
///
/// Either is NaN or infinite when some `x_i` is, so one pass also checks finiteness.
pub fn moments<T: Element>(x: &[T], shift: f64) -> (f64, f64) {
    on_best!(s => {
        let length = x.len() / (LANES * CHAINS);
        let (xs, x_tail) = parts(x, length);
        let m = s.splat(shift);
        let (mut sum, mut square) = ([s.splat(0.0); CHAINS], [s.splat(0.0); CHAINS]);
        for i in 0..length {
            for c in 0..CHAINS {
                let d = s.sub(T::load(s, &xs[c][i]), m);
                sum[c] = s.add(sum[c], d);
                square[c] = s.fma(d, d, square[c]);
            }
        }
        let (mut sum, mut square) = (sum.map(|v| s.store(v)), square.map(|v| s.store(v)));
        for (i, x) in x_tail.iter().enumerate() {
            let d = x.wide() - shift;
            sum[i / LANES][i % LANES] += d;
            square[i / LANES][i % LANES] = d.mul_add(d, square[i / LANES][i % LANES]);
        }
        (fold(sum), fold(square))
    })
}

/// [`moments`] and [`dot`] in one pass over `x`, digit for digit.
pub fn moments_and_dot<T: Element>(x: &[T], shift: f64, v: &[f64]) -> (f64, f64, f64) {
    debug_assert_eq!(x.len(), v.len());
    on_best!(s => {
        let length = x.len() / (LANES * CHAINS);
        let (xs, x_tail) = parts(x, length);
        let (vs, v_tail) = parts(v, length);
        let m = s.splat(shift);
        let mut sums = [[s.splat(0.0); CHAINS]; 3];
        for i in 0..length {
            for c in 0..CHAINS {
                let x = T::load(s, &xs[c][i]);
                let d = s.sub(x, m);
                sums[0][c] = s.add(sums[0][c], d);
                sums[1][c] = s.fma(d, d, sums[1][c]);
                sums[2][c] = s.fma(x, s.load64(&vs[c][i]), sums[2][c]);
            }
        }
        let mut lanes = sums.map(|sums| sums.map(|sum| s.store(sum)));
        for (i, (x, v)) in x_tail.iter().zip(v_tail).enumerate() {
            let (d, at) = (x.wide() - shift, (i / LANES, i % LANES));
            lanes[0][at.0][at.1] += d;
            lanes[1][at.0][at.1] = d.mul_add(d, lanes[1][at.0][at.1]);
            lanes[2][at.0][at.1] = x.wide().mul_add(*v, lanes[2][at.0][at.1]);
        }
        let [sum, square, dot] = lanes.map(fold);
        (sum, square, dot)
    })
}

/// `sum v_i (x_i - shift)` and `sum v_i (x_i - shift)^2`.
pub fn weighted_moments<T: Element>(x: &[T], v: &[f64], shift: f64) -> (f64, f64) {
    on_best!(s => {
        let length = x.len() / (LANES * CHAINS);
        let (xs, x_tail) = parts(x, length);
        let (vs, v_tail) = parts(v, length);
        let m = s.splat(shift);
        let (mut sum, mut square) = ([s.splat(0.0); CHAINS], [s.splat(0.0); CHAINS]);
        for i in 0..length {
            for c in 0..CHAINS {
                let d = s.sub(T::load(s, &xs[c][i]), m);
                let weighted = s.mul(s.load64(&vs[c][i]), d);
                sum[c] = s.add(sum[c], weighted);
                square[c] = s.fma(weighted, d, square[c]);
            }
        }
        let (mut sum, mut square) = (sum.map(|v| s.store(v)), square.map(|v| s.store(v)));
        for (i, (x, v)) in x_tail.iter().zip(v_tail).enumerate() {
            let d = x.wide() - shift;
            sum[i / LANES][i % LANES] += v * d;
            square[i / LANES][i % LANES] = (v * d).mul_add(d, square[i / LANES][i % LANES]);
        }
        (fold(sum), fold(square))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::simd::Portable;

    fn numbers(n: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 40) as f64 / 1e6 - 8.0
            })
            .collect()
    }

    #[test]
    fn a_dot_equals_the_plain_sum_to_rounding() {
        for n in [0, 1, 7, 8, 15, 16, 17, 1000, 1027] {
            let (x, v) = (numbers(n, 1), numbers(n, 2));
            let plain: f64 = x.iter().zip(&v).map(|(a, b)| a * b).sum();
            let scale: f64 = x.iter().zip(&v).map(|(a, b)| (a * b).abs()).sum();
            assert!((dot(&x, &v) - plain).abs() <= 1e-14 * scale, "n = {n}");
        }
    }

    #[test]
    fn a_sum_equals_the_plain_sum_to_rounding() {
        for n in [0, 1, 15, 16, 1027] {
            let x = numbers(n, 6);
            let size: f64 = x.iter().map(|x| x.abs()).sum();
            assert!((sum(&x) - x.iter().sum::<f64>()).abs() <= 1e-14 * size, "n = {n}");
        }
    }

    #[test]
    fn the_vector_unit_gives_the_digits_of_plain_arrays() {
        let (x, v) = (numbers(64, 1), numbers(64, 2));
        let mut lanes = [[0.0; LANES]; CHAINS];
        for i in 0..64 {
            let lane = &mut lanes[i / 16][i % LANES];
            *lane = x[i].mul_add(v[i], *lane);
        }
        assert_eq!(dot(&x, &v).to_bits(), fold(lanes).to_bits());
        let eight = Portable.fma([1.5; 8], [2.0; 8], Portable.load32(&[0.25; 8]));
        assert_eq!(eight, [3.25; 8]);
    }

    #[test]
    fn slope_and_curvature_equal_the_plain_sums() {
        for n in [1, 8, 1027] {
            let (x, g, d) = (numbers(n, 3), numbers(n, 4), numbers(n, 5));
            let (a, b, c) = slope_curve(&x, &g, &d);
            let sum = |f: &dyn Fn(usize) -> f64| (0..n).map(f).sum::<f64>();
            assert!((a - sum(&|i| x[i] * g[i])).abs() < 1e-9);
            assert!((b - sum(&|i| x[i] * d[i])).abs() < 1e-9);
            assert!((c - sum(&|i| x[i] * x[i] * d[i])).abs() < 1e-8);
        }
    }

    #[test]
    fn moments_and_dot_have_the_digits_of_each_alone() {
        for n in [3, 16, 1027] {
            let (x, v) = (numbers(n, 7), numbers(n, 8));
            let (sum, square, product) = moments_and_dot(&x, x[0], &v);
            assert_eq!(moments(&x, x[0]), (sum, square));
            assert_eq!(dot(&x, &v), product);
        }
    }

    #[test]
    fn moments_show_a_value_that_is_not_finite() {
        let mut x = vec![1.0f32; 40];
        assert_eq!(moments(&x, 1.0), (0.0, 0.0));
        x[33] = f32::NAN;
        assert!(moments(&x, 1.0).1.is_nan());
        x[33] = f32::INFINITY;
        assert!(!moments(&x, 1.0).1.is_finite());
    }
}
