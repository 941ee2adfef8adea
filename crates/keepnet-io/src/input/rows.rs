//! Files and standard input as streams of rows.
//!
//! [`open_rows`] reads the head of the stream, finds target and weight among its columns, decides
//! the task, and yields a [`RowStream`]: a [`keepnet::SampleSource`] that holds one chunk at a time.
//!
//! Files are read twice where the target's classes must be known beforehand; on standard input
//! the classes are those of the first chunk, and a later one that is new is an error.

use keepnet::{Error, Result};

use crate::formats::chunk::ChunkReader;
use crate::input::asked::RowSpec;
use crate::input::dataset::{ColumnKind, resolve};
use crate::input::stream::RowStream;
use crate::store::Place;
use crate::{Format, OpenOptions};

/// Whether a file has the columns of the first. Where its head has only missing values in a column
/// the others say what it holds; where no head says, text cannot come, as numbers are expected.
pub(crate) fn stacks(
    first: &[(String, ColumnKind)],
    blank: &[bool],
    reader: &dyn ChunkReader,
) -> bool {
    let other = reader.columns();
    let same = |c: usize| {
        let ((a, kind), (b, found)) = (&first[c], &other[c]);
        let guessed = blank[c] && *found != ColumnKind::Text;
        a == b && (kind == found || guessed || reader.blank(c))
    };
    first.len() == other.len() && (0..first.len()).all(same)
}

/// Opens one file or standard input.
pub(crate) fn open_one(path: &str, format: Format, place: &Place) -> Result<Box<dyn ChunkReader>> {
    let reader = format.open_rows(path, place);
    reader.map_err(|e| if path == "-" { e.at("standard input") } else { e.at(path) })
}

/// Opens files with the same columns, or standard input, as one stream of rows.
pub fn open_rows(inputs: &[String], spec: &RowSpec, options: &OpenOptions) -> Result<RowStream> {
    let mut files = Vec::new();
    for path in resolve(inputs)? {
        let format = match options.format {
            Some(format) => format,
            None if path == "-" => {
                return Err(Error::param("format", "not given", "--format NAME with -"));
            }
            None => {
                // A missing file is a better message than an unknown extension.
                std::fs::metadata(&path).map_err(|e| Error::io(&path, e))?;
                Format::from_path(&path)?
            }
        };
        files.push((path, format));
    }
    RowStream::open(files, spec, options)
}
