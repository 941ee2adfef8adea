//! Counts of byte codes and bits: how many rows have each level, or each pair of levels.
//!
//! A processor compares 64 bytes at once, but adds to cells of a table one after the other. So the
//! rows of a level become bits, and a cell is the number of bits that two levels share:
//!
//! ```text
//! plane(x, a)   bit i is [x_i = a]        n / 64 words
//! table[a, b] = popcount(plane(x, a) and plane(y, b))
//! ```
//!
//! Level 0 has no plane: its counts are what the other levels leave. With `A` and `B` levels a
//! table costs `n (A - 1) (B - 1) / 64` popcounts. With many cells it is filled row by row instead.
//! Rows are taken in tiles, so the planes hold at most [`MOST_PLANES`] times 512 bytes a side.

use super::simd::{Vector, on_best};

/// Rows of one word.
const WORD: usize = 64;
/// Words of a plane that are made at a time.
const TILE: usize = 64;
/// Most planes of a column.
const MOST_PLANES: usize = 16;
/// Most cells that are counted by planes: a row costs about one popcount.
const FEW: usize = 64;

/// A column of few levels.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Levelled<'a> {
    /// The level of each row.
    Codes(&'a [u8]),
    /// Level 0 or 1 of each row, least significant bit first.
    Bits(&'a [u64]),
}

/// Room for the planes of two columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Planes([Vec<u64>; 2]);

impl Levelled<'_> {
    fn words(&self) -> usize {
        match self {
            Self::Codes(codes) => codes.len().div_ceil(WORD),
            Self::Bits(words) => words.len(),
        }
    }

    /// Planes of the levels from 1 on over the words from `first` on, `count` words a plane.
    #[inline(always)]
    fn planes<V: Vector>(&self, v: V, first: usize, count: usize, out: &mut [u64]) {
        let codes = match self {
            Self::Bits(words) => return out.copy_from_slice(&words[first..first + count]),
            Self::Codes(codes) => &codes[first * WORD..codes.len().min((first + count) * WORD)],
        };
        let (whole, tail) = codes.as_chunks::<WORD>();
        for (level, plane) in out.chunks_exact_mut(count).enumerate() {
            for (word, codes) in plane.iter_mut().zip(whole) {
                *word = v.equal(codes, level as u8 + 1);
            }
            if !tail.is_empty() {
                plane[whole.len()] = v.equal(&padded(tail), level as u8 + 1);
            }
        }
    }
}

/// Fewer codes than a word has, and 0 after them.
#[inline(always)]
fn padded(tail: &[u8]) -> [u8; WORD] {
    let mut codes = [0; WORD];
    codes[..tail.len()].copy_from_slice(tail);
    codes
}

/// Adds the rows of each code below `counts.len()`, which all codes are.
pub(crate) fn count(codes: &[u8], counts: &mut [u32]) {
    if counts.len() > MOST_PLANES {
        return count_by_row(codes, counts);
    }
    let Some((zero, others)) = counts.split_first_mut() else { return };
    for codes in codes.chunks(TILE * WORD) {
        let (whole, tail) = codes.as_chunks::<WORD>();
        let mut rest = codes.len() as u32;
        on_best!(v => {
            for (level, count) in others.iter_mut().enumerate() {
                let level = level as u8 + 1;
                let mut rows = v.equal(&padded(tail), level).count_ones();
                for codes in whole {
                    rows += v.equal(codes, level).count_ones();
                }
                *count += rows;
                rest -= rows;
            }
        });
        *zero += rest;
    }
}

/// Whether [`count_pairs`] takes columns of these numbers of levels.
pub(crate) fn few_pairs(a: usize, b: usize) -> bool {
    let (a, b) = (a.saturating_sub(1), b.saturating_sub(1));
    a.max(b) <= MOST_PLANES && a * b <= FEW
}

