//! The searches as part of a checkpoint.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Lanes;
use super::lane::{Lane, Who};
use crate::data::check::ColumnStats;
use crate::data::column::Column;
use crate::error::Result;
use crate::measure::newcomer::Newcomer;
use crate::run::snapshot::{self, ensure};
use crate::select::filters::pool::{Candidate, Pool, sound};

/// Columns, searches, and whether pinned features came, with the numbers of tests.
type Parts<F, S> = (Vec<Candidate<F>>, Pool<F>, Vec<Lane<F>>, (bool, u64, u64), S);

impl<T: Newcomer> Lanes<T> {
    /// The state, with what is the method's own.
    pub(crate) fn save(&self, own: &impl Serialize) -> Result<Vec<u8>> {
        let counts = (self.pins, self.tests, self.few);
        snapshot::encode(&(self.held.list(), &self.pool, &self.lanes, counts, own))
    }

    /// Takes a state up; gives what is the method's own.
    pub(crate) fn restore<S: DeserializeOwned>(&mut self, state: &[u8]) -> Result<S> {
        let (list, pool, lanes, counts, own): Parts<T::Facts, S> = snapshot::decode(state)?;
        let tests = &mut self.held.tests;
        let mut facts = |x: Column<'_>, stats: &ColumnStats| tests.facts(x, stats);
        let pool = pool.restored(self.rows, &mut facts)?;
        for (rank, best) in lanes.iter().filter_map(|lane| lane.best.as_ref()) {
            sound(best, self.rows, &mut facts)?;
            ensure(rank.id() == best.id(), "a column is held under another's place")?;
        }
        self.held.restore(list, self.rows)?;
        ensure(!lanes.is_empty(), "no search")?;
        for lane in &lanes {
            let known = |who: &Who| who.is_none_or(|id| self.held.place(id).is_some());
            let whole = lane.members.iter().chain([&lane.target]).all(known);
            let sets = lane.removed.iter().flat_map(|(_, set)| set);
            ensure(whole && sets.into_iter().all(known), "a member is not held")?;
            let mut members = lane.members.clone();
            members.push(lane.target);
            members.sort_unstable();
            members.dedup();
            let steps = lane.steps.is_sorted() && lane.steps.first() == Some(&0);
            let steps = steps && lane.steps.last().is_some_and(|last| *last <= lane.members.len());
            ensure(steps && members.len() == lane.members.len() + 1, "a search of other steps")?;
        }
        (self.pool, self.lanes) = (pool, lanes);
        (self.pins, self.tests, self.few) = counts;
        Ok(own)
    }
}
