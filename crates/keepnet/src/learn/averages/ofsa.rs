//! Online feature selection with annealing: gradient steps while features are dropped.
//!
//! ```text
//! b = 0;  for e = 1..N:  b -= eta (S b - s + ridge b);  keep the M_e largest |b|, drop the rest
//! M_e = k + (p - k) max(0, (N - 2 e) / (2 e mu + N))         reaches k at e = N / 2
//! eta = 1.9 / (lambda_max(S) + ridge);  where a step raises the objective 1/2 b'(S + ridge) b - s'b,
//! eta is halved and the schedule starts again
//! ```
//!
//! A step raises the objective only where eta times the curvature along the slope exceeds 2. This is
//! checked whenever the objective is higher than before the last step. Dropping features may raise
//! it too, which is allowed. `lanczos` estimates lambda_max.
//!
//! After the first step b = eta s, so features of equal correlation with the target tie at the first
//! cut. Two features that differ from a constant in one row each, of the same class, are an example.
//! Sizes within the rounding of the averages count as equal, and among equal ones the later feature
//! is dropped.
//!
//! Once `M_e = k` the support cannot change, so the loop ends and least squares follows. `S` is
//! compacted whenever the remaining set has shrunk by a tenth. With mu = 10 a whole run costs
//! `0.047 N` products with the full `S`, whose lower half is stored in f32. Source: Sun and Barbu, arXiv
//! 1803.11521, Algorithm 2; schedule of Barbu et al., PAMI 39 (2017). The ridge is ours. The papers
//! state no N, mu and eta; ours reproduce the published tables.

use super::extract::Extract;
use super::gram::{Gram, sizes};
use super::settings::{build, info, with_shared};
use super::ties::{self, weakest};
use crate::data::row::RowProblem;
use crate::error::{Error, Result};
use crate::learn::RowLearner;
use crate::numeric::symmetric::Symmetric;
use crate::registry::setting::Bounds;
use crate::registry::{MethodInfo, MethodSpec, Setting};
use crate::run::budget::Budget;
use crate::selection::Value;

/// Settings of [`Ofsa`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfsaParams {
    /// Iterations of the schedule, at least 2.
    pub iterations: usize,
    /// How fast the schedule drops features, above 0.
    pub mu: f64,
    /// Step over its stable bound `1 / lambda_max`, above 0 and below 2.
    pub step: f64,
    /// Ridge in the gradient.
    pub ridge: f64,
}

impl Default for OfsaParams {
    fn default() -> Self {
        let (mu, step) = const { (MU.usual_number(), STEP.usual_number()) };
        let (iterations, ridge) = const { (ITERATIONS.usual_whole(), RIDGE.usual_number()) };
        Self { iterations, mu, step, ridge }
    }
}

/// Gradient steps with an annealing schedule.
#[derive(Clone, Copy, Debug)]
pub struct Ofsa {
    params: OfsaParams,
}

/// Largest number of times that the step is halved.
const HALVINGS: usize = 64;

/// The problem of the features that remain.
struct Live {
    place: Vec<usize>,
    s: Symmetric,
    xy: Vec<Vec<f64>>,
    b: Vec<Vec<f64>>,
    /// The slope of each output before the last step. Like `xy` and `b`, padded to the width of `s`.
    slope: Vec<Vec<f64>>,
}

impl Ofsa {
    /// Checks the settings.
    pub fn new(params: OfsaParams) -> Result<Self> {
        RIDGE.check(params.ridge)?;
        ITERATIONS.check(params.iterations)?;
        MU.check(params.mu)?;
        STEP.check(params.step)?;
        Ok(Self { params })
    }

    /// `M_e`, rounded down.
    fn kept_at(&self, e: usize, p: usize, k: usize) -> usize {
        let (e, n) = (e as f64, self.params.iterations as f64);
        let share = ((n - 2.0 * e) / (2.0 * e * self.params.mu + n)).max(0.0);
        k + ((p - k) as f64 * share) as usize
    }

