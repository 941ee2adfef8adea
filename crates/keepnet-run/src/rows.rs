//! A selection from a stream of rows: one pass over samples, from files or a pipe.

use keepnet::learn::SavedAverages;
use keepnet::registry::{self, MethodSpec};
use keepnet::run::{RowCounts, RowDriver, RowMissing, RowOptions, RowReport};
use keepnet::{Budget, Error, Result, RowLearner, RowProblem, SampleSource};

use crate::host::{Host, Seen};
use crate::outputs::atomic::Pending;
use crate::outputs::phase::{self, Phase};
use crate::outputs::row_columns;
use crate::plan::RowPlan;
use crate::request::Request;
use crate::result::{Outcome, Rows};
use crate::runner::Learnt;
use crate::select::{Done, Selecting};
use crate::share::RowShare;
use crate::{identity, input, preview};

/// The learner of a request for rows in memory; memory is limited to what the request allows.
pub fn learner(request: &Request, problem: &RowProblem) -> Result<Box<dyn RowLearner>> {
    let spec: MethodSpec = request.method.spec(request.run.seed)?;
    let budget = request.run.memory.map_or_else(Budget::unlimited, Budget::bytes);
    registry::make_rows(request.method.info()?, &spec, problem, budget)
}

pub(crate) fn select(
    job: &Selecting<'_>,
    missing: RowMissing,
    host: &mut dyn Host,
) -> Result<Done> {
    let (asked, request, runner) = (job.asked, job.asked.request, job.runner);
    let (mut source, problem) = input::rows(asked, missing, &job.clock)?;
    let plan = RowPlan::new(request.run.memory, &source);
    let budget = plan.budget()?;
    let make = |budget| registry::make_rows(asked.method, &asked.spec, &problem, budget);
    let mut learner = make(budget.clone())?;
    if request.output.dry_run {
        return Ok(match runner.leads() {
            true => {
                let need = plan.need(learner.memory());
                Done::Previewed(preview::rows(asked, &source, &problem, need))
            }
            false => Done::Elsewhere,
        });
    }
    let prints = (source.fingerprint(), identity::row_problem_hash(source.problem()));
    let mut watch = job.watch(host, prints, Vec::new(), &identity::of_rows(asked));
    watch.rows = source.rows();
    let (every, classes) = (request.output.every, problem.classes.len());
    let options = RowOptions { missing, every, classes, ..RowOptions::default() };
    let mut share = runner.rows().map(|share| RowShare::new(&mut source, share));
    let rows: &mut dyn SampleSource = match &mut share {
        Some(share) => share,
        None => &mut source,
    };
    let mut driver = RowDriver::new(rows, learner.as_mut(), options);
    if let Some(state) = watch.saved()? {
        driver.restore(&state)?;
    }
    let mut report = driver.run(&mut watch)?;
    let RowCounts { input: arrived, .. } = report.counts;
    watch.host.end(Some(&Seen::of_rows(&report.counts, Some(arrived), learner.status())));
    if runner.rows().is_some() {
        let averages = averages(learner.as_ref(), &problem, "method")?;
        let Some(all) = runner.reduce(Learnt { averages, report })? else {
            return Ok(Done::Elsewhere);
        };
        learner = make(budget)?;
        learner.load(all.averages.averages)?;
        report = all.report;
    }
    some_used(&report)?;
    let selection = learner.selection()?;
    phase::enter(Phase::Writing);
    let rows = Rows::of(&report.counts, source.matched_by(), source.unmatched());
    let mut pending = Vec::new();
    if let Some(path) = &request.output.averages {
        let saved = averages(learner.as_ref(), &problem, "averages")?;
        pending.push(Pending::whole(path, &saved.to_bytes()?)?);
    }
    if let Some(path) = &request.output.reduced {
        let used = report.counts.used;
        pending.push(row_columns::write(path, &mut source, &selection, options, used)?);
    }
    let command = watch.host.command();
    let notes = source.notes();
    let (context, times) = (job.context(&notes, &command), (report.read, report.learn));
    let found = (rows, &report.filter);
    let outcome = Outcome {
        task_reason: Some(source.task_reason()),
        sources: source.files().map(String::from).collect(),
        complete: report.complete,
        ..Outcome::samples(&context, selection, &problem, found, times)
    };
    job.finish(watch, vec![outcome], pending)
}

/// Whether a run that came to its end learnt from any row.
fn some_used(report: &RowReport) -> Result<()> {
    let RowCounts { input, used, dropped, without_target, .. } = report.counts;
    if used > 0 || input == 0 || !report.complete {
        return Ok(());
    }
    Err(Error::Data(format!(
        "no row can be used: {without_target} of {input} rows have no target and {dropped} have a \
         missing value; choose another --missing"
    )))
}

/// The averages of a learner; `asked` is the flag that asks for them.
pub fn averages(
    learner: &dyn RowLearner,
    problem: &RowProblem,
    asked: &'static str,
) -> Result<SavedAverages> {
    let averages = learner.averages().ok_or_else(|| {
        Error::param(asked, "given", "a method on running averages of all features")
    })??;
    Ok(SavedAverages { problem: problem.clone(), averages })
}
