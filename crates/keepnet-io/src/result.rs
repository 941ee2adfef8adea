//! The JSON result, version 1. Fields may be added, never renamed.
//!
//! Everything outside `run` is the same, digit for digit, in a second run.

mod known;

pub use known::{keeps_all, row_report, row_target, row_warnings, warnings};

use keepnet::run::{Dropped, TracePoint};
use keepnet::selection::{CovariateWeight, Selected, Selection, Value};
use keepnet::{RunReport, Target, Task};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

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
    /// Rows used of each class, where rows flowed past and were counted.
    #[serde(skip)]
    pub classes: Option<Vec<u64>>,
}

/// Times of a run.
#[derive(Clone, Copy, Debug, Serialize)]
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
}

/// Names and values in the order given.
struct Pairs<'a>(&'a [(&'static str, Value)]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A number where there is one output, a list where there are several, null where none.
#[derive(Serialize)]
#[serde(untagged)]
enum Weights<'a> {
    None,
    One(f64),
    Many(&'a [f64]),
}

impl<'a> Weights<'a> {
    fn new(values: &'a [f64], many: bool) -> Self {
        match values {
            [] => Self::None,
            values if many => Self::Many(values),
            values => Self::One(values[0]),
        }
    }
}

#[derive(Serialize)]
struct Feature<'a> {
    index: u64,
    name: &'a str,
    arrival: u64,
    order: usize,
    source: &'a str,
    group: Option<String>,
    coefficient: Weights<'a>,
    score: f64,
    p_value: Option<f64>,
    mean: f64,
    missing: Option<u32>,
}

/// What became of the features that are not kept; null where that does not happen.
#[derive(Serialize)]
struct Fates {
    weak: Option<u64>,
    redundant: Option<u64>,
    constant: Option<u64>,
    missing: Option<u64>,
    evicted: Option<u64>,
}

#[derive(Serialize)]
struct Group {
    name: String,
    members: usize,
}

#[derive(Serialize)]
struct Covariate<'a> {
    name: &'a str,
    coefficient: Weights<'a>,
}

#[derive(Serialize)]
struct Document<'a> {
    keepnet: &'static str,
    version: u32,
    method: &'a str,
    params: Pairs<'a>,
    task: Task,
    classes: Option<&'a [String]>,
    class_counts: Option<Vec<u64>>,
    stream: &'static str,
    complete: bool,
    warnings: &'a [String],
    rows: &'a Rows,
    features_seen: u64,
    scans: u32,
    seed: u64,
    selected: Vec<Feature<'a>>,
    score_kind: &'a str,
    p_value_kind: Option<&'a str>,
    always: Vec<Feature<'a>>,
    groups: Option<Vec<Group>>,
    covariates: Vec<Covariate<'a>>,
    intercept: Weights<'a>,
    final_loss: Option<f64>,
    substitutions: Option<u64>,
    dropped: Fates,
    metrics: Pairs<'a>,
    trace: Option<&'a [TracePoint]>,
    run: &'a Run,
}

/// All that a result says.
pub struct Outcome<'a> {
    /// What the driver reports; its first lane is shown.
    pub report: &'a RunReport,
    /// What flowed past: `features`, `groups` or `samples`.
    pub stream: &'static str,
    /// The target.
    pub target: &'a Target,
    /// Names of the files.
    pub sources: &'a [String],
    /// Rows.
    pub rows: &'a Rows,
    /// Seed.
    pub seed: u64,
    /// What the user should know.
    pub warnings: &'a [String],
    /// Times, memory, command.
    pub run: &'a Run,
}