    /// The features that remain after the schedule, and the dropped ones in order.
    fn anneal(&self, gram: &Gram, k: usize) -> Result<(Vec<usize>, Vec<usize>)> {
        let live = Live::new(gram);
        let same = ties::same(gram);
        let mut eta = self.params.step / (live.s.largest_eigenvalue() + self.params.ridge);
        for _ in 0..HALVINGS {
            if let Some(done) = self.schedule(Live::new(gram), k, eta, same) {
                return Ok(done);
            }
            eta /= 2.0;
        }
        Err(Error::Data(
            "no step of ofsa lowers its objective, so the correlations are no finite numbers; scale \
             the columns, or use annealed-ridge"
                .into(),
        ))
    }

    /// One run of the schedule; `None` where a step raises the objective.
    fn schedule(
        &self,
        mut live: Live,
        k: usize,
        eta: f64,
        same: f64,
    ) -> Option<(Vec<usize>, Vec<usize>)> {
        let p = live.s.p();
        let mut alive = live.all();
        let (mut count, mut dropped) = (p, Vec::with_capacity(p - k));
        let mut last = 0.0;
        for e in 1..=self.params.iterations {
            if count == k {
                break;
            }
            let value = live.descend(eta, self.params.ridge, &alive);
            let lower = value <= last;
            if !lower && !live.steady(eta, self.params.ridge) {
                return None;
            }
            last = value;
            let next = self.kept_at(e, p, k).min(count);
            if next == count {
                continue;
            }
            let size = live.sizes(&alive);
            for at in weakest(&size, count - next, same) {
                dropped.push(live.place[at]);
                live.b.iter_mut().for_each(|b| b[at] = 0.0);
                alive[at] = false;
            }
            count = next;
            if 10 * next <= 9 * live.s.p() || next == k {
                let keep: Vec<usize> = (0..alive.len()).filter(|at| alive[*at]).collect();
                live.compact(&keep);
                alive = live.all();
            }
        }
        let remaining = (0..alive.len()).filter(|at| alive[*at]).map(|at| live.place[at]);
        Some((remaining.collect(), dropped))
    }
}

impl Live {
    fn new(gram: &Gram) -> Self {
        let s = Symmetric::of(&gram.s);
        let padded = |v: &Vec<f64>| {
            let mut v = v.clone();
            v.resize(s.width(), 0.0);
            v
        };
        Self {
            place: (0..gram.p()).collect(),
            xy: gram.xy.iter().map(padded).collect(),
            b: vec![vec![0.0; s.width()]; gram.xy.len()],
            slope: vec![vec![0.0; s.width()]; gram.xy.len()],
            s,
        }
    }

    /// Marks every feature as alive, and the padding as not.
    fn all(&self) -> Vec<bool> {
        let mut alive = vec![true; self.s.p()];
        alive.resize(self.s.width(), false);
        alive
    }

    /// One step; the objective before it.
    fn descend(&mut self, eta: f64, ridge: f64, alive: &[bool]) -> f64 {
        let mut value = 0.0;
        for ((b, xy), slope) in self.b.iter_mut().zip(&self.xy).zip(&mut self.slope) {
            self.s.times(b, slope);
            for (j, (b, slope)) in b.iter_mut().zip(slope).enumerate() {
                if !alive[j] {
                    (*b, *slope) = (0.0, 0.0);
                    continue;
                }
                *slope += ridge * *b;
                value += *b * (0.5 * *slope - xy[j]);
                *slope -= xy[j];
                *b -= eta * *slope;
            }
        }
        value
    }

    /// Whether a step along the last slopes lowers the objective.
    fn steady(&self, eta: f64, ridge: f64) -> bool {
        let mut product = vec![0.0; self.s.width()];
        self.slope.iter().all(|slope| {
            self.s.times(slope, &mut product);
            let square: f64 = slope.iter().map(|v| v * v).sum();
            let bend: f64 = slope.iter().zip(&product).map(|(a, b)| a * b).sum();
            square == 0.0 || eta * (bend + ridge * square) < 2.0 * square
        })
    }

    /// `|b_j|` where alive, -1 elsewhere.
    fn sizes(&self, alive: &[bool]) -> Vec<f64> {
        let size = sizes(&self.b);
        size.iter().zip(alive).map(|(v, live)| if *live { *v } else { -1.0 }).collect()
    }

