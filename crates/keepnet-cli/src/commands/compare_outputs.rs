//! What `keepnet compare` prints and writes.

use std::fmt::Write as _;

use keepnet::{Bytes, Error, Result};
use keepnet_eval::report::Table;
use keepnet_eval::report::comparison;
use keepnet_eval::{Comparison, Ranking};

use crate::flags::CompareArgs;
use keepnet_run::lock::Lock;
use keepnet_run::outputs;
use keepnet_run::outputs::atomic::{self, Pending};
use keepnet_run::request::GroupSpec;
use keepnet_run::result::table;
use keepnet_run::system;
use keepnet_run::terminal::say::{aside, print};
use keepnet_run::text::visible;

/// The files of a comparison, looked at before it; the checkpoint is its own as long as what is
/// returned lives.
pub fn files(args: &CompareArgs) -> Result<Option<Lock>> {
    let external = CompareArgs::named("external", &args.external)?;
    let datasets = CompareArgs::named("dataset", &args.dataset)?;
    let inputs = outputs::data(&args.input.0)
        .with("--dataset", datasets.iter().map(|(_, spec)| spec))
        .with("--target", &args.target)
        .with("--sample-weight", &args.sample_weight)
        .with("--groups", args.groups.as_ref().and_then(GroupSpec::text))
        .with("--splits", [&args.splits])
        .with("--external", external.iter().map(|(_, file)| file))
        .files("--truth", &args.truth);
    let outputs = outputs::given([
        ("output", &args.output),
        ("report", &args.report),
        ("checkpoint", &args.checkpoint),
    ]);
    outputs::ready(&outputs, &inputs)?;
    Lock::take(args.checkpoint.as_deref())
}

/// Writes the tidy numbers and the report, and prints the table.
pub fn write(args: &CompareArgs, all: &Comparison) -> Result<()> {
    let to_stdout = args.output.as_ref().is_some_and(|path| path.as_os_str() == "-");
    let mut pending = Vec::new();
    let tidy = tidy(all)?;
    if let Some(path) = args.output.as_ref().filter(|_| !to_stdout) {
        pending.push(Pending::whole(path, &tidy)?);
    }
    if let Some(path) = &args.report {
        let page = comparison::page(all, page_table(&summary(all)), &system::command_line())?;
        pending.push(Pending::whole(path, page.html()?.as_bytes())?);
    }
    atomic::publish(pending)?;
    if to_stdout {
        print(&String::from_utf8_lossy(&tidy))?;
    }
    match (args.quiet, to_stdout) {
        (true, _) => Ok(()),
        (false, true) => {
            aside(&text(all));
            Ok(())
        }
        (false, false) => print(&text(all)),
    }
}

/// Every number, a line each.
fn tidy(all: &Comparison) -> Result<Vec<u8>> {
    let failed =
        |error: &dyn std::fmt::Display| Error::Data(format!("cannot make the CSV: {error}"));
    let mut out = csv::Writer::from_writer(Vec::new());
    for record in &all.records {
        out.serialize(record).map_err(|error| failed(&error))?;
    }
    out.into_inner().map_err(|error| failed(&error))
}

fn mean(all: &Comparison, dataset: &str, method: &str, by: &str, metric: &str) -> Option<f64> {
    all.summary(dataset, method, by, metric).map(|(mean, _)| mean)
}

/// Columns of the table: heading, judge, metric.
fn headings(all: &Comparison) -> Vec<(String, Vec<String>, &'static str)> {
    let loss = all.loss();
    let mut out = vec![("kept".to_string(), vec![String::new()], "kept")];
    for judge in &all.judges {
        out.push((format!("{judge} {loss}"), vec![judge.clone()], loss));
    }
    let other = if loss == "error" { ("AUC", "auc") } else { ("R2", "r2") };
    // Not every method has a model of its own, so only the judges that all share count.
    let mut shared: Vec<String> = all.judges.iter().filter(|j| *j != "own").cloned().collect();
    if shared.is_empty() {
        shared.clone_from(&all.judges);
    }
    out.push((other.0.into(), shared, other.1));
    for metric in ["recall", "recovery", "stability", "kuncheva", "seconds", "held_bytes"] {
        let name = if metric == "held_bytes" { "memory" } else { metric };
        out.push((name.into(), vec![String::new()], metric));
    }
    out.retain(|(_, _, metric)| all.records.iter().any(|r| r.metric == *metric));
    out
}

