//! Losses and their derivatives in the margin `u`, over slices.
//!
//! Every function takes sample weights `v` (1 where there are none). Sums and vectors are not
//! divided by the sum `W` of the sample weights; the methods divide.

mod logistic;
mod squared;
pub(crate) mod squared_epsilon;
mod squared_hinge;

pub use logistic::Logistic;
pub use squared::Squared;
pub use squared_epsilon::SquaredEpsilon;
pub use squared_hinge::SquaredHinge;

use serde::{Deserialize, Serialize};

use crate::data::target::{Target, Task};
use crate::error::{Error, Result};
use crate::registry::setting::listed;

/// Share of a margin or tube within which a row counts as being at its edge.
const EDGE_SHARE: f64 = 1e-9;

/// A loss of one margin, twice differentiable almost everywhere.
pub trait Loss: Send + Sync {
    /// Value, slope and curvature of one sample.
    fn at(&self, u: f64, y: f64) -> (f64, f64, f64);

    /// The largest curvature that the loss can have.
    fn steepest(&self) -> f64 {
        1.0
    }

    /// `sum l(u_i, y_i)`.
    fn sum(&self, u: &[f64], y: &[f64]) -> f64 {
        u.iter().zip(y).map(|(u, y)| self.at(*u, *y).0).sum()
    }

    /// `sum v_i l(u_i, y_i)`.
    fn value(&self, u: &[f64], y: &[f64], weight: Option<&[f64]>) -> f64;

    /// `out_i = v_i l'(u_i, y_i)`.
    fn slopes(&self, u: &[f64], y: &[f64], weight: Option<&[f64]>, out: &mut [f64]);

    /// `out_i = v_i l''(u_i, y_i)`.
    fn curvatures(&self, u: &[f64], y: &[f64], weight: Option<&[f64]>, out: &mut [f64]);

    /// `sum v_i l`, `sum v_i l' x_i` and `sum v_i l'' x_i^2` at the margins `u_i + t x_i`: the loss
    /// along one column.
    fn along(
        &self,
        t: f64,
        x: &[f64],
        u: &[f64],
        y: &[f64],
        weight: Option<&[f64]>,
    ) -> (f64, f64, f64) {
        let mut sums = (0.0, 0.0, 0.0);
        for (i, ((x, u), y)) in x.iter().zip(u).zip(y).enumerate() {
            let v = weight.map_or(1.0, |v| v[i]);
            let (value, slope, curve) = self.at(u + t * x, *y);
            sums = (sums.0 + v * value, sums.1 + v * slope * x, sums.2 + v * curve * x * x);
        }
        sums
    }
}

/// The three loops over slices, from one function of `(self, u, y)` for each. Only the number
/// that is asked for is computed.
macro_rules! slice_loops {
    ($value:path, $slope:path, $curve:path) => {
        fn value(&self, u: &[f64], y: &[f64], weight: Option<&[f64]>) -> f64 {
            match weight {
                None => self.sum(u, y),
                Some(v) => u.iter().zip(y).zip(v).map(|((u, y), v)| v * $value(self, *u, *y)).sum(),
            }
        }

        fn slopes(&self, u: &[f64], y: &[f64], weight: Option<&[f64]>, out: &mut [f64]) {
            for ((out, u), y) in out.iter_mut().zip(u).zip(y) {
                *out = $slope(self, *u, *y);
            }
            if let Some(v) = weight {
                crate::numeric::kernel::scale_by(out, v);
            }
        }

        fn curvatures(&self, u: &[f64], y: &[f64], weight: Option<&[f64]>, out: &mut [f64]) {
            for ((out, u), y) in out.iter_mut().zip(u).zip(y) {
                *out = $curve(self, *u, *y);
            }
            if let Some(v) = weight {
                crate::numeric::kernel::scale_by(out, v);
            }
        }
    };
}
use slice_loops;

/// Makes a loss for a target and an `epsilon`, where one is given.
type MakeLoss = fn(&Target, Option<f64>) -> Result<Box<dyn Loss>>;

/// What a loss brings: the `INFO` of its file.
struct LossInfo {
    /// The name on the command line and in results.
    name: &'static str,
    /// The task that the loss implies, where it implies one.
    task: Option<Task>,
    /// Whether it depends on `u - y` alone, so that the target may be shifted.
    of_difference: bool,
    /// Makes it for a target; `epsilon` is the setting of that name.
    make: MakeLoss,
}

