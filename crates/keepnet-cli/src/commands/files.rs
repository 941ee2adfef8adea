//! What a call reads and writes, looked at before the run: no output is an input or another
//! output, each can be written, and no other run has the checkpoint.

use std::path::{Path, PathBuf};

use keepnet::Result;

use crate::flags::{CompareArgs, ExtractArgs, InputFlags, MergeArgs, SelectArgs};
use crate::output::atomic;
use crate::output::inputs::Inputs;
use crate::run::lock::Lock;

/// An output by its flag.
type Output<'a> = (&'static str, &'a Path);

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

fn data(flags: &InputFlags) -> Inputs {
    Inputs::default()
        .with("INPUT", &flags.inputs)
        .lists("--columns", &flags.columns)
        .lists("--exclude", &flags.exclude)
}

/// The files of `select`; the checkpoint is this run's as long as what is returned lives.
pub fn select(args: &SelectArgs) -> Result<Option<Lock>> {
    let (rows, method, out) = (&args.rows, &args.method, &args.output);
    let inputs = data(&args.input)
        .with("--target", &rows.target)
        .with("--sample-weight", &rows.sample_weight)
        .with("--offset", &rows.offset)
        .with("--covar", &rows.covar)
        .with("--groups", &method.groups)
        .with("--order", [&args.run.order])
        .lists("--always", &method.always);
    let outputs = given([
        ("output", &out.output),
        ("reduced", &out.reduced),
        ("report", &out.report),
        ("decisions", &out.decisions),
        ("averages", &out.averages),
        ("checkpoint", &args.run.checkpoint),
    ]);
    ready(&outputs, &inputs)?;
    Lock::take(args.run.checkpoint.as_deref())
}

/// The files of `compare`.
pub fn compare(args: &CompareArgs) -> Result<Option<Lock>> {
    let external = CompareArgs::named("external", &args.external)?;
    let datasets = CompareArgs::named("dataset", &args.dataset)?;
    let inputs = data(&args.input.0)
        .with("--dataset", datasets.iter().map(|(_, spec)| spec))
        .with("--target", &args.target)
        .with("--sample-weight", &args.sample_weight)
        .with("--groups", &args.groups)
        .with("--splits", [&args.splits])
        .with("--external", external.iter().map(|(_, file)| file))
        .files("--truth", &args.truth);
    let outputs = given([
        ("output", &args.output),
        ("report", &args.report),
        ("checkpoint", &args.checkpoint),
    ]);
    ready(&outputs, &inputs)?;
    Lock::take(args.checkpoint.as_deref())
}

/// The files of `merge`.
pub fn merge(args: &MergeArgs) -> Result<()> {
    ready(&[("output", &args.output)], &Inputs::default().files("FILE", &args.inputs))
}

/// The files of `extract`.
pub fn extract(args: &ExtractArgs) -> Result<()> {
    let inputs = Inputs::default().files("STATS", [&args.stats]).lists("--always", &args.always);
    ready(&given([("output", &args.output)]), &inputs)
}
