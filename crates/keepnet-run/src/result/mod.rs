//! The result of a run, and its JSON, version 1. Fields may be added, never renamed.
//!
//! Everything outside `run` is the same, digit for digit, in a second run.

pub mod csv;
mod outcome;
pub mod table;
mod warnings;

pub use outcome::{Context, Fates, Outcome, Rows, Run, Seconds};
pub use warnings::keeps_all;

use keepnet::Task;
use keepnet::registry::Stream;
use keepnet::run::TracePoint;
use keepnet::selection::{CovariateCoefficient, Selected, Value};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The name of what flows past.
#[must_use]
pub fn stream(stream: Stream) -> &'static str {
    match stream {
        Stream::Features => "features",
        Stream::Groups => "groups",
        Stream::Samples => "samples",
        Stream::Batch => "batch",
    }
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
    class_counts: Option<&'a [u64]>,
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
    dropped: &'a Fates,
    metrics: Pairs<'a>,
    trace: Option<&'a [TracePoint]>,
    run: &'a Run,
}

impl Outcome {
    /// Whether there is a coefficient a class.
    pub fn many(&self) -> bool {
        self.classes.as_ref().is_some_and(|names| names.len() > 2)
    }

    /// The file of a feature.
    pub fn source(&self, feature: &Selected) -> &str {
        self.sources.get(feature.source as usize).map_or("", String::as_str)
    }

    /// The name of a feature's group.
    pub fn group(&self, feature: &Selected) -> Option<String> {
        Some(self.groups.as_ref()?.name(feature.group?))
    }

    /// The groups that live, in the order of the method's list, and the members each keeps.
    fn group_list(&self) -> Option<Vec<Group>> {
        self.groups.as_ref()?;
        let selection = &self.selection;
        let mut features: Vec<_> = selection.selected.iter().chain(&selection.pinned).collect();
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

    fn covariate<'a>(&self, covariate: &'a CovariateCoefficient) -> Covariate<'a> {
        let coefficient = Weights::new(&covariate.coefficient, self.many());
        Covariate { name: &covariate.name, coefficient }
    }

    /// The JSON document, indented, with a final newline.
    pub fn json(&self) -> keepnet::Result<Vec<u8>> {
        let selection = &self.selection;
        let document = Document {
            keepnet: env!("CARGO_PKG_VERSION"),
            version: 1,
            method: selection.method,
            params: Pairs(&selection.params),
            task: self.task,
            classes: self.classes.as_deref(),
            class_counts: self.class_counts.as_deref(),
            stream: stream(self.stream),
            complete: self.complete,
            warnings: &self.warnings,
            rows: &self.rows,
            features_seen: self.features_seen,
            scans: self.scans,
            seed: self.seed,
            selected: selection.selected.iter().map(|f| self.feature(f)).collect(),
            score_kind: selection.score_kind,
            p_value_kind: selection.p_value_kind,
            always: selection.pinned.iter().map(|f| self.feature(f)).collect(),
            groups: self.group_list(),
            covariates: selection.covariates.iter().map(|c| self.covariate(c)).collect(),
            intercept: Weights::new(&selection.intercept, self.many()),
            final_loss: selection.loss,
            substitutions: (!self.of_rows() || selection.substitutions > 0)
                .then_some(selection.substitutions),
            dropped: &self.dropped,
            metrics: Pairs(&selection.metrics),
            trace: self.trace.as_deref(),
            run: &self.run,
        };
        let mut text = serde_json::to_vec_pretty(&document)
            .map_err(|error| keepnet::Error::Data(format!("cannot make the result: {error}")))?;
        text.push(b'\n');
        Ok(text)
    }
}
