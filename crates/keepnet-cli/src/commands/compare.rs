//! `keepnet compare`: several methods on held-out rows of one or several data sets.
//!
//! Every selection is made from the training rows of its split alone. Methods on features that
//! make the same number of scans share one read of the file for all splits; the columns that
//! any of them chose are then read once more and judged.

use keepnet::registry::Stream;
use keepnet::run::{RowMissing, RowOptions};
use keepnet::{CheckPolicy, Error, FeatureId, Missing, Problem, Result, RunOptions};
use keepnet_eval::splits::Split;
use keepnet_eval::stability::{BINS, Uncertainties, mean_kuncheva};
use keepnet_eval::{
    Columns, Comparison, Entrant, FeatureRun, Found, Judge, SplitSpec, evaluate, metrics,
    select_rows,
};
use keepnet_io::{TableSource, open_rows};
use keepnet_run::outputs::phase::{self, Phase};
use keepnet_run::request::{GroupSpec, need_extension, text};
use keepnet_run::system;
use keepnet_run::terminal::signals;
use keepnet_run::terminal::steps::Steps;
use rayon::prelude::*;

use super::compare_data::{self as data, Named, Names};
use super::compare_outputs as outputs;
use super::compare_resume::Passes;
use crate::flags::CompareArgs;

/// Bytes of a block of columns.
const BLOCK: u64 = 32 << 20;

/// The flags, read.
struct Asked<'a> {
    args: &'a CompareArgs,
    entrants: Vec<Entrant>,
    external: Vec<(String, String)>,
    judges: Option<Vec<Judge>>,
    splits: SplitSpec,
    policy: CheckPolicy,
    rows: RowOptions,
    groups: Option<keepnet::Groups>,
    balanced: bool,
    memory: Option<u64>,
}

/// Compares methods.
pub fn run(args: &CompareArgs) -> Result<()> {
    let asked = read(args)?;
    signals::listen()?;
    let _lock = outputs::files(args)?;
    let mut passes = Passes::open(args)?;
    system::with_threads(args.threads, || {
        let named = data::datasets(args)?;
        let mut steps = Steps::new(args.progress, args.quiet);
        let labels = asked.entrants.iter().map(|entrant| entrant.label.clone());
        let mut all = Comparison {
            datasets: named.iter().map(|named| named.name.clone()).collect(),
            methods: labels.chain(asked.external.iter().map(|(name, _)| name.clone())).collect(),
            ..Comparison::default()
        };
        for (at, named) in named.iter().enumerate() {
            steps.begin(&named.name, at, all.datasets.len());
            dataset(&asked, named, &mut all, &mut steps, &mut passes).map_err(|error| {
                if args.dataset.is_empty() { error } else { error.at(&named.name) }
            })?;
        }
        steps.end();
        phase::enter(Phase::Writing);
        outputs::write(args, &all)
    })?;
    passes.remove();
    Ok(())
}

fn read(args: &CompareArgs) -> Result<Asked<'_>> {
    if let Some(path) = args.output.as_ref().filter(|path| path.as_os_str() != "-") {
        need_extension("output", path, &["csv"], ".csv or -")?;
    }
    if let Some(path) = &args.report {
        need_extension("report", path, &["html", "htm"], ".html")?;
    }
    let entrants = args.entrants()?;
    let external = CompareArgs::named("external", &args.external)?;
    if let Some((name, _)) =
        external.iter().find(|(name, _)| entrants.iter().any(|e| e.label == *name))
    {
        return Err(Error::param("external", name, "a name that no method has"));
    }
    if args.orders == 0 {
        return Err(Error::param("orders", 0, "at least 1"));
    }
    let judges = text::list(&args.classifiers);
    let judges = judges.iter().map(|name| Judge::parse(name)).collect::<Result<Vec<_>>>()?;
    let missing = keepnet::Missing::parse(&args.missing)?;
    let row_missing = match missing {
        Missing::Mean => RowMissing::Mean,
        Missing::Zero => RowMissing::Zero,
        _ => RowMissing::Error,
    };
    let balanced = args.class_weight.is_some();
    let on_rows = entrants.iter().find(|entrant| entrant.info.stream == Stream::Samples);
    if let Some(entrant) = on_rows {
        if balanced {
            let want = "no --class-weight with a method on rows";
            return Err(Error::param("class-weight", "given", want).at(&entrant.label));
        }
        if matches!(missing, Missing::DropFeature | Missing::Indicator) {
            let want = "error, mean or zero with a method on rows";
            return Err(Error::param("missing", &args.missing, want).at(&entrant.label));
        }
        if !args.input.0.key.is_empty() {
            let want = "no --key with a method on rows";
            return Err(Error::param("key", "given", want).at(&entrant.label));
        }
    }
    Ok(Asked {
        args,
        entrants,
        external,
        judges: (!judges.is_empty()).then_some(judges),
        splits: SplitSpec::parse(&args.splits)?,
        policy: CheckPolicy { missing, min_count: 1, ..CheckPolicy::default() },
        rows: RowOptions { missing: row_missing, ..RowOptions::default() },
        groups: args.groups.as_ref().map(GroupSpec::groups).transpose()?,
        balanced,
        memory: args.memory,
    })
}

