//! Bounds on the expected number of false features of stability selection.
//!
//! With `q` features selected in the mean of `2 B` halves, `p` tested, `theta = q / p` and features
//! selected by a share of at least `tau` of the halves, the expected number of selected features
//! whose chance of selection is at most `theta` is at most
//!
//! ```text
//! mb         q^2 / ((2 tau - 1) p)
//! unimodal   C q^2 / p,  C = 1 / (2 (2 tau - 1 - 1/(2B)))             tau <= 3/4
//!                        C = 4 (1 - tau + 1/(2B)) / (1 + 1/B)         tau > 3/4
//!            where theta <= 1/sqrt 3 and tau > min(1/2 + theta^2, 1/2 + 1/(2B) + 3 theta^2 / 4)
//! r-concave  p min(D(theta^2, 2 tau - 1, B, -1/2), D(theta, tau, 2B, -1/4))
//! ```
//!
//! `D(eta, t, B, r)` is the largest `P(X >= t)` of an r-concave law on `{0, 1/B, ..., 1}` with mean
//! `eta`: the maximum over `k` and `a` of
//!
//! ```text
//! 1 - (k + 1 - eta B) sum_{i < tB} (a + i)^(1/r) / sum_{i <= k} (k + 1 - i)(a + i)^(1/r)
//! ```
//!
//! Meinshausen and Bühlmann, JRSS-B 72 (2010), theorem 1; Shah and Samworth, JRSS-B 75 (2013),
//! theorem 2 and appendix.

/// The three bounds; `None` where the condition of one does not hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Needs exchangeable noise, and no shape.
    pub mb: Option<f64>,
    /// Needs unimodal frequencies.
    pub unimodal: Option<f64>,
    /// Needs r-concave frequencies.
    pub r_concave: Option<f64>,
}

/// The bounds for a mean of `q` selected out of `p` features in `pairs` pairs of halves, kept from
/// a share of `tau` on, above one half.
#[must_use]
pub fn bounds(q: f64, p: f64, tau: f64, pairs: usize) -> Bounds {
    let theta = q / p;
    Bounds {
        mb: Some(q * theta / (2.0 * tau - 1.0)),
        unimodal: unimodal(q, theta, tau, pairs as f64),
        r_concave: (theta <= 1.0).then(|| r_concave(p, theta, tau, pairs)),
    }
}

fn unimodal(q: f64, theta: f64, tau: f64, b: f64) -> Option<f64> {
    let least = (0.5 + theta * theta).min(0.5 + 0.5 / b + 0.75 * theta * theta);
    if theta > 1.0 / 3f64.sqrt() || tau <= least {
        return None;
    }
    let c = match tau <= 0.75 {
        true => {
            let room = 2.0 * tau - 1.0 - 0.5 / b;
            (room > 0.0).then(|| 0.5 / room)?
        }
        false => 4.0 * (1.0 - tau + 0.5 / b) / (1.0 + 1.0 / b),
    };
    Some(c * theta * q)
}

fn r_concave(p: f64, theta: f64, tau: f64, pairs: usize) -> f64 {
    // The fewest halves that make the share, whatever rounding does to the product.
    let halves = (2.0 * pairs as f64 * tau - 1e-9).ceil() as usize;
    let single = largest_tail(theta, halves, 2 * pairs, 4);
    let paired = match halves.checked_sub(pairs).filter(|both| *both > 0) {
        Some(both) => largest_tail(theta * theta, both, pairs, 2),
        None => 1.0,
    };
    p * single.min(paired)
}

/// `(a + i)^-s`.
fn weight(a: f64, i: usize, s: i32) -> f64 {
    (a + i as f64).powi(-s)
}

