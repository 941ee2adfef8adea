//! What a run found, from features and from rows alike.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use keepnet::registry::{MethodSpec, Stream};
use keepnet::run::{Dropped, RowCounts, RowFilter, TracePoint};
use keepnet::selection::{Selected, Selection};
use keepnet::{FeatureId, Groups, Problem, RowProblem, RunReport, Task};
use keepnet_io::{InputSource, Origin, TaskReason, Variant};
use serde::Serialize;

use super::warnings;
use crate::host::Host;
use crate::lanes::{Concluded, Found};
use crate::request::Request;
use crate::system;

/// The rows of the input and those that counted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Rows {
    /// Rows of the input.
    pub input: usize,
    /// Rows that count.
    pub used: usize,
    /// `position`, or `key COL`.
    pub matched_by: String,
    /// Rows left out because their target is missing, where they were counted.
    pub masked_target: Option<usize>,
    /// Rows left out because their key has no match, where they were counted.
    pub unmatched: Option<usize>,
}

impl Rows {
    /// Rows of a stream by their fate, of which `unmatched` had no match by key.
    #[must_use]
    pub fn of(counts: &RowCounts, matched_by: &str, unmatched: u64) -> Self {
        Self {
            input: counts.input as usize,
            used: counts.used as usize,
            matched_by: matched_by.into(),
            masked_target: Some(counts.without_target.saturating_sub(unmatched) as usize),
            unmatched: Some(unmatched as usize),
        }
    }

    /// Rows in memory, all of which are matched by position.
    #[must_use]
    pub fn in_memory(problem: &Problem) -> Self {
        Self {
            input: problem.rows.input(),
            used: problem.n(),
            matched_by: "position".into(),
            masked_target: Some(0),
            unmatched: Some(0),
        }
    }
}

/// Times of a run.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Seconds {
    /// From start to result.
    pub total: f64,
    /// In the source.
    pub read: f64,
    /// Checking and deciding.
    pub select: f64,
}

/// What differs from run to run.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// Times.
    pub seconds: Seconds,
    /// Most memory that was resident.
    pub peak_bytes: Option<u64>,
    /// Threads.
    pub threads: usize,
    /// The command.
    pub command: String,
    /// Bytes that each whole scan read, where the source knows; null on rows.
    pub bytes_read: Option<Vec<u64>>,
}

impl Run {
    /// A run that began at `start` and ends now.
    #[must_use]
    pub fn now(start: Instant, read: Duration, select: Duration, command: String) -> Self {
        let (read, select) = (read.as_secs_f64(), select.as_secs_f64());
        Self {
            seconds: Seconds { total: start.elapsed().as_secs_f64(), read, select },
            peak_bytes: system::peak_bytes(),
            threads: rayon::current_num_threads(),
            command,
            bytes_read: None,
        }
    }
}

/// What became of the features that are not kept; `None` where that does not happen.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Fates {
    /// Too little to do with the target.
    pub weak: Option<u64>,
    /// Said better by another feature.
    pub redundant: Option<u64>,
    /// One value only, or too rare.
    pub constant: Option<u64>,
    /// Missing values.
    pub missing: Option<u64>,
    /// An allele that is too rare; genotypes only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maf: Option<u64>,
    /// Kept for a while, then driven out.
    pub evicted: Option<u64>,
}

impl Fates {
    fn of(dropped: &Dropped, genotypes: bool) -> Self {
        let Dropped { weak, redundant, constant, missing, maf, evicted } = *dropped;
        let [weak, redundant, constant, missing, evicted] =
            [weak, redundant, constant, missing, evicted].map(Some);
        Self { weak, redundant, constant, missing, maf: genotypes.then_some(maf), evicted }
    }

    /// Of a method on rows, which knows at most how many features are constant.
    fn of_rows(selection: &Selection, features: u64) -> Self {
        let kept = (selection.selected.len() + selection.pinned.len()) as u64;
        let left = features.saturating_sub(kept);
        let constant = selection.constant;
        let weak = constant.map(|constant| left.saturating_sub(constant));
        Self { weak, constant, ..Self::default() }
    }
}

/// All that a result says.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The target's name, where files were read.
    pub target: Option<String>,
    /// What is kept.
    pub selection: Selection,
    /// What flowed past.
    pub stream: Stream,
    /// The task.
    pub task: Task,
    /// Why it is this task, where that was decided here.
    pub task_reason: Option<TaskReason>,
    /// Names of the classes.
    pub classes: Option<Vec<String>>,
    /// Rows used of each class, where they were counted.
    pub class_counts: Option<Vec<u64>>,
    /// The variants among what is kept, where the input is of genotypes.
    pub variants: HashMap<FeatureId, Variant>,
    /// Names of the files.
    pub sources: Vec<String>,
    /// Rows.
    pub rows: Rows,
    /// What became of missing values, by name.
    pub missing: String,
    /// Where the offset of the rows came from, where there was one.
    pub offset: Option<String>,
    /// How features that are no column as it stands come out of one.
    pub origins: HashMap<FeatureId, Origin>,
    /// Groups, where there were any.
    pub groups: Option<Groups>,
    /// Different features that arrived.
    pub features_seen: u64,
    /// Scans begun.
    pub scans: u32,
    /// Whether the stream was read to its end.
    pub complete: bool,
    /// Why it was not, where that is known.
    pub stopped: Option<&'static str>,
    /// Seed.
    pub seed: u64,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// What became of the features that are not kept.
    pub dropped: Fates,
    /// Loss and kept features along the stream, where it was recorded.
    pub trace: Option<Vec<TracePoint>>,
    /// What the other lanes of the run say of it.
    pub found: Found,
    /// Times, memory, command.
    pub run: Run,
}

