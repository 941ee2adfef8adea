//! Files as sources of features: npy, Parquet, Arrow IPC, CSV, svm and JSON lines.
//!
//! [`open`] looks at the files and says what is in them ([`Dataset`]); [`build_problem`] finds
//! target, weights, offset and covariates and joins them to the rows; [`Dataset::source`] then
//! yields the features column by column, without ever holding the table.
//!
//! A format is one file that implements a small trait (`Table`): rows, columns, any set of
//! columns by position. Formats that hold rows are transposed once, within a memory limit.

mod arrow;
mod arrow_column;
mod arrow_file;
mod arrow_message;
mod category;
mod combine;
mod csv;
mod csv_parse;
mod dataset;
mod find;
mod format;
mod growing;
mod guard;
mod jsonl;
mod keys;
mod mapped;
mod memory;
mod names;
mod npy;
mod npy_header;
mod number;
mod options;
mod parquet;
mod parquet_column;
mod parquet_kind;
mod parquet_page;
mod problem;
mod row_table;
pub mod rows;
mod series;
pub mod sink;
mod source;
mod store;
mod svm;
mod table;
mod task;
mod text;

pub use dataset::{ColumnInfo, ColumnKind, Dataset, open};
pub use find::named_files;
pub use format::Format;
pub use options::{Categorical, Check, MAX_LINE, OpenOptions, Reading, Stack};
pub use problem::{Joined, ProblemSpec, build_problem};
pub use rows::{RowSpec, RowStream, open_rows};
pub use series::{Series, SeriesValues};
pub use source::TableSource;

/// The parsers by themselves, for the speed example only.
#[doc(hidden)]
pub mod speed {
    /// Parses CSV lines of numbers; how many there were.
    #[must_use]
    pub fn csv(text: &[u8], columns: usize) -> usize {
        let kinds = vec![crate::csv_parse::Kind::Number; columns];
        let names = vec![String::new(); columns];
        let shape = crate::csv_parse::Shape { separator: b',', kinds: &kinds, names: &names };
        crate::csv_parse::parse(text, &shape).map_or(0, |parsed| parsed.values.len())
    }

    /// Parses svm lines; how many there were.
    #[must_use]
    pub fn svm(text: &[u8]) -> usize {
        crate::svm::lines(text)
    }
}
