//! Products of held columns with each other, computed when they are first needed.
//!
//! Only the squared loss uses it: its curvature does not change. On a stream it has every slot; in
//! a batch solve only the columns that have been in the working set.

use serde::{Deserialize, Serialize};

use super::Columns;
use crate::data::column::Column;
use crate::numeric::linalg::Square;
use crate::numeric::products::cross;
use crate::select::kept_products::GROUP;

/// `<x_i, x_j>` on scaled columns, for the slots that were requested.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::select) struct Gram {
    /// The slot of each row.
    slots: Vec<u32>,
    /// The row of each slot, or `u32::MAX`.
    rows: Vec<u32>,
    square: Square,
    /// `<x_i, y_c>` at `row * outputs + c`.
    xy: Vec<f64>,
}

impl Gram {
    /// Whether products from a checkpoint fit `held` columns.
    pub(in crate::select) fn is_valid(&self, held: usize, count: usize) -> bool {
        let row_of = |slot: u32| self.rows.get(slot as usize).copied();
        let both =
            self.slots.iter().enumerate().all(|(row, slot)| row_of(*slot) == Some(row as u32));
        let placed = self.rows.iter().filter(|row| **row != u32::MAX).count();
        both && placed == self.slots.len()
            && self.rows.len() <= held
            && self.xy.len() == self.slots.len() * count
            && self.square.sound(self.slots.len())
    }

    /// Computes the rows of the slots of `set` that have none.
    pub(in crate::select) fn complete(&mut self, columns: &Columns, set: &[usize]) {
        self.rows.resize(columns.kept.len(), u32::MAX);
        let fresh: Vec<usize> =
            set.iter().copied().filter(|slot| self.rows[*slot] == u32::MAX).collect();
        for group in fresh.chunks(GROUP) {
            self.add_rows(columns, group);
        }
    }

    fn add_rows(&mut self, columns: &Columns, group: &[usize]) {
        let (frame, count) = (&columns.frame, columns.count());
        let first = self.slots.len();
        for slot in group {
            self.rows[*slot] = self.slots.len() as u32;
            self.slots.push(*slot as u32);
        }
        self.square.reserve(self.slots.len());
        let spread: Vec<Vec<f64>> = group
            .iter()
            .map(|slot| {
                let mut out = vec![0.0; frame.n()];
                frame.spread(&columns.kept.slots()[*slot], None, &mut out);
                out
            })
            .collect();
        let slot = |row: usize| self.slots[row] as usize;
        let mut views: Vec<Column<'_>> =
            (0..self.slots.len()).map(|row| columns.kept.slots()[slot(row)].column()).collect();
        views.extend((0..count).map(|c| Column::F64(columns.y(c))));
        let v: Vec<&[f64]> = spread.iter().map(Vec::as_slice).collect();
        let mut out = vec![0.0; views.len() * v.len()];
        cross(&views, &v, &mut out);
        let total = frame.weight_sum();
        for (g, own) in group.iter().enumerate() {
            let scale = columns.scale[*own] / total;
            for row in 0..=first + g {
                let value = out[row * v.len() + g] * scale * columns.scale[slot(row)];
                self.square.set(row, first + g, value);
            }
            let with_y = (self.slots.len()..self.slots.len() + count)
                .map(|at| out[at * v.len() + g] * scale);
            self.xy.extend(with_y);
        }
    }

    /// Matrix and linear terms of `set`, after [`Gram::complete`].
    pub(in crate::select) fn part(&self, set: &[usize], count: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
        let rows: Vec<usize> = set.iter().map(|slot| self.rows[*slot] as usize).collect();
        let mut h = Vec::with_capacity(rows.len() * rows.len());
        for i in &rows {
            let row = self.square.row(*i);
            h.extend(rows.iter().map(|j| row[*j]));
        }
        let lin = |c: usize| rows.iter().map(|i| self.xy[i * count + c]).collect();
        (h, (0..count).map(lin).collect())
    }

    /// Removes a slot; the last of `held` slots takes its place.
    pub(in crate::select) fn swap_remove(&mut self, slot: usize, held: usize, count: usize) {
        self.rows.resize(held, u32::MAX);
        let row = self.rows.swap_remove(slot);
        let moved = self.rows.get(slot).copied().unwrap_or(u32::MAX);
        if moved != u32::MAX {
            self.slots[moved as usize] = slot as u32;
        }
        if row == u32::MAX {
            return;
        }
        let (row, last) = (row as usize, self.slots.len() - 1);
        self.square.relocate(last, row, last + 1);
        let tail: Vec<f64> = self.xy.drain(last * count..).collect();
        self.slots.swap_remove(row);
        if row != last {
            self.xy[row * count..(row + 1) * count].copy_from_slice(&tail);
            self.rows[self.slots[row] as usize] = row as u32;
        }
    }

    /// Bytes held.
    pub(in crate::select) fn bytes(&self) -> u64 {
        self.square.bytes() + 8 * (self.slots.len() + self.rows.len() + self.xy.len()) as u64
    }
}
