//! The lasso on a few columns: a path by coordinate descent, its penalty by cross-validation.
//!
//! ```text
//! squared    min 1/(2n) |y - Zb|^2 + l |b|_1           logistic   min (1/n) sum log(1 + e^(-y u)) + l |b|_1
//! path       l from the least at which b = 0, down by equal factors to a thousandth of it
//! ```
//!
//! Columns are centred with unit mean square; the intercept is not penalised. The logistic loss is
//! minimised by quadratic steps with the bound 1/4 on its curvature, which never overshoot.
//! Friedman, Hastie and Tibshirani, Journal of Statistical Software 33 (2010).

/// Penalties along the path, and the last as a share of the first.
const STEPS: usize = 60;
const LAST: f64 = 1e-3;
/// Folds of cross-validation.
const FOLDS: usize = 5;
/// Descent ends where no coefficient moves by more than this share of the target's deviation.
const TOLERANCE: f64 = 1e-9;
const SWEEPS: usize = 2_000;

/// What is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// Numbers.
    Squared,
    /// Classes, -1 and 1.
    Logistic,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn soft(x: f64, l: f64) -> f64 {
    if x > l {
        x - l
    } else if x < -l {
        x + l
    } else {
        0.0
    }
}

/// The inner products of columns, with which a step costs one row of them.
struct Gram {
    n: f64,
    rows: Vec<Vec<f64>>,
    means: Vec<f64>,
}

impl Gram {
    fn new(z: &[Vec<f64>]) -> Self {
        let n = z[0].len() as f64;
        let means: Vec<f64> = z.iter().map(|z| z.iter().sum::<f64>() / n).collect();
        let entry = |i: usize, j: usize| dot(&z[i], &z[j]) / n - means[i] * means[j];
        let mut rows = vec![vec![0.0; z.len()]; z.len()];
        for i in 0..z.len() {
            for j in 0..=i {
                rows[i][j] = entry(i, j);
                rows[j][i] = rows[i][j];
            }
        }
        Self { n, rows, means }
    }

    /// Centred products of the columns with `y`.
    fn with(&self, z: &[Vec<f64>], y: &[f64]) -> Vec<f64> {
        let mean = y.iter().sum::<f64>() / self.n;
        z.iter().zip(&self.means).map(|(z, m)| dot(z, y) / self.n - m * mean).collect()
    }

    /// Minimises `b'Gb / 2 - c'b + l |b|` from where `b` stands.
    fn descend(&self, c: &[f64], l: f64, b: &mut [f64], small: f64) {
        let mut slope: Vec<f64> = (0..b.len()).map(|j| c[j] - dot(&self.rows[j], b)).collect();
        for _ in 0..SWEEPS {
            let mut most = 0.0f64;
            for j in 0..b.len() {
                let own = self.rows[j][j];
                if own <= 0.0 {
                    continue;
                }
                let next = soft(slope[j] + own * b[j], l) / own;
                let step = next - b[j];
                if step != 0.0 {
                    slope.iter_mut().zip(&self.rows[j]).for_each(|(s, g)| *s -= step * g);
                    b[j] = next;
                    most = most.max(step.abs());
                }
            }
            if most <= small {
                return;
            }
        }
    }
}

/// A fit along the path: coefficients and intercept.
struct Path<'a> {
    z: &'a [Vec<f64>],
    y: &'a [f64],
    gram: Gram,
    fit: Fit,
    b: Vec<f64>,
    intercept: f64,
}

impl<'a> Path<'a> {
    fn new(z: &'a [Vec<f64>], y: &'a [f64], fit: Fit) -> Self {
        let (gram, b) = (Gram::new(z), vec![0.0; z.len()]);
        let mut out = Self { z, y, gram, fit, b, intercept: 0.0 };
        out.settle();
        out
    }

    fn margins(&self) -> Vec<f64> {
        let mut u = vec![self.intercept; self.y.len()];
        for (b, z) in self.b.iter().zip(self.z).filter(|(b, _)| **b != 0.0) {
            u.iter_mut().zip(z).for_each(|(u, z)| *u += b * z);
        }
        u
    }

    /// The intercept that is best with these coefficients.
    fn settle(&mut self) {
        let n = self.y.len() as f64;
        if self.fit == Fit::Squared {
            self.intercept = self.y.iter().sum::<f64>() / n - dot(&self.b, &self.gram.means);
            return;
        }
        for _ in 0..50 {
            let (slope, curve) =
                self.margins().iter().zip(self.y).fold((0.0, 0.0), |sums, (u, y)| {
                    let p = 1.0 / (1.0 + (y * u).exp());
                    (sums.0 + y * p, sums.1 + p * (1.0 - p))
                });
            if curve <= 1e-12 * n {
                return;
            }
            let step = (slope / curve).clamp(-2.0, 2.0);
            self.intercept += step;
            if step.abs() < 1e-12 {
                return;
            }
        }
    }

    /// Minus the slopes of the loss in the coefficients.
    fn slopes(&self) -> Vec<f64> {
        match self.fit {
            Fit::Squared => {
                let c = self.gram.with(self.z, self.y);
                (0..c.len()).map(|j| c[j] - dot(&self.gram.rows[j], &self.b)).collect()
            }
            Fit::Logistic => {
                let pull = |(u, y): (&f64, &f64)| y / (1.0 + (y * u).exp());
                let pull: Vec<f64> = self.margins().iter().zip(self.y).map(pull).collect();
                self.z.iter().map(|z| dot(z, &pull) / self.gram.n).collect()
            }
        }
    }

