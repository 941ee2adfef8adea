//! Tail probabilities of the laws that tests need, and their natural logarithms.
//!
//! ```text
//! normal two-sided   p = erfc(|z| / sqrt 2)
//! chi-squared        p = Q(df / 2, x / 2)                    regularised upper incomplete gamma
//! Student two-sided  p = I(df / (df + t^2); df / 2, 1 / 2)   regularised incomplete beta
//! F                  p = I(d2 / (d2 + d1 f); d2 / 2, d1 / 2)
//! ```
//!
//! The logarithm is computed first, so that it is right where the probability itself is below the
//! smallest `f64`. Series and continued fractions as in Abramowitz and Stegun 6.5.29, 6.5.31,
//! 7.1.14 and 26.5.8, the fractions by Lentz's method. The factor before a fraction is taken from
//! its largest value, as Loader (2000) does for the binomial law, so that large degrees of freedom
//! lose no digits. Relative error of a probability about 1e-15 times the size of its logarithm, and
//! of Student's t and F at most 1e-16 times their larger degrees of freedom.

use libm::{erfc, lgamma};

const TINY: f64 = 1e-300;
const EPSILON: f64 = 1e-16;
const MOST_TERMS: usize = 10_000;
const HALF_LN_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// `P(|Z| >= |z|)` for a standard normal `Z`.
#[must_use]
pub fn normal_two_sided(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// The logarithm of [`normal_two_sided`].
#[must_use]
pub fn ln_normal_two_sided(z: f64) -> f64 {
    let z = z.abs();
    let x = z / std::f64::consts::SQRT_2;
    if x < 20.0 {
        return erfc(x).ln();
    }
    if x.is_infinite() {
        return f64::NEG_INFINITY;
    }
    // erfc x = exp(-x^2) / (sqrt pi (x + (1/2) / (x + 1 / (x + (3/2) / ...)))), from its far end.
    let fraction = (1..=40).rev().fold(x, |below, m| x + 0.5 * f64::from(m) / below);
    -0.5 * z * z - fraction.ln() - 0.5 * std::f64::consts::PI.ln()
}

/// The `z` with `P(|Z| >= z) = alpha`, for `alpha` in (0, 1).
#[must_use]
pub fn normal_cutoff(alpha: f64) -> f64 {
    // Bisection to a start, then Newton steps on the tail itself: no table of coefficients.
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if normal_two_sided(middle) > alpha { low = middle } else { high = middle }
    }
    let mut z = 0.5 * (low + high);
    for _ in 0..3 {
        let slope = (2.0 / std::f64::consts::PI).sqrt() * (-0.5 * z * z).exp();
        let step = (normal_two_sided(z) - alpha) / slope;
        if !step.is_finite() {
            break;
        }
        z += step;
    }
    z
}

/// `P(X >= x)` for a chi-squared `X` with `df` degrees of freedom.
#[must_use]
pub fn chi_squared_tail(x: f64, df: f64) -> f64 {
    ln_chi_squared_tail(x, df).exp()
}

/// The logarithm of [`chi_squared_tail`].
#[must_use]
pub fn ln_chi_squared_tail(x: f64, df: f64) -> f64 {
    if x <= 0.0 { 0.0 } else { ln_upper_gamma(0.5 * df, 0.5 * x) }
}

/// `P(|T| >= |t|)` for Student's `T` with `df` degrees of freedom.
#[must_use]
pub fn student_two_sided(t: f64, df: f64) -> f64 {
    ln_student_two_sided(t, df).exp()
}

/// The logarithm of [`student_two_sided`].
#[must_use]
pub fn ln_student_two_sided(t: f64, df: f64) -> f64 {
    ln_share(df, t * t, 0.5 * df, 0.5)
}