/// One data set: selections, then judges, then stability.
fn dataset(
    asked: &Asked<'_>,
    named: &Named,
    all: &mut Comparison,
    steps: &mut Steps,
    passes: &mut Passes,
) -> Result<()> {
    let options = data::open_options(asked.args)?;
    let (columns, rows) = data::specs(asked.args, &named.target);
    let mut opened = keepnet_io::open(&named.inputs, &options)?;
    let joined = keepnet_io::build_problem(&mut opened, &columns, &options)?;
    let mut source = opened.source(&joined.not_features)?;
    let features = keepnet::FeatureSource::features(&source);
    let problem = joined.problem;
    problem.check()?;
    let splits = asked.splits.splits(&problem, asked.args.seed)?;
    let judges = judges(asked, &problem)?;
    for judge in &judges {
        if !all.judges.iter().any(|name| name == judge.name()) {
            all.judges.push(judge.name().into());
        }
    }
    let known = match (&asked.external[..], &asked.args.truth) {
        ([], None) => None,
        _ => Some(Names::read(&mut source)?),
    };
    let fingerprint = keepnet::FeatureSource::fingerprint(&source);
    passes.begin(asked.entrants.len(), &named.name, fingerprint, &splits);
    let mut found = select(asked, &mut source, (&problem, &splits), (steps, passes))?;
    let on_rows = asked.entrants.iter().enumerate();
    for (place, entrant) in on_rows.filter(|(_, e)| e.info.stream == Stream::Samples) {
        steps.stage(&entrant.label);
        found.extend(passes.pass(&entrant.label, || {
            let mut stream = open_rows(&named.inputs, &rows, &options)?;
            let asked_rows = stream.problem().clone();
            let mut hear = |share: f64| steps.share(share);
            select_rows(
                &mut stream,
                &asked_rows,
                (&problem, &splits),
                (place, entrant),
                (asked.rows, asked.memory),
                &mut hear,
            )
        })?);
    }
    for (at, (_, path)) in asked.external.iter().enumerate() {
        let names = known.as_ref().expect("names are read where there is a list from elsewhere");
        let place = asked.entrants.len() + at;
        found.extend(data::external(path, place, &named.name, &splits, names)?);
    }
    let truth = match (&asked.args.truth, &known) {
        (Some(path), Some(names)) => Some(data::truth(path, names)?),
        _ => None,
    };
    let wanted: Vec<FeatureId> = found
        .iter()
        .flat_map(|found| found.selection.selected.iter().chain(&found.selection.pinned))
        .map(|feature| feature.id)
        .collect();
    let columns = Columns::read(&mut source, &wanted, &problem, asked.memory)?;
    steps.stage("judging");
    let missing = asked.policy.missing;
    let judged = Judged { problem: &problem, splits: &splits, columns: &columns, missing };
    judged.record(&named.name, &judges, &found, truth.as_deref(), all, steps)?;
    judged.stability(&named.name, &found, features, all)
}

/// Selections of the methods on features, in every order.
fn select(
    asked: &Asked<'_>,
    source: &mut TableSource,
    (problem, splits): (&Problem, &[Split]),
    (steps, passes): (&mut Steps, &mut Passes),
) -> Result<Vec<Found>> {
    use keepnet::FeatureSource;
    let entrants: Vec<(usize, Entrant)> = asked
        .entrants
        .iter()
        .cloned()
        .enumerate()
        .filter(|(_, entrant)| entrant.info.stream != Stream::Samples)
        .collect();
    let mut found = Vec::new();
    if entrants.is_empty() {
        return Ok(found);
    }
    let column = source.column_bytes().unwrap_or(8 * source.rows() as u64);
    // Each lane holds the training rows of a block as well.
    let width = RunOptions::width_for(column, BLOCK);
    let lanes = (entrants.len() * splits.len()) as u64;
    for order in 0..asked.args.orders {
        steps.stage(&match asked.args.orders {
            1 => "selecting".into(),
            _ => format!("selecting, order {order}"),
        });
        let run = FeatureRun {
            problem,
            splits,
            policy: &asked.policy,
            groups: asked.groups.as_ref(),
            order,
            seed: asked.args.seed,
            budget: asked.memory.map(|bytes| bytes / lanes),
            balanced: asked.balanced,
            width,
        };
        found.extend(passes.pass(&format!("order {order}"), || {
            run.select(source, &entrants, &mut |share| steps.share(share))
        })?);
    }
    Ok(found)
}