/// Adds the rows of each pair of levels from 1 on to `table`, which has a row for each level of
/// `x` and a cell in it for each level of `y`. The cells of level 0 are left to the caller.
pub(crate) fn count_pairs(
    x: (Levelled<'_>, usize),
    y: (Levelled<'_>, usize),
    Planes([xs, ys]): &mut Planes,
    table: &mut [u32],
) {
    let ((x, height), (y, width)) = (x, y);
    if height < 2 || width < 2 {
        return;
    }
    let words = x.words();
    for first in (0..words).step_by(TILE) {
        let count = TILE.min(words - first);
        let (xs, ys) = (room(xs, (height - 1) * count), room(ys, (width - 1) * count));
        on_best!(v => {
            x.planes(v, first, count, xs);
            y.planes(v, first, count, ys);
            for (x, row) in xs.chunks_exact(count).zip(table.chunks_exact_mut(width).skip(1)) {
                for (y, cell) in ys.chunks_exact(count).zip(&mut row[1..]) {
                    for (x, y) in x.iter().zip(y) {
                        *cell += (x & y).count_ones();
                    }
                }
            }
        });
    }
}

/// So many words of `all`, which grows where it is shorter.
fn room(all: &mut Vec<u64>, words: usize) -> &mut [u64] {
    if all.len() < words {
        all.resize(words, 0);
    }
    &mut all[..words]
}

/// Adds the rows of each pair of codes to `table`, of `width` cells for each code of `x`.
pub(crate) fn count_pairs_by_row(x: &[u8], y: &[u8], width: usize, table: &mut [u32]) {
    let at = |x: u8, y: u8| usize::from(x) * width + usize::from(y);
    x.iter().zip(y).for_each(|(x, y)| table[at(*x, *y)] += 1);
}

fn count_by_row(codes: &[u8], counts: &mut [u32]) {
    // Two tables hide the latency of counting the same code twice in succession.
    let mut tables = [[0_u32; 256]; 2];
    let (pairs, last) = codes.as_chunks::<2>();
    for [x, y] in pairs {
        tables[0][usize::from(*x)] += 1;
        tables[1][usize::from(*y)] += 1;
    }
    last.iter().for_each(|code| tables[0][usize::from(*code)] += 1);
    for (code, count) in counts.iter_mut().enumerate() {
        *count += tables[0][code] + tables[1][code];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::integers::bits;

    fn code(i: usize, of: usize) -> u8 {
        ((i.wrapping_mul(2_654_435_761) >> 7) % of) as u8
    }

    #[test]
    fn counts_are_those_of_a_loop() {
        let mut planes = Planes::default();
        for n in [0, 1, 31, 64, 65, 2000, 4096, 4097, 20_000] {
            for (levels, width) in [(1, 1), (2, 2), (5, 3), (6, 6), (17, 5), (2, 17), (256, 1)] {
                let x: Vec<u8> = (0..n).map(|i| code(i, levels)).collect();
                let y: Vec<u8> = (0..n).map(|i| code(i + 9, width)).collect();
                let mut counts = vec![0; levels];
                count(&x, &mut counts);
                let (mut plain, mut pairs) = (vec![0; levels], vec![0; levels * width]);
                for (x, y) in x.iter().zip(&y) {
                    plain[usize::from(*x)] += 1;
                    pairs[usize::from(*x) * width + usize::from(*y)] += 1;
                }
                assert_eq!(counts, plain, "{n} {levels}");
                let mut by_row = vec![0; levels * width];
                count_pairs_by_row(&x, &y, width, &mut by_row);
                assert_eq!(by_row, pairs);
                // Level 0 is left out.
                for (at, count) in pairs.iter_mut().enumerate() {
                    *count *= u32::from(at >= width && !at.is_multiple_of(width));
                }
                if !few_pairs(levels, width) {
                    continue;
                }
                let words = bits(&x, 1);
                let forms = [Levelled::Codes(&x), Levelled::Bits(&words)];
                for x in forms.into_iter().take(if levels == 2 { 2 } else { 1 }) {
                    let mut table = vec![0; levels * width];
                    let y = (Levelled::Codes(&y), width);
                    count_pairs((x, levels), y, &mut planes, &mut table);
                    assert_eq!(table, pairs, "{n} {levels} {width}");
                }
            }
        }
        assert!(few_pairs(17, 5) && !few_pairs(18, 2) && !few_pairs(17, 6));
    }
}
