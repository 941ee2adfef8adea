//! Independent fits, written without the engine: least squares by Householder's QR, and Newton
//! steps for the other losses, on columns that are centred and of unit variance.

use crate::hand::Hand;

/// A loss of one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    Squared,
    SquaredHinge,
    Logistic,
    SquaredEpsilon(f64),
}

impl Loss {
    /// Value, slope and curvature at the prediction `u`.
    fn at(self, u: f64, y: f64) -> (f64, f64, f64) {
        match self {
            Self::Squared => (0.5 * (u - y).powi(2), u - y, 1.0),
            Self::SquaredHinge => {
                let z = (1.0 - u * y).max(0.0);
                (0.5 * z * z, -y * z, f64::from(u8::from(z > 0.0)))
            }
            Self::Logistic => {
                let m = u * y;
                let value = if m > 0.0 { (-m).exp().ln_1p() } else { m.exp().ln_1p() - m };
                let p = 1.0 / (1.0 + m.exp());
                (value, -y * p, p * (1.0 - p))
            }
            Self::SquaredEpsilon(width) => {
                let z = ((u - y).abs() - width).max(0.0);
                (0.5 * z * z, z * (u - y).signum(), f64::from(u8::from(z > 0.0)))
            }
        }
    }
}

/// A model of one output.
#[derive(Clone, Debug)]
pub struct Fit {
    /// On the original scale.
    pub coefficient: Vec<f64>,
    /// The prediction where every column is at its mean.
    pub centre: f64,
    pub loss: f64,
}

/// The fit of some columns with a ridge on those of unit variance; the centre has none.
pub fn fit(hand: &Hand, loss: Loss, columns: &[&[f64]], y: &[f64], ridge: f64) -> Fit {
    let scale: Vec<f64> = columns.iter().map(|x| hand.deviation(x)).collect();
    let standard =
        |(x, s): (&&[f64], &f64)| hand.centred(x).into_iter().map(|v| v / s).collect::<Vec<f64>>();
    let x: Vec<Vec<f64>> = columns.iter().zip(&scale).map(standard).collect();
    let centre = hand.mean(y);
    // A target with a large offset is fitted about its mean, where the digits are.
    let less: Vec<f64> = match loss {
        Loss::Squared | Loss::SquaredEpsilon(_) => y.iter().map(|y| y - centre).collect(),
        _ => y.to_vec(),
    };
    let (mut b, moved) = match loss {
        Loss::Squared => (least_squares(hand, &x, &less, ridge), 0.0),
        _ => newton(hand, loss, &x, &less, ridge),
    };
    b.push(moved);
    let value = mean_loss(hand, loss, &predict(&x, &b, y.len()), &less);
    b.pop();
    let centre = match loss {
        Loss::Squared | Loss::SquaredEpsilon(_) => centre + moved,
        _ => moved,
    };
    let coefficient = b.iter().zip(&scale).map(|(b, s)| b / s).collect();
    Fit { coefficient, centre, loss: value }
}

/// The loss of a prediction, over the sum of weights.
pub fn mean_loss(hand: &Hand, loss: Loss, u: &[f64], y: &[f64]) -> f64 {
    let values = u.iter().zip(y).zip(&hand.weight).map(|((u, y), w)| w * loss.at(*u, *y).0);
    values.sum::<f64>() / hand.total()
}

