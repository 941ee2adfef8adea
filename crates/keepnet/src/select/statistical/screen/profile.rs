//! A column as its different values in ascending order, with the rows of each.
//!
//! Rows that a sparse or binary column skips are not listed: they are the rest of the rows, and
//! every test knows them by what is left of its totals. Codes are dealt into their levels without
//! a sort. Within a value rows stand in the order of the target, where that has one.

use super::rows::{Rows, Y};
use crate::data::column::Column;

/// A column's values and rows.
pub(super) struct Profile {
    /// The different values, ascending.
    pub(super) values: Vec<f64>,
    /// Rows of each value, counted.
    pub(super) totals: Vec<u64>,
    /// The value whose rows are not listed.
    pub(super) rest: Option<usize>,
    // Rows of one value after the other, and where each value ends.
    rows: Vec<u32>,
    ends: Vec<u32>,
}

impl Profile {
    /// The profile of a column.
    pub(super) fn new(x: Column<'_>, rows: &Rows) -> Self {
        match x {
            Column::Codes { codes, levels } => Self::dealt(codes, levels, rows),
            _ => Self::sorted(x, rows),
        }
    }

    /// Rows by code, then levels by value.
    fn dealt(codes: &[u8], levels: &[f64], rows: &Rows) -> Self {
        let mut starts = vec![0u32; levels.len() + 1];
        codes.iter().for_each(|code| starts[usize::from(*code) + 1] += 1);
        (0..levels.len()).for_each(|code| starts[code + 1] += starts[code]);
        let (mut next, mut dealt) = (starts.clone(), vec![0u32; codes.len()]);
        let mut deal = |row: u32| {
            let at = &mut next[usize::from(codes[row as usize])];
            dealt[*at as usize] = row;
            *at += 1;
        };
        match &rows.y {
            Y::Numbers(y) => y.order.iter().for_each(|row| deal(*row)),
            Y::Classes(_) => (0..codes.len() as u32).for_each(deal),
        }
        let mut by_value: Vec<usize> = (0..levels.len()).collect();
        by_value.retain(|code| starts[*code] < starts[code + 1]);
        by_value.sort_by(|a, b| levels[*a].total_cmp(&levels[*b]));
        let mut profile = Self::with_room(codes.len(), by_value.len());
        for code in by_value {
            let members = &dealt[starts[code] as usize..starts[code + 1] as usize];
            profile.push(levels[code], members, rows);
        }
        profile
    }

    /// Rows by value, then by the order of the target.
    fn sorted(x: Column<'_>, rows: &Rows) -> Self {
        let n = x.rows();
        let rank = |row: usize| match &rows.y {
            Y::Numbers(y) => y.rank[row],
            Y::Classes(_) => 0,
        };
        let mut entries = Vec::with_capacity(if x.is_dense() { n } else { x.bytes() / 8 });
        x.each(|row, value| {
            if x.is_dense() || value != 0.0 {
                entries.push((key(value), rank(row), row as u32));
            }
        });
        entries.sort_unstable();
        let members: Vec<u32> = entries.iter().map(|entry| entry.2).collect();
        let different = entries.chunk_by(|a, b| a.0 == b.0).count();
        let mut profile = Self::with_room(0, different + 1);
        let mut at = 0;
        let listed: u64 = members.iter().map(|row| rows.count(*row)).sum();
        for same in entries.chunk_by(|a, b| a.0 == b.0) {
            let value = value(same[0].0);
            if value > 0.0 && listed < rows.n && profile.rest.is_none() {
                profile.push_rest(rows.n - listed);
            }
            profile.push(value, &members[at..at + same.len()], rows);
            at += same.len();
        }
        if listed < rows.n && profile.rest.is_none() {
            profile.push_rest(rows.n - listed);
        }
        profile.rows = members;
        profile
    }

    fn with_room(rows: usize, values: usize) -> Self {
        Self {
            values: Vec::with_capacity(values),
            totals: Vec::with_capacity(values),
            rest: None,
            rows: Vec::with_capacity(rows),
            ends: Vec::with_capacity(values),
        }
    }

    /// Adds a value with its rows; one that equals the last joins it.
    fn push(&mut self, value: f64, members: &[u32], rows: &Rows) {
        let count: u64 = members.iter().map(|row| rows.count(*row)).sum();
        let end = self.ends.last().copied().unwrap_or(0) + members.len() as u32;
        if self.rows.capacity() > 0 {
            self.rows.extend(members);
        }
        self.values.push(value);
        self.totals.push(count);
        self.ends.push(end);
    }

    fn push_rest(&mut self, count: u64) {
        self.rest = Some(self.values.len());
        self.values.push(0.0);
        self.totals.push(count);
        self.ends.push(self.ends.last().copied().unwrap_or(0));
    }

    /// Number of different values.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The listed rows of a value.
    pub(super) fn members(&self, at: usize) -> &[u32] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.rows[start as usize..self.ends[at] as usize]
    }

    /// All listed rows, one value after the other.
    pub(super) fn listed(&self) -> &[u32] {
        &self.rows
    }

    /// Whether every value is a whole number and there are few of them.
    pub(super) fn is_coded(&self) -> bool {
        self.len() <= crate::data::compact::MOST_LEVELS
            && self.values.iter().all(|value| value.fract() == 0.0)
    }

    /// Sizes of the groups of equal values.
    pub(super) fn sizes(&self) -> impl Iterator<Item = u64> + '_ {
        self.totals.iter().copied()
    }

    /// Mean and sum of squares about it.
    pub(super) fn moments(&self) -> (f64, f64) {
        let n: u64 = self.totals.iter().sum();
        let first = self.values[0];
        let sum: f64 =
            self.values.iter().zip(&self.totals).map(|(v, t)| *t as f64 * (v - first)).sum();
        let mean = first + sum / n as f64;
        let squares = self.values.iter().zip(&self.totals);
        (mean, squares.map(|(v, t)| *t as f64 * (v - mean) * (v - mean)).sum())
    }

    /// The counts of each class at each value: value by value, a number a class.
    pub(super) fn table(&self, rows: &Rows) -> Option<Vec<u64>> {
        let Y::Classes(classes) = &rows.y else { return None };
        let c = classes.totals.len();
        let mut cells = vec![0; c * self.len()];
        for at in 0..self.len() {
            for row in self.members(at) {
                cells[c * at + classes.codes[*row as usize] as usize] += rows.count(*row);
            }
        }
        if let Some(rest) = self.rest {
            for class in 0..c {
                let listed: u64 = cells.iter().skip(class).step_by(c).sum();
                cells[c * rest + class] = classes.totals[class] - listed;
            }
        }
        Some(cells)
    }
}

/// A whole number that is in the order of the values; both zeros are one value.
fn key(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}
