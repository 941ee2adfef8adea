//! A worker's last word, and the one result that all of them make.

use std::time::Duration;

use keepnet::run::{Dropped, LaneReport, TracePoint};
use keepnet::select::substitution::asy_os::{Merged, Tally, Worker, merge};
use keepnet::select::substitution::os::OsParams;
use keepnet::{Kept, Problem, Result, RunReport};
use serde::{Deserialize, Serialize};

/// What a worker ends with.
#[derive(Serialize, Deserialize)]
pub struct Report {
    kept: Vec<Kept>,
    prediction: Vec<f64>,
    tally: Tally,
    substitutions: u64,
    diverged: bool,
    dropped: Dropped,
    /// What became of features that are always kept and were not.
    lost: Vec<String>,
    trace: Vec<TracePoint>,
    features_seen: u64,
    scans: u32,
    complete: bool,
    read: f64,
    select: f64,
    checked: u64,
}

impl Report {
    /// Of a worker and its run; `length` is that of the prediction.
    #[must_use]
    pub fn new(worker: &Worker, run: &RunReport, length: usize) -> Self {
        let lane = &run.lanes[0];
        let mut prediction = vec![0.0; length];
        worker.add_prediction(&mut prediction);
        Self {
            kept: worker.kept().to_vec(),
            prediction,
            tally: worker.tally(),
            substitutions: worker.substitutions(),
            diverged: worker.diverged(),
            dropped: lane.dropped,
            lost: lost_here(&lane.selection.warnings),
            trace: lane.trace.clone(),
            features_seen: run.features_seen,
            scans: run.scans,
            complete: run.complete,
            read: run.read.as_secs_f64(),
            select: run.select.as_secs_f64(),
            checked: run.checked,
        }
    }
}

/// One result out of the reports by worker, and the centre's prediction at the end.
pub fn together(
    params: &OsParams,
    problem: &Problem,
    centre: &'static str,
    mut reports: Vec<Report>,
    u: &[f64],
) -> Result<RunReport> {
    let workers = reports.len() as u64;
    for (worker, report) in (0..).zip(&mut reports) {
        // A worker has every so many-th feature of the stream.
        report.kept.iter_mut().for_each(|kept| kept.arrival = kept.arrival * workers + worker);
    }
    let mut predicted = vec![0.0; u.len()];
    for report in &reports {
        predicted.iter_mut().zip(&report.prediction).for_each(|(sum, part)| *sum += part);
    }
    let kept: Vec<&Kept> = reports.iter().flat_map(|report| &report.kept).collect();
    let all = Merged {
        params,
        centre,
        timed: true,
        tau: None,
        kept: &kept,
        tallies: &reports.iter().map(|report| report.tally).collect::<Vec<_>>(),
        substitutions: reports.iter().map(|report| report.substitutions).sum(),
        diverged: reports.iter().any(|report| report.diverged),
        workers_prediction: &predicted,
        centre_prediction: u,
    };
    let mut selection = merge(problem, &all)?;
    selection.warnings.extend(lost(&reports));
    let most = |of: fn(&Report) -> f64| reports.iter().map(of).fold(0.0, f64::max);
    let scans = reports.iter().map(|report| report.scans).max().unwrap_or(0);
    let complete = reports.iter().all(|report| report.complete);
    let (dropped, trace) = (dropped(&reports), trace(&reports));
    Ok(RunReport {
        lanes: vec![LaneReport { selection, dropped, trace, scans, complete }],
        features_seen: reports.iter().map(|report| report.features_seen).sum(),
        groups: None,
        scans,
        complete,
        read: Duration::from_secs_f64(most(|report| report.read)),
        select: Duration::from_secs_f64(most(|report| report.select)),
        scan_bytes: None,
        cut_short: false,
        checked: reports.iter().map(|report| report.checked).sum(),
    })
}

fn lost_here(warnings: &[String]) -> Vec<String> {
    warnings.iter().filter(|line| line.contains("is always kept")).cloned().collect()
}

/// What any worker says of the features that came to it; of others that they came to nobody.
fn lost(reports: &[Report]) -> Vec<String> {
    let mut out: Vec<String> = reports.iter().flat_map(|report| report.lost.clone()).collect();
    out.sort_unstable();
    out.dedup();
    out.retain(|line| {
        !line.ends_with("has not come") || reports.iter().all(|report| report.lost.contains(line))
    });
    out
}

fn dropped(reports: &[Report]) -> Dropped {
    let sum = |of: fn(&Dropped) -> u64| reports.iter().map(|report| of(&report.dropped)).sum();
    Dropped {
        weak: sum(|d| d.weak),
        redundant: sum(|d| d.redundant),
        constant: sum(|d| d.constant),
        missing: sum(|d| d.missing),
        maf: sum(|d| d.maf),
        evicted: sum(|d| d.evicted),
    }
}

/// Points of the same place in each worker's own trace, added up; the loss is their mean.
fn trace(reports: &[Report]) -> Vec<TracePoint> {
    let length = reports.iter().map(|report| report.trace.len()).min().unwrap_or(0);
    let point = |at: usize| {
        let here: Vec<&TracePoint> = reports.iter().map(|report| &report.trace[at]).collect();
        let losses: Vec<f64> = here.iter().filter_map(|point| point.loss).collect();
        TracePoint {
            arrived: here.iter().map(|point| point.arrived).sum(),
            loss: Some(losses.iter().sum::<f64>() / losses.len().max(1) as f64),
            kept: here.iter().map(|point| point.kept).sum(),
            substitutions: here.iter().map(|point| point.substitutions).sum(),
        }
    };
    (0..length).map(point).collect()
}
