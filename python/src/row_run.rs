//! Methods on a stream of rows: any number of pushes, a result at any time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use keepnet::learn::SavedAverages;
use keepnet::run::{RowCounts, RowDriver, RowFilter, RowMissing, RowOptions, RowReport};
use keepnet::{Error, Result, RowLearner, RowProblem, run::snapshot};
use keepnet_run::result::{Outcome, Rows};
use keepnet_run::{Request, rows::learner};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::error::raise;
use crate::request::{context, json, read};
use crate::rows::{RowSource, Samples};
use crate::target::{numbers, places};
use crate::work::{Caller, Eye, Held};

/// What a call works on.
struct State {
    learner: Box<dyn RowLearner>,
    filter: RowFilter,
}

/// A run on rows that are brought block after block.
#[pyclass(module = "keepnet._keepnet")]
pub struct RowRun {
    request: Arc<Request>,
    problem: Arc<RowProblem>,
    names: Arc<Vec<String>>,
    start: Instant,
    state: Held<State>,
    complete: bool,
}

impl RowRun {
    fn work<T: Send + 'static>(
        &self,
        py: Python<'_>,
        callback: Option<&Bound<'_, PyAny>>,
        step: impl FnOnce(&mut State, &Caller) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        self.state.work(py, self.request.run.threads, callback, step)
    }
}

#[pymethods]
impl RowRun {
    #[new]
    #[pyo3(signature = (request, names, classes))]
    fn new(request: &str, names: Vec<String>, classes: Option<Vec<String>>) -> PyResult<Self> {
        let request = read(request)?;
        let classes = classes.unwrap_or_default();
        let problem = RowProblem { names, classes, ..RowProblem::default() };
        let made = || -> Result<_> {
            let problem = problem.pinning(&request.method.always()?)?;
            let learner = learner(&request, &problem)?;
            Ok((problem, learner))
        };
        let (problem, learner) = made().map_err(|error| raise(&error))?;
        let filter = RowFilter::default();
        Ok(Self {
            names: Arc::new(problem.names.clone()),
            request: Arc::new(request),
            problem: Arc::new(problem),
            start: Instant::now(),
            state: Held::new(State { learner, filter }),
            complete: true,
        })
    }

    /// Learns from rows. With `whole` an error leaves the run as it was, at the cost of a copy
    /// of the rows; without, rows are taken a few at a time. `order` says which row of `x` comes
    /// at each step; `y` and `weight` are then of the steps.
    #[expect(clippy::too_many_arguments, reason = "Python calls it, with each of these")]
    #[pyo3(signature = (x, y, weight, order, whole, callback))]
    fn push(
        &mut self,
        py: Python<'_>,
        x: &Bound<'_, PyTuple>,
        y: &Bound<'_, PyAny>,
        weight: Option<&Bound<'_, PyAny>>,
        order: Option<&Bound<'_, PyAny>>,
        whole: bool,
        callback: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (y, weight) = (numbers(y)?, weight.map(numbers).transpose()?);
        let order = order.map(places).transpose()?;
        let samples = Samples::new(x)?;
        let mut source = RowSource::new(samples, Arc::clone(&self.names), y, weight, order)?;
        let (request, classes) = (Arc::clone(&self.request), self.problem.classes.len());
        let complete = self.work(py, callback, move |state, caller| {
            let rows = source.len();
            let missing = RowMissing::parse(request.method.missing())?;
            let mut options = RowOptions { missing, classes, ..RowOptions::default() };
            if whole {
                options.block = rows.max(1);
                options.trace = false;
            }
            let filter = state.filter.clone();
            let fresh = filter.counts().input == 0;
            let mut driver = RowDriver::new(&mut source, state.learner.as_mut(), options);
            if !fresh {
                driver = driver.after(filter);
            }
            let mut eye = Eye(caller);
            let mut watch = eye.watch();
            watch.rows = Some(rows as u64);
            let report = driver.run(&mut watch)?;
            let RowReport { filter, complete, .. } = report;
            state.filter = filter;
            Ok(complete)
        })?;
        self.complete &= complete;
        Ok(())
    }

