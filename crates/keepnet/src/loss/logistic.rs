//! Logistic loss of a label -1 or 1: `log(1 + exp(-u y))`.

use super::{Loss, over_slices};

/// Rows whose logarithms are taken together: a product of as many numbers from 1 to 2 is far
/// from overflow.
const TOGETHER: usize = 16;

/// `log(1 + exp(-u y))`.
pub struct Logistic;

impl Logistic {
    fn one(&self, u: f64, y: f64) -> f64 {
        let m = u * y;
        (-m).max(0.0) + (-m.abs()).exp().ln_1p()
    }

    /// The probability of the less likely class. Of exp(m) and exp(-m) only the one that cannot
    /// overflow is taken.
    fn small(m: f64) -> f64 {
        let e = (-m.abs()).exp();
        e / (1.0 + e)
    }

    fn slope(&self, u: f64, y: f64) -> f64 {
        let m = u * y;
        let small = Self::small(m);
        -y * if m > 0.0 { small } else { 1.0 - small }
    }

    fn curve(&self, u: f64, y: f64) -> f64 {
        let small = Self::small(u * y);
        small * (1.0 - small)
    }
}

impl Loss for Logistic {
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64) {
        (self.one(u, y), self.slope(u, y), self.curve(u, y))
    }

    fn steepest(&self) -> f64 {
        0.25
    }

    /// The logarithm of a product for the sum of logarithms, which would take most of the time.
    fn sum(&self, u: &[f64], y: &[f64]) -> f64 {
        let some = |(u, y): (&[f64], &[f64])| {
            let (mut linear, mut product) = (0.0, 1.0);
            for (u, y) in u.iter().zip(y) {
                let m = u * y;
                linear += (-m).max(0.0);
                product *= 1.0 + (-m.abs()).exp();
            }
            linear + product.ln()
        };
        u.chunks(TOGETHER).zip(y.chunks(TOGETHER)).map(some).sum()
    }

    over_slices!(Self::one, Self::slope, Self::curve);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_that_of_the_rows() {
        let u: Vec<f64> = (0..101).map(|i| (f64::from(i) - 50.0) * 0.9).collect();
        let y: Vec<f64> = (0..101).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let plain: f64 = u.iter().zip(&y).map(|(u, y)| Logistic.one(*u, *y)).sum();
        assert!((Logistic.sum(&u, &y) - plain).abs() < 1e-13 * plain);
    }
}
