//! The way in: from what the user wrote to a stream of features or of rows.

pub(crate) mod asked;
pub(crate) mod category;
pub(crate) mod combine;
pub(crate) mod dataset;
pub(crate) mod find;
pub(crate) mod keys;
pub(crate) mod labels;
pub(crate) mod names;
pub(crate) mod options;
pub(crate) mod problem;
pub(crate) mod rows;
pub(crate) mod series;
pub(crate) mod side_file;
pub(crate) mod source;
pub(crate) mod stream;
pub(crate) mod task;
