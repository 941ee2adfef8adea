//! Tests of a newcomer and a target, given some of the columns that are held.
//!
//! The methods that look for a Markov blanket ask one question of every feature of a scan: how
//! strong is its link with the target given the set `S`? [`Strata`] answers it by G² within the
//! configurations of `S`, [`PartialZ`] by the correlation of what `S` leaves of both. The answer is
//! a [`Link`], with the logarithm of the p-value, so that links whose p-values are below the
//! smallest `f64` still have an order.
//!
//! The target is that of the problem or a held column ([`Node`]), and `S` is made of the covariates
//! and of nodes. A set is prepared once ([`Newcomer::condition`]) and then met by any number of
//! newcomers; a link is the same to the last digit whenever it is computed.

mod partial;
mod strata;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{MeasureKind, Side};
use crate::data::check::ColumnStats;
use crate::data::column::{Column, ColumnData};
use crate::error::Result;

pub(crate) use partial::PartialZ;
pub(crate) use strata::Strata;

/// What a test says of two columns given others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Link {
    /// Logarithm of the p-value.
    pub(crate) ln_p: f64,
    /// G², or the absolute partial correlation.
    pub(crate) statistic: f64,
}

impl Link {
    /// No link at all.
    pub(crate) const NONE: Self = Self { ln_p: 0.0, statistic: 0.0 };

    /// Whether the test finds dependence at level `alpha`.
    pub(crate) fn holds(&self, alpha: f64) -> bool {
        self.ln_p <= alpha.ln()
    }
}

/// One side of a test, or a member of its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// The problem's target.
    Target,
    /// A held column, by its place among them.
    Held(usize),
}

/// Tests of independence, with what is known of the held columns.
///
/// `held` is the list of all held columns in the order in which they were taken; the tests keep
/// what they computed of them in step by [`Newcomer::hold`] and [`Newcomer::let_go`].
pub(crate) trait Newcomer: Send {
    /// Facts that are computed once per column.
    type Facts: Clone + Send + Serialize + DeserializeOwned;
    /// What all tests of one newcomer share.
    type Met: Send;

    /// Which measure it is.
    const KIND: MeasureKind;

    /// The column in the storage that the tests work on; `None` where it is that already.
    fn code(&self, x: Column<'_>) -> Result<Option<ColumnData>>;

    /// Facts of a coded column.
    fn facts(&mut self, x: Column<'_>, stats: &ColumnStats) -> Result<Self::Facts>;

    /// The last of `held` has joined the others.
    fn hold(&mut self, held: &[Side<'_, Self::Facts>]);

    /// The column at `at` has left; later ones move down.
    fn let_go(&mut self, at: usize);

    /// What the tests of a newcomer share, for conditions and targets among those `wanted` of the
    /// held columns.
    fn meet(
        &mut self,
        held: &[Side<'_, Self::Facts>],
        x: Side<'_, Self::Facts>,
        wanted: impl Fn(usize) -> bool,
    ) -> Self::Met;

    /// Prepares the tests with `target` given the nodes of `set`, and the covariates unless
    /// `bare`.
    fn condition(&mut self, held: &[Side<'_, Self::Facts>], target: Node, set: &[Node], bare: bool);

    /// The link of a newcomer under the condition prepared last; `None` where there are too few
    /// rows to test it.
    fn test(&mut self, x: Side<'_, Self::Facts>, met: &Self::Met) -> Option<Link>;

    /// The same of a node that is neither the target of the test nor in the condition.
    fn test_node(&mut self, held: &[Side<'_, Self::Facts>], node: Node) -> Option<Link>;

    /// The name of the statistic in results.
    fn score(&self) -> &'static str;
}
