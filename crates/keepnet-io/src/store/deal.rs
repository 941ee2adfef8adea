//! The entries of a sparse table in a temporary file, dealt to ranges of columns and sorted there.

use std::ops::Range;

use keepnet::Result;

use super::Spill;

/// One entry in a temporary file: column, row and the two halves of the value.
pub(super) type Record = [u32; 4];

pub(super) fn record(column: u32, row: u32, value: f64) -> Record {
    let bits = value.to_bits();
    [column, row, bits as u32, (bits >> 32) as u32]
}

fn value_of(record: &Record) -> f64 {
    f64::from_bits(u64::from(record[2]) | u64::from(record[3]) << 32)
}

pub(super) const RECORD: u64 = size_of::<Record>() as u64;

/// Consecutive columns with at most `most` entries together, or one column.
pub(super) fn ranges(starts: &[u64], most: u64) -> Vec<Range<usize>> {
    let (mut all, mut first) = (Vec::new(), 0);
    for c in 1..starts.len() {
        if c > first + 1 && starts[c] - starts[first] > most {
            all.push(first..c - 1);
            first = c - 1;
        }
    }
    if first + 1 < starts.len() {
        all.push(first..starts.len() - 1);
    }
    all
}

/// Appends records to the part of the file that belongs to their range.
pub(super) struct Dealer<'a> {
    spill: &'a Spill,
    ends: Vec<usize>,
    at: Vec<u64>,
    buffers: Vec<Vec<Record>>,
    room: usize,
}

impl<'a> Dealer<'a> {
    pub(super) fn new(
        spill: &'a Spill,
        ranges: &[Range<usize>],
        starts: &[u64],
        memory: u64,
    ) -> Self {
        let room = memory / (RECORD * ranges.len().max(1) as u64);
        Self {
            spill,
            ends: ranges.iter().map(|range| range.end).collect(),
            at: ranges.iter().map(|range| starts[range.start]).collect(),
            buffers: ranges.iter().map(|_| Vec::new()).collect(),
            room: room.clamp(64, 1 << 14) as usize,
        }
    }

    pub(super) fn push(&mut self, record: Record) -> Result<()> {
        let range = self.ends.partition_point(|end| *end <= record[0] as usize);
        self.buffers[range].push(record);
        if self.buffers[range].len() >= self.room { self.flush(range) } else { Ok(()) }
    }

    fn flush(&mut self, range: usize) -> Result<()> {
        let buffer = &mut self.buffers[range];
        self.spill.write(self.at[range] * RECORD, bytemuck::cast_slice(buffer))?;
        self.at[range] += buffer.len() as u64;
        buffer.clear();
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        (0..self.buffers.len()).try_for_each(|range| self.flush(range))
    }
}

/// Sorts the records of a range and writes them back as row indices, then values.
pub(super) fn sort_range(spill: &Spill, range: &Range<usize>, starts: &[u64]) -> Result<()> {
    let first = starts[range.start];
    let total = (starts[range.end] - first) as usize;
    let mut records = vec![[0_u32; 4]; total];
    spill.read(first * RECORD, bytemuck::cast_slice_mut(&mut records))?;
    let mut next: Vec<usize> =
        starts[range.clone()].iter().map(|s| (*s - first) as usize).collect();
    let (mut index, mut value) = (vec![0_u32; total], vec![0.0_f64; total]);
    for record in &records {
        let to = &mut next[record[0] as usize - range.start];
        index[*to] = record[1];
        value[*to] = value_of(record);
        *to += 1;
    }
    spill.write(first * RECORD, bytemuck::cast_slice(&index))?;
    spill.write(first * RECORD + 4 * total as u64, bytemuck::cast_slice(&value))
}
