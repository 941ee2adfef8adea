//! Running averages without the data: their sum, and a selection from them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use keepnet::learn::SavedAverages;
use keepnet::run::{RowCounts, RowFilter};
use keepnet::{Error, Result};

use crate::host::Host;
use crate::outputs::atomic;
use crate::outputs::inputs::Inputs;
use crate::request::Request;
use crate::result::{Context, Outcome, Rows};
use crate::{outputs, rows, select};

fn read(path: &Path) -> Result<SavedAverages> {
    let bytes = std::fs::read(path).map_err(|e| Error::io(path.display(), e))?;
    SavedAverages::from_bytes(&bytes).map_err(|e| e.at(path.display()))
}

/// Adds up averages that were accumulated apart and writes the sum.
pub fn merge(inputs: &[PathBuf], output: &Path) -> Result<SavedAverages> {
    let Some((first, rest)) = inputs.split_first() else {
        return Err(Error::Data("there is nothing to merge".into()));
    };
    outputs::ready(&[("output", output)], &Inputs::default().files("FILE", inputs))?;
    let mut sum = read(first)?;
    for path in rest {
        sum.merge(&read(path)?).map_err(|e| e.at(path.display()))?;
    }
    atomic::write(output, &sum.to_bytes()?)?;
    Ok(sum)
}

/// A selection from averages: the one input of a request whose method learns from them.
pub fn extract(stats: &Path, request: &Request, host: &mut dyn Host) -> Result<Outcome> {
    let (start, output) = (Instant::now(), &request.output);
    let inputs = Inputs::default().files("STATS", [&stats.to_path_buf()]);
    let inputs = inputs.lists("--always", &request.method.always);
    outputs::ready(&outputs::given([("output", &output.output)]), &inputs)?;
    let mut saved = read(stats)?;
    let always = request.method.always()?;
    saved.problem = saved.problem.pinning(&always).map_err(|e| e.at(stats.display()))?;
    let mut learner = rows::learner(request, &saved.problem)?;
    let used = saved.averages.rows();
    let name = request.method.info()?.name;
    learner.load(saved.averages).map_err(|e| e.at(name))?;
    let selection = learner.selection()?;
    // Averages know the rows that they are of, not those that were left out.
    let rows = Rows {
        input: used as usize,
        used: used as usize,
        matched_by: "position".into(),
        ..Rows::default()
    };
    let filter = RowFilter::counted(RowCounts { input: used, used, ..RowCounts::default() });
    let command = host.command();
    let context = Context { request, notes: &[], start, command: &command };
    let times = (std::time::Duration::ZERO, start.elapsed());
    let mut outcome = Outcome::samples(&context, selection, &saved.problem, (rows, &filter), times);
    outcome.sources = vec![stats.display().to_string()];
    outcome.reword(host);
    if let Some(path) = output.output.as_ref().filter(|_| !output.to_stdout()) {
        atomic::publish(vec![select::write(path, std::slice::from_ref(&outcome))?])?;
    }
    host.finished(std::slice::from_ref(&outcome))?;
    Ok(outcome)
}
