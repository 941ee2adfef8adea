//! A table of the paper: methods by data sets, and the tests between the methods.

use keepnet::Result;
use keepnet_eval::ClassifierKind;
use keepnet_eval::splits::Split;
use keepnet_eval::stats::{WinTieLoss, critical_difference, friedman};
use keepnet_papers::Mean;

use super::super::bench::{Bench, Published, Row};
use super::data::{Arrival, Table, files, read};
use super::judge::Entrant;

/// Level of every test, as in the paper.
const LEVEL: f64 = 0.05;

/// One number of a run that the table shows.
pub struct Value {
    /// Part of the table.
    pub panel: &'static str,
    /// What it is.
    pub metric: &'static str,
    /// Places in a run's numbers; the mean of several.
    pub at: Vec<usize>,
    /// What the paper reports where it draws rows at random: the best of ten draws.
    pub best: Option<&'static str>,
}

/// The published numbers of a data set: a line a value, a number a method.
pub type Line = (&'static str, Vec<Vec<f64>>);

/// A table to fill.
pub struct Grid<'a> {
    /// Who competes.
    pub entrants: &'a [Entrant],
    /// Who judges.
    pub judges: &'a [ClassifierKind],
    /// What is shown.
    pub values: &'a [Value],
    /// Data sets of the paper.
    pub lines: Vec<Line>,
    /// Further data sets at hand.
    pub others: &'a [&'static str],
    /// Rows of a repeat.
    pub rows: fn(&Table, u64) -> Split,
    /// How features come in a repeat.
    pub arrival: fn(u64) -> Arrival,
    /// Whether a repeat differs even where its rows are fixed.
    pub varies: bool,
    /// Whether data sets of few levels are left out.
    pub numbers_only: bool,
    /// Whether sizes are shown, for which a training part alone is enough.
    pub sizes: bool,
}

/// The values of one data set: by value, method and repeat.
pub struct Held {
    name: String,
    values: Vec<Vec<Vec<f64>>>,
}

/// Runs the table.
pub fn fill(bench: &mut Bench, grid: &Grid<'_>) -> Result<Vec<Held>> {
    let mut held = Vec::new();
    let others = grid.others.iter().map(|name| (*name, Vec::new()));
    for (name, published) in grid.lines.iter().cloned().chain(others) {
        for file in files(name) {
            let mut table = read(bench.data.clone().as_deref(), file)?;
            table.iter_mut().for_each(|table| table.whole = grid.sizes);
            if table.as_ref().is_some_and(|table| grid.numbers_only && table.discrete) {
                continue;
            }
            match &table {
                // A data set that the paper does not have is not missed.
                None if published.is_empty() => {}
                None => absent(bench, grid, file, &published),
                Some(table) => held.push(one(bench, grid, table, &published)?),
            }
        }
    }
    Ok(held)
}

fn absent(bench: &mut Bench, grid: &Grid<'_>, file: &str, published: &[Vec<f64>]) {
    let labels: Vec<&str> = grid.entrants.iter().map(Entrant::label).collect();
    for (value, numbers) in grid.values.iter().zip(published) {
        if numbers.is_empty() {
            let what = (value.metric, Published::None, None);
            push(bench, value.panel, file, labels[0], what, "no data here");
        }
        for (label, number) in labels.iter().zip(numbers).filter(|(_, number)| !number.is_nan()) {
            let published = Published::Number(*number);
            push(bench, value.panel, file, label, (value.metric, published, None), "no data here");
        }
    }
}

fn one(bench: &mut Bench, grid: &Grid<'_>, table: &Table, published: &[Vec<f64>]) -> Result<Held> {
    let file = table.name.as_str();
    let repeats = if grid.varies { bench.repeats } else { table.repeats(bench.repeats) };
    let mut runs = Vec::new();
    for entrant in grid.entrants {
        let cell = format!("{file}, {}", entrant.label());
        runs.push(bench.runs(&cell, repeats, |seed| {
            let split = (grid.rows)(table, seed);
            let run = entrant.run(table, &split, grid.judges, seed, (grid.arrival)(seed))?;
            Ok(run.numbers())
        })?);
    }
    let mut values = Vec::new();
    for (place, value) in grid.values.iter().enumerate() {
        let take = |run: &Vec<f64>| {
            value.at.iter().map(|at| run[*at]).sum::<f64>() / value.at.len() as f64
        };
        let all: Vec<Vec<f64>> = runs.iter().map(|runs| runs.iter().map(take).collect()).collect();
        let theirs = published.get(place);
        for (at, (entrant, ours)) in grid.entrants.iter().zip(&all).enumerate() {
            let number = theirs.and_then(|line| line.get(at)).copied().unwrap_or(f64::NAN);
            show(bench, value, table, entrant.label(), (number, ours));
        }
        values.push(all);
    }
    Ok(Held { name: file.into(), values })
}

