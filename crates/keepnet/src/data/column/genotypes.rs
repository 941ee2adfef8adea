//! Genotypes at two bits a row, in the code of PLINK 1 files.
//!
//! ```text
//! code (high bit, low bit)   00: 2    10: 1    11: 0    01: missing
//! ```
//!
//! Row `i` is the bits `2 (i mod 4)` and the next of byte `i / 4`. What the last byte has after the
//! last row is not looked at: every operation reads it as code 11. A missing value has the number
//! [`Genotypes::missing`]: NaN until the check fills it, which touches no byte.

use super::SharedBytes;
use crate::numeric::genotypes as kernel;

/// The code of no copy, which is also that of rows past the end.
pub(crate) const NONE: u8 = 0b11;
/// The code of a missing value.
pub(crate) const MISSING: u8 = 0b01;

/// The code of each number of copies.
const CODES: [u8; 3] = [NONE, 0b10, 0b00];

/// Borrowed genotypes.
#[derive(Clone, Copy, Debug)]
pub struct Genotypes<'a> {
    rows: usize,
    bytes: &'a [u8],
    missing: f64,
}

/// How many rows have 0, 1 and 2 copies, and how many are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GenotypeCounts {
    /// Rows of 0, 1 and 2 copies.
    pub copies: [u64; 3],
    /// Rows without a value.
    pub missing: u64,
}

impl GenotypeCounts {
    /// Rows with a value.
    #[must_use]
    pub fn known(&self) -> u64 {
        self.copies.iter().sum()
    }

    /// Copies of the counted allele.
    #[must_use]
    pub fn alleles(&self) -> u64 {
        self.copies[1] + 2 * self.copies[2]
    }

    /// Mean of the known values; 0 of none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.known() == 0 { 0.0 } else { self.alleles() as f64 / self.known() as f64 }
    }

    /// The rarer allele: its copies among those of both.
    #[must_use]
    pub fn minor(&self) -> u64 {
        self.alleles().min(2 * self.known() - self.alleles())
    }
}

impl<'a> Genotypes<'a> {
    /// Rows in the bytes of a file.
    ///
    /// # Panics
    ///
    /// Where there are not `rows / 4` bytes, rounded up.
    #[must_use]
    pub fn new(rows: usize, bytes: &'a [u8], missing: f64) -> Self {
        assert_eq!(bytes.len(), rows.div_ceil(4), "four rows a byte");
        Self { rows, bytes, missing }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The bytes as they are stored, the last one with whatever it has after the last row.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The number that stands for a missing value.
    #[must_use]
    pub fn missing(&self) -> f64 {
        self.missing
    }

    /// The number that each code stands for.
    #[must_use]
    pub fn levels(&self) -> [f64; 4] {
        [2.0, self.missing, 1.0, 0.0]
    }

    /// The code of a row.
    #[must_use]
    #[inline]
    pub fn code(&self, row: usize) -> u8 {
        self.bytes[row / 4] >> (2 * (row % 4)) & 3
    }

    /// How often each value occurs.
    #[must_use]
    pub fn counts(&self) -> GenotypeCounts {
        kernel::counts(*self)
    }

    /// The rows `take`, in that order.
    #[must_use]
    pub(super) fn take(&self, take: &[u32]) -> GenotypeData {
        let byte = |rows: &[u32]| {
            let code = |at: usize| rows.get(at).map_or(NONE, |row| self.code(*row as usize));
            code(0) | code(1) << 2 | code(2) << 4 | code(3) << 6
        };
        let mut bytes = Vec::with_capacity(take.len().div_ceil(4));
        let (whole, rest) = take.as_chunks::<4>();
        for rows in whole {
            let [a, b, c, d] = rows.map(|row| row as usize);
            // Four rows side by side are a byte of the file, or lie in two of them.
            bytes.push(if d == a + 3 && b == a + 1 && c == a + 2 {
                let pair = u16::from_le_bytes([self.bytes[a / 4], self.bytes[d / 4]]);
                (pair >> (2 * (a % 4))) as u8
            } else {
                self.code(a) | self.code(b) << 2 | self.code(c) << 4 | self.code(d) << 6
            });
        }
        if !rest.is_empty() {
            bytes.push(byte(rest));
        }
        GenotypeData { rows: take.len(), bytes: Held::Owned(bytes), missing: self.missing }
    }

    /// A copy, with the rest of the last byte set to code 11.
    #[must_use]
    pub(super) fn to_data(self) -> GenotypeData {
        let mut bytes = self.bytes.to_vec();
        if let Some(last) = bytes.last_mut() {
            *last |= padding(self.rows);
        }
        GenotypeData { rows: self.rows, bytes: Held::Owned(bytes), missing: self.missing }
    }
}

/// The bits of the last byte that belong to no row.
#[must_use]
pub(crate) fn padding(rows: usize) -> u8 {
    match rows % 4 {
        0 => 0,
        used => 0xff << (2 * used),
    }
}

/// Genotypes that are owned, or shared with the source that they came from.
#[derive(Clone)]
pub struct GenotypeData {
    rows: usize,
    bytes: Held,
    missing: f64,
}

#[derive(Clone)]
enum Held {
    Owned(Vec<u8>),
    Lent(SharedBytes, usize),
}

impl GenotypeData {
    /// Genotypes by their bytes in file code; `None` where there are not `rows / 4` bytes, rounded up.
    #[must_use]
    pub fn owned(rows: usize, bytes: Vec<u8>, missing: f64) -> Option<Self> {
        let fits = bytes.len() == rows.div_ceil(4);
        fits.then_some(Self { rows, bytes: Held::Owned(bytes), missing })
    }

