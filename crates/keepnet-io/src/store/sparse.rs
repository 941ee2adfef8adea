//! A sparse table, transposed by counting.
//!
//! ```text
//! start[c] = entries in columns before c      entry (r, c, v) goes to start[c] + seen[c]++
//! ```
//!
//! Rows arrive in pieces, in order, so each column comes out with its rows ascending. While
//! the pieces fit the memory limit the sort is done in memory, a range of columns at a time
//! (see [`super::sort`]). Otherwise they go to a temporary file, are dealt to ranges of columns of
//! which each fits in memory (their exact sizes are known by then), and each range is sorted by
//! itself and written back.
//!
//! Cost: one pass over the entries in memory, or three writes and two reads of 16 bytes an
//! entry. Memory: twice the entries, or the limit. A column is delivered as f32 where all its
//! values survive that.

use std::ops::Range;
use std::sync::Arc;

use keepnet::{ColumnData, Numbers, NumbersRef, Result, SparseEntries};

use super::deal::{Dealer, RECORD, ranges, record, sort_range};
use super::sort::sort;
use super::{Piece, Place, Spill};
use crate::memory::Charge;

/// Takes pieces in the order of the rows.
pub(crate) struct SparseBuilder {
    place: Place,
    pieces: Vec<Piece>,
    // Twice the pieces: they and the transposed table are in memory together.
    held: Option<Charge>,
    // What is known of each column.
    described: Option<Charge>,
    rows: u32,
    // By column: entries that are not zero, and whether they all survive f32.
    counts: Vec<u32>,
    narrow: Vec<bool>,
    integral: bool,
    spill: Option<Spill>,
    spilled: u64,
}

impl SparseBuilder {
    pub(crate) fn new(place: Place) -> Self {
        Self {
            place,
            pieces: Vec::new(),
            held: None,
            described: None,
            rows: 0,
            counts: Vec::new(),
            narrow: Vec::new(),
            integral: true,
            spill: None,
            spilled: 0,
        }
    }

    /// Whether all values so far are integers.
    pub(crate) fn integral(&self) -> bool {
        self.integral
    }

    pub(crate) fn push(&mut self, piece: Piece) -> Result<()> {
        let end = piece.index.iter().max().map_or(0, |c| *c as usize + 1);
        if end > self.counts.len() {
            self.described = None;
            self.described = Some(self.place.columns(end as u64)?);
            self.counts.resize(end, 0);
            self.narrow.resize(end, true);
        }
        let (counts, narrow) = (&mut self.counts, &mut self.narrow);
        piece.each(|_, c, v| counts[c as usize] += u32::from(v != 0.0));
        // One value decides, and it mostly is among the first.
        let mut integral = self.integral;
        if integral {
            piece.each(|_, _, v| integral = integral && v.trunc() == v);
        }
        if let Numbers::F64(_) = piece.value {
            piece.each(|_, c, v| narrow[c as usize] &= f64::from(v as f32) == v || v.is_nan());
        }
        self.integral = integral;
        let more = 2 * piece.bytes();
        self.pieces.push(piece);
        let fits = self.spill.is_none() && self.place.hold(&mut self.held, more);
        if fits { Ok(()) } else { self.write_out() }
    }

    fn write_out(&mut self) -> Result<()> {
        if self.spill.is_none() {
            self.spill = Some(Spill::new(&self.place)?);
        }
        let spill = self.spill.as_mut().expect("it was just made");
        let mut records = Vec::new();
        for piece in self.pieces.drain(..) {
            records.clear();
            let top = self.rows;
            piece.each(|row, column, value| {
                if value != 0.0 {
                    records.push(record(column, top + row, value));
                }
            });
            spill.append(bytemuck::cast_slice(&records))?;
            self.spilled += records.len() as u64;
            self.rows += piece.ends.len() as u32;
        }
        self.held = None;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<SparseStore> {
        let mut starts = Vec::with_capacity(self.counts.len() + 1);
        starts.push(0_u64);
        for count in &self.counts {
            starts.push(starts[starts.len() - 1] + u64::from(*count));
        }
        let data = if self.spill.is_some() {
            self.write_out()?;
            self.deal(&starts)?
        } else {
            let wide = self.narrow.iter().any(|narrow| !narrow);
            let pieces = std::mem::take(&mut self.pieces);
            let (index, value) = sort(&pieces, &starts, wide);
            Data::Memory(Arc::new(SparseEntries::Owned { index, value }))
        };
        if let Some(held) = &mut self.held {
            held.shrink(12 * starts[starts.len() - 1]);
        }
        let Self { held: _held, described: _described, narrow, .. } = self;
        Ok(SparseStore { starts, narrow, data, _held, _described })
    }

    /// Deals the records to ranges of columns, then sorts each range.
    fn deal(&mut self, starts: &[u64]) -> Result<Data> {
        let from = self.spill.take().expect("records were written");
        let most = (self.place.memory / (4 * RECORD)).max(1 << 12);
        let ranges = ranges(starts, most);
        let to = self.place.lasting()?.part(starts[starts.len() - 1] * RECORD);
        let mut dealer = Dealer::new(&to, &ranges, starts, self.place.memory / 4);
        let mut records = vec![[0_u32; 4]; most.min(1 << 16) as usize];
        let mut at = 0;
        while at < self.spilled {
            let count = (self.spilled - at).min(records.len() as u64) as usize;
            from.read(at * RECORD, bytemuck::cast_slice_mut(&mut records[..count]))?;
            for record in &records[..count] {
                dealer.push(*record)?;
            }
            at += count as u64;
            self.place.go_on()?;
        }
        dealer.finish()?;
        drop(from);
        for range in &ranges {
            self.place.go_on()?;
            sort_range(&to, range, starts)?;
        }
        Ok(Data::File { spill: to, ranges })
    }
}

/// Where the transposed entries are.
enum Data {
    Memory(Arc<SparseEntries>),
    File { spill: Spill, ranges: Vec<Range<usize>> },
}

/// The transposed table.
pub(crate) struct SparseStore {
    // Entries before each column; one more than there are columns.
    starts: Vec<u64>,
    narrow: Vec<bool>,
    data: Data,
    _held: Option<Charge>,
    _described: Option<Charge>,
}

impl SparseStore {
    /// One past the last column that has an entry in the file.
    pub(crate) fn end(&self) -> usize {
        self.narrow.len()
    }

