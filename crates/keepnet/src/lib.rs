//! Feature selection from data too large to hold.
//!
//! Features flow past, a block of columns at a time, or samples do, a block of rows at a time. A
//! method holds a bounded set and can say at any moment which features it would keep and with
//! which coefficients. This crate is the engine: no file formats, no command line.
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
//! | [`tails`] | tail probabilities of tests, and their logarithms |
//!
//! # The life of a feature
//!
//! 1. A [`FeatureSource`] fills a [`ColumnBlock`] that the [`Driver`] reuses. [`Generated`] is a
//!    source made of a function.
//! 2. Each column is checked once: its length, its values, and what [`CheckPolicy`] says of
//!    missing ones. What passes is a [`Feature`]; a constant column goes no further.
//! 3. A [`ColumnSelector`] weighs it against the target of the [`Problem`] and the features that
//!    it keeps, and decides with an [`Outcome`]: kept, reserved, or dropped with a [`Reason`].
//! 4. A kept column is copied into a [`KeptSet`], within a [`Budget`]. Over budget is an error
//!    that changes nothing.
//! 5. After the last scan the model is fitted on the kept features. The [`RunReport`] has a
//!    [`Selection`] for each [`Lane`], with what became of all the others.
//!
//! No result depends on the width of blocks or the number of threads, and a run that was saved
//! by [`Snapshot`] and taken up again ends as if it had never stopped.
//!
//! # Features
//!
//! A thousand features of 100 rows, made as they are asked for; two of them make the target.
//!
//! ```
//! use keepnet::select::substitution::os_plus::{OsPlus, OsPlusParams};
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
//!
//! # Rows
//!
//! The same from samples as they arrive, of 50 features. A [`RowLearner`] learns a [`RowBlock`] at
//! a time; [`registry`] makes it by its name, with settings as text.
//!
//! ```
//! use keepnet::{Budget, MethodSpec, Row, RowBlock, RowProblem, registry};
//!
//! let problem = RowProblem::regression(50);
//! let method = registry::find("olsth")?;
//! let mut learner =
//!     registry::make_rows(method, &MethodSpec::k(2), &problem, Budget::unlimited())?;
//!
//! let value = |i: u64, j: u64| (1e4 * ((j * 500 + i + 2) as f64).ln().sin()).fract();
//! let mut block = RowBlock::new(50, 100);
//! for first in (0..500).step_by(100) {
//!     block.reset(100);
//!     for i in first..first + 100 {
//!         let x: Vec<f64> = (0..50).map(|j| value(i, j)).collect();
//!         block.push(Row::F64(&x), 2.0 * x[17] - x[40], 1.0)?;
//!     }
//!     learner.learn_block(&block)?;
//! }
//!
//! let selection = learner.selection()?;
//! assert_eq!(selection.indices(), [17, 40]);
//! assert!((selection.selected[0].coefficient[0] - 2.0).abs() < 1e-6);
//! # Ok::<(), keepnet::Error>(())
//! ```

#![forbid(unsafe_code)]

#[doc(hidden)]
pub mod bench;
pub mod data;
pub mod error;
pub mod learn;
pub mod loss;
pub mod measure;
pub mod near;
pub(crate) mod numeric;
pub mod registry;
pub mod run;
pub mod select;
pub mod selection;
pub mod tails;

pub use data::{
    CheckPolicy, CheckedBlock, Column, ColumnBlock, ColumnData, ColumnStats, Covariate, Cursor,
    Feature, FeatureId, FeatureSource, Generated, GenotypeCounts, GenotypeData, Genotypes,
    GroupNames, Groups, Kept, KeptSet, Missing, Name, NumberKind, Numbers, NumbersRef, Order,
    Problem, RawColumn, Row, RowBlock, RowIds, RowMap, RowProblem, SampleSource, SharedBytes,
    SparseEntries, Target, Task, Whole, WholeRef,
};
pub use error::{Bytes, Error, Result};
pub use learn::RowLearner;
pub use loss::LossKind;
pub use registry::{Maker, MethodInfo, MethodSpec, Stream};
pub use run::{
    Budget, Driver, Flow, Lane, Observer, Progress, Pushed, Quiet, RunOptions, RunReport, Snapshot,
};
pub use select::{ColumnSelector, GroupSelector, Memory, Outcome, Reason, Status, Verdict};
pub use selection::{Affiliated, Selected, Selection, Value};
