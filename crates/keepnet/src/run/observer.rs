//! Callbacks during a run: progress, state to save, decisions.

use crate::data::block::FeatureId;
use crate::data::name::Name;
use crate::error::Result;
use crate::select::{Outcome, Status};

/// Where a run stands.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The scan under way, from 0.
    pub scan: u32,
    /// Scans asked for; 0 where there are as many as it takes.
    pub scans: u32,
    /// Features that have arrived, over all scans.
    pub arrived: u64,
    /// Features of one scan, where that is known.
    pub features: Option<u64>,
    /// The first lane's numbers.
    pub status: Status,
}

/// What an observer wants between two blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Hand the state to [`Observer::save`].
    pub save: bool,
    /// End the run with the current result.
    pub stop: bool,
}

/// One decision on one feature.
#[derive(Clone, Debug)]
pub struct Decision<'a> {
    /// Which lane decided.
    pub lane: usize,
    /// The scan, from 0.
    pub scan: u32,
    /// The feature.
    pub id: FeatureId,
    /// Its name.
    pub name: &'a Name,
    /// What became of it.
    pub outcome: &'a Outcome,
}

/// Callbacks during a run on features.
///
/// Every method does nothing unless it is overridden. An `Err` ends the run with that error.
pub trait Observer {
    /// Called after each block; the answer may ask for the state or end the run.
    fn progress(&mut self, progress: &Progress) -> Result<Flow> {
        let _ = progress;
        Ok(Flow::default())
    }

    /// Called with the state that [`Flow::save`] asked for.
    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        let _ = state;
        Ok(())
    }

    /// Called for each decision, lane by lane.
    fn decision(&mut self, decision: &Decision<'_>) -> Result<()> {
        let _ = decision;
        Ok(())
    }
}

/// An observer that does nothing.
pub struct Quiet;

impl Observer for Quiet {}
