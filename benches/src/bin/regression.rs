//! Regression on dense data: `os-plus` on the papers' signal of 100 features, over f64 columns in
//! memory, with two scans and with three.
//!
//! Usage: regression [p] [seeds] [rounds] [noise=stated] [KEY=VALUE...]; the defaults are 6,000, 10
//! and 3. The noise is that of the papers' text; `noise=matched` is that of their curves.

use std::collections::BTreeMap;
use std::sync::Arc;

use keepnet::{Generated, MethodSpec, NumberKind, Problem, Result, RunOptions, Target};
use keepnet_bench::{Args, Seconds, load, pool, select, timed};
use keepnet_papers::Workload;

/// Features to keep, and in the signal.
const K: usize = 100;

fn main() -> Result<()> {
    let mut args = Args::parse("regression [p] [seeds] [rounds] [noise=stated] [KEY=VALUE...]");
    let (p, seeds, rounds) = (args.at(0, 6_000), args.at(1, 10), args.at(2, 3));
    let noise = args.take("noise").unwrap_or_else(|| "stated".into());
    // As in the papers: sqrt(3) k log p rows.
    let n = (3f64.sqrt() * K as f64 * (p as f64).ln()) as usize;
    let spec = args.apply(MethodSpec::k(K));
    println!(
        "regression: n = {n}, p = {p}, k = {K}, f64, noise {noise}, {seeds} seeds, load {}",
        load()
    );
    let mut runs = [2, 3].map(|scans| (scans, 0.0, 0.0));
    for seed in 0..seeds {
        let (bytes, problem, truth) = data(n, p, seed, &noise)?;
        for (scans, seconds, recall) in &mut runs {
            let (mut best, mut found) = (Seconds::NONE, Vec::new());
            for _ in 0..rounds.max(1) {
                let mut source = Generated::matrix(n, Arc::clone(&bytes) as _, NumberKind::F64)?;
                let options = RunOptions { scans: *scans, ..RunOptions::default() };
                let run = || select(&mut source, problem.clone(), "os-plus", &spec, options);
                let (time, selection) = pool(1).install(|| timed(run));
                best = best.best(time);
                found = selection?.indices();
            }
            *seconds += best.cpu;
            *recall += truth.iter().filter(|j| found.contains(j)).count() as f64 / K as f64;
        }
    }
    for (scans, seconds, recall) in runs {
        let mean = |sum: f64| sum / seeds.max(1) as f64;
        println!(
            "  os-plus, {scans} scans, one thread: processor {:.4} s, recall {:.3}",
            mean(seconds),
            mean(recall)
        );
    }
    Ok(())
}

/// The columns one after the other, the target, and the features of the signal.
fn data(n: usize, p: usize, seed: usize, noise: &str) -> Result<(Arc<Vec<u8>>, Problem, Vec<u64>)> {
    let settings = [("n", n), ("p", p), ("s", K), ("seed", seed)];
    let mut settings: BTreeMap<String, String> =
        settings.map(|(key, value)| (key.to_string(), value.to_string())).into();
    settings.insert("noise".into(), noise.into());
    let workload = Workload::parse("regression", &settings)?;
    let mut column = vec![0.0; n];
    let mut bytes = Vec::with_capacity(8 * n * p);
    for j in 0..workload.features() {
        workload.column(j).view().fill(&mut column);
        bytes.extend_from_slice(bytemuck::cast_slice(&column));
    }
    let problem = match workload.target() {
        Target::Numbers(y) => Problem::regression(y),
        Target::Classes { .. } => unreachable!("the workload has numbers"),
    };
    let truth = workload.truth().iter().map(|(j, _)| *j).collect();
    Ok((Arc::new(bytes), problem, truth))
}
