//! Online substitution and its rivals: data by seed, a run, recall and error.
//!
//! The protocol of the first paper: every scan in a fresh random order, no intercept unless the
//! method is told otherwise, and a refit on the kept set before scoring.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::Workload;
use keepnet::registry::{self, MethodSpec};
use keepnet::{
    Budget, Driver, Error, FeatureSource, Generated, Lane, LossKind, Order, Problem, Quiet, Result,
    RunOptions, Selection, Task, Value,
};

/// Which data: a workload's name and settings apart from the seed.
pub type Data = (&'static str, Vec<(&'static str, String)>);

/// A method, its loss and its settings.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name in the registry.
    pub name: String,
    /// The loss, where one was named.
    pub loss: Option<LossKind>,
    /// Settings by name; a `lambda` that is the name of a batch method is the one it finds.
    pub settings: Vec<(String, String)>,
}

/// Reads `os eta=1/L m=1`, perhaps with `loss=NAME`.
#[must_use]
pub fn method(text: &str) -> Method {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default().to_string();
    let settings = vec![("intercept".into(), "false".into())];
    let mut method = Method { name, loss: None, settings };
    for (key, value) in words.filter_map(|word| word.split_once('=')) {
        match key {
            "loss" => method.loss = LossKind::parse(value).ok(),
            _ => method.settings.push((key.into(), value.into())),
        }
    }
    method
}

/// What one run gave.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    /// Share of the true features that were found.
    pub recall: f64,
    /// Recovery error for numbers, error on fresh rows for classes.
    pub error: f64,
    /// Full tests of `os-plus`; NaN for the others.
    pub full_tests: f64,
    /// Seconds of the selection.
    pub seconds: f64,
}

/// One data set in memory.
pub struct Drawn {
    workload: Workload,
    fresh: Workload,
    columns: Generated,
    problem: Problem,
    truth: HashMap<u64, f64>,
    seed: u64,
}

impl Drawn {
    /// Draws the data of one seed.
    pub fn new(data: &Data, seed: u64) -> Result<Self> {
        let settings = |sample: &str| -> BTreeMap<String, String> {
            let own = data.1.iter().map(|(key, value)| (key.to_string(), value.clone()));
            own.chain([("seed".into(), seed.to_string()), ("sample".into(), sample.into())])
                .collect()
        };
        let workload = Workload::parse(data.0, &settings("0"))?;
        let fresh = Workload::parse(data.0, &settings("1"))?;
        let make = |j| workload.column(j);
        let columns = Arc::new((0..workload.features()).map(make).collect::<Vec<_>>());
        let (rows, features) = (workload.rows(), workload.features());
        let columns =
            Generated::new(data.0, rows, features, move |j| Ok(columns[j as usize].clone()));
        let (problem, truth) = (workload.problem(), workload.truth().into_iter().collect());
        Ok(Self { workload, fresh, columns, problem, truth, seed })
    }

    /// `scans` scans, each in a fresh random order, then the refit and its score.
    pub fn score(&self, method: &Method, scans: u32) -> Result<Score> {
        let options = RunOptions { scans, order: Order::Shuffled, seed: self.seed, width: 128 };
        let (selection, seconds) = self.select(method, options)?;
        let found = selection.indices();
        let hits = found.iter().filter(|j| self.truth.contains_key(j)).count();
        let full = selection.metrics.iter().find(|(name, _)| *name == "full_tests");
        let full_tests = match full {
            Some((_, Value::Int(count))) => *count as f64,
            _ => f64::NAN,
        };
        let error = match self.problem.target.task() {
            Task::Regression => self.recovery_error(&selection),
            Task::Classification => self.test_error(&found)?,
        };
        Ok(Score { recall: hits as f64 / self.truth.len() as f64, error, full_tests, seconds })
    }

    fn select(&self, method: &Method, options: RunOptions) -> Result<(Selection, f64)> {
        let mut spec = MethodSpec::k(self.workload.informative());
        spec.loss = method.loss;
        for (key, value) in &method.settings {
            let batch = key == "lambda" && registry::find(value).is_ok();
            let value = if batch { self.lambda_of(value)? } else { value.clone() };
            spec = spec.set(key, value);
        }
        let info = registry::find(&method.name)?;
        let selector = registry::make(info, &spec, &self.problem, Budget::unlimited())?;
        let lanes = vec![Lane::new(self.problem.clone(), selector)];
        let mut source = self.columns.clone();
        source.rewind()?;
        let report = Driver::new(&mut source, lanes, options)?.run(&mut Quiet)?;
        let seconds = report.select.as_secs_f64();
        let lane = report.lanes.into_iter().next().expect("one lane went in");
        Ok((lane.selection, seconds))
    }

    /// The lambda at which a batch method keeps as many features as are true.
    fn lambda_of(&self, batch: &str) -> Result<String> {
        let method = method(&format!("{batch} standardise=false"));
        let options = RunOptions { scans: 1, ..RunOptions::default() };
        let selection = self.select(&method, options)?.0;
        let found = selection.metrics.iter().find(|(name, _)| *name == "lambda");
        match found {
            Some((_, Value::Float(lambda))) => Ok(lambda.to_string()),
            _ => Err(Error::Data(format!("{batch} reports no lambda"))),
        }
    }

    /// `|v - w| / |w|` with `v` the refit on the kept set.
    fn recovery_error(&self, selection: &Selection) -> f64 {
        let square: f64 = self.truth.values().map(|w| w * w).sum();
        let mut missed = square;
        for one in &selection.selected {
            let (v, w) = (one.coefficient[0], self.truth.get(&one.id.index).unwrap_or(&0.0));
            missed += (v - w) * (v - w) - w * w;
        }
        (missed / square).sqrt()
    }

    /// Share of fresh rows that a squared-hinge refit on the kept set gets wrong.
    fn test_error(&self, found: &[u64]) -> Result<f64> {
        // A scan of the kept columns alone keeps them all; what comes out is their refit.
        let order = found.iter().map(|j| *j as u32).collect();
        let options = RunOptions { scans: 1, order: Order::Fixed(order), ..RunOptions::default() };
        let refit = self.select(&method("os loss=squared-hinge"), options)?.0;
        let y = self.fresh.target().outputs().remove(0);
        let mut u = vec![0.0; y.len()];
        for one in &refit.selected {
            self.fresh.column(one.id.index).view().axpy(one.coefficient[0], &mut u);
        }
        let wrong = u.iter().zip(&y).filter(|(u, y)| *u * *y <= 0.0).count();
        Ok(wrong as f64 / y.len() as f64)
    }
}
