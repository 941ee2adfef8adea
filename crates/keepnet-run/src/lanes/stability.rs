//! Stability selection: the same method on many halves of the rows, `--stability B[:SHARE]`.
//!
//! ```text
//! pair b       the rows split at random into two halves of floor(n / 2), class by class
//! frequency_j  share of the 2 B halves whose selection has feature j
//! selected     frequency >= SHARE
//! ```
//!
//! Every half is a lane with its own rows on one read. The bounds on the expected number of false
//! features are in `keepnet_eval::trust::bounds`. The coefficients are those of a refit of the
//! selected features on all rows, for methods with a model.
//!
//! Shah and Samworth, JRSS-B 75 (2013), complementary pairs.

use std::collections::HashMap;
use std::sync::Arc;

use keepnet::data::generator;
use keepnet::run::Dropped;
use keepnet::selection::{Selected, Selection};
use keepnet::{Error, FeatureId, Problem, Result, Target};
use keepnet_eval::trust::bounds::bounds;
use rand::seq::SliceRandom;

use super::found::{Found, Stability};
use super::unseen::Unseen;
use super::{Arrangement, Ask, Concluded, Ended, Whole};
use crate::request::{Pairs, Request};

/// Keeps the random numbers of halves apart from those of methods and splits.
const STREAM: u64 = 0x57_ab1e;
/// Fewest rows, and fewest rows of a class.
const ROWS: usize = 20;
const CLASS: usize = 4;

/// The lanes of stability selection.
pub(super) struct Halves {
    whole: Whole,
    all: Arc<Problem>,
    pairs: Pairs,
    asks: Vec<Ask>,
}

impl Halves {
    pub(super) fn new(request: &Request, whole: &Whole, pairs: Pairs) -> Result<Self> {
        let target = &whole.problem.target;
        let n = target.rows();
        if n < ROWS {
            let text = format!("stability selection needs {ROWS} rows, and {n} are used");
            return Err(Error::Data(text));
        }
        if let Target::Classes { names, .. } = target {
            let counts = target.class_counts();
            if let Some(class) = counts.iter().position(|count| *count < CLASS) {
                let (name, got) = (&names[class], counts[class]);
                return Err(Error::Data(format!(
                    "class {name:?} has {got} rows; stability selection needs {CLASS} of each"
                )));
            }
        }
        let mut asks = Vec::with_capacity(2 * pairs.count);
        for pair in 0..pairs.count {
            for half in halves(target, request.run.seed, pair as u64) {
                asks.push(Ask { problem: Arc::new(whole.part(&half)?), k: None });
            }
        }
        Ok(Self { whole: whole.clone(), all: Arc::new(whole.all()?), pairs, asks })
    }
}

/// Two disjoint halves of the rows, ascending; an odd row is in neither.
fn halves(target: &Target, seed: u64, pair: u64) -> [Vec<u32>; 2] {
    let n = target.rows();
    let mut rows: Vec<u32> = (0..n as u32).collect();
    rows.shuffle(&mut generator(seed, STREAM ^ (pair << 24)));
    if let Target::Classes { codes, .. } = target {
        rows.sort_by_key(|row| codes[*row as usize]);
    }
    // Neighbours of the list go to different halves, so classes differ by at most one row.
    let half = |side: usize| {
        let mut half: Vec<u32> = rows.chunks_exact(2).map(|two| two[side]).collect();
        half.sort_unstable();
        half
    };
    [half(0), half(1)]
}

impl Arrangement for Halves {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn brief(&self) -> bool {
        true
    }

    fn purpose(&self) -> Option<String> {
        let Pairs { count, share } = self.pairs;
        let rows = self.asks[0].problem.n();
        Some(format!(
            "{}: {count} pairs of halves of {rows} rows; kept from a frequency of {share} on",
            2 * count
        ))
    }

    fn conclude(&self, mut ended: Ended, unseen: &mut Unseen<'_>) -> Result<Concluded> {
        let lanes = ended.lanes.len() as f64;
        let mut counts: HashMap<FeatureId, (usize, Selected)> = HashMap::new();
        let mut total = 0;
        for lane in &ended.lanes {
            total += lane.selection.selected.len();
            for feature in &lane.selection.selected {
                let seen = counts.entry(feature.id).or_insert_with(|| (0, feature.clone()));
                seen.0 += 1;
            }
        }
        // A feature that is constant on a half, or left out there, is not tested by it.
        let out = ended.lanes.iter().map(|lane| {
            let Dropped { constant, missing, maf, .. } = lane.dropped;
            (constant + missing + maf + lane.selection.pinned.len() as u64) as f64
        });
        let tested = (ended.features_seen as f64 - out.sum::<f64>() / lanes).max(1.0);
        let mean_size = total as f64 / lanes;
        let Pairs { count: pairs, share } = self.pairs;
        let expected_false = bounds(mean_size, tested, share, pairs);
        let mut found = Found::default();
        let mut selected = Vec::new();
        for (count, feature) in counts.into_values() {
            let frequency = count as f64 / lanes;
            // The share of a whole number of lanes, whatever rounding does to it.
            if frequency < share - 1e-12 {
                continue;
            }
            found.features.entry(feature.id).or_default().frequency = Some(frequency);
            let score = frequency;
            selected.push(Selected { score, p_value: None, coefficient: Vec::new(), ..feature });
        }
        let mut lane = ended.lanes.swap_remove(0);
        let loss = super::unseen::loss_of(&lane.selection);
        let pinned = std::mem::take(&mut lane.selection.pinned);
        let mut selection = Selection { selected, pinned, ..Selection::default() };
        let Selection { method, params, warnings, .. } = lane.selection;
        (selection.method, selection.params, selection.warnings) = (method, params, warnings);
        (selection.score_kind, selection.p_value_kind) = ("selection frequency", None);
        selection.sort();
        selection.selected.iter_mut().enumerate().for_each(|(at, feature)| feature.order = at);
        unseen.restate(&self.all, &mut selection)?;
        if let Some(kind) = loss {
            unseen.refit(&self.whole.problem, &self.all, kind, &mut selection)?;
        }
        if selection.selected.is_empty() {
            found.warnings.push(format!(
                "no feature was selected by a share of {share} of the halves; a larger `k` or a \
                 lower share may find some"
            ));
        }
        found.stability = Some(Stability { pairs, share, mean_size, expected_false });
        lane.selection = selection;
        // What became of the rest differs from half to half.
        lane.dropped = Dropped::default();
        lane.trace.clear();
        let (problem, k) = (Arc::clone(&self.all), unseen.spec().k);
        Ok(Concluded { lane, problem, k, found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_disjoint_of_one_size_and_have_every_class() {
        let codes: Vec<u32> = (0..41).map(|i| u32::from(i % 5 == 0)).collect();
        let target = Target::Classes { names: vec!["a".into(), "b".into()], codes: codes.clone() };
        let [a, b] = halves(&target, 3, 0);
        assert_eq!((a.len(), b.len()), (20, 20));
        let mut both = [a.clone(), b.clone()].concat();
        both.sort_unstable();
        both.dedup();
        assert_eq!(both.len(), 40);
        let rare = |half: &[u32]| half.iter().filter(|row| codes[**row as usize] == 1).count();
        assert!(rare(&a).abs_diff(rare(&b)) <= 1 && rare(&a) >= 4);
        assert_ne!(halves(&target, 3, 1)[0], a);
        assert_eq!(halves(&target, 3, 0)[0], a);
    }
}
