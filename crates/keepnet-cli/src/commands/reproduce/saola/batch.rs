//! Tables X to XVII and figures 6 to 11: SAOLA beside batch filters and Markov blankets.

use keepnet::Result;
use keepnet_eval::ClassifierKind;

use super::super::Figure;
use super::super::bench::Bench;
use super::BATCH;
use super::accuracy::{KNN, SVM, TREE, accuracies, figure, name, with_deviations};
use super::data::{Arrival, FCBF, GDM, IAMB, MMMB, OTHERS, SAOLA, SPSF_LAR, Table};
use super::grid::{Grid, Line, Tests, Value, fill, tests};
use super::judge::{self, Entrant};
use super::published_batch::{ACCURACY, AUC, BLANKET_SIZES, BLANKETS};

const TIME: &str = "the default has ten draws and takes some minutes";

const fn table(
    name: &'static str,
    what: &'static str,
    run: fn(&mut Bench) -> Result<()>,
) -> Figure {
    let figure = figure(name, what, TIME, run);
    Figure { remark: BATCH, ..figure }
}

/// Table X.
pub const TABLE_10: Figure =
    table("saola-10", "Table X of SAOLA: accuracy of J48, with batch filters", |bench| {
        let counts = &[[0.0, 8.0, 2.0], [1.0, 5.0, 4.0], [4.0, 7.0, 3.0]];
        filters(bench, TREE, 0, counts, &[2.05, 1.9, 2.05])
    });

/// Table XI.
pub const TABLE_11: Figure = table(
    "saola-11",
    "Table XI of SAOLA: accuracy of the nearest neighbour, with batch filters",
    |bench| {
        let counts = &[[2.0, 5.0, 3.0], [4.0, 4.0, 2.0], [3.0, 5.0, 6.0]];
        filters(bench, KNN, 1, counts, &[1.9, 2.25, 1.85])
    },
);

/// Table XII.
pub const TABLE_12: Figure = table(
    "saola-12",
    "Table XII of SAOLA: accuracy of a linear SVM, with batch filters",
    |bench| {
        let counts = &[[4.0, 6.0, 0.0], [3.0, 5.0, 2.0], [4.0, 6.0, 4.0]];
        filters(bench, SVM, 2, counts, &[2.15, 1.65, 2.2])
    },
);

/// Table XIII.
pub const TABLE_13: Figure =
    table("saola-13", "Table XIII of SAOLA: mean AUC, with batch filters", areas);

/// Table XIV.
pub const TABLE_14: Figure =
    table("saola-14", "Table XIV of SAOLA: a linear SVM, with Markov blankets", |bench| {
        blankets(bench, SVM, 0)
    });

/// Table XV.
pub const TABLE_15: Figure =
    table("saola-15", "Table XV of SAOLA: the nearest neighbour, with Markov blankets", |bench| {
        blankets(bench, KNN, 1)
    });

/// Table XVI.
pub const TABLE_16: Figure =
    table("saola-16", "Table XVI of SAOLA: J48, with Markov blankets", |bench| {
        blankets(bench, TREE, 2)
    });

/// Table XVII.
pub const TABLE_17: Figure =
    table("saola-17", "Table XVII of SAOLA: features and time, with Markov blankets", sizes);

/// Figures 6 to 11, whose curves have no numbers.
pub const CURVES: Figure = table(
    "saola-batch",
    "figures 6 to 11 of SAOLA: features, seconds, AUC and deviations, with batch filters",
    curves,
);

const FILTERS: [Entrant; 4] = [
    Entrant::Features(SAOLA),
    Entrant::Features(FCBF),
    Entrant::Told(SPSF_LAR, 5, 65),
    Entrant::Told(GDM, 10, 260),
];

const MARKOV: [Entrant; 4] = [
    Entrant::Features(SAOLA),
    Entrant::Features(FCBF),
    Entrant::Features(IAMB),
    Entrant::Features(MMMB),
];

/// What these tables share.
fn grid<'a>(
    entrants: &'a [Entrant],
    judges: &'a [ClassifierKind],
    values: &'a [Value],
    lines: Vec<Line>,
) -> Grid<'a> {
    Grid {
        entrants,
        judges,
        values,
        lines,
        others: &[],
        rows: Table::split,
        arrival: |_| Arrival::Given,
        varies: false,
        numbers_only: false,
        sizes: false,
    }
}

