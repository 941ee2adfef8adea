//! SAOLA with Fisher's Z on streams in the shape of webspam, news20, url1 and kdd2010.
//!
//! ```text
//! cargo run --release --example sparse_stream -- [webspam|news20|url1|kdd2010] [share] [driver]
//! ```
//!
//! `share` is the part of the features that come (1 is the whole shape). The columns are made
//! block by block; only SAOLA's work and one plain read of the same arrays are timed. With
//! `driver` the same stream also runs through the engine's driver, names and checks included.
//! The paper's seconds are MATLAB on an i7-2600, on the real data, reading not counted.

mod common;
#[path = "common/sparse.rs"]
mod sparse;

use std::time::{Duration, Instant};

use common::peak_mib;
use keepnet::data::check_block;
use keepnet::measure::FisherZ;
use keepnet::select::statistical::saola::{Saola, SaolaParams};
use keepnet::{
    Budget, ColumnBlock, ColumnData, ColumnSelector, Driver, FeatureId, Generated, Lane,
    MethodSpec, Name, Numbers, Problem, Quiet, RawColumn, Result, RunOptions, registry,
};
use sparse::SparseShape;

/// Columns in a block.
const BLOCK: u64 = 8192;
const ALPHA: f64 = 0.01;

struct Shape {
    name: &'static str,
    rows: usize,
    features: u64,
    nonzeros: f64,
    families: u64,
    paper_seconds: f64,
    paper_selected: u32,
}

/// Sizes: Table II of the paper; non-zeros from the data sets' published densities; seconds and
/// selected features from the paper's Tables VI and VII.
const SHAPES: [Shape; 4] = [
    Shape {
        name: "webspam",
        rows: 20_000,
        features: 16_609_143,
        nonzeros: 75e6,
        families: 60,
        paper_seconds: 1456.0,
        paper_selected: 51,
    },
    Shape {
        name: "news20",
        rows: 9_996,
        features: 1_355_191,
        nonzeros: 4.5e6,
        families: 200,
        paper_seconds: 944.0,
        paper_selected: 212,
    },
    Shape {
        name: "url1",
        rows: 20_000,
        features: 3_231_961,
        nonzeros: 2.3e6,
        families: 60,
        paper_seconds: 200.0,
        paper_selected: 64,
    },
    Shape {
        name: "kdd2010",
        rows: 20_000,
        features: 29_890_095,
        nonzeros: 0.6e6,
        families: 180,
        paper_seconds: 1056.0,
        paper_selected: 180,
    },
];

/// A block of columns as three arrays.
#[derive(Default)]
struct Arrays {
    ends: Vec<usize>,
    index: Vec<u32>,
    value: Vec<f32>,
}

impl Arrays {
    fn fill(&mut self, shape: &SparseShape, y: &[f64], from: u64, to: u64) {
        self.ends.clear();
        self.index.clear();
        self.value.clear();
        for j in from..to {
            shape.column(j, y, &mut self.index, &mut self.value);
            self.ends.push(self.index.len());
        }
    }

    fn columns(&self) -> impl Iterator<Item = (&[u32], &[f32])> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let range = std::mem::replace(&mut start, *end)..*end;
            (&self.index[range.clone()], &self.value[range])
        })
    }

    /// Every index and value once, column by column.
    fn read(&self) -> f64 {
        let mut total = 0.0;
        for (index, value) in self.columns() {
            let (mut rows, mut sum) = (0u64, 0.0f64);
            for (i, x) in index.iter().zip(value) {
                rows += u64::from(*i);
                sum += f64::from(*x);
            }
            total += sum + rows as f64;
        }
        total
    }
}

#[derive(Default)]
struct Times {
    read: Duration,
    relevance: Duration,
    pairs: Duration,
    relevant: u64,
    nonzeros: u64,
    block_bytes: usize,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let name = arguments.first().map_or("webspam", String::as_str);
    let share: f64 = arguments.get(1).and_then(|s| s.parse().ok()).unwrap_or(0.1);
    let Some(preset) = SHAPES.iter().find(|s| s.name == name) else {
        let names: Vec<_> = SHAPES.iter().map(|s| s.name).collect();
        eprintln!("unknown shape {name:?}; one of {}", names.join(", "));
        std::process::exit(2);
    };
    let features = (preset.features as f64 * share) as u64;
    let nonzeros = preset.nonzeros * share;
    let shape = SparseShape::new(preset.rows, features, nonzeros, preset.families, 1);
    let y = shape.target();
    println!("{name}: {} rows, {features} features, share {share}", preset.rows);

    let problem = Problem::binary(&y);
    let z = FisherZ::new(&problem, ALPHA)?;
    let measure = FisherZ::new(&problem, ALPHA)?;
    let mut saola = Saola::new(SaolaParams::default(), measure, preset.rows, Budget::unlimited())?;
    let times = screened(&shape, &y, &problem, &z, &mut saola)?;
    report(&times, &saola, preset);
    if arguments.get(2).is_some_and(|a| a == "driver") {
        through_driver(shape, y, problem, &saola)?;
    }
    Ok(())
}

