//! Tables VI, VII, XIX and XXIII of SAOLA (Yu, Wu, Ding, Pei, TKDD 2016): features selected and
//! seconds, on the data sets at hand.
//!
//! Of the paper's fourteen data sets madelon and leukemia are public here; leukemia in two
//! versions, of which ALLAML has the paper's 7,129 genes as numbers. The paper trains on fixed
//! rows that are not given; here two thirds are drawn anew in each repeat (2,000 of madelon).

use std::path::Path;

use keepnet::registry::{self, MethodSpec};
use keepnet::{
    Budget, ColumnBlock, ColumnData, Driver, FeatureSource, Generated, Groups, Lane, Order,
    Problem, Quiet, Result, RowMap, RunOptions, Target, Task,
};
use keepnet_io::{OpenOptions, ProblemSpec};

use super::Figure;
use super::bench::{Bench, Published, Row};

const REMARK: &str = "Data sets come from --data DIR as NAME.parquet with the class in y; the paper's rows for \
    training are not known, so two thirds are drawn in each repeat. leukemia here has its genes in three levels, \
    ALLAML is the same study as numbers. The columns of sparse group lasso and OFS (whose size is chosen by its \
    own test accuracy) are not run. Seconds are of the selection alone, the paper's of MATLAB on an i7-2600.";
const TIME: &str = "the default takes under a minute; the paper has one run";

/// Table VI.
pub const TABLE_6: Figure = Figure {
    name: "saola-6",
    what: "Table VI of SAOLA: number of selected features",
    repeats: 10,
    settings: &[],
    time: TIME,
    remark: REMARK,
    run: |bench| sizes(bench, "selected"),
};

/// Table VII.
pub const TABLE_7: Figure = Figure {
    name: "saola-7",
    what: "Table VII of SAOLA: running time",
    repeats: 10,
    settings: &[],
    time: TIME,
    remark: REMARK,
    run: |bench| sizes(bench, "seconds"),
};

/// Table XIX.
pub const TABLE_19: Figure = Figure {
    name: "saola-19",
    what: "Table XIX of SAOLA: time and number selected of SAOLA and SAOLA-max",
    repeats: 10,
    settings: &[],
    time: TIME,
    remark: REMARK,
    run: maxima,
};

/// Table XXIII.
pub const TABLE_23: Figure = Figure {
    name: "saola-23",
    what: "Table XXIII of SAOLA: time, features and groups of group-SAOLA and OGFS",
    repeats: 10,
    settings: &[],
    time: TIME,
    remark: REMARK,
    run: groups,
};

