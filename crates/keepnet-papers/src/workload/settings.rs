//! Which workloads there are and what can be set.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use super::design::{Design, PowerLaw};
use super::{Noise, Workload};
use keepnet::{Error, Result, Task};

/// One workload: an entry of `keepnet generate --list`.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadInfo {
    /// Its name.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Settings besides n, p, s, noise, task, seed and sample, with their defaults.
    pub settings: &'static [(&'static str, &'static str)],
    // n (0: round(1.2 s log2 p)), p, s
    size: (usize, u64, usize),
}

const fn entry(
    name: &'static str,
    size: (usize, u64, usize),
    settings: &'static [(&'static str, &'static str)],
    summary: &'static str,
) -> WorkloadInfo {
    WorkloadInfo { name, summary, settings, size }
}

const STRESS: (usize, u64, usize) = (400, 1000, 30);

/// Every workload.
pub const WORKLOADS: &[WorkloadInfo] = &[
    entry("regression", (0, 2000, 100), &[], "the papers' regression data, N(0,1) columns"),
    entry("classification", (0, 1000, 100), &[], "the papers' classes, the sign of the signal"),
    entry("wide", (20_000, 50_000, 100), &[], "N(0,1) columns, noise a tenth of the signal"),
    entry(
        "sparse",
        (10_000, 500_000, 100),
        &[("per-row", "400"), ("slope", "3")],
        "sparse columns with a power law of counts, classes by a logistic model",
    ),
    entry("iid", STRESS, &[], "stress design: N(0,1) columns, signal-to-noise 10"),
    entry("scales", STRESS, &[], "stress design: columns scaled by 1e-3 to 1e3"),
    entry("equicorrelated", STRESS, &[("rho", "0.5")], "stress design: one shared factor"),
    entry("toeplitz", STRESS, &[("rho", "0.9")], "stress design: correlation rho^|i-j|"),
    entry("student", STRESS, &[("df", "1.5")], "stress design: heavy tails, Student t"),
    entry("binary", STRESS, &[("share", "0.02")], "stress design: few ones among zeros"),
    entry("offset", STRESS, &[("shift", "5")], "stress design: columns far from zero"),
    entry("duplicates", STRESS, &[], "stress design: every column twice"),
    entry("few-rows", (25, 1000, 30), &[], "stress design: fewer rows than informative columns"),
];

struct Settings<'a> {
    given: &'a BTreeMap<String, String>,
    info: &'static WorkloadInfo,
}

impl Settings<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        let default = self.info.settings.iter().find(|(known, _)| *known == name);
        self.given.get(name).map(String::as_str).or(default.map(|(_, value)| *value))
    }

    fn get<T: FromStr>(&self, name: &'static str, default: T, want: &'static str) -> Result<T> {
        match self.text(name) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|_| Error::param(name, text, want)),
        }
    }

    fn number(&self, name: &'static str, low: f64, high: f64, want: &'static str) -> Result<f64> {
        let value: f64 = self.get(name, f64::NAN, want)?;
        if value >= low && value <= high { Ok(value) } else { Err(Error::param(name, value, want)) }
    }
}

pub(super) fn parse(name: &str, given: &BTreeMap<String, String>) -> Result<Workload> {
    let Some(info) = WORKLOADS.iter().find(|known| known.name == name) else {
        let known: Vec<_> = WORKLOADS.iter().map(|known| known.name).collect();
        let got = format!("{name:?} (known: {})", known.join(", "));
        return Err(Error::param("workload", got, "the name of a workload"));
    };
    let common = ["n", "p", "s", "noise", "task", "seed", "sample"];
    for key in given.keys() {
        let own = info.settings.iter().any(|(name, _)| name == key);
        if !own && !common.contains(&key.as_str()) {
            let known: Vec<_> =
                common.iter().copied().chain(info.settings.iter().map(|(name, _)| *name)).collect();
            let got = format!("{key} ({} knows {})", info.name, known.join(", "));
            return Err(Error::param("setting", got, "a setting of the workload"));
        }
    }
    build(&Settings { given, info })
}

