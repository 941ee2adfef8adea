//! Input files, opened and joined into one table.

use keepnet::{Error, Result};

use crate::{OpenOptions, Series, TableSource};

/// What a column holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Booleans.
    Bool,
    /// Integers.
    Int,
    /// Numbers.
    Float,
    /// Text.
    Text,
    /// Something that is no feature, by the name of its type.
    Other(String),
}

/// One column of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// Place of its file in [`Dataset::files`].
    pub file: u32,
}

/// Input files, opened and joined into one table.
pub struct Dataset {
    files: Vec<String>,
    columns: Vec<ColumnInfo>,
}

/// Opens paths, globs, or `-` for standard input, and joins them into one table.
pub fn open(inputs: &[String], options: &OpenOptions) -> Result<Dataset> {
    let _ = (inputs, options);
    Err(Error::Unsupported("no format is read yet".into()))
}

impl Dataset {
    /// Rows of the input.
    #[must_use]
    pub fn rows(&self) -> usize {
        0
    }

    /// The files, as the user named them.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Every column of every file, in order.
    #[must_use]
    pub fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    /// Bytes that one scan reads.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        0
    }

    /// One whole column.
    pub fn series(&mut self, name: &str) -> Result<Series> {
        Err(Error::Unsupported(format!("no column {name:?}")))
    }

    /// The features: every column but those named, as the options of [`open`] say.
    pub fn source(self, not_features: &[String]) -> Result<TableSource> {
        let _ = not_features;
        Err(Error::Unsupported("no format is read yet".into()))
    }
}
