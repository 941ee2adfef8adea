//! The few loops that touch every value, compiled for the processor at hand.
//!
//! Each reduction has a fixed set of lanes and a fixed order, and multiplies with a fused
//! multiply-add, so its digits depend on neither the vector width of the processor, nor on how
//! columns are grouped into blocks or threads. `pulp` picks the instruction set at run time;
//! the loops themselves are plain arrays that the compiler turns into vectors.

use std::sync::LazyLock;

use pulp::{Arch, Simd, WithSimd};

static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// A loop to be compiled for each instruction set. Called through `FnMut`, so that its body is
/// inlined where the instruction set is known: a call through `FnOnce` would leave it outside,
/// with a function call for every multiply-add.
struct Body<F>(F);

impl<R, F: FnMut() -> R> WithSimd for Body<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> R {
        let mut body = self.0;
        body()
    }
}

/// Runs a loop compiled for the processor at hand.
#[inline(always)]
pub(crate) fn run<R>(body: impl FnMut() -> R) -> R {
    ARCH.dispatch(Body(body))
}

/// Lanes of a single reduction: four 256-bit accumulators, enough to hide the latency of an FMA.
const LANES: usize = 16;
/// Lanes of one product of a tile of products, where the tile itself hides the latency.
const TILE_LANES: usize = 8;
/// Rows of a tile: four f64 vectors of this length fit the first-level cache.
const TILE_ROWS: usize = 1024;
/// Vectors that share one pass over a column.
pub const GROUP: usize = 4;

/// A stored number that widens to f64 without loss.
pub trait Element: Copy + Send + Sync + bytemuck::Pod {
    /// The value as f64.
    fn wide(self) -> f64;
}

impl Element for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Element for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }
}

#[inline(always)]
fn fold<const N: usize>(lanes: &[f64; N]) -> f64 {
    let mut half = N / 2;
    let mut sums = *lanes;
    while half > 0 {
        for i in 0..half {
            sums[i] += sums[i + half];
        }
        half /= 2;
    }
    sums[0]
}

/// `sum x_i v_i` in f64.
pub fn dot<T: Element>(x: &[T], v: &[f64]) -> f64 {
    debug_assert_eq!(x.len(), v.len());
    run(
        #[inline(always)]
        || {
            let mut lanes = [0.0; LANES];
            let (xs, x_tail) = x.as_chunks::<LANES>();
            let (vs, v_tail) = v.as_chunks::<LANES>();
            for (a, b) in xs.iter().zip(vs) {
                for l in 0..LANES {
                    lanes[l] = a[l].wide().mul_add(b[l], lanes[l]);
                }
            }
            for (l, (a, b)) in x_tail.iter().zip(v_tail).enumerate() {
                lanes[l] = a.wide().mul_add(*b, lanes[l]);
            }
            fold(&lanes)
        },
    )
}

/// The running sums of one product among several.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lanes([f64; TILE_LANES]);

impl Lanes {
    /// The product.
    #[must_use]
    pub fn sum(&self) -> f64 {
        fold(&self.0)
    }
}

/// Adds `x_i v[g]_i` to the sums of `G` products, one pass over `x`.
///
/// Called tile after tile with a multiple of eight rows each but the last; a product has the
/// same digits whichever others share its pass and wherever the tiles end.
pub fn add_products<T: Element, const G: usize>(x: &[T], v: [&[f64]; G], lanes: &mut [Lanes]) {
    run(
        #[inline(always)]
        || {
            let mut sums: [[f64; TILE_LANES]; G] = std::array::from_fn(|g| lanes[g].0);
            let (xs, x_tail) = x.as_chunks::<TILE_LANES>();
            let parts = v.map(|v| v[..x.len()].as_chunks::<TILE_LANES>());
            for (i, x) in xs.iter().enumerate() {
                let a: [f64; TILE_LANES] = std::array::from_fn(|l| x[l].wide());
                for g in 0..G {
                    let b = &parts[g].0[i];
                    for l in 0..TILE_LANES {
                        sums[g][l] = a[l].mul_add(b[l], sums[g][l]);
                    }
                }
            }
            for (l, a) in x_tail.iter().enumerate() {
                for g in 0..G {
                    sums[g][l] = a.wide().mul_add(parts[g].1[l], sums[g][l]);
                }
            }
            for g in 0..G {
                lanes[g].0 = sums[g];
            }
        },
    );
}

/// Adds `x[j]_i v_i` to the sums of four columns' products, one pass over `v`.
pub fn add_columns<T: Element>(x: [&[T]; 4], v: &[f64], lanes: &mut [Lanes; 4]) {
    run(
        #[inline(always)]
        || {
            let mut sums: [[f64; TILE_LANES]; 4] = lanes.map(|lanes| lanes.0);
            let (vs, v_tail) = v.as_chunks::<TILE_LANES>();
            let parts = x.map(|x| x[..v.len()].as_chunks::<TILE_LANES>());
            for (i, v) in vs.iter().enumerate() {
                for j in 0..4 {
                    let a = &parts[j].0[i];
                    for l in 0..TILE_LANES {
                        sums[j][l] = a[l].wide().mul_add(v[l], sums[j][l]);
                    }
                }
            }
            for (l, v) in v_tail.iter().enumerate() {
                for j in 0..4 {
                    sums[j][l] = parts[j].1[l].wide().mul_add(*v, sums[j][l]);
                }
            }
            for j in 0..4 {
                lanes[j].0 = sums[j];
            }
        },
    );
}