/// A cell: the mean, and where the paper gives the best of its draws, our best beside it.
fn show(
    bench: &mut Bench,
    value: &Value,
    table: &Table,
    label: &str,
    (number, ours): (f64, &[f64]),
) {
    let mean = Mean::of(ours.iter().copied());
    let drawn = table.own_rows().is_none();
    let why = difference(table);
    let published = match (number.is_nan(), drawn) {
        (true, _) => Published::None,
        (false, true) => Published::Run(number),
        (false, false) => Published::Number(number),
    };
    match value.best.filter(|_| drawn && !number.is_nan()) {
        None => {
            push(bench, value.panel, &table.name, label, (value.metric, published, Some(mean)), why)
        }
        Some(metric) => {
            let most = ours.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            // Three standard errors of the mean are about the spread of a largest of ten.
            let best = Mean { mean: most, ..mean };
            let what = (metric, Published::Number(number), Some(best));
            push(bench, value.panel, &table.name, label, what, why);
            let what = (value.metric, Published::None, Some(mean));
            push(bench, value.panel, &table.name, label, what, "");
        }
    }
}

fn difference(table: &Table) -> &'static str {
    match (table.name.as_str(), table.own_rows()) {
        ("leukemia", _) => "three levels here, numbers in the paper",
        ("thrombin", _) => "1,909 rows here, 2,543 in the paper",
        ("lung_cancer", _) => "values times 10; the rows that the paper drew are not known",
        ("dorothea", Some(_)) => "the same rows; without the columns that are all 0",
        ("dexter" | "dorothea", None) => "drawn from the training part, which alone is here",
        (_, None) => "the rows that the paper drew are not known",
        (_, Some(_)) => "the same rows; see the remark below",
    }
}

/// Adds a line: panel, data set, method, and metric, published and ours.
pub fn push(
    bench: &mut Bench,
    panel: &str,
    at: &str,
    method: &str,
    (metric, published, ours): (&'static str, Published, Option<Mean>),
    why: &str,
) {
    let (panel, at, method, why) = (panel.into(), at.into(), method.into(), why.into());
    bench.rows.push(Row { panel, at, method, metric, published, ours, why });
}

/// The paper's tests of a panel; its ranks are the higher the better.
pub struct Tests {
    /// Place of the value that is tested; large ones are good.
    pub value: usize,
    /// Won, tied and lost of the first method against each other one.
    pub counts: &'static [[f64; 3]],
    /// Average ranks of as many methods as are ranked.
    pub ranks: &'static [f64],
}

/// Adds the tests over the data sets at hand. leukemia and ALLAML are the same patients, so
/// only the latter counts.
pub fn tests(bench: &mut Bench, grid: &Grid<'_>, held: &[Held], tests: &Tests) {
    let counted: Vec<&Held> = held.iter().filter(|held| held.name != "leukemia").collect();
    if counted.is_empty() {
        return;
    }
    let panel = grid.values[tests.value].panel;
    let at = format!("{} data sets", counted.len());
    let why = "over the data sets at hand, the paper's over its own";
    let single = |value: f64| Some(Mean { mean: value, sd: 0.0, count: 1 });
    let first = grid.entrants[0].label();
    for (other, counts) in grid.entrants.iter().enumerate().skip(1).zip(tests.counts) {
        let mut count = WinTieLoss::default();
        for held in &counted {
            let [ours, theirs] = [0, other.0].map(|method| {
                held.values[tests.value][method].iter().map(|v| -v).collect::<Vec<f64>>()
            });
            count.add(&ours, &theirs, LEVEL);
        }
        let label = format!("{first} against {}", other.1.label());
        let got = [count.win, count.tie, count.loss];
        for ((metric, got), theirs) in ["won", "tied", "lost"].into_iter().zip(got).zip(counts) {
            let what = (metric, Published::Apart(*theirs), single(got as f64));
            push(bench, panel, &at, &label, what, why);
        }
    }
    let ranked = tests.ranks.len();
    let mean = |values: &Vec<f64>| -values.iter().sum::<f64>() / values.len() as f64;
    let line = |held: &&Held| held.values[tests.value][..ranked].iter().map(mean).collect();
    let table: Vec<Vec<f64>> = counted.iter().map(line).collect();
    let Some(test) = friedman(&table) else { return };
    for ((entrant, rank), theirs) in grid.entrants.iter().zip(&test.ranks).zip(tests.ranks) {
        let what = ("average rank", Published::Apart(*theirs), single(ranked as f64 + 1.0 - rank));
        push(bench, panel, &at, entrant.label(), what, "the higher the better; data sets at hand");
    }
    let all = format!("Friedman, {ranked} methods");
    push(bench, panel, &at, &all, ("p-value", Published::None, single(test.p)), "");
    let difference = critical_difference(ranked, counted.len(), LEVEL);
    let what = ("critical difference", Published::None, single(difference));
    push(bench, panel, &at, &all, what, "");
}
