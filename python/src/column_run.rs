//! Methods on a stream of features: a matrix in one call, or columns as they are brought.

use std::time::Instant;

use keepnet::{Driver, FeatureSource, Problem, Pushed, Result, RunReport};
use keepnet_io::result::Rows;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::columns::{ArraySource, Columns};
use crate::error::raise;
use crate::request::{Request, Said};
use crate::target::problem;
use crate::work::{self, Eye, Held, Watch};

fn rows(problem: &Problem) -> Rows {
    let (input, used) = (problem.rows.input(), problem.n());
    let matched_by = "position".into();
    let (masked_target, unmatched) = (Some(0), Some(0));
    Rows { input, used, matched_by, masked_target, unmatched, classes: None }
}

/// Selects from columns in memory; the JSON result.
#[pyfunction]
#[pyo3(signature = (request, x, names, y, classes, weight, balanced, callback))]
#[expect(clippy::too_many_arguments, reason = "one call of one caller")]
pub fn fit_columns(
    py: Python<'_>,
    request: &str,
    x: &Bound<'_, PyTuple>,
    names: Option<Vec<String>>,
    y: &Bound<'_, PyAny>,
    classes: Option<Vec<String>>,
    weight: Option<&Bound<'_, PyAny>>,
    balanced: bool,
    callback: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let request = Request::new(request)?;
    let problem = problem(y, classes, weight, balanced)?;
    let source = ArraySource::new(Columns::new(x)?, names)?;
    let threads = request.threads;
    let fit = move |watch: &Watch| fit(&request, source, problem, watch);
    work::run(py, threads, callback, fit)?.map_err(|error| raise(&error))
}

fn fit(
    request: &Request,
    mut source: ArraySource,
    problem: Problem,
    watch: &Watch,
) -> Result<String> {
    let start = Instant::now();
    let integral = request.integral(&source);
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
        rows: &rows(&problem),
        total: start.elapsed().as_secs_f64(),
    };
    said.features(&report, &[], integral)
}

/// A run on columns that are brought block after block.
#[pyclass(module = "keepnet._keepnet")]
pub struct ColumnRun {
    request: Request,
    problem: Problem,
    start: Instant,
    run: Held<Pushed>,
}

/// A stream of columns of this many rows, about which nothing else is known.
struct Unknown(usize);

impl FeatureSource for Unknown {
    fn rows(&self) -> usize {
        self.0
    }

    fn features(&self) -> Option<u64> {
        None
    }

    fn sources(&self) -> &[String] {
        &[]
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
    fn made(request: &Request, problem: &Problem) -> Result<Pushed> {
        let (lane, options) = request.lane(&Unknown(problem.rows.input()), problem.clone())?;
        Pushed::new(vec![lane], options, request.groups()?)
    }

    /// Works on the run without the interpreter's lock.
    fn work<T: Send + 'static>(
        &self,
        py: Python<'_>,
        callback: Option<&Bound<'_, PyAny>>,
        step: impl FnOnce(&mut Pushed, &Watch) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        self.run.work(py, self.request.threads, callback, step)
    }

    fn json(&self, report: &RunReport) -> PyResult<String> {
        let said = Said {
            request: &self.request,
            target: &self.problem.target,
            sources: &["memory".into()],
            rows: &rows(&self.problem),
            total: self.start.elapsed().as_secs_f64(),
        };
        let integral = self.request.integral(&Unknown(self.problem.rows.input()));
        said.features(report, &[], integral).map_err(|error| raise(&error))
    }
}

#[pymethods]
impl ColumnRun {
    #[new]
    #[pyo3(signature = (request, y, classes, weight, balanced))]
    fn new(
        request: &str,
        y: &Bound<'_, PyAny>,
        classes: Option<Vec<String>>,
        weight: Option<&Bound<'_, PyAny>>,
        balanced: bool,
    ) -> PyResult<Self> {
        let request = Request::new(request)?;
        let problem = problem(y, classes, weight, balanced)?;
        let mut run = Self::made(&request, &problem).map_err(|error| raise(&error))?;
        run.begin_scan().map_err(|error| raise(&error))?;
        Ok(Self { request, problem, start: Instant::now(), run: Held::new(run) })
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
        self.work(py, callback, move |run, watch| {
            let all: Vec<usize> = (0..columns.features()).collect();
            let mut names = names.into_iter();
            for at in all.chunks(128) {
                if watch.stopped() {
                    break;
                }
                let data = columns.read(at)?;
                let part = names.by_ref().take(at.len()).zip(data).collect();
                run.push(part, &mut Eye::new(watch))?;
            }
            Ok(())
        })
    }

    /// Ends a scan; whether another would change nothing.
    fn end_scan(&self, py: Python<'_>) -> PyResult<bool> {
        self.work(py, None, |run, watch| run.end_scan(&mut Eye::new(watch)))
    }

    /// Begins a further scan.
    fn begin_scan(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, None, |run, _| run.begin_scan())
    }

    /// The result so far, without the last refit.
    fn look(&self, py: Python<'_>) -> PyResult<String> {
        let report = self.work(py, None, |run, watch| run.look(&mut Eye::new(watch)))?;
        self.json(&report)
    }

    /// Refits; the result.
    fn finish(&self, py: Python<'_>, complete: bool) -> PyResult<String> {
        let report = self.work(py, None, move |run, _| run.finish(complete))?;
        self.json(&report)
    }

    /// The whole state.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.work(py, None, |run, watch| run.save(&mut Eye::new(watch)))?;
        Ok(PyBytes::new(py, &state))
    }

    /// Takes up a state of a run that was made with the same arguments.
    fn restore(&self, state: &[u8]) -> PyResult<()> {
        let mut run = Self::made(&self.request, &self.problem).map_err(|error| raise(&error))?;
        run.restore(state).map_err(|error| raise(&error))?;
        self.run.put(run);
        Ok(())
    }
}
