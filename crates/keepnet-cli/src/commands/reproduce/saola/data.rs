//! The data sets at hand, the rows that the paper trained on, and selections from them.
//!
//! The paper trains on the original training part of the three NIPS 2003 sets and of hiva, and
//! on rows drawn at random of the others, of which it reports the best of ten draws. madelon
//! and arcene are stored with the training part first (2,000 and 100 rows), so their rows are
//! the paper's own; of the others two thirds are drawn anew in each repeat.

use std::path::Path;
use std::sync::Arc;

use keepnet::registry::{self, MethodSpec};
use keepnet::{
    Budget, ColumnBlock, ColumnData, Driver, FeatureSource, Generated, Groups, Lane, Order,
    Problem, Quiet, Result, RunOptions, Target, Task,
};
use keepnet_eval::splits::{Split, subset};
use keepnet_io::{OpenOptions, ProblemSpec};

/// Most levels of a column that counts as discrete.
const FEW: usize = 16;

/// The paper deals the features of its smaller data sets into this many groups.
const GROUPS: u64 = 100;

/// Two-class data sets that the paper's tables of online methods do not have.
pub const OTHERS: [&str; 6] = ["arcene", "colon", "BASEHOCK", "PCMAC", "spect", "wdbc"];

/// The files that stand for a data set of the paper.
pub fn files(name: &str) -> Vec<&str> {
    if name == "leukemia" { vec!["leukemia", "ALLAML"] } else { vec![name] }
}

/// Makes the column of a feature.
pub type Make = Arc<dyn Fn(u64) -> ColumnData + Send + Sync>;

/// A data set: in memory, or made column by column.
pub struct Table {
    /// The file's name.
    pub name: String,
    /// Number of features.
    pub features: u64,
    /// Their columns.
    pub make: Make,
    /// The class of every row.
    pub problem: Problem,
    /// Whether every column has few levels.
    pub discrete: bool,
}

/// Reads `NAME.parquet` in a directory, where both are there.
pub fn read(data: Option<&Path>, name: &str) -> Result<Option<Table>> {
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
    let few = |column: &ColumnData| match keepnet::data::compact(column.view()) {
        Some(ColumnData::Codes { levels, .. }) => levels.len() <= FEW,
        Some(_) => true,
        None => false,
    };
    let discrete = columns.iter().all(few);
    let (name, features) = (name.to_string(), columns.len() as u64);
    let make = Arc::new(move |j: u64| columns[j as usize].clone());
    Ok(Some(Table { name, features, make, problem: joined.problem, discrete }))
}

impl Table {
    /// Class names and the class of every row.
    pub fn classes(&self) -> (&[String], &[u32]) {
        match &self.problem.target {
            Target::Classes { names, codes } => (names, codes),
            Target::Numbers(_) => (&[], &[]),
        }
    }

    /// Rows of the original training part, where they come first and are the paper's.
    pub fn own_rows(&self) -> Option<usize> {
        match (self.name.as_str(), self.problem.n()) {
            ("madelon", 2600) => Some(2000),
            ("arcene", 200) => Some(100),
            _ => None,
        }
    }

    /// How often a table that draws nothing but rows must be repeated.
    pub fn repeats(&self, asked: u64) -> u64 {
        if self.own_rows().is_some() { 1 } else { asked }
    }

    /// Rows for training and testing.
    pub fn split(&self, seed: u64) -> Split {
        let rows = self.problem.n();
        let name = seed.to_string();
        if let Some(own) = self.own_rows() {
            let (train, test) = ((0..own as u32).collect(), (own as u32..rows as u32).collect());
            return Split { name, train, test };
        }
        let order = Order::Shuffled.indices(rows as u64, seed, 0).unwrap_or_default();
        let (train, test) = order.split_at(rows * 2 / 3);
        let (mut train, mut test) = (train.to_vec(), test.to_vec());
        train.sort_unstable();
        test.sort_unstable();
        Split { name, train, test }
    }

    /// The values of features, all rows.
    pub fn values(&self, features: &[u64]) -> Vec<Vec<f64>> {
        let one = |j: &u64| {
            let mut values = vec![0.0; self.problem.rows.input()];
            (self.make)(*j).view().fill(&mut values);
            (0..self.problem.n()).map(|row| values[self.problem.rows.source_row(row)]).collect()
        };
        features.iter().map(one).collect()
    }
}

