//! Figures 3, 4 and 13: how alike the selections from four fifths of the rows are.

use std::collections::BTreeSet;

use keepnet::Result;
use keepnet_eval::splits::{Split, k_fold};
use keepnet_eval::stability::{BINS, Uncertainties, mean_kuncheva};
use keepnet_papers::Mean;

use super::super::Figure;
use super::super::bench::{Bench, Published};
use super::data::{ALPHA, Arrival, FAST_OSFS, Method, SAOLA, SAOLA_MAX, Table, read, select};
use super::grid::push;
use super::judge::ofs;

/// Features that OFS keeps here; in the paper 45 on leukemia and 65 on madelon.
const SIZE: usize = 50;
const FOLDS: usize = 5;

/// Figures 3, 4 and 13.
pub const FIGURE: Figure = Figure {
    name: "saola-stability",
    what: "figures 3, 4 and 13 of SAOLA: stability over four fifths of the rows",
    repeats: 6,
    settings: &[],
    time: "the default takes one to three minutes, the paper's 30 partitions (--repeats 30) about ten",
    remark: "Stability is that of Yu, Ding and Loscalzo, the mean over pairs of the five selections of a partition; \
        index is Kuncheva's. The figures have no numbers: the text says that Alpha-investing is the most stable of \
        three, SAOLA level with Fast-OSFS and SAOLA-max, and OFS below SAOLA. OFS keeps 50 features here. A method \
        that selects nothing has no stability.",
    run,
};

const METHODS: [Method; 4] = [SAOLA, FAST_OSFS, ALPHA, SAOLA_MAX];

fn run(bench: &mut Bench) -> Result<()> {
    for file in ["leukemia", "ALLAML", "madelon", "arcene", "colon", "spect", "wdbc"] {
        let Some(table) = read(bench.data.clone().as_deref(), file)? else {
            if matches!(file, "leukemia" | "madelon") {
                let what = ("stability", Published::None, None);
                push(bench, "", file, SAOLA.label, what, "no data here");
            }
            continue;
        };
        let labels = METHODS.iter().map(|method| method.label).chain(["OFS"]);
        let repeats = bench.repeats;
        let runs = bench.runs(file, repeats, |seed| partition(&table, seed))?;
        for (at, label) in labels.enumerate() {
            for (place, metric) in ["stability", "index"].into_iter().enumerate() {
                let values = runs.iter().map(|run| run[2 * at + place]);
                let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
                let ours = (!values.is_empty()).then(|| Mean::of(values.iter().copied()));
                let why =
                    if ours.is_none() { "it selects nothing in two folds of five" } else { "" };
                push(bench, "", file, label, (metric, Published::None, ours), why);
            }
        }
    }
    Ok(())
}

/// Stability and index of every method on one partition; NaN where a method selects nothing.
fn partition(table: &Table, seed: u64) -> Result<Vec<f64>> {
    let splits = k_fold(&table.problem.target, FOLDS, 1, seed)?;
    let mut values = Vec::new();
    for method in &METHODS {
        let one = |split: &Split| {
            Ok(select(table, &split.train, method, (seed, None), Arrival::Given)?.features)
        };
        values.extend(alike(table, &splits.iter().map(one).collect::<Result<Vec<_>>>()?)?);
    }
    let size = SIZE.min(table.features as usize / 2);
    let one = |split: &Split| {
        let choice = ofs(table, split, &[size])?.into_iter().next();
        Ok(choice.map_or_else(Vec::new, |choice| choice.features))
    };
    values.extend(alike(table, &splits.iter().map(one).collect::<Result<Vec<_>>>()?)?);
    Ok(values)
}

fn alike(table: &Table, sets: &[Vec<u64>]) -> Result<[f64; 2]> {
    let all: Vec<u64> =
        sets.iter().flatten().copied().collect::<BTreeSet<u64>>().into_iter().collect();
    let values = table.values(&all);
    let columns = all.iter().copied().zip(values.iter().map(Vec::as_slice));
    let mut su = Uncertainties::new(table.problem.n(), columns, BINS)?;
    let stability = su.stability(sets)?.unwrap_or(f64::NAN);
    Ok([stability, mean_kuncheva(sets, table.features).unwrap_or(f64::NAN)])
}
