//! A result and other data: what `apply` and `predict` are asked for.

use std::path::PathBuf;

use keepnet::Result;
use keepnet_io::{Format, OpenOptions, Stack};

use super::text::{self, Names};

/// A result, and the data that it is to be used on.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "terminal", derive(clap::Args))]
pub struct ApplyRequest {
    /// The result of a selection, .json
    #[cfg_attr(feature = "terminal", arg(value_name = "RESULT"))]
    pub result: PathBuf,
    /// Files, globs, or - for standard input with --format
    #[cfg_attr(feature = "terminal", arg(required = true, value_name = "INPUT"))]
    pub inputs: Vec<String>,
    /// The table, in the format of the extension; - is CSV on standard output [example: new.parquet]
    #[cfg_attr(feature = "terminal", arg(long, short, value_name = "FILE"))]
    pub output: PathBuf,
    /// Which target's, where the result has several [default: the only one] [example: height]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "NAME"))]
    pub target: Option<String>,
    /// Format of every input: parquet, arrow, csv, tsv, npy, svm, jsonl, bed or table [default: the extension]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "NAME", value_parser = text::read::<Format>))]
    pub format: Option<Format>,
    /// Several files are more rows or more columns: rows or columns [default: what their columns say]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "WAY", value_parser = text::read::<Stack>))]
    pub stack: Option<Stack>,
    /// Columns that identify a row: carried to the output, and files side by side are joined by them [default: by position] [example: id]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "COL[,COL]", value_parser = text::read::<Names>))]
    pub key: Vec<Names>,
    /// Most memory for reading and for the rows at hand [default: a quarter of the machine's, and 256MiB] [example: 300MB]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "SIZE", value_parser = text::memory))]
    pub memory: Option<u64>,
    /// Longest line of a text file [default: 64MB] [example: 1GB]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "SIZE", value_parser = text::max_line))]
    pub max_line: Option<u64>,
    /// Errors and warnings only
    #[cfg_attr(feature = "terminal", arg(long, short))]
    pub quiet: bool,
}

impl ApplyRequest {
    /// The columns of the key.
    #[must_use]
    pub fn key(&self) -> Vec<String> {
        text::list(&self.key)
    }

    /// The same for the reader.
    #[must_use]
    pub fn options(&self) -> OpenOptions {
        OpenOptions {
            format: self.format,
            stack: self.stack,
            key: self.key(),
            memory: self.memory.map(|bytes| bytes / 4),
            max_line: self.max_line,
            ..OpenOptions::default()
        }
    }

    /// The format of the output.
    pub fn format_out(&self) -> Result<Format> {
        match self.to_stdout() {
            true => Ok(Format::Csv),
            false => super::output::plain_format("output", &self.output),
        }
    }

    /// Whether the output is standard output.
    #[must_use]
    pub fn to_stdout(&self) -> bool {
        self.output.as_os_str() == "-"
    }
}
