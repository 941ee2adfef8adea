//! Procedures that decide on arrival, for streams without end.
//!
//! With `a` the level, `R` the rejections before test `i` and `tau_j` the time of the j-th:
//!
//! ```text
//! gL(j) = 0.07720838 ln(max(j, 2)) / (j exp(sqrt(ln j)))        gP(j) = 0.4374901658 / j^1.6
//! lond      a gL(i) (R + 1)                     lond-dep   the same / (1 + 1/2 + ... + 1/i)
//! e-lond    p^(-1/2) / 2 >= 1 / (a gL(i) (R + 1))
//! lord      w0 gL(i) + (a - w0) gL(i - tau_1) + a sum_{j>=2} gL(i - tau_j)             w0 = a / 10
//! addis     min(lambda, (tau - lambda) (w0 gP(1 + c) + (a - w0) gP(1 + c_1) + a sum gP(1 + c_j)))
//!           c = earlier p in (lambda, tau], c_j = those after tau_j; w0 = a / 2, 0.25 and 0.5
//! saffron   addis with tau = 1, lambda = 0.5
//! ```
//!
//! A feature is rejected where p is at most its level. Between rejections no level rises, so a p
//! above the last computed level costs O(1), others O(rejections). State: the rejections and two
//! counts. Javanmard and Montanari (2018); Zrnic, Ramdas, Jordan (2021); Ramdas et al. (2017, 2018);
//! Tian and Ramdas (2019); Xu and Ramdas (2024); defaults as onlineFDR 2.19.

use serde::{Deserialize, Serialize};

/// What decides on arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnArrival {
    /// LOND.
    Lond,
    /// LOND under any dependence.
    LondDep,
    /// LOND on e-values.
    ELond,
    /// LORD++.
    Lord,
    /// SAFFRON.
    Saffron,
    /// ADDIS.
    Addis,
}

/// The past of one stream of tests.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Past {
    tests: u64,
    harmonic: f64,
    // Earlier p-values in (lambda, tau].
    candidates: u64,
    // For each rejection its time, or the candidates before it.
    marks: Vec<u64>,
    // No level until the next rejection is above it.
    ceiling: Option<f64>,
}

impl Past {
    pub(super) fn new() -> Self {
        Self { tests: 0, harmonic: 0.0, candidates: 0, marks: Vec::new(), ceiling: None }
    }

    /// Whether a state that was read back can be one.
    pub(super) fn sound(&self) -> bool {
        let most = self.tests.max(self.candidates);
        let ordered = self.marks.windows(2).all(|pair| pair[0] <= pair[1]);
        ordered
            && self.candidates <= self.tests
            && self.marks.len() as u64 <= self.tests
            && self.marks.last().is_none_or(|last| *last <= most)
            && self.harmonic.is_finite()
            && self.ceiling.is_none_or(f64::is_finite)
    }

    pub(super) fn bytes(&self) -> u64 {
        8 * self.marks.capacity() as u64
    }
}

const LOG_SCALE: f64 = 0.077_208_38;
const POWER_SCALE: f64 = 0.437_490_165_8;

fn by_logarithm(j: u64) -> f64 {
    let log = (j as f64).ln();
    LOG_SCALE * (j.max(2) as f64).ln() / (j as f64 * log.sqrt().exp())
}

fn by_power(j: u64) -> f64 {
    POWER_SCALE / (j as f64).powf(1.6)
}

impl OnArrival {
    /// The level of the next test.
    pub(super) fn level(self, alpha: f64, past: &Past) -> f64 {
        let i = past.tests + 1;
        let plain = || alpha * by_logarithm(i) * (past.marks.len() + 1) as f64;
        match self {
            Self::Lond | Self::ELond => plain(),
            Self::LondDep => plain() / (past.harmonic + 1.0 / i as f64),
            Self::Lord => {
                let first = alpha / 10.0;
                first * by_logarithm(i) + earned(alpha, first, past, |tau| by_logarithm(i - tau))
            }
            Self::Saffron | Self::Addis => {
                let (lambda, tau) = self.window();
                let first = alpha / 2.0;
                let c = past.candidates;
                let sum = first * by_power(1 + c)
                    + earned(alpha, first, past, |mark| by_power(1 + c - mark));
                lambda.min((tau - lambda) * sum)
            }
        }
    }

    /// Takes the next p-value by its logarithm; its level where it is rejected.
    pub(super) fn take(self, alpha: f64, past: &mut Past, log_p: f64) -> Option<f64> {
        let of = |level: f64| match self {
            // p^(-1/2) / 2 >= 1 / level.
            Self::ELond => 2.0 * (0.5 * level).ln(),
            _ => level.ln(),
        };
        let open = past.ceiling.is_none_or(|ceiling| log_p <= of(ceiling));
        let level = open.then(|| self.level(alpha, past));
        past.tests += 1;
        past.harmonic += 1.0 / past.tests as f64;
        let rejected = level.filter(|level| log_p <= of(*level));
        let (p, (lambda, tau)) = (log_p.exp(), self.window());
        past.candidates += u64::from(lambda < p && p <= tau);
        if rejected.is_some() {
            let counts = matches!(self, Self::Saffron | Self::Addis);
            past.marks.push(if counts { past.candidates } else { past.tests });
            past.ceiling = None;
        } else if level.is_some() {
            past.ceiling = level;
        }
        rejected
    }

    /// `lambda` and `tau`.
    fn window(self) -> (f64, f64) {
        if self == Self::Saffron { (0.5, 1.0) } else { (0.25, 0.5) }
    }
}

/// `(a - w0) g(tau_1) + a sum_{j>=2} g(tau_j)`.
fn earned(alpha: f64, first: f64, past: &Past, g: impl Fn(u64) -> f64) -> f64 {
    let mut sum = 0.0;
    for (at, mark) in past.marks.iter().enumerate() {
        sum += if at == 0 { alpha - first } else { alpha } * g(*mark);
    }
    sum
}

#[cfg(test)]
mod tests;
