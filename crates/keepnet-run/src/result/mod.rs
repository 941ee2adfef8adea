//! The result of a run, and its JSON, version 1. Fields may be added, never renamed.
//!
//! Everything outside `run` is the same, digit for digit, in a second run.

pub mod csv;
mod outcome;
pub mod saved;
pub mod score;
pub mod table;
mod warnings;

pub use outcome::{Context, Fates, Outcome, Rows, Run, Seconds};
pub use warnings::keeps_all;

use std::borrow::Cow;
use std::collections::HashSet;

use keepnet::Task;
use keepnet::registry::Stream;
use keepnet::run::TracePoint;
use keepnet::selection::{
    Affiliated, CovariateCoefficient, ErrorControl, Selected, Selection, Value,
};
use keepnet_io::Origin;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::lanes::{Evidence, Holdout, Inference, Null, PathPoint, Stability};

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
    Many(Cow<'a, [f64]>),
}

impl<'a> Weights<'a> {
    fn new(values: impl Into<Cow<'a, [f64]>>, many: bool) -> Self {
        let values = values.into();
        match values.first() {
            None => Self::None,
            Some(_) if many => Self::Many(values),
            Some(first) => Self::One(*first),
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
    standardised: Weights<'a>,
    score: f64,
    p_value: Weights<'a>,
    log_p: Option<f64>,
    q_value: Option<f64>,
    level: Option<f64>,
    statistic: Option<f64>,
    test: Option<&'static str>,
    mean: f64,
    missing: Option<u32>,
    #[serde(flatten)]
    evidence: Shown<'a>,
    fill: Option<f64>,
    origin: Option<&'a Origin>,
    #[serde(flatten)]
    variant: Option<Locus<'a>>,
}

/// Where a variant is, and its alleles; the coefficient is that of a copy of `a1`.
#[derive(Serialize)]
struct Locus<'a> {
    chromosome: &'a str,
    position: i64,
    a1: &'a str,
    a2: &'a str,
}

/// What the run found of a feature; what was not asked for is left out.
#[derive(Default, Serialize)]
struct Shown<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<Weights<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    std_error: Option<Weights<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ci_low: Option<Weights<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ci_high: Option<Weights<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p_adjusted: Option<Weights<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    w: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    e_value: Option<f64>,
}

impl<'a> Shown<'a> {
    fn new(evidence: Option<&'a Evidence>, many: bool) -> Self {
        let Some(evidence) = evidence else { return Self::default() };
        let some = |values: &'a [f64]| {
            Some(values).filter(|values| !values.is_empty()).map(|v| Weights::new(v, many))
        };
        Self {
            frequency: evidence.frequency,
            estimate: some(&evidence.estimate),
            std_error: some(&evidence.std_error),
            ci_low: some(&evidence.ci_low),
            ci_high: some(&evidence.ci_high),
            p_adjusted: some(&evidence.p_adjusted),
            w: evidence.w,
            e_value: evidence.e_value,
        }
    }
}

#[derive(Serialize)]
struct Group {
    name: String,
    members: usize,
}

#[derive(Serialize)]
struct Affiliate<'a> {
    index: u64,
    name: &'a str,
    of: &'a str,
    correlation: f64,
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
    missing_policy: &'a str,
    offset: Option<&'a str>,
    features_seen: u64,
    scans: u32,
    seed: u64,
    selected: Vec<Feature<'a>>,
    score_kind: &'a str,
    p_value_kind: Option<&'a str>,
    error_control: Option<&'a ErrorControl>,
    always: Vec<Feature<'a>>,
    groups: Option<Vec<Group>>,
    affiliated: Option<Vec<Affiliate<'a>>>,
    covariates: Vec<Covariate<'a>>,
    intercept: Weights<'a>,
    final_loss: Option<f64>,
    loss_kind: Option<&'static str>,
    objective: Option<f64>,
    path: Option<&'a [PathPoint]>,
    holdout: Option<&'a Holdout>,
    stability: Option<&'a Stability>,
    inference: Option<&'a Inference>,
    null: Option<&'a Null>,
    substitutions: Option<u64>,
    dropped: &'a Fates,
    metrics: Pairs<'a>,
    trace: Option<&'a [TracePoint]>,
    run: &'a Run,
}

/// A run of several targets: what all of them share, and the whole result of each.
#[derive(Serialize)]
struct Several<'a> {
    keepnet: &'static str,
    version: u32,
    method: &'a str,
    stream: &'static str,
    complete: bool,
    missing_policy: &'a str,
    offset: Option<&'a str>,
    features_seen: u64,
    scans: u32,
    seed: u64,
    distinct_kept: usize,
    targets: Vec<OfTarget<'a>>,
    run: &'a Run,
}

#[derive(Serialize)]
struct OfTarget<'a> {
    target: &'a str,
    #[serde(flatten)]
    document: Document<'a>,
}

/// Different features that are kept for any of the targets.
#[must_use]
pub fn distinct_kept(outcomes: &[Outcome]) -> usize {
    let kept = |outcome: &Outcome| {
        let Selection { selected, pinned, .. } = &outcome.selection;
        selected.iter().chain(pinned).map(|feature| feature.id).collect::<HashSet<_>>()
    };
    outcomes.iter().flat_map(kept).collect::<HashSet<_>>().len()
}