    /// Goes to the minimum at this penalty.
    fn to(&mut self, l: f64) {
        let y = self.y;
        let small = match self.fit {
            Fit::Squared => {
                let mean = y.iter().sum::<f64>() / y.len() as f64;
                let square = y.iter().map(|y| (y - mean).powi(2)).sum::<f64>();
                TOLERANCE * (square / y.len() as f64).sqrt()
            }
            Fit::Logistic => TOLERANCE,
        };
        if self.fit == Fit::Squared {
            let c = self.gram.with(self.z, y);
            self.gram.descend(&c, l, &mut self.b, small);
            self.settle();
            return;
        }
        for _ in 0..500 {
            let before = self.b.clone();
            // (1/8)(b' - b)'G(b' - b) - s'(b' - b) bounds the loss: G and c as of squares, times 4.
            let slopes = self.slopes();
            let c: Vec<f64> = (0..slopes.len())
                .map(|j| dot(&self.gram.rows[j], &self.b) + 4.0 * slopes[j])
                .collect();
            self.gram.descend(&c, 4.0 * l, &mut self.b, small);
            self.settle();
            let moved = self.b.iter().zip(&before).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            if moved <= 1e-7 {
                return;
            }
        }
    }

    /// Mean loss on other rows.
    fn loss(&self, z: &[Vec<f64>], y: &[f64]) -> f64 {
        let mut u = vec![self.intercept; y.len()];
        for (b, z) in self.b.iter().zip(z) {
            u.iter_mut().zip(z).for_each(|(u, z)| *u += b * z);
        }
        let one = |(u, y): (&f64, &f64)| match self.fit {
            Fit::Squared => 0.5 * (u - y).powi(2),
            Fit::Logistic => (-y * u).max(0.0) + (-(y * u).abs()).exp().ln_1p(),
        };
        u.iter().zip(y).map(one).sum::<f64>() / y.len() as f64
    }
}

/// Penalties from the least that leaves no coefficient on.
fn penalties(z: &[Vec<f64>], y: &[f64], fit: Fit) -> Vec<f64> {
    let most = Path::new(z, y, fit).slopes().iter().fold(0.0f64, |most, s| most.max(s.abs()));
    let one = |at: usize| most * LAST.powf(at as f64 / (STEPS - 1) as f64);
    (0..STEPS).map(one).collect()
}

/// Coefficients at the penalty of the least cross-validated loss; `fold` is the fold of each row.
pub(super) fn at_cv(z: &[Vec<f64>], y: &[f64], fit: Fit, fold: &[usize]) -> Vec<f64> {
    let penalties = penalties(z, y, fit);
    let mut losses = vec![0.0; STEPS];
    for f in 0..FOLDS {
        let pick = |values: &[f64], inside: bool| -> Vec<f64> {
            let rows = values.iter().zip(fold).filter(|(_, fold)| (**fold == f) == inside);
            rows.map(|(value, _)| *value).collect()
        };
        let of = |inside| z.iter().map(|z| pick(z, inside)).collect::<Vec<_>>();
        let (train, test, own, other) = (of(false), of(true), pick(y, false), pick(y, true));
        let mut path = Path::new(&train, &own, fit);
        for (l, loss) in penalties.iter().zip(&mut losses) {
            path.to(*l);
            *loss += path.loss(&test, &other) * other.len() as f64;
        }
    }
    let best = (0..STEPS).min_by(|a, b| losses[*a].total_cmp(&losses[*b])).unwrap_or(0);
    let mut path = Path::new(z, y, fit);
    penalties[..=best].iter().for_each(|l| path.to(*l));
    path.b
}

/// Folds in turn over shuffled places.
pub(super) fn folds(order: &[usize]) -> Vec<usize> {
    let mut fold = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, row)| fold[*row] = at % FOLDS);
    fold
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Orthogonal columns: the solution is the soft threshold of the products.
    #[test]
    fn orthogonal_columns_are_thresholded() {
        let z = vec![vec![1.0, -1.0, 1.0, -1.0], vec![1.0, 1.0, -1.0, -1.0]];
        let y: Vec<f64> = (0..4).map(|i| 2.0 * z[0][i] - 0.5 * z[1][i] + 7.0).collect();
        let mut path = Path::new(&z, &y, Fit::Squared);
        path.to(0.3);
        assert!((path.b[0] - 1.7).abs() < 1e-12 && (path.b[1] + 0.2).abs() < 1e-12, "{:?}", path.b);
        assert!((path.intercept - 7.0).abs() < 1e-12);
    }

    /// At the minimum the slopes are the penalty, with the sign of the coefficient, or smaller.
    #[test]
    fn the_logistic_lasso_satisfies_its_conditions() {
        let value = |i: usize, j: usize| ((i * (7 + 5 * j) + j * j) % 19) as f64 / 19.0 - 0.47;
        let z: Vec<Vec<f64>> = (0..5).map(|j| (0..80).map(|i| value(i, j)).collect()).collect();
        let y: Vec<f64> = (0..80)
            .map(|i| if z[0][i] - z[3][i] + value(i, 9) > 0.0 { 1.0 } else { -1.0 })
            .collect();
        let mut path = Path::new(&z, &y, Fit::Logistic);
        path.to(0.02);
        for (b, slope) in path.b.iter().zip(path.slopes()) {
            match *b == 0.0 {
                true => assert!(slope.abs() <= 0.02 + 1e-5),
                false => assert!((slope - 0.02 * b.signum()).abs() < 1e-5, "{b} {slope}"),
            }
        }
        assert!(path.b[0] > 0.0 && path.b[3] < 0.0);
    }
}
