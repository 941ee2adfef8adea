//! Goes through a block feature by feature, with the heavy products computed ahead.
//!
//! Marginals of the next features are computed on all threads against the current residual and
//! thrown away when it changes; products with the kept set are computed for several promising
//! features at once. Both are only ever brought forward: at a feature's turn the numbers are
//! those that computing them then would give, digit for digit.

use rayon::prelude::*;

use super::{Core, Marginal};
use crate::check::Feature;
use crate::error::Result;
use crate::frame::Frame;
use crate::kernel::GROUP;
use crate::select::rows::{Against, Rows};
use crate::select::{Outcome, Reason, Verdict};

/// Marginals computed ahead just after the residual changed, and at most.
const AHEAD: (usize, usize) = (32, 128);

pub(super) fn walk(
    core: &mut dyn Core,
    rows: &mut Rows,
    frame: &Frame,
    features: &[Feature<'_>],
    out: &mut Vec<Outcome>,
) -> Result<()> {
    let mut ahead =
        Ahead { version: core.version(), end: 0, width: AHEAD.0, marginals: Vec::new() };
    ahead.marginals.resize_with(features.len(), || None);
    rows.reset(features.len());
    for t in 0..features.len() {
        if core.kept().slot(features[t].id).is_some() {
            out.push(Outcome::new(Verdict::Held));
            continue;
        }
        ahead.reach(core, features, t);
        let mut marginal = ahead.marginals[t].take().expect("reach computed it");
        let weak = core.rejects(&marginal) || !core.confirms(&features[t], &mut marginal);
        if weak && !features[t].pinned {
            let mut outcome = Outcome::dropped(Reason::Weak);
            outcome.marginal = Some(0.5 * marginal.gain());
            out.push(outcome);
            continue;
        }
        let (scales, extra) = (core.scales(), core.targets());
        let against = Against { frame, kept: core.kept(), scales: &scales, extra: &extra };
        if !rows.has(t) {
            let group = promising(core, features, &ahead, rows, t);
            rows.fill(against, core.clock(), features, &group);
        }
        let row = rows.take(against, |slot| core.born(slot), t, &features[t]);
        let mut outcome = core.full_test(&features[t], &marginal, &row)?;
        outcome.marginal = Some(0.5 * marginal.gain());
        out.push(outcome);
    }
    Ok(())
}

/// Marginals of the features to come, valid for one version of the residual.
struct Ahead {
    version: u64,
    end: usize,
    width: usize,
    marginals: Vec<Option<Marginal>>,
}

impl Ahead {
    fn reach(&mut self, core: &dyn Core, features: &[Feature<'_>], t: usize) {
        if core.version() != self.version {
            self.version = core.version();
            self.end = t;
            self.width = AHEAD.0;
        }
        if t < self.end && self.marginals[t].is_some() {
            return;
        }
        self.end = features.len().min(t + self.width);
        self.width = AHEAD.1.min(2 * self.width);
        let one = |(feature, out): (&Feature<'_>, &mut Option<Marginal>)| {
            *out = Some(core.marginal(feature));
        };
        let (features, out) = (&features[t..self.end], &mut self.marginals[t..self.end]);
        if rayon::current_num_threads() > 1 {
            features.par_iter().zip(out).for_each(one);
        } else {
            features.iter().zip(out).for_each(one);
        }
    }
}

/// The feature at `t` and the next ones that would be tested too if nothing changed.
fn promising(
    core: &dyn Core,
    features: &[Feature<'_>],
    ahead: &Ahead,
    rows: &Rows,
    t: usize,
) -> Vec<usize> {
    let later = (t + 1..ahead.end).filter(|i| {
        !rows.has(*i)
            && ahead.marginals[*i].as_ref().is_some_and(|m| !core.rejects(m))
            && core.kept().slot(features[*i].id).is_none()
    });
    std::iter::once(t).chain(later.take(GROUP - 1)).collect()
}
