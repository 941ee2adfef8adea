//! Dense columns of integers, in the width that they came in.

use serde::{Deserialize, Serialize};

/// The type of the numbers of a dense column in memory that a source shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// Four bytes, floating point.
    F32,
    /// Eight bytes, floating point.
    F64,
    /// One byte, not negative.
    U8,
    /// One byte.
    I8,
    /// Two bytes, not negative.
    U16,
    /// Two bytes.
    I16,
    /// Four bytes.
    I32,
}

impl NumberKind {
    /// Bytes of a number.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::F32 | Self::I32 => 4,
            Self::F64 => 8,
        }
    }
}

/// The integers of a dense column. None is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Whole {
    /// 0 to 255.
    U8(Vec<u8>),
    /// -128 to 127.
    I8(Vec<i8>),
    /// 0 to 65,535.
    U16(Vec<u16>),
    /// -32,768 to 32,767.
    I16(Vec<i16>),
    /// Four bytes.
    I32(Vec<i32>),
}

/// Borrowed [`Whole`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WholeRef<'a> {
    /// 0 to 255.
    U8(&'a [u8]),
    /// -128 to 127.
    I8(&'a [i8]),
    /// 0 to 65,535.
    U16(&'a [u16]),
    /// -32,768 to 32,767.
    I16(&'a [i16]),
    /// Four bytes.
    I32(&'a [i32]),
}

/// Runs one expression for the integer type.
macro_rules! each_integer {
    ($of:ident, $value:expr, $x:ident => $body:expr) => {
        match $value {
            $of::U8($x) => $body,
            $of::I8($x) => $body,
            $of::U16($x) => $body,
            $of::I16($x) => $body,
            $of::I32($x) => $body,
        }
    };
    ($of:ident, $value:expr, $x:ident => $body:expr, into $out:ident) => {
        match $value {
            $of::U8($x) => $out::U8($body),
            $of::I8($x) => $out::I8($body),
            $of::U16($x) => $out::U16($body),
            $of::I16($x) => $out::I16($body),
            $of::I32($x) => $out::I32($body),
        }
    };
}
pub(crate) use each_integer;

impl Whole {
    /// Numbers in the narrowest type of integers, where all of them are integers of at most four
    /// bytes. Negative zero is none: it would come back as zero.
    #[must_use]
    pub fn of<T: Copy + Into<f64>>(values: &[T]) -> Option<Self> {
        let (mut low, mut high, mut exact) = (0, 0, true);
        for v in values {
            let v: f64 = (*v).into();
            let whole = v as i32;
            exact &= f64::from(whole).to_bits() == v.to_bits();
            (low, high) = (whole.min(low), whole.max(high));
        }
        if !exact {
            return None;
        }
        let all = || values.iter().map(|v| (*v).into() as i32);
        // The casts lose nothing: both ends were compared with the type.
        Some(match (low, high) {
            (0, ..=0xff) => Self::U8(all().map(|v| v as u8).collect()),
            (-0x80.., ..=0x7f) => Self::I8(all().map(|v| v as i8).collect()),
            (0, ..=0xffff) => Self::U16(all().map(|v| v as u16).collect()),
            (-0x8000.., ..=0x7fff) => Self::I16(all().map(|v| v as i16).collect()),
            _ => Self::I32(all().collect()),
        })
    }

    /// The borrowed integers.
    #[must_use]
    pub fn view(&self) -> WholeRef<'_> {
        each_integer!(Whole, self, x => x, into WholeRef)
    }
}

impl WholeRef<'_> {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        each_integer!(WholeRef, self, x => x.len())
    }

    /// Whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        each_integer!(WholeRef, self, x => size_of_val(*x))
    }

    /// A copy.
    #[must_use]
    pub fn to_whole(&self) -> Whole {
        each_integer!(WholeRef, self, x => x.to_vec(), into Whole)
    }

    /// A copy of the values at some places.
    pub(super) fn take(&self, at: impl Iterator<Item = usize>) -> Whole {
        each_integer!(WholeRef, self, x => at.map(|i| x[i]).collect(), into Whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_the_narrowest_type_that_holds_them() {
        let (least, most) = (f64::from(i32::MIN), f64::from(i32::MAX));
        let cases: [(&[f64], usize); 9] = [
            (&[0.0, 255.0], 1),
            (&[-128.0, 127.0], 1),
            (&[-1.0, 128.0], 2),
            (&[256.0, 65_535.0], 2),
            (&[-1.0, 65_535.0], 4),
            (&[-32_768.0, 32_767.0], 2),
            (&[least, most], 4),
            (&[65_536.0], 4),
            (&[7.0], 1),
        ];
        for (values, size) in cases {
            let whole = Whole::of(values).unwrap();
            assert_eq!(whole.view().bytes(), size * values.len(), "{values:?}");
            let back: Vec<f64> =
                each_integer!(Whole, &whole, x => x.iter().map(|v| f64::from(*v)).collect());
            assert_eq!(back, values);
        }
        for not in [most + 1.0, least - 1.0, 0.5, -0.0, f64::NAN, f64::INFINITY, 1e300] {
            assert!(Whole::of(&[1.0, not]).is_none(), "{not}");
        }
    }
}
