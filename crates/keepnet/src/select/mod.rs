//! Methods on a stream of features, one per file, behind [`ColumnSelector`].

mod counted_products;
pub mod filters;
mod fitted;
mod kept_by_row;
mod kept_products;
pub mod l1;
mod memory;
pub(crate) mod refit;
pub mod statistical;
pub mod substitution;
mod ties;

pub(crate) use memory::Holds;
pub use memory::Memory;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::data::block::FeatureId;
use crate::data::check::{CheckedBlock, Feature};
use crate::data::name::Name;
use crate::error::{Error, Result};
use crate::run::snapshot::Snapshot;
use crate::run::verdict::Fitted;
use crate::selection::Selection;

/// Decides on each feature as it arrives. An `Err` leaves the state as it was.
pub trait ColumnSelector: Snapshot + Send {
    /// Appends one outcome for each feature of the block, or none where outcomes come late; see
    /// [`ColumnSelector::settle`].
    ///
    /// The size of blocks must not change the result.
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()>;

    /// Appends late outcomes of earlier features, from a selector that decides in the background
    /// and gives none in [`ColumnSelector::offer_block`]. With `wait` it waits for all of them.
    fn settle(&mut self, wait: bool, out: &mut Vec<Late>) -> Result<()> {
        let _ = (wait, out);
        Ok(())
    }

    /// Ends a scan; `true` when another scan would change nothing.
    fn end_scan(&mut self) -> Result<bool>;

    /// Whether the method makes as many scans as it takes, and needs a further one: what it has
    /// before [`ColumnSelector::end_scan`] says `true` is then not its answer.
    fn unfinished(&self) -> bool {
        false
    }

    /// Goes on after `scans` scans until a scan shows that nothing can be improved. Called before
    /// the first scan; an error where the method has no such test.
    fn certify(&mut self, scans: u32) -> Result<()> {
        let _ = scans;
        let want = "a number with this method: only os-plus can tell that no exchange is left";
        Err(Error::param("scans", "rest", want))
    }

    /// Refits the model on the kept set.
    fn finish(&mut self) -> Result<()>;

    /// What is kept now; it may be called at any time.
    fn selection(&self) -> Result<Selection>;

    /// Passes to `see` what the model of [`ColumnSelector::selection`] was fitted on, so that it
    /// can be checked. A method without a model does nothing.
    fn fitted(&self, see: &mut dyn FnMut(&Fitted<'_>) -> Result<()>) -> Result<()> {
        let _ = see;
        Ok(())
    }

    /// Whether all members of a group must come in one block; see [`GroupSelector`].
    fn whole_groups(&self) -> bool {
        false
    }

    /// Whether columns should come in the narrowest storage that loses nothing.
    fn compacts(&self) -> bool {
        false
    }

    /// Whether a constant added to a column changes nothing but the intercept.
    ///
    /// Columns whose mean is large against their deviation are then shifted by a constant, which
    /// is in [`crate::ColumnStats::shift`]; see `check/offset.rs`. Methods without an intercept and
    /// methods that compare values for equality need the values as they are.
    fn centres(&self) -> bool;

    /// What computes numbers of features while they are checked, ahead of their turn. It saves a
    /// pass over a block that is larger than the cache.
    fn glances(&self) -> Option<&dyn Glances> {
        None
    }

    /// The numbers of a progress line; cheap.
    fn status(&self) -> Status;

    /// What the method will hold at most, with columns of up to `column` bytes and `features` of
    /// them in a scan, where that is known. Pinned features are not among it.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory;
}

/// Computes numbers of a feature right after its check, while its values are in the cache.
pub trait Glances: Sync {
    /// A vector whose product with each column is needed. The check computes it in the same pass
    /// where it can.
    fn probe(&self) -> Option<&[f64]>;

    /// The numbers of a feature, given its product with the probe where there is one; `None` where
    /// they would be of no use later.
    fn glance(&self, feature: &Feature<'_>, product: Option<f64>) -> Option<Glance>;

    /// What shows by one product alone that a newcomer is dropped; `None` where the method has no
    /// such test.
    fn quick_test(&self) -> Option<QuickTest<'_>> {
        None
    }
}

/// A newcomer `x` that is not pinned is dropped as weak and changes nothing where
/// `(x'probe)^2 / (W^2 h) < least`, with `h` its variance, or its mean square where columns are not
/// centred.
#[derive(Clone, Copy, Debug)]
pub struct QuickTest<'a> {
    /// The residual, a value for each row that counts.
    pub probe: &'a [f64],
    /// 0 where every newcomer has to be looked at.
    pub least: f64,
    /// Changes with the probe.
    pub version: u64,
    /// Whether columns are centred.
    pub centred: bool,
}

