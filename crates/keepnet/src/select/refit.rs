//! The final fit of a model on the kept columns.
//!
//! ```text
//! squared:  solve (G + 1e-10 I) w = X'y / W           on columns scaled to unit variance
//! others:   Newton on L(Xw + b) / W + 1e-3 |w|^2 / 2   on the same, at most 50 steps, safeguarded
//! score_j = w_j^2 / (2 inverse(H)_jj)                  the rise of the loss if j were removed
//! ```
//!
//! The ridge keeps the coefficients of separable classes finite. Covariates have a ridge of 1e-8
//! only, against collinearity. Several outputs (one class against the rest) are fitted one by one;
//! their scores and losses are added. Cost: `n k^2` flops per step; memory `O(n + k^2)`.

use crate::data::kept::Kept;
use crate::data::target::{Problem, Target, Task};
use crate::error::{Error, Result};
use crate::loss::{Loss, LossKind};
use crate::numeric::inner_product::{Frame, centre};
use crate::numeric::linalg::{Square, inverse, solve};

/// Ridge of the losses that need one, on unit-variance columns.
pub(crate) const RIDGE: f64 = 1e-3;
const NEWTON_STEPS: usize = 50;
/// Newton ends where slopes are below this share of a usual margin, and steps below this share of
/// the largest coefficient.
const TOLERANCE: f64 = 1e-9;

/// The targets of a model, and its loss.
///
/// Losses of a difference `u - y` do not change when both are shifted. Under them the offset and,
/// where columns are centred, the mean are subtracted from `y`, so that a large offset of the
/// target costs no digits.
pub struct Outputs {
    /// Target of each output.
    pub y: Vec<Vec<f64>>,
    /// The mean that was subtracted from each output; it is part of the intercept.
    pub base: Vec<f64>,
    /// Added to every prediction, where it was not subtracted from `y`.
    pub offset: Option<Vec<f64>>,
    /// The loss by name.
    pub kind: LossKind,
    /// The loss.
    pub loss: Box<dyn Loss>,
    /// The size of a usual margin, as the unit of tolerances.
    pub scale: f64,
}

impl Outputs {
    /// The outputs of a problem under a loss; `epsilon` is for the insensitive loss, a tenth of
    /// the target's deviation where `None`.
    pub fn new(
        problem: &Problem,
        kind: LossKind,
        epsilon: Option<f64>,
        frame: &Frame,
    ) -> Result<Self> {
        Self::with_target(problem, kind, epsilon, frame, kind.of_difference())
    }

    /// The same, with the target shifted for the squared loss only. A published recurrence whose
    /// intercept starts at 0 depends on where zero is.
    pub fn as_given(
        problem: &Problem,
        kind: LossKind,
        epsilon: Option<f64>,
        frame: &Frame,
    ) -> Result<Self> {
        Self::with_target(problem, kind, epsilon, frame, kind == LossKind::Squared)
    }

    fn with_target(
        problem: &Problem,
        kind: LossKind,
        epsilon: Option<f64>,
        frame: &Frame,
        shifted: bool,
    ) -> Result<Self> {
        let mut y = problem.target.outputs();
        let mut base = vec![0.0; y.len()];
        let mut offset = problem.offset.clone();
        let mut scale = 1.0;
        if shifted {
            let offset = offset.take();
            for (y, base) in y.iter_mut().zip(&mut base) {
                if let Some(offset) = &offset {
                    y.iter_mut().zip(offset).for_each(|(y, o)| *y -= o);
                }
                *base = frame.centre(y);
            }
        }
        if kind.task() != Some(Task::Classification) {
            let deviation = |y: &Vec<f64>| {
                let mut y = y.clone();
                frame.centre(&mut y);
                frame.mean_square(&y)
            };
            scale = y.iter().map(deviation).fold(0.0, f64::max).sqrt();
        }
        let epsilon = epsilon.or_else(|| match &problem.target {
            Target::Numbers(y) => {
                let mut y = y.clone();
                centre(&mut y, frame.weight(), frame.weight_sum());
                Some(0.1 * frame.mean_square(&y).sqrt())
            }
            Target::Classes { .. } => None,
        });
        let loss = kind.make(&problem.target, epsilon)?;
        Ok(Self { y, base, offset, kind, loss, scale })
    }

