//! Tables VI, VII, XIX and XXIII: features selected, groups and seconds.

use keepnet::Result;
use keepnet_eval::ClassifierKind;

use super::super::Figure;
use super::super::bench::Bench;
use super::data::{
    ALPHA, ALPHA_T, Arrival, FAST_OSFS, GROUP_SAOLA, OGFS, SAOLA, SAOLA_MAX, SPARSE_GROUP_LASSO,
    Table,
};
use super::grid::{Grid, Value, fill};
use super::judge::{self, Entrant};
use super::{DATA, published};

const TIME: &str = "the default takes about a minute; the paper has one run, or the best of ten";

/// Table VI.
pub const TABLE_6: Figure = Figure {
    name: "saola-6",
    what: "Table VI of SAOLA: number of selected features",
    repeats: 10,
    settings: &[],
    time: TIME,
    remark: DATA,
    run: |bench| sizes(bench, "selected"),
};

/// Table VII.
pub const TABLE_7: Figure = Figure {
    name: "saola-7",
    what: "Table VII of SAOLA: running time",
    repeats: 10,
    settings: &[],
    time: TIME,
    remark: DATA,
    run: |bench| sizes(bench, "seconds"),
};

/// Table XIX.
pub const TABLE_19: Figure = Figure {
    name: "saola-19",
    what: "Table XIX of SAOLA: time and number selected of SAOLA and SAOLA-max",
    repeats: 10,
    settings: &[],
    time: TIME,
    remark: DATA,
    run: maxima,
};

/// Table XXIII.
pub const TABLE_23: Figure = Figure {
    name: "saola-23",
    what: "Table XXIII of SAOLA: time, features and groups of group-SAOLA, OGFS and sparse group lasso",
    repeats: 10,
    settings: &[],
    time: "the default takes about two minutes; the paper has ten runs as well",
    remark: DATA,
    run: groups,
};

fn value(metric: &'static str) -> Value {
    let at = match metric {
        "selected" => judge::SIZE,
        "seconds" => judge::SECONDS,
        _ => judge::GROUPS,
    };
    Value { panel: "", metric, at: vec![at], best: None }
}

/// Everything that these tables share.
fn grid<'a>(entrants: &'a [Entrant], values: &'a [Value]) -> Grid<'a> {
    Grid {
        entrants,
        judges: &[],
        values,
        lines: Vec::new(),
        others: &["arcene"],
        rows: Table::split,
        arrival: |_| Arrival::Given,
        varies: false,
        numbers_only: false,
        sizes: true,
    }
}

/// OFS has no size of its own: the paper's is the one of the best accuracy.
const BY_SVM: [ClassifierKind; 1] = [ClassifierKind::Svm];

fn sizes(bench: &mut Bench, metric: &'static str) -> Result<()> {
    let entrants = [
        Entrant::Features(SAOLA),
        Entrant::Features(FAST_OSFS),
        Entrant::Features(ALPHA),
        Entrant::Ofs,
        Entrant::Features(ALPHA_T),
    ];
    let values = [value(metric)];
    let mut grid = Grid { judges: &BY_SVM, ..grid(&entrants, &values) };
    grid.lines = published::SIZES
        .iter()
        .map(|(name, selected, seconds)| {
            let numbers = if metric == "selected" { selected } else { seconds };
            (*name, vec![numbers.to_vec()])
        })
        .collect();
    if metric == "selected" {
        // Table XVII of the paper has SAOLA's size on arcene.
        grid.lines.push(("arcene", vec![vec![22.0]]));
        grid.others = &[];
    }
    fill(bench, &grid).map(drop)
}

fn maxima(bench: &mut Bench) -> Result<()> {
    let entrants = [Entrant::Features(SAOLA), Entrant::Features(SAOLA_MAX)];
    let values = [value("seconds"), value("selected")];
    let mut grid = grid(&entrants, &values);
    let line = |(name, v): &(&'static str, [f64; 4])| (*name, vec![v[..2].into(), v[2..].into()]);
    grid.lines = published::MAXIMA.iter().map(line).collect();
    fill(bench, &grid).map(drop)
}

fn groups(bench: &mut Bench) -> Result<()> {
    let entrants = [GROUP_SAOLA, OGFS, SPARSE_GROUP_LASSO].map(Entrant::Features);
    let values = [value("seconds"), value("selected"), value("groups")];
    let mut grid =
        Grid { arrival: Arrival::Grouped, varies: true, others: &[], ..grid(&entrants, &values) };
    let line = |(name, v): &(&'static str, [f64; 9])| {
        (*name, (0..3).map(|at| vec![v[at], v[3 + at], v[6 + at]]).collect())
    };
    grid.lines = published::GROUPS.iter().map(line).collect();
    fill(bench, &grid).map(drop)
}
