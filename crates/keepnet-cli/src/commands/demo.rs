//! `keepnet demo`: selects from features that are made as they are asked for.

use std::collections::HashSet;
use std::time::Instant;

use keepnet::registry::{self, MethodSpec};
use keepnet::{Budget, Bytes, Driver, Error, Lane, Result, RunOptions, RunReport};
use keepnet_papers::Workload;

use keepnet_run::host::Host;
use keepnet_run::outputs::phase::{self, Phase};
use keepnet_run::request::OutputRequest;
use keepnet_run::request::text::by_key;
use keepnet_run::result::table;
use keepnet_run::system;
use keepnet_run::terminal::say::{aside, print, say};
use keepnet_run::terminal::{Terminal, signals};
use keepnet_run::watch::{Clock, Watch};

use crate::flags::DemoArgs;

/// Size of the demonstration: features, samples, informative features, noise.
const SIZE: [(&str, &str); 4] = [("p", "100000"), ("n", "2000"), ("s", "50"), ("noise", "10%")];

/// Runs the demonstration.
pub fn run(args: &DemoArgs) -> Result<()> {
    let mut settings = by_key(&args.settings)?;
    for (name, value) in SIZE {
        settings.entry(name.into()).or_insert_with(|| value.into());
    }
    settings.entry("seed".into()).or_insert_with(|| args.seed.to_string());
    let workload = Workload::parse("regression", &settings)?;
    signals::listen()?;
    let start = Instant::now();
    let (report, stopped) = system::with_threads(args.threads, || select(args, &workload))?;
    print(&story(&workload, &report, start.elapsed().as_secs_f64()))?;
    if let Some(why) = stopped {
        say(&format!("ended early by {why}; this is the result so far"));
    }
    Ok(())
}

fn select(args: &DemoArgs, workload: &Workload) -> Result<(RunReport, Option<&'static str>)> {
    let method = match &args.method {
        Some(name) => registry::find(name)?,
        None => registry::methods()
            .first()
            .copied()
            .ok_or_else(|| Error::Unsupported("this program has no method".into()))?,
    };
    let (n, p, s) = (workload.rows(), workload.features(), workload.informative());
    aside(&format!(
        "{p} features of {n} samples, made as they are asked for and never stored; \
         {s} of them matter. Keeping {s} with {}.\n",
        method.name
    ));
    let problem = workload.problem();
    let spec = MethodSpec { seed: args.seed, ..MethodSpec::k(s) };
    let selector = registry::make(method, &spec, &problem, Budget::unlimited())?;
    let mut source = workload.source();
    let options = RunOptions { scans: args.scans, seed: args.seed, ..RunOptions::default() };
    let driver = Driver::new(&mut source, vec![Lane::new(problem, selector)], options)?;
    let output = OutputRequest { progress: args.progress, ..OutputRequest::default() };
    let mut terminal = Terminal::new(&output, true);
    let mut watch = Watch::new(&mut terminal, Clock::start(None));
    phase::enter(Phase::Selecting);
    let report = driver.run(&mut watch)?;
    phase::enter(Phase::Writing);
    let stopped = watch.stopped;
    terminal.end(None);
    Ok((report, stopped))
}

fn story(workload: &Workload, report: &RunReport, seconds: f64) -> String {
    let selection = &report.lanes[0].selection;
    let mut truth = workload.truth();
    truth.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let mut rows = vec![["true feature", "true weight", "found weight"].map(String::from).to_vec()];
    let found = |index: u64| selection.selected.iter().find(|f| f.id.index == index);
    for (index, weight) in truth.iter().take(10) {
        let ours = found(*index).and_then(|feature| feature.coefficient.first());
        let ours = ours.map_or("missed".into(), |weight| table::short(*weight));
        rows.push(vec![format!("f{index}"), table::short(*weight), ours]);
    }
    let mut out = table::aligned(&rows);
    let wanted: HashSet<u64> = truth.iter().map(|(index, _)| *index).collect();
    let hits = selection.selected.iter().filter(|f| wanted.contains(&f.id.index)).count();
    let (n, p) = (workload.rows() as u64, workload.features());
    let floats = (n * p * u64::from(report.scans)) as f64;
    out += &format!(
        "(the ten largest of {})\n\nfound {hits} of {} true features: recall {:.2}\n",
        truth.len(),
        truth.len(),
        hits as f64 / truth.len() as f64,
    );
    out += &format!(
        "time {seconds:.1} s for {} scans: {:.0} million numbers a second, made and judged\n",
        report.scans,
        floats / seconds / 1e6,
    );
    let peak = system::peak_bytes().map_or("unknown".into(), |bytes| Bytes(bytes).to_string());
    let full = Bytes(4 * n * p);
    out + &format!("peak memory {peak}; the full matrix would have taken {full}\n")
}
