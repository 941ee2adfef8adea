//! An exact index of the rows that sparse columns touch.
//!
//! For each row it has one bit per sparse column. The union of the words at a newcomer's rows is
//! exactly the set of columns that share a row with it. Cost of a probe: the newcomer's non-zeros
//! times the number of columns / 64. Memory: `n / 8` bytes per sparse column.

use crate::data::column::Column;

/// For each row, the sparse columns that are not zero there.
#[derive(Clone, Debug)]
pub struct RowIndex {
    pub(crate) rows: usize,
    // Words per row; a column's bit is at the same position in every row.
    width: usize,
    words: Vec<u64>,
    free: Vec<u32>,
    next: u32,
    // The columns that share a row with the column probed last.
    found: Vec<u64>,
    // Whether that column was not sparse, so that it may share a row with every column.
    everything: bool,
}

impl RowIndex {
    /// An empty index.
    #[must_use]
    pub fn new(rows: usize) -> Self {
        let (width, words, free, next) = (0, Vec::new(), Vec::new(), 0);
        Self { rows, width, words, free, next, found: Vec::new(), everything: true }
    }

    pub(crate) fn bytes(&self) -> u64 {
        8 * self.words.len() as u64
    }

    /// Adds a sparse column and returns its bit; `None` for another storage.
    pub(crate) fn add(&mut self, x: Column<'_>) -> Option<u32> {
        let Column::Sparse { index, .. } = x else { return None };
        let bit = self.free.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        if bit as usize >= 64 * self.width {
            self.widen();
        }
        let (word, mask) = (bit as usize / 64, 1u64 << (bit % 64));
        index.iter().for_each(|row| self.words[*row as usize * self.width + word] |= mask);
        Some(bit)
    }

    fn widen(&mut self) {
        let width = (2 * self.width).max(1);
        let mut words = vec![0; self.rows * width];
        if self.width > 0 {
            for (to, from) in words.chunks_mut(width).zip(self.words.chunks(self.width)) {
                to[..from.len()].copy_from_slice(from);
            }
        }
        (self.width, self.words) = (width, words);
    }

    pub(crate) fn remove(&mut self, bit: u32, x: Column<'_>) {
        if let Column::Sparse { index, .. } = x {
            let (word, mask) = (bit as usize / 64, 1u64 << (bit % 64));
            index.iter().for_each(|row| self.words[*row as usize * self.width + word] &= !mask);
            self.free.push(bit);
        }
    }

    pub(crate) fn probe(&mut self, x: Column<'_>) {
        self.found.clear();
        self.found.resize(self.width, 0);
        let Column::Sparse { index, .. } = x else {
            self.everything = true;
            return;
        };
        self.everything = false;
        for row in index {
            let words = &self.words[*row as usize * self.width..][..self.width];
            self.found.iter_mut().zip(words).for_each(|(found, word)| *found |= word);
        }
    }

    pub(crate) fn shares(&self, bit: u32) -> bool {
        self.everything || self.found[bit as usize / 64] >> (bit % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::{ColumnData, Numbers};
    use crate::data::order::generator;
    use rand::RngExt;

    #[test]
    fn the_row_index_is_exact_while_columns_come_and_go() {
        let mut random = generator(9, 0);
        let mut index = RowIndex::new(50);
        let mut held: Vec<(u32, Vec<u32>)> = Vec::new();
        let sparse = |rows: &[u32]| ColumnData::Sparse {
            rows: 50,
            index: rows.to_vec(),
            value: Numbers::F32(vec![1.0; rows.len()]),
        };
        for _ in 0..2000 {
            let rows: Vec<u32> = (0..50).filter(|_| random.random_range(0..20) == 0).collect();
            let x = sparse(&rows);
            index.probe(x.view());
            for (bit, others) in &held {
                assert_eq!(index.shares(*bit), rows.iter().any(|r| others.contains(r)));
            }
            if random.random_range(0..3) == 0 && !held.is_empty() {
                let (bit, rows) = held.swap_remove(random.random_range(0..held.len()));
                index.remove(bit, sparse(&rows).view());
            } else {
                held.push((index.add(x.view()).unwrap(), rows));
            }
        }
        assert!(held.len() > 100 && index.width > 1);
    }
}
