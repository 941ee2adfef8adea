//! Files and standard input as streams of rows.
//!
//! [`open_rows`] reads the head of the stream, finds target and weight among its columns, decides
//! the task, and yields a [`RowStream`]: a [`keepnet::SampleSource`] that holds one chunk at a time. A
//! format is one file that implements a small trait (`ChunkReader`).
//!
//! Files are read twice where the target's classes must be known beforehand; on standard input
//! the classes are those of the first chunk, and a later one that is new is an error.

mod arrow;
mod asked;
mod beside;
mod csv;
mod feed;
mod jsonl;
mod labels;
mod npy;
mod parquet;
mod stream;
mod svm;
mod turned;

use keepnet::{Error, Result};

use crate::dataset::{ColumnKind, resolve};
use crate::store::Place;
use crate::{Format, OpenOptions};

pub use asked::RowSpec;
pub use stream::RowStream;

/// Bytes of text read at a time from a file.
const CHUNK: usize = 1 << 20;

/// Rows of some columns, row after row; text is a code into the chunk's own list.
pub(crate) struct Chunk {
    pub(crate) rows: usize,
    pub(crate) values: ChunkValues,
    /// For each column the texts that its codes stand for; may be shorter than the columns.
    pub(crate) texts: Vec<Vec<Box<str>>>,
}

impl Chunk {
    /// The number in column `c` of row `at`, where rows have `width` columns; sparse rows have none.
    pub(crate) fn number(&self, at: usize, c: usize, width: usize) -> f64 {
        match &self.values {
            ChunkValues::F32(v) => f64::from(v[at * width + c]),
            ChunkValues::F64(v) => v[at * width + c],
            ChunkValues::Sparse { .. } => f64::NAN,
        }
    }

    /// The text that a value of column `c` stands for; an error where it is a number, as in a file
    /// whose head had no value to say so.
    pub(crate) fn text(&self, c: usize, value: f64, row: u64) -> Result<&str> {
        let text = self.texts.get(c).and_then(|texts| texts.get(value as usize));
        text.map(|text| &**text).ok_or_else(|| {
            let what = "where the first rows have text";
            Error::Data(format!("the value at row {row} is the number {value} {what}"))
        })
    }
}

/// The numbers of a chunk; NaN is missing.
pub(crate) enum ChunkValues {
    F32(Vec<f32>),
    F64(Vec<f64>),
    /// Sparse rows with their labels: ends of rows, columns, values.
    Sparse {
        labels: Vec<f64>,
        ends: Vec<usize>,
        index: Vec<u32>,
        value: Vec<f64>,
    },
}

/// Reads a stream a chunk at a time.
pub(crate) trait ChunkReader: Send {
    /// Name and kind of every column, known after the head was read.
    fn columns(&self) -> &[(String, ColumnKind)];

    /// The next chunk; an empty one where a pipe has nothing at the moment.
    fn next(&mut self) -> Result<Option<Chunk>>;

    /// Whether the head had only missing values in a column, so that its kind is a guess.
    fn blank(&self, column: usize) -> bool {
        let _ = column;
        false
    }

    /// Changes when the data do.
    fn fingerprint(&self) -> u64;

    /// Rows of the stream, where known.
    fn rows(&self) -> Option<u64> {
        None
    }

    /// Bytes that reading takes at most, beside what it holds already.
    fn bytes(&self) -> u64;

    /// Starts again, where that is cheaper than opening the file again.
    fn rewind(&mut self) -> bool {
        false
    }
}

/// Whether a file has the columns of the first. Where its head has only missing values in a column
/// the others say what it holds; where no head says, text cannot come, as numbers are expected.
fn stacks(first: &[(String, ColumnKind)], blank: &[bool], reader: &dyn ChunkReader) -> bool {
    let other = reader.columns();
    let same = |c: usize| {
        let ((a, kind), (b, found)) = (&first[c], &other[c]);
        let guessed = blank[c] && *found != ColumnKind::Text;
        a == b && (kind == found || guessed || reader.blank(c))
    };
    first.len() == other.len() && (0..first.len()).all(same)
}

/// Opens one file or standard input.
fn open_one(path: &str, format: Format, place: &Place) -> Result<Box<dyn ChunkReader>> {
    let reader: Result<Box<dyn ChunkReader>> = match format {
        Format::Csv => csv::open(path, b',', place),
        Format::Tsv => csv::open(path, b'\t', place),
        Format::Svm => svm::open(path, place),
        Format::Npy => npy::open(path, place),
        Format::Jsonl => jsonl::open(path, place),
        Format::Arrow => arrow::open(path, place),
        Format::Parquet => parquet::open(path, place),
    };
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