/// The JSON document of a run: of one target as [`Outcome::json`] has it, of several with a list of
/// such results.
pub fn json(outcomes: &[Outcome]) -> keepnet::Result<Vec<u8>> {
    let first = match outcomes {
        [one] => return one.json(),
        [first, ..] => first,
        [] => return Err(keepnet::Error::Defect("a run without a result".into())),
    };
    let targets = outcomes
        .iter()
        .map(|outcome| OfTarget { target: outcome.target_name(), document: outcome.document() });
    written(&Several {
        keepnet: env!("CARGO_PKG_VERSION"),
        version: 1,
        method: first.selection.method,
        stream: stream(first.stream),
        complete: outcomes.iter().all(|outcome| outcome.complete),
        missing_policy: &first.missing,
        offset: first.offset.as_deref(),
        features_seen: first.features_seen,
        scans: outcomes.iter().map(|outcome| outcome.scans).max().unwrap_or(0),
        seed: first.seed,
        distinct_kept: distinct_kept(outcomes),
        targets: targets.collect(),
        run: &first.run,
    })
}

/// Indented, with a final newline.
fn written(document: &impl Serialize) -> keepnet::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(document)
        .map_err(|error| keepnet::Error::Data(format!("cannot make the result: {error}")))?;
    text.push(b'\n');
    Ok(text)
}

impl Outcome {
    /// Whether there is a coefficient a class.
    pub fn many(&self) -> bool {
        self.classes.as_ref().is_some_and(|names| names.len() > 2)
    }

    /// What the loss is taken over: the rows that the model was fitted on, or each row before it
    /// was learnt from; `None` where there is no loss.
    #[must_use]
    pub fn loss_kind(&self) -> Option<&'static str> {
        self.selection.loss?;
        let info = keepnet::registry::find(self.selection.method).ok()?;
        Some(match info.progressive() {
            true => "progressive",
            false => "in-sample",
        })
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
        let evidence = self.found.features.get(&feature.id);
        let tested = feature.tested.as_ref();
        Feature {
            index: feature.id.index,
            name: &feature.name,
            arrival: feature.arrival,
            order: feature.order,
            source: self.source(feature),
            group: self.group(feature),
            coefficient: Weights::new(&feature.coefficient, self.many()),
            standardised: Weights::new(feature.standardised(), self.many()),
            score: feature.score,
            p_value: match evidence.map(|evidence| evidence.p_value.as_slice()) {
                Some(values @ [_, ..]) => Weights::new(values, self.many()),
                _ => feature.p_value.map_or(Weights::None, Weights::One),
            },
            evidence: Shown::new(evidence, self.many()),
            log_p: tested.map(|t| t.log_p),
            q_value: tested.and_then(|t| t.q_value),
            level: tested.and_then(|t| t.level),
            statistic: tested.and_then(|t| t.statistic),
            test: tested.map(|t| t.test),
            mean: feature.mean,
            missing: feature.missing,
            fill: self.fill(feature),
            origin: self.origins.get(&feature.id),
            variant: self.variants.get(&feature.id).map(|v| Locus {
                chromosome: &v.chromosome,
                position: v.position,
                a1: &v.a1,
                a2: &v.a2,
            }),
        }
    }

    fn affiliates<'a>(&'a self, list: &'a [Affiliated]) -> Vec<Affiliate<'a>> {
        let selection = &self.selection;
        let name = |id| {
            let mut all = selection.selected.iter().chain(&selection.pinned);
            all.find(|feature| feature.id == id).map(|feature| feature.name.as_str())
        };
        let shown = |one: &'a Affiliated| {
            let (index, correlation) = (one.id.index, one.correlation);
            Some(Affiliate { index, name: &one.name, of: name(one.of)?, correlation })
        };
        list.iter().filter_map(shown).collect()
    }

    fn covariate<'a>(&self, covariate: &'a CovariateCoefficient) -> Covariate<'a> {
        let coefficient = Weights::new(&covariate.coefficient, self.many());
        Covariate { name: &covariate.name, coefficient }
    }

    /// The JSON document, indented, with a final newline.
    pub fn json(&self) -> keepnet::Result<Vec<u8>> {
        written(&self.document())
    }

    fn document(&self) -> Document<'_> {
        let selection = &self.selection;
        Document {
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
            missing_policy: &self.missing,
            offset: self.offset.as_deref(),
            features_seen: self.features_seen,
            scans: self.scans,
            seed: self.seed,
            selected: selection.selected.iter().map(|f| self.feature(f)).collect(),
            score_kind: selection.score_kind,
            p_value_kind: selection.p_value_kind,
            error_control: self.found.error_control.as_ref().or(selection.error_control.as_ref()),
            always: selection.pinned.iter().map(|f| self.feature(f)).collect(),
            groups: self.group_list(),
            affiliated: selection.affiliated.as_ref().map(|list| self.affiliates(list)),
            covariates: selection.covariates.iter().map(|c| self.covariate(c)).collect(),
            intercept: Weights::new(&selection.intercept, self.many()),
            final_loss: selection.loss,
            loss_kind: self.loss_kind(),
            objective: selection.objective,
            path: self.found.path.as_deref(),
            holdout: self.found.holdout.as_ref(),
            stability: self.found.stability.as_ref(),
            inference: self.found.inference.as_ref(),
            null: self.found.null.as_ref(),
            substitutions: (!self.of_rows() && self.found.stability.is_none()
                || selection.substitutions > 0)
                .then_some(selection.substitutions),
            dropped: &self.dropped,
            metrics: Pairs(&selection.metrics),
            trace: self.trace.as_deref(),
            run: &self.run,
        }
    }
}
