//! How many columns a method may hold beside those that it keeps: the setting `hold`.

use crate::error::{Bytes, Error, Result};
use crate::registry::setting::Given;
use crate::registry::{MethodSpec, Setting};
use crate::run::budget::Budget;
use crate::select::Memory;
use crate::selection::Value;

/// Columns held beside the kept ones.
pub(crate) const HOLD: Setting = Setting::whole(
    "hold",
    (1, 1 << 40),
    1,
    "columns held beside the kept ones: all makes one scan, fewer make more; auto is what the \
     memory allows. The selection is the same",
)
.or(&["auto", "all"]);

/// Bytes of columns that are held where neither `hold` nor the memory is limited.
const AUTO: u64 = 64 << 20;
/// Bytes of a held column besides its values.
pub(crate) const SLOT: u64 = 400;

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// What the memory allows.
    Auto,
    /// So many columns, or fewer where the memory allows no more.
    Columns(usize),
    /// Every column, in one scan; an error where the memory is too small.
    All,
}

impl Hold {
    /// The setting `hold`.
    pub(crate) fn of(spec: &MethodSpec) -> Result<Self> {
        Ok(match spec.value(&HOLD)? {
            Some(Given::Word("all")) => Self::All,
            _ => spec.optional_whole(&HOLD)?.map_or(Self::Auto, Self::Columns),
        })
    }

    /// As results show it.
    pub(crate) fn shown(self) -> Value {
        match self {
            Self::Auto => "auto".into(),
            Self::Columns(columns) => columns.into(),
            Self::All => "all".into(),
        }
    }

    /// Most columns.
    pub(crate) fn columns(self) -> usize {
        match self {
            Self::Columns(columns) => columns,
            _ => usize::MAX,
        }
    }

    /// The room of columns beside `others` bytes.
    pub(crate) fn room(self, budget: &Budget, others: u64) -> Room {
        Room {
            columns: self.columns(),
            bytes: self.bytes(budget, others),
            all: self == Self::All,
            others,
            limit: budget.limit().unwrap_or(u64::MAX),
        }
    }

    /// Bytes that columns may take beside `others`: half of what there is, as those that were just
    /// selected are held for one scan more.
    fn bytes(self, budget: &Budget, others: u64) -> u64 {
        match (self, budget.limit()) {
            (Self::Auto, None) => AUTO / 2,
            (Self::Columns(_) | Self::All, None) => u64::MAX,
            (Self::All, Some(limit)) => limit.saturating_sub(others),
            (_, Some(limit)) => limit.saturating_sub(others) / 2,
        }
    }

    /// The bytes of a method that holds `fixed` in any case, for columns of up to `column` bytes
    /// and `facts` known of each.
    pub(crate) fn planned(
        self,
        budget: &Budget,
        (column, facts): (u64, u64),
        features: Option<u64>,
        fixed: u64,
    ) -> Memory {
        let slot = column.saturating_add(SLOT + facts);
        if let (Self::All, None) = (self, features) {
            return Memory { bytes: fixed, each: slot };
        }
        let features = features.unwrap_or(u64::MAX);
        let columns = features.min(self.columns() as u64);
        let most = self.bytes(budget, fixed);
        let held = columns.saturating_mul(slot);
        // One that fits makes one scan; else what was selected in a scan is held through the next.
        let held = match self {
            Self::All => held,
            _ if held <= most && columns == features => held,
            _ => held.min(most).saturating_mul(2),
        };
        Memory { bytes: fixed.saturating_add(held.max(slot)), each: SLOT }
    }
}

/// The room for held columns at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Most columns.
    pub(crate) columns: usize,
    /// Most bytes.
    pub(crate) bytes: u64,
    all: bool,
    others: u64,
    limit: u64,
}

impl Room {
    /// The same for one column.
    pub(crate) fn one(self) -> Self {
        Self { columns: 1, ..self }
    }

    /// Whether a column of `bytes` can be held beside `held` bytes of others, which may be let go
    /// for it unless all are to be held.
    pub(crate) fn check(&self, held: u64, bytes: u64) -> Result<()> {
        let held = if self.all { held } else { 0 };
        if held.saturating_add(bytes) <= self.bytes {
            return Ok(());
        }
        Err(Error::Budget {
            what: "the held columns".into(),
            need: Bytes(self.others.saturating_add(held).saturating_add(bytes)),
            have: Bytes(self.limit),
            advice: if self.all { "raise `memory`, or leave `hold` out" } else { "raise `memory`" },
        })
    }
}
