//! Penalties on one standardised coefficient and their minimisers.
//!
//! ```text
//! minimise over b   1/2 b^2 - z b + l2/2 b^2 + P(|b|; lambda)      (S_jj = 1)
//! lasso            soft(z, lambda) / (1 + l2)
//! MCP, gamma > 1   |z| <= gamma lambda (1 + l2): soft(z, lambda) / (1 + l2 - 1/gamma);  else z / (1 + l2)
//! SCAD, a > 2      |z| <= lambda (2 + l2): soft(z, lambda) / (1 + l2)
//!                  |z| <= a lambda (1 + l2): soft(z, a lambda / (a-1)) / (1 + l2 - 1/(a-1));  else z / (1 + l2)
//! ```
//!
//! Sources: Tibshirani 1996, Zou and Hastie 2005, Zhang 2010 (MCP), Fan and Li 2001 (SCAD),
//! Breheny and Huang 2011 (the coordinate minimisers).

/// `|z|` must exceed lambda by this factor before the coefficient is not zero. For a copy of a
/// feature in the model `|z|` is lambda up to the error of a pilot fit, which is 1e-8 where only its
/// ridge distinguishes the copies. That error must not decide whether both enter.
const EDGE: f64 = 1.0 + 1e-6;

/// The shape of a penalty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// `lambda |b|`.
    Lasso,
    /// Minimax concave, flat beyond `gamma lambda`.
    Mcp(f64),
    /// Smoothly clipped, flat beyond `a lambda`.
    Scad(f64),
}

/// A shape and an added ridge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Penalty {
    pub(crate) shape: Shape,
    /// Factor of `|b|^2 / 2`.
    pub(crate) l2: f64,
}

/// The soft threshold: `z` moved towards zero by `t`.
pub(crate) fn soft(z: f64, t: f64) -> f64 {
    if z > t {
        z - t
    } else if z < -t {
        z + t
    } else {
        0.0
    }
}

impl Penalty {
    /// The coefficient that minimises the one-dimensional problem at `z`.
    pub(crate) fn minimiser(&self, z: f64, lambda: f64) -> f64 {
        let (size, ridge) = (z.abs(), 1.0 + self.l2);
        if size <= EDGE * lambda {
            return 0.0;
        }
        match self.shape {
            Shape::Mcp(gamma) if size <= gamma * lambda * ridge => {
                soft(z, lambda) / (ridge - 1.0 / gamma)
            }
            Shape::Scad(a) if size > lambda * (1.0 + ridge) && size <= a * lambda * ridge => {
                soft(z, a * lambda / (a - 1.0)) / (ridge - 1.0 / (a - 1.0))
            }
            Shape::Mcp(_) => z / ridge,
            Shape::Scad(a) if size > a * lambda * ridge => z / ridge,
            Shape::Lasso | Shape::Scad(_) => soft(z, lambda) / ridge,
        }
    }

    /// Slope of the penalty at a coefficient `b > 0`.
    #[cfg(test)]
    pub(crate) fn slope(&self, b: f64, lambda: f64) -> f64 {
        let shape = match self.shape {
            Shape::Lasso => lambda,
            Shape::Mcp(gamma) => (lambda - b / gamma).max(0.0),
            Shape::Scad(_) if b <= lambda => lambda,
            Shape::Scad(a) => ((a * lambda - b) / (a - 1.0)).max(0.0),
        };
        shape + self.l2 * b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_minimiser_beats_a_fine_grid() {
        let value = |p: &Penalty, z: f64, lambda: f64, b: f64| {
            let steps = 2000;
            let width = b.abs() / f64::from(steps);
            let slope = |i: i32| p.slope(width * (f64::from(i) + 0.5), lambda) * width;
            0.5 * b * b - z * b + (0..steps).map(slope).sum::<f64>()
        };
        for shape in [Shape::Lasso, Shape::Mcp(3.0), Shape::Mcp(1.4), Shape::Scad(3.7)] {
            for l2 in [0.0, 0.3] {
                let p = Penalty { shape, l2 };
                for z in [-3.1, -0.6, 0.2, 0.9, 1.1, 1.9, 2.5, 6.0] {
                    let best = p.minimiser(z, 0.5);
                    let least = (-400..=400)
                        .map(|i| value(&p, z, 0.5, f64::from(i) / 50.0))
                        .fold(f64::INFINITY, f64::min);
                    let got = value(&p, z, 0.5, best);
                    assert!(got <= least + 1e-6, "{p:?} z {z} b {best}: {got} {least}");
                }
            }
        }
    }

    #[test]
    fn rounding_at_lambda_lets_no_feature_enter() {
        for shape in [Shape::Lasso, Shape::Mcp(3.0), Shape::Scad(3.7)] {
            let p = Penalty { shape, l2: 0.0 };
            assert_eq!(p.minimiser(0.3 * (1.0 + 4.0 * f64::EPSILON), 0.3), 0.0);
            assert!(p.minimiser(0.3 * (1.0 + 1e-5), 0.3) > 0.0);
        }
    }
}
