//! The squared loss through the Gram of the kept set.
//!
//! ```text
//! slope of the kept set:  G w - X_S'y        slope of a newcomer:  <x, X_S> w - <x, y>
//! ```
//!
//! The products `<x, X_S>` of several newcomers are computed at once. Most need not be: with
//! `g_0` the gradient at the block's start, `u_0` its prediction and everything divided by W,
//!
//! ```text
//! |slope now| <= |<x, g_0>| + |x| |u - u_0|
//! ```
//!
//! and where `eta` times that stays below the least kept weight the newcomer goes, whatever its
//! exact slope. `|u - u_0|` comes from the Gram, so this costs one dot product.

use serde::{Deserialize, Serialize};

use super::{Model, Slopes, Trial, Work};
use crate::check::Feature;
use crate::error::Result;
use crate::frame::Frame;
use crate::kernel;
use crate::linalg::Square;
use crate::refit::Outputs;
use crate::select::rows::{Against, Rows};
use crate::snapshot::{decode, encode};

/// Room for rounding in a bound that must hold.
const MARGIN: f64 = 1.0 + 1e-9;
/// Features looked at for company when products are computed.
const LOOK: usize = 16;
/// Newcomers whose products are computed together; more would be computed in vain, as the bound
/// settles most of them by their turn.
const COMPANY: usize = 4;
/// Failed bounds after which a fresh gradient is worth its cost, at first and at most.
const PATIENCE: (usize, usize) = (4, 64);

pub(super) struct GramWork {
    y: Vec<Vec<f64>>,
    yy: f64,
    state: State,
    block: Block,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    gram: Square,
    /// `<x, y>` of a slot in output `c` at `slot * outputs + c`.
    xy: Vec<f64>,
}

/// What is known of the block under way.
#[derive(Default)]
struct Block {
    rows: Rows,
    /// Products of the newcomer under consideration.
    row: Vec<f64>,
    row_xy: Vec<f64>,
    /// `G w` of each output.
    gw: Vec<Vec<f64>>,
    anchor: Anchor,
    /// The last bound that was tried: step length and least weight.
    tried: Option<(f64, f64)>,
    /// Bounds that failed since the anchor was set, and how many may before it is set anew.
    wasted: usize,
    patience: usize,
    /// Products of the block's features with the anchor's gradient, where they were taken.
    old: Vec<Option<f64>>,
}

/// An older gradient and how far the prediction has moved since.
#[derive(Default)]
struct Anchor {
    residual: Vec<Vec<f64>>,
    /// Weights and `G w` when the kept set last changed.
    w: Vec<f64>,
    gw: Vec<Vec<f64>>,
    /// Distance that the prediction of each output moved until then, at most.
    moved: Vec<f64>,
}

impl GramWork {
    pub(super) fn new(frame: &Frame, outputs: &Outputs) -> Self {
        let y: Vec<Vec<f64>> = outputs.centred(frame).into_iter().map(|(y, _)| y).collect();
        let square = |y: &Vec<f64>| match frame.weight() {
            Some(v) => y.iter().zip(v).map(|(y, v)| v * y * y).sum::<f64>(),
            None => kernel::dot(y, y),
        };
        let yy = y.iter().map(square).sum::<f64>() / frame.weight_sum();
        Self { y, yy, state: State::default(), block: Block::default() }
    }

    fn gram_times(&self, model: &Model, c: usize, w: &[f64]) -> Vec<f64> {
        self.state.gram.times(&model.weights(w, c))
    }

    /// How far the prediction of output `c` is from the anchor's, at most.
    fn moved(&self, model: &Model, c: usize) -> f64 {
        let count = model.count();
        let anchor = &self.block.anchor;
        let square: f64 = (0..model.kept.len())
            .map(|slot| {
                let i = slot * count + c;
                (model.w[i] - anchor.w[i]) * (self.block.gw[c][slot] - anchor.gw[c][slot])
            })
            .sum();
        anchor.moved[c] + square.max(0.0).sqrt()
    }

