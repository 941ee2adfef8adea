//! Decides on a block feature by feature, with the costly products computed ahead.
//!
//! Marginals come with the block, computed when its columns were checked. After the residual has
//! changed, the marginals of the next features are computed anew on all threads. Products with the
//! kept set are computed for several promising features at once, chosen by older marginals.
//! Computing ahead changes no digit: at a feature's turn its numbers are the same as if they were
//! computed then.

use rayon::prelude::*;

use super::{Candidate, Core};
use crate::data::check::Feature;
use crate::error::Result;
use crate::numeric::inner_product::Frame;
use crate::select::kept_products::{Against, BlockProducts, GROUP};
use crate::select::{Marginal, Outcome, Verdict};

/// How many marginals threads compute ahead: right after the residual changed, and at most.
const AHEAD: (usize, usize) = (8, 128);

pub(super) fn offer_block(
    core: &mut dyn Core,
    products: &mut BlockProducts,
    frame: &Frame,
    features: &[Feature<'_>],
    out: &mut Vec<Outcome>,
) -> Result<()> {
    let mut ahead = Ahead::new(core, features);
    products.reset(features.len());
    for t in 0..features.len() {
        if core.kept().slot(features[t].id).is_some() {
            out.push(Outcome::new(Verdict::Held));
            continue;
        }
        ahead.reach(core, features, t);
        let mut marginal = ahead.marginals[t].1.take().expect("reach computed it");
        let weak = core.rejects(&marginal)
            || !core.confirms(&features[t], &mut marginal)
            || !core.passes_near(&features[t], &marginal);
        if weak && !features[t].pinned {
            let mut outcome = core.rejected(&features[t], &marginal)?;
            outcome.marginal = Some(0.5 * marginal.gain());
            out.push(outcome);
            continue;
        }
        let (scales, extra) = (core.scales(), core.targets());
        let against = Against { frame, kept: core.kept(), scales: &scales, extra: &extra };
        if !products.has(t, &features[t]) {
            // A feature between those that were foreseen comes alone, so that they stay foreseen.
            let group = match core.foreseen() || core.one_by_one() {
                true => vec![t],
                false => promising(core, features, &mut ahead, products, t),
            };
            products.fill(against, core.clock(), features, &group);
            if core.foresees() && group.len() > 1 {
                foresee(core, products, frame, features, &group);
            }
        }
        let (scales, extra) = (core.scales(), core.targets());
        let against = Against { frame, kept: core.kept(), scales: &scales, extra: &extra };
        let own =
            products.take(against, core.clock(), |slot| core.changed_at(slot), t, &features[t]);
        let mut outcome = core.full_test(&features[t], &marginal, &own)?;
        outcome.marginal = Some(0.5 * marginal.gain());
        out.push(outcome);
    }
    Ok(())
}

/// Marginals of the block's features, each with the version of the residual that it is for.
struct Ahead {
    version: u64,
    width: usize,
    marginals: Vec<(u64, Option<Marginal>)>,
}

impl Ahead {
    fn new(core: &dyn Core, features: &[Feature<'_>]) -> Self {
        let marginals = features.iter().map(|feature| match &feature.glance {
            Some(glance) => (glance.version, Some(glance.marginal.clone())),
            None => (0, None),
        });
        Self { version: core.version(), width: AHEAD.0, marginals: marginals.collect() }
    }

    /// Brings one marginal up to date.
    fn renew(&mut self, core: &dyn Core, features: &[Feature<'_>], t: usize) {
        if self.marginals[t].0 != core.version() || self.marginals[t].1.is_none() {
            self.marginals[t] = (core.version(), Some(core.marginal(&features[t], None)));
        }
    }

    fn reach(&mut self, core: &dyn Core, features: &[Feature<'_>], t: usize) {
        let version = core.version();
        if version != self.version {
            (self.version, self.width) = (version, AHEAD.0);
        }
        if self.marginals[t].0 == version && self.marginals[t].1.is_some() {
            return;
        }
        let parallel = rayon::current_num_threads() > 1;
        // With one thread, computing ahead is wasted if the next substitution undoes it.
        let end = if parallel { features.len().min(t + self.width) } else { t + 1 };
        self.width = AHEAD.1.min(2 * self.width);
        let one = |(feature, out): (&Feature<'_>, &mut (u64, Option<Marginal>))| {
            *out = (version, Some(core.marginal(feature, None)));
        };
        let (features, out) = (&features[t..end], &mut self.marginals[t..end]);
        if parallel {
            features.par_iter().zip(out).for_each(one);
        } else {
            features.iter().zip(out).for_each(one);
        }
    }
}

/// The feature at `t` and the next ones that will probably be tested too, by their latest marginals.
fn promising(
    core: &dyn Core,
    features: &[Feature<'_>],
    ahead: &mut Ahead,
    products: &BlockProducts,
    t: usize,
) -> Vec<usize> {
    let renew = core.foresees();
    let later = (t + 1..features.len()).filter(|i| {
        if products.has(*i, &features[*i]) || core.kept().slot(features[*i].id).is_some() {
            return false;
        }
        if renew {
            ahead.renew(core, features, *i);
        }
        ahead.marginals[*i].1.as_ref().is_some_and(|m| !core.rejects(m))
    });
    std::iter::once(t).chain(later.take(GROUP - 1)).collect()
}

/// Tells the core of the newcomers whose products were just computed.
fn foresee(
    core: &mut dyn Core,
    products: &BlockProducts,
    frame: &Frame,
    features: &[Feature<'_>],
    group: &[usize],
) {
    let (scales, extra) = (core.scales(), core.targets());
    let against = Against { frame, kept: core.kept(), scales: &scales, extra: &extra };
    let among = products.among(against, features, group);
    let candidates: Vec<Candidate<'_, '_>> = (0..group.len())
        .filter_map(|g| {
            let (t, earlier) = (group[g], &among[g * group.len()..g * group.len() + g]);
            Some(Candidate { feature: &features[t], products: products.get(t)?, earlier })
        })
        .collect();
    core.foresee(&candidates);
}