/// What is known of a run beside its report.
pub struct Context<'a> {
    /// What was asked.
    pub request: &'a Request,
    /// What the join of the files should have said, before the request's own notes.
    pub notes: &'a [String],
    /// When the run began.
    pub start: Instant,
    /// What ran it, in place of a command.
    pub command: &'a str,
}

impl Context<'_> {
    fn notes(&self) -> Vec<String> {
        self.notes.iter().chain(&self.request.notes).cloned().collect()
    }
}

impl Outcome {
    /// Puts the warnings into the words of a host.
    pub(crate) fn reword(&mut self, host: &dyn Host) {
        self.warnings.iter_mut().for_each(|warning| *warning = host.wording(warning));
    }

    /// Looks up how the features come out of the columns of `source`, and which are variants.
    pub(crate) fn trace_back(&mut self, source: &InputSource) {
        let features = self.selection.selected.iter().chain(&self.selection.pinned);
        let origin = |id: FeatureId| Some((id, source.origin(id)?));
        self.origins = features.clone().filter_map(|feature| origin(feature.id)).collect();
        let variant = |id: FeatureId| Some((id, source.variant(id)?));
        self.variants = features.filter_map(|feature| variant(feature.id)).collect();
    }

    /// The target's name.
    pub(crate) fn target_name(&self) -> &str {
        self.target.as_deref().unwrap_or("target")
    }

    /// What a missing value of a feature is taken for, where there is such a number.
    #[must_use]
    pub fn fill(&self, feature: &Selected) -> Option<f64> {
        match self.missing.as_str() {
            // Where a value is missing is never missing itself.
            _ if feature.id != feature.id.base() => None,
            "mean" | "indicator" => Some(feature.mean),
            "zero" => Some(0.0),
            _ => None,
        }
    }

    /// Whether rows flowed past, and features were not decided on one by one.
    #[must_use]
    pub fn of_rows(&self) -> bool {
        self.stream == Stream::Samples
    }

    /// Of one result of a run on features, which came to `report`; `integral` says whether every
    /// column holds whole numbers.
    pub fn features(
        context: &Context<'_>,
        report: &RunReport,
        Concluded { lane, problem, k, found }: Concluded,
        sources: &[String],
        (rows, integral): (&Rows, bool),
    ) -> keepnet::Result<Self> {
        let request = context.request;
        let info = request.method.info()?;
        let spec = request.method.spec(request.run.seed)?;
        let notes = context.notes();
        let command = context.command.to_string();
        let whole = report.scans - u32::from(report.cut_short);
        let run = Run {
            bytes_read: report.scan_bytes.map(|bytes| vec![bytes; whole as usize]),
            ..Run::now(context.start, report.read, report.select, command)
        };
        let (seen, target) = (report.features_seen, &problem.target);
        let halves = found.stability.is_some();
        let spec = MethodSpec { k, ..spec };
        let mut warnings = warnings::of_columns(&notes, &spec, (integral, seen), &lane.selection);
        warnings.extend(found.warnings.iter().cloned());
        Ok(Self {
            target: None,
            warnings,
            selection: lane.selection,
            stream: info.stream,
            task: target.task(),
            task_reason: None,
            classes: target.classes().map(<[String]>::to_vec),
            class_counts: target
                .classes()
                .map(|_| target.class_counts().into_iter().map(|count| count as u64).collect()),
            variants: HashMap::new(),
            sources: sources.to_vec(),
            rows: Rows { used: problem.n(), ..rows.clone() },
            missing: request.missing().into(),
            offset: request.problem.offset.clone(),
            origins: HashMap::new(),
            groups: report.groups.clone(),
            features_seen: seen,
            scans: lane.scans,
            complete: lane.complete,
            stopped: None,
            seed: request.run.seed,
            // They differ from half to half.
            dropped: if halves {
                Fates::default()
            } else {
                Fates::of(&lane.dropped, request.input.genotypes())
            },
            trace: Some(lane.trace).filter(|_| !halves),
            found,
            run,
        })
    }

    /// Of a run on rows; `filter` is what became of them, `times` those of reading and learning.
    #[must_use]
    pub fn samples(
        context: &Context<'_>,
        mut selection: Selection,
        problem: &RowProblem,
        (rows, filter): (Rows, &RowFilter),
        (read, learn): (Duration, Duration),
    ) -> Self {
        filter.tell(&mut selection);
        let request = context.request;
        let mut warnings = context.notes();
        warnings.extend(warnings::left_out(&rows));
        warnings.extend(warnings::of_rows(&selection, &filter.counts(), request.method.one_k()));
        let classes = (!problem.classes.is_empty()).then(|| problem.classes.clone());
        let features_seen = problem.candidates() as u64;
        Self {
            target: None,
            stream: Stream::Samples,
            task: if classes.is_some() { Task::Classification } else { Task::Regression },
            task_reason: None,
            classes,
            class_counts: filter.class_counts().map(<[u64]>::to_vec),
            variants: HashMap::new(),
            sources: vec!["memory".into()],
            rows,
            missing: request.missing().into(),
            offset: request.problem.offset.clone(),
            origins: HashMap::new(),
            groups: None,
            features_seen,
            scans: 1,
            complete: true,
            stopped: None,
            seed: request.run.seed,
            warnings,
            dropped: Fates::of_rows(&selection, features_seen),
            trace: Some(filter.trace()).filter(|trace| !trace.is_empty()),
            found: Found::default(),
            run: Run::now(context.start, read, learn, context.command.to_string()),
            selection,
        }
    }
}