/// Householder's QR of the weighted columns above the roots of the ridge.
fn least_squares(hand: &Hand, x: &[Vec<f64>], y: &[f64], ridge: f64) -> Vec<f64> {
    let (n, k) = (y.len(), x.len());
    let root: Vec<f64> = hand.weight.iter().map(|w| (w / hand.total()).sqrt()).collect();
    let mut a: Vec<Vec<f64>> = x
        .iter()
        .enumerate()
        .map(|(j, x)| {
            let mut column: Vec<f64> = x.iter().zip(&root).map(|(x, r)| x * r).collect();
            column.resize(n + k, 0.0);
            column[n + j] = ridge.sqrt();
            column
        })
        .collect();
    let mut r: Vec<f64> = y.iter().zip(&root).map(|(y, r)| y * r).collect();
    r.resize(n + k, 0.0);
    for j in 0..k {
        let norm = a[j][j..].iter().map(|v| v * v).sum::<f64>().sqrt();
        let head = a[j][j];
        let alpha = if head > 0.0 { -norm } else { norm };
        let mut v = a[j][j..].to_vec();
        v[0] -= alpha;
        let square: f64 = v.iter().map(|v| v * v).sum();
        if square == 0.0 {
            continue;
        }
        let turn = |column: &mut [f64]| {
            let dot: f64 = column.iter().zip(&v).map(|(c, v)| c * v).sum();
            column.iter_mut().zip(&v).for_each(|(c, v)| *c -= 2.0 * dot / square * v);
        };
        a[j..].iter_mut().for_each(|column| turn(&mut column[j..]));
        turn(&mut r[j..]);
    }
    let mut b = vec![0.0; k];
    for j in (0..k).rev() {
        let rest: f64 = (j + 1..k).map(|i| a[i][j] * b[i]).sum();
        b[j] = (r[j] - rest) / a[j][j];
    }
    b
}

/// Newton steps with halving on columns and a free constant; weights, then the constant.
fn newton(hand: &Hand, loss: Loss, x: &[Vec<f64>], y: &[f64], ridge: f64) -> (Vec<f64>, f64) {
    let (k, total) = (x.len(), hand.total());
    let value = |b: &[f64]| {
        let u = predict(x, b, y.len());
        mean_loss(hand, loss, &u, y) + 0.5 * ridge * b[..k].iter().map(|b| b * b).sum::<f64>()
    };
    let ones = vec![1.0; y.len()];
    let column = |j: usize| if j < k { &x[j] } else { &ones };
    let mut b = vec![0.0; k + 1];
    let mut now = value(&b);
    let sum = |f: &dyn Fn(usize) -> f64| (0..y.len()).map(f).sum::<f64>() / total;
    let slopes = |b: &[f64]| -> Vec<f64> {
        let u = predict(x, b, y.len());
        let one = |j: usize| {
            let s = sum(&|i| hand.weight[i] * loss.at(u[i], y[i]).1 * column(j)[i]);
            if j < k { s + ridge * b[j] } else { s }
        };
        (0..=k).map(one).collect()
    };
    let steep = |slope: &[f64]| slope.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
    let mut slope = slopes(&b);
    for _ in 0..300 {
        let u = predict(x, &b, y.len());
        let at: Vec<_> = u.iter().zip(y).map(|(u, y)| loss.at(*u, *y)).collect();
        let mut h = vec![vec![0.0; k + 1]; k + 1];
        for i in 0..=k {
            for j in 0..=k {
                h[i][j] = sum(&|r| hand.weight[r] * at[r].2 * column(i)[r] * column(j)[r]);
            }
            h[i][i] += if i < k { ridge } else { 1e-12 };
        }
        let step = solve(h, slope.clone());
        let mut length = 1.0;
        let mut moved = false;
        while length > 1e-12 {
            let next: Vec<f64> = b.iter().zip(&step).map(|(b, d)| b - length * d).collect();
            let (found, level) = (value(&next), slopes(&next));
            // Where the value has no more digits to fall by, the slopes go on.
            let flat = found <= now * (1.0 + 1e-14) && steep(&level) < 0.5 * steep(&slope);
            if found < now || flat {
                (b, now, slope, moved) = (next, found, level, true);
                break;
            }
            length *= 0.5;
        }
        if !moved {
            break;
        }
    }
    let centre = b.pop().expect("the constant");
    (b, centre)
}

