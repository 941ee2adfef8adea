//! Settings of `asy-os`, and its entry in the registry.

use super::AsyOs;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::substitution::os::{OsParams, SETTINGS};

/// Workers of the simulated centre where none are asked for: a number of its own, since what it
/// gives must not depend on the threads of the machine.
const SIMULATED: usize = 4;

/// Where the shared prediction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CentreKind {
    /// In the memory of this process, a thread a worker.
    Threads,
    /// A delay line: workers take turns and see the prediction `tau - 1` updates late.
    Simulated,
}

impl CentreKind {
    /// The name in settings and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Threads => "threads",
            Self::Simulated => "simulated",
        }
    }
}

/// Settings of [`AsyOs`].
#[derive(Clone, Debug)]
pub struct AsyOsParams {
    /// The settings of `os`; `k` is that of all workers together.
    pub os: OsParams,
    /// Where the shared prediction is.
    pub centre: CentreKind,
    /// Workers, at least 1 and at most `k`.
    pub workers: usize,
    /// Staleness of the simulated centre, at least 1, which is no delay.
    pub tau: u64,
}

impl AsyOsParams {
    /// The defaults for `k` features and `workers` workers on threads.
    #[must_use]
    pub fn new(k: usize, workers: usize) -> Self {
        let (os, centre) = (OsParams::new(k), CentreKind::Threads);
        Self { os, centre, workers, tau: workers as u64 }
    }

    /// The settings that a user gave, the defaults for the rest.
    pub fn from_spec(spec: &MethodSpec) -> Result<Self> {
        let os = OsParams::from_spec(spec)?;
        let all = [CentreKind::Threads, CentreKind::Simulated];
        let centre = spec.choice(&CENTRE, &all, CentreKind::name)?;
        let usual = match centre {
            CentreKind::Threads => rayon::current_num_threads(),
            CentreKind::Simulated => SIMULATED,
        };
        // More workers than features to keep would have nothing to do.
        let workers = spec.optional_whole(&WORKERS)?.unwrap_or(usual).min(os.k);
        let tau = spec.optional_whole(&TAU)?;
        if centre == CentreKind::Threads && tau.is_some() {
            return Err(Error::param("tau", "given", "centre=simulated with it"));
        }
        let tau = tau.unwrap_or(workers) as u64;
        Ok(Self { os, centre, workers, tau })
    }
}

const CENTRE: Setting = Setting::choice(
    "centre",
    &[CentreKind::Threads.name(), CentreKind::Simulated.name()],
    "where the shared prediction is: threads, or simulated for a fixed staleness",
);
const WORKERS: Setting = Setting::whole(
    "workers",
    (1, u64::MAX),
    1,
    "workers, each with k / workers features, at most k; 4 with centre=simulated",
)
.derived("`threads`");
const TAU: Setting = Setting::whole(
    "tau",
    (1, u64::MAX),
    1,
    "centre=simulated: workers see the prediction tau - 1 updates late; 1 is no delay",
)
.derived("workers");

const fn settings() -> [Setting; 8] {
    let [d, e, f, g, h] = SETTINGS;
    [CENTRE, WORKERS, TAU, d, e, f, g, h]
}

/// The registry's entry.
pub const INFO: MethodInfo = MethodInfo {
    name: "asy-os",
    stream: Stream::Features,
    summary: "asynchronous substitution: workers share one prediction; threads or simulated",
    tasks: "regression, classification (several classes one against the rest)",
    cost: "4 n k / workers flops an arrival, workers side by side",
    memory: "k columns, O(n workers) vectors, O(k^2 / workers)",
    paper: "Yang, Fujimaki, Kusumura, Liu, KDD 2016, Algorithms 2 and 3",
    scans: 2,
    needs_k: true,
    has_loss: true,
    settings: &settings(),
    promises: Promises::ASYNCHRONOUS,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    Ok(Box::new(AsyOs::new(AsyOsParams::from_spec(spec)?, problem, &budget)?))
}