macro_rules! losses {
    ($($(#[$doc:meta])* $variant:ident = $info:path,)*) => {
        /// The losses by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum LossKind {
            $($(#[$doc])* $variant,)*
        }

        impl LossKind {
            /// Every loss.
            pub const ALL: [Self; [$(stringify!($variant)),*].len()] = [$(Self::$variant),*];

            fn info(self) -> &'static LossInfo {
                match self {
                    $(Self::$variant => &$info,)*
                }
            }
        }
    };
}

// The order is part of saved states: a new loss goes to the end.
losses! {
    /// `(u - y)^2 / 2`.
    Squared = squared::INFO,
    /// `max(0, 1 - u y)^2 / 2`.
    SquaredHinge = squared_hinge::INFO,
    /// `log(1 + exp(-u y))`.
    Logistic = logistic::INFO,
    /// `max(0, |u - y| - eps)^2 / 2`.
    SquaredEpsilon = squared_epsilon::INFO,
}

impl LossKind {
    /// The name on the command line and in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The loss of that name.
    pub fn parse(name: &str) -> Result<Self> {
        let known = |kind: &Self| kind.name() == name;
        Self::ALL.into_iter().find(known).ok_or_else(|| {
            let names = Self::ALL.map(|kind| kind.name().to_string());
            Error::param("loss", name, listed(&names))
        })
    }

    /// The task that the loss implies, where it implies one.
    #[must_use]
    pub fn task(self) -> Option<Task> {
        self.info().task
    }

    /// Whether it depends on `u - y` alone, so that the target may be shifted.
    pub(crate) fn of_difference(self) -> bool {
        self.info().of_difference
    }

    /// The loss for a target; `epsilon` defaults to a tenth of the target's standard deviation.
    pub fn make(self, target: &Target, epsilon: Option<f64>) -> Result<Box<dyn Loss>> {
        if self.task().is_some_and(|task| task != target.task()) {
            return Err(Error::Data(format!(
                "the {} loss does not fit a {} target; choose another `loss` or `task`",
                self.name(),
                if target.task() == Task::Regression { "regression" } else { "classification" },
            )));
        }
        (self.info().make)(target, epsilon)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slope and curvature against differences of the value, away from the kinks.
    #[test]
    fn derivatives_are_those_of_the_value() {
        for kind in LossKind::ALL {
            let target = match kind.task() {
                Some(Task::Classification) => crate::data::target::Problem::binary(&[-1.0, 1.0]),
                _ => crate::data::target::Problem::regression(vec![-1.0, 1.0]),
            };
            let loss = kind.make(&target.target, Some(0.3)).unwrap();
            for y in [-1.0, 1.0] {
                for u in [-30.0, -2.1, -0.4, 0.35, 1.7, 40.0] {
                    let (_, slope, curve) = loss.at(u, y);
                    let h = 1e-5;
                    let (up, down) = (loss.at(u + h, y), loss.at(u - h, y));
                    let near = |a: f64, b: f64| (a - b).abs() < 1e-5 * (1.0 + a.abs());
                    assert!(near(slope, (up.0 - down.0) / (2.0 * h)), "{kind:?} {u} {y}");
                    assert!(near(curve, (up.1 - down.1) / (2.0 * h)), "{kind:?} {u} {y}");
                    assert!(curve <= loss.steepest());
                }
            }
        }
    }

    #[test]
    fn weights_multiply_values_slopes_and_curvatures() {
        let (u, y, v) = ([0.5, 2.0], [1.0, -1.0], [3.0, 0.5]);
        let mut out = [0.0; 2];
        // Squared hinge by hand: 1 - uy = 0.5 and 3.
        assert_eq!(SquaredHinge.value(&u, &y, Some(&v)), 3.0 * 0.125 + 0.5 * 4.5);
        SquaredHinge.slopes(&u, &y, Some(&v), &mut out);
        assert_eq!(out, [-1.5, 1.5]);
        SquaredHinge.curvatures(&u, &y, Some(&v), &mut out);
        assert_eq!(out, [3.0, 0.5]);
    }

    /// Every loss along a column against its rows one by one, over several chunks and a tail.
    #[test]
    fn the_loss_along_a_column_is_the_sum_of_its_rows() {
        let n = 9_001;
        let value = |i: usize, a: usize, m: usize| (i * a % m) as f64 / m as f64 - 0.4;
        let u: Vec<f64> = (0..n).map(|i| 12.0 * value(i, 17, 101)).collect();
        let x: Vec<f64> = (0..n).map(|i| 3.0 * value(i, 29, 103)).collect();
        let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let v: Vec<f64> = (0..n).map(|i| 1.0 + value(i, 7, 11)).collect();
        for kind in LossKind::ALL {
            let target = match kind.task() {
                Some(Task::Classification) => crate::data::target::Problem::binary(&[-1.0, 1.0]),
                _ => crate::data::target::Problem::regression(vec![-1.0, 1.0]),
            };
            let loss = kind.make(&target.target, Some(0.3)).unwrap();
            for weight in [None, Some(v.as_slice())] {
                for t in [0.0, -0.7, 40.0] {
                    let mut want = [0.0; 3];
                    for i in 0..n {
                        let (value, slope, curve) = loss.at(u[i] + t * x[i], y[i]);
                        let v = weight.map_or(1.0, |v| v[i]);
                        want[0] += v * value;
                        want[1] += v * slope * x[i];
                        want[2] += v * curve * x[i] * x[i];
                    }
                    let got = loss.along(t, &x, &u, &y, weight);
                    for (got, want) in [got.0, got.1, got.2].iter().zip(want) {
                        let near = (got - want).abs() < 1e-11 * (1.0 + want.abs());
                        assert!(near, "{kind:?} {t}: {got} {want}");
                    }
                }
            }
        }
    }

    /// Rows of a small table often end exactly at the edge; the last digit must not matter.
    #[test]
    fn rounding_at_the_edge_of_a_margin_or_tube_does_not_change_the_curvature() {
        let tube = SquaredEpsilon::new(0.3).unwrap();
        for off in [-4.0, 0.0, 4.0] {
            assert_eq!(SquaredHinge.at(1.0 + off * f64::EPSILON, 1.0).2, 1.0);
            assert_eq!(tube.at(0.3 + off * f64::EPSILON, 0.0).2, 1.0);
        }
        assert_eq!((SquaredHinge.at(1.001, 1.0).2, tube.at(0.299, 0.0).2), (0.0, 0.0));
    }

    #[test]
    fn a_loss_of_the_other_task_is_refused() {
        let target = Target::Numbers(vec![1.0, 2.0]);
        assert!(LossKind::Logistic.make(&target, None).is_err());
        assert!(LossKind::parse("hinge").unwrap_err().to_string().contains("squared-hinge"));
    }
}
