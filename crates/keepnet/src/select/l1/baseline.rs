//! What a rival on a stream needs to say of itself; the rest is the same for all of them.

use super::stream::Held;
use crate::data::check::{CheckedBlock, Feature};
use crate::error::{Error, Result};
use crate::run::snapshot::Snapshot;
use crate::select::{ColumnSelector, Memory, Outcome, Status};
use crate::selection::Selection;

/// A method on a stream whose whole state is what it holds.
pub(in crate::select) trait Rival: Send {
    /// Its name in results.
    const NAME: &'static str;
    /// Whether it moves one weight at a time, so that predictions drift and are made anew.
    const COORDINATES: bool;
    /// Whether its step is the user's to choose, so that weights that diverge are a warning.
    const MAY_DIVERGE: bool = false;

    /// What it holds.
    fn held(&self) -> &Held;

    /// The same, to be changed.
    fn held_mut(&mut self) -> &mut Held;

    /// Decides on a feature.
    fn arrival(&mut self, x: &Feature<'_>) -> Result<Outcome>;

    /// Adds what is its own to the refitted model: of the L1 methods lambda and the KKT residual.
    fn complete(&self, selection: &mut Selection) {
        self.held().add_l1(selection);
    }
}

impl<R: Rival> ColumnSelector for R {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        for feature in &block.features {
            out.push(self.arrival(feature)?);
            if !R::MAY_DIVERGE && !self.held().finite() {
                let name = format!("feature {:?}", feature.name);
                return Err(Error::overflow("the weights after it").at(name));
            }
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        Ok(match R::COORDINATES {
            true => self.held_mut().end_coordinate_scan(),
            false => self.held_mut().end_scan(),
        })
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let mut selection = self.held().selection(R::NAME)?;
        self.complete(&mut selection);
        Ok(selection)
    }

    fn fitted(
        &self,
        see: &mut dyn FnMut(&crate::run::verdict::Fitted<'_>) -> Result<()>,
    ) -> Result<()> {
        self.held().columns.fitted(see)
    }

    fn centres(&self) -> bool {
        self.held().columns.frame.centred()
    }

    fn status(&self) -> Status {
        self.held().status()
    }

    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        self.held().memory(column, features)
    }
}

impl<R: Rival> Snapshot for R {
    fn save(&self) -> Result<Vec<u8>> {
        self.held().save()
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.held_mut().restore(state)
    }
}
