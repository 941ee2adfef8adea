//! Logistic loss of a label -1 or 1: `log(1 + exp(-u y))`.

use super::{Loss, LossInfo};
use crate::data::target::Task;
use crate::numeric::kernel::{exp_down, scale_by};
use crate::numeric::simd::on_best;

/// Products that are built side by side.
const LANES: usize = 16;
/// Factors, each from 1 to 2, in a product before its logarithm is taken: it cannot overflow.
const FACTORS: usize = 512;

/// `log(1 + exp(-u y))`.
pub struct Logistic;

pub(super) const INFO: LossInfo = LossInfo {
    name: "logistic",
    task: Some(Task::Classification),
    of_difference: false,
    make: |_, _| Ok(Box::new(Logistic)),
};

/// The probability of the less likely class. It needs only `exp(-|m|)`, which cannot overflow.
#[inline(always)]
fn small(m: f64) -> f64 {
    let e = exp_down(-m.abs());
    e / (1.0 + e)
}

#[inline(always)]
fn slope(y: f64, m: f64, small: f64) -> f64 {
    -y * if m > 0.0 { small } else { 1.0 - small }
}

impl Loss for Logistic {
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64) {
        let m = u * y;
        let e = (-m.abs()).exp();
        let small = e / (1.0 + e);
        ((-m).max(0.0) + e.ln_1p(), slope(y, m, small), small * (1.0 - small))
    }

    fn steepest(&self) -> f64 {
        0.25
    }

    /// Takes the logarithm of a product: a sum of logarithms would take most of the time.
    fn sum(&self, u: &[f64], y: &[f64]) -> f64 {
        on_best!(_s => {
            let mut sum = 0.0;
            for (u, y) in u.chunks(LANES * FACTORS).zip(y.chunks(LANES * FACTORS)) {
                let (mut linear, mut product) = ([0.0; LANES], [1.0; LANES]);
                let ((us, u_tail), (ys, y_tail)) = (u.as_chunks::<LANES>(), y.as_chunks::<LANES>());
                for (u, y) in us.iter().zip(ys) {
                    for l in 0..LANES {
                        let m = u[l] * y[l];
                        linear[l] += if m < 0.0 { -m } else { 0.0 };
                        product[l] *= 1.0 + exp_down(-m.abs());
                    }
                }
                for (l, (u, y)) in u_tail.iter().zip(y_tail).enumerate() {
                    let m = u * y;
                    linear[l] += if m < 0.0 { -m } else { 0.0 };
                    product[l] *= 1.0 + exp_down(-m.abs());
                }
                for l in 0..LANES {
                    sum += linear[l] + product[l].ln();
                }
            }
            sum
        })
    }

    fn value(&self, u: &[f64], y: &[f64], weight: Option<&[f64]>) -> f64 {
        match weight {
            None => self.sum(u, y),
            Some(v) => u.iter().zip(y).zip(v).map(|((u, y), v)| v * self.at(*u, *y).0).sum(),
        }
    }

    fn slopes(&self, u: &[f64], y: &[f64], weight: Option<&[f64]>, out: &mut [f64]) {
        on_best!(_s => {
            for ((out, u), y) in out.iter_mut().zip(u).zip(y) {
                let m = u * y;
                *out = slope(*y, m, small(m));
            }
        });
        if let Some(v) = weight {
            scale_by(out, v);
        }
    }

    fn curvatures(&self, u: &[f64], y: &[f64], weight: Option<&[f64]>, out: &mut [f64]) {
        on_best!(_s => {
            for ((out, u), y) in out.iter_mut().zip(u).zip(y) {
                let small = small(u * y);
                *out = small * (1.0 - small);
            }
        });
        if let Some(v) = weight {
            scale_by(out, v);
        }
    }

    /// In vectors. With weights a logarithm is taken for each row, since a product would lose them.
    fn along(
        &self,
        t: f64,
        x: &[f64],
        u: &[f64],
        y: &[f64],
        weight: Option<&[f64]>,
    ) -> (f64, f64, f64) {
        let mut sums = (0.0, 0.0, 0.0);
        for from in (0..x.len()).step_by(LANES * FACTORS) {
            let rows = from..x.len().min(from + LANES * FACTORS);
            let (x, u, y) = (&x[rows.clone()], &u[rows.clone()], &y[rows.clone()]);
            let part = match weight {
                None => chunk_along(t, x, u, y),
                Some(v) => weighted_chunk_along(t, x, u, y, &v[rows]),
            };
            sums = (sums.0 + part.0, sums.1 + part.1, sums.2 + part.2);
        }
        sums
    }
}

