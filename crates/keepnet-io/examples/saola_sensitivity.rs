//! How much SAOLA's result depends on the order of the features and on its threshold: the
//! paper's Tables XX and XXI, on the data sets given.
//!
//! ```text
//! cargo run --release -p keepnet-io --example saola_sensitivity -- [orders] FILE.parquet...
//! ```
//!
//! Each file has its class in the column `y`. Ten random splits into two thirds for training
//! and one third for testing; selection sees the training rows only. Table XX: on the first
//! split, `orders` random orders of the features (30 in the paper), mean and standard deviation
//! of the accuracy of 1-nearest-neighbour and of an entropy tree. Table XXI: the mean over the
//! splits for two thresholds, alpha under Fisher's Z, delta under symmetrical uncertainty.

use keepnet::{
    Budget, ColumnBlock, ColumnData, Driver, FeatureSource, Generated, Lane, MethodSpec, Order,
    Problem, Quiet, Result, RowMap, RunOptions, Target, Task, registry,
};
use keepnet_io::{OpenOptions, ProblemSpec};

const SPLITS: u64 = 10;

struct Data {
    name: String,
    columns: Vec<ColumnData>,
    target: Target,
    // Few levels in every column: symmetrical uncertainty; else Fisher's Z.
    discrete: bool,
}

/// Most levels of a column that counts as discrete.
const FEW: usize = 16;

fn read(path: &str) -> Result<Data> {
    let options = OpenOptions::default();
    let mut dataset = keepnet_io::open(&[path.to_string()], &options)?;
    let task = Some(Task::Classification);
    let spec = ProblemSpec { target: "y".into(), task, ..ProblemSpec::default() };
    let joined = keepnet_io::build_problem(&mut dataset, &spec, &options)?;
    let mut source = dataset.source(&joined.not_features)?;
    let mut columns = Vec::new();
    let mut block = ColumnBlock::new(256);
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
    let name = std::path::Path::new(path).file_stem().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    Ok(Data { name, columns, target: joined.problem.target, discrete })
}

/// Rows for training and for testing.
struct Split {
    train: Vec<u32>,
    test: Vec<u32>,
}

fn split(rows: usize, seed: u64) -> Split {
    let order = Order::Shuffled.indices(rows as u64, seed, 0).expect("a shuffled order");
    let (train, test) = order.split_at(rows * 2 / 3);
    let (mut train, mut test) = (train.to_vec(), test.to_vec());
    train.sort_unstable();
    test.sort_unstable();
    Split { train, test }
}

fn measure(data: &Data) -> &'static str {
    if data.discrete { "su" } else { "fisher-z" }
}

/// Features that SAOLA selects from the training rows.
fn select(
    data: &Data,
    split: &Split,
    spec: &MethodSpec,
    order: Order,
    seed: u64,
) -> Result<Vec<usize>> {
    let rows = data.target.rows();
    let Target::Classes { names, codes } = &data.target else { return Ok(Vec::new()) };
    let codes = split.train.iter().map(|row| codes[*row as usize]).collect();
    let mut problem = Problem::new(Target::Classes { names: names.clone(), codes });
    problem.rows = RowMap::new(rows, split.train.clone())?;
    let spec = spec.clone().set("measure", measure(data));
    let selector = registry::make(registry::find("saola")?, &spec, &problem, Budget::unlimited())?;
    let mut source = Generated::columns(rows, data.columns.clone());
    let options = RunOptions { scans: 1, order, seed, ..RunOptions::default() };
    let report = Driver::new(&mut source, vec![Lane::new(problem, selector)], options)?;
    let report = report.run(&mut Quiet)?;
    let selected = &report.lanes[0].selection.selected;
    Ok(selected.iter().map(|feature| feature.id.index as usize).collect())
}

/// Accuracy of 1-nearest-neighbour and of an entropy tree on the test rows.
fn accuracies(data: &Data, split: &Split, features: &[usize]) -> (f64, f64) {
    let Target::Classes { codes, .. } = &data.target else { return (0.0, 0.0) };
    let columns: Vec<Vec<f64>> =
        features.iter().map(|j| scaled(&data.columns[*j], split)).collect();
    let class = |row: u32| codes[row as usize];
    let share = |predict: &dyn Fn(u32) -> u32| {
        let right = split.test.iter().filter(|row| predict(**row) == class(**row)).count();
        right as f64 / split.test.len() as f64
    };
    let distance = |a: u32, b: u32| -> f64 {
        columns.iter().map(|x| (x[a as usize] - x[b as usize]).powi(2)).sum()
    };
    let nearest = |row: u32| {
        let near = |a: &&u32, b: &&u32| distance(**a, row).total_cmp(&distance(**b, row));
        class(*split.train.iter().min_by(near).expect("training rows"))
    };
    let tree = grow(&columns, codes, &split.train);
    (share(&nearest), share(&|row| tree.predict(&columns, row)))
}

/// A column with mean 0 and standard deviation 1 over the training rows.
fn scaled(column: &ColumnData, split: &Split) -> Vec<f64> {
    let mut x = vec![0.0; column.view().rows()];
    column.view().fill(&mut x);
    let n = split.train.len() as f64;
    let mean = split.train.iter().map(|row| x[*row as usize]).sum::<f64>() / n;
    let square = |row: &u32| (x[*row as usize] - mean).powi(2);
    let deviation = (split.train.iter().map(square).sum::<f64>() / n).sqrt().max(1e-300);
    x.iter_mut().for_each(|x| *x = (*x - mean) / deviation);
    x
}