/// A method as a table of the paper has it.
#[derive(Clone, Copy)]
pub struct Method {
    /// Its name in the registry.
    pub name: &'static str,
    /// Its name in the table.
    pub label: &'static str,
    /// Settings that are not the defaults.
    pub settings: &'static [(&'static str, &'static str)],
}

impl Method {
    const fn plain(name: &'static str, label: &'static str) -> Self {
        Self { name, label, settings: &[] }
    }
}

/// SAOLA itself.
pub const SAOLA: Method = Method::plain("saola", "SAOLA");
/// SAOLA with the larger bound.
pub const SAOLA_MAX: Method = Method::plain("saola-max", "SAOLA-max");
/// Fast-OSFS.
pub const FAST_OSFS: Method = Method::plain("fast-osfs", "Fast-OSFS");
/// The wealth and payout of the papers' comparisons.
const LEVEL: (&str, &str) = ("level", "0.5");
/// Alpha-investing by the rules of the authors' library, which give the paper's numbers.
pub const ALPHA: Method = Method {
    name: "alpha-investing",
    label: "Alpha-investing",
    settings: &[("rules", "lofs"), LEVEL],
};
/// Alpha-investing with the t-test that keepnet takes by default; not in the paper.
pub const ALPHA_T: Method =
    Method { name: "alpha-investing", label: "Alpha-investing, t-test", settings: &[LEVEL] };
/// Group-SAOLA.
pub const GROUP_SAOLA: Method = Method::plain("group-saola", "group-SAOLA");
/// OGFS.
pub const OGFS: Method = Method::plain("ogfs", "OGFS");

/// What a method selected.
pub struct Choice {
    /// Features, by index.
    pub features: Vec<u64>,
    /// Groups that they are in.
    pub groups: usize,
    /// Seconds of the selection.
    pub seconds: f64,
}

/// How features come to a method.
#[derive(Clone, Copy)]
pub enum Arrival {
    /// One by one, as in the file.
    Given,
    /// One by one in a random order of this seed.
    Shuffled(u64),
    /// In groups dealt at random by this seed.
    Grouped(u64),
}

/// Selects from the training rows.
pub fn select(
    table: &Table,
    train: &[u32],
    method: &Method,
    seed: u64,
    arrival: Arrival,
) -> Result<Choice> {
    let rows = table.problem.rows.input();
    let problem = subset(&table.problem, train)?;
    let info = registry::find(method.name)?;
    let mut spec = MethodSpec { seed, ..MethodSpec::default() };
    if info.has("measure") {
        let discrete = if method.name.ends_with("osfs") { "g2" } else { "su" };
        spec = spec.set("measure", if table.discrete { discrete } else { "fisher-z" });
    }
    for (key, value) in method.settings {
        spec = spec.set(key, *value);
    }
    let selector = registry::make(info, &spec, &problem, Budget::unlimited())?;
    let order = match arrival {
        Arrival::Given => None,
        Arrival::Shuffled(seed) | Arrival::Grouped(seed) => {
            Order::Shuffled.indices(table.features, seed, 1)
        }
    };
    let (make, place) = (Arc::clone(&table.make), order.clone());
    let make = move |at: u64| Ok(make(feature(place.as_deref(), at)));
    let mut source = Generated::new(table.name.clone(), rows, table.features, make);
    let options = RunOptions { scans: 1, ..RunOptions::default() };
    let mut driver = Driver::new(&mut source, vec![Lane::new(problem, selector)], options)?;
    if let Arrival::Grouped(_) = arrival {
        driver = driver.with_groups(Groups::block(table.features.div_ceil(GROUPS))?);
    }
    let report = driver.run(&mut Quiet)?;
    let selected = &report.lanes[0].selection.selected;
    let mut groups: Vec<_> = selected.iter().filter_map(|feature| feature.group).collect();
    groups.sort_unstable();
    groups.dedup();
    let features = selected.iter().map(|f| feature(order.as_deref(), f.id.index)).collect();
    Ok(Choice { features, groups: groups.len(), seconds: report.select.as_secs_f64() })
}

/// Which feature comes at a place: columns are put in order before they come.
fn feature(order: Option<&[u32]>, place: u64) -> u64 {
    order.map_or(place, |order| u64::from(order[place as usize]))
}
