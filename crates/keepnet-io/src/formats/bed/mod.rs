//! PLINK 1 files: genotypes at two bits a value in `X.bed`, variants in `X.bim`, people in `X.fam`.
//!
//! Any of the three names stands for all of them. People are rows; the columns are FID, IID, SEX and
//! PHENO1 of the people, which are no features, and then the variants.

mod people;
pub(crate) mod rows;
mod sample_major;
mod sink;
pub(crate) mod table;
mod variants;

use std::path::{Path, PathBuf};

use keepnet::{Error, Result};

use super::{FormatInfo, Pieced};

pub(crate) use people::phenotype;
pub(crate) use table::Bed;
pub use variants::Variant;

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "bed",
    extensions: &["bed", "bim", "fam"],
    text: false,
    piped: false,
    several: true,
    table: |path, place| Ok(std::sync::Arc::new(Bed::open(path, place)?)),
    rows: rows::open,
    sink: sink::refuse,
    by_column: true,
    pieces: Pieced::Not("genotypes are not written in pieces; choose another extension"),
};

/// Columns of the people: the phenotype is the label.
pub(crate) const PEOPLE: [&str; 4] = ["FID", "IID", "SEX", "PHENO1"];

/// The three files of an input.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) bed: PathBuf,
    pub(crate) bim: PathBuf,
    pub(crate) fam: PathBuf,
}

impl Names {
    /// The files that any of their names, or the prefix, stands for.
    pub(crate) fn of(path: &str) -> Self {
        let lower = path.to_ascii_lowercase();
        let named =
            FORMAT.extensions.iter().any(|extension| lower.ends_with(&format!(".{extension}")));
        let stem = if named { &path[..path.len() - 4] } else { path };
        let file = |extension: &str| {
            // `X.BED` has `X.BIM` beside it.
            let upper = PathBuf::from(format!("{stem}.{}", extension.to_ascii_uppercase()));
            let usual = PathBuf::from(format!("{stem}.{extension}"));
            if !usual.exists() && upper.exists() { upper } else { usual }
        };
        Self { bed: file("bed"), bim: file("bim"), fam: file("fam") }
    }
}

/// A whole file of text.
fn read(path: &Path, place: &crate::store::Place) -> Result<(String, crate::memory::Charge)> {
    let shown = || path.display().to_string();
    let meta = std::fs::metadata(path).map_err(|e| Error::io(shown(), e))?;
    let charge = place.meter.take(2 * meta.len(), "its text").map_err(|e| e.at(shown()))?;
    let bytes = std::fs::read(path).map_err(|e| Error::io(shown(), e))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::Data("it is not text in UTF-8".into()).at(shown()))?;
    Ok((text, charge))
}

/// The error of a line of a file.
fn bad_line(path: &Path, line: usize, what: impl std::fmt::Display) -> Error {
    Error::Data(format!("line {line} {what}")).at(path.display())
}
