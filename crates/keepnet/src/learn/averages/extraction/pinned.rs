//! Pinned features: they are in every model, and the others are chosen with them projected out.
//!
//! ```text
//! P pinned, F free:   S_FF.P = S_FF - S_FP S_PP^-1 S_PF     s_F.P = s_F - S_FP S_PP^-1 s_P
//! syy.P = syy - s_P'S_PP^-1 s_P     n.P = n - |P|     scaled again to a unit diagonal
//! original coefficients, with D the scale:   b_F = D b     b_P = S_PP^-1 (s_P - S_PF b_F)
//! ```
//!
//! A method works on the Gram of the residuals after least squares on `P`. So `P` is neither
//! penalised nor ranked, and a free feature that `P` explains is left out. The refit is on all
//! together. Cost `2 |P| p^2` flops, memory `8 p^2` bytes. Source: Frisch and Waugh 1933.

use faer::{Accum, Mat, Par};

use super::extract::Extract;
use super::fit::Fit;
use super::gram::{Gram, gather, least_squares};
use super::path::Path;
use crate::data::row::RowProblem;
use crate::error::{Error, Result};
use crate::selection::Value;

/// Share of its variance that a free feature must have left, in errors of a correlation. Block
/// products in f32 leave a share of 1e-7 where the true share is 0.
const EXPLAINED: f64 = 10.0;

/// A Gram with the places of the pinned features.
pub(crate) struct Pinned {
    pub(crate) whole: Gram,
    pins: Vec<usize>,
    /// Pinned features that earlier pinned ones span; they are in no model.
    spanned: Vec<usize>,
    /// `None` where all features are free.
    free: Option<Free>,
}

/// The free features with the pinned ones projected out.
struct Free {
    gram: Gram,
    /// Place of each in the whole Gram.
    place: Vec<usize>,
    /// Standard deviation of each after the projection.
    scale: Vec<f64>,
}

impl Pinned {
    /// Splits a Gram, whose features ascend. Features that do not vary are not in it; see
    /// [`constant_warnings`].
    pub(crate) fn new(whole: Gram, problem: &RowProblem) -> Result<Self> {
        let place = |j: u32| whole.index.binary_search(&j).ok();
        let (pins, spanned) = independent(&whole, problem.pinned().filter_map(place));
        if pins.is_empty() {
            return Ok(Self { whole, pins, spanned, free: None });
        }
        let free = Free::new(&whole, &pins, &spanned)?;
        Ok(Self { whole, pins, spanned, free: Some(free) })
    }

    /// A warning for each pinned feature that is left out because earlier ones span it.
    pub(crate) fn warnings(&self, problem: &RowProblem) -> impl Iterator<Item = String> {
        let name = |j: &usize| &problem.names[self.whole.index[*j] as usize];
        let say = |j| {
            format!(
                "{:?} is always kept, but is collinear with those kept before it and is left out",
                name(j)
            )
        };
        self.spanned.iter().map(say).collect::<Vec<_>>().into_iter()
    }

    /// The Gram of the free features, from which a method chooses.
    pub(crate) fn free(&self) -> &Gram {
        self.free.as_ref().map_or(&self.whole, |free| &free.gram)
    }

    /// Places in the whole Gram of free places.
    fn places(&self, set: &[usize]) -> Vec<usize> {
        match &self.free {
            None => set.to_vec(),
            Some(free) => set.iter().map(|at| free.place[*at]).collect(),
        }
    }

    /// The pinned features and the free places `set`, as ascending places of the whole Gram.
    pub(crate) fn with_pins(&self, set: &[usize]) -> Vec<usize> {
        let mut all = self.places(set);
        all.extend(&self.pins);
        all.sort_unstable();
        all
    }

    /// The best `k` of the free features by a method, as free places; fewer where there are fewer.
    pub(crate) fn choose(&self, extract: &dyn Extract, k: usize) -> Result<Vec<usize>> {
        match k.min(self.free().p()) {
            0 => Ok(Vec::new()),
            k => extract.choose(self.free(), k),
        }
    }

    /// The method's numbers for the result.
    pub(crate) fn notes(&self, extract: &dyn Extract) -> Result<Vec<(&'static str, Value)>> {
        if self.free().p() == 0 { Ok(Vec::new()) } else { extract.notes(self.free()) }
    }

