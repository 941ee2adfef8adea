//! Methods on a stream of features: a matrix in one call, or columns as they are brought.

use std::time::Instant;

use keepnet::run::Decision;
use keepnet::select::statistical::screen::SCREEN;
use keepnet::{
    Driver, Error, FeatureId, FeatureSource, Flow, Observer, Progress, Pushed, Result, RunReport,
};
use keepnet_run::Request;
use keepnet_run::columns::Made;
use keepnet_run::lanes;
use keepnet_run::request::Size;
use keepnet_run::watch::Watch;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::columns::{ArraySource, Columns};
use crate::error::raise;
use crate::request::{arranged, made, of_columns, read};
use crate::target::{Aim, Told, aims};
use crate::work::{self, Caller, Eye, Held};

/// Selects from columns in memory; the JSON result.
#[pyfunction]
#[pyo3(signature = (request, x, names, targets, weight, callback))]
pub fn fit_columns(
    py: Python<'_>,
    request: &str,
    x: &Bound<'_, PyTuple>,
    names: Option<Vec<String>>,
    targets: Vec<Told<'_>>,
    weight: Option<&Bound<'_, PyAny>>,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let request = read(request)?;
    let aims = aims(targets, weight)?;
    let source = ArraySource::new(Columns::new(x)?, names)?;
    let threads = request.run.threads;
    let fit = move |caller: &Caller| fit(&request, source, &aims, caller);
    work::run(py, threads, callback, fit)?.map_err(|error| raise(&error))
}

fn fit(
    request: &Request,
    mut source: ArraySource,
    aims: &[Aim],
    caller: &Caller,
) -> Result<String> {
    let start = Instant::now();
    let arrangements = arranged(request, aims, source.features())?;
    let Made { lanes, options, .. } = made(request, &source, &arrangements)?;
    let mut driver = Driver::new(&mut source, lanes, options)?;
    if let Some(spec) = &request.method.groups {
        driver = driver.with_groups(spec.groups()?);
    }
    let mut eye = Eye(caller);
    let method = request.method.info()?;
    if method.name != SCREEN.name {
        let mut report = driver.run(&mut eye.watch())?;
        let concluded = lanes::conclude(&arrangements, &mut report, &mut source, request)?;
        return of_columns((request, start), (&report, concluded), aims, &source);
    }
    let mut tests = Tests { watch: eye.watch(), log_p: Vec::new() };
    let mut report = driver.run(&mut tests)?;
    let mut log_p = tests.log_p;
    log_p.resize_with(report.lanes.len(), Vec::new);
    // The first lane of each target is the one that decides.
    let lanes = arrangements.iter().flat_map(|one| (0..one.asks().len()).map(|at| at == 0));
    let mut lanes = lanes.collect::<Vec<_>>().into_iter();
    log_p.retain(|_| lanes.next().unwrap_or(false));
    let concluded = lanes::conclude(&arrangements, &mut report, &mut source, request)?;
    with_tests(&of_columns((request, start), (&report, concluded), aims, &source)?, &log_p)
}

/// An observer that notes, for each lane, the logarithm of the p-value of every feature tested.
struct Tests<'a> {
    watch: Watch<'a>,
    log_p: Vec<Vec<Option<f64>>>,
}

impl Observer for Tests<'_> {
    fn progress(&mut self, progress: &Progress) -> Result<Flow> {
        Observer::progress(&mut self.watch, progress)
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        Observer::save(&mut self.watch, state)
    }

    fn decision(&mut self, decision: &Decision<'_>) -> Result<()> {
        let FeatureId { index, part } = decision.id;
        if let (0, Some(log_p)) = (part, decision.outcome.marginal) {
            let (lane, at) = (decision.lane, index as usize);
            if self.log_p.len() <= lane {
                self.log_p.resize_with(lane + 1, Vec::new);
            }
            let own = &mut self.log_p[lane];
            if own.len() <= at {
                own.resize(at + 1, None);
            }
            own[at] = Some(log_p);
        }
        self.watch.decision(decision)
    }
}

/// The result with the logarithms of all p-values of each target, null where a feature was not
/// tested.
fn with_tests(text: &str, log_p: &[Vec<Option<f64>>]) -> Result<String> {
    let failed = |error: serde_json::Error| keepnet::Error::Data(error.to_string());
    let mut result: serde_json::Value = serde_json::from_str(text).map_err(failed)?;
    let mut one = |at: usize, log_p: &[Option<f64>]| {
        let place =
            if result["targets"].is_null() { &mut result } else { &mut result["targets"][at] };
        place["log_p"] = serde_json::to_value(log_p).map_err(failed)?;
        Ok(())
    };
    log_p.iter().enumerate().try_for_each(|(at, log_p)| one(at, log_p))?;
    serde_json::to_string(&result).map_err(failed)
}

/// A run on columns that are brought block after block.
#[pyclass(module = "keepnet._keepnet")]
pub struct ColumnRun {
    request: Request,
    aims: Vec<Aim>,
    start: Instant,
    run: Held<Pushed>,
}

