//! `keepnet select` with a method on rows: one pass over samples, from files or a pipe.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use keepnet::learn::SavedAverages;
use keepnet::registry::{self, MethodInfo, MethodSpec};
use keepnet::run::TracePoint;
use keepnet::run::snapshot::Identity;
use keepnet::run::{RowCounts, RowDriver, RowMissing, RowObserver, RowOptions, RowReport};
use keepnet::{Error, Flow, Result, RowLearner, RowProblem, SampleSource, Selection};
use keepnet_io::{OpenOptions, RowSpec, RowStream, open_rows};

use super::{files, rows_outputs as outputs};
use crate::flags::SelectArgs;
use crate::output::say::{aside, say, warn};
use crate::output::{atomic, csv, print, report as report_page, table};
use crate::run::checkpoint::{self, Checkpoint};
use crate::run::opening;
use crate::run::plan::RowPlan;
use crate::run::progress::Reporter;
use crate::run::runner::{Learnt, Runner};
use crate::run::share::RowShare;
use crate::run::signals::{self, Phase};
use crate::run::system;
use keepnet_io::result::{Outcome, Rows, Run, Seconds, row_report, row_target};

/// Runs a selection on rows.
pub fn run(
    args: &SelectArgs,
    method: &'static MethodInfo,
    runner: &dyn Runner,
    start: Instant,
) -> Result<()> {
    refuse(args)?;
    let spec = args.method.spec(args.run.seed)?;
    let missing = RowMissing::parse(&args.method.missing)?;
    if args.output.every == Some(0) {
        return Err(Error::param("every", 0, "at least 1"));
    }
    let writes = !args.output.dry_run && runner.leads();
    if writes {
        signals::listen()?;
    }
    let _lock = if writes { files::select(args)? } else { None };
    system::with_threads(args.run.threads, || select(args, method, &spec, missing, (runner, start)))
}

/// Flags that have no meaning on a stream of rows, with what to do instead.
fn refuse(args: &SelectArgs) -> Result<()> {
    let plain = "no such flag with a method on rows";
    let given = [
        ("scans", args.run.scans.is_some_and(|scans| scans != 1), plain),
        ("order", args.run.order != "given", plain),
        ("stack", args.input.stack.as_deref() == Some("columns"), plain),
        ("max-missing", args.method.max_missing.is_some(), plain),
        ("min-count", args.method.min_count != 1, plain),
        (
            "groups",
            args.method.groups.is_some(),
            "a method on features: a method on rows weighs features one by one",
        ),
        (
            "decisions",
            args.output.decisions.is_some(),
            "--every N with a method on rows: features are not decided on one by one",
        ),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        None => Ok(()),
        Some((name, _, want)) => Err(Error::param(name, "given", want)),
    }
}

/// What looks on between blocks.
struct Watch {
    reporter: Reporter,
    /// Rows of the stream, where known.
    rows: Option<u64>,
    limit: Option<(Instant, Duration)>,
    checkpoint: Option<Checkpoint>,
    stopped: Option<&'static str>,
    before: BTreeSet<String>,
}

impl RowObserver for Watch {
    fn progress(&mut self, counts: &RowCounts, learner: &dyn RowLearner) -> Result<Flow> {
        if self.reporter.shows() {
            self.reporter.show_rows(counts, self.rows, &learner.status());
        }
        if signals::stop_asked() {
            self.stopped = Some("a signal");
        } else if self.limit.is_some_and(|(start, limit)| start.elapsed() >= limit) {
            self.stopped = Some("--time");
        }
        let stop = self.stopped.is_some();
        let save = self.checkpoint.as_mut().is_some_and(|checkpoint| checkpoint.due() || stop);
        Ok(Flow { save, stop })
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        self.checkpoint.as_mut().map_or(Ok(()), |checkpoint| checkpoint.save(&state))
    }

    fn every(&mut self, counts: &RowCounts, selection: Result<Selection>) -> Result<()> {
        let line = match selection {
            Err(why) => serde_json::json!({"rows": counts.used, "error": why.to_string()}),
            Ok(selection) => {
                let now: BTreeSet<String> =
                    selection.selected.iter().map(|f| f.name.clone()).collect();
                let line = watched(counts, &selection, &now, &self.before);
                self.before = now;
                line
            }
        };
        print(&format!("{line}\n"))
    }
}

/// One line of `--every`: the selection, and what changed since the last one.
fn watched(
    counts: &RowCounts,
    selection: &Selection,
    now: &BTreeSet<String>,
    before: &BTreeSet<String>,
) -> serde_json::Value {
    let feature = |f: &keepnet::Selected| serde_json::json!({"index": f.id.index, "name": f.name, "coefficient": f.coefficient, "score": f.score});
    let metrics: serde_json::Map<String, serde_json::Value> = selection
        .metrics
        .iter()
        .map(|(name, value)| ((*name).to_string(), serde_json::json!(value)))
        .collect();
    serde_json::json!({
        "rows": counts.used,
        "loss": selection.loss,
        "intercept": selection.intercept,
        "entered": now.difference(before).collect::<Vec<_>>(),
        "left": before.difference(now).collect::<Vec<_>>(),
        "metrics": metrics,
        "selected": selection.selected.iter().map(feature).collect::<Vec<_>>(),
    })
}

