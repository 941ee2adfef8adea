//! The file formats by name and by extension.

use keepnet::{Error, Result};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, file or stream.
    Arrow,
    /// Comma separated values.
    Csv,
    /// Tab separated values.
    Tsv,
    /// A NumPy array.
    Npy,
    /// The sparse text of libsvm and LIBLINEAR.
    Svm,
    /// A JSON object a line.
    Jsonl,
}

impl Format {
    /// Every format, in the order of the documentation.
    pub const ALL: [Self; 7] =
        [Self::Parquet, Self::Arrow, Self::Csv, Self::Tsv, Self::Npy, Self::Svm, Self::Jsonl];

    /// The name that `--format` takes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Npy => "npy",
            Self::Svm => "svm",
            Self::Jsonl => "jsonl",
        }
    }

    /// The format of that name; [`Error::Param`] for any other.
    pub fn parse(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| {
            Error::param("format", name, "parquet, arrow, csv, tsv, npy, svm or jsonl")
        })
    }

    /// The format that the extension stands for, with `.gz` or `.zst` after it or not.
    pub fn from_path(path: &str) -> Result<Self> {
        let lower = path.to_ascii_lowercase();
        let plain = lower.strip_suffix(".gz").or_else(|| lower.strip_suffix(".zst"));
        let plain = plain.unwrap_or(&lower);
        let extension = plain.rsplit_once('.').map_or("", |(_, extension)| extension);
        let format = match extension {
            "parquet" | "pq" | "parq" => Self::Parquet,
            "arrow" | "arrows" | "ipc" | "feather" => Self::Arrow,
            "csv" => Self::Csv,
            "tsv" | "tab" => Self::Tsv,
            "npy" => Self::Npy,
            "svm" | "libsvm" | "svmlight" => Self::Svm,
            "jsonl" | "ndjson" => Self::Jsonl,
            _ => {
                return Err(Error::param(
                    "format",
                    format_args!("unknown from the extension of {path:?}"),
                    "--format parquet, arrow, csv, tsv, npy, svm or jsonl",
                ));
            }
        };
        Ok(format)
    }

    /// Whether gz and zst files of this format are read.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Svm | Self::Jsonl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_extensions_lead_to_the_same_formats() {
        for format in Format::ALL {
            assert_eq!(Format::parse(format.name()).unwrap(), format);
            assert_eq!(Format::from_path(&format!("a.b/x.{}", format.name())).unwrap(), format);
        }
        assert_eq!(Format::from_path("x.CSV.gz").unwrap(), Format::Csv);
        assert_eq!(Format::from_path("x.svm.zst").unwrap(), Format::Svm);
        assert!(Format::from_path("x.gz").unwrap_err().is_usage());
    }
}
