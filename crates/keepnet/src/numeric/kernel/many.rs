//! Several columns at once: their products with several vectors, and their sum.
//!
//! Twelve products are summed in registers at a time: `12 / G` columns by `G` vectors, each in one
//! vector of four lanes. A unit with sixteen registers then has four left for the values, and
//! twelve sums at once hide the latency of a multiply-add. (With three vectors it is nine products,
//! as four columns by three vectors would need one register too many.) A product has the same
//! digits whatever other products share its pass. It may be split over several calls if each call
//! but the last has a multiple of four rows.

use crate::numeric::simd::{Element, Vector, on_best};

/// Vectors taken together at most.
const VECTORS: usize = 4;

/// The running sum of one product among several.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lanes([f64; 4]);

impl Lanes {
    /// The product.
    #[must_use]
    pub fn sum(&self) -> f64 {
        let [a, b, c, d] = self.0;
        (a + c) + (b + d)
    }
}

/// Adds `sum_i x[j]_i v[g]_i` to `lanes[j * v.len() + g]`.
pub fn add_products<T: Element>(x: &[&[T]], v: &[&[f64]], lanes: &mut [Lanes]) {
    for (at, part) in v.chunks(VECTORS).enumerate() {
        let lanes = &mut lanes[at * VECTORS..];
        match *part {
            [a] => strips::<T, 12, 1>(x, [a], lanes, v.len()),
            [a, b] => strips::<T, 6, 2>(x, [a, b], lanes, v.len()),
            [a, b, c] => strips::<T, 3, 3>(x, [a, b, c], lanes, v.len()),
            [a, b, c, d] => strips::<T, 3, 4>(x, [a, b, c, d], lanes, v.len()),
            _ => {}
        }
    }
}

fn strips<T: Element, const J: usize, const G: usize>(
    x: &[&[T]],
    v: [&[f64]; G],
    lanes: &mut [Lanes],
    stride: usize,
) {
    let (whole, rest) = x.as_chunks::<J>();
    let (threes, ones) = rest.as_chunks::<3>();
    let mut at = 0;
    for x in whole {
        strip(*x, v, &mut lanes[at * stride..], stride);
        at += J;
    }
    for x in threes {
        strip(*x, v, &mut lanes[at * stride..], stride);
        at += 3;
    }
    for x in ones {
        strip([*x], v, &mut lanes[at * stride..], stride);
        at += 1;
    }
}

/// `J` columns by `G` vectors.
fn strip<T: Element, const J: usize, const G: usize>(
    x: [&[T]; J],
    v: [&[f64]; G],
    lanes: &mut [Lanes],
    stride: usize,
) {
    on_best!(s => {
        let rows = x[0].len();
        let count = rows / 4;
        // Loops instead of closures: a closure that is not inlined would lose the vector unit.
        let mut xs: [&[[T; 4]]; J] = [&[]; J];
        for j in 0..J {
            xs[j] = &x[j].as_chunks::<4>().0[..count];
        }
        let mut vs: [&[[f64; 4]]; G] = [&[]; G];
        for g in 0..G {
            vs[g] = &v[g].as_chunks::<4>().0[..count];
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
                for (at, i) in (4 * count..rows).enumerate() {
                    lane[at] = x[j][i].wide().mul_add(v[g][i], lane[at]);
                }
            }
        }
    });
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
        let (rows, count) = (v.len(), v.len() / 8);
        let mut xs: [&[[[T; 4]; 2]]; J] = [&[]; J];
        for j in 0..J {
            xs[j] = &x[j].as_chunks::<4>().0.as_chunks::<2>().0[..count];
        }
        let mut ws = [s.splat(0.0); J];
        for j in 0..J {
            ws[j] = s.splat(w[j]);
        }
        let vs = &mut v.as_chunks_mut::<4>().0.as_chunks_mut::<2>().0[..count];
        for i in 0..count {
            let mut sums = [s.load64(&vs[i][0]), s.load64(&vs[i][1])];
            for j in 0..J {
                for c in 0..2 {
                    sums[c] = s.fma(ws[j], T::load(s, &xs[j][i][c]), sums[c]);
                }
            }
            vs[i] = [s.store(sums[0]), s.store(sums[1])];
        }
        for i in 8 * count..rows {
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
        for n in [1, 3, 4, 43, 1000] {
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