/// [`Loss::along`] of at most `LANES * FACTORS` rows.
fn chunk_along(t: f64, x: &[f64], u: &[f64], y: &[f64]) -> (f64, f64, f64) {
    on_best!(_s => {
        // A local of the loop, so that the sums stay in registers.
        let mut lanes = Along::default();
        let ((xs, x_tail), (us, u_tail)) = (x.as_chunks::<LANES>(), u.as_chunks::<LANES>());
        let (ys, y_tail) = y.as_chunks::<LANES>();
        for ((x, u), y) in xs.iter().zip(us).zip(ys) {
            for l in 0..LANES {
                lanes.add(l, t, x[l], u[l], y[l]);
            }
        }
        for (l, ((x, u), y)) in x_tail.iter().zip(u_tail).zip(y_tail).enumerate() {
            lanes.add(l, t, *x, *u, *y);
        }
        lanes.sums()
    })
}

/// [`chunk_along`] with sample weights.
fn weighted_chunk_along(t: f64, x: &[f64], u: &[f64], y: &[f64], v: &[f64]) -> (f64, f64, f64) {
    on_best!(_s => {
        let mut lanes = Along::default();
        for (i, (((x, u), y), v)) in x.iter().zip(u).zip(y).zip(v).enumerate() {
            lanes.add_weighted(i % LANES, t, *x, *u, *y, *v);
        }
        lanes.sums()
    })
}

/// Sums of the loss along a column, side by side.
struct Along {
    linear: [f64; LANES],
    product: [f64; LANES],
    slope: [f64; LANES],
    curve: [f64; LANES],
}

impl Default for Along {
    #[inline(always)]
    fn default() -> Self {
        let zeros = [0.0; LANES];
        Self { linear: zeros, product: [1.0; LANES], slope: zeros, curve: zeros }
    }
}

impl Along {
    #[inline(always)]
    fn add(&mut self, l: usize, t: f64, x: f64, u: f64, y: f64) {
        let m = t.mul_add(x, u) * y;
        let e = exp_down(-m.abs());
        let small = e / (1.0 + e);
        self.linear[l] += if m < 0.0 { -m } else { 0.0 };
        self.product[l] *= 1.0 + e;
        self.slope[l] += slope(y, m, small) * x;
        self.curve[l] += small * (1.0 - small) * x * x;
    }

    #[inline(always)]
    fn add_weighted(&mut self, l: usize, t: f64, x: f64, u: f64, y: f64, v: f64) {
        let m = t.mul_add(x, u) * y;
        let e = exp_down(-m.abs());
        let small = e / (1.0 + e);
        self.linear[l] += v * ((if m < 0.0 { -m } else { 0.0 }) + e.ln_1p());
        self.slope[l] += v * slope(y, m, small) * x;
        self.curve[l] += v * small * (1.0 - small) * x * x;
    }

    #[inline(always)]
    fn sums(&self) -> (f64, f64, f64) {
        let mut sums = (0.0, 0.0, 0.0);
        for l in 0..LANES {
            let value = self.linear[l] + self.product[l].ln();
            sums = (sums.0 + value, sums.1 + self.slope[l], sums.2 + self.curve[l]);
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_that_of_the_rows() {
        let u: Vec<f64> = (0..10_101).map(|i| (f64::from(i) - 5000.0) * 0.009).collect();
        let y: Vec<f64> = (0..10_101).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let plain: f64 = u.iter().zip(&y).map(|(u, y)| Logistic.at(*u, *y).0).sum();
        assert!((Logistic.sum(&u, &y) - plain).abs() < 1e-13 * plain);
    }
}
