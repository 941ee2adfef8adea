//! What a format has to do: say its rows and columns, and read any of the columns.

use keepnet::{ColumnBlock, ColumnData, Result};

use crate::formats::bed::Variant;
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::input::series::SeriesValues;

/// What a file says of its columns, whether it is read by columns or by rows.
pub(crate) trait Schema {
    /// The columns in the order of the file.
    fn columns(&self) -> &[ColumnInfo];

    /// The number that is a column's name, where its name is one.
    fn number(&self, at: usize) -> Option<u64> {
        let _ = at;
        None
    }

    /// Whether a column has no value as far as was looked, so that its kind is a guess.
    fn blank(&self, at: usize) -> bool {
        let _ = at;
        false
    }

    /// Changes when the data do: size, time and header.
    fn fingerprint(&self) -> u64;

    /// Positions of columns that are labels by the format's own rules, never features.
    fn labels(&self) -> Vec<usize> {
        Vec::new()
    }

    /// What the user should know of the file.
    fn note(&self) -> Option<String> {
        None
    }

    /// The variant that a column is, where it is one.
    fn variant(&self, at: usize) -> Option<Variant> {
        let _ = at;
        None
    }

    /// Whether the names were made up because the file has none.
    fn unnamed(&self) -> bool {
        false
    }

    /// Whether columns past the last one exist and are all zero, as in svm files.
    fn open_ended(&self) -> bool {
        false
    }
}

/// A table of which any column can be read by position.
pub(crate) trait Table: Schema + Send + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;

    /// Reads the columns at the positions `at`, numbers only, and appends them to `out`.
    ///
    /// `spare` lends buffers of earlier blocks; nothing is added to it.
    fn read(&self, at: &[usize], spare: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()>;

    /// One whole column, text included.
    fn series(&self, at: usize) -> Result<SeriesValues> {
        numbers(self, at)
    }

    /// Most bytes that a column takes as `read` delivers it.
    fn column_bytes(&self) -> u64;

    /// Bytes that reading every column once reads.
    fn scan_bytes(&self) -> u64;
}

/// A numeric column of a table, as a series.
pub(crate) fn numbers<T: Table + ?Sized>(table: &T, at: usize) -> Result<SeriesValues> {
    let column = &table.columns()[at];
    column.readable()?;
    let (mut spare, mut out) = (ColumnBlock::new(1), Vec::with_capacity(1));
    table.read(&[at], &mut spare, &mut out)?;
    let mut values = vec![0.0; table.rows()];
    out[0].view().fill(&mut values);
    let boolean = column.kind == ColumnKind::Bool;
    let integral = boolean || values.iter().all(|v| v.is_nan() || v.trunc() == *v);
    Ok(SeriesValues::Numbers { values, integral, boolean })
}

/// Mixes numbers and bytes into a fingerprint (FNV-1a over eight bytes at a time).
#[derive(Clone, Copy)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    pub(crate) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub(crate) fn number(&mut self, value: u64) {
        for byte in value.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Size and time of last change of a file.
    pub(crate) fn file(&mut self, meta: &std::fs::Metadata) {
        self.number(meta.len());
        let time = meta.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
        self.number(time.map_or(0, |t| t.as_nanos() as u64));
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}
