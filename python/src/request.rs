//! What Python asks for, as JSON, and the JSON that it gets.

use std::time::Instant;

use keepnet::{Error, FeatureSource, Result, RunReport};
use keepnet_run::columns::{Made, integral};
use keepnet_run::lanes::{self, Arrangement, Concluded};
use keepnet_run::result::{Context, Rows};
use keepnet_run::{Here, Outcome, Request};
use pyo3::PyResult;

use crate::error::raise;
use crate::target::Aim;

/// What a result names in place of a command.
pub const COMMAND: &str = "python";

/// Reads a request.
pub fn read(json: &str) -> PyResult<Request> {
    Request::from_json(json).map_err(|error| raise(&error))
}

/// The result of each target as JSON.
pub fn json(outcomes: &[Outcome]) -> Result<String> {
    String::from_utf8(keepnet_run::result::json(outcomes)?)
        .map_err(|error| Error::Data(format!("cannot make the result: {error}")))
}

/// What is known of a run that began at `start`.
pub fn context(request: &Request, start: Instant) -> Context<'_> {
    Context { request, notes: &[], start, command: COMMAND }
}

/// The method of a request, made for the lanes of a run on columns in memory.
pub fn made(
    request: &Request,
    source: &dyn FeatureSource,
    arrangements: &[Box<dyn Arrangement>],
) -> Result<Made> {
    Made::new(request, source, arrangements, request.run.order.in_memory()?, &Here)
}

/// The JSON of a run on columns in memory.
pub fn of_columns(
    (request, start): (&Request, Instant),
    (report, concluded): (&RunReport, Vec<Concluded>),
    aims: &[Aim],
    source: &dyn FeatureSource,
) -> Result<String> {
    let context = context(request, start);
    let one = |(aim, concluded): (&Aim, Concluded)| {
        let told = (&Rows::in_memory(&aim.whole.problem), integral(request, source));
        let mut outcome = Outcome::features(&context, report, concluded, source.sources(), told)?;
        outcome.target = Some(aim.name.clone());
        Ok(outcome)
    };
    json(&aims.iter().zip(concluded).map(one).collect::<Result<Vec<_>>>()?)
}

/// The arrangement of each target of a run on `features` features, where their number is known.
pub fn arranged(
    request: &Request,
    aims: &[Aim],
    features: Option<u64>,
) -> Result<Vec<Box<dyn Arrangement>>> {
    let one = |aim: &Aim| lanes::arrange(request, &aim.whole, features);
    aims.iter().map(one).collect()
}