    /// Entries of a column.
    pub(crate) fn count(&self, column: usize) -> u64 {
        self.starts[column + 1] - self.starts[column]
    }

    /// Bytes that one scan reads.
    pub(crate) fn bytes(&self) -> u64 {
        let width = match &self.data {
            Data::Memory(entries) if matches!(entries.get(0..0).1, NumbersRef::F32(_)) => 8,
            _ => 12,
        };
        width * self.starts[self.starts.len() - 1]
    }

    /// Bytes of the longest column.
    pub(crate) fn column_bytes(&self) -> u64 {
        let bytes = |c: usize| self.count(c) * if self.narrow[c] { 8 } else { 12 };
        (0..self.end()).map(bytes).max().unwrap_or(0)
    }

    /// Appends the columns of a range to `out`.
    pub(crate) fn read(
        &self,
        columns: Range<usize>,
        rows: usize,
        out: &mut Vec<ColumnData>,
    ) -> Result<()> {
        match &self.data {
            Data::Memory(entries) => {
                for c in columns {
                    let range = self.starts[c] as usize..self.starts[c + 1] as usize;
                    out.push(match entries.get(range.clone()) {
                        (index, NumbersRef::F64(v)) if self.narrow[c] && !v.is_empty() => {
                            let value = Numbers::F32(v.iter().map(|v| *v as f32).collect());
                            ColumnData::Sparse { rows, index: index.to_vec(), value }
                        }
                        _ => ColumnData::SharedSparse { rows, entries: Arc::clone(entries), range },
                    });
                }
            }
            Data::File { spill, ranges } => {
                let mut rest = columns;
                while !rest.is_empty() {
                    let at = ranges.partition_point(|range| range.end <= rest.start);
                    let end = rest.end.min(ranges[at].end);
                    self.load(spill, &ranges[at], rest.start..end, rows, out)?;
                    rest.start = end;
                }
            }
        }
        Ok(())
    }

    fn values(&self, column: usize, values: &[f64]) -> Numbers {
        match self.narrow[column] {
            true => Numbers::F32(values.iter().map(|v| *v as f32).collect()),
            false => Numbers::F64(values.to_vec()),
        }
    }

    fn load(
        &self,
        spill: &Spill,
        range: &Range<usize>,
        columns: Range<usize>,
        rows: usize,
        out: &mut Vec<ColumnData>,
    ) -> Result<()> {
        let first = self.starts[range.start];
        let total = self.starts[range.end] - first;
        let before = self.starts[columns.start] - first;
        let count = (self.starts[columns.end] - self.starts[columns.start]) as usize;
        let (mut index, mut value) = (vec![0_u32; count], vec![0.0_f64; count]);
        let base = first * RECORD;
        spill.read(base + 4 * before, bytemuck::cast_slice_mut(&mut index))?;
        spill.read(base + 4 * total + 8 * before, bytemuck::cast_slice_mut(&mut value))?;
        for c in columns.clone() {
            let start = (self.starts[c] - self.starts[columns.start]) as usize;
            let part = start..start + self.count(c) as usize;
            let value = self.values(c, &value[part.clone()]);
            out.push(ColumnData::Sparse { rows, index: index[part].to_vec(), value });
        }
        Ok(())
    }
}
