//! Counts of set bits, with the processor's own instruction where there is one.

use super::simd::on_best;

/// Bits set in `a`.
#[must_use]
pub fn count_ones(a: &[u64]) -> u64 {
    on_best!(_s => {
        let mut sum = 0;
        for a in a {
            sum += u64::from(a.count_ones());
        }
        sum
    })
}

/// Bits set in both `a` and `b`.
#[must_use]
pub fn count_and(a: &[u64], b: &[u64]) -> u64 {
    debug_assert_eq!(a.len(), b.len());
    on_best!(_s => {
        let mut sum = 0;
        for (a, b) in a.iter().zip(b) {
            sum += u64::from((a & b).count_ones());
        }
        sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_single_bits() {
        let a: Vec<u64> = (0..37u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let b: Vec<u64> = a.iter().map(|a| a.rotate_left(13)).collect();
        let bit = |x: &[u64], i: usize| x[i / 64] >> (i % 64) & 1 == 1;
        let both = (0..37 * 64).filter(|i| bit(&a, *i) && bit(&b, *i)).count() as u64;
        let ones = (0..37 * 64).filter(|i| bit(&a, *i)).count() as u64;
        assert_eq!((count_ones(&a), count_and(&a, &b), count_ones(&[])), (ones, both, 0));
    }
}
