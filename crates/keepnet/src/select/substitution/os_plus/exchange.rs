//! Steepest exchange among the kept columns and some newcomers, until none lowers the loss.
//!
//! ```text
//! repeat   test every column outside exactly, take the exchange of largest fall
//!          what left the model is a column outside from then on
//! ```
//!
//! Each exchange lowers the loss by more than the tolerance, so no set comes twice. Under a loss
//! that is not squared the fall is that of the quadratic model; an exchange that did not lower the
//! loss is taken back and not tried again before the model is another. Cost: products of `m`
//! newcomers with the kept set, then `n m` flops an exchange.

use super::{Exchange, Newcomer, OsPlus};
use crate::data::block::FeatureId;
use crate::data::check::Feature;
use crate::error::Result;
use crate::select::Verdict;
use crate::select::kept_products::{Against, BlockProducts, GROUP};

/// Exchanges of one call for each column that could take part, at most: falls below the rounding of
/// a loss could otherwise go round in a circle.
const EACH: usize = 20;
/// Products of a column that are computed for it alone, at most.
const FEW: usize = 4;

/// One exchange that was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Exchanged {
    /// What entered.
    pub entered: FeatureId,
    /// Its name.
    pub name: String,
    /// What left; none while there was room.
    pub left: Vec<FeatureId>,
    /// The fall that was expected of it.
    pub fall: f64,
}

/// Columns outside the model, with their products.
struct Outside<'a> {
    columns: Vec<Feature<'a>>,
    /// Whether each is in the model now.
    entered: Vec<bool>,
    /// Places of those that were tried on this model in vain.
    refused: Vec<usize>,
    products: BlockProducts,
}

impl OsPlus {
    /// Exchanges kept features for newcomers, the steepest first, until no exchange lowers the loss
    /// by more than `tolerance` of it; the exchanges in order. The model is settled afterwards.
    pub fn exchange(
        &mut self,
        newcomers: &[Feature<'_>],
        tolerance: f64,
    ) -> Result<Vec<Exchanged>> {
        // What leaves is a column outside, and not one that waits for a last pass.
        self.without_last_pass()?;
        let kept = self.core.kept();
        let new = newcomers.iter().filter(|feature| kept.slot(feature.id).is_none());
        let columns: Vec<Feature<'_>> = new.map(|feature| feature.share(None)).collect();
        let most = EACH * (columns.len() + self.params.k);
        let mut products = BlockProducts::default();
        products.reset(columns.len());
        let entered = vec![false; columns.len()];
        let mut outside = Outside { columns, entered, refused: Vec::new(), products };
        let mut made = Vec::new();
        while made.len() < most {
            let Some(one) = self.steepest(&mut outside, tolerance)? else { break };
            made.push(one);
        }
        self.core.settle()?;
        Ok(made)
    }

    /// Makes the exchange of largest fall; `None` where there is none.
    fn steepest(&mut self, outside: &mut Outside<'_>, tolerance: f64) -> Result<Option<Exchanged>> {
        let least = self.core.least_fall(tolerance);
        let mut falls = self.falls(outside);
        falls.retain(|(exchange, _)| exchange.fall > least);
        let id = |at: usize| outside.columns[at].id;
        falls.sort_by(|(a, x), (b, y)| b.fall.total_cmp(&a.fall).then(id(*x).cmp(&id(*y))));
        for (Exchange { fall, leaves }, at) in falls {
            let feature = &outside.columns[at];
            let mut marginal = self.core.marginal(feature, None);
            self.core.confirms(feature, &mut marginal);
            let leaving = self.may_leave(leaves);
            let Some(own) = outside.products.get(at) else { continue };
            let outcome = self.core.full_test(feature, &marginal, own)?;
            if outcome.verdict != Verdict::Kept {
                outside.refused.push(at);
                continue;
            }
            let (entered, name) = (feature.id, feature.name.to_string());
            outside.entered[at] = true;
            outside.refused.clear();
            let left = leaving.into_iter().filter(|left| outcome.evicted.contains(&left.id));
            outside.columns.extend(left);
            outside.entered.resize(outside.columns.len(), false);
            outside.products.extend(outside.columns.len());
            return Ok(Some(Exchanged { entered, name, left: outcome.evicted, fall }));
        }
        Ok(None)
    }

    /// Copies of the columns that an exchange may drive out: the one of the model, and the reserve.
    fn may_leave(&self, leaves: Option<usize>) -> Vec<Feature<'static>> {
        let (slots, model) = (self.core.kept().slots(), self.core.model());
        let goes = |slot: &usize| Some(*slot) == leaves || !model.contains(slot);
        let copy = |slot: usize| Feature::of_kept(&slots[slot]).map(|feature| feature.owned());
        (0..slots.len()).filter(goes).filter_map(copy).collect()
    }

    /// The exchanges of the columns outside that were not refused, with their places.
    fn falls(&mut self, outside: &mut Outside<'_>) -> Vec<(Exchange, usize)> {
        let Outside { columns, entered, refused, products } = outside;
        let core = &*self.core;
        let (scales, extra) = (core.scales(), core.targets());
        let (frame, kept, clock) = (&self.frame, core.kept(), core.clock());
        let against = Against { frame, kept, scales: &scales, extra: &extra };
        let changed_at = |slot: usize| core.changed_at(slot);
        let open = |at: &usize| !entered[*at] && !refused.contains(at);
        let places: Vec<usize> = (0..columns.len()).filter(open).collect();
        // Together where most are new, as after a change of the curvature; else the few one by one.
        let many = |at: &usize| {
            let stale = products.stale(*at, kept.len(), changed_at);
            stale > FEW && !BlockProducts::at_its_turn(&columns[*at])
        };
        let new: Vec<usize> = places.iter().copied().filter(many).collect();
        new.chunks(GROUP).for_each(|group| products.fill(against, clock, columns, group));
        for at in &places {
            products.renew(against, clock, changed_at, *at, &columns[*at]);
        }
        let newcomer = |at: &usize| Some((&columns[*at], products.get(*at)?));
        let newcomers: Vec<Newcomer<'_, '_>> = places.iter().filter_map(newcomer).collect();
        let found = self.core.exact(&newcomers);
        let fall = |(at, exchange): (usize, Option<Exchange>)| Some((exchange?, at));
        places.into_iter().zip(found).filter_map(fall).collect()
    }
}
