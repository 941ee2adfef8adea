//! What a method says it will hold, before a run.
//!
//! ```text
//! bytes = columns (column + SLOT + facts) + covariates (8 n + SLOT) + 8 vectors n + 8 matrices m^2
//! ```
//!
//! with `m` the columns and covariates. Each method counts its own columns, vectors and matrices;
//! `tests/memory.rs` measures them.

/// Bytes that a method holds at most on its problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Bytes, whatever the stream brings.
    pub bytes: u64,
    /// Further bytes for each feature that is kept, where the method has no bound on their number.
    pub each: u64,
}

impl Memory {
    /// All of it, with `kept` features.
    #[must_use]
    pub fn with(&self, kept: u64) -> u64 {
        self.bytes.saturating_add(self.each.saturating_mul(kept))
    }
}

/// Bytes of a held column besides its values: name, statistics, its place in lists, and the
/// numbers that methods have for each.
const SLOT: u64 = 320;

/// What a method holds, counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holds {
    /// Rows of the problem.
    pub(crate) rows: usize,
    /// Features that may be kept; `None` where nothing bounds them.
    pub(crate) kept: Option<usize>,
    /// Further columns held at the same time, such as one that is under test.
    pub(crate) spare: usize,
    /// Bytes of what is known of each column, where that is much.
    pub(crate) facts: u64,
    /// Covariates, which are held as numbers of 8 bytes.
    pub(crate) covariates: usize,
    /// Vectors of a number a row.
    pub(crate) vectors: usize,
    /// Square matrices of the size of the held set.
    pub(crate) matrices: usize,
}

impl Holds {
    /// In bytes, for columns of up to `column` bytes and `features` of them in a scan.
    pub(crate) fn bytes(&self, column: u64, features: Option<u64>) -> Memory {
        let n = self.rows as u64;
        let (spare, covariates) = (self.spare as u64, self.covariates as u64);
        let (vectors, matrices) = (self.vectors as u64, self.matrices as u64);
        let slot = column.saturating_add(SLOT + self.facts);
        let fixed = spare.saturating_mul(slot) + covariates * (8 * n + SLOT) + 8 * vectors * n;
        let most = features.unwrap_or(u64::MAX);
        match self.kept.map(|kept| (kept as u64).min(most)) {
            Some(kept) => {
                let m = kept.saturating_add(spare + covariates);
                let square = m.saturating_mul(m).saturating_mul(8 * matrices);
                let bytes = kept.saturating_mul(slot).saturating_add(fixed);
                Memory { bytes: bytes.saturating_add(square), each: 0 }
            }
            // A further feature adds a row to each matrix; no more than n of them are independent.
            None => Memory { bytes: fixed, each: slot + 8 * matrices * n.min(most) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        let (rows, covariates) = (100, 1);
        let holds =
            Holds { rows, kept: Some(10), spare: 1, facts: 0, covariates, vectors: 3, matrices: 2 };
        // 11 columns, a covariate, 3 vectors of 100 and 2 matrices of 12 by 12 numbers.
        let bytes = 11 * (400 + 320) + (800 + 320) + 8 * 300 + 8 * 2 * 144;
        assert_eq!(holds.bytes(400, None), Memory { bytes, each: 0 });
        // No more columns than there are: 5 and the spare one.
        let few = 6 * (400 + 320) + (800 + 320) + 8 * 300 + 8 * 2 * 49;
        assert_eq!(holds.bytes(400, Some(5)).bytes, few);
        let open = Holds { kept: None, ..holds }.bytes(400, Some(50));
        assert_eq!(open.each, 720 + 8 * 2 * 50);
        assert_eq!(open.with(2), open.bytes + 2 * open.each);
    }
}
