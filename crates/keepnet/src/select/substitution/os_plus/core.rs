//! What the two forms of the method, squared and curved, have in common.

use super::exact_test::{Exchange, Newcomer};
use crate::data::check::Feature;
use crate::data::kept::{Kept, KeptSet};
use crate::error::Result;
use crate::select::kept_products::Products;
use crate::select::{Marginal, Outcome, Reason, Status};

/// What `block.rs` needs of the two forms of the method, squared and curved.
pub(super) trait Core: Send + Sync {
    fn kept(&self) -> &KeptSet;
    /// The vector whose product with a column is the costly part of its marginal.
    fn probe(&self) -> Option<&[f64]> {
        None
    }
    /// Strength of a newcomer against the current residual, given its product with the probe where
    /// there is one. It changes no state, so it can be computed ahead.
    fn marginal(&self, feature: &Feature<'_>, product: Option<f64>) -> Marginal;
    /// Whether the kept set is full, so that a newcomer must replace a kept feature.
    fn full(&self) -> bool;
    /// Whether the marginal alone shows that the newcomer cannot enter.
    fn rejects(&self, marginal: &Marginal) -> bool;
    /// The least gain of a newcomer that is not rejected by its marginal, 0 until the set is full;
    /// `None` where the marginal needs more than the probe.
    fn least_gain(&self) -> Option<f64> {
        None
    }
    /// A closer test of a newcomer that was not rejected; it may correct the marginal.
    fn confirms(&self, feature: &Feature<'_>, marginal: &mut Marginal) -> bool {
        let _ = (feature, marginal);
        true
    }
    /// Whether the kept features near a newcomer leave it a chance; it counts the test.
    fn passes_near(&mut self, feature: &Feature<'_>, marginal: &Marginal) -> bool {
        let _ = (feature, marginal);
        true
    }
    /// Whether newcomers are tested fully one by one, as most of them do not pass a closer test.
    fn one_by_one(&self) -> bool {
        false
    }
    /// Row weights of the products in a full test: one set per output, or one for all.
    fn scales(&self) -> Vec<Option<&[f64]>>;
    /// Targets whose products a full test needs as well.
    fn targets(&self) -> Vec<&[f64]>;
    /// Changes whenever earlier marginals become invalid.
    fn version(&self) -> u64;
    /// When the products with a slot's column last changed, on the clock of [`Core::clock`].
    fn changed_at(&self, slot: usize) -> u64;
    fn clock(&self) -> u64;
    /// What becomes of a newcomer that a test before the full one let go.
    fn rejected(&mut self, feature: &Feature<'_>, marginal: &Marginal) -> Result<Outcome> {
        let _ = (feature, marginal);
        Ok(Outcome::dropped(Reason::Weak))
    }
    /// Decides, given the products with the kept columns and the targets.
    fn full_test(
        &mut self,
        feature: &Feature<'_>,
        marginal: &Marginal,
        products: &Products,
    ) -> Result<Outcome>;
    /// Whether it pays to look ahead at what several newcomers would change.
    fn foresees(&self) -> bool {
        false
    }
    /// Whether changes of newcomers whose products were computed are still foreseen.
    fn foreseen(&self) -> bool {
        false
    }
    /// Looks ahead at what these newcomers would change if they came next, one after the other.
    /// It changes no result.
    fn foresee(&mut self, group: &[Candidate<'_, '_>]) {
        let _ = group;
    }
    /// The best exchange of each newcomer for a kept feature, with no quick test before it; `None`
    /// where it has none. It changes no decision.
    fn exact(&mut self, newcomers: &[Newcomer<'_, '_>]) -> Vec<Option<Exchange>>;
    /// The least fall of the loss that is worth an exchange, and is no rounding.
    fn least_fall(&self, tolerance: f64) -> f64;
    /// Brings the model to its optimum, in digits that depend on the kept columns and their order.
    fn settle(&mut self) -> Result<()>;
    /// The stream goes on: an answer of [`Core::finish`] holds no longer.
    fn go_on(&mut self) {}
    fn end_scan(&mut self) {}
    /// Works out the answer, where it is not the model as it stands.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }
    /// What [`Core::finish`] found; `None` where the model as it stands is the answer.
    fn answer(&self) -> Option<Answer<'_>> {
        None
    }
    /// Columns that wait for [`Core::finish`].
    fn waiting(&self) -> &[Kept] {
        &[]
    }
    /// Does without columns that wait for [`Core::finish`] from now on.
    fn close_reserve(&mut self) -> Result<()> {
        Ok(())
    }
    /// All of a settled model but its columns.
    fn outline(&self) -> Result<Vec<u8>>;
    /// Takes up a model with its columns, covariates among them.
    fn redraw(&mut self, outline: &[u8], columns: Vec<Kept>) -> Result<()>;
    /// Slots of the model, in its own order.
    fn model(&self) -> Vec<usize>;
    /// Full tests so far.
    fn tests(&self) -> u64;
    /// Neighbour tests so far.
    fn neighbour_tests(&self) -> u64 {
        0
    }
    fn status(&self) -> Status;
    fn save(&self) -> Result<Vec<u8>>;
    fn restore(&mut self, state: &[u8]) -> Result<()>;
}

/// An answer that is not the model as it stands.
pub(super) struct Answer<'a> {
    /// Covariates, pinned features, chosen features.
    pub(super) columns: Vec<&'a Kept>,
    /// Its loss, penalty included.
    pub(super) objective: f64,
    /// Features that came from the reserve.
    pub(super) entered: u64,
}

/// A newcomer whose products were computed ahead.
pub(super) struct Candidate<'a, 'f> {
    pub(super) feature: &'a Feature<'f>,
    pub(super) products: &'a Products,
    /// With the columns of the candidates before it.
    pub(super) earlier: &'a [f64],
}