fn judges(asked: &Asked<'_>, problem: &Problem) -> Result<Vec<Judge>> {
    let Some(judges) = &asked.judges else { return Ok(Judge::defaults(&problem.target)) };
    match judges.iter().find(|judge| !judge.fits(&problem.target)) {
        None => Ok(judges.clone()),
        Some(judge) => {
            let want = match problem.target.task() {
                keepnet::Task::Regression => "linear or own for regression",
                keepnet::Task::Classification => "1nn, svm, tree or own for classification",
            };
            Err(Error::param("classifiers", judge.name(), want))
        }
    }
}

/// What the judges look at.
struct Judged<'a> {
    problem: &'a Problem,
    splits: &'a [Split],
    columns: &'a Columns,
    missing: Missing,
}

impl Judged<'_> {
    /// Adds the numbers of every selection, in the order in which they were made.
    fn record(
        &self,
        dataset: &str,
        judges: &[Judge],
        found: &[Found],
        truth: Option<&[(u64, f64)]>,
        all: &mut Comparison,
        steps: &mut Steps,
    ) -> Result<()> {
        let target = &self.problem.target;
        let size = found.len().div_ceil(20).max(1);
        for (at, part) in found.chunks(size).enumerate() {
            let scores: Vec<Vec<_>> = part
                .par_iter()
                .map(|one| {
                    let split = &self.splits[one.split];
                    let selection = &one.selection;
                    let table =
                        self.columns.table(selection, self.missing, self.problem, &split.train)?;
                    let score = |judge: &Judge| evaluate(*judge, selection, &table, target, split);
                    Ok(judges.iter().map(|judge| (judge.name(), score(judge))).collect())
                })
                .collect::<Result<_>>()?;
            for (one, scores) in part.iter().zip(scores) {
                let method = all.methods[one.entrant].clone();
                let (split, order) = (&self.splits[one.split].name, one.order.to_string());
                let place =
                    |judge| [dataset, method.as_str(), split.as_str(), order.as_str(), judge];
                for (judge, scores) in scores {
                    for score in scores {
                        all.push(place(judge), score.metric, score.value);
                    }
                }
                for (metric, value) in facts(one, truth) {
                    all.push(place(""), metric, value);
                }
            }
            steps.share((at * size + part.len()) as f64 / found.len() as f64);
        }
        Ok(())
    }

    /// Adds how alike the selections of each method are.
    fn stability(
        &self,
        dataset: &str,
        found: &[Found],
        features: Option<u64>,
        all: &mut Comparison,
    ) -> Result<()> {
        let key = |id: FeatureId| id.index << 32 | u64::from(id.part);
        // Missing values are a level of their own, below all others.
        let columns: Vec<(u64, Vec<f64>)> = self
            .columns
            .iter()
            .map(|(id, values)| {
                let least = values.iter().copied().filter(|v| v.is_finite()).fold(0.0, f64::min);
                let fill = |v: &f64| if v.is_finite() { *v } else { least - 1.0 };
                (key(id), values.iter().map(fill).collect())
            })
            .collect();
        let views = columns.iter().map(|(id, values)| (*id, values.as_slice()));
        let mut su = Uncertainties::new(self.problem.n(), views, BINS)?;
        for (place, method) in all.methods.clone().iter().enumerate() {
            let sets: Vec<Vec<u64>> = found
                .iter()
                .filter(|found| found.entrant == place)
                .map(|found| found.selection.selected.iter().map(|f| key(f.id)).collect())
                .collect();
            let at = [dataset, method.as_str(), "", "", ""];
            if let Some(value) = su.stability(&sets)? {
                all.push(at, "stability", value);
            }
            if let Some(value) = features.and_then(|features| mean_kuncheva(&sets, features)) {
                all.push(at, "kuncheva", value);
            }
        }
        Ok(())
    }
}

/// Numbers about a selection itself.
fn facts(found: &Found, truth: Option<&[(u64, f64)]>) -> Vec<(&'static str, f64)> {
    let selected = &found.selection.selected;
    let mut out = vec![("kept", selected.len() as f64)];
    if found.seconds.is_finite() {
        out.push(("seconds", found.seconds));
        out.push(("held_bytes", found.bytes as f64));
    }
    if let Some(truth) = truth {
        let features: Vec<u64> = truth.iter().map(|(feature, _)| *feature).collect();
        let recall = metrics::feature_recall(&found.selection.indices(), &features);
        out.extend(recall.map(|recall| ("recall", recall)));
        let weight = |f: &keepnet::Selected| Some((f.id.index, *f.coefficient.first()?));
        let weights: Option<Vec<(u64, f64)>> = selected.iter().map(weight).collect();
        let weights = weights.filter(|weights| !weights.is_empty());
        let recovery = weights.and_then(|weights| metrics::recovery_error(&weights, truth));
        out.extend(recovery.map(|recovery| ("recovery", recovery)));
    }
    out
}
