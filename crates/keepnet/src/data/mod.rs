//! What flows past: columns and rows, the target, and the columns that are kept.

pub(crate) mod block;
pub(crate) mod check;
pub(crate) mod column;
pub(crate) mod compact;
pub(crate) mod groups;
pub(crate) mod kept;
pub(crate) mod name;
pub(crate) mod order;
pub(crate) mod policy;
pub(crate) mod pool;
pub(crate) mod row;
pub(crate) mod source;
pub(crate) mod target;

pub use block::{ColumnBlock, FeatureId, RawColumn};
pub use check::{
    CheckPolicy, CheckedBlock, ColumnStats, Feature, Missing, Wants, check_block, check_block_for,
};
pub use column::{
    Column, ColumnData, GenotypeCounts, GenotypeData, Genotypes, NumberKind, Numbers, NumbersRef,
    SharedBytes, SparseEntries, Whole, WholeRef,
};
pub use compact::compact;
pub use groups::{GroupNames, Groups};
pub use kept::{Kept, KeptSet};
pub use name::Name;
pub use order::{Order, generator};
pub use row::{Row, RowBlock, RowProblem, SampleSource};
pub use source::{Cursor, FeatureSource, Generated, RowIds};
pub use target::{Covariate, Problem, RowMap, Target, Task};