const N: f64 = f64::NAN;
/// Data sets of Tables VI and VII: selected and seconds of SAOLA, Fast-OSFS, Alpha-investing.
#[rustfmt::skip]
const SIZES: [(&str, [f64; 3], [f64; 3]); 14] = [
    ("dexter", [21.0, 9.0, 1.0], [3.0, 4.0, 6.0]),
    ("lung-cancer", [35.0, 6.0, 7.0], [6.0, 4.0, 2.0]),
    ("hiva", [12.0, 5.0, 48.0], [1.0, 36.0, 7.0]),
    ("breast-cancer", [46.0, 7.0, 2.0], [5.0, 4.0, 3.0]),
    ("leukemia", [17.0, 5.0, 2.0], [2.0, 2.0, 1.0]),
    ("madelon", [3.0, 3.0, 4.0], [0.1, 0.1, 0.1]),
    ("ohsumed", [65.0, 11.0, 297.0], [6.0, 343.0, 497.0]),
    ("apcj-etiology", [75.0, 67.0, 634.0], [22.0, N, 9781.0]),
    ("dorothea", [63.0, 5.0, 113.0], [58.0, 375.0, 457.0]),
    ("thrombin", [20.0, 9.0, 60.0], [63.0, 18576.0, 291.0]),
    ("news20", [212.0, N, N], [944.0, N, N]),
    ("url1", [64.0, N, N], [200.0, N, N]),
    ("kdd10", [180.0, N, N], [1056.0, N, N]),
    ("webspam", [51.0, N, N], [1456.0, N, N]),
];
/// Table XIX: seconds of SAOLA and SAOLA-max, then features selected.
#[rustfmt::skip]
const MAXIMA: [(&str, [f64; 4]); 14] = [
    ("dexter", [3.0, 3.0, 21.0, 39.0]), ("lung-cancer", [6.0, 62.0, 35.0, 260.0]),
    ("hiva", [1.0, 3.0, 12.0, 58.0]), ("breast-cancer", [5.0, 40.0, 46.0, 93.0]),
    ("leukemia", [2.0, 4.0, 17.0, 70.0]), ("madelon", [0.1, 0.1, 3.0, 3.0]),
    ("ohsumed", [6.0, 8.0, 65.0, 89.0]), ("apcj-etiology", [22.0, 38.0, 75.0, 105.0]),
    ("dorothea", [58.0, 327.0, 63.0, 516.0]), ("thrombin", [63.0, 497.0, 20.0, 498.0]),
    ("news20", [944.0, 2100.0, 212.0, 449.0]), ("url1", [200.0, 526.0, 64.0, 346.0]),
    ("kdd10", [1056.0, 2651.0, 180.0, 193.0]), ("webspam", [1456.0, 11606.0, 51.0, 165.0]),
];
/// Table XXIII: seconds, features and groups of group-SAOLA, then of OGFS.
#[rustfmt::skip]
const GROUPS: [(&str, [f64; 6]); 14] = [
    ("dexter", [2.0, 21.0, 19.0, 4.0, 72.0, 49.0]), ("lung-cancer", [9.0, 23.0, 19.0, 2.0, 91.0, 61.0]),
    ("hiva", [2.0, 5.0, 5.0, 1.0, 47.0, 38.0]), ("breast-cancer", [8.0, 8.0, 7.0, 3.0, 111.0, 61.0]),
    ("leukemia", [3.0, 16.0, 14.0, 1.0, 66.0, 47.0]), ("madelon", [0.1, 2.0, 2.0, 0.1, 15.0, 13.0]),
    ("ohsumed", [2.0, 17.0, 16.0, 6.0, 61.0, 43.0]), ("apcj-etiology", [34.0, 47.0, 33.0, 34.0, 44.0, 44.0]),
    ("dorothea", [23.0, 41.0, 27.0, 22.0, 126.0, 67.0]), ("thrombin", [39.0, 7.0, 5.0, 1015.0, 691.0, 84.0]),
    ("news20", [2154.0, 140.0, 140.0, 1054.0, 192.0, 192.0]), ("url1", [306.0, 29.0, 29.0, 3598.0, 73.0, 73.0]),
    ("kdd10", [395.0, 52.0, 52.0, 39213.0, 133.0, 132.0]), ("webspam", [3013.0, 17.0, 17.0, 20718.0, 401.0, 395.0]),
];

/// The files that stand for a data set of the paper.
fn files(name: &str) -> Vec<&str> {
    if name == "leukemia" { vec!["leukemia", "ALLAML"] } else { vec![name] }
}

/// A data set in memory.
struct Table {
    columns: Vec<ColumnData>,
    target: Target,
    discrete: bool,
}

/// Most levels of a column that counts as discrete.
const FEW: usize = 16;

fn read(data: Option<&Path>, name: &str) -> Result<Option<Table>> {
    let Some(path) = data.map(|data| data.join(format!("{name}.parquet"))) else { return Ok(None) };
    if !path.is_file() {
        return Ok(None);
    }
    let options = OpenOptions::default();
    let mut dataset = keepnet_io::open(&[path.to_string_lossy().into_owned()], &options)?;
    let task = Some(Task::Classification);
    let spec = ProblemSpec { target: "y".into(), task, ..ProblemSpec::default() };
    let joined = keepnet_io::build_problem(&mut dataset, &spec, &options)?;
    let mut source = dataset.source(&joined.not_features)?;
    let (mut columns, mut block) = (Vec::new(), ColumnBlock::new(256));
    while source.next_block(&mut block)? {
        columns.extend(block.columns().iter().map(|column| column.data.clone()));
        block.reset(256);
    }
    let few = |column: &ColumnData| match keepnet::compact::compact(column.view()) {
        Some(ColumnData::Codes { levels, .. }) => levels.len() <= FEW,
        Some(_) => true,
        None => false,
    };
    let discrete = columns.iter().all(few);
    Ok(Some(Table { columns, target: joined.problem.target, discrete }))
}

