//! The squared loss through the Gram of the kept set.
//!
//! ```text
//! slope of the kept set:  G w - X_S'y        slope of a newcomer:  <x, X_S> w - <x, y>
//! ```
//!
//! The products `<x, X_S>` of several newcomers are computed at once. Most are not needed: an older
//! gradient, and how far the prediction has moved since, bound the slope. Where `eta` times the
//! bound is below the least kept coefficient, the newcomer is dropped whatever its exact slope.
//! That costs one dot product; see `lagged_gradient.rs`.

use serde::{Deserialize, Serialize};

use super::lagged_gradient::LaggedGradient;
use super::{Evaluator, Model, Slopes, Trial};
use crate::data::check::Feature;
use crate::error::Result;
use crate::numeric::inner_product::Frame;
use crate::numeric::kernel;
use crate::numeric::linalg::Square;
use crate::run::snapshot::{decode, encode, ensure};
use crate::select::kept_products::{Against, BlockProducts};
use crate::select::refit::Outputs;

/// Factor for rounding in a bound that must hold.
const MARGIN: f64 = 1.0 + 1e-9;
/// How far ahead features are searched whose products can be computed together.
const LOOK_AHEAD: usize = 16;
/// Newcomers whose products are computed together. More would be wasted: the bound drops most of
/// them by their turn.
const GROUP: usize = 4;
/// Share of the margin under the limit that the distance may take after an update.
const SHARE: f64 = 0.5;
/// Bounds that may fail for columns with cheap products before the gradient is updated.
const PATIENCE: usize = 64;

pub(super) struct GramEvaluator {
    y: Vec<Vec<f64>>,
    yy: f64,
    state: State,
    block: Block,
    /// An older gradient of each output, once the kept set is full.
    lagged: Vec<LaggedGradient>,
    /// Counts the changes of the lagged gradients.
    version: u64,
    /// Bounds that failed since the last update.
    failed_bounds: usize,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    gram: Square,
    /// `<x, y>` of a slot in output `c` at `slot * outputs + c`.
    xy: Vec<f64>,
}

/// Products and slopes of the current block.
#[derive(Default)]
struct Block {
    products: BlockProducts,
    /// Products of the current newcomer with the kept columns and with the targets.
    newcomer: Vec<f64>,
    newcomer_xy: Vec<f64>,
    /// `G w` of each output.
    gw: Vec<Vec<f64>>,
    /// Step length and least coefficient of the last bound that was tried.
    tried: Option<(f64, f64)>,
    /// Slopes of the features at the lagged gradients, each with the version of these.
    lagged_slopes: Vec<Option<(u64, f64)>>,
}

impl GramEvaluator {
    pub(super) fn new(frame: &Frame, outputs: &Outputs) -> Self {
        let y: Vec<Vec<f64>> = outputs.y.clone();
        let square = |y: &Vec<f64>| match frame.weight() {
            Some(v) => y.iter().zip(v).map(|(y, v)| v * y * y).sum::<f64>(),
            None => kernel::dot(y, y),
        };
        let yy = y.iter().map(square).sum::<f64>() / frame.weight_sum();
        let (state, block) = (State::default(), Block::default());
        Self { y, yy, state, block, lagged: Vec::new(), version: 0, failed_bounds: 0 }
    }

    fn gram_times(&self, model: &Model, c: usize, w: &[f64]) -> Vec<f64> {
        self.state.gram.times(&model.coefficients(w, c))
    }

    /// Upper bound of the distance of the predictions from those of the lagged gradients.
    fn distance(&self, model: &Model) -> f64 {
        let of = |(c, gradient): (usize, &LaggedGradient)| {
            gradient.distance(&model.coefficients(&model.w, c), &self.block.gw[c])
        };
        self.lagged.iter().enumerate().map(of).sum()
    }

    /// The newcomer's slope at the lagged gradients, summed over outputs.
    fn lagged_slope(&mut self, model: &Model, t: usize, x: &Feature<'_>) -> f64 {
        if let Some((version, old)) = self.block.lagged_slopes[t]
            && version == self.version
        {
            return old;
        }
        let old = self.lagged.iter().map(|gradient| gradient.slope(model, x.column()).abs()).sum();
        self.block.lagged_slopes[t] = Some((self.version, old));
        old
    }

    /// A slope that may be of an even older version: a guess, not a bound.
    fn likely_slope(&mut self, model: &Model, t: usize, x: &Feature<'_>) -> f64 {
        match self.block.lagged_slopes[t] {
            Some((_, old)) => old,
            None => self.lagged_slope(model, t, x),
        }
    }

    /// Updates the lagged gradients until the distance is about `room`.
    fn catch_up(&mut self, model: &Model, room: f64) {
        self.version += 1;
        let count = self.lagged.len();
        for (c, gradient) in self.lagged.iter_mut().enumerate() {
            let w = model.coefficients(&model.w, c);
            gradient.catch_up(model, &self.state.gram, (&self.y[c], &w), room / count as f64);
        }
    }

