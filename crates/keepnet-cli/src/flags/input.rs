//! Which files are read, and how.

use clap::Args;
use keepnet::Result;
use keepnet_io::{Categorical, Format, OpenOptions, Stack};

use super::parse::{bytes, list};

/// What to read.
#[derive(Args)]
#[command(next_help_heading = "Input")]
pub struct InputFlags {
    /// Files, globs, or - for standard input with --format
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// Format of every file: parquet, arrow, csv, tsv, npy, svm or jsonl [default: the extension]
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// Several files are more rows or more columns: rows or columns [default: what their columns say]
    #[arg(long, value_name = "WAY")]
    pub stack: Option<String>,
    /// Only these columns are features: names, globs or @FILE [default: all] [example: 'gene_*']
    #[arg(long, value_name = "NAMES")]
    pub columns: Vec<String>,
    /// These columns are no features: names, globs or @FILE [default: none] [example: 'id,date_*']
    #[arg(long, value_name = "NAMES")]
    pub exclude: Vec<String>,
    /// Text columns: refuse, skip, codes or onehot [default: refuse]
    #[arg(long, value_name = "WAY")]
    pub categorical: Option<String>,
    /// Columns that identify a row; files and target are joined by them [default: by position] [example: id]
    #[arg(long, value_name = "COL[,COL]")]
    pub key: Vec<String>,
    /// Longest line of a text file [default: 64MB] [example: 1GB]
    #[arg(long, value_name = "SIZE")]
    pub max_line: Option<String>,
}

impl InputFlags {
    /// The same for the reader; `memory` is the limit of the whole run.
    pub fn options(&self, memory: Option<&str>) -> Result<OpenOptions> {
        let memory = memory.map(|text| bytes("memory", text)).transpose()?;
        Ok(OpenOptions {
            format: self.format.as_deref().map(Format::parse).transpose()?,
            stack: self.stack.as_deref().map(Stack::parse).transpose()?,
            columns: list(&self.columns),
            exclude: list(&self.exclude),
            categorical: match &self.categorical {
                Some(name) => Categorical::parse(name)?,
                None => Categorical::default(),
            },
            key: list(&self.key),
            // A quarter for transposing, of which the reader gives the table half; the rest is
            // for the kept set and the blocks.
            memory: memory.map(|bytes| bytes / 4),
            max_line: self.max_line.as_deref().map(|text| bytes("max-line", text)).transpose()?,
            ..OpenOptions::default()
        })
    }
}