fn filters(
    bench: &mut Bench,
    kind: ClassifierKind,
    table: usize,
    counts: &'static [[f64; 3]],
    ranks: &'static [f64],
) -> Result<()> {
    let judges = [kind];
    let values = accuracies(&judges);
    let line = |(name, all): &(&'static str, [[f64; 4]; 3])| (*name, vec![all[table].to_vec()]);
    let lines = ACCURACY.iter().map(line).collect();
    let grid = Grid { others: &OTHERS, ..grid(&FILTERS, &judges, &values, lines) };
    let held = fill(bench, &grid)?;
    tests(bench, &grid, &held, &Tests { value: 0, counts, ranks });
    Ok(())
}

fn mean_auc(best: Option<&'static str>) -> Value {
    Value { panel: "", metric: "AUC", at: (0..3).map(judge::auc).collect(), best }
}

fn areas(bench: &mut Bench) -> Result<()> {
    let judges = [TREE, KNN, SVM];
    let values = [mean_auc(Some("best AUC"))];
    let line = |(name, all): &(&'static str, [[f64; 3]; 1])| (*name, vec![all[0].to_vec()]);
    let lines = AUC.iter().map(line).collect();
    let grid = Grid { others: &OTHERS, ..grid(&FILTERS[..3], &judges, &values, lines) };
    let held = fill(bench, &grid)?;
    let counts = &[[3.0, 4.0, 3.0], [2.0, 3.0, 5.0]];
    tests(bench, &grid, &held, &Tests { value: 0, counts, ranks: &[1.8, 1.95, 2.15] });
    Ok(())
}

/// The entrants that the registry has, and their numbers of a line.
fn there(lines: Vec<Line>) -> (Vec<Entrant>, Vec<Line>) {
    let has: Vec<bool> = MARKOV.iter().map(Entrant::is_there).collect();
    let entrants = MARKOV.into_iter().zip(&has).filter(|(_, has)| **has).map(|(one, _)| one);
    let own = |numbers: &Vec<f64>| -> Vec<f64> {
        numbers.iter().zip(&has).filter(|(_, has)| **has).map(|(number, _)| *number).collect()
    };
    let lines = lines.iter().map(|(name, all)| (*name, all.iter().map(own).collect()));
    (entrants.collect(), lines.collect())
}

fn blankets(bench: &mut Bench, kind: ClassifierKind, table: usize) -> Result<()> {
    let judges = [kind];
    let mut values = accuracies(&judges);
    let at = vec![judge::auc(0)];
    values.push(Value { panel: name(kind), metric: "AUC", at, best: Some("best AUC") });
    let line = |(name, all): &(&'static str, [[[f64; 4]; 2]; 3])| {
        (*name, all[table].iter().map(|four| four.to_vec()).collect())
    };
    let (entrants, lines) = there(BLANKETS.iter().map(line).collect());
    fill(bench, &grid(&entrants, &judges, &values, lines)).map(drop)
}

fn value(metric: &'static str, at: usize) -> Value {
    Value { panel: "", metric, at: vec![at], best: None }
}

fn sizes(bench: &mut Bench) -> Result<()> {
    let values = [value("selected", judge::SIZE), value("seconds", judge::SECONDS)];
    let line = |(name, all): &(&'static str, [[f64; 4]; 2])| {
        (*name, all.iter().map(|four| four.to_vec()).collect())
    };
    let (entrants, lines) = there(BLANKET_SIZES.iter().map(line).collect());
    fill(bench, &Grid { sizes: true, ..grid(&entrants, &[], &values, lines) }).map(drop)
}

fn curves(bench: &mut Bench) -> Result<()> {
    let judges = [TREE, KNN, SVM];
    let mut values =
        vec![value("selected", judge::SIZE), value("seconds", judge::SECONDS), mean_auc(None)];
    let accuracy = vec![judge::accuracy(2)];
    values.push(Value { panel: "SVM", metric: "accuracy", at: accuracy, best: None });
    let lines = ACCURACY.iter().map(|(name, _)| (*name, vec![Vec::new(); 4])).collect();
    fill(bench, &Grid { others: &OTHERS, ..grid(&FILTERS, &judges, &values, lines) })?;
    with_deviations(bench);
    Ok(())
}
