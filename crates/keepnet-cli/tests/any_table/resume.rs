//! Stopping after a random block and going on.

use std::path::Path;

use clap::Parser;
use keepnet::run::Decision;
use keepnet::run::{RowCounts, RowDriver, RowMissing, RowObserver, RowOptions};
use keepnet::{
    Budget, Driver, Flow, Observer, Progress, Result, RowLearner, RunReport, Selection, registry,
};
use keepnet_cli::flags::{Cli, Command};
use keepnet_io::{ProblemSpec, open_rows};
use keepnet_run::request::{Asked, Way};
use keepnet_run::runner::{Here, Job, Runner};
use keepnet_run::watch::Watch;

use crate::case::{Case, by_rows};
use crate::random::Random;
use crate::relations::{Check, Checked, plain};
use crate::write::Part;

/// A stopped and resumed run gives every digit of an unbroken one.
pub fn check(case: &Case, random: &mut Random) -> Check {
    match by_rows(case.method) {
        true => rows(case, random),
        false => columns(case, random),
    }
}

/// Runs in blocks of `width` and ends after `stop` of them.
struct Stepwise {
    width: usize,
    stop: Option<usize>,
}

struct Stopping<'a, 'h> {
    watch: &'a mut Watch<'h>,
    left: Option<usize>,
}

impl Observer for Stopping<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> Result<Flow> {
        self.left = self.left.map(|left| left - 1);
        match self.left {
            Some(0) => Ok(Flow { save: true, stop: true }),
            _ => Observer::progress(self.watch, progress),
        }
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        Observer::save(self.watch, state)
    }

    fn decision(&mut self, decision: &Decision<'_>) -> Result<()> {
        self.watch.decision(decision)
    }
}

impl Runner for Stepwise {
    fn leads(&self) -> bool {
        false
    }

    fn run(&self, job: Job<'_, '_>) -> Result<Option<RunReport>> {
        let mut options = job.options;
        options.width = self.width;
        let mut driver = Driver::new(job.source, job.lanes, options)?;
        if let Some(groups) = job.groups {
            driver = driver.with_groups(groups);
        }
        if let Some(state) = job.watch.saved()? {
            driver.restore(&state)?;
        }
        driver.run(&mut Stopping { watch: job.watch, left: self.stop }).map(Some)
    }
}

/// The table of a case in a file, and the words of a run on it.
fn written(case: &Case, folder: &Path) -> Vec<String> {
    let part = Part::whole(&case.table);
    let (path, places) = case.table.write(folder, "x", plain(case), case.text, &part);
    case.words_in(plain(case), &[path.to_str().unwrap().to_string()], &places)
}

fn columns(case: &Case, random: &mut Random) -> Check {
    let (folder, form) = (tempfile::tempdir().unwrap(), plain(case));
    let words = written(case, folder.path());
    let width = random.between(1, 5);
    let whole = case.run(&words, folder.path(), form, &Stepwise { width, stop: None });
    let mut broken = words.clone();
    let state = folder.path().join("run.kn");
    broken.extend(["--checkpoint".to_string(), state.to_str().unwrap().into()]);
    let blocks = case.table.columns.len().div_ceil(width) * case.method.scans.max(1) as usize;
    let stop = random.between(1, blocks);
    let first = case.run(&broken, folder.path(), form, &Stepwise { width, stop: Some(stop) });
    // A run that was stopped leaves its state, and one that came to its end does not.
    if first.as_ref().is_ok_and(|first| first.json["complete"] == state.exists()) {
        return Err(format!("stopped after block {stop}: its state is not as `complete` says"));
    }
    let second = case.run(&broken, folder.path(), form, &Stepwise { width, stop: None });
    match (whole, first, second) {
        (Ok(whole), Ok(_), Ok(second)) if whole.digits() == second.digits() => Ok(Checked::Held),
        (Ok(_), Ok(_), Ok(_)) => {
            Err(format!("resumed after block {stop} of {width}: other digits"))
        }
        (Err(why), ..) if why.contains("PANIC") => Err(why),
        (Err(_), Err(_), _) => Ok(Checked::Refused),
        (_, first, second) => Err(format!(
            "resumed after block {stop} of {width}: {:?} {:?}",
            first.err(),
            second.err()
        )),
    }
}

/// Ends after some blocks and keeps the state.
struct Ending {
    left: Option<usize>,
    state: Vec<u8>,
}

impl RowObserver for Ending {
    fn progress(&mut self, _: &RowCounts, _: &dyn RowLearner) -> Result<Flow> {
        self.left = self.left.map(|left| left - 1);
        let now = self.left == Some(0);
        Ok(Flow { save: now, stop: now })
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        self.state = state;
        Ok(())
    }
}

/// A run on rows through the engine: its selection and counts, or the state where it ended.
fn row_run(
    words: &[String],
    block: usize,
    stop: Option<usize>,
    from: Option<&[u8]>,
) -> Result<(Selection, RowCounts, Vec<u8>)> {
    let cli = Cli::try_parse_from(words).expect("the words of a case");
    let Command::Select(request) = cli.command else { unreachable!("select") };
    let Asked { method, spec, problem, way, .. } = Asked::new(&request, &Here)?;
    let Way::Rows(missing) = way else { unreachable!("a method on rows") };
    let drop_row = missing == RowMissing::DropRow;
    let rows = ProblemSpec { drop_row, ..problem };
    let mut source = open_rows(&request.input.inputs, &rows, &request.input.options(None)?)?;
    let problem = source.problem().clone();
    let mut learner = registry::make_rows(method, &spec, &problem, Budget::unlimited())?;
    let options = RowOptions { missing, block, ..RowOptions::default() };
    let mut driver = RowDriver::new(&mut source, learner.as_mut(), options);
    if let Some(state) = from {
        driver.restore(state)?;
    }
    let mut ending = Ending { left: stop, state: Vec::new() };
    let report = driver.run(&mut ending)?;
    // A look at a run that goes on must change nothing, so it is made in every run.
    let selection = learner.selection();
    match stop {
        Some(_) => Ok((selection.unwrap_or_default(), report.counts, ending.state)),
        None => Ok((selection?, report.counts, ending.state)),
    }
}

fn rows(case: &Case, random: &mut Random) -> Check {
    let folder = tempfile::tempdir().unwrap();
    let words = written(case, folder.path());
    let block = random.between(1, 60);
    let stop = random.between(1, case.table.rows().div_ceil(block));
    let whole = row_run(&words, 256, None, None);
    let (whole, counts) = match whole {
        Ok((selection, counts, _)) => (selection, counts),
        Err(_) => return Ok(Checked::Refused),
    };
    let broken = || {
        let (.., state) = row_run(&words, block, Some(stop), None)?;
        row_run(&words, block, None, Some(&state))
    };
    let what = format!("stopped after {stop} blocks of {block} rows");
    let (second, again, _) = broken().map_err(|why| format!("{what}: {why}"))?;
    match format!("{whole:?} {counts:?}") == format!("{second:?} {again:?}") {
        true => Ok(Checked::Held),
        false => Err(format!("{what}: other digits: {whole:?} against {second:?}")),
    }
}