    fn set_anchor(&mut self, model: &Model) {
        let kept: Vec<_> = model.kept.slots().iter().collect();
        let count = model.count();
        let residual = |c: usize| {
            let mut r = self.y[c].clone();
            r.iter_mut().for_each(|r| *r = -*r);
            model.frame.add_prediction(&kept, &model.weights(&model.w, c), &mut r);
            if let Some(v) = model.frame.weight() {
                kernel::scale_by(&mut r, v);
            }
            r
        };
        self.block.wasted = 0;
        self.block.old.fill(None);
        self.block.anchor = Anchor {
            residual: (0..count).map(residual).collect(),
            w: model.w.clone(),
            gw: (0..count).map(|c| self.gram_times(model, c, &model.w)).collect(),
            moved: vec![0.0; count],
        };
    }

    /// A bound on the newcomer's total slope from the anchor's gradient.
    fn bound(&mut self, model: &Model, t: usize, x: &Feature<'_>) -> f64 {
        let count = model.count();
        let old = match self.block.old[t] {
            Some(old) => old,
            None => {
                let residual = &self.block.anchor.residual;
                let of = |c: usize| (x.column().dot(&residual[c]) / model.frame.weight_sum()).abs();
                (0..count).map(of).sum()
            }
        };
        self.block.old[t] = Some(old);
        let norm = model.frame.square(&x.stats).sqrt();
        old + norm * (0..count).map(|c| self.moved(model, c)).sum::<f64>()
    }

