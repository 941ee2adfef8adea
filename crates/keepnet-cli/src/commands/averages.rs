//! `keepnet merge` and `keepnet extract`: running averages without the data.

use std::path::Path;
use std::time::Instant;

use keepnet::learn::SavedAverages;
use keepnet::registry::{self, MethodSpec};
use keepnet::{Budget, Error, Result};

use super::files;
use super::select_rows::{Parts, Place, publish};
use crate::flags::{ExtractArgs, MergeArgs, names, pairs};
use crate::output::atomic;
use crate::output::say::say;
use keepnet_io::result::{Rows, Seconds, keeps_all};

fn read(path: &Path) -> Result<SavedAverages> {
    let bytes = std::fs::read(path).map_err(|e| Error::io(path.display(), e))?;
    SavedAverages::from_bytes(&bytes).map_err(|e| e.at(path.display()))
}

/// Adds up running averages that were accumulated apart.
pub fn merge(args: &MergeArgs) -> Result<()> {
    let (first, rest) = args.inputs.split_first().expect("the flags ask for two files");
    files::merge(args)?;
    let mut sum = read(first)?;
    for path in rest {
        sum.merge(&read(path)?).map_err(|e| e.at(path.display()))?;
    }
    atomic::write(&args.output, &sum.to_bytes()?)?;
    say(&format!(
        "{} rows of {} features from {} files",
        sum.averages.rows(),
        sum.problem.features(),
        args.inputs.len()
    ));
    Ok(())
}

/// A selection from running averages.
pub fn extract(args: &ExtractArgs) -> Result<()> {
    let start = Instant::now();
    files::extract(args)?;
    let mut saved = read(&args.stats)?;
    saved.problem =
        saved.problem.keeping(&names(&args.always)?).map_err(|e| e.at(args.stats.display()))?;
    let method = registry::find(&args.method)?;
    let spec = MethodSpec { k: args.k, settings: pairs(&args.settings)?, ..MethodSpec::default() };
    let mut learner = registry::make_rows(method, &spec, &saved.problem, Budget::unlimited())?;
    let rows = saved.averages.rows() as usize;
    learner.load(saved.averages).map_err(|e| e.at(&args.method))?;
    let selection = learner.selection()?;
    let total = start.elapsed().as_secs_f64();
    let parts = Parts {
        seconds: Seconds { total, read: 0.0, select: total },
        // Averages know the rows that they are of, not those that were left out.
        rows: Rows { input: rows, used: rows, matched_by: "position".into(), ..Rows::default() },
        seed: 0,
        complete: true,
        trace: Vec::new(),
    };
    let mut warnings = selection.warnings.clone();
    warnings.extend(keeps_all(&selection, args.k));
    let place =
        Place { output: args.output.as_deref(), quiet: args.quiet, aside: false, report: None };
    let files = [args.stats.display().to_string()];
    publish(&saved.problem, &files, selection, &warnings, parts, &place)
}
