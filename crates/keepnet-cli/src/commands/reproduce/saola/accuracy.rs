//! Tables III to V, VIII, XVIII, XX to XXII and figure 2: accuracy and AUC of classifiers.

use keepnet::Result;
use keepnet_eval::ClassifierKind;
use keepnet_papers::Mean;

use super::super::Figure;
use super::super::bench::{Bench, Published};
use super::data::{
    ALPHA, ALPHA_T, Arrival, FAST_OSFS, GROUP_SAOLA, Method, OGFS, OTHERS, SAOLA, SAOLA_MAX,
    SPARSE_GROUP_LASSO, Table,
};
use super::grid::{Grid, Line, Tests, Value, fill, push, tests};
use super::judge::{self, Entrant};
use super::{DATA, published};

pub(super) const TREE: ClassifierKind = ClassifierKind::Tree;
pub(super) const KNN: ClassifierKind = ClassifierKind::Nearest;
pub(super) const SVM: ClassifierKind = ClassifierKind::Svm;
const TIME: &str = "the default has the paper's ten draws and takes one to four minutes";

pub(super) const fn figure(
    name: &'static str,
    what: &'static str,
    time: &'static str,
    run: fn(&mut Bench) -> Result<()>,
) -> Figure {
    Figure { name, what, repeats: 10, settings: &[], time, remark: DATA, run }
}

/// Table III.
pub const TABLE_3: Figure =
    figure("saola-3", "Table III of SAOLA: accuracy of J48", TIME, |bench| {
        rivals(
            bench,
            TREE,
            0,
            &[[1.0, 8.0, 1.0], [5.0, 5.0, 0.0], [5.0, 7.0, 2.0]],
            &[2.35, 2.40, 1.25],
        )
    });

/// Table IV.
pub const TABLE_4: Figure =
    figure("saola-4", "Table IV of SAOLA: accuracy of the nearest neighbour", TIME, |bench| {
        rivals(
            bench,
            KNN,
            1,
            &[[4.0, 4.0, 2.0], [6.0, 3.0, 1.0], [7.0, 5.0, 2.0]],
            &[2.45, 1.85, 1.705],
        )
    });

/// Table V.
pub const TABLE_5: Figure =
    figure("saola-5", "Table V of SAOLA: accuracy of a linear SVM", TIME, |bench| {
        rivals(
            bench,
            SVM,
            2,
            &[[3.0, 6.0, 1.0], [5.0, 4.0, 1.0], [8.0, 4.0, 2.0]],
            &[2.30, 2.25, 1.45],
        )
    });

/// Table VIII.
pub const TABLE_8: Figure =
    figure("saola-8", "Table VIII of SAOLA: mean AUC of the three classifiers", TIME, areas);

/// Figure 2.
pub const BARS: Figure = figure(
    "saola-bars",
    "figure 2 of SAOLA: mean accuracy of a linear SVM and its deviation over draws",
    TIME,
    bars,
);

/// Table XVIII.
pub const TABLE_18: Figure =
    figure("saola-18", "Table XVIII of SAOLA: accuracy with either bound", TIME, bounds);

/// Table XX.
pub const TABLE_20: Figure = Figure {
    repeats: 30,
    ..figure(
        "saola-20",
        "Table XX of SAOLA: accuracy over random orders of the features",
        "the default has the paper's thirty orders and takes one to two minutes",
        orders,
    )
};

/// Table XXI.
pub const TABLE_21: Figure =
    figure("saola-21", "Table XXI of SAOLA: accuracy at two levels of alpha", TIME, levels);

/// Table XXII.
pub const TABLE_22: Figure = figure(
    "saola-22",
    "Table XXII of SAOLA: accuracy of group-SAOLA, OGFS and sparse group lasso",
    TIME,
    grouped,
);

/// SAOLA and the paper's online rivals, then what the paper does not have.
const RIVALS: [Entrant; 5] = [
    Entrant::Features(SAOLA),
    Entrant::Features(FAST_OSFS),
    Entrant::Features(ALPHA),
    Entrant::Ofs,
    Entrant::Features(ALPHA_T),
];