    /// The prediction without a model: the offset, or zeros.
    #[must_use]
    pub fn start(&self, n: usize) -> Vec<f64> {
        self.offset.clone().unwrap_or_else(|| vec![0.0; n])
    }
}

/// A fitted model.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Coefficient on the original scale of column `j` in output `c`, at `j * outputs + c`.
    pub coefficients: Vec<f64>,
    /// Intercepts on the original scale, one per output.
    pub intercept: Vec<f64>,
    /// Loss over the rows, summed over outputs and divided by the sum of sample weights.
    pub loss: f64,
    /// For each column the rise of the loss if it were removed.
    pub score: Vec<f64>,
}

/// Fits the model on `columns`.
pub fn refit(frame: &Frame, columns: &[&Kept], outputs: &Outputs) -> Result<Fit> {
    let (k, count) = (columns.len(), outputs.y.len());
    let mut fit = Fit {
        coefficients: vec![0.0; k * count],
        intercept: vec![0.0; count],
        loss: 0.0,
        score: vec![0.0; k],
    };
    let scale: Vec<f64> = columns.iter().map(|x| frame.square(&x.stats).sqrt()).collect();
    let scale: Vec<f64> = scale.iter().map(|s| if *s > 0.0 { 1.0 / s } else { 0.0 }).collect();
    let gram = match outputs.kind {
        LossKind::Squared => {
            let ones = vec![1.0; frame.n()];
            Some(frame.hessian(columns, frame.weight().unwrap_or(&ones)).0)
        }
        _ => None,
    };
    for c in 0..count {
        let one = match &gram {
            Some(gram) => squared(frame, columns, gram, &scale, &outputs.y[c])?,
            None => newton(frame, columns, &scale, outputs, c)?,
        };
        for j in 0..k {
            let w = one.w[j];
            fit.score[j] += 0.5 * w * w / one.inverse.at(j, j);
            fit.coefficients[j * count + c] = w * scale[j];
        }
        let shift =
            |j: usize| fit.coefficients[j * count + c] * frame.original_mean(&columns[j].stats);
        fit.intercept[c] = outputs.base[c] + one.intercept - (0..k).map(shift).sum::<f64>();
        fit.loss += one.loss;
    }
    Ok(fit)
}

/// The model of one output on scaled, centred columns.
struct OutputFit {
    w: Vec<f64>,
    intercept: f64,
    loss: f64,
    inverse: Square,
}

fn squared(
    frame: &Frame,
    columns: &[&Kept],
    gram: &Square,
    scale: &[f64],
    y: &[f64],
) -> Result<OutputFit> {
    let k = columns.len();
    let mut jitter = 1e-10;
    let inverse = loop {
        let entry = |i: usize, j: usize| {
            gram.at(i, j) * scale[i] * scale[j] + if i == j { jitter } else { 0.0 }
        };
        match inverse(k, entry) {
            Some(inverse) => break inverse,
            None if jitter < 1.0 => jitter *= 10.0,
            None => return Err(Error::Data("the kept columns cannot be fitted together".into())),
        }
    };
    let mut weighted = y.to_vec();
    if let Some(v) = frame.weight() {
        crate::numeric::kernel::scale_by(&mut weighted, v);
    }
    let xy = |j: usize| columns[j].column().dot(&weighted) * scale[j] / frame.weight_sum();
    let xy: Vec<f64> = (0..k).map(xy).collect();
    let w: Vec<f64> =
        (0..k).map(|i| inverse.row(i)[..k].iter().zip(&xy).map(|(a, b)| a * b).sum()).collect();
    let scaled: Vec<f64> = w.iter().zip(scale).map(|(w, s)| -w * s).collect();
    let mut r = y.to_vec();
    frame.add_prediction(columns, &scaled, &mut r);
    Ok(OutputFit { w, intercept: 0.0, loss: 0.5 * frame.mean_square(&r), inverse })
}

