//! The number at the start of a text, at the speed that a large file needs.
//!
//! Most numbers in files are short: with a mantissa below 2^53 and at most 22 decimals,
//! `mantissa / 10^decimals` is a division of two exact doubles and so correctly rounded
//! (Clinger, PLDI 1990). Everything else goes to fast-float2, which is exact too.

const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Powers of ten up to that of eight digits.
const SHIFTS: [u64; 9] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// The value of eight digits, the first in the lowest byte: pairs are added up, then pairs of
/// pairs.
#[inline]
fn eight(digits: u64) -> u64 {
    const LOW: u64 = 0x000000FF_000000FF;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let high = (pairs & LOW).wrapping_mul(100 + (1_000_000 << 32));
    let low = ((pairs >> 16) & LOW).wrapping_mul(1 + (10_000 << 32));
    high.wrapping_add(low) >> 32
}

/// Appends the digits at `at` to a number, which wraps where they are too many; the place after
/// them.
#[inline]
pub(crate) fn digits(text: &[u8], mut at: usize, number: &mut u64) -> usize {
    while let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk()) {
        let digits = u64::from_le_bytes(*word) ^ 0x30303030_30303030;
        // The high bit of a byte is set where it is no digit.
        let others = ((digits & 0x7F7F7F7F_7F7F7F7F) + 0x76767676_76767676) | digits;
        let others = others & 0x80808080_80808080;
        if others == 0 {
            // Where all are digits the next word is looked at without waiting for this one.
            *number = number.wrapping_mul(SHIFTS[8]).wrapping_add(eight(digits));
            at += 8;
            continue;
        }
        let count = (others.trailing_zeros() / 8) as usize;
        if count > 0 {
            // What follows the digits is pushed out at the top; zeros come in before them.
            let digits = digits << (64 - 8 * count);
            *number = number.wrapping_mul(SHIFTS[count]).wrapping_add(eight(digits));
        }
        return at + count;
    }
    while let Some(digit) = text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        *number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    at
}

/// The value of the longest number at the start of `text`, and the bytes that it takes.
#[inline]
pub(crate) fn number(text: &[u8]) -> Option<(f64, usize)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let mut mantissa = 0_u64;
    let mut at = match text.get(start..start + 2) {
        // The usual fraction; the words below would make the next step wait.
        Some([digit @ b'0'..=b'9', b'.']) => {
            mantissa = u64::from(digit - b'0');
            start + 1
        }
        _ => digits(text, start, &mut mantissa),
    };
    let mut count = at - start;
    let mut decimals = 0;
    if text.get(at) == Some(&b'.') {
        let point = at + 1;
        at = digits(text, point, &mut mantissa);
        decimals = at - point;
        count += decimals;
    }
    // Nineteen digits cannot wrap a u64.
    let plain = !matches!(text.get(at), Some(b'e' | b'E'));
    if plain && (1..=19).contains(&count) && mantissa < 1 << 53 {
        let value = mantissa as f64 / POWERS[decimals];
        return Some((if negative { -value } else { value }, at));
    }
    fast_float2::parse_partial(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_double_comes_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            for text in [format!("{value}"), format!("{value:e}"), format!("{value:?}")] {
                let (got, used) = number(format!("{text},1").as_bytes()).unwrap();
                prop_assert_eq!(got.to_bits(), bits);
                prop_assert_eq!(used, text.len());
            }
        }

        #[test]
        fn short_decimals_are_rounded_as_the_standard_library_rounds_them(
            text in "-?[0-9]{1,18}(\\.[0-9]{0,12})?([eE][-+]?[0-9]{1,2})?"
        ) {
            let (got, used) = number(text.as_bytes()).unwrap();
            prop_assert_eq!(used, text.len());
            prop_assert_eq!(got.to_bits(), text.parse::<f64>().unwrap().to_bits());
        }

        #[test]
        fn any_bytes_are_a_number_or_not(text in proptest::collection::vec(any::<u8>(), 0..30)) {
            if let Some((_, used)) = number(&text) {
                prop_assert!(used > 0 && used <= text.len());
            }
        }
    }
}
