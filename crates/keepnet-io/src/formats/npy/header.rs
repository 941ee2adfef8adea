//! The header of a NumPy file, versions 1 to 3, and the number types it can name.
//!
//! ```text
//! "\x93NUMPY" major minor length(u16 in version 1, else u32) {'descr': '<f4', 'fortran_order':
//! False, 'shape': (3, 4), }
//! ```
//!
//! Source: NumPy, numpy/lib/format, "A simple file format for NumPy arrays".

use std::io::Read;

use keepnet::{Error, NumberKind, Result};

use crate::input::schema::ColumnKind;

/// What the header says.
pub(crate) struct Header {
    pub(crate) text: String,
    pub(crate) dtype: Dtype,
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<u64>,
    /// Offset of the first value.
    pub(crate) start: usize,
}

/// A number type of NumPy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dtype {
    letter: u8,
    pub(crate) size: usize,
    big: bool,
}

impl Header {
    pub(crate) fn read(mut file: impl Read) -> Result<Self> {
        let short = || Error::Data("the file ends inside the npy header".into());
        let mut lead = [0; 8];
        file.read_exact(&mut lead).map_err(|_| short())?;
        if lead[..6] != *b"\x93NUMPY" {
            return Err(Error::Data("this is not a npy file (its first bytes are others)".into()));
        }
        let (length, size) = if lead[6] == 1 {
            let mut bytes = [0; 2];
            file.read_exact(&mut bytes).map_err(|_| short())?;
            (usize::from(u16::from_le_bytes(bytes)), 2)
        } else {
            let mut bytes = [0; 4];
            file.read_exact(&mut bytes).map_err(|_| short())?;
            (u32::from_le_bytes(bytes) as usize, 4)
        };
        if !(1..=3).contains(&lead[6]) {
            return Err(Error::Data(format!("npy version {} is not known", lead[6])));
        }
        let mut text = Vec::new();
        // Grows with what is there, so that a length that lies costs nothing.
        file.take(length as u64).read_to_end(&mut text).map_err(|_| short())?;
        if text.len() < length {
            return Err(short());
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let start = 8 + size + length;
        Self::parse(text, start)
    }

    fn parse(text: String, start: usize) -> Result<Self> {
        let descr = value(&text, "descr")?;
        let quoted = |c: char| c == '\'' || c == '"';
        let Some(name) = descr.strip_prefix(quoted).and_then(|d| d.split(quoted).next()) else {
            return Err(Error::Unsupported(
                "a npy array of records is not read; save a plain array of numbers".into(),
            ));
        };
        let dtype = Dtype::parse(name)?;
        let fortran = value(&text, "fortran_order")?.starts_with("True");
        let shape = value(&text, "shape")?;
        let inner = shape.strip_prefix('(').and_then(|s| s.split(')').next());
        let inner = inner.ok_or_else(|| broken("shape"))?;
        let sizes = inner.split(',').map(str::trim).filter(|s| !s.is_empty());
        let shape: Option<Vec<u64>> = sizes.map(|s| s.trim_end_matches('L').parse().ok()).collect();
        let shape = shape.ok_or_else(|| broken("shape"))?;
        Ok(Self { text, dtype, fortran, shape, start })
    }

    /// Bytes that the whole file should have.
    fn expected(&self) -> Option<u64> {
        let mut size = self.dtype.size as u64;
        for side in &self.shape {
            size = size.checked_mul(*side)?;
        }
        // A map and its slices are counted in isize.
        size.checked_add(self.start as u64).filter(|size| *size <= isize::MAX as u64)
    }

    /// Rows and columns of an array of one or two dimensions, none of them empty, all of which
    /// lies in a file of `length` bytes.
    pub(crate) fn rows_columns(&self, length: u64) -> Result<(usize, usize)> {
        let (rows, columns) = match self.shape[..] {
            [rows] => (rows, 1),
            [rows, columns] => (rows, columns),
            _ => {
                return Err(Error::Unsupported(format!(
                    "the array has {} dimensions, expected samples by features",
                    self.shape.len()
                )));
            }
        };
        if rows == 0 || columns == 0 {
            return Err(Error::Data(format!("the shape {:?} has no values", self.shape)));
        }
        let expected = self.expected().ok_or_else(|| {
            Error::Data(format!("the shape {:?} is too large for a file", self.shape))
        })?;
        if length < expected {
            return Err(Error::Data(format!(
                "the file is truncated: {expected} bytes expected, {length} found"
            )));
        }
        // Neither is zero and their product fits, so each of them does.
        Ok((rows as usize, columns as usize))
    }
}

fn broken(key: &str) -> Error {
    Error::Data(format!("the npy header is damaged: no valid {key:?}"))
}

/// What follows `'key':` in the header's dictionary.
fn value<'a>(text: &'a str, key: &str) -> Result<&'a str> {
    let single = format!("'{key}'");
    let double = format!("\"{key}\"");
    let found = text.find(&single).or_else(|| text.find(&double)).ok_or_else(|| broken(key))?;
    let rest = text[found + single.len()..].trim_start();
    rest.strip_prefix(':').map(str::trim_start).ok_or_else(|| broken(key))
}

