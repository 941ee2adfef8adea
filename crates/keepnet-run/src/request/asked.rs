//! A request after every check that needs no data.

use std::collections::HashSet;

use keepnet::registry::{MethodInfo, MethodSpec, Stream};
use keepnet::run::RowMissing;
use keepnet::{CheckPolicy, Error, Groups, Result};
use keepnet_io::{OpenOptions, ProblemSpec};

use super::{OrderSpec, Request, text};
use crate::runner::Runner;

/// A request, checked, with the files of names and groups read.
pub struct Asked<'a> {
    /// As it came.
    pub request: &'a Request,
    /// The method.
    pub method: &'static MethodInfo,
    /// What is asked of it.
    pub spec: MethodSpec,
    /// What is asked of the rows.
    pub problem: ProblemSpec,
    /// How files are read.
    pub open: OpenOptions,
    /// Features that are kept whatever happens.
    pub always: HashSet<String>,
    /// Groups of features.
    pub groups: Option<Groups>,
    /// What flows past.
    pub way: Way,
}

/// What flows past, and what becomes of missing values there.
#[derive(Clone, Debug)]
pub enum Way {
    /// Columns, and which of them are fit to be offered.
    Columns(CheckPolicy),
    /// Rows.
    Rows(RowMissing),
}

impl<'a> Asked<'a> {
    /// Checks a request that `runner` is to run.
    pub fn new(request: &'a Request, runner: &dyn Runner) -> Result<Self> {
        request.output.check()?;
        let method = request.method.info()?;
        runner.check(request, method)?;
        let way = match method.stream {
            Stream::Samples => {
                refuse_on_rows(request)?;
                Way::Rows(RowMissing::parse(request.method.missing())?)
            }
            _ => {
                refuse_on_columns(request)?;
                Way::Columns(request.method.policy()?)
            }
        };
        let spec = request.method.spec(request.run.seed)?;
        Ok(Self {
            request,
            method,
            problem: request.problem.spec(spec.loss, text::list(&request.input.key)),
            spec,
            open: request.input.options(request.run.memory),
            always: request.method.always()?,
            groups: request.method.groups.as_ref().map(|spec| spec.groups()).transpose()?,
            way,
        })
    }
}

/// What only a stream of rows can give.
fn refuse_on_columns(request: &Request) -> Result<()> {
    if request.output.every.is_some() {
        return Err(Error::param("every", "given", "a method on rows; see `keepnet methods`"));
    }
    if request.output.averages.is_some() {
        return Err(Error::param("averages", "given", "a method on running averages"));
    }
    match request.run.scans {
        Some(0) => Err(Error::param("scans", 0, "at least 1")),
        _ => Ok(()),
    }
}

/// What has no meaning on a stream of rows, with what to do instead.
fn refuse_on_rows(request: &Request) -> Result<()> {
    let Request { method, run, output, .. } = request;
    let plain = "no such flag with a method on rows";
    let given = [
        ("scans", run.scans.is_some_and(|scans| scans != 1), plain),
        ("order", run.order != OrderSpec::Given, plain),
        ("max-missing", method.max_missing.is_some(), plain),
        ("min-count", method.min_count.is_some_and(|count| count != 1), plain),
        (
            "groups",
            method.groups.is_some(),
            "a method on features: a method on rows weighs features one by one",
        ),
        (
            "decisions",
            output.decisions.is_some(),
            "--every N with a method on rows: features are not decided on one by one",
        ),
    ];
    if let Some((name, _, want)) = given.into_iter().find(|(_, given, _)| *given) {
        return Err(Error::param(name, "given", want));
    }
    match output.every {
        Some(0) => Err(Error::param("every", 0, "at least 1")),
        _ => Ok(()),
    }
}