/// The largest `P(X >= t / b)` of a `-1/s`-concave law on `{0, 1/b, ..., 1}` with mean `eta`.
fn largest_tail(eta: f64, t: usize, b: usize, s: i32) -> f64 {
    let mean = eta * b as f64;
    let start = (2.0 * mean).ceil() as usize + 1;
    if t < start || start > b {
        return 1.0;
    }
    // The law on 0..=k has mean `eta` at `a = at[k]`; between two such places the last weight of
    // the law on 0..=k+1 is below that of the shape.
    let (mut upper, mut best) = (1e5, 0.0f64);
    for k in start..=b {
        let a = root(mean, k, s, upper);
        if k > start && k > t {
            best = best.max(largest_between(a, upper, |v| tail(v, k - 1, t, mean, s)));
        }
        if k == b {
            best = best.max(tail(a, b, t, mean, s));
        }
        upper = a;
    }
    best.clamp(0.0, 1.0)
}

fn tail(a: f64, k: usize, t: usize, mean: f64, s: i32) -> f64 {
    let (mut below, mut all) = (0.0, 0.0);
    for i in 0..=k {
        let w = weight(a, i, s);
        if i < t {
            below += w;
        }
        all += (k + 1 - i) as f64 * w;
    }
    1.0 - (k as f64 + 1.0 - mean) * below / all
}

/// Where the law with weights `(a + i)^-s` on `0..=k` has this mean, which grows with `a`.
fn root(mean: f64, k: usize, s: i32, upper: f64) -> f64 {
    let above = |a: f64| {
        let sums = (0..=k).fold((0.0, 0.0), |(total, first), i| {
            let w = weight(a, i, s);
            (total + w, first + i as f64 * w)
        });
        sums.1 > mean * sums.0
    };
    // By halves of the logarithm: the root may lie anywhere over many orders.
    let (mut low, mut high) = (-90.0, upper.ln());
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if above(f64::exp(middle)) { high = middle } else { low = middle }
    }
    high.exp()
}

/// The largest value of a function with one peak between `low` and `high`.
fn largest_between(low: f64, high: f64, value: impl Fn(f64) -> f64) -> f64 {
    let share = (5f64.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (low, high);
    let mut best = value(low).max(value(high));
    for _ in 0..60 {
        let (a, b) = (high - share * (high - low), low + share * (high - low));
        let (at_a, at_b) = (value(a), value(b));
        best = best.max(at_a).max(at_b);
        if at_a > at_b {
            high = b
        } else {
            low = a
        }
        if high - low <= 1e-9 * high {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// p, q, tau, pairs, mb, unimodal, r-concave: the numbers of stabs 0.7-1 as
    /// `oracles/error-control/stability_bounds.json` has them.
    const TABLE: [(f64, f64, f64, usize, f64, f64, f64); 6] = [
        (500.0, 20.0, 0.6, 25, 4.0, 2.2222222222222228, 1.0216909595539003),
        (500.0, 20.0, 0.75, 50, 1.6, 0.8163265306122449, 0.20317708312272975),
        (500.0, 20.0, 0.9, 25, 1.0, 0.3692307692307692, 0.06810821236336029),
        (1000.0, 30.0, 0.75, 25, 1.8, 0.9375, 0.25360139568830764),
        (10000.0, 50.0, 0.6, 50, 1.25, 0.6578947368421054, 0.16517471123078664),
        (10000.0, 50.0, 0.9, 50, 0.3125, 0.10784313725490194, 0.015491424272262577),
    ];

    #[test]
    fn the_bounds_are_those_of_the_published_package() {
        for (p, q, tau, pairs, mb, unimodal, r_concave) in TABLE {
            let got = bounds(q, p, tau, pairs);
            let near = |got: Option<f64>, want: f64, share: f64| {
                let got = got.unwrap();
                assert!((got - want).abs() <= share * want, "{tau} {pairs}: {got} {want}");
            };
            near(got.mb, mb, 1e-12);
            near(got.unimodal, unimodal, 1e-12);
            near(got.r_concave, r_concave, 1e-4);
        }
    }

    #[test]
    fn a_bound_whose_condition_fails_is_none() {
        // 300 of 500 features a half: theta = 0.6 > 1 / sqrt 3.
        assert_eq!(bounds(300.0, 500.0, 0.75, 25).unimodal, None);
        assert!(bounds(20.0, 500.0, 0.51, 2).unimodal.is_none());
        assert!(bounds(0.0, 500.0, 0.75, 25).mb == Some(0.0));
    }
}