fn predict(x: &[Vec<f64>], b: &[f64], n: usize) -> Vec<f64> {
    let mut u = vec![b[x.len()]; n];
    for (x, b) in x.iter().zip(b) {
        u.iter_mut().zip(x).for_each(|(u, x)| *u += b * x);
    }
    u
}

/// Gauss elimination with pivots.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for j in 0..n {
        let pivot = (j..n).max_by(|p, q| a[*p][j].abs().total_cmp(&a[*q][j].abs()));
        let pivot = pivot.expect("a row is left");
        a.swap(j, pivot);
        b.swap(j, pivot);
        for i in j + 1..n {
            let factor = a[i][j] / a[j][j];
            for c in j..n {
                a[i][c] -= factor * a[j][c];
            }
            b[i] -= factor * b[j];
        }
    }
    for j in (0..n).rev() {
        b[j] = (b[j] - (j + 1..n).map(|c| a[j][c] * b[c]).sum::<f64>()) / a[j][j];
    }
    b
}

/// The condition number of the correlations of some columns, each with a ridge (Jacobi).
pub fn condition(hand: &Hand, columns: &[&[f64]], ridge: f64) -> f64 {
    let k = columns.len();
    let unit = |x: &&[f64]| {
        let s = hand.deviation(x);
        let root = |w: &f64| (w / hand.total()).sqrt();
        let x = hand.centred(x);
        x.iter().zip(&hand.weight).map(|(v, w)| v / s * root(w)).collect::<Vec<f64>>()
    };
    let x: Vec<Vec<f64>> = columns.iter().map(unit).collect();
    let dot = |i: usize, j: usize| x[i].iter().zip(&x[j]).map(|(a, b)| a * b).sum::<f64>();
    let mut a: Vec<Vec<f64>> = (0..k).map(|i| (0..k).map(|j| dot(i, j)).collect()).collect();
    for _ in 0..40 {
        for p in 0..k {
            for q in p + 1..k {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for row in &mut a {
                    let (u, v) = (row[p], row[q]);
                    (row[p], row[q]) = (c * u - s * v, s * u + c * v);
                }
                for i in 0..k {
                    let (u, v) = (a[p][i], a[q][i]);
                    (a[p][i], a[q][i]) = (c * u - s * v, s * u + c * v);
                }
            }
        }
    }
    let values: Vec<f64> = (0..k).map(|i| a[i][i].max(0.0) + ridge).collect();
    let (least, most) = values.iter().fold((f64::MAX, 0.0_f64), |(l, m), v| (l.min(*v), m.max(*v)));
    if k == 0 { 1.0 } else { most / least }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_four_points() {
        // By hand: x = 0, 1, 2, 3 and y = 1, 3, 2, 4 have slope 0.8 and mean 2.5.
        let hand = Hand {
            weight: vec![1.0; 4],
            y: Vec::new(),
            features: Vec::new(),
            masked: 0,
            class_counts: Vec::new(),
        };
        let (x, y) = ([0.0, 1.0, 2.0, 3.0], [1.0, 3.0, 2.0, 4.0]);
        let line = fit(&hand, Loss::Squared, &[&x], &y, 0.0);
        assert!((line.coefficient[0] - 0.8).abs() < 1e-14 && line.centre == 2.5);
        // The residuals are -0.3, 0.9, -0.9, 0.3: half their mean square is 0.225.
        assert!((line.loss - 0.225).abs() < 1e-14);
        // With a constant alone the logistic loss of one in four is its entropy.
        let none = fit(&hand, Loss::Logistic, &[], &[1.0, -1.0, -1.0, -1.0], 1e-3);
        let entropy = -(0.25 * 0.25_f64.ln() + 0.75 * 0.75_f64.ln());
        assert!((none.loss - entropy).abs() < 1e-12 && (none.centre + 3f64.ln()).abs() < 1e-6);
        assert!((condition(&hand, &[&x, &y], 0.0) - 1.8 / 0.2).abs() < 1e-9);
    }
}
