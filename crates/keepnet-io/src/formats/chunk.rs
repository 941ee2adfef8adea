//! What a format has to do as a stream of rows: yield chunks of them.

use keepnet::{Error, Result};

use crate::formats::table::Schema;

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
    /// The number in column `c` of row `at`, where rows have `width` columns. The first column of
    /// sparse rows is the label; an entry that a row lacks is zero.
    pub(crate) fn number(&self, at: usize, c: usize, width: usize) -> f64 {
        match &self.values {
            ChunkValues::F32(v) => f64::from(v[at * width + c]),
            ChunkValues::F64(v) => v[at * width + c],
            ChunkValues::Sparse { labels, .. } if c == 0 => labels[at],
            ChunkValues::Sparse { ends, index, value, .. } => {
                let row = if at == 0 { 0 } else { ends[at - 1] }..ends[at];
                let found = index[row.clone()].binary_search(&(c as u32 - 1));
                found.map_or(0.0, |place| value[row.start + place])
            }
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

    /// The columns at the places `from`, in this order; of sparse rows the column of a feature is
    /// `from` of its own.
    pub(crate) fn place(&mut self, from: &[usize]) {
        fn place<T: Copy>(values: &mut Vec<T>, from: &[usize]) {
            let rows = values.chunks_exact(from.len());
            *values = rows.flat_map(|row| from.iter().map(|c| row[*c])).collect();
        }
        match &mut self.values {
            ChunkValues::F32(v) => place(v, from),
            ChunkValues::F64(v) => place(v, from),
            ChunkValues::Sparse { index, .. } => {
                index.iter_mut().for_each(|j| *j = from[*j as usize] as u32);
            }
        }
        let texts = |c: &usize| self.texts.get(*c).cloned().unwrap_or_default();
        self.texts = match self.texts.is_empty() {
            true => Vec::new(),
            false => from.iter().map(texts).collect(),
        };
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

/// Reads a stream a chunk at a time; its columns are known after the head was read.
pub(crate) trait ChunkReader: Schema + Send {
    /// The next chunk; an empty one where a pipe has nothing at the moment.
    fn next(&mut self) -> Result<Option<Chunk>>;

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
