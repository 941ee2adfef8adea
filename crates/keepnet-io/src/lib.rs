//! Files as streams of features or of rows: Parquet, Arrow IPC, CSV, TSV, npy, svm,
//! JSON lines, PLINK 1 genotypes, tables separated by blanks, and Arrow with a feature a row.
//!
//! Columns, for methods on features:
//!
//! 1. [`open`] looks at the files and joins them into one table ([`Dataset`]);
//! 2. [`build_problem`] finds target, weights, offset and covariates ([`ProblemSpec`]) and joins
//!    them to the rows ([`Joined`]);
//! 3. [`Dataset::source`] yields the features column by column, without ever holding the table.
//!
//! Rows, for methods on samples: [`open_rows`] does the same in one call and yields a
//! [`RowStream`], which holds one chunk of rows at a time.
//!
//! Both take the same [`OpenOptions`] and [`ProblemSpec`] and decide in the same way which files
//! are read, how they stack, which columns are features, where the target is and which task it is.
//! [`sink`] writes tables.
//!
//! ```
//! use keepnet::{FeatureSource, SampleSource};
//! use keepnet_io::{OpenOptions, ProblemSpec, build_problem, open, open_rows};
//!
//! # fn main() -> keepnet::Result<()> {
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("x.csv").to_string_lossy().into_owned();
//! # std::fs::write(&path, "age,height,y\n30,1.7,2.5\n41,1.6,\n52,1.8,4.5\n").unwrap();
//! let (files, options) = ([path], OpenOptions::default());
//! let asked = ProblemSpec { target: "y".into(), ..ProblemSpec::default() };
//!
//! let mut table = open(&files, &options)?;
//! let joined = build_problem(&mut table, &asked, &options)?;
//! assert_eq!((joined.input, joined.used, joined.masked_target), (3, 2, 1));
//! let features = table.source(&joined.not_features)?;
//! assert_eq!(features.features(), Some(2));
//!
//! let rows = open_rows(&files, &asked, &options)?;
//! assert_eq!(rows.names(), ["age", "height"]);
//! # Ok(())
//! # }
//! ```

#![deny(unsafe_code, unsafe_op_in_unsafe_fn)]

mod formats;
mod guard;
mod input;
#[allow(unsafe_code)]
mod mapped;
mod memory;
pub mod platform;
pub mod sink;
mod store;

pub use formats::Format;
pub use formats::arrow::columns::FeatureStream;
pub use formats::bed::Variant;
pub use input::dataset::{Dataset, open};
pub use input::options::{Categorical, Check, MAX_LINE, OpenOptions, Reading, Stack};
pub use input::pieces::{Piece, Pieces, open_pieces};
pub use input::problem::{Joined, build_problem, build_problems};
pub use input::resolve::{has_genotypes, named_files};
pub use input::rows::{RowStream, open_rows};
pub use input::schema::{ColumnInfo, ColumnKind};
pub use input::series::{Series, SeriesValues};
pub use input::source::{Origin, TableSource};
pub use input::stream::{InputSource, open_features};
pub use input::target::{ProblemSpec, TargetSpec};
pub use input::task::TaskReason;

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
