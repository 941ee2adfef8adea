//! The few loops that touch every value, compiled for the processor at hand.
//!
//! Each reduction has a fixed set of lanes and a fixed order, and multiplies with a fused
//! multiply-add, so its digits depend on neither the vector width of the processor, nor on how
//! columns are grouped into blocks or threads. `pulp` picks the instruction set at run time;
//! the loops themselves are plain arrays that the compiler turns into vectors.

use std::sync::LazyLock;

use pulp::Arch;

static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

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
    ARCH.dispatch(
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

/// `out[g] = sum x_i v[g]_i` for up to [`GROUP`] vectors of one length, one pass over `x`.
///
/// A product has the same digits whichever others share its pass.
pub fn dot_group<T: Element>(x: &[T], v: &[&[f64]], out: &mut [f64]) {
    debug_assert!(v.len() <= GROUP && v.len() == out.len());
    match v {
        [a] => out.copy_from_slice(&dot_tile(x, [a])),
        [a, b] => out.copy_from_slice(&dot_tile(x, [a, b])),
        [a, b, c] => out.copy_from_slice(&dot_tile(x, [a, b, c])),
        [a, b, c, d] => out.copy_from_slice(&dot_tile(x, [a, b, c, d])),
        _ => {}
    }
}

fn dot_tile<T: Element, const G: usize>(x: &[T], v: [&[f64]; G]) -> [f64; G] {
    ARCH.dispatch(
        #[inline(always)]
        || {
            let mut lanes = [[0.0; TILE_LANES]; G];
            let n = x.len();
            let whole = n - n % TILE_LANES;
            let v = v.map(|v| &v[..n]);
            let mut i = 0;
            while i < whole {
                let a: [f64; TILE_LANES] = std::array::from_fn(|l| x[i + l].wide());
                for g in 0..G {
                    let b = &v[g][i..i + TILE_LANES];
                    for l in 0..TILE_LANES {
                        lanes[g][l] = a[l].mul_add(b[l], lanes[g][l]);
                    }
                }
                i += TILE_LANES;
            }
            for (l, a) in x[whole..].iter().enumerate() {
                for g in 0..G {
                    lanes[g][l] = a.wide().mul_add(v[g][whole + l], lanes[g][l]);
                }
            }
            lanes.map(|lanes| fold(&lanes))
        },
    )
}

/// Row tiles in which a set of columns is worked through, so that vectors stay in cache.
pub fn tiles(rows: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..rows).step_by(TILE_ROWS).map(move |at| at..rows.min(at + TILE_ROWS))
}

/// `v_i += scale x_i`.
pub fn axpy<T: Element>(scale: f64, x: &[T], v: &mut [f64]) {
    debug_assert_eq!(x.len(), v.len());
    ARCH.dispatch(
        #[inline(always)]
        || {
            for (out, a) in v.iter_mut().zip(x) {
                *out = scale.mul_add(a.wide(), *out);
            }
        },
    );
}

/// `out_i = x_i`, widened.
pub fn widen<T: Element>(x: &[T], out: &mut [f64]) {
    ARCH.dispatch(
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
    ARCH.dispatch(
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
    ARCH.dispatch(
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
    ARCH.dispatch(
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

/// Bits set in `a`.
#[must_use]
pub fn count_ones(a: &[u64]) -> u64 {
    ARCH.dispatch(
        #[inline(always)]
        || a.iter().map(|a| u64::from(a.count_ones())).sum(),
    )
}

/// Bits set in both `a` and `b`.
#[must_use]
pub fn count_and(a: &[u64], b: &[u64]) -> u64 {
    debug_assert_eq!(a.len(), b.len());
    ARCH.dispatch(
        #[inline(always)]
        || a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum(),
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
    fn a_grouped_dot_has_the_same_digits_in_any_company() {
        let x: Vec<f32> = numbers(1027, 3).iter().map(|v| *v as f32).collect();
        let v: Vec<Vec<f64>> = (0..4).map(|s| numbers(1027, 10 + s)).collect();
        let v: Vec<&[f64]> = v.iter().map(Vec::as_slice).collect();
        let (mut alone, mut all) = ([0.0], [0.0; 4]);
        dot_group(&x, &v, &mut all);
        for g in 0..4 {
            dot_group(&x, &v[g..=g], &mut alone);
            assert_eq!(alone[0].to_bits(), all[g].to_bits());
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
