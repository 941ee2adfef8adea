//! `screen` against the tables of tsfresh, SciPy, statsmodels and onlineFDR that lie beside the
//! repository, in `../shared/oracles/error-control`; its README says how they were made.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use common::skipped::skipped;
use common::{Called, Folder, keepnet};
use keepnet::run::Decision;
use keepnet::{
    Budget, ColumnData, Driver, Generated, Lane, MethodSpec, Numbers, Observer, Order, Problem,
    Result, RunOptions, RunReport, Target, registry,
};
use serde_json::Value;

fn oracle() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let there = shared.join("oracles/error-control").is_dir() && shared.join("data").is_dir();
    if !there {
        skipped(
            "screen against tsfresh and SciPy: ../shared/oracles/error-control and ../shared/data",
        );
    }
    there.then_some(shared)
}

fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap()
}

/// The columns of a csv file, and its target `y`.
struct Table {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    y: Vec<f64>,
}

impl Table {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let mut lines = text.lines();
        let mut names: Vec<String> = lines.next().unwrap().split(',').map(String::from).collect();
        let mut columns = vec![Vec::new(); names.len()];
        for line in lines {
            for (column, value) in columns.iter_mut().zip(line.split(',')) {
                column.push(value.parse().unwrap());
            }
        }
        let at = names.iter().position(|name| name == "y").unwrap();
        names.remove(at);
        let y = columns.remove(at);
        Self { names, columns, y }
    }

    fn problem(&self, classes: bool) -> Problem {
        if !classes {
            return Problem::regression(self.y.clone());
        }
        let mut levels = self.y.clone();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        let code = |y: &f64| levels.iter().position(|level| level == y).unwrap() as u32;
        let codes = self.y.iter().map(code).collect();
        Problem::new(Target::Classes { names: levels.iter().map(f64::to_string).collect(), codes })
    }

    fn stored(&self, sparse: bool) -> Generated {
        let rows = self.y.len();
        let column = |x: &Vec<f64>| {
            if !sparse {
                return ColumnData::Dense(Numbers::F64(x.clone()));
            }
            let index: Vec<u32> = (0..rows as u32).filter(|i| x[*i as usize] != 0.0).collect();
            let value = Numbers::F64(index.iter().map(|i| x[*i as usize]).collect());
            ColumnData::Sparse { rows, index, value }
        };
        Generated::columns(rows, self.columns.iter().map(column).collect())
    }
}

/// The logarithm of p of every feature tested.
#[derive(Default)]
struct Seen(BTreeMap<u64, f64>);

impl Observer for Seen {
    fn decision(&mut self, decision: &Decision<'_>) -> Result<()> {
        if let Some(log_p) = decision.outcome.marginal {
            self.0.insert(decision.id.index, log_p);
        }
        Ok(())
    }
}

fn run(
    source: &mut Generated,
    problem: &Problem,
    spec: &MethodSpec,
    width: usize,
    order: Order,
) -> Result<(BTreeMap<u64, f64>, RunReport)> {
    let method = registry::find("screen").unwrap();
    let selector = registry::make(method, spec, problem, Budget::unlimited())?;
    let options = RunOptions { width, order, ..RunOptions::default() };
    let mut seen = Seen::default();
    let driver = Driver::new(source, vec![Lane::new(problem.clone(), selector)], options)?;
    let report = driver.run(&mut seen)?;
    Ok((seen.0, report))
}

fn flags(value: &Value) -> BTreeSet<u64> {
    let flags = value.as_array().unwrap().iter().enumerate();
    flags.filter(|(_, flag)| flag.as_u64() == Some(1)).map(|(at, _)| at as u64).collect()
}

fn near(what: &str, got: f64, want: f64, tolerance: f64) {
    assert!((got - want).abs() <= tolerance * want.abs(), "{what}: {got}, the oracle has {want}");
}

/// The tables of tsfresh that come from a csv file: with what they are asked, and how many features
/// are relevant by BY and BH.
const TABLES: [(&str, &str, bool, [usize; 2]); 6] = [
    ("binary", "auto", true, [85, 102]),
    ("binary_ks", "ks", true, [72, 87]),
    ("real", "auto", false, [97, 116]),
    ("multi", "auto", true, [75, 87]),
    ("small_binary", "auto", true, [0, 0]),
    ("small_real", "auto", false, [0, 0]),
];

