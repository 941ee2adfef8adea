//! What Python asks for, as JSON, and the JSON that it gets.

use std::time::Instant;

use keepnet::{Error, FeatureSource, Result, RunReport};
use keepnet_run::columns::{Made, integral};
use keepnet_run::lanes::{Arrangement, Concluded, Whole};
use keepnet_run::result::{Context, Rows};
use keepnet_run::{Here, Outcome, Request};
use pyo3::PyResult;

use crate::error::raise;

/// What a result names in place of a command.
pub const COMMAND: &str = "python";

/// Reads a request.
pub fn read(json: &str) -> PyResult<Request> {
    Request::from_json(json).map_err(|error| raise(&error))
}

/// A result as JSON.
pub fn json(outcome: &Outcome) -> Result<String> {
    String::from_utf8(outcome.json()?)
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
    whole: &Whole,
    source: &dyn FeatureSource,
) -> Result<String> {
    let told = (&Rows::in_memory(&whole.problem), integral(request, source));
    let context = context(request, start);
    json(&Outcome::lanes(&context, report, concluded, source.sources(), told)?[0])
}