/// Features, groups and seconds of one selection on drawn training rows.
fn select(table: &Table, method: &str, seed: u64, grouped: bool) -> Result<[f64; 3]> {
    let rows = table.target.rows();
    let order = Order::Shuffled.indices(rows as u64, seed, 0).unwrap_or_default();
    let mut train = order[..if rows == 2600 { 2000 } else { rows * 2 / 3 }].to_vec();
    train.sort_unstable();
    let Target::Classes { names, codes } = &table.target else { return Ok([N; 3]) };
    let codes = train.iter().map(|row| codes[*row as usize]).collect();
    let mut problem = Problem::new(Target::Classes { names: names.clone(), codes });
    problem.rows = RowMap::new(rows, train)?;
    let info = registry::find(method)?;
    let mut spec = MethodSpec { seed, ..MethodSpec::default() };
    if info.settings.iter().any(|setting| setting.name == "measure") {
        let discrete = if method.ends_with("osfs") { "g2" } else { "su" };
        spec = spec.set("measure", if table.discrete { discrete } else { "fisher-z" });
    }
    let selector = registry::make(info, &spec, &problem, Budget::unlimited())?;
    let mut columns = table.columns.clone();
    if grouped {
        // The paper deals the features into 100 groups at random, anew each time.
        let deal = Order::Shuffled.indices(columns.len() as u64, seed, 1).unwrap_or_default();
        columns = deal.iter().map(|j| table.columns[*j as usize].clone()).collect();
    }
    let size = columns.len().div_ceil(100);
    let mut source = Generated::columns(rows, columns);
    let options = RunOptions { scans: 1, ..RunOptions::default() };
    let mut driver = Driver::new(&mut source, vec![Lane::new(problem, selector)], options)?;
    if grouped {
        driver = driver.with_groups(Groups::block(size as u64)?);
    }
    let report = driver.run(&mut Quiet)?;
    let selected = &report.lanes[0].selection.selected;
    let mut living: Vec<_> = selected.iter().filter_map(|feature| feature.group).collect();
    living.sort_unstable();
    living.dedup();
    Ok([selected.len() as f64, living.len() as f64, report.select.as_secs_f64()])
}

/// A cell to fill: the method, its label, and for each value the metric and the paper's number.
struct Job<'a> {
    method: &'a str,
    label: &'a str,
    values: Vec<(usize, &'static str, f64)>,
}

fn fill(bench: &mut Bench, name: &str, jobs: &[Job<'_>], grouped: bool) -> Result<()> {
    for file in files(name) {
        let table = read(bench.data.clone().as_deref(), file)?;
        for job in jobs {
            let repeats = bench.repeats;
            let means = match &table {
                None => None,
                Some(table) => {
                    let cell = format!("{file}, {}", job.label);
                    Some(bench.over_seeds(&cell, repeats, |seed| {
                        Ok(select(table, job.method, seed, grouped)?.to_vec())
                    })?)
                }
            };
            for (at, metric, published) in &job.values {
                let why = match &means {
                    None => "no data here".into(),
                    Some(_) => difference(file, table.as_ref()),
                };
                bench.rows.push(Row {
                    panel: String::new(),
                    at: file.into(),
                    method: job.label.into(),
                    metric,
                    published: Published::number(*published),
                    ours: means.as_ref().map(|means| means[*at]),
                    why,
                });
            }
        }
    }
    Ok(())
}

fn difference(file: &str, table: Option<&Table>) -> String {
    match (file, table.is_some_and(|table| table.discrete)) {
        ("leukemia", _) => "three levels here, numbers in the paper".into(),
        _ => "other rows for training".into(),
    }
}

fn sizes(bench: &mut Bench, metric: &'static str) -> Result<()> {
    let names =
        [("saola", "SAOLA"), ("fast-osfs", "Fast-OSFS"), ("alpha-investing", "Alpha-investing")];
    for (name, selected, seconds) in SIZES {
        let job = |(at, (method, label)): (usize, (&'static str, &'static str))| Job {
            method,
            label,
            values: match metric {
                "selected" => vec![(0, metric, selected[at])],
                _ => vec![(2, metric, seconds[at])],
            },
        };
        let jobs: Vec<Job<'_>> = names.into_iter().enumerate().map(job).collect();
        fill(bench, name, &jobs, false)?;
    }
    Ok(())
}

fn maxima(bench: &mut Bench) -> Result<()> {
    for (name, [plain_s, max_s, plain, max]) in MAXIMA {
        let job = |method, label, seconds, selected| Job {
            method,
            label,
            values: vec![(2, "seconds", seconds), (0, "selected", selected)],
        };
        let jobs =
            [job("saola", "SAOLA", plain_s, plain), job("saola-max", "SAOLA-max", max_s, max)];
        fill(bench, name, &jobs, false)?;
    }
    Ok(())
}

fn groups(bench: &mut Bench) -> Result<()> {
    for (name, v) in GROUPS {
        let job = |method, label, v: &[f64]| Job {
            method,
            label,
            values: vec![(2, "seconds", v[0]), (0, "selected", v[1]), (1, "groups", v[2])],
        };
        let jobs = [job("group-saola", "group-SAOLA", &v[..3]), job("ogfs", "OGFS", &v[3..])];
        fill(bench, name, &jobs, true)?;
    }
    Ok(())
}