/// The stream block by block: a plain read, the relevance pass, and SAOLA on what passed it.
fn screened(
    shape: &SparseShape,
    y: &[f64],
    problem: &Problem,
    z: &FisherZ,
    saola: &mut Saola<FisherZ>,
) -> Result<Times> {
    let (mut arrays, mut times) = (Arrays::default(), Times::default());
    let mut passed: Vec<usize> = Vec::new();
    for from in (0..shape.features).step_by(BLOCK as usize) {
        let to = (from + BLOCK).min(shape.features);
        arrays.fill(shape, y, from, to);
        times.nonzeros += arrays.index.len() as u64;
        let bytes = 8 * arrays.index.capacity() + 8 * arrays.ends.capacity();
        times.block_bytes = times.block_bytes.max(bytes);
        // One untimed read first, so that neither timed pass pays for a cold cache.
        std::hint::black_box(arrays.read());
        let start = Instant::now();
        std::hint::black_box(arrays.read());
        times.read += start.elapsed();

        let start = Instant::now();
        passed.clear();
        for (at, (index, value)) in arrays.columns().enumerate() {
            if z.weigh_sparse(index, value).1.abs() >= z.min_correlation() {
                passed.push(at);
            }
        }
        times.relevance += start.elapsed();
        times.relevant += passed.len() as u64;

        let start = Instant::now();
        for at in &passed {
            offer(&arrays, *at, from, shape.rows, problem, saola)?;
        }
        times.pairs += start.elapsed();
    }
    Ok(times)
}

fn offer(
    arrays: &Arrays,
    at: usize,
    from: u64,
    rows: usize,
    problem: &Problem,
    saola: &mut Saola<FisherZ>,
) -> Result<()> {
    let range = at.checked_sub(1).map_or(0, |before| arrays.ends[before])..arrays.ends[at];
    let index = arrays.index[range.clone()].to_vec();
    let value = Numbers::F32(arrays.value[range].to_vec());
    let id = FeatureId::new(from + at as u64);
    let data = ColumnData::Sparse { rows, index, value };
    let mut block = ColumnBlock::new(1);
    block.push(RawColumn { id, name: Name::Numbered("f", id.index), source: 0, data });
    let checked = check_block(&block, id.index, problem, &Default::default())?;
    saola.offer_block(&checked, &mut Vec::new())
}

fn report(times: &Times, saola: &Saola<FisherZ>, preset: &Shape) {
    let Times { read, relevance, pairs, relevant, nonzeros, block_bytes } = times;
    let counts = saola.pairs();
    let looked = counts.computed + counts.closed + counts.skipped;
    println!("non-zeros            {nonzeros}");
    println!("reading the arrays   {:8.3} s", read.as_secs_f64());
    let ratio = relevance.as_secs_f64() / read.as_secs_f64();
    println!("relevance pass       {:8.3} s   {ratio:.2} x reading", relevance.as_secs_f64());
    println!("relevant             {relevant}");
    println!(
        "pairs                {:8.3} s   {looked} pairs: {} computed, {} in closed form, {} decided \
         by equal scores; {:.0} ns each",
        pairs.as_secs_f64(),
        counts.computed,
        counts.closed,
        counts.skipped,
        pairs.as_nanos() as f64 / (looked.max(1)) as f64,
    );
    let total = (*relevance + *pairs).as_secs_f64();
    println!(
        "selected             {}   (the paper: {})",
        saola.status().kept,
        preset.paper_selected
    );
    println!(
        "in all               {total:8.3} s   the paper's MATLAB {} s on the whole real data",
        preset.paper_seconds
    );
    println!(
        "memory               kept set with index {:.2} MiB, block {:.2} MiB, peak {} MiB",
        saola.status().bytes as f64 / 1048576.0,
        *block_bytes as f64 / 1048576.0,
        peak_mib().map_or("unknown".into(), |peak| format!("{peak:.1}"))
    );
}

/// The same stream through the engine: sources, checks, names, books.
fn through_driver(
    shape: SparseShape,
    y: Vec<f64>,
    problem: Problem,
    screened: &Saola<FisherZ>,
) -> Result<()> {
    let (rows, features) = (shape.rows, shape.features);
    let make = move |j: u64| {
        let (mut index, mut value) = (Vec::new(), Vec::new());
        shape.column(j, &y, &mut index, &mut value);
        Ok(ColumnData::Sparse { rows, index, value: Numbers::F32(value) })
    };
    let mut source = Generated::new("shape", rows, features, make);
    let spec = MethodSpec::default().set("measure", "fisher-z");
    let method = registry::find("saola")?;
    let selector = registry::make(method, &spec, &problem, Budget::unlimited())?;
    let options = RunOptions { scans: 1, width: 1024, ..RunOptions::default() };
    let lanes = vec![Lane::new(problem, selector)];
    let report = Driver::new(&mut source, lanes, options)?.run(&mut Quiet)?;
    let same = report.lanes[0].selection.selected == screened.selection()?.selected;
    let select = report.select.as_secs_f64();
    println!(
        "through the driver   {select:8.3} s   {:.0} ns a feature, the same selection: {same}",
        1e9 * select / features as f64
    );
    Ok(())
}