/// The `t` with `P(|T| >= t) = alpha` for Student's `T` with `df` degrees of freedom, for `alpha` in
/// (0, 1).
#[must_use]
pub fn student_cutoff(alpha: f64, df: f64) -> f64 {
    let want = alpha.ln();
    let (mut low, mut high) = (0.0, 1.0);
    while ln_student_two_sided(high, df) > want && high < 1e300 {
        (low, high) = (high, 2.0 * high);
    }
    // Halving ends where the two are neighbours.
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return middle;
        }
        if ln_student_two_sided(middle, df) > want { low = middle } else { high = middle }
    }
}

/// `P(X >= f)` for Fisher's F with `d1` and `d2` degrees of freedom.
#[must_use]
pub fn f_tail(f: f64, d1: f64, d2: f64) -> f64 {
    ln_f_tail(f, d1, d2).exp()
}

/// The logarithm of [`f_tail`].
#[must_use]
pub fn ln_f_tail(f: f64, d1: f64, d2: f64) -> f64 {
    if f <= 0.0 { 0.0 } else { ln_share(d2, d1 * f, 0.5 * d2, 0.5 * d1) }
}

/// The logarithm of the regularised upper incomplete gamma function `Q(a, x)`.
fn ln_upper_gamma(a: f64, x: f64) -> f64 {
    // ln(x^a exp(-x) / Gamma(a)), about x = a.
    let far = (x - a) / a;
    let front = 0.5 * a.ln() - a * (far - far.ln_1p()) - HALF_LN_TWO_PI - stirling_error(a);
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        for _ in 0..MOST_TERMS {
            n += 1.0;
            term *= x / n;
            sum += term;
            if term < sum * EPSILON {
                break;
            }
        }
        return (-(front.exp() * sum).min(1.0)).ln_1p();
    }
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / TINY, 1.0 / b);
    let mut h = d;
    for i in 1..MOST_TERMS {
        let an = -(i as f64) * (i as f64 - a);
        b += 2.0;
        d = 1.0 / away(an * d + b);
        c = away(b + an / c);
        let step = c * d;
        h *= step;
        if (step - 1.0).abs() < EPSILON {
            break;
        }
    }
    (front + h.ln()).min(0.0)
}

/// The logarithm of the regularised incomplete beta function `I(u / (u + v); a, b)`.
fn ln_share(u: f64, v: f64, a: f64, b: f64) -> f64 {
    if u <= 0.0 || v.is_infinite() {
        return f64::NEG_INFINITY;
    }
    if v <= 0.0 {
        return 0.0;
    }
    // ln(x^a y^b / B(a, b)) about x = a / (a + b): x = u / (u + v), y = v / (u + v).
    let errors = stirling_error(a + b) - stirling_error(a) - stirling_error(b);
    let around = 0.5 * (a * b / (a + b)).ln() - HALF_LN_TWO_PI + errors;
    let front =
        around - a * (ln_ratio(a * v, b * u, a + b, u)) - b * ln_ratio(b * u, a * v, a + b, v);
    let x = u / (u + v);
    if x < (a + 1.0) / (a + b + 2.0) {
        (front + (beta_fraction(x, a, b) / a).ln()).min(0.0)
    } else {
        let rest = front.exp() * beta_fraction(v / (u + v), b, a) / b;
        (-rest.min(1.0)).ln_1p()
    }
}

/// `ln(1 + (p - q) / (s w))`.
fn ln_ratio(p: f64, q: f64, s: f64, w: f64) -> f64 {
    ((p - q) / s / w).ln_1p()
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut h = d;
    for m in 1..MOST_TERMS {
        let m = m as f64;
        for top in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / away(1.0 + top * d);
            c = away(1.0 + top / c);
            h *= c * d;
        }
        if (c * d - 1.0).abs() < EPSILON {
            break;
        }
    }
    h
}

