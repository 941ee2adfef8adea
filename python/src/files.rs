//! Selections from files, by the same sources and joins as the command line.

use std::time::Instant;

use keepnet::run::{RowDriver, RowMissing, RowOptions};
use keepnet::{Driver, Error, FeatureSource, Result, Stream, Task};
use keepnet_io::result::{Rows, Seconds, row_report, row_target, row_warnings};
use keepnet_io::{
    Categorical, Format, Joined, OpenOptions, ProblemSpec, Reading, RowSpec, Stack, open_rows,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;

use crate::error::raise;
use crate::request::{Request, Said};
use crate::work::{self, Eye, Watch};

/// Which files, and what is asked of their rows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Files {
    inputs: Vec<String>,
    target: String,
    task: Option<String>,
    sample_weight: Option<String>,
    offset: Option<String>,
    covar: Option<String>,
    balanced: bool,
    key: Vec<String>,
    columns: Vec<String>,
    exclude: Vec<String>,
    categorical: Option<String>,
    stack: Option<String>,
    format: Option<String>,
}

impl Files {
    fn task(&self) -> Result<Option<Task>> {
        match self.task.as_deref() {
            None | Some("auto") => Ok(None),
            Some("regression") => Ok(Some(Task::Regression)),
            Some("classification") => Ok(Some(Task::Classification)),
            Some(other) => Err(Error::param("task", other, "auto, regression or classification")),
        }
    }

    fn options(&self, memory: Option<u64>) -> Result<OpenOptions> {
        Ok(OpenOptions {
            format: self.format.as_deref().map(Format::parse).transpose()?,
            stack: self.stack.as_deref().map(Stack::parse).transpose()?,
            columns: self.columns.clone(),
            exclude: self.exclude.clone(),
            categorical: self
                .categorical
                .as_deref()
                .map_or(Ok(Categorical::Refuse), Categorical::parse)?,
            key: self.key.clone(),
            memory,
            // A mapped file that another process shortens would end the interpreter.
            reading: Reading::Copied,
            ..OpenOptions::default()
        })
    }

    /// What is asked of the rows.
    fn asked(&self, request: &Request) -> Result<ProblemSpec> {
        Ok(ProblemSpec {
            target: self.target.clone(),
            task: self.task()?,
            loss: request.loss()?,
            weight: self.sample_weight.clone(),
            offset: self.offset.clone(),
            covar: self.covar.clone(),
            balanced: self.balanced,
            key: self.key.clone(),
        })
    }

    /// Features, column by column.
    fn features(&self, request: &Request, watch: &Watch) -> Result<String> {
        let start = Instant::now();
        let options = self.options(request.memory())?;
        let mut dataset = keepnet_io::open(&self.inputs, &options)?;
        let spec = self.asked(request)?;
        let joined = keepnet_io::build_problem(&mut dataset, &spec, &options)?;
        dataset.knows(&request.always(), &joined.not_features)?;
        let mut source = dataset.source(&joined.not_features)?;
        let Joined { problem, matched_by, input, used, masked_target, unmatched, .. } = joined;
        let (masked_target, unmatched) = (Some(masked_target), Some(unmatched));
        let rows = Rows { input, used, matched_by, masked_target, unmatched, classes: None };
        let (lane, options) = request.lane(&source, problem.clone())?;
        let mut driver = Driver::new(&mut source, vec![lane], options)?;
        if let Some(groups) = request.groups()? {
            driver = driver.with_groups(groups);
        }
        let report = driver.run(&mut Eye::new(watch))?;
        let said = Said {
            request,
            target: &problem.target,
            sources: source.sources(),
            rows: &rows,
            total: start.elapsed().as_secs_f64(),
        };
        said.features(&report, &joined.notes, source.integral())
    }

    /// Samples, row by row.
    fn samples(&self, request: &Request, watch: &Watch) -> Result<String> {
        let start = Instant::now();
        let missing = request.row_missing()?;
        let drop_row = missing == RowMissing::DropRow;
        let spec = RowSpec { drop_row, ..self.asked(request)?.into() };
        let mut source = open_rows(&self.inputs, &spec, &self.options(request.memory())?)?;
        let problem = source.problem().clone().keeping(&request.always())?;
        let mut learner = request.learner(&problem)?;
        let classes = problem.classes.len();
        let options = RowOptions { missing, classes, ..RowOptions::default() };
        let files: Vec<String> = source.files().map(String::from).collect();
        let driver = RowDriver::new(&mut source, learner.as_mut(), options);
        let run = driver.run(&mut Eye::rows(watch, None))?;
        let mut selection = learner.selection()?;
        run.filter.tell(&mut selection);
        let matched_by = source.matched_by().to_string();
        let rows = Rows::joined(&run.counts, &matched_by, source.unmatched()).counted(&run.filter);
        let mut warnings = rows.notes();
        warnings.extend(row_warnings(&selection, &run.counts, request.k));
        let total = start.elapsed().as_secs_f64();
        let (read, select) = (run.read.as_secs_f64(), run.learn.as_secs_f64());
        let seconds = Seconds { total, read, select };
        let trace = run.filter.trace();
        let report = row_report(&problem, selection, run.complete, seconds, trace);
        let target = row_target(&problem);
        let said = Said { request, target: &target, sources: &files, rows: &rows, total };
        said.json(&report, "samples", &warnings)
    }
}

/// Selects from files; the JSON result.
#[pyfunction]
#[pyo3(signature = (request, files, callback))]
pub fn select_files(
    py: Python<'_>,
    request: &str,
    files: &str,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let request = Request::new(request)?;
    let files: Files = serde_json::from_str(files)
        .map_err(|error| PyValueError::new_err(format!("a wrong request: {error}")))?;
    let threads = request.threads;
    let select = move |watch: &Watch| match request.info()?.stream {
        Stream::Samples => files.samples(&request, watch),
        _ => files.features(&request, watch),
    };
    work::run(py, threads, callback, select)?.map_err(|error| raise(&error))
}
