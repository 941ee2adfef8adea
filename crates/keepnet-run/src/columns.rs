//! A selection from a stream of features.

use std::sync::Arc;

use keepnet::registry::{self, MethodSpec, Stream};
use keepnet::run::quick_bytes;
use keepnet::{
    CheckPolicy, Error, FeatureId, FeatureSource, Lane, Order, Result, RunOptions, Value,
};

use crate::host::Host;
use crate::input;
use crate::lanes::{self, Arrangement, Ask, Concluded};
use crate::order::order;
use crate::outputs::decisions::{Decisions, Held};
use crate::outputs::phase::{self, Phase};
use crate::outputs::{self, reduced, reduced_bed};
use crate::plan::Plan;
use crate::request::{Asked, Request, Scans};
use crate::result::Outcome;
use crate::runner::{Job, Runner};
use crate::select::{Done, Selecting};
use crate::state::Days;
use crate::{identity, preview, targets};

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

/// The settings in force of a lane.
type Params = Vec<(&'static str, Value)>;

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
    targets::check(request, job.runner, opened.targets.len())?;
    if let Some(stream) = &mut stream {
        let whole = &mut opened.targets[0].whole;
        let problem = whole.problem.as_ref().clone();
        whole.problem = stream.settle(problem, opened.source.row_ids())?.into();
    }
    let order = order(&request.run.order, &mut opened.source)?;
    let arrangements = targets::arrange(request, &opened)?;
    let Made { mut lanes, mut options, plan } =
        Made::new(request, &opened.source, &arrangements, order, job.runner)
            .map_err(|error| name_files(error, &opened.files))?;
    let deciding = targets::deciding(&opened, &arrangements);
    let params = |at: &(usize, _)| Ok(lanes[at.0].selector.selection()?.params);
    let mut params: Vec<Params> = deciding.iter().map(params).collect::<Result<_>>()?;
    if opened.source.comes_once() {
        options.scans = 1;
    }
    if opened.source.comes_once() && stream.is_none() && asked.method.scans > 1 {
        let Asked { method, .. } = asked;
        opened.note(&format!(
            "the features came once, where {} by itself goes through them {} times: each was \
             judged against what was kept when it came",
            method.name, method.scans
        ));
    }
    if let Some(stream) = &mut stream {
        lanes[0].pinned.extend(stream.always().cloned());
        let in_force = identity::in_force(&asked.spec, params[0].clone());
        stream.agree(&(identity::settings(asked, &in_force) + &identity::limits(asked)))?;
        let notes = stream.notes(asked.method.name, asked.method.scans);
        opened.targets[0].notes.extend(notes);
    }
    if request.output.dry_run {
        return Ok(match job.runner.leads() {
            true => {
                if let Some(sizes) = request.method.k.as_ref().and_then(lanes::written) {
                    let all = params.iter_mut().flatten();
                    all.filter(|(name, _)| *name == "k")
                        .for_each(|(_, k)| *k = sizes.clone().into());
                }
                let mut preview = preview::columns(asked, &opened, &plan, &params, options.scans);
                preview.lanes(arrangements.iter().filter_map(|one| one.purpose()));
                Done::Previewed(preview)
            }
            false => Done::Elsewhere,
        });
    }
    let names = || opened.targets.iter().map(|target| target.name.as_str());
    let _folder = match job.runner.leads() {
        true => targets::Folder::ready(request, &outputs::inputs_of(request), names())?,
        false => None,
    };
    let of_lanes = deciding.iter().map(|(lane, _)| &*lanes[*lane].problem);
    let prints = (opened.source.fingerprint(), identity::problems_hash(of_lanes));
    let more = identity::of_columns(asked, &options) + &identity::of_targets(&params, names());
    let mut watch = job.watch(host, prints, params.swap_remove(0), &more);
    watch.targets = opened.targets.len();
    if let Some(path) = &request.output.decisions {
        let earlier = stream.as_ref().map(|stream| stream.decisions(path)).transpose()?.flatten();
        watch.decisions = Some(match earlier {
            Some(earlier) => Decisions::going_on(path, &earlier)?,
            None => Decisions::new(path, deciding)?,
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
        let width = plan.width;
        match reduced_bed::is_triple(path) {
            true => {
                pending.extend(reduced_bed::write(path, source, selection, problem, policy, width)?)
            }
            false => {
                pending.push(reduced::write(path, source, selection, problem, policy, width)?);
            }
        }
    }
    let integral = integral(request, &opened.source);
    let command = watch.host.command();
    let sources = stream.as_ref().map_or_else(|| opened.source.sources(), Days::sources);
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(concluded.len());
    for (target, concluded) in opened.targets.iter().zip(concluded) {
        let context = job.context(&target.notes, &command);
        let told = (&target.rows, integral);
        let mut outcome = Outcome::features(&context, &report, concluded, sources, told)?;
        outcome.target = Some(target.name.clone());
        outcome.task_reason = Some(target.task_reason);
        outcome.trace_back(&opened.source);
        if let Some(first) = outcomes.first() {
            outcome.run.clone_from(&first.run);
        }
        outcomes.push(outcome);
    }
    if let Some(stream) = &mut stream {
        let outcome = &mut outcomes[0];
        let kept = &outcome.selection;
        let ids = kept.selected.iter().chain(&kept.pinned).map(|feature| &feature.id);
        let variant = |id: &FeatureId| {
            let today = stream.today(*id)?;
            Some((*id, opened.source.variant(today)?))
        };
        outcome.variants = ids.clone().filter_map(variant).collect();
        outcome.origins = stream.origins(ids, &opened.source)?;
        let decisions = watch.decisions.take().map(Decisions::finish).transpose()?;
        let saved = stream.save(&watch, &opened.source, (always, decisions.as_ref()))?;
        if saved.is_none() {
            let text = "ended early, so the state is as it was before this run";
            outcome.warnings.push(text.into());
        }
        pending.extend(decisions.into_iter().chain(saved));
    }
    job.finish(watch, outcomes, pending)
}