#[test]
fn relevant_features_are_those_of_tsfresh_for_any_blocks_threads_order_and_storage() {
    let Some(shared) = oracle() else { return };
    let folder = shared.join("oracles/error-control");
    for (name, test, classes, counts) in TABLES {
        let oracle = read(&folder, &format!("tsfresh_{name}.json"));
        let table = Table::read(&folder.join(oracle["data"].as_str().unwrap()));
        let problem = table.problem(classes);
        // tsfresh has a p-value a class; the least is that of the feature.
        let want: Vec<Option<f64>> = match oracle["p_value"].as_array() {
            Some(all) => all.iter().map(Value::as_f64).collect(),
            None => (0..table.names.len())
                .map(|at| {
                    let classes = oracle["p_value_by_class"].as_object().unwrap().values();
                    classes.filter_map(|p| p[at].as_f64()).reduce(f64::min)
                })
                .collect(),
        };
        for (procedure, count) in ["by", "bh"].into_iter().zip(counts) {
            let relevant = flags(&oracle[format!("relevant_{procedure}")]);
            assert_eq!(relevant.len(), count, "{name} {procedure}");
            let spec = MethodSpec::default()
                .set("procedure", procedure)
                .set("test", test)
                .set("level", 0.05);
            for (width, threads, order, sparse) in [
                (1, 1, Order::Given, false),
                (7, 4, Order::Shuffled, false),
                (512, 4, Order::Given, true),
                (7, 1, Order::Shuffled, true),
            ] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let mut source = table.stored(sparse);
                let (seen, report) =
                    pool.install(|| run(&mut source, &problem, &spec, width, order)).unwrap();
                for (at, want) in want.iter().enumerate() {
                    match (seen.get(&(at as u64)), want) {
                        (Some(log_p), Some(p)) => {
                            near(&format!("{name} f{at}"), log_p.exp(), *p, 1e-9);
                        }
                        (None, None) => {}
                        (got, want) => panic!("{name} f{at}: {got:?} and {want:?}"),
                    }
                }
                let selection = &report.lanes[0].selection;
                let got: BTreeSet<u64> = selection.indices().into_iter().collect();
                assert_eq!(got, relevant, "{name} {procedure}");
                let control = selection.error_control.as_ref().unwrap();
                assert_eq!(control.tested, seen.len() as u64);
                assert_eq!(control.rejected, count as u64);
            }
        }
    }
}

/// Runs the program on a Parquet file; its result and the p-value of every feature by its name.
fn program(data: &Path, words: &str) -> (Value, BTreeMap<String, f64>) {
    let folder = Folder::new();
    let decisions = folder.path("d.csv");
    let mut command = keepnet();
    command.arg("select").arg(data).args(["--target", "y", "--method", "screen", "--quiet"]);
    command.args(words.split_whitespace()).args(["--output", "-", "--decisions"]).arg(&decisions);
    let called = Called::new(&command.output().unwrap());
    called.fine();
    let text = std::fs::read_to_string(decisions).unwrap();
    let mut p = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        if let Ok(value) = cells[7].parse() {
            p.insert(cells[2].to_string(), value);
        }
    }
    (serde_json::from_str(&called.out).unwrap(), p)
}

