//! How input files are to be read.

use std::path::PathBuf;

use keepnet::{Error, Result};

use crate::Format;

/// How several files become one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The same columns, more rows.
    Rows,
    /// The same rows, more columns.
    Columns,
}

impl Stack {
    /// `rows` or `columns`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "rows" => Ok(Self::Rows),
            "columns" => Ok(Self::Columns),
            _ => Err(Error::param("stack", name, "rows or columns")),
        }
    }
}

/// What becomes of text columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Categorical {
    /// They are refused by name.
    #[default]
    Refuse,
    /// They are left out.
    Skip,
    /// A number a level, in the order of the sorted levels.
    Codes,
    /// A feature a level.
    OneHot,
}

impl Categorical {
    /// `refuse`, `skip`, `codes` or `onehot`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "refuse" => Ok(Self::Refuse),
            "skip" => Ok(Self::Skip),
            "codes" => Ok(Self::Codes),
            "onehot" => Ok(Self::OneHot),
            _ => Err(Error::param("categorical", name, "skip, codes or onehot")),
        }
    }
}

/// How to open input files.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The format of every file; `None` goes by the extension.
    pub format: Option<Format>,
    /// How several files become one table; `None` goes by their columns.
    pub stack: Option<Stack>,
    /// Names, globs or `@FILE` lists of the columns that may be features; empty is all.
    pub columns: Vec<String>,
    /// Names, globs or `@FILE` lists of columns that are no features.
    pub exclude: Vec<String>,
    /// What becomes of text columns.
    pub categorical: Categorical,
    /// Columns that identify a row; empty joins by position.
    pub key: Vec<String>,
    /// The run's memory limit in bytes. A transposed table takes at most half of it before it
    /// goes to a temporary file; with `None`, at most a quarter of the machine's memory.
    pub memory: Option<u64>,
    /// Where temporary files go; `None` is the system's place for them.
    pub temporary: Option<PathBuf>,
}