fn build(settings: &Settings<'_>) -> Result<Workload> {
    let info = settings.info;
    let whole = "a whole number of at least 1";
    let p: u64 = settings.get("p", info.size.1, whole)?;
    let s: usize = settings.get("s", info.size.2.min(p as usize), whole)?;
    let matched = (1.2 * s as f64 * (p as f64).log2()).round() as usize;
    let n = settings.get("n", if info.size.0 == 0 { matched } else { info.size.0 }, whole)?;
    for (name, value) in [("n", n), ("p", p as usize), ("s", s)] {
        if value == 0 {
            return Err(Error::param(name, 0, whole));
        }
    }
    if n > u32::MAX as usize || p > u64::from(u32::MAX) {
        return Err(Error::param("n and p", format!("{n} and {p}"), "below 2^32"));
    }
    let seed = settings.get("seed", 0, "a whole number")?;
    let stress = info.size == STRESS || info.name == "few-rows";
    let workload = Workload {
        name: info.name,
        n,
        p,
        s,
        seed,
        sample: settings.get("sample", 0, "a whole number")?,
        noise: noise(settings, n, stress)?,
        task: task(settings)?,
        logistic: match info.name {
            "sparse" => Some(settings.number("slope", 0.0, 1e6, "a number of at least 0")?),
            _ => None,
        },
        unit: stress,
        design: design(settings, p, n, seed)?,
    };
    let candidates = workload.design.candidates(&workload);
    if s as u64 > candidates {
        let got = format!("{s} with {candidates} columns to choose from");
        return Err(Error::param("s", got, "no more than those columns"));
    }
    Ok(workload)
}

fn task(settings: &Settings<'_>) -> Result<Task> {
    let default = match settings.info.name {
        "classification" | "sparse" => "classification",
        _ => "regression",
    };
    match settings.text("task").unwrap_or(default) {
        "regression" if default == "regression" => Ok(Task::Regression),
        "classification" => Ok(Task::Classification),
        other => Err(Error::param("task", other, "regression or classification, as it fits")),
    }
}

fn noise(settings: &Settings<'_>, n: usize, stress: bool) -> Result<Noise> {
    let want = "stated, matched, a standard deviation, or a share of the signal's as in 10%";
    match (settings.text("noise"), settings.info.name) {
        (None, "classification") => Ok(Noise::Deviation(0.0)),
        (None, "wide") => Ok(Noise::Relative(0.1)),
        // Signal-to-noise 10 in variance.
        (None, _) if stress => Ok(Noise::Relative(0.1f64.sqrt())),
        (None | Some("matched"), _) => Ok(Noise::Deviation(0.1 * (n as f64).sqrt())),
        (Some("stated"), _) => Ok(Noise::Deviation(0.1)),
        (Some(text), _) => {
            let (number, share) = match text.strip_suffix('%') {
                Some(number) => (number, true),
                None => (text, false),
            };
            let value: f64 = number.parse().unwrap_or(f64::NAN);
            match (value >= 0.0 && value.is_finite(), share) {
                (false, _) => Err(Error::param("noise", text, want)),
                (true, true) => Ok(Noise::Relative(value / 100.0)),
                (true, false) => Ok(Noise::Deviation(value)),
            }
        }
    }
}

fn design(settings: &Settings<'_>, p: u64, n: usize, seed: u64) -> Result<Design> {
    let below_one = "a number from 0 to below 1";
    Ok(match settings.info.name {
        "scales" => Design::Scales,
        "equicorrelated" => {
            Design::Equicorrelated { rho: settings.number("rho", 0.0, 0.999_999, below_one)? }
        }
        "toeplitz" => Design::Toeplitz { rho: settings.number("rho", 0.0, 0.999_999, below_one)? },
        "student" => Design::Student { df: settings.number("df", 1e-3, 1e6, "a number above 0")? },
        "binary" => Design::Binary { share: settings.number("share", 0.0, 1.0, "from 0 to 1")? },
        "duplicates" => Design::Duplicates,
        "sparse" => {
            let want = "from 1 to a quarter of p";
            let per_row = settings.number("per-row", 0.0, p as f64 / 4.0, want)?;
            Design::Sparse(Arc::new(PowerLaw::new(p, n, per_row, seed)))
        }
        "offset" => {
            let shift = settings.number("shift", -1e30, 1e30, "a number")?;
            Design::Normal { shift: shift as f32 }
        }
        _ => Design::Normal { shift: 0.0 },
    })
}