#[test]
fn real_tables_give_the_p_values_of_tsfresh_and_the_adjusted_ones_of_statsmodels() {
    let Some(shared) = oracle() else { return };
    let folder = shared.join("oracles/error-control");
    for (name, file, counts) in
        [("wdbc", "wdbc", [26, 27]), ("spect", "spect", [7, 9]), ("allaml", "ALLAML", [16, 40])]
    {
        let oracle = read(&folder, &format!("tsfresh_{name}.json"));
        let data = shared.join(format!("data/{file}.parquet"));
        let names: Vec<&str> =
            oracle["features"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
        let columns = format!("--task classification --columns {}", names.join(","));
        for (procedure, count) in ["by", "bh"].into_iter().zip(counts) {
            let (result, p) =
                program(&data, &format!("{columns} --level 0.05 --set procedure={procedure}"));
            for (at, name) in names.iter().enumerate() {
                near(name, p[*name], oracle["p_value"][at].as_f64().unwrap(), 1e-9);
            }
            let of = |f: &Value| f["index"].as_u64().unwrap();
            let got: BTreeSet<u64> =
                result["selected"].as_array().unwrap().iter().map(of).collect();
            assert_eq!(got, flags(&oracle[format!("relevant_{procedure}")]), "{name} {procedure}");
            assert_eq!(got.len(), count);
            assert_eq!(result["error_control"]["procedure"], procedure);
            assert_eq!(result["error_control"]["tested"], names.len());
        }
        if name != "allaml" {
            continue;
        }
        let corrections = read(&folder, "corrections.json");
        for procedure in ["bh", "by", "holm", "bonferroni"] {
            let words = format!("{columns} --level 0.999 --set procedure={procedure}");
            let (result, _) = program(&data, &words);
            let adjusted = &corrections[procedure]["adjusted"];
            let below =
                adjusted.as_array().unwrap().iter().filter(|q| q.as_f64().unwrap() <= 0.999);
            let selected = result["selected"].as_array().unwrap();
            assert_eq!(selected.len(), below.count(), "{procedure}");
            for feature in selected {
                let want = adjusted[feature["index"].as_u64().unwrap() as usize].as_f64().unwrap();
                near(procedure, feature["q_value"].as_f64().unwrap(), want, 1e-11);
            }
        }
    }
}

#[test]
fn the_other_tests_are_those_of_scipy() {
    let Some(shared) = oracle() else { return };
    let folder = shared.join("oracles/error-control");
    let options = read(&folder, "options.json");
    for (test, oracle) in options["tests"].as_object().unwrap() {
        let mut table = Table::read(&folder.join(oracle["data"].as_str().unwrap()));
        let names: Vec<&str> =
            oracle["features"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
        let kept = |name: &String| names.contains(&name.as_str());
        let at: Vec<usize> = (0..table.names.len()).filter(|at| kept(&table.names[*at])).collect();
        table.columns = at.iter().map(|at| table.columns[*at].clone()).collect();
        table.names = at.iter().map(|at| table.names[*at].clone()).collect();
        assert_eq!(table.names, names);
        let problem = table.problem(oracle["data"] != "real.csv");
        let spec = MethodSpec::default().set("test", test.as_str());
        for sparse in [false, true] {
            let (seen, _) =
                run(&mut table.stored(sparse), &problem, &spec, 16, Order::Given).unwrap();
            for (at, name) in names.iter().enumerate() {
                let want = oracle["p_value"][at].as_f64().unwrap();
                near(&format!("{test} {name}"), seen[&(at as u64)].exp(), want, 1e-9);
            }
        }
    }
}

/// Where SciPy's p-value is 0.
#[test]
fn logarithms_go_on_where_probabilities_end() {
    let Some(shared) = oracle() else { return };
    let options = read(&shared.join("oracles/error-control"), "options.json");
    let count = |n: usize| (0..n).map(|i| i as f64).collect::<Vec<_>>();
    let half = |n: usize| (0..2 * n).map(|i| f64::from(u8::from(i >= n))).collect::<Vec<_>>();
    for (at, x, problem) in [
        (0, count(20_000), Problem::binary(&half(10_000))),
        (1, count(3000), Problem::regression(count(3000))),
        (2, half(3000), Problem::binary(&half(3000))),
    ] {
        let oracle = &options["log_p"][at];
        let mut source = Generated::columns(x.len(), vec![ColumnData::dense(x)]);
        let (_, report) =
            run(&mut source, &problem, &MethodSpec::default(), 1, Order::Given).unwrap();
        let tested = report.lanes[0].selection.selected[0].tested.unwrap();
        assert_eq!(tested.test, oracle["test"].as_str().unwrap());
        near(tested.test, tested.log_p, oracle["log_p"].as_f64().unwrap(), 1e-9);
    }
}

/// `n` rows of `p` normal columns in blocks of `width` with correlation `rho` inside a block, and a
/// target of `true_blocks` of their first columns, with coefficient `beta` and noise of deviation 1.
fn design(
    seed: u64,
    (n, p, width, rho): (usize, usize, usize, f64),
    (true_blocks, beta): (usize, f64),
) -> (Vec<Vec<f64>>, Vec<f64>) {
    use rand_distr::{Distribution, StandardNormal};
    let mut random = keepnet::data::generator(seed, 5);
    let mut normals =
        |n: usize| -> Vec<f64> { (0..n).map(|_| StandardNormal.sample(&mut random)).collect() };
    let mut columns = Vec::with_capacity(p);
    for _ in 0..p / width {
        let common = normals(n);
        for _ in 0..width {
            let mix = |(x, c): (f64, &f64)| (1.0 - rho).sqrt() * x + rho.sqrt() * c;
            columns.push(normals(n).into_iter().zip(&common).map(mix).collect::<Vec<f64>>());
        }
    }
    let mut y = normals(n);
    for block in 0..true_blocks {
        y.iter_mut().zip(&columns[block * width]).for_each(|(y, x)| *y += beta * x);
    }
    (columns, y)
}

/// The designs of the specification with fewer features and seeds: the mean share of false features
/// is at most the level and two standard errors. A column of a block with a true one is true, as it
/// does have to do with the target.
#[test]
fn false_discovery_rates_stay_at_their_level() {
    for (shape, truth, procedures, power) in [
        ((100, 300, 1, 0.0), (0, 0.0), ["bh", "by", "lond-dep"], 0.0),
        ((100, 300, 1, 0.0), (10, 0.5), ["bh", "by", "lond-dep"], 0.05),
        ((100, 300, 5, 0.5), (5, 0.8), ["by", "holm", "lond-dep"], 0.05),
    ] {
        for procedure in procedures {
            let spec = MethodSpec::default().set("procedure", procedure).set("level", 0.1);
            let spec = spec.set("test", "pearson");
            let (mut shares, mut found, seeds) = (Vec::new(), 0.0, 60);
            for seed in 0..seeds {
                let (columns, y) = design(seed, shape, truth);
                let columns = columns.into_iter().map(ColumnData::dense).collect();
                let mut source = Generated::columns(shape.0, columns);
                let problem = Problem::regression(y);
                let (_, report) = run(&mut source, &problem, &spec, 64, Order::Given).unwrap();
                let kept = report.lanes[0].selection.indices();
                let right = |j: &&u64| **j < (truth.0 * shape.2) as u64;
                let right = kept.iter().filter(right).count();
                shares.push((kept.len() - right) as f64 / kept.len().max(1) as f64);
                found += right as f64 / (truth.0 * shape.2).max(1) as f64 / seeds as f64;
            }
            let mean = shares.iter().sum::<f64>() / seeds as f64;
            let square = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>();
            let error = (square / (seeds - 1) as f64 / seeds as f64).sqrt();
            assert!(mean <= 0.1 + 2.0 * error, "{procedure} {truth:?}: {mean} ({error})");
            assert!(found >= power, "{procedure} {truth:?}: power {found}");
        }
    }
}

/// Every row of the table of stabs: `mb` and `unimodal` to 1e-12, `r-concave` to 1e-4.
#[test]
fn bounds_of_stability_selection_are_those_of_the_oracle() {
    let Some(shared) = oracle() else { return };
    let oracle = read(&shared.join("oracles/error-control"), "stability_bounds.json");
    let rows = oracle["rows"].as_array().unwrap();
    assert!(rows.len() >= 12);
    for row in rows {
        let number = |name: &str| row[name].as_f64().unwrap();
        let pairs = row["pairs"].as_u64().unwrap() as usize;
        let got =
            keepnet_eval::trust::bounds::bounds(number("q"), number("p"), number("tau"), pairs);
        for (name, got, share) in [
            ("mb", got.mb, 1e-12),
            ("unimodal", got.unimodal, 1e-12),
            ("r_concave", got.r_concave, 1e-4),
        ] {
            near(&format!("{name} of {row}"), got.unwrap(), number(name), share);
        }
    }
}
