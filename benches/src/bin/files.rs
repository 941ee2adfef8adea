//! (c), (d) `os-plus` over a Fortran npy and a Parquet of the wide data.
//!
//! ```text
//! time   <= 1.5 (the same from memory + reading the file twice)
//! memory <= the kept set + 64 MiB, and the file's metadata on top for Parquet
//! ```
//!
//! Everything is measured in one run. Files are written to a temporary directory, deleted at
//! the end (`TMPDIR` says where), and read through the file cache, so reading is at its fastest.
//! The matrix is let go before the files are scanned; what is resident then is the base that
//! peaks are measured from.
//!
//! Usage: files [n] [p] [rounds] [key=value...]; the defaults are 20,000 x 50,000 and 1 round.

use std::fs::File;
use std::io::{BufWriter, Read};
use std::path::Path;
use std::sync::Arc;

use keepnet::selection::Value;
use keepnet::{Error, FeatureSource, MethodSpec, Problem, Result, RunOptions, Selection};
use keepnet_bench::{
    Args, MatrixColumns, Seconds, Wide, load, mib, peak_bytes, pool, reset_peak, resident,
    resident_bytes, select, thread_counts, timed,
};
use keepnet_io::{Format, OpenOptions, open, sink};

/// Bytes of the columns of one block: what the program takes without a memory limit.
const BLOCK: u64 = 32 << 20;
/// What a run from an npy file may take over the kept set.
const BOUND: u64 = 64 << 20;

struct Data {
    n: usize,
    y: Vec<f64>,
    truth: Vec<u64>,
    spec: MethodSpec,
    rounds: usize,
}

fn main() -> Result<()> {
    let args = Args::parse("files [n] [p] [rounds] [key=value...]");
    let (n, p, rounds) = (args.at(0, 20_000), args.at(1, 50_000), args.at(2, 1));
    let spec = args.apply(MethodSpec::k(100));
    println!("files: n = {n}, p = {p}, 100 true features, load {}", load());
    let dir = tempfile::tempdir().map_err(|e| Error::io("a temporary directory", e))?;
    let wide = Wide::new(n, p, 100, 0.1, 0);
    let formats = [(Format::Npy, "x.npy"), (Format::Parquet, "x.parquet")];
    for (format, name) in formats {
        let path = dir.path().join(name);
        let out = File::create(&path).map_err(|e| Error::io(name, e))?;
        let mut columns = MatrixColumns::new(n, &wide.x);
        sink::write(format, Box::new(BufWriter::new(out)), &mut columns, BOUND)?;
    }
    let data = Data { n, y: wide.y, truth: wide.truth, spec, rounds };
    let x = Arc::new(wide.x);
    let mut memory = Vec::new();
    for threads in thread_counts() {
        let pool = pool(threads);
        let time = pool.install(|| data.in_memory(&x))?;
        memory.push((threads, pool, time));
    }
    drop(x);
    for (threads, pool, memory) in memory {
        for (format, name) in formats {
            let path = dir.path().join(name);
            pool.install(|| data.through_file(&path, format, threads, memory))?;
        }
    }
    Ok(())
}

impl Data {
    fn in_memory(&self, x: &Arc<Vec<f32>>) -> Result<Seconds> {
        let mut best = Seconds::NONE;
        for _ in 0..self.rounds {
            let mut source = resident(self.n, x)?;
            let (time, selection) = timed(|| self.select(&mut source));
            selection?;
            best = best.best(time);
        }
        Ok(best)
    }

    fn select(&self, source: &mut dyn FeatureSource) -> Result<Selection> {
        let column = source.column_bytes().unwrap_or(8 * self.n as u64);
        let options =
            RunOptions { width: RunOptions::width_for(column, BLOCK), ..RunOptions::default() };
        select(source, Problem::regression(self.y.clone()), "os-plus", &self.spec, options)
    }

    fn through_file(
        &self,
        path: &Path,
        format: Format,
        threads: usize,
        memory: Seconds,
    ) -> Result<()> {
        let (mut read, mut best) = (Seconds::NONE, Seconds::NONE);
        let (mut metadata, mut peak, mut last) = (0, 0, None);
        for _ in 0..self.rounds {
            let (time, bytes) = timed(|| read_once(path));
            bytes?;
            read = read.best(time);
            reset_peak();
            let base = resident_bytes().unwrap_or(0);
            let (time, run) = timed(|| {
                let name = path.display().to_string();
                let mut source = open(&[name], &OpenOptions::default())?.source(&[])?;
                let opened = resident_bytes().unwrap_or(0).saturating_sub(base);
                Ok::<_, Error>((opened, self.select(&mut source)?))
            });
            let (opened, selection) = run?;
            best = best.best(time);
            // A later round finds memory that the first one left with the allocator.
            metadata = opened.max(metadata);
            peak = peak_bytes().unwrap_or(0).saturating_sub(base).max(peak);
            last = Some(selection);
        }
        let selection = last.ok_or_else(|| Error::param("rounds", 0, "at least 1"))?;
        let found = selection.indices();
        let hits = self.truth.iter().filter(|j| found.contains(j)).count();
        let sum = Seconds { wall: memory.wall + 2.0 * read.wall, cpu: memory.cpu + 2.0 * read.cpu };
        println!(
            "  {} {threads} thread(s): {:.3} s; from memory {:.3} s, reading twice {:.3} s: {:.2} \
             times their sum (processor time {:.2} times); the bound is 1.5; recall {:.2}",
            format.name(),
            best.wall,
            memory.wall,
            2.0 * read.wall,
            best.wall / sum.wall,
            best.cpu / sum.cpu,
            hits as f64 / self.truth.len() as f64,
        );
        let kept = self.kept_bytes(&selection);
        let metadata = if format == Format::Parquet { metadata } else { 0 };
        println!(
            "    peak {:.0} MiB: kept set {:.0}, metadata {:.0}, the rest {:.0}; the bound is 64",
            mib(peak),
            mib(kept),
            mib(metadata),
            mib(peak.saturating_sub(kept + metadata)),
        );
        Ok(())
    }

    /// Columns of the kept set and its reserve, as they are stored.
    fn kept_bytes(&self, selection: &Selection) -> u64 {
        let number = |name: &str| {
            selection.params.iter().find_map(|(key, value)| match value {
                Value::Int(value) if *key == name => Some(*value),
                _ => None,
            })
        };
        (number("k").unwrap_or(0) + number("reserve").unwrap_or(0)) * 4 * self.n as u64
    }
}

/// Reads a file from end to end and touches nothing of it.
fn read_once(path: &Path) -> Result<u64> {
    let name = || path.display().to_string();
    let mut file = File::open(path).map_err(|e| Error::io(name(), e))?;
    let (mut buffer, mut all) = (vec![0; 4 << 20], 0);
    loop {
        match file.read(&mut buffer).map_err(|e| Error::io(name(), e))? {
            0 => return Ok(all),
            bytes => all += bytes as u64,
        }
    }
}