fn newton(
    frame: &Frame,
    columns: &[&Kept],
    scale: &[f64],
    outputs: &Outputs,
    c: usize,
) -> Result<OutputFit> {
    let (k, n, total) = (columns.len(), frame.n(), frame.weight_sum());
    let size = k + usize::from(frame.centred());
    let ridge: Vec<f64> =
        columns.iter().map(|x| if x.id.is_none() { 1e-8 } else { RIDGE }).collect();
    let (y, weight, loss) = (&outputs.y[c], frame.weight(), &*outputs.loss);
    let predict = |w: &[f64]| {
        let mut u = outputs.start(n);
        let scaled: Vec<f64> = w[..k].iter().zip(scale).map(|(w, s)| w * s).collect();
        frame.add_prediction(columns, &scaled, &mut u);
        if size > k {
            u.iter_mut().for_each(|u| *u += w[k]);
        }
        u
    };
    let penalty = |w: &[f64]| 0.5 * w[..k].iter().zip(&ridge).map(|(w, r)| r * w * w).sum::<f64>();
    let mut w = vec![0.0; size];
    let mut u = predict(&w);
    let mut value = loss.value(&u, y, weight) / total + penalty(&w);
    let (mut g, mut d) = (vec![0.0; n], vec![0.0; n]);
    let mut steps = 0;
    loop {
        loss.slopes(&u, y, weight, &mut g);
        loss.curvatures(&u, y, weight, &mut d);
        let (sum_g, sum_d) = (g.iter().sum::<f64>(), d.iter().sum::<f64>() / total);
        let (h, ones) = frame.hessian(columns, &d);
        let entry = |i: usize, j: usize| match (i < k, j < k) {
            (true, true) => h.at(i, j) * scale[i] * scale[j] + if i == j { ridge[i] } else { 0.0 },
            (true, false) => ones[i] * scale[i],
            (false, true) => ones[j] * scale[j],
            (false, false) => sum_d + 1e-10,
        };
        let slope = |j: usize| {
            let x = columns[j];
            let raw = x.column().dot(&g) - frame.mean(&x.stats) * sum_g;
            raw * scale[j] / total + ridge[j] * w[j]
        };
        let mut slopes: Vec<f64> = (0..k).map(slope).collect();
        if size > k {
            slopes.push(sum_g / total);
        }
        let mut step = slopes.clone();
        let solved = steps < NEWTON_STEPS && solve(size, entry, &mut step).is_some();
        // In a direction with no curvature but the ridge, small slopes do not mean that the
        // coefficients are near the minimum, so steps are compared too.
        let small_slopes = slopes.iter().all(|s| s.abs() <= TOLERANCE * outputs.scale);
        let largest = w.iter().fold(0.0, |m: f64, w| m.max(w.abs()));
        let small_step = step.iter().all(|d| d.abs() <= TOLERANCE * largest);
        // Near the minimum the fall of the value is below its rounding.
        let slack = if small_slopes { 1e-12 * value.abs() } else { 0.0 };
        let (moved, at) = match solved && !(small_slopes && small_step) {
            true => line_search(&w, &step, &slopes, value + slack, |w| {
                let u = predict(w);
                (loss.value(&u, y, weight) / total + penalty(w), u)
            }),
            false => (false, None),
        };
        if let (true, Some((next, found, next_u))) = (moved, at) {
            let gained = value - found;
            (w, value, u) = (next, found, next_u);
            steps += 1;
            if gained > 1e-14 * value.abs() {
                continue;
            }
            steps = NEWTON_STEPS;
            continue;
        }
        let all = inverse(size, entry)
            .ok_or_else(|| Error::Data("the kept columns cannot be fitted together".into()))?;
        let loss_alone = value - penalty(&w);
        let intercept = if size > k { w[k] } else { 0.0 };
        w.truncate(k);
        return Ok(OutputFit { w, intercept, loss: loss_alone, inverse: all });
    }
}

/// A point, its value and its prediction.
type Point = (Vec<f64>, f64, Vec<f64>);

/// Halves a Newton step until the value falls enough; `false` where it never does.
fn line_search(
    w: &[f64],
    step: &[f64],
    slopes: &[f64],
    value: f64,
    at: impl Fn(&[f64]) -> (f64, Vec<f64>),
) -> (bool, Option<Point>) {
    let descent: f64 = step.iter().zip(slopes).map(|(d, s)| d * s).sum();
    let mut length = 1.0;
    while length > 1e-6 {
        let next: Vec<f64> = w.iter().zip(step).map(|(w, d)| w - length * d).collect();
        let (found, u) = at(&next);
        if found <= value - 1e-4 * length * descent {
            return (true, Some((next, found, u)));
        }
        length *= 0.5;
    }
    (false, None)
}
