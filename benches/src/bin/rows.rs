//! Rows from files to a selection, and an active set at 100,000 features within 200 MB.
//!
//! The first part writes the slides' design as CSV and as Parquet and runs `olsth` from each,
//! end to end, beside what bounds it: reading the bytes of the file once, and the accumulation of
//! the same rows from memory. The second part runs `ofsa` on an active set over rows made on the
//! fly and measures the peak of the process; the bound is 200 MB.
//!
//! Usage: rows [n] [p] [rounds] [wide-n=4000] [wide-p=100000]; the defaults are 20,000, 1000, 2.

use std::path::Path;

use keepnet::data::generator;
use keepnet::registry::{self, MethodSpec};
use keepnet::run::{RowCounts, RowDriver, RowObserver, RowOptions};
use keepnet::{Budget, ColumnData, Error, Flow, Result, Row, RowBlock, RowLearner};
use keepnet::{RowProblem, SampleSource, Selection};
use keepnet_bench::{Args, Seconds, load, mib, peak_bytes, reset_peak, timed};
use keepnet_io::sink::{self, Cells, Columns, Field, FieldKind};
use keepnet_io::{Format, OpenOptions, ProblemSpec, open_rows};
use rand::RngExt;

/// Bytes that the active set may take in all.
const BOUND: u64 = 200_000_000;

fn main() -> Result<()> {
    let mut args = Args::parse("rows [n] [p] [rounds] [wide-n=4000] [wide-p=100000]");
    let (n, p, rounds) = (args.at(0, 20_000), args.at(1, 1000), args.at(2, 2));
    let number =
        |text: Option<String>, default| text.and_then(|t| t.parse().ok()).unwrap_or(default);
    let wide_n: u64 = number(args.take("wide-n"), 4000);
    let wide_p = number(args.take("wide-p"), 100_000) as usize;
    // Threads hold memory of their own and rows are read by one: one thread is measured.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    pool.install(|| {
        wide(wide_n, wide_p)?;
        files(n, p, rounds)
    })
}

/// Rows of a common factor and uniform noise, `y` the sum of every `step`-th feature and noise.
struct Rows {
    names: Vec<String>,
    left: u64,
    step: usize,
    random: rand_xoshiro::Xoshiro256PlusPlus,
}

impl Rows {
    fn new(n: u64, p: usize, step: usize) -> Self {
        let names = (0..p).map(|j| format!("f{j}")).collect();
        Self { names, left: n, step, random: generator(3, 5) }
    }

    /// Mean 0, variance 1: cheap, as the rows are not what is measured.
    fn noise(&mut self) -> f32 {
        12f32.sqrt() * (self.random.random::<f32>() - 0.5)
    }
}

impl SampleSource for Rows {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn rows(&self) -> Option<u64> {
        Some(self.left)
    }

    fn fingerprint(&self) -> u64 {
        0
    }

    fn next_block(&mut self, out: &mut RowBlock) -> Result<bool> {
        let p = self.names.len();
        while out.room() > 0 && self.left > 0 {
            let z = self.noise();
            let x: Vec<f32> = (0..p).map(|_| z + self.noise()).collect();
            let sum: f32 = x.iter().skip(self.step - 1).step_by(self.step).sum();
            let y = f64::from(sum + self.noise());
            out.push(Row::F32(&x), y, 1.0)?;
            self.left -= 1;
        }
        Ok(self.left > 0)
    }
}

struct Quiet;

impl RowObserver for Quiet {
    fn progress(&mut self, _: &RowCounts, _: &dyn RowLearner) -> Result<Flow> {
        Ok(Flow { save: false, stop: false })
    }
}

/// One run; the selection at its end.
fn learn(
    source: &mut dyn SampleSource,
    method: &str,
    spec: &MethodSpec,
    budget: Budget,
) -> Result<Selection> {
    let problem = RowProblem { names: source.names().to_vec(), ..RowProblem::default() };
    let mut learner = registry::make_rows(registry::find(method)?, spec, &problem, budget)?;
    RowDriver::new(source, learner.as_mut(), RowOptions::default()).run(&mut Quiet)?;
    learner.selection()
}

fn found(selection: &Selection, step: usize) -> usize {
    selection.indices().iter().filter(|j| (**j + 1).is_multiple_of(step as u64)).count()
}

fn wide(n: u64, p: usize) -> Result<()> {
    let (step, k) = (p / 50, 50);
    println!("active set: n = {n}, p = {p}, k = {k}, load {}", load());
    let mut source = Rows::new(n, p, step);
    reset_peak();
    // What is left after the rows under way and the program itself.
    let budget = Budget::bytes(BOUND * 3 / 4);
    let spec = MethodSpec::k(k).set("iterations", 1000);
    let (time, selection) = timed(|| learn(&mut source, "ofsa", &spec, budget));
    let selection = selection?;
    println!(
        "  {:.1} s, {:.0} rows a second (making the rows included), {} of {k} found, {:?}",
        time.wall,
        n as f64 / time.wall,
        found(&selection, step),
        selection.metrics
    );
    match peak_bytes() {
        Some(peak) => println!(
            "  peak {:.1} MB of the whole process; the bound is {} MB: {}",
            peak as f64 / 1e6,
            BOUND / 1_000_000,
            if peak <= BOUND { "within" } else { "BEYOND" }
        ),
        None => println!("  the peak is not known on this system"),
    }
    Ok(())
}

