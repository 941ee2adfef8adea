//! A selection from a stream of features.

use std::sync::Arc;

use keepnet::registry::{self, MethodSpec, Stream};
use keepnet::run::quick_bytes;
use keepnet::{CheckPolicy, Error, FeatureId, FeatureSource, Lane, Order, Result, RunOptions};

use crate::host::Host;
use crate::input;
use crate::lanes::{self, Arrangement, Ask, Concluded};
use crate::order::order;
use crate::outputs::decisions::{Decisions, Held};
use crate::outputs::phase::{self, Phase};
use crate::outputs::reduced;
use crate::plan::Plan;
use crate::request::{Asked, Request, Scans};
use crate::result::Outcome;
use crate::runner::{Job, Runner};
use crate::select::{Done, Selecting};
use crate::state::Days;
use crate::{identity, preview};

/// A method made for each lane of a run, and how it is to run.
pub struct Made {
    /// Problem, method and what is fit to be offered of each lane.
    pub lanes: Vec<Lane>,
    /// Scans, order, seed and width.
    pub options: RunOptions,
    /// Memory.
    pub plan: Plan,
}

impl Made {
    /// Makes the method of a request for the lanes of these arrangements, on columns of `source`;
    /// memory is decided here.
    pub fn new(
        request: &Request,
        source: &dyn FeatureSource,
        arrangements: &[Box<dyn Arrangement>],
        order: Order,
        runner: &dyn Runner,
    ) -> Result<Self> {
        let info = request.method.info()?;
        let mut plan = Plan::new(request.run.memory, source);
        let spec = MethodSpec {
            column_bytes: Some(plan.column),
            integral: integral(request, source),
            genotypes: request.input.genotypes(),
            ..request.method.spec(request.run.seed)?
        };
        registry::check_thresholds(info, &spec)?;
        let pinned = request.method.always()?;
        let (policy, batch) = (request.policy()?, info.stream == Stream::Batch);
        let count = arrangements.iter().map(|arrangement| arrangement.asks().len()).sum();
        if arrangements.iter().all(|arrangement| arrangement.brief()) {
            plan.block += quick_bytes(count, source.rows());
        }
        let mut lanes: Vec<Lane> = Vec::with_capacity(count);
        for arrangement in arrangements {
            let first = lanes.len();
            for Ask { problem, k } in arrangement.asks() {
                problem.check()?;
                let spec = MethodSpec { k: k.or(spec.k), ..spec.clone() };
                let budget = plan.budget(count)?;
                let mut selector = runner.selector(info, &spec, problem, budget)?;
                if request.run.scans == Some(Scans::Rest) && request.run.state.is_none() {
                    selector.certify(info.scans)?;
                }
                plan.add(selector.as_ref(), pinned.len(), problem, batch)?;
                let mut lane = Lane::new(Arc::clone(problem), selector);
                lane.policy = policy.clone();
                lane.brief = arrangement.brief();
                lane.pinned.clone_from(&pinned);
                lanes.push(lane);
            }
            arrangement.fits(&lanes[first..])?;
        }
        let scans = match request.run.scans {
            _ if request.run.state.is_some() => 1,
            Some(Scans::Number(scans)) => scans,
            None => info.scans,
            Some(Scans::Rest) => 0,
        };
        let options = RunOptions { scans, order, seed: request.run.seed, width: plan.width };
        Ok(Self { lanes, options, plan })
    }
}

/// Whether every column holds whole numbers: by its type, unless the caller knows better.
#[must_use]
pub fn integral(request: &Request, source: &dyn FeatureSource) -> bool {
    request.method.integral.unwrap_or_else(|| source.integral())
}

/// The error of a `k` that the data do not allow, with the data.
fn name_files(error: Error, files: &[String]) -> Error {
    match (&error, files) {
        (Error::Param { name: "k", .. }, [file]) => error.at(file),
        (Error::Param { name: "k", .. }, [first, rest @ ..]) => {
            let place = format!("{first} and {} more files", rest.len());
            error.at(place)
        }
        _ => error,
    }
}