    /// Loads the products of `features[t]`, together with those of the next ones that the bound
    /// will not settle either.
    fn load_row(&mut self, model: &Model, t: usize, features: &[Feature<'_>]) {
        let mut rows = std::mem::take(&mut self.block.rows);
        let y = std::mem::take(&mut self.y);
        let targets: Vec<&[f64]> = y.iter().map(Vec::as_slice).collect();
        let against =
            Against { frame: &model.frame, kept: &model.kept, scales: &[None], extra: &targets };
        if !rows.has(t, &features[t]) {
            let mut group = vec![t];
            for i in t + 1..features.len().min(t + LOOK) {
                if group.len() == COMPANY {
                    break;
                }
                let needed = !rows.has(i, &features[i])
                    && model.kept.slot(features[i].id).is_none()
                    && self.block.tried.is_none_or(|(eta, least)| {
                        eta * self.bound(model, i, &features[i]) * MARGIN >= least
                    });
                if needed {
                    group.push(i);
                }
            }
            rows.fill(against, model.clock, features, &group);
        }
        let total = model.frame.weight_sum();
        let row = rows.take(against, model.clock, |slot| model.born[slot], t, &features[t]);
        self.block.rows = rows;
        self.y = y;
        self.block.row = row.kept.iter().map(|raw| raw / total).collect();
        self.block.row_xy = row.extra.iter().map(|raw| raw / total).collect();
    }

    /// Lengthens the anchor's distance by the move that brought a newcomer into `slot`, while
    /// the Gram still knows the column that was there.
    fn follow(&mut self, model: &Model, slot: usize, square: f64) {
        let count = model.count();
        let old = self.block.anchor.w.len() / count;
        for c in 0..count {
            let entry = model.w[slot * count + c];
            let now = |other: usize| if other == slot { 0.0 } else { model.w[other * count + c] };
            let d: Vec<f64> =
                (0..old).map(|i| now(i) - self.block.anchor.w[i * count + c]).collect();
            let within = kernel::dot(&d, &self.state.gram.times(&d));
            let across = kernel::dot(&self.block.row[..old], &d);
            let moved = within + 2.0 * entry * across + entry * entry * square;
            self.block.anchor.moved[c] += moved.max(0.0).sqrt() * MARGIN;
        }
    }
}

impl Work for GramWork {
    fn begin(&mut self, model: &Model, features: &[Feature<'_>]) {
        self.block.rows.reset(features.len());
        self.block.tried = None;
        self.block.old = vec![None; features.len()];
        self.block.patience = self.block.patience.max(PATIENCE.0);
        self.set_anchor(model);
    }

    fn kept_slopes(&mut self, model: &Model, out: &mut Slopes) {
        let count = model.count();
        self.block.gw = (0..count).map(|c| self.gram_times(model, c, &model.w)).collect();
        out.kept = (0..model.w.len())
            .map(|i| self.block.gw[i % count][i / count] - self.state.xy[i])
            .collect();
    }

    fn surely_below(
        &mut self,
        model: &Model,
        t: usize,
        x: &Feature<'_>,
        eta: f64,
        least: f64,
    ) -> bool {
        if self.block.wasted > self.block.patience {
            // A fresh gradient that does not help either is asked for less often.
            self.block.patience = PATIENCE.1.min(2 * self.block.patience);
            self.set_anchor(model);
        }
        self.block.tried = Some((eta, least));
        let below = eta * self.bound(model, t, x) * MARGIN < least;
        self.block.wasted += usize::from(!below);
        if below {
            self.block.patience = PATIENCE.0;
        }
        below
    }

    fn newcomer_slope(
        &mut self,
        model: &Model,
        t: usize,
        features: &[Feature<'_>],
        out: &mut Slopes,
    ) {
        self.load_row(model, t, features);
        let slope = |c: usize| {
            kernel::dot(&self.block.row, &model.weights(&model.w, c)) - self.block.row_xy[c]
        };
        out.newcomer = (0..model.count()).map(slope).collect();
    }

    fn curve(&self, model: &Model, x: &Feature<'_>, _c: usize) -> f64 {
        model.frame.square(&x.stats)
    }

    fn product(&self, _model: &Model, v: &[f64], _c: usize, _curved: bool) -> Vec<f64> {
        self.state.gram.times(v)
    }

    fn change(&mut self, model: &Model, x: &Feature<'_>, slopes: &Slopes, trial: &Trial) -> f64 {
        let count = model.count();
        let square = model.frame.square(&x.stats);
        let mut change = 0.0;
        for c in 0..count {
            let d: Vec<f64> = model
                .weights(&trial.kept, c)
                .iter()
                .zip(model.weights(&model.w, c))
                .map(|(new, old)| new - old)
                .collect();
            let gd = self.product(model, &d, c, true);
            change += kernel::dot(&d, &model.weights(&slopes.kept, c)) + 0.5 * kernel::dot(&d, &gd);
            if let Some(newcomer) = &trial.newcomer {
                let w = newcomer[c];
                change += w * slopes.newcomer[c]
                    + w * kernel::dot(&self.block.row, &d)
                    + 0.5 * w * w * square;
            }
        }
        change
    }

    fn put(&mut self, model: &Model, x: &Feature<'_>, slot: usize) {
        let count = model.count();
        let square = model.frame.square(&x.stats);
        self.follow(model, slot, square);
        let state = &mut self.state;
        state.gram.reserve(model.kept.len());
        for other in (0..model.kept.len()).filter(|other| *other != slot) {
            state.gram.set(slot, other, self.block.row[other]);
        }
        state.gram.set(slot, slot, square);
        state.xy.resize(model.kept.len() * count, 0.0);
        state.xy[slot * count..(slot + 1) * count].copy_from_slice(&self.block.row_xy);
        self.block.anchor.w.clone_from(&model.w);
        self.block.anchor.gw = (0..count).map(|c| self.gram_times(model, c, &model.w)).collect();
    }

    fn stepped(&mut self, _model: &Model) {}

    fn stayed(&mut self) {}

    fn loss(&self, model: &Model) -> f64 {
        let count = model.count();
        let fit = |c: usize| {
            let (w, gw) = (model.weights(&model.w, c), self.gram_times(model, c, &model.w));
            let xy = model.weights(&self.state.xy, c);
            w.iter().zip(gw).zip(xy).map(|((w, gw), xy)| w * (0.5 * gw - xy)).sum::<f64>()
        };
        (0.5 * self.yy + (0..count).map(fit).sum::<f64>()).max(0.0)
    }

    fn bytes(&self) -> u64 {
        self.state.gram.bytes() + 16 * self.y.iter().map(|y| y.len() as u64).sum::<u64>()
    }

    fn save(&self) -> Result<Vec<u8>> {
        encode(&self.state)
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.state = decode(state)?;
        Ok(())
    }
}