/// Columns in memory, as a format wants them.
struct Table {
    fields: Vec<Field>,
    columns: Vec<Vec<f64>>,
    slice: std::ops::Range<usize>,
    at: usize,
}

impl Columns for Table {
    fn rows(&self) -> usize {
        self.columns[0].len()
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn start(&mut self, rows: std::ops::Range<usize>) -> Result<()> {
        (self.slice, self.at) = (rows, 0);
        Ok(())
    }

    fn next(&mut self) -> Result<Cells> {
        self.at += 1;
        let column = self.columns[self.at - 1][self.slice.clone()].to_vec();
        Ok(Cells::Numbers(ColumnData::dense(column)))
    }
}

fn table(n: usize, p: usize) -> Result<(Table, RowBlock)> {
    let mut block = RowBlock::new(p, n);
    Rows::new(n as u64, p, 10).next_block(&mut block)?;
    // Four digits, as text files have them.
    let round = |v: f64| (v * 1e4).round() / 1e4;
    let mut columns: Vec<Vec<f64>> =
        (0..p).map(|j| block.rows().map(|row| round(row.get(j))).collect()).collect();
    columns.push(block.y().iter().map(|y| round(*y)).collect());
    let field = |name: String| Field { name, kind: FieldKind::F32 };
    let mut fields: Vec<Field> = (0..p).map(|j| field(format!("f{j}"))).collect();
    fields.push(field("y".into()));
    Ok((Table { fields, columns, slice: 0..0, at: 0 }, block))
}

/// A block again and again, as a source.
struct Memory<'a>(&'a RowBlock, Vec<String>, usize);

impl SampleSource for Memory<'_> {
    fn names(&self) -> &[String] {
        &self.1
    }

    fn fingerprint(&self) -> u64 {
        0
    }

    fn next_block(&mut self, out: &mut RowBlock) -> Result<bool> {
        while out.room() > 0 && self.2 < self.0.len() {
            out.push(self.0.row(self.2), self.0.y()[self.2], 1.0)?;
            self.2 += 1;
        }
        Ok(self.2 < self.0.len())
    }
}

fn files(n: usize, p: usize, rounds: usize) -> Result<()> {
    println!("rows from files: olsth, n = {n}, p = {p}, k = {}, load {}", p / 10, load());
    let dir = tempfile::tempdir().map_err(|e| Error::io("a temporary directory", e))?;
    let (mut table, block) = table(n, p)?;
    let spec = MethodSpec::k(p / 10);
    let names: Vec<String> = (0..p).map(|j| format!("f{j}")).collect();
    let mut memory = Seconds::NONE;
    for _ in 0..rounds {
        let mut source = Memory(&block, names.clone(), 0);
        let (time, done) = timed(|| learn(&mut source, "olsth", &spec, Budget::unlimited()));
        done?;
        memory = memory.best(time);
    }
    println!("  from memory: {:.0} rows a second", n as f64 / memory.cpu);
    for name in ["csv", "parquet"] {
        let path = dir.path().join(format!("d.{name}"));
        let format =
            Format::from_path(name).or_else(|_| Format::from_path(&path.to_string_lossy()))?;
        let file = std::fs::File::create(&path).map_err(|e| Error::io("the file", e))?;
        sink::write(format, Box::new(std::io::BufWriter::new(file)), &mut table, 256 << 20)?;
        one_file(&path, name, (n, rounds), &spec, memory)?;
    }
    Ok(())
}

fn one_file(
    path: &Path,
    name: &str,
    (n, rounds): (usize, usize),
    spec: &MethodSpec,
    memory: Seconds,
) -> Result<()> {
    let (mut best, mut read, mut bytes, mut hits) = (Seconds::NONE, Seconds::NONE, 0, 0);
    for _ in 0..rounds {
        let (time, all) = timed(|| std::fs::read(path));
        bytes = all.map_err(|e| Error::io("the file", e))?.len();
        read = read.best(time);
        let (time, selection) = timed(|| {
            let rows = ProblemSpec { target: "y".into(), ..ProblemSpec::default() };
            let input = [path.to_string_lossy().into_owned()];
            let mut source = open_rows(&input, &rows, &OpenOptions::default())?;
            learn(&mut source, "olsth", spec, Budget::unlimited())
        });
        hits = found(&selection?, 10);
        best = best.best(time);
    }
    println!(
        "  {name}: {:.0} rows a second ({:.0} MB/s of {:.0} MiB), {:.1} times reading the bytes \
         once, {:.2} times the same rows from memory; {hits} of {} found",
        n as f64 / best.cpu,
        bytes as f64 / 1e6 / best.cpu,
        mib(bytes as u64),
        best.cpu / read.cpu.max(1e-9),
        best.cpu / memory.cpu,
        spec.k.unwrap_or(0)
    );
    Ok(())
}