/// A stream of columns of this many rows, about which nothing else is known but its name.
struct Unknown(usize, [String; 1]);

impl Unknown {
    fn new(aims: &[Aim]) -> Self {
        let rows = aims.first().map_or(0, |aim| aim.whole.problem.rows.input());
        Self(rows, ["memory".into()])
    }
}

impl FeatureSource for Unknown {
    fn rows(&self) -> usize {
        self.0
    }

    fn features(&self) -> Option<u64> {
        None
    }

    fn sources(&self) -> &[String] {
        &self.1
    }

    fn fingerprint(&self) -> u64 {
        0
    }

    fn next_block(&mut self, _: &mut keepnet::ColumnBlock) -> Result<bool> {
        Ok(false)
    }

    fn rewind(&mut self) -> Result<()> {
        Ok(())
    }
}

impl ColumnRun {
    fn made(request: &Request, aims: &[Aim]) -> Result<Pushed> {
        if request.trust.any() || request.method.k.as_ref().is_some_and(Size::chosen) {
            let what = "columns that are brought once have one size and no rows set aside";
            return Err(Error::Unsupported(format!("{what}; use fit, or select with files")));
        }
        let source = Unknown::new(aims);
        let arrangements = arranged(request, aims, None)?;
        let Made { lanes, options, .. } = made(request, &source, &arrangements)?;
        let groups = request.method.groups.as_ref().map(|spec| spec.groups()).transpose()?;
        Pushed::new(lanes, options, groups)
    }

    /// Works on the run without the interpreter's lock.
    fn work<T: Send + 'static>(
        &self,
        py: Python<'_>,
        callback: Option<&Bound<'_, PyAny>>,
        step: impl FnOnce(&mut Pushed, &Caller) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        self.run.work(py, self.request.run.threads, callback, step)
    }

    fn json(&self, mut report: RunReport) -> PyResult<String> {
        let mut concluded = || {
            let (asked, aims) = ((&self.request, self.start), &self.aims);
            let mut source = Unknown::new(aims);
            let arrangements = arranged(&self.request, aims, None)?;
            let concluded =
                lanes::conclude(&arrangements, &mut report, &mut source, &self.request)?;
            of_columns(asked, (&report, concluded), aims, &source)
        };
        concluded().map_err(|error| raise(&error))
    }
}

#[pymethods]
impl ColumnRun {
    #[new]
    #[pyo3(signature = (request, targets, weight))]
    fn new(
        request: &str,
        targets: Vec<Told<'_>>,
        weight: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let request = read(request)?;
        let aims = aims(targets, weight)?;
        let mut run = Self::made(&request, &aims).map_err(|error| raise(&error))?;
        run.begin_scan().map_err(|error| raise(&error))?;
        Ok(Self { request, aims, start: Instant::now(), run: Held::new(run) })
    }

    /// Offers columns; they are read during the call only.
    #[pyo3(signature = (x, names, callback))]
    fn push(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyTuple>,
        names: Vec<String>,
        callback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let columns = Columns::new(x)?;
        if names.len() != columns.features() {
            let (got, names) = (columns.features(), names.len());
            return Err(PyValueError::new_err(format!("{got} columns came with {names} names")));
        }
        self.work(py, callback, move |run, caller| {
            let all: Vec<usize> = (0..columns.features()).collect();
            let mut names = names.into_iter();
            for at in all.chunks(128) {
                if caller.stopped() {
                    break;
                }
                let data = columns.read(at)?;
                let part = names.by_ref().take(at.len()).zip(data).collect();
                run.push(part, &mut Eye(caller).watch())?;
            }
            Ok(())
        })
    }

    /// Ends a scan; whether another would change nothing.
    fn end_scan(&self, py: Python<'_>) -> PyResult<bool> {
        self.work(py, None, |run, caller| run.end_scan(&mut Eye(caller).watch()))
    }

    /// Begins a further scan.
    fn begin_scan(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, None, |run, _| run.begin_scan())
    }

    /// The result so far, without the last refit.
    fn look(&self, py: Python<'_>) -> PyResult<String> {
        let report = self.work(py, None, |run, caller| run.look(&mut Eye(caller).watch()))?;
        self.json(report)
    }

    /// Refits; the result.
    fn finish(&self, py: Python<'_>, complete: bool) -> PyResult<String> {
        let report = self.work(py, None, move |run, _| run.finish(complete))?;
        self.json(report)
    }

    /// The whole state.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.work(py, None, |run, caller| run.save(&mut Eye(caller).watch()))?;
        Ok(PyBytes::new(py, &state))
    }

    /// Takes up a state of a run that was made with the same arguments.
    fn restore(&self, state: &[u8]) -> PyResult<()> {
        let mut run = Self::made(&self.request, &self.aims).map_err(|error| raise(&error))?;
        run.restore(state).map_err(|error| raise(&error))?;
        self.run.put(run);
        Ok(())
    }
}
