//! A part of a run over a cluster, and its driver; what goes where is decided in Python.

use std::time::Duration;

use keepnet::run::TracePoint;
use keepnet_run::InputRequest;
use keepnet_run::shard::{
    End, Seen, Sent, Shard as Inner, moved, problem_bytes, problem_from_bytes, problem_of_files,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyTuple};
use serde::Deserialize;

use crate::columns::Columns;
use crate::error::raise;
use crate::request::{COMMAND, read};
use crate::target::problem;
use crate::work::{self, Caller, Held};

/// A column as Python sees it: place, name, fall, bytes.
type Column<'py> = (u64, String, f64, Bound<'py, PyBytes>);

/// A problem as bytes: target, classes, weights.
#[pyfunction]
#[pyo3(signature = (y, classes, weight, balanced))]
pub fn cluster_problem<'py>(
    py: Python<'py>,
    y: &Bound<'py, PyAny>,
    classes: Option<Vec<String>>,
    weight: Option<&Bound<'py, PyAny>>,
    balanced: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let problem = problem(y, classes, weight, balanced)?;
    problem.check().map_err(|error| raise(&error))?;
    let bytes = problem_bytes(&problem).map_err(|error| raise(&error))?;
    Ok(PyBytes::new(py, &bytes))
}

/// A problem as bytes, with its rows and classes, and which columns of the files are no features.
type Opened<'py> = (Bound<'py, PyBytes>, usize, Option<Vec<String>>, Vec<String>);

/// The problem of a request on files.
#[pyfunction]
pub fn cluster_problem_of_files<'py>(py: Python<'py>, request: &str) -> PyResult<Opened<'py>> {
    let mut request = read(request)?;
    request.input.copied = true;
    let (problem, left_out) =
        work::run(py, None, None, move |_: &Caller| problem_of_files(&request))?
            .map_err(|error| raise(&error))?;
    let bytes = problem_bytes(&problem).map_err(|error| raise(&error))?;
    let classes = problem.target.classes().map(<[String]>::to_vec);
    Ok((PyBytes::new(py, &bytes), problem.n(), classes, left_out))
}

/// A column of a part, with its place among the features of all parts.
#[pyfunction]
pub fn moved_column<'py>(py: Python<'py>, raw: &[u8], place: u64) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, &moved(raw, place).map_err(|error| raise(&error))?))
}

/// One part, or the driver of them.
#[pyclass(module = "keepnet._keepnet")]
pub struct Shard {
    threads: Option<usize>,
    run: Held<Inner>,
}

/// How a run ended, as Python says it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    sources: Vec<String>,
    firsts: Vec<u64>,
    features: u64,
    constant: u64,
    missing: u64,
    scans: u32,
    rounds: u32,
    exchanges: u64,
    certificate: bool,
    trace: Vec<(u64, f64, usize, u64)>,
    read: f64,
    select: f64,
}

impl Told {
    fn end(self) -> End {
        let seconds = |s: f64| Duration::try_from_secs_f64(s).unwrap_or_default();
        let point = |(arrived, loss, kept, substitutions)| TracePoint {
            arrived,
            loss: Some(loss),
            kept,
            substitutions,
        };
        let Self { features, constant, missing, .. } = self;
        End {
            sources: self.sources,
            firsts: self.firsts,
            seen: Seen { features, constant, missing },
            scans: self.scans,
            rounds: self.rounds,
            exchanges: self.exchanges,
            certificate: self.certificate,
            trace: self.trace.into_iter().map(point).collect(),
            read: seconds(self.read),
            select: seconds(self.select),
        }
    }
}

impl Shard {
    /// Works without the interpreter's lock.
    fn work<T: Send + 'static>(
        &self,
        py: Python<'_>,
        step: impl FnOnce(&mut Inner, &Caller) -> keepnet::Result<T> + Send + 'static,
    ) -> PyResult<T> {
        self.run.work(py, self.threads, None, step)
    }
}

fn columns<'py>(py: Python<'py>, sent: Vec<Sent>) -> Vec<Column<'py>> {
    let one = |sent: Sent| (sent.place, sent.name, sent.fall, PyBytes::new(py, &sent.bytes));
    sent.into_iter().map(one).collect()
}

#[pymethods]
impl Shard {
    #[new]
    fn new(request: &str, problem: &[u8], first: u64) -> PyResult<Self> {
        let request = read(request)?;
        let threads = request.run.threads;
        let made = problem_from_bytes(problem).and_then(|p| Inner::new(request, p, first));
        Ok(Self { threads, run: Held::new(made.map_err(|error| raise(&error))?) })
    }

    /// Columns of these names are no features.
    fn leave_out(&self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        self.work(py, move |run, _| {
            run.leave_out(names);
            Ok(())
        })
    }

    /// From here on features are tested and change nothing.
    fn test(&self, py: Python<'_>, top: usize, tolerance: f64) -> PyResult<()> {
        self.work(py, move |run, _| {
            run.test(top, tolerance);
            Ok(())
        })
    }

