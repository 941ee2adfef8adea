//! The way in, from what the user wrote to a stream of features or of rows: one front for both.
//!
//! | module | decides |
//! | --- | --- |
//! | `resolve` | which files, and their formats |
//! | `schema` | what their columns are, and how several files become one table |
//! | `target` | where target, weight, offset and covariates are |
//! | `features` | which columns are features |
//! | `task` | regression or classification |
//! | `join`, `side_file` | which rows belong together |
//!
//! `dataset`, `problem` and `source` answer for a table of columns; `rows`, `row_files` and
//! `labels` answer for a stream of rows, which is never held. `pieces` gives chosen columns of
//! either, a piece of rows after the other.

pub(crate) mod category;
pub(crate) mod chromosomes;
pub(crate) mod combine;
pub(crate) mod dataset;
pub(crate) mod features;
pub(crate) mod ids;
pub(crate) mod join;
pub(crate) mod labels;
pub(crate) mod names;
pub(crate) mod options;
pub(crate) mod pieces;
pub(crate) mod problem;
pub(crate) mod resolve;
pub(crate) mod row_files;
pub(crate) mod rows;
pub(crate) mod schema;
pub(crate) mod series;
pub(crate) mod side_file;
pub(crate) mod source;
pub(crate) mod stream;
pub(crate) mod target;
pub(crate) mod task;
