//! A selection from a stream of features.

use keepnet::registry::{MethodSpec, Stream};
use keepnet::{CheckPolicy, FeatureSource, Lane, Order, Problem, Result, RunOptions};

use crate::host::Host;
use crate::input;
use crate::order::order;
use crate::outputs::decisions::Decisions;
use crate::outputs::phase::{self, Phase};
use crate::outputs::reduced;
use crate::plan::Plan;
use crate::request::Request;
use crate::result::Outcome;
use crate::runner::{Job, Runner};
use crate::select::{Done, Selecting};
use crate::{identity, preview};

/// A method made for a problem, and how it is to run.
pub struct Made {
    /// The problem, the method and what is fit to be offered.
    pub lane: Lane,
    /// Scans, order, seed and width.
    pub options: RunOptions,
    /// Memory.
    pub plan: Plan,
}

impl Made {
    /// Makes the method of a request for columns of `source`; memory is decided here.
    pub fn new(
        request: &Request,
        source: &dyn FeatureSource,
        problem: Problem,
        order: Order,
        runner: &dyn Runner,
    ) -> Result<Self> {
        let info = request.method.info()?;
        let mut plan = Plan::new(request.run.memory, source);
        let spec = MethodSpec {
            column_bytes: Some(plan.column),
            integral: integral(request, source),
            ..request.method.spec(request.run.seed)?
        };
        problem.check()?;
        let selector = runner.selector(info, &spec, &problem, plan.budget()?)?;
        let pinned = request.method.always()?;
        plan.add(selector.as_ref(), pinned.len(), &problem, info.stream == Stream::Batch)?;
        let mut lane = Lane::new(problem, selector);
        lane.policy = request.method.policy()?;
        lane.pinned = pinned;
        let scans = request.run.scans.unwrap_or(info.scans);
        let options = RunOptions { scans, order, seed: request.run.seed, width: plan.width };
        Ok(Self { lane, options, plan })
    }
}

/// Whether every column holds whole numbers: by its type, unless the caller knows better.
#[must_use]
pub fn integral(request: &Request, source: &dyn FeatureSource) -> bool {
    request.method.integral.unwrap_or_else(|| source.integral())
}

pub(crate) fn select(
    job: &Selecting<'_>,
    policy: &CheckPolicy,
    host: &mut dyn Host,
) -> Result<Done> {
    let (asked, request) = (job.asked, job.asked.request);
    let mut opened = input::columns(asked, &job.clock)?;
    let order = order(&request.run.order, &mut opened.source)?;
    let problem = opened.problem.clone();
    let Made { lane, options, plan } =
        Made::new(request, &opened.source, problem, order, job.runner)?;
    let params = lane.selector.selection()?.params;
    if request.output.dry_run {
        return Ok(match job.runner.leads() {
            true => {
                let preview = preview::columns(asked, &opened, &plan, &params, options.scans);
                Done::Previewed(preview)
            }
            false => Done::Elsewhere,
        });
    }
    let prints = (opened.source.fingerprint(), identity::problem_hash(&opened.problem));
    let mut watch = job.watch(host, prints, params, &identity::of_columns(asked, &options));
    if let Some(path) = &request.output.decisions {
        watch.decisions = Some(Decisions::new(path)?);
    }
    let (lanes, groups) = (vec![lane], asked.groups.clone());
    let source = &mut opened.source;
    let report = job.runner.run(Job { source, lanes, options, groups, watch: &mut watch })?;
    let Some(report) = report else { return Ok(Done::Elsewhere) };
    phase::enter(Phase::Writing);
    watch.host.end(None);
    let mut pending = Vec::new();
    if let Some(path) = &request.output.reduced {
        let selection = &report.lanes[0].selection;
        let (source, problem) = (&mut opened.source, &opened.problem);
        pending.push(reduced::write(path, source, selection, problem, policy, plan.width)?);
    }
    let (rows, integral) = (&opened.rows, integral(request, &opened.source));
    let command = watch.host.command();
    let context = job.context(&opened.notes, &command);
    let sources = opened.source.sources();
    let mut outcomes =
        Outcome::lanes(&context, report, &opened.problem, sources, (rows, integral))?;
    for outcome in &mut outcomes {
        outcome.task_reason.clone_from(&opened.task_reason);
    }
    job.finish(watch, outcomes, pending)
}