fn select(
    args: &SelectArgs,
    method: &'static MethodInfo,
    spec: &MethodSpec,
    missing: RowMissing,
    (runner, start): (&dyn Runner, Instant),
) -> Result<()> {
    let options = OpenOptions {
        check: opening::check(start, args.run.time()?),
        ..args.input.options(args.run.memory.as_deref())?
    };
    let drop_row = missing == RowMissing::DropRow;
    let rows = RowSpec { drop_row, ..args.rows.spec(spec.loss, &args.input.key)?.into() };
    let mut source = open_rows(&args.input.inputs, &rows, &options)?;
    let problem = source.problem().clone().keeping(&args.method.always()?)?;
    let plan = RowPlan::new(args.run.memory()?, &source);
    let budget = plan.budget()?;
    let mut learner = registry::make_rows(method, spec, &problem, budget.clone())?;
    if args.output.dry_run {
        if !runner.leads() {
            return Ok(());
        }
        let need = plan.need(learner.memory());
        return outputs::dry_run(&source, method, spec, need, args.run.memory()?);
    }
    let quiet = args.output.quiet || !runner.leads();
    let mut watch = Watch {
        reporter: Reporter::new(args.output.progress, quiet),
        rows: source.rows(),
        limit: args.run.time()?.map(|limit| (start, limit)),
        checkpoint: None,
        stopped: None,
        before: BTreeSet::new(),
    };
    if let Some(path) = &args.run.checkpoint {
        let identity = identity(args, method, spec, &source)?;
        watch.checkpoint = Some(Checkpoint::new(path, identity, args.run.every()?));
    }
    let (every, classes) = (args.output.every, problem.classes.len());
    let row_options = RowOptions { missing, every, classes, ..RowOptions::default() };
    let reason = source.task_reason().to_string();
    let files: Vec<String> = source.files().map(String::from).collect();
    let mut share = runner.rows().map(|share| RowShare::new(&mut source, share));
    let rows: &mut dyn SampleSource = match &mut share {
        Some(share) => share,
        None => &mut source,
    };
    let mut driver = RowDriver::new(rows, learner.as_mut(), row_options);
    if let Some(state) = watch.checkpoint.as_ref().map(Checkpoint::load).transpose()?.flatten() {
        driver.restore(&state)?;
    }
    signals::enter(Phase::Selecting);
    let mut report = driver.run(&mut watch)?;
    watch.reporter.end_rows(&report.counts, &learner.status());
    if runner.rows().is_some() {
        let averages = averages(learner.as_ref(), &problem, "method")?;
        let Some(all) = runner.reduce(Learnt { averages, report })? else { return Ok(()) };
        learner = registry::make_rows(method, spec, &problem, budget)?;
        learner.load(all.averages.averages)?;
        report = all.report;
    }
    outputs::some_used(&report)?;
    let mut selection = learner.selection()?;
    report.filter.tell(&mut selection);
    signals::enter(Phase::Writing);
    let joined = source.unmatched();
    if let Some(path) = &args.output.averages {
        let saved = averages(learner.as_ref(), &problem, "averages")?;
        atomic::write(path, &saved.to_bytes()?)?;
    }
    if let Some(path) = &args.output.reduced {
        let used = report.counts.used;
        let table = outputs::reduced(path, &mut source, &selection, row_options, used)?;
        atomic::publish(vec![table])?;
    }
    let rows = Rows::joined(&report.counts, source.matched_by(), joined).counted(&report.filter);
    let shown = Shown { problem: &problem, files: &files, rows, args, start };
    shown.write(&report, selection, &reason)?;
    if let Some(checkpoint) = watch.checkpoint.filter(|_| report.complete) {
        checkpoint.remove()?;
    }
    if let Some(why) = watch.stopped {
        say(&format!("ended early by {why}; the result so far is whole but not complete"));
    }
    Ok(())
}

/// The averages of a learner; `asked` is the flag that asks for them.
fn averages(
    learner: &dyn RowLearner,
    problem: &RowProblem,
    asked: &'static str,
) -> Result<SavedAverages> {
    let averages = learner.averages().ok_or_else(|| {
        Error::param(asked, "given", "a method on running averages of all features")
    })??;
    Ok(SavedAverages { problem: problem.clone(), averages })
}

