//! The transposition of sparse rows in memory.
//!
//! Writing each entry straight to its column touches a new cache line every time. Since the
//! entries of a row ascend, a range of columns is a run of each row: ranges whose output fits
//! the cache are filled one after the other, with a cursor a row that moves along. Threads
//! take groups of ranges of their own.

use std::ops::Range;

use keepnet::Numbers;
use rayon::prelude::*;

use super::Piece;
use super::deal::ranges;

/// Entries of a range: its rows and values are about three quarters of a mebibyte.
const CACHED: u64 = 1 << 16;

/// Rows and values of all entries, column after column.
pub(super) fn sort(pieces: &[Piece], starts: &[u64], wide: bool) -> (Vec<u32>, Numbers) {
    let total = starts[starts.len() - 1] as usize;
    let mut index = vec![0; total];
    let value = if wide {
        let mut value = vec![0.0; total];
        fill(pieces, starts, &mut index, &mut value, |v| v);
        Numbers::F64(value)
    } else {
        let mut value = vec![0.0; total];
        fill(pieces, starts, &mut index, &mut value, |v| v as f32);
        Numbers::F32(value)
    };
    (index, value)
}

/// A group of ranges and the part of the output that belongs to it.
struct Group<'a, T> {
    ranges: &'a [Range<usize>],
    index: &'a mut [u32],
    value: &'a mut [T],
}

fn fill<T: Copy + Send>(
    pieces: &[Piece],
    starts: &[u64],
    mut index: &mut [u32],
    mut value: &mut [T],
    convert: impl Fn(f64) -> T + Sync,
) {
    let ranges = ranges(starts, CACHED);
    let share = ranges.len().div_ceil(rayon::current_num_threads()).max(1);
    let mut groups = Vec::new();
    for ranges in ranges.chunks(share) {
        let (first, last) = (ranges[0].start, ranges[ranges.len() - 1].end);
        let count = (starts[last] - starts[first]) as usize;
        let (index_part, index_rest) = index.split_at_mut(count);
        let (value_part, value_rest) = value.split_at_mut(count);
        groups.push(Group { ranges, index: index_part, value: value_part });
        (index, value) = (index_rest, value_rest);
    }
    groups.into_par_iter().for_each(|group| group.fill(pieces, starts, &convert));
}

impl<T: Copy> Group<'_, T> {
    fn fill(self, pieces: &[Piece], starts: &[u64], convert: impl Fn(f64) -> T) {
        let first = self.ranges[0].start;
        let mut cursors: Vec<Vec<u32>> = pieces.iter().map(|p| cursors(p, first)).collect();
        let mut next: Vec<usize> = Vec::new();
        for range in self.ranges {
            let place = |s: &u64| (*s - starts[first]) as usize;
            next.clear();
            next.extend(starts[range.clone()].iter().map(place));
            let mut top = 0;
            for (piece, cursors) in pieces.iter().zip(&mut cursors) {
                for (row, (cursor, end)) in cursors.iter_mut().zip(&piece.ends).enumerate() {
                    while *cursor < *end && (piece.index[*cursor as usize] as usize) < range.end {
                        let at = *cursor as usize;
                        *cursor += 1;
                        let value = match &piece.value {
                            Numbers::F32(v) => f64::from(v[at]),
                            Numbers::F64(v) => v[at],
                        };
                        if value != 0.0 {
                            let to = &mut next[piece.index[at] as usize - range.start];
                            self.index[*to] = top + row as u32;
                            self.value[*to] = convert(value);
                            *to += 1;
                        }
                    }
                }
                top += piece.ends.len() as u32;
            }
        }
    }
}

/// For each row the first of its entries at or past column `first`.
fn cursors(piece: &Piece, first: usize) -> Vec<u32> {
    let mut start = 0;
    let mut all = Vec::with_capacity(piece.ends.len());
    for end in &piece.ends {
        let row = &piece.index[start as usize..*end as usize];
        all.push(start + row.partition_point(|c| (*c as usize) < first) as u32);
        start = *end;
    }
    all
}
