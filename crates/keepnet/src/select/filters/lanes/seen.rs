//! What goes past the searches: the features of a block, or the columns that are held.

use crate::data::block::FeatureId;
use crate::data::check::Feature;
use crate::data::column::ColumnData;
use crate::data::kept::Kept;
use crate::measure::Side;
use crate::select::filters::pool::Candidate;

/// A feature of a scan, or a column that is held.
pub(super) enum Seen<'a, F> {
    Fresh { feature: &'a Feature<'a>, data: Option<ColumnData>, facts: F },
    Held(Candidate<F>),
}

impl<F: Clone> Seen<'_, F> {
    pub(super) fn id(&self) -> FeatureId {
        match self {
            Self::Fresh { feature, .. } => feature.id,
            Self::Held(held) => held.id(),
        }
    }

    pub(super) fn side(&self) -> Side<'_, F> {
        match self {
            Self::Fresh { feature, data, facts } => {
                let x = data.as_ref().map_or_else(|| feature.column(), ColumnData::view);
                Side { x, facts }
            }
            Self::Held(held) => held.side(),
        }
    }

    /// Bytes of a copy.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Fresh { feature, .. } => {
                let fixed = size_of::<Kept>() + size_of::<F>() + 64 + feature.name.len();
                (self.side().x.bytes() + fixed) as u64
            }
            Self::Held(held) => held.bytes(),
        }
    }

    /// A copy to hold, with its strength.
    pub(super) fn candidate(&self, strength: f64) -> Candidate<F> {
        match self {
            Self::Fresh { feature, data, facts } => {
                Candidate::new(feature, data.clone(), facts.clone(), (strength, None))
            }
            Self::Held(held) => Candidate { strength, ..held.clone() },
        }
    }
}

/// What became of a feature in a scan.
#[derive(Clone, Copy)]
pub(super) struct Fate {
    /// Whether it is a candidate of some lane still.
    pub(super) live: bool,
    pub(super) statistic: Option<f64>,
    /// A member of the set that made it independent.
    pub(super) by: Option<FeatureId>,
}