    /// Genotypes in memory that a source keeps alive, from byte `start` on; missing values are NaN.
    #[must_use]
    pub fn lent(rows: usize, bytes: SharedBytes, start: usize) -> Option<Self> {
        let end = start.checked_add(rows.div_ceil(4))?;
        let fits = end <= (*bytes).as_ref().len();
        fits.then_some(Self { rows, bytes: Held::Lent(bytes, start), missing: f64::NAN })
    }

    /// Numbers of copies, `None` for a missing one; `None` where one is not 0, 1 or 2.
    #[must_use]
    pub fn of(copies: impl Iterator<Item = Option<u8>>) -> Option<Self> {
        let (mut rows, mut bytes) = (0, Vec::new());
        for copies in copies {
            let code = copies.map_or(Some(&MISSING), |copies| CODES.get(usize::from(copies)))?;
            if rows % 4 == 0 {
                bytes.push(0xff);
            }
            let at = 2 * (rows % 4);
            let last = bytes.last_mut()?;
            *last = *last & !(3 << at) | code << at;
            rows += 1;
        }
        Some(Self { rows, bytes: Held::Owned(bytes), missing: f64::NAN })
    }

    /// The borrowed view.
    #[must_use]
    #[inline]
    pub fn view(&self) -> Genotypes<'_> {
        let bytes = match &self.bytes {
            Held::Owned(bytes) => bytes,
            Held::Lent(bytes, start) => &(**bytes).as_ref()[*start..*start + self.rows.div_ceil(4)],
        };
        Genotypes { rows: self.rows, bytes, missing: self.missing }
    }

    /// The same with another number for missing values; no byte is copied where they are shared.
    #[must_use]
    pub(crate) fn filled(&self, missing: f64) -> Self {
        Self { missing, ..self.clone() }
    }

    /// Whether there are as many bytes as rows need.
    pub(super) fn sound(&self) -> bool {
        match &self.bytes {
            Held::Owned(bytes) => bytes.len() == self.rows.div_ceil(4),
            Held::Lent(..) => true,
        }
    }

    /// Rows, bytes and the number for missing values, of a column that owns its bytes.
    pub(super) fn into_parts(self) -> (usize, Vec<u8>, f64) {
        let bytes = match self.bytes {
            Held::Owned(bytes) => bytes,
            Held::Lent(bytes, start) => {
                (*bytes).as_ref()[start..start + self.rows.div_ceil(4)].to_vec()
            }
        };
        (self.rows, bytes, self.missing)
    }

    /// What [`GenotypeData::into_parts`] gave; `sound` says whether it fits.
    pub(super) fn from_parts((rows, bytes, missing): (usize, Vec<u8>, f64)) -> Self {
        Self { rows, bytes: Held::Owned(bytes), missing }
    }
}