pub(super) fn name(kind: ClassifierKind) -> &'static str {
    match kind {
        ClassifierKind::Tree => "J48",
        ClassifierKind::Nearest => "KNN",
        ClassifierKind::Svm => "SVM",
    }
}

/// Accuracy of each classifier; of ten draws the paper gives the best.
pub(super) fn accuracies(judges: &[ClassifierKind]) -> Vec<Value> {
    let one = |(at, kind): (usize, &ClassifierKind)| Value {
        panel: name(*kind),
        metric: "accuracy",
        at: vec![judge::accuracy(at)],
        best: Some("best accuracy"),
    };
    judges.iter().enumerate().map(one).collect()
}

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
        others: &OTHERS,
        rows: Table::split,
        arrival: |_| Arrival::Given,
        varies: false,
        numbers_only: false,
        sizes: false,
    }
}

/// SAOLA's accuracy on arcene in Tables XVI, XV and XIV.
const ARCENE: [f64; 3] = [0.5600, 0.6900, 0.6600];

fn rivals(
    bench: &mut Bench,
    kind: ClassifierKind,
    table: usize,
    counts: &'static [[f64; 3]],
    ranks: &'static [f64],
) -> Result<()> {
    let judges = [kind];
    let values = accuracies(&judges);
    let line = |(name, all): &(&'static str, [[f64; 4]; 3])| (*name, vec![all[table].to_vec()]);
    let mut lines: Vec<Line> = published::ACCURACY.iter().map(line).collect();
    lines.push(("arcene", vec![vec![ARCENE[table]]]));
    let grid = Grid { others: &OTHERS[1..], ..grid(&RIVALS, &judges, &values, lines) };
    let held = fill(bench, &grid)?;
    tests(bench, &grid, &held, &Tests { value: 0, counts, ranks });
    Ok(())
}

fn areas(bench: &mut Bench) -> Result<()> {
    let judges = [TREE, KNN, SVM];
    let at = (0..3).map(judge::auc).collect();
    let values = [Value { panel: "", metric: "AUC", at, best: Some("best AUC") }];
    let line = |(name, all): &(&'static str, [f64; 3])| (*name, vec![all.to_vec()]);
    let mut lines: Vec<Line> = published::AUC.iter().map(line).collect();
    // The mean of its three numbers in Tables XIV to XVI.
    lines.push(("arcene", vec![vec![(0.6526 + 0.6867 + 0.5463) / 3.0]]));
    let entrants = [RIVALS[0], RIVALS[1], RIVALS[2], RIVALS[4]];
    let grid = Grid { others: &OTHERS[1..], ..grid(&entrants, &judges, &values, lines) };
    let held = fill(bench, &grid)?;
    let counts = &[[5.0, 3.0, 2.0], [6.0, 2.0, 2.0]];
    tests(bench, &grid, &held, &Tests { value: 0, counts, ranks: &[2.6, 2.1, 1.3] });
    Ok(())
}

fn bounds(bench: &mut Bench) -> Result<()> {
    let judges = [KNN, TREE, SVM];
    let values = accuracies(&judges);
    let line = |(name, all): &(&'static str, [[f64; 2]; 3])| {
        (*name, all.iter().map(|pair| pair.to_vec()).collect())
    };
    let lines = published::BOUNDS.iter().map(line).collect();
    let entrants = [Entrant::Features(SAOLA), Entrant::Features(SAOLA_MAX)];
    let grid = grid(&entrants, &judges, &values, lines);
    let held = fill(bench, &grid)?;
    let published: [(&[[f64; 3]], &[f64]); 3] = [
        (&[[4.0, 5.0, 5.0]], &[1.46, 1.54]),
        (&[[2.0, 10.0, 2.0]], &[1.43, 1.57]),
        (&[[5.0, 7.0, 2.0]], &[1.61, 1.39]),
    ];
    for (value, (counts, ranks)) in published.into_iter().enumerate() {
        tests(bench, &grid, &held, &Tests { value, counts, ranks });
    }
    Ok(())
}

/// Adds the deviation of every mean after it.
pub(super) fn with_deviations(bench: &mut Bench) {
    let means = std::mem::take(&mut bench.rows);
    for row in means {
        let sd = row.ours.filter(|mean| mean.count > 1);
        let (panel, at, method) = (row.panel.clone(), row.at.clone(), row.method.clone());
        bench.rows.push(row);
        if let Some(mean) = sd {
            let ours = Some(Mean { mean: mean.sd, sd: 0.0, count: mean.count });
            push(bench, &panel, &at, &method, ("deviation", Published::None, ours), "");
        }
    }
}

fn bars(bench: &mut Bench) -> Result<()> {
    let judges = [SVM];
    let mut values = accuracies(&judges);
    values[0].best = None;
    // The curves of the figure have no numbers; these are the data sets with drawn rows.
    let lines = vec![("leukemia", vec![Vec::new()])];
    fill(bench, &Grid { others: &OTHERS[1..], ..grid(&RIVALS, &judges, &values, lines) })?;
    with_deviations(bench);
    Ok(())
}

fn orders(bench: &mut Bench) -> Result<()> {
    let judges = [KNN, TREE];
    let mut values = accuracies(&judges);
    values.iter_mut().for_each(|value| value.best = None);
    let line = |(name, all): &(&'static str, [[f64; 2]; 2])| {
        (*name, all.iter().map(|pair| vec![pair[0]]).collect())
    };
    let lines = published::ORDERS.iter().map(line).collect();
    let entrants = [Entrant::Features(SAOLA)];
    let grid = Grid {
        others: &["madelon", "leukemia", "arcene", "colon", "BASEHOCK", "PCMAC"],
        rows: |table, _| table.split(0),
        arrival: Arrival::Shuffled,
        varies: true,
        ..grid(&entrants, &judges, &values, lines)
    };
    fill(bench, &grid)?;
    with_deviations(bench);
    Ok(())
}

fn levels(bench: &mut Bench) -> Result<()> {
    const AT: [Method; 2] = [
        Method { name: "saola", label: "alpha = 0.01", settings: &[("alpha", "0.01")] },
        Method { name: "saola", label: "alpha = 0.05", settings: &[("alpha", "0.05")] },
    ];
    let judges = [KNN, TREE];
    let values = accuracies(&judges);
    let line = |(name, all): &(&'static str, [[f64; 2]; 2])| {
        (*name, all.iter().map(|pair| pair.to_vec()).collect())
    };
    let lines = published::LEVELS.iter().map(line).collect();
    let entrants = AT.map(Entrant::Features);
    let grid = Grid {
        others: &["ALLAML", "arcene", "BASEHOCK", "PCMAC", "wdbc"],
        numbers_only: true,
        ..grid(&entrants, &judges, &values, lines)
    };
    fill(bench, &grid).map(drop)
}

fn grouped(bench: &mut Bench) -> Result<()> {
    let judges = [TREE, KNN];
    let mut values = accuracies(&judges);
    values.iter_mut().for_each(|value| value.best = None);
    let line = |(name, all): &(&'static str, [[f64; 3]; 2])| {
        (*name, all.iter().map(|three| three.to_vec()).collect())
    };
    let lines = published::GROUPED.iter().map(line).collect();
    let entrants = [GROUP_SAOLA, OGFS, SPARSE_GROUP_LASSO].map(Entrant::Features);
    let grid = Grid {
        others: &["arcene", "colon", "wdbc"],
        arrival: Arrival::Grouped,
        varies: true,
        ..grid(&entrants, &judges, &values, lines)
    };
    let held = fill(bench, &grid)?;
    let published: [(&[[f64; 3]], &[f64]); 2] = [
        (&[[10.0, 4.0, 0.0], [0.0, 7.0, 3.0]], &[1.8929, 1.1071]),
        (&[[9.0, 5.0, 0.0], [3.0, 2.0, 5.0]], &[1.75, 1.25]),
    ];
    for (value, (counts, ranks)) in published.into_iter().enumerate() {
        tests(bench, &grid, &held, &Tests { value, counts, ranks });
    }
    Ok(())
}
