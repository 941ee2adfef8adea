//! Integers as elements of the dense kernels: each widens to f64 without loss, so that a kernel
//! gives the digits that it gives for the same numbers in f32 or f64.

use super::simd::{Element, LANES, Vector, on_best};

macro_rules! elements {
    ($($integer:ty),*) => {
        $(impl Element for $integer {
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }

            #[inline(always)]
            fn load<V: Vector>(v: V, x: &[Self; LANES]) -> V::F {
                v.load64(&x.map(f64::from))
            }
        })*
    };
}

elements!(u8, i8, u16, i16, i32);

/// Integers whose sums and squares can be added as integers.
pub trait Integer: Element + Ord + Into<i64> {
    /// `sum x_i` and `sum x_i^2`; `None` where a sum might overflow.
    fn sums(x: &[Self]) -> Option<(i64, i64)>;
}

/// Rows whose sums fit four bytes for one-byte integers: `2^15 255^2 < 2^31`.
const CHUNK: usize = 1 << 15;

macro_rules! integers {
    ($($integer:ty, $within:ty);*) => {
        $(impl Integer for $integer {
            fn sums(x: &[Self]) -> Option<(i64, i64)> {
                let chunk = |x: &[Self]| {
                    let (mut sum, mut square): ($within, $within) = (0, 0);
                    for x in x {
                        let x = <$within>::from(*x);
                        (sum, square) = (sum + x, square + x * x);
                    }
                    (i64::from(sum), i64::from(square))
                };
                Some(on_best!(_v => {
                    x.chunks(CHUNK).map(chunk).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
                }))
            }
        })*
    };
}

integers!(u8, i32; i8, i32; u16, i64; i16, i64);

impl Integer for i32 {
    fn sums(_: &[Self]) -> Option<(i64, i64)> {
        None
    }
}

/// `sum (x_i - shift)` and `sum (x_i - shift)^2` in integers, where that gives the digits of
/// [`super::kernel::moments`]: up to 2^53 every sum of either is exact.
pub fn moments<T: Integer>(x: &[T], shift: f64) -> Option<(f64, f64)> {
    let about = shift as i64;
    if about as f64 != shift || about.abs() > 1 << 16 || x.len() > 1 << 20 {
        return None;
    }
    let (sum, square) = T::sums(x)?;
    let n = x.len() as i64;
    let (first, second) = (sum - n * about, square - 2 * about * sum + n * about * about);
    (second <= 1 << 53).then_some((first as f64, second as f64))
}

/// The least and the greatest.
pub fn ends<T: Integer>(x: &[T]) -> Option<(i64, i64)> {
    let first = *x.first()?;
    let (low, high) = on_best!(_v => {
        x.iter().fold((first, first), |(low, high), x| (low.min(*x), high.max(*x)))
    });
    Some((low.into(), high.into()))
}

/// A bit a value, least significant first: whether it is `one`.
pub fn bits<T: Element + PartialEq>(x: &[T], one: T) -> Vec<u64> {
    let mut words = Vec::with_capacity(x.len().div_ceil(64));
    let (whole, tail) = x.as_chunks::<64>();
    on_best!(v => {
        for x in whole {
            let same: [u8; 64] = std::array::from_fn(|i| u8::from(x[i] == one));
            words.push(v.equal(&same, 1));
        }
    });
    if !tail.is_empty() {
        let bit = |(i, x): (usize, &T)| u64::from(*x == one) << i;
        words.push(tail.iter().enumerate().map(bit).fold(0, |a, b| a | b));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::kernel;

    #[test]
    fn moments_in_integers_have_the_digits_of_those_in_floats() {
        for n in [1, 7, 64, 1000, 40_000] {
            let x: Vec<u8> = (0..n as u32).map(|i| (i.wrapping_mul(37) % 251) as u8).collect();
            let y: Vec<i16> = x.iter().map(|x| 113 * (i16::from(*x) - 100)).collect();
            let z: Vec<u16> = x.iter().map(|x| 257 * u16::from(*x)).collect();
            let w: Vec<i8> = x.iter().map(|x| (*x ^ 0x80) as i8).collect();
            assert_eq!(moments(&x, 3.0).unwrap(), kernel::moments(&x, 3.0));
            assert_eq!(moments(&y, -300.0).unwrap(), kernel::moments(&y, -300.0));
            assert_eq!(moments(&z, 65_535.0).unwrap(), kernel::moments(&z, 65_535.0));
            assert_eq!(moments(&w, -128.0).unwrap(), kernel::moments(&w, -128.0));
        }
        assert_eq!(moments(&[1_u8], 0.5), None);
    }

    #[test]
    fn bits_and_ends_are_those_of_a_loop() {
        for n in [0, 1, 63, 64, 65, 200] {
            let x: Vec<i16> = (0..n).map(|i| [0, 1, 1, -7][i as usize * i as usize % 4]).collect();
            let words = bits(&x, 1);
            assert_eq!(words.len(), x.len().div_ceil(64));
            let bit = |i: usize| words[i / 64] >> (i % 64) & 1 == 1;
            assert!(x.iter().enumerate().all(|(i, x)| bit(i) == (*x == 1)));
            let plain = x.iter().min().zip(x.iter().max());
            assert_eq!(ends(&x), plain.map(|(a, b)| (i64::from(*a), i64::from(*b))));
        }
    }
}
