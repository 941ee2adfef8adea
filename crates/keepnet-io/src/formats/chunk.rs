//! What a format has to do as a stream of rows: yield chunks of them.

use keepnet::{Error, Result};

use crate::input::dataset::ColumnKind;

/// Bytes of text read at a time from a file.
pub(crate) const CHUNK: usize = 1 << 20;

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
