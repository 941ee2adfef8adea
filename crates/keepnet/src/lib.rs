//! Feature selection from data too large to hold.
//!
//! Features flow past, a block of columns at a time; a method holds a bounded kept set and can
//! say at any moment which features it would keep and with which weights. This crate is the
//! engine: no file formats, no command line.
//!
//! **What flows.** [`source`] says where features come from, [`block`] holds those just read,
//! [`mod@column`] stores values in the width they came in (dense, sparse, bits, codes) and
//! [`order`] gives the order of each scan. [`target`] holds what is asked of the rows: target,
//! weights, offset, covariates and which rows count.
//!
//! **What decides.** [`check`] lets a column through once, with its statistics, or drops it.
//! [`select`] has the methods, one a file, behind [`ColumnSelector`]; [`registry`] knows them by
//! name with their settings. [`loss`] has the losses, [`refit`] the last fit on the kept set,
//! [`selection`] the result.
//!
//! **What runs it.** [`driver`] feeds one read to several selectors, scan after scan, and keeps
//! the books. [`kept`] holds columns within a [`budget`]; [`snapshot`] saves a state and takes
//! it up again; [`error`] is the one error type.
//!
//! **What computes.** [`kernel`] has the loops over every value, [`cross`] the products of many
//! columns with a few vectors, [`frame`] inner products with weights and implicit centring,
//! [`linalg`] small symmetric matrices. [`workload`] makes the papers' data by seed, and
//! [`experiment`] runs their experiments on it.
//!
//! # Example
//!
//! A thousand features of 100 rows, made as they are asked for; two of them make the target.
//!
//! ```
//! use keepnet::select::os_plus::{OsPlus, OsPlusParams};
//! use keepnet::{Budget, ColumnData, Driver, Generated, Lane, Problem, Quiet, RunOptions};
//!
//! let value = |i: u64, j: u64| (1e4 * ((j * 100 + i + 2) as f64).ln().sin()).fract();
//! let mut source = Generated::new("noise", 100, 1_000, move |j| {
//!     Ok(ColumnData::dense((0..100).map(|i| value(i, j)).collect()))
//! });
//! let y = (0..100).map(|i| 2.0 * value(i, 17) - value(i, 400)).collect();
//! let problem = Problem::regression(y);
//!
//! let selector = OsPlus::new(OsPlusParams::new(2), &problem, Budget::unlimited())?;
//! let lane = Lane::new(problem, Box::new(selector));
//! let report = Driver::new(&mut source, vec![lane], RunOptions::default())?.run(&mut Quiet)?;
//!
//! let selection = &report.lanes[0].selection;
//! assert_eq!(selection.indices(), [17, 400]);
//! assert!((selection.selected[0].coefficient[0] - 2.0).abs() < 1e-6);
//! # Ok::<(), keepnet::Error>(())
//! ```

pub mod block;
pub mod budget;
pub mod check;
pub mod column;
pub mod compact;
pub mod cross;
pub mod driver;
pub mod error;
pub mod experiment;
pub mod frame;
pub mod groups;
pub mod kept;
pub mod kernel;
mod lanczos;
pub mod learn;
pub mod linalg;
pub mod loss;
pub mod measure;
pub mod order;
mod policy;
pub mod popcount;
pub mod refit;
pub mod registry;
pub mod row;
pub mod select;
pub mod selection;
pub mod snapshot;
pub mod source;
pub mod target;
mod vector;
pub mod verdict;
pub mod workload;

pub use block::{ColumnBlock, FeatureId, RawColumn};
pub use budget::Budget;
pub use check::{CheckPolicy, CheckedBlock, ColumnStats, Feature, Missing};
pub use column::{Column, ColumnData, Numbers, NumbersRef, SharedBytes, SparseEntries};
pub use driver::{Driver, Flow, Lane, Observer, Progress, Pushed, Quiet, RunOptions, RunReport};
pub use error::{Bytes, Error, Result};
pub use groups::Groups;
pub use kept::{Kept, KeptSet};
pub use learn::RowLearner;
pub use loss::LossKind;
pub use order::Order;
pub use registry::{Maker, MethodInfo, MethodSpec, Stream};
pub use row::{Row, RowBlock, RowProblem, SampleSource};
pub use select::{ColumnSelector, GroupSelector, Outcome, Reason, Status, Verdict};
pub use selection::{Selected, Selection, Value};
pub use snapshot::Snapshot;
pub use source::{FeatureSource, Generated, RowIds, Walk};
pub use target::{Covariate, Problem, RowMap, Target, Task};
pub use workload::Workload;
