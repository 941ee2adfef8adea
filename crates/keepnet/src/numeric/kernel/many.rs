//! Several columns at once: their products with several vectors, and their sum.
//!
//! A tile of `J` columns by `G` vectors is summed in registers, one vector of eight lanes a product.
//! With AVX-512 up to 24 sums fit beside the values, with AVX2 six, and either hides the latency of
//! a multiply-add. A product has the same digits whatever other products share its pass, so the
//! shape of a tile does not show. A product may be split over several calls if each call but the
//! last has a multiple of eight rows.

use crate::numeric::simd::{self, Element, LANES, Vector, on_best};

/// The running sum of one product among several.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lanes([f64; LANES]);

impl Lanes {
    /// The product.
    #[must_use]
    pub fn sum(&self) -> f64 {
        simd::fold(self.0)
    }
}

/// Adds `sum_i x[j]_i v[g]_i` to `lanes[j * v.len() + g]`.
pub fn add_products<T: Element>(x: &[&[T]], v: &[&[f64]], lanes: &mut [Lanes]) {
    on_best!(s => products(s, x, v, lanes));
}

#[inline(always)]
fn products<V: Vector, T: Element>(s: V, x: &[&[T]], v: &[&[f64]], lanes: &mut [Lanes]) {
    let stride = v.len();
    let (mut rest, mut at) = (v, 0);
    while !rest.is_empty() {
        let lanes = &mut lanes[at..];
        let taken = if V::MANY {
            match *rest {
                [a] => strips::<V, T, 12, 1>(s, x, [a], lanes, stride),
                [a, b] => strips::<V, T, 12, 2>(s, x, [a, b], lanes, stride),
                [a, b, c] => strips::<V, T, 8, 3>(s, x, [a, b, c], lanes, stride),
                [a, b, c, d, ..] => strips::<V, T, 6, 4>(s, x, [a, b, c, d], lanes, stride),
                [] => break,
            }
        } else {
            match *rest {
                [a] => strips::<V, T, 6, 1>(s, x, [a], lanes, stride),
                [a, b, ..] => strips::<V, T, 3, 2>(s, x, [a, b], lanes, stride),
                [] => break,
            }
        };
        (rest, at) = (&rest[taken..], at + taken);
    }
}

/// All columns by `G` vectors; `G`.
#[inline(always)]
fn strips<V: Vector, T: Element, const J: usize, const G: usize>(
    s: V,
    x: &[&[T]],
    v: [&[f64]; G],
    lanes: &mut [Lanes],
    stride: usize,
) -> usize {
    let (whole, rest) = x.as_chunks::<J>();
    let (threes, ones) = rest.as_chunks::<3>();
    let mut at = 0;
    for x in whole {
        strip(s, *x, v, &mut lanes[at * stride..], stride);
        at += J;
    }
    for x in threes {
        strip(s, *x, v, &mut lanes[at * stride..], stride);
        at += 3;
    }
    for x in ones {
        strip(s, [*x], v, &mut lanes[at * stride..], stride);
        at += 1;
    }
    G
}

/// `J` columns by `G` vectors.
#[inline(always)]
fn strip<V: Vector, T: Element, const J: usize, const G: usize>(
    s: V,
    x: [&[T]; J],
    v: [&[f64]; G],
    lanes: &mut [Lanes],
    stride: usize,
) {
    let rows = x[0].len();
    let count = rows / LANES;
    // Loops instead of closures: a closure that is not inlined would lose the vector unit.
    let mut xs: [&[[T; LANES]]; J] = [&[]; J];
    for j in 0..J {
        xs[j] = &x[j].as_chunks::<LANES>().0[..count];
    }
    let mut vs: [&[[f64; LANES]]; G] = [&[]; G];
    for g in 0..G {
        vs[g] = &v[g].as_chunks::<LANES>().0[..count];
    }
    let mut sums = [[s.splat(0.0); G]; J];
    for j in 0..J {
        for g in 0..G {
            sums[j][g] = s.load64(&lanes[j * stride + g].0);
        }
    }
    for i in 0..count {
        // The shorter side stays in registers while the longer one streams.
        if J < G {
            let mut a = [s.splat(0.0); J];
            for j in 0..J {
                a[j] = T::load(s, &xs[j][i]);
            }
            for g in 0..G {
                let b = s.load64(&vs[g][i]);
                for j in 0..J {
                    sums[j][g] = s.fma(a[j], b, sums[j][g]);
                }
            }
        } else {
            let mut b = [s.splat(0.0); G];
            for g in 0..G {
                b[g] = s.load64(&vs[g][i]);
            }
            for j in 0..J {
                let a = T::load(s, &xs[j][i]);
                for g in 0..G {
                    sums[j][g] = s.fma(a, b[g], sums[j][g]);
                }
            }
        }
    }
    for j in 0..J {
        for g in 0..G {
            let lane = &mut lanes[j * stride + g].0;
            *lane = s.store(sums[j][g]);
            for (at, i) in (LANES * count..rows).enumerate() {
                lane[at] = x[j][i].wide().mul_add(v[g][i], lane[at]);
            }
        }
    }
}