/// Runs one expression with the little- or big-endian reader of the number type.
macro_rules! each_type {
    ($dtype:expr, $from:ident, $size:ident => $body:expr, else $other:expr) => {{
        macro_rules! arm {
            ($t:ty) => {{
                const $size: usize = size_of::<$t>();
                if $dtype.big {
                    let $from = |b: [u8; $size]| <$t>::from_be_bytes(b);
                    $body
                } else {
                    let $from = |b: [u8; $size]| <$t>::from_le_bytes(b);
                    $body
                }
            }};
        }
        match ($dtype.letter, $dtype.size) {
            (b'f', 4) => arm!(f32),
            (b'f', 8) => arm!(f64),
            (b'i', 1) => arm!(i8),
            (b'i', 2) => arm!(i16),
            (b'i', 4) => arm!(i32),
            (b'i', 8) => arm!(i64),
            (b'u' | b'b', 1) => arm!(u8),
            (b'u', 2) => arm!(u16),
            (b'u', 4) => arm!(u32),
            (b'u', 8) => arm!(u64),
            _ => $other,
        }
    }};
}

impl Dtype {
    pub(crate) fn parse(name: &str) -> Result<Self> {
        let refuse = || {
            Error::Unsupported(format!(
                "the number type {name:?} is not read; save the array as f4, f8, b1, or an \
                 integer of 1 to 8 bytes"
            ))
        };
        let bytes = name.as_bytes();
        let (order, letter, size) = match bytes {
            [order @ (b'<' | b'>' | b'|' | b'='), letter, size @ ..] => (*order, *letter, size),
            [letter, size @ ..] => (b'=', *letter, size),
            [] => return Err(refuse()),
        };
        let size = match size {
            [digit] => usize::from(digit.wrapping_sub(b'0')),
            _ => return Err(refuse()),
        };
        let known = match letter {
            b'f' => matches!(size, 4 | 8),
            b'i' | b'u' => matches!(size, 1 | 2 | 4 | 8),
            b'b' => size == 1,
            _ => false,
        };
        let native = cfg!(target_endian = "big");
        let big = order == b'>' || (matches!(order, b'=' | b'|') && native);
        if known { Ok(Self { letter, size, big: big && size > 1 }) } else { Err(refuse()) }
    }

    pub(crate) fn kind(self) -> ColumnKind {
        crate::formats::npy::table::kind(self.letter)
    }

    /// Whether the bytes in the file are floats as this machine holds them.
    pub(crate) fn native_float(self) -> bool {
        self.letter == b'f' && self.big == cfg!(target_endian = "big")
    }

    /// The type as the engine reads it in place.
    pub(crate) fn in_place(self) -> Option<NumberKind> {
        let kind = match (self.letter, self.size) {
            (b'f', 4) => NumberKind::F32,
            (b'f', 8) => NumberKind::F64,
            (b'u' | b'b', 1) => NumberKind::U8,
            (b'i', 1) => NumberKind::I8,
            (b'u', 2) => NumberKind::U16,
            (b'i', 2) => NumberKind::I16,
            (b'i', 4) => NumberKind::I32,
            _ => return None,
        };
        (self.size == 1 || self.big == cfg!(target_endian = "big")).then_some(kind)
    }

    /// Whether the type is of floats.
    pub(crate) fn float(self) -> bool {
        self.letter == b'f'
    }

    /// Whether every value of the type survives f32.
    pub(crate) fn fits_f32(self) -> bool {
        match self.letter {
            b'f' => self.size == 4,
            _ => self.size <= 2,
        }
    }

    /// Appends the values as f64.
    pub(crate) fn widen(self, bytes: &[u8], out: &mut Vec<f64>) {
        each_type!(self, from, SIZE => {
            out.extend(bytes.as_chunks::<SIZE>().0.iter().map(|b| from(*b) as f64));
        }, else unreachable!("the type was checked when the header was read"));
    }

    /// Appends the values as f32; `false` where that would lose something.
    pub(crate) fn narrow(self, bytes: &[u8], out: &mut Vec<f32>) -> bool {
        if self.letter == b'f' && self.size == 8 {
            return false;
        }
        let mut exact = true;
        each_type!(self, from, SIZE => {
            out.extend(bytes.as_chunks::<SIZE>().0.iter().map(|b| {
                let (value, narrow) = (from(*b) as f64, from(*b) as f32);
                exact &= f64::from(narrow) == value || value.is_nan();
                narrow
            }));
        }, else unreachable!("the type was checked when the header was read"));
        exact
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_all_versions_are_read() {
        let dict = "{'descr': '>i2', 'fortran_order': True, 'shape': (3, 4), }\n";
        for version in 1..=3_u8 {
            let mut bytes = b"\x93NUMPY".to_vec();
            bytes.extend([version, 0]);
            match version {
                1 => bytes.extend((dict.len() as u16).to_le_bytes()),
                _ => bytes.extend((dict.len() as u32).to_le_bytes()),
            }
            bytes.extend(dict.as_bytes());
            let header = Header::read(&bytes[..]).unwrap();
            assert_eq!(header.start, bytes.len());
            assert_eq!(header.shape, [3, 4]);
            assert!(header.fortran);
            assert_eq!(header.dtype, Dtype { letter: b'i', size: 2, big: true });
            for cut in 0..bytes.len() {
                assert!(Header::read(&bytes[..cut]).is_err());
            }
        }
    }

    #[test]
    fn values_are_converted_by_type_and_byte_order() {
        let mut wide = Vec::new();
        Dtype::parse(">i2").unwrap().widen(&[0xff, 0xfe, 1, 0], &mut wide);
        assert_eq!(wide, [-2.0, 256.0]);
        let mut narrow = Vec::new();
        let big = Dtype::parse("<u4").unwrap();
        assert!(big.narrow(&(1_u32 << 24).to_le_bytes(), &mut narrow));
        assert!(!big.narrow(&((1_u32 << 24) + 1).to_le_bytes(), &mut narrow));
        assert!(Dtype::parse("<f2").unwrap_err().to_string().contains("\"<f2\""));
    }
}