    /// Loads the products of `features[t]`, and computes those of the next features that the bound
    /// will probably not drop.
    fn load_products(&mut self, model: &Model, t: usize, features: &[Feature<'_>]) {
        let mut products = std::mem::take(&mut self.block.products);
        let y = std::mem::take(&mut self.y);
        let targets: Vec<&[f64]> = y.iter().map(Vec::as_slice).collect();
        let against =
            Against { frame: &model.frame, kept: &model.kept, scales: &[None], extra: &targets };
        if !products.has(t, &features[t]) {
            let mut group = vec![t];
            for i in t + 1..features.len().min(t + LOOK_AHEAD) {
                if group.len() == GROUP {
                    break;
                }
                let needed = !products.has(i, &features[i])
                    && model.kept.slot(features[i].id).is_none()
                    && self.block.tried.is_none_or(|(eta, least)| {
                        eta * self.likely_slope(model, i, &features[i]) >= least
                    });
                if needed {
                    group.push(i);
                }
            }
            products.fill(against, model.clock, features, &group);
        }
        let total = model.frame.weight_sum();
        let own =
            products.take(against, model.clock, |slot| model.changed_at[slot], t, &features[t]);
        self.block.products = products;
        self.y = y;
        self.block.newcomer = own.kept.iter().map(|raw| raw / total).collect();
        self.block.newcomer_xy = own.extra.iter().map(|raw| raw / total).collect();
    }
}

impl Evaluator for GramEvaluator {
    fn begin_block(&mut self, _model: &Model, features: &[Feature<'_>]) {
        self.block.products.reset(features.len());
        self.block.tried = None;
        self.block.lagged_slopes = vec![None; features.len()];
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
        if self.lagged.is_empty() {
            let gradient = |(c, y): (usize, &Vec<f64>)| {
                LaggedGradient::new(model, &self.state.gram, y, model.coefficients(&model.w, c))
            };
            self.lagged = self.y.iter().enumerate().map(gradient).collect();
        }
        self.block.tried = Some((eta, least));
        let limit = least / (eta * MARGIN);
        let norm = model.frame.square(&x.stats).sqrt();
        let old = self.lagged_slope(model, t, x);
        if old + norm * self.distance(model) < limit {
            return true;
        }
        if old >= limit {
            // It most likely enters: its products will be needed.
            return false;
        }
        if self.block.products.has(t, x) && self.failed_bounds < PATIENCE {
            // Its products are computed already or cheap: a sharper bound would cost more.
            self.failed_bounds += 1;
            return false;
        }
        self.failed_bounds = 0;
        self.catch_up(model, SHARE * (limit - old) / norm);
        self.lagged_slope(model, t, x) + norm * self.distance(model) < limit
    }

    fn newcomer_slope(
        &mut self,
        model: &Model,
        t: usize,
        features: &[Feature<'_>],
        out: &mut Slopes,
    ) {
        self.load_products(model, t, features);
        let slope = |c: usize| {
            kernel::dot(&self.block.newcomer, &model.coefficients(&model.w, c))
                - self.block.newcomer_xy[c]
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
                .coefficients(&trial.kept, c)
                .iter()
                .zip(model.coefficients(&model.w, c))
                .map(|(new, old)| new - old)
                .collect();
            let gd = self.product(model, &d, c, true);
            change +=
                kernel::dot(&d, &model.coefficients(&slopes.kept, c)) + 0.5 * kernel::dot(&d, &gd);
            if let Some(newcomer) = &trial.newcomer {
                let w = newcomer[c];
                change += w * slopes.newcomer[c]
                    + w * kernel::dot(&self.block.newcomer, &d)
                    + 0.5 * w * (w * square);
            }
        }
        change
    }

    fn before_removal(&mut self, model: &Model, slot: usize) {
        self.version += 1;
        self.lagged.iter_mut().for_each(|gradient| gradient.remove(model, slot));
    }

    fn inserted(&mut self, model: &Model, x: &Feature<'_>, slot: usize) {
        let count = model.count();
        let square = model.frame.square(&x.stats);
        let state = &mut self.state;
        state.gram.reserve(model.kept.len());
        for other in (0..model.kept.len()).filter(|other| *other != slot) {
            state.gram.set(slot, other, self.block.newcomer[other]);
        }
        state.gram.set(slot, slot, square);
        state.xy.resize(model.kept.len() * count, 0.0);
        state.xy[slot * count..(slot + 1) * count].copy_from_slice(&self.block.newcomer_xy);
        self.lagged
            .iter_mut()
            .for_each(|gradient| gradient.inserted(&state.gram, model.kept.len()));
    }

    fn step_taken(&mut self, _model: &Model) {}

    fn step_rejected(&mut self) {}

    fn loss(&self, model: &Model) -> f64 {
        let count = model.count();
        let fit = |c: usize| {
            let (w, gw) = (model.coefficients(&model.w, c), self.gram_times(model, c, &model.w));
            let xy = model.coefficients(&self.state.xy, c);
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

    fn restore(&mut self, state: &[u8], held: usize) -> Result<()> {
        let state: State = decode(state)?;
        let fits = state.gram.room(held) && state.xy.len() == held * self.y.len();
        ensure(fits, "products of other columns")?;
        self.state = state;
        self.lagged.clear();
        Ok(())
    }
}
