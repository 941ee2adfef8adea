//! What flows past: columns and rows, the target, and the columns that are kept.

pub(crate) mod block;
pub(crate) mod check;
pub(crate) mod column;
pub(crate) mod compact;
pub(crate) mod groups;
pub(crate) mod kept;
pub(crate) mod order;
pub(crate) mod policy;
pub(crate) mod row;
pub(crate) mod source;
pub(crate) mod target;

pub use block::{ColumnBlock, FeatureId, RawColumn};
pub use check::{CheckPolicy, CheckedBlock, ColumnStats, Feature, Missing, check_block};
pub use column::{Column, ColumnData, Numbers, NumbersRef, SharedBytes, SparseEntries};
pub use compact::compact;
pub use groups::Groups;
pub use kept::{Kept, KeptSet};
pub use order::{Order, generator};
pub use row::{Row, RowBlock, RowProblem, SampleSource};
pub use source::{Cursor, FeatureSource, Generated, RowIds};
pub use target::{Covariate, Problem, RowMap, Target, Task};