/// `ln Gamma(a) - ((a - 1/2) ln a - a + ln(2 pi) / 2)`: what Stirling's formula leaves.
pub(crate) fn stirling_error(a: f64) -> f64 {
    if a < 16.0 {
        return lgamma(a) - ((a - 0.5) * a.ln() - a + HALF_LN_TWO_PI);
    }
    const TERMS: [f64; 6] =
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];
    let square = 1.0 / (a * a);
    TERMS.iter().rev().fold(0.0, |sum, term| sum * square + term) / a
}

fn away(x: f64) -> f64 {
    if x.abs() < TINY { TINY } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-10 * want.abs(), "{got} {want}");
    }

    /// Expected numbers: scipy.stats 1.17, norm.sf, chi2.sf, t.sf and f.sf.
    #[test]
    fn tails_agree_with_scipy() {
        near(normal_two_sided(1.96), 0.049_995_790_296_440_87);
        near(normal_two_sided(8.0), 1.244_192_114_854_356_8e-15);
        near(normal_cutoff(0.01), 2.575_829_303_548_900_4);
        near(normal_cutoff(0.05), 1.959_963_984_540_054);
        near(chi_squared_tail(3.841_458_820_694_124, 1.0), 0.05);
        near(chi_squared_tail(100.0, 3.0), 1.554_159_431_389_604_3e-21);
        near(chi_squared_tail(2.0, 10.0), 0.996_340_153_172_656_3);
        near(student_two_sided(2.0, 5.0), 0.101_939_478_829_858_35);
        near(student_two_sided(12.0, 100.0), 4.395_087_715_604_393e-21);
        near(f_tail(4.0, 2.0, 30.0), 0.028_844_623_295_696_835);
        assert_eq!(chi_squared_tail(0.0, 2.0), 1.0);
    }

    /// Closed forms: chi-squared of 2 and 4 degrees of freedom, Student's t of 1 and 2, F of 2 and
    /// d2 and of d1 and 2.
    #[test]
    fn logarithms_hold_where_probabilities_end() {
        let close = |got: f64, want: f64| {
            assert!((got - want).abs() <= 1e-12 * want.abs().max(1.0), "{got} {want}");
        };
        for x in [1e-3, 1.0, 40.0, 5000.0, 1e7] {
            close(ln_chi_squared_tail(x, 2.0), -0.5 * x);
            close(ln_chi_squared_tail(x, 4.0), (0.5 * x).ln_1p() - 0.5 * x);
            for df in [1.0, 7.0, 500.0, 2e6] {
                close(ln_f_tail(x, 2.0, df), -0.5 * df * (2.0 * x / df).ln_1p());
                let below = -0.5 * df * (2.0 / (df * x)).ln_1p();
                let above =
                    if below > -0.7 { (-below.exp_m1()).ln() } else { (-below.exp()).ln_1p() };
                close(ln_f_tail(x, df, 2.0), above);
            }
            close(
                ln_student_two_sided(x, 1.0),
                ((1.0 / x).atan() * std::f64::consts::FRAC_2_PI).ln(),
            );
            let (root, square) = ((2.0 + x * x).sqrt(), x * x);
            close(ln_student_two_sided(x, 2.0), (2.0 / (root * (root + x))).ln());
            // The square of Student's t is an F of 1 and df.
            close(ln_student_two_sided(x, 12.0), ln_f_tail(square, 1.0, 12.0));
        }
        // scipy.special.log_ndtr(-z) + ln 2.
        for (z, want) in [
            (1.0, -1.147874464449318),
            (10.0, -52.53813796995253),
            (27.0, -368.02299528809647),
            (30.0, -453.6280967757833),
            (100.0, -5004.831061513645),
        ] {
            close(ln_normal_two_sided(z), want);
            // A t of many degrees of freedom is nearly normal.
            let apart = ln_student_two_sided(z, 1e8) - want;
            assert!(apart.abs() <= 1e-9 + 1e-8 * z.powi(4), "{z}: {apart}");
        }
        assert_eq!(ln_normal_two_sided(f64::INFINITY), f64::NEG_INFINITY);
        near(student_cutoff(0.05, 7.0), 2.364624251592784);
    }
}