enum Tree {
    Leaf(u32),
    Split { column: usize, at: f64, below: Box<Tree>, above: Box<Tree> },
}

impl Tree {
    fn predict(&self, columns: &[Vec<f64>], row: u32) -> u32 {
        match self {
            Self::Leaf(class) => *class,
            Self::Split { column, at, below, above } => {
                let side = if columns[*column][row as usize] <= *at { below } else { above };
                side.predict(columns, row)
            }
        }
    }
}

fn counts(codes: &[u32], rows: &[u32]) -> Vec<usize> {
    let classes = codes.iter().max().map_or(0, |most| *most as usize + 1);
    let mut counts = vec![0; classes];
    rows.iter().for_each(|row| counts[codes[*row as usize] as usize] += 1);
    counts
}

/// Rows times entropy in nats.
fn impurity(counts: &[usize]) -> f64 {
    let n = counts.iter().sum::<usize>() as f64;
    let term = |c: &usize| -(*c as f64) * (*c as f64 / n).ln();
    counts.iter().filter(|c| **c > 0).map(term).sum()
}

/// Splits by the largest gain of entropy until leaves are pure or hold fewer than 4 rows.
fn grow(columns: &[Vec<f64>], codes: &[u32], rows: &[u32]) -> Tree {
    let all = counts(codes, rows);
    let majority = (0..all.len()).rev().max_by_key(|class| all[*class]).unwrap_or(0) as u32;
    let mut best: Option<(f64, usize, f64)> = None;
    if impurity(&all) > 0.0 && rows.len() >= 4 {
        for (column, x) in columns.iter().enumerate() {
            let mut order = rows.to_vec();
            order.sort_by(|a, b| x[*a as usize].total_cmp(&x[*b as usize]));
            let mut below = vec![0; all.len()];
            for pair in order.windows(2) {
                below[codes[pair[0] as usize] as usize] += 1;
                let (low, high) = (x[pair[0] as usize], x[pair[1] as usize]);
                if low == high {
                    continue;
                }
                let above: Vec<usize> = all.iter().zip(&below).map(|(a, b)| a - b).collect();
                let left = impurity(&below) + impurity(&above);
                if best.is_none_or(|(least, ..)| left < least - 1e-12) {
                    best = Some((left, column, 0.5 * (low + high)));
                }
            }
        }
    }
    let Some((_, column, at)) = best.filter(|(left, ..)| *left < impurity(&all) - 1e-9) else {
        return Tree::Leaf(majority);
    };
    let low = |row: &&u32| columns[column][**row as usize] <= at;
    let below: Vec<u32> = rows.iter().filter(low).copied().collect();
    let above: Vec<u32> = rows.iter().filter(|row| !low(row)).copied().collect();
    let branch = |rows: &[u32]| Box::new(grow(columns, codes, rows));
    Tree::Split { column, at, below: branch(&below), above: branch(&above) }
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
    (mean, (square / (n - 1.0).max(1.0)).sqrt())
}

fn show(values: &[f64]) -> String {
    let (mean, deviation) = mean_and_deviation(values);
    format!("{mean:.4} +- {deviation:.4}")
}

fn orders(data: &[Data], orders: u64) -> Result<()> {
    println!("Table XX: {orders} orders of the features, one split (accuracy +- deviation)\n");
    println!("| data set | measure | selected | 1-NN | tree |\n|---|---|---|---|---|");
    for data in data {
        let split = split(data.target.rows(), 0);
        let (mut sizes, mut near, mut tree) = (Vec::new(), Vec::new(), Vec::new());
        for seed in 0..orders {
            let spec = MethodSpec::default();
            let features = select(data, &split, &spec, Order::Shuffled, seed)?;
            let (a, b) = accuracies(data, &split, &features);
            sizes.push(features.len() as f64);
            near.push(a);
            tree.push(b);
        }
        let (size, spread) = mean_and_deviation(&sizes);
        let measure = measure(data);
        println!(
            "| {} | {measure} | {size:.1} +- {spread:.1} | {} | {} |",
            data.name,
            show(&near),
            show(&tree)
        );
    }
    Ok(())
}

fn thresholds(data: &[Data]) -> Result<()> {
    println!("\nTable XXI: two thresholds, {SPLITS} splits (mean accuracy)\n");
    println!("| data set | threshold | selected | 1-NN | tree |\n|---|---|---|---|---|");
    for data in data {
        let (name, values) = match data.discrete {
            true => ("delta", ["0", "0.05"]),
            false => ("alpha", ["0.01", "0.05"]),
        };
        for value in values {
            let spec = MethodSpec::default().set(name, value);
            let (mut sizes, mut near, mut tree) = (Vec::new(), Vec::new(), Vec::new());
            for seed in 0..SPLITS {
                let split = split(data.target.rows(), seed);
                let features = select(data, &split, &spec, Order::Given, 0)?;
                let (a, b) = accuracies(data, &split, &features);
                sizes.push(features.len() as f64);
                near.push(a);
                tree.push(b);
            }
            let (size, _) = mean_and_deviation(&sizes);
            println!(
                "| {} | {name}={value} | {size:.1} | {} | {} |",
                data.name,
                show(&near),
                show(&tree)
            );
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let count = arguments.first().and_then(|first| first.parse().ok());
    if count.is_some() {
        arguments.remove(0);
    }
    if arguments.is_empty() {
        eprintln!("usage: saola_sensitivity [orders] FILE.parquet...");
        std::process::exit(2);
    }
    let data = arguments.iter().map(|path| read(path)).collect::<Result<Vec<_>>>()?;
    orders(&data, count.unwrap_or(30))?;
    thresholds(&data)
}