    fn compact(&mut self, keep: &[usize]) {
        self.s.keep(keep);
        let width = self.s.width();
        self.slope.iter_mut().for_each(|slope| slope.truncate(width));
        let take = |v: &Vec<f64>| {
            let mut v: Vec<f64> = keep.iter().map(|at| v[*at]).collect();
            v.resize(width, 0.0);
            v
        };
        self.xy = self.xy.iter().map(take).collect();
        self.b = self.b.iter().map(take).collect();
        self.place = keep.iter().map(|at| self.place[*at]).collect();
    }
}

impl Extract for Ofsa {
    fn name(&self) -> &'static str {
        "ofsa"
    }

    fn choose(&self, gram: &Gram, k: usize) -> Result<Vec<usize>> {
        Ok(self.anneal(gram, k)?.0)
    }

    fn rank(&self, gram: &Gram, most: usize) -> Result<Vec<usize>> {
        let (last, mut order) = self.anneal(gram, 1)?;
        order.extend(last);
        order.reverse();
        order.truncate(most);
        Ok(order)
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        let p = self.params;
        vec![
            ("iterations", p.iterations.into()),
            ("mu", p.mu.into()),
            ("step", p.step.into()),
            ("ridge", p.ridge.into()),
        ]
    }

    fn many_outputs(&self) -> bool {
        true
    }
}

const ITERATIONS: Setting =
    Setting::whole("iterations", (2, u64::MAX), 3000, "length N of the schedule");
const MU: Setting =
    Setting::number("mu", Bounds::above(0.0), 10.0, "how fast the schedule lets features go");
const STEP: Setting = Setting::number(
    "step",
    Bounds::between(0.0, 2.0),
    1.9,
    "step over 1 / the largest eigenvalue, below 2",
);
const RIDGE: Setting =
    Setting::number("ridge", Bounds::at_least(0.0), 0.0, "ridge in the gradient");

/// The registry's entry.
pub const INFO: MethodInfo = info(
    "ofsa",
    "gradient steps with an annealing schedule that lets features go",
    "p^2 flops a row; 0.047 N p^2 an extraction",
    "Sun and Barbu, arXiv 1803.11521, Algorithm 2; Barbu et al. 2017",
    &with_shared::<4, 9>([ITERATIONS, MU, STEP, RIDGE]),
    make,
);

fn make(spec: &MethodSpec, problem: &RowProblem, budget: Budget) -> Result<Box<dyn RowLearner>> {
    let params = OfsaParams {
        iterations: spec.whole(&ITERATIONS)?,
        mu: spec.number(&MU)?,
        step: spec.number(&STEP)?,
        ridge: spec.number(&RIDGE)?,
    };
    let extract = Ofsa::new(params)?;
    build(spec, problem, extract, budget)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schedule_is_that_of_the_formula() {
        // p 1000, k 100, N 1000, mu 10. By hand: e 1: 100 + 900 * 998/1020 = 980.59;
        // e 100: 100 + 900 * 800/3000 = 340; e 500: 100.
        let ofsa = Ofsa::new(OfsaParams { iterations: 1000, ..OfsaParams::default() }).unwrap();
        let at = |e| ofsa.kept_at(e, 1000, 100);
        assert_eq!([at(1), at(100), at(500), at(900)], [980, 340, 100, 100]);
    }

    #[test]
    fn true_features_remain() {
        let gram = crate::learn::testing::gram(400, 20, 4);
        let ofsa = Ofsa::new(OfsaParams::default()).unwrap();
        assert_eq!(ofsa.choose(&gram, 4).unwrap(), [0, 1, 2, 3]);
        let mut first = ofsa.rank(&gram, 4).unwrap();
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2, 3]);
    }

    #[test]
    fn of_features_that_differ_by_rounding_the_later_is_dropped() {
        let ofsa = Ofsa::new(OfsaParams::default()).unwrap();
        for away in [-1e-15, 0.0, 1e-15] {
            // One of twenty is dropped, after the first step, when sizes are those of `s`.
            let mut gram = crate::learn::testing::gram(400, 20, 4);
            (gram.xy[0][3], gram.xy[0][7]) = (1e-3, 1e-3 * (1.0 + away));
            let kept = ofsa.choose(&gram, 19).unwrap();
            assert!(kept.contains(&3) && !kept.contains(&7), "{away}: {kept:?}");
        }
    }
}
