//! `keepnet select`: k features from files.
//!
//! Everything that can be wrong is found in this order: flags, outputs, files, join, memory;
//! only then does the run start.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use keepnet::registry::{MethodInfo, MethodSpec};
use keepnet::run::snapshot::Identity;
use keepnet::{
    CheckPolicy, Error, FeatureSource, Groups, Lane, Order, Problem, Result, RunOptions, RunReport,
    Value,
};
use keepnet_io::{Joined, OpenOptions, TableSource};

use super::{files, select_outputs as outputs};
use crate::flags::{Every, SelectArgs};
use crate::output::decisions::Decisions;
use crate::output::say::{say, warn};
use crate::run::checkpoint::{self, Checkpoint};
use crate::run::opening;
use crate::run::order::order;
use crate::run::plan::Plan;
use crate::run::progress::Reporter;
use crate::run::runner::{Job, Runner};
use crate::run::signals::{self, Phase};
use crate::run::system;
use crate::run::watch::Watch;
use keepnet_io::result::Rows;

/// The flags, read.
pub struct Asked<'a> {
    pub args: &'a SelectArgs,
    pub method: &'static MethodInfo,
    pub spec: MethodSpec,
    pub policy: CheckPolicy,
    pub groups: Option<Groups>,
    pub open: OpenOptions,
    pub memory: Option<u64>,
    pub time: Option<Duration>,
    pub every: Every,
}

/// Files opened and joined to the target.
pub struct Opened {
    pub source: TableSource,
    pub problem: Problem,
    pub rows: Rows,
    pub task_reason: String,
    pub notes: Vec<String>,
    pub files: Vec<String>,
    pub kinds: String,
    pub bytes: u64,
    pub always: HashSet<String>,
}

/// Runs a selection.
pub fn run(args: &SelectArgs, runner: &dyn Runner) -> Result<()> {
    let start = Instant::now();
    args.output.check()?;
    let method = args.method.info()?;
    runner.check(args, method)?;
    if method.stream == keepnet::Stream::Samples {
        return super::select_rows::run(args, method, runner, start);
    }
    args.output.features_only()?;
    let asked = Asked {
        args,
        method: args.method.info()?,
        spec: args.method.spec(args.run.seed)?,
        policy: args.method.policy()?,
        groups: args.method.groups()?,
        open: OpenOptions {
            check: opening::check(start, args.run.time()?),
            ..args.input.options(args.run.memory.as_deref())?
        },
        memory: args.run.memory()?,
        time: args.run.time()?,
        every: args.run.every()?,
    };
    if args.run.scans == Some(0) {
        return Err(Error::param("scans", 0, "at least 1"));
    }
    if runner.leads() {
        signals::listen()?;
    }
    let writes = !args.output.dry_run && runner.leads();
    let _lock = if writes { files::select(args)? } else { None };
    system::with_threads(args.run.threads, || select(&asked, runner, start))
}

fn select(asked: &Asked<'_>, runner: &dyn Runner, start: Instant) -> Result<()> {
    let args = asked.args;
    let mut opened = open(asked)?;
    let order = order(&args.run.order, &mut opened.source)?;
    let mut plan = Plan::new(asked.memory, &opened.source);
    let integral = opened.source.integral();
    let spec = MethodSpec { column_bytes: Some(plan.column), integral, ..asked.spec.clone() };
    opened.problem.check()?;
    let budget = plan.budget()?;
    let selector = runner.selector(asked.method, &spec, &opened.problem, budget)?;
    let batch = asked.method.stream == keepnet::Stream::Batch;
    plan.add(selector.as_ref(), opened.always.len(), &opened.problem, batch)?;
    let scans = args.run.scans.unwrap_or(asked.method.scans);
    if args.output.dry_run {
        if !runner.leads() {
            return Ok(());
        }
        let params = selector.selection()?.params;
        return outputs::dry_run(asked, &opened, &plan, &params, scans);
    }
    let always = opened.always.clone();
    let mut lane = Lane::new(opened.problem.clone(), selector);
    lane.policy = asked.policy.clone();
    lane.pinned = always;
    let width = plan.width;
    let reporter = Reporter::new(args.output.progress, args.output.quiet || !runner.leads());
    let mut watch = Watch::new(reporter, asked.time.map(|limit| (start, limit)));
    if let Some(path) = &args.run.checkpoint {
        let method = in_force(&asked.spec, lane.selector.selection()?.params);
        let mut identity = identity(asked, &opened, &method, scans, &order, width);
        identity.settings += &runner.identity();
        watch.checkpoint = Some(Checkpoint::new(path, identity, asked.every));
    }
    if let Some(path) = &args.output.decisions {
        watch.decisions = Some(Decisions::new(path)?);
    }
    let options = RunOptions { scans, order, seed: args.run.seed, width };
    let groups = asked.groups.clone();
    let source = &mut opened.source;
    signals::enter(Phase::Selecting);
    let report = runner.run(Job { source, lane, options, groups, watch: &mut watch })?;
    let Some(report) = report else { return Ok(()) };
    signals::enter(Phase::Writing);
    watch.reporter.clear();
    finish(asked, opened, watch, &report, width, start)
}