/// `v_i += sum of w[j] x[j]_i`, added in their order.
pub fn add_combination<T: Element>(w: &[f64], x: &[&[T]], v: &mut [f64]) {
    let ((eights, x), (by_eight, w)) = (x.as_chunks::<8>(), w.as_chunks::<8>());
    for (x, w) in eights.iter().zip(by_eight) {
        add_scaled(*w, *x, v);
    }
    let ((fours, x), (by_four, w)) = (x.as_chunks::<4>(), w.as_chunks::<4>());
    for (x, w) in fours.iter().zip(by_four) {
        add_scaled(*w, *x, v);
    }
    for (x, w) in x.iter().zip(w) {
        super::axpy(*w, x, v);
    }
}

/// `v_i += sum of w[j] x[j]_i`, `J` columns a pass over `v`.
fn add_scaled<T: Element, const J: usize>(w: [f64; J], x: [&[T]; J], v: &mut [f64]) {
    on_best!(s => {
        let (rows, count) = (v.len(), v.len() / LANES);
        let mut xs: [&[[T; LANES]]; J] = [&[]; J];
        for j in 0..J {
            xs[j] = &x[j].as_chunks::<LANES>().0[..count];
        }
        let mut ws = [s.splat(0.0); J];
        for j in 0..J {
            ws[j] = s.splat(w[j]);
        }
        let vs = &mut v.as_chunks_mut::<LANES>().0[..count];
        for i in 0..count {
            let mut sum = s.load64(&vs[i]);
            for j in 0..J {
                sum = s.fma(ws[j], T::load(s, &xs[j][i]), sum);
            }
            vs[i] = s.store(sum);
        }
        for i in LANES * count..rows {
            for j in 0..J {
                v[i] = w[j].mul_add(x[j][i].wide(), v[i]);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_columns_have_the_digits_of_one_after_the_other() {
        let columns: Vec<Vec<f32>> =
            (0..15).map(|j| (0..43).map(|i| ((i * (j + 3)) % 7) as f32 - 2.5).collect()).collect();
        let x: Vec<&[f32]> = columns.iter().map(Vec::as_slice).collect();
        let w: Vec<f64> = (0..15).map(|j| 0.1 * f64::from(j) - 0.7).collect();
        let (mut all, mut each) = (vec![0.3; 43], vec![0.3; 43]);
        add_combination(&w, &x, &mut all);
        w.iter().zip(&x).for_each(|(w, x)| crate::numeric::kernel::axpy(*w, x, &mut each));
        assert_eq!(all, each);
    }

    #[test]
    fn products_have_their_digits_whatever_shares_the_pass() {
        for n in [1, 3, 8, 43, 1000] {
            let value = |j: usize, i: usize| ((i * (j + 3)) % 17) as f64 / 7.0 - 1.1;
            let columns: Vec<Vec<f64>> =
                (0..29).map(|j| (0..n).map(|i| value(j, i)).collect()).collect();
            let x: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            for count in 1..10 {
                let mut all = vec![Lanes::default(); x.len() * count];
                add_products(&x, &x[..count], &mut all);
                for j in 0..x.len() {
                    for g in 0..count {
                        let mut one = [Lanes::default()];
                        add_products(&x[j..=j], &x[g..=g], &mut one);
                        assert_eq!(one[0].sum(), all[j * count + g].sum(), "{n} {j} {g}");
                        let plain: f64 = (0..n).map(|i| x[j][i] * x[g][i]).sum();
                        assert!((one[0].sum() - plain).abs() < 1e-10, "{n} {j} {g}");
                    }
                }
            }
        }
    }
}
