//! What flows past: columns and rows, the target, and the columns that are kept.

pub mod block;
pub mod check;
pub mod column;
pub mod compact;
pub mod groups;
pub mod kept;
pub mod order;
pub(crate) mod policy;
pub mod row;
pub mod source;
pub mod target;

pub use block::{ColumnBlock, FeatureId, RawColumn};
pub use check::{CheckPolicy, CheckedBlock, ColumnStats, Feature, Missing};
pub use column::{Column, ColumnData, Numbers, NumbersRef, SharedBytes, SparseEntries};
pub use groups::Groups;
pub use kept::{Kept, KeptSet};
pub use order::Order;
pub use row::{Row, RowBlock, RowProblem, SampleSource};
pub use source::{Cursor, FeatureSource, Generated, RowIds};
pub use target::{Covariate, Problem, RowMap, Target, Task};
