//! The file formats, each in a folder: `table.rs` reads columns, `rows.rs` reads rows, `sink.rs`
//! writes.
//!
//! A format is one folder and one line of [`formats!`] below: its `FORMAT` says its name, its
//! extensions and how it is opened and written. What text formats share is beside the folders:
//! lines and compression (`text`), numbers (`number`), the feed of a row stream (`feed`), and
//! the transposed table that row files become (`row_table`).

pub(crate) mod arrow;
pub(crate) mod bed;
pub(crate) mod blanks;
pub(crate) mod chunk;
pub(crate) mod csv;
pub(crate) mod feed;
pub(crate) mod growing;
pub(crate) mod jsonl;
pub(crate) mod npy;
pub(crate) mod number;
pub(crate) mod parquet;
pub(crate) mod row_table;
pub(crate) mod svm;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod turned;

use std::sync::Arc;

use keepnet::{Error, Result};

use crate::sink::{Field, Output, Sink};
use crate::store::Place;
use chunk::ChunkReader;
use table::Table;

/// Starts a file.
type NewSink = fn(Output, usize, &[Field]) -> Result<Box<dyn Sink>>;

/// What a format brings.
pub(crate) struct FormatInfo {
    /// The name that `--format` takes.
    pub(crate) name: &'static str,
    /// Extensions in lower case; a text format has them with `.gz` and `.zst` too.
    pub(crate) extensions: &'static [&'static str],
    /// Whether gz and zst files are read.
    pub(crate) text: bool,
    /// Whether it is read from front to back, so that standard input can hold it.
    pub(crate) piped: bool,
    /// Whether an input is several files, which its errors name themselves.
    pub(crate) several: bool,
    /// Opens a file, or standard input, as columns.
    pub(crate) table: fn(&str, &Place) -> Result<Arc<dyn Table>>,
    /// Opens a file, or standard input, as a stream of rows.
    pub(crate) rows: fn(&str, &Place) -> Result<Box<dyn ChunkReader>>,
    /// Starts a file of so many rows and these columns.
    pub(crate) sink: NewSink,
    /// Whether a file is written a column at a time, all rows at once.
    pub(crate) by_column: bool,
    /// How a file is written whose rows come in pieces.
    pub(crate) pieces: Pieced,
}

/// How a file is written whose rows come in pieces.
#[derive(Clone, Copy)]
pub(crate) enum Pieced {
    /// A piece after the other; the number of rows is not looked at.
    Streamed(NewSink),
    /// A piece after the other, once the number of rows is known.
    Counted(NewSink),
    /// It cannot be, for this reason.
    Not(&'static str),
}

macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident = $info:path,)*) => {
        /// A file format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Format {
            $($(#[$doc])* $variant,)*
        }

        impl Format {
            /// Every format, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub(crate) fn info(self) -> &'static FormatInfo {
                match self {
                    $(Self::$variant => &$info,)*
                }
            }
        }
    };
}

formats! {
    /// Apache Parquet.
    Parquet = parquet::FORMAT,
    /// Arrow IPC, file or stream.
    Arrow = arrow::FORMAT,
    /// Comma separated values.
    Csv = csv::FORMAT,
    /// Tab separated values.
    Tsv = csv::TABS,
    /// A NumPy array.
    Npy = npy::FORMAT,
    /// The sparse text of libsvm and LIBLINEAR.
    Svm = svm::FORMAT,
    /// A JSON object a line.
    Jsonl = jsonl::FORMAT,
    /// Genotypes of PLINK 1: `.bed`, `.bim` and `.fam`.
    Bed = bed::FORMAT,
    /// A table separated by runs of blanks or tabs.
    Table = blanks::FORMAT,
    /// An Arrow stream with a feature a row.
    ArrowColumns = arrow::FEATURES,
}

impl Format {
    /// The name that `--format` takes.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The format of that name; [`Error::Param`] for any other.
    pub fn parse(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|format| format.name() == name);
        found.copied().ok_or_else(|| Error::param("format", name, names()))
    }

    /// The format that the extension stands for, with `.gz` or `.zst` after it or not.
    pub fn from_path(path: &str) -> Result<Self> {
        let lower = path.to_ascii_lowercase();
        let plain = lower.strip_suffix(".gz").or_else(|| lower.strip_suffix(".zst"));
        let plain = plain.unwrap_or(&lower);
        let extension = plain.rsplit_once('.').map_or("", |(_, extension)| extension);
        let found = Self::ALL.iter().find(|format| format.info().extensions.contains(&extension));
        found.copied().ok_or_else(|| {
            let got = format_args!("unknown from the extension of {path:?}");
            Error::param("format", got, format!("--format {}", names()))
        })
    }

    /// Whether gz and zst files of this format are read.
    #[must_use]
    pub fn is_text(self) -> bool {
        self.info().text
    }

    /// Opens a file, or `-`, as columns.
    pub(crate) fn open_table(self, path: &str, place: &Place) -> Result<Arc<dyn Table>> {
        (self.info().table)(path, place).map_err(|e| self.located(e, path))
    }

    /// Opens a file, or `-`, as a stream of rows.
    pub(crate) fn open_rows(self, path: &str, place: &Place) -> Result<Box<dyn ChunkReader>> {
        (self.info().rows)(path, place).map_err(|e| self.located(e, path))
    }

    fn located(self, error: Error, path: &str) -> Error {
        if self.info().several { error } else { located(error, path) }
    }
}

/// Names the file in an error that does not name it yet.
fn located(error: Error, path: &str) -> Error {
    match &error {
        Error::Io { context, .. } if context == path => error,
        _ => error.at(shown(path)),
    }
}

/// What an input is called in messages.
pub(crate) fn shown(path: &str) -> &str {
    if path == "-" { "standard input" } else { path }
}

/// "parquet, arrow, ... or jsonl".
fn names() -> String {
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    let (last, others) = names.split_last().expect("there are formats");
    format!("{} or {last}", others.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_lead_to_the_same_formats() {
        for format in Format::ALL {
            assert_eq!(Format::parse(format.name()).unwrap(), *format);
            assert_eq!(Format::from_path(&format!("a.b/x.{}", format.name())).unwrap(), *format);
        }
        assert_eq!(Format::from_path("x.CSV.gz").unwrap(), Format::Csv);
        assert_eq!(Format::from_path("x.svm.zst").unwrap(), Format::Svm);
        assert!(Format::from_path("x.gz").unwrap_err().is_usage());
        assert_eq!(
            names(),
            "parquet, arrow, csv, tsv, npy, svm, jsonl, bed, table or arrow-columns"
        );
    }
}
