//! What works around a method by several lanes of one read.
//!
//! An [`Arrangement`] says which lanes a run has, each with its own rows, target and size; one
//! read feeds them all, and the arrangement makes one result of their reports. A run of one
//! selection is an arrangement of one lane. Several targets are an arrangement each, side by side
//! (`crate::targets`).
//!
//! ```text
//! Request, Problem --arrange--> Arrangement --asks--> Made (lanes, memory) --run--> LaneReports
//!                                    |                                                  |
//!                                    +----------------- conclude <----------------------+
//!                                                          |
//!                                                    Concluded --> Outcome
//! ```

mod ebic;
mod found;
mod null;
mod screened;
mod sizes;
mod split;
mod stability;
mod unseen;

use std::sync::Arc;

use keepnet::run::LaneReport;
use keepnet::{FeatureSource, Lane, Problem, Result, RunReport};
use keepnet_eval::subset;

pub use found::{Evidence, Found, Holdout, Inference, Null, PathPoint, Stability};
pub use unseen::{Judged, Model, Unseen};

use crate::request::{InferenceKind, Request, Size};
use screened::Screened;
use sizes::Sizes;
pub(crate) use sizes::gamma;
use split::Split;
use stability::Halves;

/// A lane to be made.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Target and rows. Lanes with the same rows and weights share the check of each column and
    /// the columns that they keep.
    pub problem: Arc<Problem>,
    /// The size; `None` is that of the request.
    pub k: Option<usize>,
}

/// The rows of an input, before any are set aside.
#[derive(Clone, Debug)]
pub struct Whole {
    /// Target, weights and the rest of every row that counts.
    pub problem: Arc<Problem>,
    /// Whether every class weighs the same, in whichever rows a lane has; the weights of
    /// `problem` know nothing of it.
    pub balanced: bool,
}

impl Whole {
    /// The problem on some of the rows, given by their places; what is learnt from rows is learnt
    /// from these.
    pub fn part(&self, rows: &[u32]) -> Result<Problem> {
        self.weighed(subset(&self.problem, rows)?)
    }

    /// The problem on all rows.
    pub fn all(&self) -> Result<Problem> {
        self.weighed(self.problem.as_ref().clone())
    }

    fn weighed(&self, mut problem: Problem) -> Result<Problem> {
        if self.balanced {
            problem.balance()?;
        }
        Ok(problem)
    }
}

/// What the lanes of one arrangement came to.
pub struct Ended {
    /// A report for each [`Ask`].
    pub lanes: Vec<LaneReport>,
    /// Different features that arrived.
    pub features_seen: u64,
}

/// One result, made of the lanes of an arrangement.
pub struct Concluded {
    /// What is selected, and what became of the rest.
    pub lane: LaneReport,
    /// The problem that the result speaks of.
    pub problem: Arc<Problem>,
    /// The size that was asked for or chosen.
    pub k: Option<usize>,
    /// What else was found.
    pub found: Found,
}

/// Which lanes a run has, and what their reports come to.
pub trait Arrangement: Send {
    /// The lanes, at least one. Settings in force are shown as the first one has them.
    fn asks(&self) -> &[Ask];

    /// Refuses a method that cannot be used so; `lanes` were just made, one an ask.
    fn fits(&self, lanes: &[Lane]) -> Result<()> {
        let _ = lanes;
        Ok(())
    }

    /// Whether nobody asks what became of features that a lane tested and did not select.
    fn brief(&self) -> bool {
        false
    }

    /// What the lanes are for, for `--dry-run`; `None` of a single one.
    fn purpose(&self) -> Option<String> {
        None
    }

    /// One result of all reports. `unseen` reads the columns of selected features once more.
    fn conclude(&self, ended: Ended, unseen: &mut Unseen<'_>) -> Result<Concluded>;
}

/// The arrangement that a request asks for, on `features` features where their number is known.
pub fn arrange(
    request: &Request,
    whole: &Whole,
    features: Option<u64>,
) -> Result<Box<dyn Arrangement>> {
    let trust = &request.trust;
    trust.check(request, request.method.info()?)?;
    if let Some(pairs) = trust.stability {
        return Ok(Box::new(Halves::new(request, whole, pairs)?));
    }
    if let Some(inference) = trust.inference {
        return Ok(match inference.kind {
            InferenceKind::Split => Box::new(Split::new(request, whole, inference.share)?),
            InferenceKind::Knockoffs => Box::new(Screened::new(request, whole, inference.share)?),
        });
    }
    Ok(Box::new(Sizes::new(request, whole, features)?))
}

/// The results of arrangements whose lanes ran side by side, in order, with the report of the run.
pub fn conclude(
    arrangements: &[Box<dyn Arrangement>],
    report: &mut RunReport,
    source: &mut dyn FeatureSource,
    request: &Request,
) -> Result<Vec<Concluded>> {
    let features_seen = report.features_seen;
    let mut reports = std::mem::take(&mut report.lanes).into_iter();
    let mut unseen = Unseen::new(source, request)?;
    let mut concluded = Vec::with_capacity(arrangements.len());
    for arrangement in arrangements {
        let mut lanes: Vec<LaneReport> = reports.by_ref().take(arrangement.asks().len()).collect();
        // The result stands when its last lane does.
        let scans = lanes.iter().map(|lane| lane.scans).max().unwrap_or(0);
        let complete = lanes.iter().all(|lane| lane.complete);
        lanes.iter_mut().for_each(|lane| (lane.scans, lane.complete) = (scans, complete));
        concluded.push(arrangement.conclude(Ended { lanes, features_seen }, &mut unseen)?);
    }
    Ok(concluded)
}

/// The size of a request as it was written, where it is to be chosen.
#[must_use]
pub(crate) fn written(size: &Size) -> Option<String> {
    match size {
        Size::One(_) => None,
        Size::Auto => Some("auto".into()),
        Size::List(sizes) => {
            Some(sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
        }
    }
}
