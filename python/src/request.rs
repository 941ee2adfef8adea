//! What Python asks for, as JSON, and what the engine makes of it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use keepnet::run::RowMissing;
use keepnet::registry::{self, MethodInfo, MethodSpec, Stream};
use keepnet::{
    Budget, CheckPolicy, Error, FeatureSource, Groups, Lane, LossKind, Missing, Order, Problem,
    Result, RowLearner, RowProblem, RunOptions, RunReport, Target,
};
use keepnet_io::plan::Plan;
use keepnet_io::result::{Outcome, Rows, Run, Seconds, warnings};
use keepnet_io::system;
use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use serde::Deserialize;

use crate::registry::stream;

/// An order by name or by the places of the features.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum AskedOrder {
    Name(String),
    Places(Vec<u32>),
}

/// Groups by rule or by pairs of feature and group.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum AskedGroups {
    Rule(String),
    Pairs(Vec<(String, String)>),
}

/// A method and how it is to run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    method: String,
    /// Features to keep.
    #[serde(default)]
    pub k: Option<usize>,
    #[serde(default)]
    loss: Option<String>,
    #[serde(default)]
    settings: BTreeMap<String, String>,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    scans: Option<u32>,
    #[serde(default)]
    order: Option<AskedOrder>,
    #[serde(default)]
    groups: Option<AskedGroups>,
    #[serde(default)]
    always: Vec<String>,
    #[serde(default)]
    missing: Option<String>,
    #[serde(default)]
    max_missing: Option<f64>,
    #[serde(default)]
    min_count: usize,
    #[serde(default)]
    memory: Option<u64>,
    /// Threads; `None` is all cores.
    #[serde(default)]
    pub threads: Option<usize>,
    /// What the caller knows and the result should say.
    #[serde(default)]
    notes: Vec<String>,
    /// Whether columns are to be taken as whole numbers, where the types do not decide.
    #[serde(default)]
    integral: Option<bool>,
}

impl Request {
    /// Reads a request.
    pub fn new(json: &str) -> PyResult<Self> {
        serde_json::from_str(json)
            .map_err(|error| PyValueError::new_err(format!("a wrong request: {error}")))
    }

    /// The method.
    pub fn info(&self) -> Result<&'static MethodInfo> {
        registry::find(&self.method)
    }

    /// Names kept whatever happens.
    pub fn always(&self) -> HashSet<String> {
        self.always.iter().cloned().collect()
    }

    /// The memory limit.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// What is asked of the method.
    pub fn spec(&self) -> Result<MethodSpec> {
        let spec = MethodSpec {
            k: self.k,
            loss: self.loss()?,
            seed: self.seed,
            settings: self.settings.clone(),
            integral: false,
            column_bytes: None,
        };
        if self.info()?.needs_k {
            spec.need_k()?;
        }
        Ok(spec)
    }

    /// Whether the types say that every column holds whole numbers; the caller may know better.
    pub fn integral(&self, source: &dyn FeatureSource) -> bool {
        self.integral.unwrap_or_else(|| source.integral())
    }

    /// The loss, where one was named.
    pub fn loss(&self) -> Result<Option<LossKind>> {
        self.loss.as_deref().map(LossKind::parse).transpose()
    }

    fn policy(&self) -> Result<CheckPolicy> {
        let missing = self.missing.as_deref().map_or(Ok(Missing::Error), Missing::parse)?;
        Ok(CheckPolicy { missing, max_missing: self.max_missing, min_count: self.min_count })
    }

    /// What becomes of missing values in rows.
    pub fn row_missing(&self) -> Result<RowMissing> {
        self.missing.as_deref().map_or(Ok(RowMissing::Error), RowMissing::parse)
    }

    /// The groups, where there are any.
    pub fn groups(&self) -> Result<Option<Groups>> {
        match &self.groups {
            None => Ok(None),
            Some(AskedGroups::Pairs(pairs)) => Groups::table(pairs.iter().cloned()).map(Some),
            Some(AskedGroups::Rule(text)) => match Groups::parse(text)? {
                Some(groups) => Ok(Some(groups)),
                None => Err(Error::param("groups", text, "prefix:SEP, block:N, or a mapping")),
            },
        }
    }

    fn order(&self) -> Result<Order> {
        match &self.order {
            None => Ok(Order::Given),
            Some(AskedOrder::Places(places)) => Ok(Order::Fixed(Arc::from(places.as_slice()))),
            Some(AskedOrder::Name(name)) => match name.as_str() {
                "given" => Ok(Order::Given),
                "shuffled" => Ok(Order::Shuffled),
                other => Err(Error::param("order", other, "given, shuffled or feature indices")),
            },
        }
    }

    /// A lane and the options of its run; memory is decided here.
    pub fn lane(&self, source: &dyn FeatureSource, problem: Problem) -> Result<(Lane, RunOptions)> {
        let mut plan = Plan::new(self.memory, source);
        let column_bytes = Some(plan.column);
        let integral = self.integral(source);
        let spec = MethodSpec { column_bytes, integral, ..self.spec()? };
        problem.check()?;
        let info = self.info()?;
        let selector = registry::make(info, &spec, &problem, plan.budget()?)?;
        let batch = info.stream == Stream::Batch;
        plan.add(selector.as_ref(), self.always().len(), &problem, batch)?;
        let mut lane = Lane::new(problem, selector);
        lane.policy = self.policy()?;
        lane.pinned = self.always();
        let scans = self.scans.unwrap_or(info.scans);
        let options =
            RunOptions { scans, order: self.order()?, seed: self.seed, width: plan.width };
        Ok((lane, options))
    }

    /// A learner of rows.
    pub fn learner(&self, problem: &RowProblem) -> Result<Box<dyn RowLearner>> {
        let budget = self.memory.map_or_else(Budget::unlimited, Budget::bytes);
        registry::make_rows(self.info()?, &self.spec()?, problem, budget)
    }
}

/// What a result says besides the report.
pub struct Said<'a> {
    /// What was asked.
    pub request: &'a Request,
    /// The target.
    pub target: &'a Target,
    /// Files, or `memory`.
    pub sources: &'a [String],
    /// Rows by their fate.
    pub rows: &'a Rows,
    /// From start to result.
    pub total: f64,
}

impl Said<'_> {
    /// The JSON of a run on features; `notes` are those of a join.
    pub fn features(&self, report: &RunReport, notes: &[String], integral: bool) -> Result<String> {
        let notes: Vec<String> = notes.iter().chain(&self.request.notes).cloned().collect();
        let spec = self.request.spec()?;
        let warnings = warnings(&notes, &spec, integral, report);
        let stream = stream(self.request.info()?.stream);
        self.json(report, stream, &warnings)
    }

    /// The JSON of any run.
    pub fn json(
        &self,
        report: &RunReport,
        stream: &'static str,
        warnings: &[String],
    ) -> Result<String> {
        let (read, select) = (report.read.as_secs_f64(), report.select.as_secs_f64());
        let run = Run {
            seconds: Seconds { total: self.total, read, select },
            peak_bytes: system::peak_bytes(),
            threads: rayon::current_num_threads(),
            command: "python".into(),
        };
        let outcome = Outcome {
            report,
            stream,
            target: self.target,
            sources: self.sources,
            rows: self.rows,
            seed: self.request.seed,
            warnings,
            run: &run,
        };
        String::from_utf8(outcome.json()?)
            .map_err(|error| Error::Data(format!("cannot make the result: {error}")))
    }
}