/// What a checkpoint belongs to.
fn identity(
    args: &SelectArgs,
    method: &MethodInfo,
    spec: &MethodSpec,
    source: &RowStream,
) -> Result<Identity> {
    let problem = source.problem();
    let (names, classes, target) = (&problem.names, &problem.classes, &problem.target);
    let hash = checkpoint::text_hash(&format!("{names:?}{classes:?}{target:?}"));
    let (rows, input) = (&args.rows, &args.input);
    let always: BTreeSet<String> = args.method.always()?.into_iter().collect();
    let settings: Vec<String> = [
        ("method", method.name.to_string()),
        ("k", format!("{:?}", spec.k)),
        ("loss", format!("{:?}", spec.loss)),
        ("seed", spec.seed.to_string()),
        ("set", format!("{:?}", spec.settings)),
        ("missing", args.method.missing.clone()),
        ("memory", format!("{:?}", args.run.memory()?)),
        ("target", format!("{:?}", rows.target)),
        ("task", format!("{:?}", problem.task())),
        ("weight", format!("{:?}", rows.sample_weight)),
        ("offset", format!("{:?}", rows.offset)),
        ("class-weight", format!("{:?}", rows.class_weight)),
        ("covar", format!("{:?}", rows.covar)),
        ("always", format!("{always:?}")),
        ("key", format!("{:?}", input.key)),
        ("columns", format!("{:?}", input.columns)),
        ("exclude", format!("{:?}", input.exclude)),
        ("categorical", format!("{:?}", input.categorical)),
        ("format", format!("{:?}", input.format)),
    ]
    .map(|(name, value)| format!("{name}={value}"))
    .into();
    let settings = settings.join(" ");
    let version = env!("CARGO_PKG_VERSION").into();
    Ok(Identity { version, data: source.fingerprint(), problem: hash, settings })
}

/// The outputs of a run on rows.
struct Shown<'a> {
    problem: &'a RowProblem,
    files: &'a [String],
    rows: Rows,
    args: &'a SelectArgs,
    start: Instant,
}

impl Shown<'_> {
    fn write(&self, report: &RowReport, selection: Selection, reason: &str) -> Result<()> {
        let mut warnings = self.rows.notes();
        let k = self.args.method.k;
        warnings.extend(keepnet_io::result::row_warnings(&selection, &report.counts, k));
        let seconds = Seconds {
            total: self.start.elapsed().as_secs_f64(),
            read: report.read.as_secs_f64(),
            select: report.learn.as_secs_f64(),
        };
        let flags = &self.args.output;
        let place = Place {
            output: flags.output.as_deref(),
            quiet: flags.quiet,
            // Lines of `--every` own the standard output.
            aside: flags.every.is_some(),
            report: flags.report.as_deref(),
        };
        let parts = Parts {
            seconds,
            rows: self.rows.clone(),
            seed: self.args.run.seed,
            complete: report.complete,
            trace: report.filter.trace(),
        };
        if !flags.quiet && !reason.is_empty() {
            let task =
                if self.problem.classes.is_empty() { "regression" } else { "classification" };
            say(&format!("{task}, {reason}"));
        }
        publish(self.problem, self.files, selection, &warnings, parts, &place)
    }
}

/// Numbers of a run.
pub struct Parts {
    /// Times.
    pub seconds: Seconds,
    /// Rows by their fate.
    pub rows: Rows,
    /// Seed.
    pub seed: u64,
    /// Whether the stream ended by itself.
    pub complete: bool,
    /// The learner along the stream.
    pub trace: Vec<TracePoint>,
}

/// Where a result goes.
pub struct Place<'a> {
    /// The file, or `-`.
    pub output: Option<&'a Path>,
    /// No table.
    pub quiet: bool,
    /// The table goes to standard error.
    pub aside: bool,
    /// The report.
    pub report: Option<&'a Path>,
}

/// Writes the result of a method on rows and shows its table.
pub fn publish(
    problem: &RowProblem,
    files: &[String],
    selection: Selection,
    warnings: &[String],
    parts: Parts,
    place: &Place<'_>,
) -> Result<()> {
    let target = row_target(problem);
    let report = row_report(problem, selection, parts.complete, parts.seconds, parts.trace);
    let run = Run {
        seconds: parts.seconds,
        peak_bytes: system::peak_bytes(),
        threads: rayon::current_num_threads(),
        command: system::command_line(),
    };
    let outcome = Outcome {
        report: &report,
        stream: "samples",
        target: &target,
        sources: files,
        rows: &parts.rows,
        seed: parts.seed,
        warnings,
        run: &run,
    };
    let to_stdout = place.output.is_some_and(|path| path.as_os_str() == "-");
    if let Some(path) = place.output.filter(|_| !to_stdout) {
        let csv_asked = super::select::extension(path) == "csv";
        let text = if csv_asked { csv::csv(&outcome)? } else { outcome.json()? };
        atomic::write(path, &text)?;
    }
    if let Some(path) = place.report {
        atomic::write(path, &report_page::html(&outcome)?)?;
    }
    if to_stdout {
        print(&String::from_utf8_lossy(&outcome.json()?))?;
    }
    for warning in warnings {
        warn(warning);
    }
    match (place.quiet, to_stdout || place.aside) {
        (true, _) => Ok(()),
        (false, true) => {
            aside(&table::table(&outcome));
            Ok(())
        }
        (false, false) => print(&table::table(&outcome)),
    }
}
