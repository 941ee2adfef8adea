//! Which files are read, and how.

use keepnet::Result;
use keepnet_io::{Categorical, Format, OpenOptions, Stack};
use serde::Deserialize;

use super::text::{self, Names};

/// What to read.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "terminal", derive(clap::Args), command(next_help_heading = "Input"))]
pub struct InputRequest {
    /// Files, globs, or - for standard input with --format
    #[cfg_attr(feature = "terminal", arg(required = true, value_name = "INPUT"))]
    pub inputs: Vec<String>,
    /// Format of every file: parquet, arrow, csv, tsv, npy, svm, jsonl, bed, table, or arrow-columns with a feature a row [default: the extension]
    #[serde(deserialize_with = "text::optional")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "NAME", value_parser = text::read::<Format>))]
    pub format: Option<Format>,
    /// Several files are more rows or more columns: rows or columns [default: what their columns say]
    #[serde(deserialize_with = "text::optional")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "WAY", value_parser = text::read::<Stack>))]
    pub stack: Option<Stack>,
    /// Only these columns are features: names, globs or @FILE, also a result [default: all] [example: 'gene_*']
    #[cfg_attr(feature = "terminal", arg(long, value_name = "NAMES", value_parser = text::read::<Names>))]
    pub columns: Vec<Names>,
    /// These columns are no features: names, globs or @FILE, also a result [default: none] [example: 'id,date_*']
    #[cfg_attr(feature = "terminal", arg(long, value_name = "NAMES", value_parser = text::read::<Names>))]
    pub exclude: Vec<Names>,
    /// Only variants of these chromosomes: a list, with ranges of numbers; for bed [default: all] [example: 1-22]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "LIST", value_parser = text::read::<Names>))]
    pub chr: Vec<Names>,
    /// Text columns: refuse, skip, codes or onehot [default: refuse]
    #[serde(deserialize_with = "text::optional")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "WAY", value_parser = text::read::<Categorical>))]
    pub categorical: Option<Categorical>,
    /// Columns that identify a row; files and target are joined by them [default: by position] [example: id]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "COL[,COL]", value_parser = text::read::<Names>))]
    pub key: Vec<Names>,
    /// Longest line of a text file [default: 64MB] [example: 1GB]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "SIZE", value_parser = text::max_line))]
    pub max_line: Option<u64>,
    /// Columns of npy and Arrow files are copied, not mapped: for a host that another process
    /// must not end by shortening a file.
    #[cfg_attr(feature = "terminal", arg(skip))]
    pub copied: bool,
}

impl InputRequest {
    /// Whether the input is of genotypes.
    #[must_use]
    pub fn genotypes(&self) -> bool {
        keepnet_io::has_genotypes(&self.inputs, self.format)
    }

    /// The same for the reader; `memory` is the limit of the whole run.
    pub fn options(&self, memory: Option<u64>) -> Result<OpenOptions> {
        Ok(OpenOptions {
            format: self.format,
            stack: self.stack,
            columns: text::columns(&self.columns)?,
            exclude: text::columns(&self.exclude)?,
            chromosomes: text::list(&self.chr),
            categorical: self.categorical.unwrap_or_default(),
            key: text::list(&self.key),
            // A quarter for transposing, of which the reader gives the table half; the rest is
            // for the kept set and the blocks.
            memory: memory.map(|bytes| bytes / 4),
            max_line: self.max_line,
            reading: match self.copied {
                true => keepnet_io::Reading::Copied,
                false => keepnet_io::Reading::Mapped,
            },
            ..OpenOptions::default()
        })
    }
}