/// Row tiles in which a set of columns is worked through, so that vectors stay in cache.
pub fn tiles(rows: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..rows).step_by(TILE_ROWS).map(move |at| at..rows.min(at + TILE_ROWS))
}

/// `v_i += scale x_i`.
pub fn axpy<T: Element>(scale: f64, x: &[T], v: &mut [f64]) {
    debug_assert_eq!(x.len(), v.len());
    run(
        #[inline(always)]
        || {
            for (out, a) in v.iter_mut().zip(x) {
                *out = scale.mul_add(a.wide(), *out);
            }
        },
    );
}

/// `v_i += sum of scale[j] x[j]_i`, four columns a pass over `v`.
pub fn axpy4<T: Element>(scale: [f64; 4], x: [&[T]; 4], v: &mut [f64]) {
    run(
        #[inline(always)]
        || {
            let [a, b, c, d] = x.map(|x| &x[..v.len()]);
            for (i, out) in v.iter_mut().enumerate() {
                let sum = scale[0].mul_add(a[i].wide(), *out);
                let sum = scale[1].mul_add(b[i].wide(), sum);
                let sum = scale[2].mul_add(c[i].wide(), sum);
                *out = scale[3].mul_add(d[i].wide(), sum);
            }
        },
    );
}

/// `sum x_i g_i`, `sum x_i d_i` and `sum x_i^2 d_i` in one pass: slope and curvature of a column.
pub fn slope_curve<T: Element>(x: &[T], g: &[f64], d: &[f64]) -> (f64, f64, f64) {
    run(
        #[inline(always)]
        || {
            let (mut a, mut b, mut c) = ([0.0; LANES / 2], [0.0; LANES / 2], [0.0; LANES / 2]);
            let (xs, x_tail) = x.as_chunks::<{ LANES / 2 }>();
            let (gs, g_tail) = g.as_chunks::<{ LANES / 2 }>();
            let (ds, d_tail) = d.as_chunks::<{ LANES / 2 }>();
            for ((x, g), d) in xs.iter().zip(gs).zip(ds) {
                for l in 0..LANES / 2 {
                    let x = x[l].wide();
                    let xd = x * d[l];
                    a[l] = x.mul_add(g[l], a[l]);
                    b[l] += xd;
                    c[l] = xd.mul_add(x, c[l]);
                }
            }
            for (l, ((x, g), d)) in x_tail.iter().zip(g_tail).zip(d_tail).enumerate() {
                let x = x.wide();
                a[l] = x.mul_add(*g, a[l]);
                b[l] += x * d;
                c[l] = (x * d).mul_add(x, c[l]);
            }
            (fold(&a), fold(&b), fold(&c))
        },
    )
}

/// `out_i = x_i`, widened.
pub fn widen<T: Element>(x: &[T], out: &mut [f64]) {
    run(
        #[inline(always)]
        || {
            for (out, a) in out.iter_mut().zip(x) {
                *out = a.wide();
            }
        },
    );
}

/// `out_i *= v_i`.
pub fn scale_by(out: &mut [f64], v: &[f64]) {
    run(
        #[inline(always)]
        || {
            for (out, v) in out.iter_mut().zip(v) {
                *out *= v;
            }
        },
    );
}

/// `sum (x_i - shift)` and `sum (x_i - shift)^2`.
///
/// Either is NaN or infinite when some `x_i` is, so one pass also checks finiteness.
pub fn moments<T: Element>(x: &[T], shift: f64) -> (f64, f64) {
    run(
        #[inline(always)]
        || {
            let (mut sum, mut square) = ([0.0; LANES], [0.0; LANES]);
            let (xs, tail) = x.as_chunks::<LANES>();
            for a in xs {
                for l in 0..LANES {
                    let d = a[l].wide() - shift;
                    sum[l] += d;
                    square[l] = d.mul_add(d, square[l]);
                }
            }
            for (l, a) in tail.iter().enumerate() {
                let d = a.wide() - shift;
                sum[l] += d;
                square[l] = d.mul_add(d, square[l]);
            }
            (fold(&sum), fold(&square))
        },
    )
}

/// `sum v_i (x_i - shift)` and `sum v_i (x_i - shift)^2`.
pub fn weighted_moments<T: Element>(x: &[T], v: &[f64], shift: f64) -> (f64, f64) {
    run(
        #[inline(always)]
        || {
            let (mut sum, mut square) = ([0.0; LANES], [0.0; LANES]);
            let (xs, x_tail) = x.as_chunks::<LANES>();
            let (vs, v_tail) = v.as_chunks::<LANES>();
            for (a, b) in xs.iter().zip(vs) {
                for l in 0..LANES {
                    let d = a[l].wide() - shift;
                    let weighted = b[l] * d;
                    sum[l] += weighted;
                    square[l] = weighted.mul_add(d, square[l]);
                }
            }
            for (l, (a, b)) in x_tail.iter().zip(v_tail).enumerate() {
                let d = a.wide() - shift;
                sum[l] += b * d;
                square[l] = (b * d).mul_add(d, square[l]);
            }
            (fold(&sum), fold(&square))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn moments_show_a_value_that_is_not_finite() {
        let mut x = vec![1.0f32; 40];
        assert_eq!(moments(&x, 1.0), (0.0, 0.0));
        x[33] = f32::NAN;
        assert!(moments(&x, 1.0).1.is_nan());
        x[33] = f32::INFINITY;
        assert!(!moments(&x, 1.0).1.is_finite());
    }
}
