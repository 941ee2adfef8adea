//! Some rows of a sparse table, as they come from a file.

use keepnet::Numbers;

/// Some rows: entries a row after the other.
pub(crate) struct Piece {
    // Entries up to the end of each row.
    pub(super) ends: Vec<u32>,
    // Ascending within a row.
    pub(super) index: Vec<u32>,
    pub(super) value: Numbers,
}

impl Piece {
    pub(crate) fn with_capacity(entries: usize) -> Self {
        let value = Numbers::F32(Vec::with_capacity(entries));
        Self { ends: Vec::new(), index: Vec::with_capacity(entries), value }
    }

    /// Adds an entry to the current row; zeros are no entries.
    #[inline]
    pub(crate) fn push(&mut self, index: u32, value: f64) {
        // The column must be known even where every value of it is zero.
        self.index.push(index);
        match &mut self.value {
            Numbers::F64(values) => values.push(value),
            Numbers::F32(values) if f64::from(value as f32) == value || value.is_nan() => {
                values.push(value as f32);
            }
            Numbers::F32(_) => self.widen(value),
        }
    }

    /// Adds the first value that f32 does not hold.
    #[cold]
    fn widen(&mut self, value: f64) {
        if let Numbers::F32(values) = &self.value {
            let mut wide = Vec::with_capacity(values.capacity());
            wide.extend(values.iter().map(|v| f64::from(*v)));
            wide.push(value);
            self.value = Numbers::F64(wide);
        }
    }

    pub(crate) fn end_row(&mut self) {
        self.ends.push(self.index.len() as u32);
    }

    /// Ends of rows, indices and values.
    pub(crate) fn into_rows(self) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
        let value = match self.value {
            Numbers::F32(values) => values.into_iter().map(f64::from).collect(),
            Numbers::F64(values) => values,
        };
        (self.ends.into_iter().map(|end| end as usize).collect(), self.index, value)
    }

    /// Lets go of the room that no entry took.
    pub(crate) fn shrink(&mut self) {
        self.index.shrink_to_fit();
        match &mut self.value {
            Numbers::F32(values) => values.shrink_to_fit(),
            Numbers::F64(values) => values.shrink_to_fit(),
        }
    }

    /// Row within the piece, column and value of each entry.
    pub(super) fn each(&self, mut f: impl FnMut(u32, u32, f64)) {
        let mut start = 0;
        for (row, end) in self.ends.iter().enumerate() {
            let range = start as usize..*end as usize;
            match &self.value {
                Numbers::F32(v) => {
                    let entries = self.index[range.clone()].iter().zip(&v[range]);
                    entries.for_each(|(c, v)| f(row as u32, *c, f64::from(*v)));
                }
                Numbers::F64(v) => {
                    let entries = self.index[range.clone()].iter().zip(&v[range]);
                    entries.for_each(|(c, v)| f(row as u32, *c, *v));
                }
            }
            start = *end;
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let width = if matches!(self.value, Numbers::F64(_)) { 12 } else { 8 };
        (4 * self.ends.len() + width * self.index.len()) as u64
    }

    #[cfg(test)]
    pub(crate) fn entries(&self) -> Vec<(u32, u32, f64)> {
        let mut all = Vec::new();
        self.each(|r, c, v| all.push((r, c, v)));
        all
    }
}