    /// The models of a method's ranking, with its ranking; the pinned features are in each.
    pub(crate) fn path(&self, extract: &dyn Extract) -> Result<(Path, Vec<usize>)> {
        let gram = self.free();
        let most = gram.p().min((gram.n / 2.0) as usize).max(1);
        let ranking = extract.rank(gram, most)?;
        Ok((Path::after(&self.whole, &self.pins, &self.places(&ranking))?, ranking))
    }

    /// The model on the pinned features and the free places `set`.
    pub(crate) fn fit(
        &self,
        extract: &dyn Extract,
        set: &[usize],
        notes: Vec<(&'static str, Value)>,
        warnings: Vec<String>,
    ) -> Result<Fit> {
        let own = match set.is_empty() {
            true => None,
            false => extract.coefficients(self.free(), set).transpose()?,
        };
        let Some(own) = own else { return self.refit(set, notes, warnings) };
        let all = self.with_pins(set);
        Fit::with(&self.whole, &all, &self.all_coefficients(set, own, &all)?, notes, warnings)
    }

    /// Least squares on the pinned features and the free places `set`.
    pub(crate) fn refit(
        &self,
        set: &[usize],
        notes: Vec<(&'static str, Value)>,
        warnings: Vec<String>,
    ) -> Result<Fit> {
        let all = self.with_pins(set);
        if all.len() as f64 >= self.whole.n {
            return Err(Error::Data(format!(
                "{} features cannot be fitted to {:.0} rows; give a smaller -k or more rows",
                all.len(),
                self.whole.n
            )));
        }
        Fit::new(&self.whole, &all, notes, warnings)
    }

    /// Coefficients of the places `all` from those of the free places `set`.
    fn all_coefficients(
        &self,
        set: &[usize],
        mut b: Vec<Vec<f64>>,
        all: &[usize],
    ) -> Result<Vec<Vec<f64>>> {
        let Some(free) = &self.free else { return Ok(b) };
        b.iter_mut().for_each(|b| b.iter_mut().zip(set).for_each(|(b, at)| *b /= free.scale[*at]));
        let (places, whole) = (self.places(set), &self.whole);
        let rest = |(xy, b): (&Vec<f64>, &Vec<f64>)| -> Vec<f64> {
            let one = |pin: &usize| {
                let column = whole.column(*pin);
                xy[*pin] - places.iter().zip(b).map(|(j, b)| column[*j] * b).sum::<f64>()
            };
            self.pins.iter().map(one).collect()
        };
        let right: Vec<Vec<f64>> = whole.xy.iter().zip(&b).map(rest).collect();
        let pinned = least_squares(&gather(&whole.s, &self.pins), &right)?.0;
        let coefficient = |output: usize, j: &usize| match self.pins.iter().position(|pin| pin == j)
        {
            Some(at) => pinned[output][at],
            None => places.iter().position(|place| place == j).map_or(0.0, |at| b[output][at]),
        };
        Ok((0..b.len()).map(|o| all.iter().map(|j| coefficient(o, j)).collect()).collect())
    }
}

impl Free {
    fn new(whole: &Gram, pins: &[usize], spanned: &[usize]) -> Result<Self> {
        let mut pinned = vec![false; whole.p()];
        pins.iter().chain(spanned).for_each(|pin| pinned[*pin] = true);
        let n = whole.n - pins.len() as f64;
        if n <= 1.0 {
            return Err(Error::Data(format!(
                "{} features that are always kept need more than the {:.0} rows so far",
                pins.len(),
                whole.n
            )));
        }
        let others: Vec<usize> = (0..whole.p()).filter(|j| !pinned[*j]).collect();
        // One solve for both the free columns and the outputs.
        let of = |column: &[f64]| pins.iter().map(|pin| column[*pin]).collect::<Vec<f64>>();
        let mut right: Vec<Vec<f64>> = others.iter().map(|j| of(whole.column(*j))).collect();
        right.extend(whole.xy.iter().map(|xy| of(xy)));
        let solved = least_squares(&gather(&whole.s, pins), &right)?.0;
        let (across, outputs) = solved.split_at(others.len());
        let left = Mat::from_fn(others.len(), pins.len(), |i, at| right[i][at]);
        let across = Mat::from_fn(pins.len(), others.len(), |at, j| across[j][at]);
        let mut s = gather(&whole.s, &others);
        faer::linalg::matmul::matmul(&mut s, Accum::Add, &left, &across, -1.0, Par::Seq);

        let least = EXPLAINED * whole.rounding;
        let keep: Vec<usize> = (0..others.len()).filter(|i| s[(*i, *i)] > least).collect();
        let scale: Vec<f64> = keep.iter().map(|i| s[(*i, *i)].sqrt()).collect();
        let place: Vec<usize> = keep.iter().map(|i| others[*i]).collect();
        let scaled = |xy: (&Vec<f64>, &Vec<f64>)| -> Vec<f64> {
            let left = keep.iter().zip(&scale).map(|(i, scale)| {
                let explained: f64 = right[*i].iter().zip(xy.1).map(|(a, b)| a * b).sum();
                (xy.0[others[*i]] - explained) / scale
            });
            left.collect()
        };
        let left_yy = |(output, yy): (usize, &f64)| {
            let explained: f64 =
                right[others.len() + output].iter().zip(&outputs[output]).map(|(a, b)| a * b).sum();
            (yy - explained).max(1e-12 * yy)
        };
        let gram = Gram {
            s: rescale(&s, &keep, &scale),
            xy: whole.xy.iter().zip(outputs).map(scaled).collect(),
            yy: whole.yy.iter().enumerate().map(left_yy).collect(),
            n,
            index: place.iter().map(|j| whole.index[*j]).collect(),
            sd: place.iter().zip(&scale).map(|(j, scale)| whole.sd[*j] * scale).collect(),
            mean: place.iter().map(|j| whole.mean[*j]).collect(),
            mean_y: whole.mean_y.clone(),
            rounding: whole.rounding,
            f32_storage: whole.f32_storage,
            ridge: std::sync::OnceLock::new(),
        };
        Ok(Self { gram, place, scale })
    }
}

/// The pins that earlier pins do not span, and the others; by Cholesky, row by row.
fn independent(whole: &Gram, pins: impl Iterator<Item = usize>) -> (Vec<usize>, Vec<usize>) {
    let (mut kept, mut spanned) = (Vec::new(), Vec::new());
    let mut factor: Vec<Vec<f64>> = Vec::new();
    for pin in pins {
        let column = whole.column(pin);
        let mut row: Vec<f64> = Vec::with_capacity(kept.len() + 1);
        for (line, j) in factor.iter().zip(&kept) {
            let dot: f64 = line.iter().zip(&row).map(|(a, b)| a * b).sum();
            row.push((column[*j] - dot) / line[line.len() - 1]);
        }
        let pivot = 1.0 - row.iter().map(|v| v * v).sum::<f64>();
        if pivot <= EXPLAINED * whole.rounding {
            spanned.push(pin);
            continue;
        }
        row.push(pivot.sqrt());
        factor.push(row);
        kept.push(pin);
    }
    (kept, spanned)
}

/// Rows and columns `keep`, divided by their scales: exactly symmetric, with a unit diagonal.
fn rescale(s: &Mat<f64>, keep: &[usize], scale: &[f64]) -> Mat<f64> {
    let entry = |i: usize, j: usize| match i.cmp(&j) {
        std::cmp::Ordering::Equal => 1.0,
        _ => s[(keep[i.max(j)], keep[i.min(j)])] / (scale[i] * scale[j]),
    };
    Mat::from_fn(keep.len(), keep.len(), entry)
}

/// A warning for each pinned feature that does not vary, and so is not in the Gram.
pub(crate) fn constant_warnings(gram: &Gram, problem: &RowProblem) -> Vec<String> {
    let constant = problem.pinned().filter(|j| gram.index.binary_search(j).is_err());
    let say = |j: u32| {
        let name = &problem.names[j as usize];
        format!("{name:?} is always kept, but does not vary in the rows so far and is left out")
    };
    constant.map(say).collect()
}

/// Bytes that pinned features add to an extraction.
pub(crate) fn bytes_for(problem: &RowProblem) -> u64 {
    let (p, m) = (problem.features() as u64, problem.pinned().count() as u64);
    if m == 0 { 0 } else { 16 * p * p + 32 * p * m }
}

/// An error where features are pinned, for a method that cannot pin them.
pub(crate) fn refuse_pins(problem: &RowProblem, method: &str) -> Result<()> {
    match problem.pinned().next() {
        None => Ok(()),
        Some(_) => Err(Error::Unsupported(format!(
            "{method} moves every weight by its own rule, so no feature can be kept apart; leave \
             `always` and `covar` out, or use a method on running averages such as annealed-ridge"
        ))),
    }
}

#[cfg(test)]
mod tests;
