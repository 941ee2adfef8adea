//! What differs between the baselines on a stream; the rest is implemented once, here.

use super::held::Held;
use crate::data::check::{CheckedBlock, Feature};
use crate::error::{Error, Result};
use crate::run::snapshot::Snapshot;
use crate::select::{ColumnSelector, Memory, Outcome, Status};
use crate::selection::Selection;

/// A method on a stream whose whole state is [`Held`].
pub(in crate::select) trait Baseline: Send {
    /// Its name in results.
    const NAME: &'static str;
    /// Whether it moves one coefficient at a time. Rounding then adds up in the predictions, and
    /// they are computed anew at the end of a scan.
    const COORDINATES: bool;
    /// Whether the user chooses its step. Coefficients that diverge are then a warning.
    const MAY_DIVERGE: bool = false;

    /// Its state.
    fn held(&self) -> &Held;

    /// Its state, mutable.
    fn held_mut(&mut self) -> &mut Held;

    /// Decides on a feature.
    fn arrival(&mut self, x: &Feature<'_>) -> Result<Outcome>;

    /// Adds its own numbers to the result: lambda and the KKT residual for the L1 methods.
    fn complete(&self, selection: &mut Selection) {
        self.held().add_l1(selection);
    }
}

impl<B: Baseline> ColumnSelector for B {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        for feature in &block.features {
            out.push(self.arrival(feature)?);
            if !B::MAY_DIVERGE && !self.held().finite() {
                let name = format!("feature {:?}", feature.name);
                return Err(Error::overflow("the weights after it").at(name));
            }
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        Ok(match B::COORDINATES {
            true => self.held_mut().end_coordinate_scan(),
            false => self.held_mut().end_scan(),
        })
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let mut selection = self.held().selection(B::NAME)?;
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

impl<B: Baseline> Snapshot for B {
    fn save(&self) -> Result<Vec<u8>> {
        self.held().save()
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.held_mut().restore(state)
    }
}
