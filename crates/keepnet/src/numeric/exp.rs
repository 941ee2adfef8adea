//! The exponential in loops that the compiler turns into vector code.
//!
//! ```text
//! exp(x) = 2^k exp(r),   k = round(x / ln 2),   |r| = |x - k ln 2| <= ln 2 / 2
//! ```
//!
//! and `exp(r)` by its series, whose fourteenth term is below half a unit in the last place. There
//! is no branch and no table, so four rows are computed at once where a call takes one. Every
//! operation is exact or correctly rounded, so the digits are the same on any processor.

/// Adding this rounds to an integer and leaves that integer in the lowest bits.
const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52
const LN2: (f64, f64) = (6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10);
/// Below this the result leaves the range of normal numbers.
const LEAST: f64 = -708.0;

/// Reciprocal factorials, the highest first.
const SERIES: [f64; 14] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// `exp(x)` of `x <= 0`, to two units in the last place; for use under `on_best!`.
#[inline(always)]
pub(crate) fn exp_down(x: f64) -> f64 {
    // Written so that NaN stays NaN.
    let x = if x < LEAST { LEAST } else { x };
    let rounded = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = rounded - ROUND;
    let r = k.mul_add(-LN2.1, k.mul_add(-LN2.0, x));
    let mut sum = SERIES[0];
    for term in &SERIES[1..] {
        sum = sum.mul_add(r, *term);
    }
    // The exponent field of 2^k. The shift drops all bits above the lowest ones.
    let power = f64::from_bits((rounded.to_bits() << 52).wrapping_add(1023 << 52));
    sum * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_exponential_to_two_units_in_the_last_place() {
        for i in 0..200_000 {
            let x = -f64::from(i) * 0.00354;
            let (got, want) = (exp_down(x), x.exp());
            assert!((got - want).abs() <= 2.0 * f64::EPSILON * want, "{x}: {got} {want}");
        }
        assert_eq!(exp_down(0.0), 1.0);
        assert!(exp_down(f64::NAN).is_nan());
        assert!(exp_down(-1e300) < 1e-307 && exp_down(f64::NEG_INFINITY) >= 0.0);
    }
}
