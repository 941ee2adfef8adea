//! Files as sources of features: npy, Parquet, Arrow IPC, CSV, svm and JSON lines.
//!
//! [`open`] looks at the files and says what is in them ([`Dataset`]); [`build_problem`] finds
//! target, weights, offset and covariates and joins them to the rows; [`Dataset::source`] then
//! yields the features column by column, without ever holding the table.
//!
//! A format is one file that implements a small trait (`Table`): rows, columns, any set of
//! columns by position. Formats that hold rows are transposed once, within a memory limit.

mod formats;
mod guard;
mod input;
mod mapped;
mod memory;
pub mod sink;
mod store;

pub use formats::Format;
pub use input::dataset::{Dataset, open};
pub use input::options::{Categorical, Check, MAX_LINE, OpenOptions, Reading, Stack};
pub use input::problem::{Joined, build_problem};
pub use input::resolve::named_files;
pub use input::rows::{RowStream, open_rows};
pub use input::schema::{ColumnInfo, ColumnKind};
pub use input::series::{Series, SeriesValues};
pub use input::source::TableSource;
pub use input::target::ProblemSpec;

/// The parsers by themselves, for the speed example only.
#[doc(hidden)]
pub mod speed {
    /// Parses CSV lines of numbers; how many there were.
    #[must_use]
    pub fn csv(text: &[u8], columns: usize) -> usize {
        let kinds = vec![crate::formats::csv::parse::Kind::Number; columns];
        let names = vec![String::new(); columns];
        let shape =
            crate::formats::csv::parse::Shape { separator: b',', kinds: &kinds, names: &names };
        crate::formats::csv::parse::parse(text, &shape).map_or(0, |parsed| parsed.values.len())
    }

    /// Parses svm lines; how many there were.
    #[must_use]
    pub fn svm(text: &[u8]) -> usize {
        crate::formats::svm::table::lines(text)
    }
}