/// A line a data set and method, the first line is the heading.
fn summary(all: &Comparison) -> Vec<Vec<String>> {
    let headings = headings(all);
    let mut rows = vec![vec!["data set".to_string(), "method".to_string()]];
    rows[0].extend(headings.iter().map(|(name, _, _)| name.clone()));
    for dataset in &all.datasets {
        for method in &all.methods {
            let mut row = vec![dataset.clone(), method.clone()];
            for (_, judges, metric) in &headings {
                let means: Vec<f64> =
                    judges.iter().filter_map(|by| mean(all, dataset, method, by, metric)).collect();
                row.push(match means.len() {
                    0 => "-".into(),
                    n => cell(metric, means.iter().sum::<f64>() / n as f64),
                });
            }
            rows.push(row);
        }
    }
    rows
}

/// The table and the tests.
fn text(all: &Comparison) -> String {
    let mut out = table::aligned(&summary(all));
    out += "\nMeans over splits and orders";
    if all.judges.len() > 1 {
        out += "; AUC and R2 are means over the judges but own";
    }
    out += ". memory is what the method holds, seconds are without reading.\n";
    let _ = write!(out, "{}", tests(all));
    out
}

fn cell(metric: &str, value: f64) -> String {
    match metric {
        "kept" => format!("{value:.1}"),
        "held_bytes" => Bytes(value as u64).to_string(),
        "seconds" | "rmse" => table::short(value),
        _ => format!("{value:.4}"),
    }
}

/// Wins of the first method, and ranks.
fn tests(all: &Comparison) -> String {
    let mut out = String::new();
    let Some((first, others)) = all.methods.split_first().filter(|(_, others)| !others.is_empty())
    else {
        return out;
    };
    let mut rows = vec![vec![format!("{first} against")]];
    rows[0].extend(all.judges.clone());
    for other in others {
        let mut row = vec![other.clone()];
        for judge in &all.judges {
            let count = all.win_tie_loss(judge, first, other);
            row.push(count.map_or("-".into(), |count| count.to_string()));
        }
        rows.push(row);
    }
    let _ =
        writeln!(out, "\nData sets won/tied/lost on the {}, paired t-tests at 95 %:", all.loss());
    out += &table::aligned(&rows);
    for ranking in all.rankings() {
        let _ = writeln!(out, "\n{}", visible(&rank_line(&ranking)));
    }
    out
}

/// Average ranks in a line.
fn rank_line(ranking: &Ranking) -> String {
    let test = &ranking.friedman;
    let mut ranked: Vec<(&String, f64)> =
        ranking.methods.iter().zip(test.ranks.iter().copied()).collect();
    ranked.sort_by(|a, b| a.1.total_cmp(&b.1));
    let ranks: Vec<String> =
        ranked.iter().map(|(name, rank)| format!("{name} {rank:.2}")).collect();
    let caution = match ranking.over {
        "splits" => " (splits share rows: a description, no proof)",
        _ => "",
    };
    format!(
        "{} {}, ranks over {} {}{caution}: {}; Friedman p = {:.3}, critical difference {:.3}",
        ranking.judge,
        ranking.metric,
        test.n,
        ranking.over,
        ranks.join(", "),
        test.p,
        ranking.difference
    )
}

/// The table of a comparison, for its page.
fn page_table(rows: &[Vec<String>]) -> Table {
    let head = rows.first().cloned().unwrap_or_default();
    Table::of(head, rows.iter().skip(1).cloned().collect())
}