impl Outcome<'_> {
    /// The selection.
    pub fn selection(&self) -> &Selection {
        &self.report.lanes[0].selection
    }

    /// Whether there is a coefficient a class.
    pub fn many(&self) -> bool {
        self.target.classes().is_some_and(|names| names.len() > 2)
    }

    /// The file of a feature.
    pub fn source(&self, feature: &Selected) -> &str {
        self.sources.get(feature.source as usize).map_or("", String::as_str)
    }

    /// The name of a feature's group.
    pub fn group(&self, feature: &Selected) -> Option<String> {
        Some(self.report.groups.as_ref()?.name(feature.group?))
    }

    /// The groups that live, in the order of the method's list, and the members each keeps.
    fn groups(&self) -> Option<Vec<Group>> {
        self.report.groups.as_ref()?;
        let selection = self.selection();
        let mut features: Vec<_> = selection.selected.iter().chain(&selection.always).collect();
        features.sort_by_key(|feature| feature.order);
        let mut groups: Vec<Group> = Vec::new();
        for name in features.iter().filter_map(|feature| self.group(feature)) {
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.members += 1,
                None => groups.push(Group { name, members: 1 }),
            }
        }
        Some(groups)
    }

    fn class_counts(&self) -> Option<Vec<u64>> {
        if self.of_rows() {
            return self.rows.classes.clone();
        }
        self.target.classes()?;
        Some(self.target.class_counts().into_iter().map(|count| count as u64).collect())
    }

    /// Whether rows flowed past, and features were not decided on one by one.
    fn of_rows(&self) -> bool {
        self.stream == "samples"
    }

    fn fates(&self) -> Fates {
        let dropped = self.report.lanes[0].dropped;
        if !self.of_rows() {
            let Dropped { weak, redundant, constant, missing, evicted } = dropped;
            let [weak, redundant, constant, missing, evicted] =
                [weak, redundant, constant, missing, evicted].map(Some);
            return Fates { weak, redundant, constant, missing, evicted };
        }
        let selection = self.selection();
        let kept = (selection.selected.len() + selection.always.len()) as u64;
        let left = self.report.features_seen.saturating_sub(kept);
        let weak = selection.constant.map(|constant| left.saturating_sub(constant));
        let none = None;
        Fates { weak, constant: selection.constant, redundant: none, missing: none, evicted: none }
    }

    fn feature<'a>(&'a self, feature: &'a Selected) -> Feature<'a> {
        Feature {
            index: feature.id.index,
            name: &feature.name,
            arrival: feature.arrival,
            order: feature.order,
            source: self.source(feature),
            group: self.group(feature),
            coefficient: Weights::new(&feature.coefficient, self.many()),
            score: feature.score,
            p_value: feature.p_value,
            mean: feature.mean,
            missing: feature.missing,
        }
    }

    fn covariate<'a>(&self, covariate: &'a CovariateWeight) -> Covariate<'a> {
        let coefficient = Weights::new(&covariate.coefficient, self.many());
        Covariate { name: &covariate.name, coefficient }
    }

    /// The JSON document, indented, with a final newline.
    pub fn json(&self) -> keepnet::Result<Vec<u8>> {
        let selection = self.selection();
        let lane = &self.report.lanes[0];
        let document = Document {
            keepnet: env!("CARGO_PKG_VERSION"),
            version: 1,
            method: selection.method,
            params: Pairs(&selection.params),
            task: self.target.task(),
            classes: self.target.classes(),
            class_counts: self.class_counts(),
            stream: self.stream,
            complete: self.report.complete,
            warnings: self.warnings,
            rows: self.rows,
            features_seen: self.report.features_seen,
            scans: self.report.scans,
            seed: self.seed,
            selected: selection.selected.iter().map(|f| self.feature(f)).collect(),
            score_kind: selection.score_kind,
            p_value_kind: selection.p_value_kind,
            always: selection.always.iter().map(|f| self.feature(f)).collect(),
            groups: self.groups(),
            covariates: selection.covariates.iter().map(|c| self.covariate(c)).collect(),
            intercept: Weights::new(&selection.intercept, self.many()),
            final_loss: selection.loss,
            substitutions: (!self.of_rows() || selection.substitutions > 0)
                .then_some(selection.substitutions),
            dropped: self.fates(),
            metrics: Pairs(&selection.metrics),
            trace: (!self.of_rows() || !lane.trace.is_empty()).then_some(&lane.trace),
            run: self.run,
        };
        let mut text = serde_json::to_vec_pretty(&document)
            .map_err(|error| keepnet::Error::Data(format!("cannot make the result: {error}")))?;
        text.push(b'\n');
        Ok(text)
    }
}
