//! Two classes on dense data: `os-plus` with the logistic loss on the papers' classes, the sign of
//! a signal of 100 features, two scans over f32 columns in memory. `peers/classes.py` runs others
//! on the same data and measures errors on other rows.
//!
//! Usage: classes [p] [seeds] [rounds] [scans=2] [out=DIR] [KEY=VALUE...]; the defaults are 5,000, 10
//! and 3.
//! `out=DIR` writes for each seed the columns, labels and features chosen, for the peers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keepnet::{ColumnData, Error, LossKind, MethodSpec, Result, RunOptions, Target};
use keepnet_bench::{Args, Seconds, load, pool, resident, select, timed};
use keepnet_papers::Workload;

/// Features to keep, and in the signal.
const K: usize = 100;
/// Rows that errors are measured on.
const TEST_ROWS: usize = 2_000;

fn main() -> Result<()> {
    let mut args = Args::parse("classes [p] [seeds] [rounds] [scans=2] [out=DIR] [KEY=VALUE...]");
    let (p, seeds, rounds) = (args.at(0, 5_000), args.at(1, 10), args.at(2, 3));
    let scans = args.take("scans").and_then(|text| text.parse().ok()).unwrap_or(2);
    let out = args.take("out").map(PathBuf::from);
    // As in the papers: sqrt(3) k log p rows.
    let n = (3f64.sqrt() * K as f64 * (p as f64).ln()) as usize;
    let mut spec = MethodSpec::k(K);
    spec.loss = Some(LossKind::Logistic);
    let spec = args.apply(spec);
    println!("classes: n = {n}, p = {p}, k = {K}, y = sign(Xw), {seeds} seeds, load {}", load());
    let (mut seconds, mut recall) = (0.0, 0.0);
    for seed in 0..seeds {
        // One data set, of which the last rows are held out.
        let workload = workload(n + TEST_ROWS, p, seed)?;
        let (x, y) = values(&workload, 0..n)?;
        let (x, problem) = (Arc::new(x), keepnet::Problem::binary(&y));
        let (mut best, mut found) = (Seconds::NONE, Vec::new());
        for _ in 0..rounds.max(1) {
            let mut source = resident(n, &x)?;
            let options = RunOptions { scans, ..RunOptions::default() };
            let run = || select(&mut source, problem.clone(), "os-plus", &spec, options);
            let (time, selection) = pool(1).install(|| timed(run));
            best = best.best(time);
            found = selection?.indices();
        }
        let truth: Vec<u64> = workload.truth().iter().map(|(j, _)| *j).collect();
        recall += truth.iter().filter(|j| found.contains(j)).count() as f64 / K as f64;
        seconds += best.cpu;
        if let Some(out) = &out {
            write(out, seed, (&x, &y), &values(&workload, n..n + TEST_ROWS)?, &truth, &found)?;
        }
    }
    let mean = |sum: f64| sum / seeds.max(1) as f64;
    println!(
        "  os-plus, {scans} scans, one thread: processor {:.3} s, recall {:.3}",
        mean(seconds),
        mean(recall)
    );
    Ok(())
}

fn workload(n: usize, p: usize, seed: usize) -> Result<Workload> {
    let settings = [("n", n), ("p", p), ("s", K), ("seed", seed)];
    let settings: BTreeMap<String, String> =
        settings.map(|(key, value)| (key.to_string(), value.to_string())).into();
    Workload::parse("classification", &settings)
}

/// Some rows, feature by feature, with their labels.
fn values(workload: &Workload, rows: std::ops::Range<usize>) -> Result<(Vec<f32>, Vec<f64>)> {
    let mut x = Vec::with_capacity(rows.len() * workload.features() as usize);
    let mut all = vec![0.0; workload.rows()];
    for j in 0..workload.features() {
        let column: ColumnData = workload.column(j);
        column.view().fill(&mut all);
        x.extend(all[rows.clone()].iter().map(|x| *x as f32));
    }
    match workload.target() {
        classes @ Target::Classes { .. } => Ok((x, classes.outputs().remove(0)[rows].to_vec())),
        Target::Numbers(_) => Err(Error::Data("the workload has no classes".into())),
    }
}

/// `train-SEED.f32` and `test-SEED.f32` feature by feature with the labels as last column, and
/// `truth-SEED.txt` and `found-SEED.txt` with a feature a line.
fn write(
    out: &Path,
    seed: usize,
    train: (&[f32], &[f64]),
    test: &(Vec<f32>, Vec<f64>),
    truth: &[u64],
    found: &[u64],
) -> Result<()> {
    let put = |name: String, bytes: &[u8]| {
        let path = out.join(name);
        std::fs::write(&path, bytes).map_err(|e| Error::io(path.display().to_string(), e))
    };
    for (name, (x, y)) in [("train", train), ("test", (test.0.as_slice(), test.1.as_slice()))] {
        let mut all = x.to_vec();
        all.extend(y.iter().map(|y| *y as f32));
        put(format!("{name}-{seed}.f32"), bytemuck::cast_slice(&all))?;
    }
    for (name, features) in [("truth", truth), ("found", found)] {
        let lines: String = features.iter().map(|j| format!("{j}\n")).collect();
        put(format!("{name}-{seed}.txt"), lines.as_bytes())?;
    }
    Ok(())
}