    /// Begins another pass over the same features.
    fn rewind(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, |run, _| {
            run.rewind();
            Ok(())
        })
    }

    /// Features of the pass, and how many of them were constant or had missing values.
    fn seen(&self) -> PyResult<(u64, u64, u64)> {
        let seen = self.run.look(|run| Ok(run.seen()))?;
        Ok((seen.features, seen.constant, seen.missing))
    }

    /// Seconds spent reading files.
    fn read_seconds(&self) -> PyResult<f64> {
        self.run.look(|run| Ok(run.read_time().as_secs_f64()))
    }

    /// A hash of the name of each feature of the first pass.
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let hashes = self.run.look(|run| Ok(run.names().to_vec()))?;
        let bytes: Vec<u8> = hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    /// Offers columns; they are read during the call only.
    fn push(&self, py: Python<'_>, x: &Bound<'_, PyTuple>, names: Vec<String>) -> PyResult<()> {
        let columns = Columns::new(x)?;
        if names.len() != columns.features() {
            let (got, names) = (columns.features(), names.len());
            return Err(PyValueError::new_err(format!("{got} columns came with {names} names")));
        }
        self.work(py, move |run, caller| {
            let all: Vec<usize> = (0..columns.features()).collect();
            let mut names = names.into_iter();
            for at in all.chunks(128) {
                if caller.stopped() {
                    break;
                }
                let data = columns.read(at)?;
                let part = names.by_ref().take(at.len()).map(Into::into).zip(data).collect();
                run.offer(part)?;
            }
            Ok(())
        })
    }

    /// Offers the columns of files, or those at a range of places.
    #[pyo3(signature = (input, range))]
    fn push_files(&self, py: Python<'_>, input: &str, range: Option<(u64, u64)>) -> PyResult<()> {
        let mut input: InputRequest = serde_json::from_str(input)
            .map_err(|error| PyValueError::new_err(format!("a part's files: {error}")))?;
        input.copied = true;
        self.work(py, move |run, caller| run.offer_files(&input, range, &|| caller.stopped()))
    }

    /// The kept columns.
    fn kept<'py>(&self, py: Python<'py>) -> PyResult<Vec<Column<'py>>> {
        Ok(columns(py, self.run.look(Inner::kept)?))
    }

    /// The columns that the tests found, largest fall first.
    fn found<'py>(&self, py: Python<'py>) -> PyResult<Vec<Column<'py>>> {
        Ok(columns(py, self.run.look(Inner::found)?))
    }

    /// The model's columns, in the order that `redraw` takes them.
    fn held<'py>(&self, py: Python<'py>) -> PyResult<Vec<Column<'py>>> {
        Ok(columns(py, self.run.look(Inner::held)?))
    }

    /// The model without its columns.
    fn outline<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.run.look(Inner::outline)?))
    }

    /// Takes up the model of a driver.
    fn redraw(&self, py: Python<'_>, outline: Vec<u8>, held: Vec<PyBackedBytes>) -> PyResult<()> {
        self.work(py, move |run, _| run.redraw(&outline, &held))
    }

    /// Selects among columns that parts kept.
    fn solve(&self, py: Python<'_>, columns: Vec<PyBackedBytes>, scans: u32) -> PyResult<()> {
        self.work(py, move |run, _| run.solve(&columns, scans))
    }

    /// Exchanges kept columns for these; how many were made.
    fn exchange(
        &self,
        py: Python<'_>,
        columns: Vec<PyBackedBytes>,
        tolerance: f64,
    ) -> PyResult<usize> {
        self.work(py, move |run, _| run.exchange(&columns, tolerance))
    }

    /// From here on only the names of the features at these places are noted.
    fn look_at(&self, py: Python<'_>, places: Vec<u64>) -> PyResult<()> {
        self.work(py, move |run, _| {
            run.look_at(places);
            Ok(())
        })
    }

    /// The names that `look_at` asked for.
    fn looked_at(&self) -> PyResult<Vec<String>> {
        self.run.look(|run| Ok(run.looked_at().to_vec()))
    }

    /// Features that replaced another so far.
    fn substitutions(&self) -> PyResult<u64> {
        self.run.look(|run| Ok(run.substitutions()))
    }

    /// Loss of the model, penalty included.
    fn loss(&self) -> PyResult<f64> {
        self.run.look(|run| Ok(run.loss()))
    }

    /// The whole state.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.run.look(Inner::save)?))
    }

    /// Takes up a state of a run that was made with the same arguments.
    fn restore(&self, py: Python<'_>, state: Vec<u8>) -> PyResult<()> {
        self.work(py, move |run, _| run.restore(&state))
    }

    /// The result of a driver.
    fn result(&self, py: Python<'_>, end: &str) -> PyResult<String> {
        let told: Told = serde_json::from_str(end)
            .map_err(|error| PyValueError::new_err(format!("the end of a run: {error}")))?;
        let end = told.end();
        self.work(py, move |run, _| crate::request::json(&[run.outcome(&end, COMMAND)?]))
    }
}
