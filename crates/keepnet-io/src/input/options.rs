//! How input files are to be read.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

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
    /// A feature a level, but for the most frequent one, the reference.
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

/// How the bytes of npy and Arrow files are reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// The file is mapped and its columns are shared without a copy. A file that another process
    /// shortens meanwhile raises SIGBUS: for a program that answers that signal.
    #[default]
    Mapped,
    /// Columns are copied into memory of our own with positioned reads. A file that another
    /// process shortens meanwhile is an error: for a library.
    Copied,
}

/// Asked now and then while files are opened and read; an error ends that with the error.
#[derive(Clone)]
pub struct Check(Arc<dyn Fn() -> Result<()> + Send + Sync>);

impl Check {
    /// Asks `check`, which should cost next to nothing.
    pub fn new(check: impl Fn() -> Result<()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(check))
    }

    pub(crate) fn ask(&self) -> Result<()> {
        (self.0)()
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

/// Longest line of text unless the options say otherwise.
pub const MAX_LINE: u64 = 64_000_000;

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
    /// Chromosomes whose variants are features: names and ranges such as `1-22`; empty is all.
    pub chromosomes: Vec<String>,
    /// What becomes of text columns.
    pub categorical: Categorical,
    /// Columns that identify a row; empty joins by position.
    pub key: Vec<String>,
    /// What reading may take, in bytes. A transposed table takes at most half of it before it
    /// goes to a temporary file; with `None`, at most a quarter of the machine's memory. What
    /// cannot go there (names, texts, a line, a compressed batch) is refused beyond twice of it;
    /// with `None`, beyond three quarters of the machine's memory.
    pub memory: Option<u64>,
    /// Longest line of text in bytes; `None` is [`MAX_LINE`].
    pub max_line: Option<u64>,
    /// How the bytes of npy and Arrow files are reached.
    pub reading: Reading,
    /// Asked now and then while files are opened and read.
    pub check: Option<Check>,
    /// Where temporary files go; `None` is the system's place for them.
    pub temporary: Option<PathBuf>,
}