pub(crate) fn select(
    job: &Selecting<'_>,
    policy: &CheckPolicy,
    host: &mut dyn Host,
) -> Result<Done> {
    let (asked, request) = (job.asked, job.asked.request);
    let mut stream = Days::open(request)?;
    let mut opened = input::columns(asked, &job.clock, stream.as_ref())?;
    if let Some(stream) = &mut stream {
        let problem = opened.whole.problem.as_ref().clone();
        opened.whole.problem = stream.settle(problem, opened.source.row_ids())?.into();
    }
    let order = order(&request.run.order, &mut opened.source)?;
    let features = opened.source.features();
    let arrangements = vec![lanes::arrange(request, &opened.whole, features)?];
    let Made { mut lanes, mut options, plan } =
        Made::new(request, &opened.source, &arrangements, order, job.runner)
            .map_err(|error| name_files(error, &opened.files))?;
    let mut params = lanes[0].selector.selection()?.params;
    if opened.source.comes_once() {
        options.scans = 1;
    }
    if opened.source.comes_once() && stream.is_none() && asked.method.scans > 1 {
        let Asked { method, .. } = asked;
        opened.notes.push(format!(
            "the features came once, where {} by itself goes through them {} times: each was \
             judged against what was kept when it came",
            method.name, method.scans
        ));
    }
    if let Some(stream) = &mut stream {
        lanes[0].pinned.extend(stream.always().cloned());
        let in_force = identity::in_force(&asked.spec, params.clone());
        stream.agree(&(identity::settings(asked, &in_force) + &identity::limits(asked)))?;
        opened.notes.extend(stream.notes(asked.method.name, asked.method.scans));
    }
    if request.output.dry_run {
        return Ok(match job.runner.leads() {
            true => {
                if let Some(sizes) = request.method.k.as_ref().and_then(lanes::written) {
                    let k = params.iter_mut().filter(|(name, _)| *name == "k");
                    k.for_each(|(_, value)| *value = sizes.clone().into());
                }
                let mut preview = preview::columns(asked, &opened, &plan, &params, options.scans);
                preview.lanes(arrangements.iter().filter_map(|one| one.purpose()));
                Done::Previewed(preview)
            }
            false => Done::Elsewhere,
        });
    }
    let prints = (opened.source.fingerprint(), identity::problem_hash(&lanes[0].problem));
    let mut watch = job.watch(host, prints, params, &identity::of_columns(asked, &options));
    if let Some(path) = &request.output.decisions {
        let earlier = stream.as_ref().map(|stream| stream.decisions(path)).transpose()?.flatten();
        watch.decisions = Some(match earlier {
            Some(earlier) => Decisions::going_on(path, &earlier)?,
            None => Decisions::new(path)?,
        });
    }
    let always = lanes[0].pinned.clone();
    let groups = asked.groups.clone();
    let source = &mut opened.source;
    let report = match &mut stream {
        Some(stream) => {
            watch.held = Held::new(stream.held());
            Some(stream.run(source, lanes, (options, groups), &mut watch)?)
        }
        None => job.runner.run(Job { source, lanes, options, groups, watch: &mut watch })?,
    };
    let Some(mut report) = report else { return Ok(Done::Elsewhere) };
    phase::enter(Phase::Writing);
    watch.host.end(None);
    let concluded = lanes::conclude(&arrangements, &mut report, &mut opened.source, request)?;
    let mut pending = Vec::new();
    if let Some(path) = &request.output.reduced {
        let Concluded { lane, problem, .. } = &concluded[0];
        let (source, selection) = (&mut opened.source, &lane.selection);
        pending.push(reduced::write(path, source, selection, problem, policy, plan.width)?);
    }
    let (rows, integral) = (&opened.rows, integral(request, &opened.source));
    let command = watch.host.command();
    let context = job.context(&opened.notes, &command);
    let sources = stream.as_ref().map_or_else(|| opened.source.sources(), Days::sources);
    let mut outcomes = Outcome::lanes(&context, &report, concluded, sources, (rows, integral))?;
    for outcome in &mut outcomes {
        outcome.task_reason = Some(opened.task_reason);
        outcome.trace_back(&opened.source);
        if let Some(stream) = &stream {
            let kept = &outcome.selection;
            let ids = kept.selected.iter().chain(&kept.pinned).map(|feature| &feature.id);
            let variant = |id: &FeatureId| {
                let today = stream.today(*id)?;
                Some((*id, opened.source.variant(today)?))
            };
            outcome.variants = ids.clone().filter_map(variant).collect();
            outcome.origins = stream.origins(ids, &opened.source)?;
        }
    }
    if let Some(stream) = &mut stream {
        let decisions = watch.decisions.take().map(Decisions::finish).transpose()?;
        let saved = stream.save(&watch, &opened.source, (always, decisions.as_ref()))?;
        if saved.is_none() {
            let text = "ended early, so the state is as it was before this run";
            outcomes.iter_mut().for_each(|outcome| outcome.warnings.push(text.into()));
        }
        pending.extend(decisions.into_iter().chain(saved));
    }
    job.finish(watch, outcomes, pending)
}
