//! Feature selection from data too large to hold.
//!
//! Features flow past, a block of columns at a time; a method holds a bounded kept set and can
//! say at any moment which features it would keep and with which weights. This crate is the
//! engine: no file formats, no command line.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`data`] | what flows: columns, blocks, rows, the target, groups, the kept set |
//! | [`select`] | methods on a stream of features: `substitution`, `l1`, `statistical` |
//! | [`learn`] | methods on a stream of rows: `averages`, `streaming` |
//! | [`loss`], [`measure`] | what the methods are built on, one a file |
//! | [`run`] | what runs them: drivers, the record of a run, budgets, saved states |
//! | [`registry`] | every method by name, with its settings |
//! | [`selection`], [`error`] | the result, and the one error type |
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

pub mod data;
pub mod error;
pub mod experiment;
pub mod learn;
pub mod loss;
pub mod measure;
pub mod numeric;
pub mod registry;
pub mod run;
pub mod select;
pub mod selection;
pub mod workload;

pub use data::{
    CheckPolicy, CheckedBlock, Column, ColumnBlock, ColumnData, ColumnStats, Covariate, Feature,
    FeatureId, FeatureSource, Generated, Groups, Kept, KeptSet, Missing, Numbers, NumbersRef,
    Order, Problem, RawColumn, Row, RowBlock, RowIds, RowMap, RowProblem, SampleSource,
    SharedBytes, SparseEntries, Target, Task, Walk,
};
pub use error::{Bytes, Error, Result};
pub use learn::RowLearner;
pub use loss::LossKind;
pub use registry::{Maker, MethodInfo, MethodSpec, Stream};
pub use run::{
    Budget, Driver, Flow, Lane, Observer, Progress, Pushed, Quiet, RunOptions, RunReport, Snapshot,
};
pub use select::{ColumnSelector, GroupSelector, Memory, Outcome, Reason, Status, Verdict};
pub use selection::{Selected, Selection, Value};
pub use workload::Workload;
