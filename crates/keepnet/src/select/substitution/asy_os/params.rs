//! Settings of `asy-os`, and its entry in the registry.

use super::AsyOs;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, SettingInfo, Stream};
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
    fn parse(text: &str) -> Result<Self> {
        match text {
            "threads" => Ok(Self::Threads),
            "simulated" => Ok(Self::Simulated),
            _ => {
                Err(Error::param("centre", text, "threads or simulated; keepnet-mpi is for ranks"))
            }
        }
    }

    /// The name on the command line and in results.
    #[must_use]
    pub fn name(self) -> &'static str {
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
        let centre = spec
            .settings
            .get("centre")
            .map_or(Ok(CentreKind::Threads), |c| CentreKind::parse(c))?;
        let usual = match centre {
            CentreKind::Threads => rayon::current_num_threads(),
            CentreKind::Simulated => SIMULATED,
        };
        let whole = "a whole number of at least 1";
        let workers = spec.get("workers", usual, whole)?;
        if workers == 0 {
            return Err(Error::param("workers", 0, whole));
        }
        // More workers than features to keep would have nothing to do.
        let workers = workers.min(os.k);
        if centre == CentreKind::Threads && spec.settings.contains_key("tau") {
            return Err(Error::param("tau", "given", "centre=simulated with it"));
        }
        let tau = spec.get("tau", workers as u64, whole)?;
        if tau == 0 {
            return Err(Error::param("tau", 0, whole));
        }
        Ok(Self { os, centre, workers, tau })
    }
}

const OWN: [SettingInfo; 3] = [
    SettingInfo {
        name: "centre",
        default: "threads",
        help: "where the shared prediction is: threads, or simulated for a fixed staleness",
    },
    SettingInfo {
        name: "workers",
        default: "--threads",
        help: "workers, each with k / workers features, at most k; 4 with centre=simulated",
    },
    SettingInfo {
        name: "tau",
        default: "workers",
        help: "centre=simulated: workers see the prediction tau - 1 updates late; 1 is no delay",
    },
];

const fn settings() -> [SettingInfo; 8] {
    let [a, b, c] = OWN;
    let [d, e, f, g, h] = SETTINGS;
    [a, b, c, d, e, f, g, h]
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
