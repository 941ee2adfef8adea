//! Error rates and power of the procedures of `screen`, by simulation.
//!
//! ```text
//! cargo run --release -p keepnet --example error_rates -- 200      # seeds
//! ```
//!
//! 200 rows, 2,000 features, Pearson's test at a level of 0.1. Designs: no feature is true; 20 of
//! independent normal features are; 20 are, and features come in blocks of 10 that share half of
//! their variance, true ones in blocks of their own. True features come first, which favours the
//! procedures on arrival. FDR is the mean share of false features among the selected, with its
//! standard error.

use keepnet::select::statistical::screen::Procedure;
use keepnet::{
    Budget, ColumnData, Driver, Generated, Lane, MethodSpec, Problem, Quiet, Result, RunOptions,
    registry,
};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

const ROWS: usize = 200;
const FEATURES: usize = 2000;
const TRUE: usize = 20;
const LEVEL: f64 = 0.1;

/// A design by its name: how many features are true, and how many share a block.
const DESIGNS: [(&str, usize, usize); 3] = [("null", 0, 1), ("iid", TRUE, 1), ("blocks", TRUE, 10)];

/// Columns and target of a seed; the true features come first.
fn draw(seed: u64, truth: usize, block: usize) -> (Vec<Vec<f32>>, Vec<f64>) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut normal = move || -> f64 { StandardNormal.sample(&mut random) };
    let mut columns = Vec::with_capacity(FEATURES);
    while columns.len() < FEATURES {
        let shared: Vec<f64> = (0..ROWS).map(|_| normal()).collect();
        for _ in 0..block {
            let part = if block == 1 { 0.0 } else { 0.5_f64.sqrt() };
            let own = (1.0 - part * part).sqrt();
            columns.push(shared.iter().map(|s| (part * s + own * normal()) as f32).collect());
        }
    }
    let effect = |i: usize, columns: &[Vec<f32>]| -> f64 {
        columns[..truth].iter().map(|x| 0.25 * f64::from(x[i])).sum()
    };
    let y = (0..ROWS).map(|i| effect(i, &columns) + normal()).collect();
    (columns, y)
}

/// For each procedure the selected features of one seed.
fn select(columns: Vec<Vec<f32>>, y: Vec<f64>) -> Result<Vec<Vec<u64>>> {
    let method = registry::find("screen")?;
    let problem = std::sync::Arc::new(Problem::regression(y));
    let mut lanes = Vec::new();
    for procedure in Procedure::ALL {
        let spec = MethodSpec::default()
            .set("test", "pearson")
            .set("procedure", procedure.name())
            .set("level", LEVEL);
        let selector = registry::make(method, &spec, &problem, Budget::unlimited())?;
        lanes.push(Lane::new(problem.clone(), selector));
    }
    let mut source = Generated::columns(ROWS, columns.into_iter().map(ColumnData::f32).collect());
    let report = Driver::new(&mut source, lanes, RunOptions::default())?.run(&mut Quiet)?;
    Ok(report.lanes.iter().map(|lane| lane.selection.indices()).collect())
}

fn main() -> Result<()> {
    let seeds: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(200);
    println!("design  procedure   FDR     s.e.    power   false a run");
    for (name, truth, block) in DESIGNS {
        let mut shares = vec![Vec::new(); Procedure::ALL.len()];
        let (mut found, mut wrong) = (vec![0; shares.len()], vec![0; shares.len()]);
        for seed in 0..seeds {
            let (columns, y) = draw(seed, truth, block);
            for (at, selected) in select(columns, y)?.iter().enumerate() {
                // In a block a neighbour of a true feature is not false: it is related to the target.
                let related = if truth == 0 { 0 } else { truth.next_multiple_of(block) as u64 };
                let bad = selected.iter().filter(|index| **index >= related).count();
                shares[at].push(bad as f64 / selected.len().max(1) as f64);
                wrong[at] += bad;
                found[at] += selected.iter().filter(|index| **index < truth as u64).count();
            }
        }
        for (at, procedure) in Procedure::ALL.into_iter().enumerate() {
            let n = seeds as f64;
            let mean = shares[at].iter().sum::<f64>() / n;
            let variance = shares[at].iter().map(|s| (s - mean) * (s - mean)).sum::<f64>();
            let error = (variance / (n - 1.0).max(1.0) / n).sqrt();
            let power = found[at] as f64 / (n * truth.max(1) as f64);
            let (label, wrong) = (procedure.name(), wrong[at] as f64 / n);
            println!("{name:<8}{label:<12}{mean:.3}   {error:.3}   {power:.3}   {wrong:.2}");
        }
    }
    Ok(())
}