/// Numbers of a feature computed before its turn, valid for one version of the method's state.
#[derive(Clone, Debug)]
pub struct Glance {
    /// The version.
    pub version: u64,
    /// The feature against the residual.
    pub marginal: Marginal,
}

/// A newcomer against the residual, one entry per output.
#[derive(Clone, Debug, Default)]
pub struct Marginal(pub SmallVec<[Along; 1]>);

/// The loss of one output along a newcomer.
#[derive(Clone, Copy, Debug)]
pub struct Along {
    /// `a`: minus the slope, divided by W.
    pub slope: f64,
    /// `h`: the curvature, ridge included.
    pub curve: f64,
    /// `sum d (x - mean) / W`.
    pub sum: f64,
}

impl Marginal {
    /// `sum over outputs of a^2 / h`: twice the fall of the loss if nothing else were kept.
    #[must_use]
    pub fn gain(&self) -> f64 {
        self.0.iter().map(|along| along.slope * (along.slope / along.curve)).sum()
    }
}

/// Decides on each group of features as it arrives whole. An `Err` leaves the state as it was.
pub trait GroupSelector {
    /// Appends one outcome for each member of one group.
    fn offer_group(&mut self, members: &[Feature<'_>], out: &mut Vec<Outcome>) -> Result<()>;
}

/// Offers the groups of a block one after the other; members of a group are adjacent.
pub fn offer_groups(
    selector: &mut dyn GroupSelector,
    block: &CheckedBlock<'_>,
    out: &mut Vec<Outcome>,
) -> Result<()> {
    for members in block.features.chunk_by(|a, b| a.group == b.group) {
        if members[0].group.is_none() {
            return Err(no_groups());
        }
        selector.offer_group(members, out)?;
    }
    Ok(())
}

/// A method on groups was given features without one.
fn no_groups() -> Error {
    Error::param("groups", "not given", "FILE, prefix:SEP or block:N")
}

/// An outcome that came after its block; see [`ColumnSelector::settle`].
#[derive(Clone, Debug, PartialEq)]
pub struct Late {
    /// The feature.
    pub id: FeatureId,
    /// Its name.
    pub name: Name,
    /// What became of it.
    pub outcome: Outcome,
}

/// The current state of a selector, for progress lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Features in the model.
    pub kept: usize,
    /// Loss of the model, where the method has one.
    pub loss: Option<f64>,
    /// Features that replaced another so far.
    pub substitutions: u64,
    /// Bytes held.
    pub bytes: u64,
}

/// What became of one feature.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The decision on the feature itself.
    pub verdict: Verdict,
    /// Features that it replaced or made redundant; usually none.
    pub evicted: Vec<FeatureId>,
    /// Strength of the feature against the residual or the target, where it was computed.
    pub marginal: Option<f64>,
    /// The number that the decision compared, where it was computed.
    pub score: Option<f64>,
}

impl Outcome {
    /// A decision that evicts no feature.
    #[must_use]
    pub fn new(verdict: Verdict) -> Self {
        Self { verdict, evicted: Vec::new(), marginal: None, score: None }
    }

    /// A dropped feature.
    #[must_use]
    pub fn dropped(reason: Reason) -> Self {
        Self::new(Verdict::Dropped(reason))
    }
}

/// The decision on one feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// In the model.
    Kept,
    /// Held outside the model, in case it is needed later.
    Reserved,
    /// It was kept already and arrived again in a later scan.
    Held,
    /// Dropped.
    Dropped(Reason),
}

/// Why a feature was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// Too weakly associated with the target.
    Weak,
    /// Another feature makes it redundant.
    Redundant {
        /// That feature; `None` where covariates make it redundant, or it was found to be in an
        /// earlier scan.
        by: Option<FeatureId>,
    },
    /// It has one value only, or too few others.
    Constant,
    /// Missing values.
    Missing,
    /// One of its two alleles is too rare.
    Maf,
}

impl Reason {
    /// The word used in results.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Redundant { .. } => "redundant",
            Self::Constant => "constant",
            Self::Missing => "missing",
            Self::Maf => "maf",
        }
    }
}
