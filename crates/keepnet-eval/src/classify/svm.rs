//! A linear support vector machine, by dual coordinate descent.
//!
//! ```text
//! min  |w|^2 / 2 + b^2 / 2 + C sum max(0, 1 - y_i (w'x_i + b))
//! dual min  a'Qa / 2 - sum a_i,  0 <= a_i <= C,  Q_ij = y_i y_j (x_i'x_j + 1)
//! step a_i <- clip(a_i - (y_i (w'x_i + b) - 1) / Q_ii),  w += y_i x_i (change of a_i)
//! ```
//!
//! A pass costs O(n d), the state O(n + d); rows come in a new random order each pass. It ends
//! where the largest violation of the optimality conditions is below `tolerance`. The bias is
//! a weight on a constant 1, as in LIBLINEAR, so it is penalised; LIBSVM, which the SAOLA paper
//! used, leaves it free. More than two classes: one against the rest.
//! Source: Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008, Algorithm 1.

use keepnet::data::generator;
use rand::seq::SliceRandom;

use super::Classifier;
use crate::matrix::Matrix;

/// Settings of [`Svm`].
#[derive(Clone, Copy, Debug)]
pub struct SvmParams {
    /// Weight of the losses.
    pub c: f64,
    /// Largest violation of the optimality conditions at the end.
    pub tolerance: f64,
    /// Most passes over the rows.
    pub passes: usize,
}

impl Default for SvmParams {
    fn default() -> Self {
        Self { c: 1.0, tolerance: 1e-3, passes: 1000 }
    }
}

/// Weights and bias of each output: one for two classes, else one a class.
pub struct Svm {
    outputs: Vec<(Vec<f64>, f64)>,
}

impl Svm {
    /// Fits the machine.
    #[must_use]
    pub fn fit(x: &Matrix, codes: &[u32], classes: usize, params: &SvmParams) -> Self {
        let positives = if classes == 2 { 1..2 } else { 0..classes as u32 };
        let one = |class: u32| {
            let y: Vec<f64> = codes.iter().map(|c| if *c == class { 1.0 } else { -1.0 }).collect();
            descend(x, &y, params)
        };
        Self { outputs: positives.map(one).collect() }
    }

    /// Weights and bias of each output.
    #[must_use]
    pub fn outputs(&self) -> &[(Vec<f64>, f64)] {
        &self.outputs
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn descend(x: &Matrix, y: &[f64], params: &SvmParams) -> (Vec<f64>, f64) {
    let n = x.rows();
    let (mut w, mut b) = (vec![0.0; x.columns()], 0.0);
    let mut a = vec![0.0; n];
    let squares: Vec<f64> = (0..n).map(|i| dot(x.row(i), x.row(i)) + 1.0).collect();
    let mut order: Vec<usize> = (0..n).collect();
    let mut random = generator(0, 0x5f3);
    for _ in 0..params.passes {
        order.shuffle(&mut random);
        let mut violation: f64 = 0.0;
        for &i in &order {
            let gradient = y[i] * (dot(&w, x.row(i)) + b) - 1.0;
            // At a bound only the direction into the box counts.
            let projected = match a[i] {
                at if at <= 0.0 => gradient.min(0.0),
                at if at >= params.c => gradient.max(0.0),
                _ => gradient,
            };
            violation = violation.max(projected.abs());
            if projected == 0.0 {
                continue;
            }
            let new = (a[i] - gradient / squares[i]).clamp(0.0, params.c);
            let step = y[i] * (new - a[i]);
            a[i] = new;
            w.iter_mut().zip(x.row(i)).for_each(|(w, x)| *w += step * x);
            b += step;
        }
        if violation < params.tolerance {
            break;
        }
    }
    (w, b)
}

impl Classifier for Svm {
    fn scores(&self, row: &[f64], out: &mut [f64]) {
        let margin = |(w, b): &(Vec<f64>, f64)| dot(w, row) + b;
        match &self.outputs[..] {
            [one] => {
                let margin = margin(one);
                (out[0], out[1]) = (-0.5 * margin, 0.5 * margin);
            }
            many => out.iter_mut().zip(many).for_each(|(out, one)| *out = margin(one)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_points_worked_by_hand() {
        // x = -1 and 1: by symmetry b = 0, a = min(C, 1/4 * 2) = 1/2 each, so w = 1.
        let x = Matrix::new(2, 1, vec![-1.0, 1.0]).unwrap();
        let params = SvmParams { tolerance: 1e-10, ..SvmParams::default() };
        let svm = Svm::fit(&x, &[0, 1], 2, &params);
        let (w, b) = &svm.outputs()[0];
        assert!((w[0] - 1.0).abs() < 1e-9 && b.abs() < 1e-9, "{w:?} {b}");
        let mut scores = [0.0; 2];
        svm.scores(&[3.0], &mut scores);
        assert!((scores[1] - scores[0] - 3.0).abs() < 1e-8);
    }
}