    /// Rows learnt from.
    fn used(&self) -> PyResult<u64> {
        self.state.look(|state| Ok(state.filter.counts().used))
    }

    /// The result so far.
    fn result(&mut self, py: Python<'_>) -> PyResult<String> {
        let (request, problem) = (Arc::clone(&self.request), Arc::clone(&self.problem));
        let (start, complete) = (self.start, self.complete);
        self.work(py, None, move |state, _| {
            let rows = Rows::of(&state.filter.counts(), "position", 0);
            let (found, times) = ((rows, &state.filter), (Duration::ZERO, start.elapsed()));
            let selection = state.learner.selection()?;
            let context = context(&request, start);
            let outcome = Outcome::samples(&context, selection, &problem, found, times);
            json(&[Outcome { complete, ..outcome }])
        })
    }

    /// The running averages, as a file of `keepnet merge` and `keepnet extract`.
    fn averages<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let problem = Arc::clone(&self.problem);
        let bytes = self.work(py, None, move |state, _| {
            let averages = state.learner.averages().ok_or_else(|| {
                Error::Unsupported("this method has no running averages to merge".into())
            })??;
            SavedAverages { problem: (*problem).clone(), averages }.to_bytes()
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Takes up running averages in place of rows.
    fn load(&mut self, py: Python<'_>, bytes: &[u8]) -> PyResult<()> {
        let saved = SavedAverages::from_bytes(bytes).map_err(|error| raise(&error))?;
        let (theirs, mine) = (&saved.problem, &self.problem);
        if theirs.covariates > 0 {
            let text = "the averages have covariates, which estimators on rows do not take; \
                        use `keepnet extract`";
            return Err(raise(&Error::Unsupported(text.into())));
        }
        if (&theirs.names, &theirs.classes) != (&mine.names, &mine.classes) {
            let text = "the averages are of other features or classes";
            return Err(raise(&Error::Data(text.into())));
        }
        self.work(py, None, move |state, _| {
            let rows = saved.averages.rows();
            state.learner.load(saved.averages)?;
            let counts = RowCounts { input: rows, used: rows, ..RowCounts::default() };
            state.filter = RowFilter::counted(counts);
            Ok(())
        })
    }

    /// The whole state.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let complete = self.complete;
        let state = self
            .state
            .look(|state| snapshot::encode(&(&state.filter, state.learner.save()?, complete)))?;
        Ok(PyBytes::new(py, &state))
    }

    /// Takes up a state of a run that was made with the same arguments.
    fn restore(&mut self, state: &[u8]) -> PyResult<()> {
        let unpack = || -> Result<(State, bool)> {
            let (filter, saved, complete): (RowFilter, Vec<u8>, bool) = snapshot::decode(state)?;
            let mut learner = learner(&self.request, &self.problem)?;
            learner.restore(&saved)?;
            Ok((State { learner, filter }, complete))
        };
        let (state, complete) = unpack().map_err(|error| raise(&error))?;
        self.state.put(state);
        self.complete = complete;
        Ok(())
    }
}

/// Adds up running averages; each is the bytes of a file.
#[pyfunction]
pub fn merge_averages<'py>(
    py: Python<'py>,
    parts: Vec<Vec<u8>>,
) -> PyResult<(Bound<'py, PyBytes>, Vec<String>, Vec<String>)> {
    let merge = move || -> Result<(Vec<u8>, RowProblem)> {
        let mut sum: Option<SavedAverages> = None;
        for part in &parts {
            let part = SavedAverages::from_bytes(part)?;
            match &mut sum {
                None => sum = Some(part),
                Some(sum) => sum.merge(&part)?,
            }
        }
        let sum = sum.ok_or_else(|| Error::Data("there is nothing to merge".into()))?;
        Ok((sum.to_bytes()?, sum.problem))
    };
    let (bytes, problem) = py.detach(merge).map_err(|error| raise(&error))?;
    Ok((PyBytes::new(py, &bytes), problem.names, problem.classes))
}
