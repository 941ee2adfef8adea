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