fn finish(
    asked: &Asked<'_>,
    mut opened: Opened,
    mut watch: Watch,
    report: &RunReport,
    width: usize,
    start: Instant,
) -> Result<()> {
    let warnings = outputs::warnings(asked, &opened, report);
    let mut pending = Vec::new();
    if let Some(decisions) = watch.decisions.take() {
        pending.push(decisions.finish()?);
    }
    outputs::write(asked, &mut opened, report, &warnings, width, start, pending)?;
    if let Some(checkpoint) = watch.checkpoint.filter(|_| report.complete) {
        checkpoint.remove()?;
    }
    for warning in &warnings {
        warn(warning);
    }
    if let Some(why) = watch.stopped {
        say(&format!("ended early by {why}; the result so far is whole but not complete"));
    }
    Ok(())
}

fn open(asked: &Asked<'_>) -> Result<Opened> {
    let args = asked.args;
    let mut dataset = keepnet_io::open(&args.input.inputs, &asked.open)?;
    let spec = args.rows.spec(asked.spec.loss, &args.input.key)?;
    let joined = keepnet_io::build_problem(&mut dataset, &spec, &asked.open)?;
    let (files, bytes) = (dataset.files().to_vec(), dataset.bytes());
    let kinds = outputs::kinds(dataset.columns());
    let always = args.method.always()?;
    dataset.knows(&always, &joined.not_features)?;
    let source = dataset.source(&joined.not_features)?;
    let Joined { problem, matched_by, input, used, masked_target, unmatched, .. } = joined;
    let (masked_target, unmatched) = (Some(masked_target), Some(unmatched));
    let rows = Rows { input, used, matched_by, masked_target, unmatched, classes: None };
    let (task_reason, notes) = (joined.task_reason, joined.notes);
    Ok(Opened { source, problem, rows, task_reason, notes, files, kinds, bytes, always })
}

/// What a checkpoint belongs to: every setting that a digit of the result depends on.
fn identity(
    asked: &Asked<'_>,
    opened: &Opened,
    method: &BTreeMap<String, String>,
    scans: u32,
    order: &Order,
    width: usize,
) -> Identity {
    let (spec, policy, args) = (&asked.spec, &asked.policy, asked.args);
    let order = match order {
        Order::Given => "given".to_string(),
        Order::Shuffled => "shuffled".to_string(),
        Order::Fixed(list) => format!("{:x}", checkpoint::text_hash(&format!("{list:?}"))),
    };
    let mut always: Vec<_> = opened.always.iter().map(String::as_str).collect();
    always.sort_unstable();
    let mut settings = format!("method={} scans={scans} seed={}", asked.method.name, spec.seed);
    for (name, value) in method {
        settings += &format!(" {name}={value}");
    }
    settings += &format!(" order={order} missing={}", args.method.missing);
    settings += &format!(" min-count={} width={width}", policy.min_count);
    if let Some(share) = policy.max_missing {
        settings += &format!(" max-missing={share}");
    }
    if let Some(memory) = asked.memory {
        settings += &format!(" memory={memory}");
    }
    if !always.is_empty() {
        settings += &format!(" always={}", always.join(","));
    }
    if let (Some(text), Some(groups)) = (&args.method.groups, &asked.groups) {
        settings += &format!(" groups={text}:{:x}", groups.fingerprint());
    }
    if let Some(way) = &args.input.categorical {
        settings += &format!(" categorical={way}");
    }
    Identity {
        version: env!("CARGO_PKG_VERSION").into(),
        data: opened.source.fingerprint(),
        problem: checkpoint::problem_hash(&opened.problem),
        settings,
    }
}

/// The method's settings as they are in force: a default may come from the machine, such as the
/// number of workers from that of its cores, and is as good as one that was asked for.
fn in_force(spec: &MethodSpec, params: Vec<(&'static str, Value)>) -> BTreeMap<String, String> {
    let mut all = spec.settings.clone();
    all.extend(spec.loss.map(|loss| ("loss".into(), loss.name().into())));
    all.extend(params.into_iter().map(|(name, value)| (name.into(), value.to_string())));
    all.extend(spec.k.map(|k| ("k".into(), k.to_string())));
    all
}

/// The name of a path's extension in lower case.
pub fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}
