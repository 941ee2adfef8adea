//! The problem of a run over parts, for processes that have none of its files.

use keepnet::run::snapshot::{decode, encode};
use keepnet::{Covariate, Error, Problem, Result, RowMap, Target};

use crate::request::Request;

/// A problem as bytes, for a process that has none of its files.
pub fn problem_bytes(problem: &Problem) -> Result<Vec<u8>> {
    let Problem { target, weight, offset, rows, covariates } = problem;
    let target = match target {
        Target::Numbers(y) => (Some(y), None),
        Target::Classes { names, codes } => (None, Some((names, codes))),
    };
    let take = match rows {
        RowMap::All(_) => None,
        RowMap::Some { take, .. } => Some(take),
    };
    let covariates: Vec<(&String, &Vec<f64>)> =
        covariates.iter().map(|covariate| (&covariate.name, &covariate.values)).collect();
    encode(&(target, weight, offset, rows.input() as u64, take, covariates))
}

/// A problem out of [`problem_bytes`].
pub fn problem_from_bytes(bytes: &[u8]) -> Result<Problem> {
    type Named = (Vec<String>, Vec<u32>);
    type Parts = (
        (Option<Vec<f64>>, Option<Named>),
        Option<Vec<f64>>,
        Option<Vec<f64>>,
        u64,
        Option<Vec<u32>>,
        Vec<(String, Vec<f64>)>,
    );
    let (target, weight, offset, input, take, covariates): Parts = decode(bytes)?;
    let target = match target {
        (Some(y), None) => Target::Numbers(y),
        (None, Some((names, codes))) if codes.iter().all(|c| (*c as usize) < names.len()) => {
            Target::Classes { names, codes }
        }
        _ => return Err(Error::Snapshot("it is no problem".into())),
    };
    let rows = match take {
        None => RowMap::All(input as usize),
        Some(take) => RowMap::new(input as usize, take)?,
    };
    let covariates =
        covariates.into_iter().map(|(name, values)| Covariate { name, values }).collect();
    let problem = Problem { target, weight, offset, rows, covariates };
    problem.check()?;
    Ok(problem)
}

/// The problem of a request on files, and which of their columns are no features.
pub fn problem_of_files(request: &Request) -> Result<(Problem, Vec<String>)> {
    let spec = request.method.spec(request.run.seed)?;
    let options = request.input.options(request.run.memory)?;
    let mut dataset = keepnet_io::open(&request.input.inputs, &options)?;
    let asked = request.problem.spec(spec.loss, options.key.clone());
    let joined = keepnet_io::build_problem(&mut dataset, &asked, &options)?;
    Ok((joined.problem, joined.not_features))
}
