//! What a run writes: files that appear whole or not at all, and never over an input.

pub mod atomic;
pub mod decisions;
pub mod inputs;
pub mod journal;
pub mod leftover;
pub mod phase;
pub mod reduced;
pub mod reduced_bed;
pub mod row_columns;

use std::path::{Path, PathBuf};

use keepnet::Result;

use crate::lock::Lock;
use crate::request::{GroupSpec, InputRequest, OrderSpec, Request};
use inputs::Inputs;

/// Where an error of standard output is told from one of a file.
pub const STDOUT: &str = "cannot write to standard output";

/// An output by its flag.
pub type Output<'a> = (&'static str, &'a Path);

/// Refuses outputs that cannot be or must not be written.
pub fn ready(outputs: &[Output<'_>], inputs: &Inputs) -> Result<()> {
    inputs.refuse(outputs)?;
    atomic::probe(outputs.iter().map(|(_, path)| *path))
}

/// The outputs that were asked for; `-` is none.
pub fn given<'a>(
    flags: impl IntoIterator<Item = (&'static str, &'a Option<PathBuf>)>,
) -> Vec<Output<'a>> {
    let path = |path: &'a Option<PathBuf>| path.as_deref().filter(|path| path.as_os_str() != "-");
    flags.into_iter().filter_map(|(flag, file)| Some((flag, path(file)?))).collect()
}

/// The files of the data.
#[must_use]
pub fn data(input: &InputRequest) -> Inputs {
    Inputs::default()
        .with("INPUT", &input.inputs)
        .lists("--columns", &input.columns)
        .lists("--exclude", &input.exclude)
}

/// The files that a selection reads.
pub(crate) fn inputs_of(request: &Request) -> Inputs {
    let (problem, method) = (&request.problem, &request.method);
    let order = match &request.run.order {
        OrderSpec::File(path) => Some(path),
        _ => None,
    };
    data(&request.input)
        .with("--target", problem.target.iter().flat_map(|target| &target.0))
        .with("--sample-weight", &problem.sample_weight)
        .with("--offset", &problem.offset)
        .with("--covar", &problem.covar)
        .with("--groups", method.groups.as_ref().and_then(GroupSpec::text))
        .with("--order", order)
        .lists("--always", &method.always)
}

/// The files of a selection, looked at before the run: no output is an input or another output,
/// each can be written, and no other run has the checkpoint. It is this run's as long as what is
/// returned lives. The files of `--output DIR/` are known with the targets.
pub fn ready_for(request: &Request) -> Result<Option<Lock>> {
    let (inputs, out) = (inputs_of(request), &request.output);
    let checkpoint = &request.run.checkpoint;
    let folder = out.folder();
    let single = if folder.is_some() { &None } else { &out.output };
    // Genotypes are three files.
    let triple = out.reduced.as_deref().filter(|path| reduced_bed::is_triple(path));
    let beside = ["bim", "fam"].map(|end| triple.map(|path| path.with_extension(end)));
    let outputs = given([
        ("output", single),
        ("reduced", &out.reduced),
        ("reduced", &beside[0]),
        ("reduced", &beside[1]),
        ("report", &out.report),
        ("decisions", &out.decisions),
        ("averages", &out.averages),
        ("checkpoint", checkpoint),
        ("state", &request.run.state),
    ]);
    ready(&outputs, &inputs)?;
    Lock::take(checkpoint.as_deref().or(request.run.state.as_deref()))
}
