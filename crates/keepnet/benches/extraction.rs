//! Seconds of an extraction at p = 1000, k = 100 beside the slides' own, one thread.
//!
//! ```text
//! cargo bench -p keepnet --bench extraction [-- NAME]
//! ```
//!
//! The design is the slides': n = 10,000, beta = 0.1, a common factor. Their machine is unknown;
//! the ratio asked of ours is 3 for OLSth, 10 for OFSA, 50 for the penalised.

mod common;

use common::clock;
use keepnet::data::generator;
use keepnet::learn::{
    AnnealedRidge, AnnealedRidgeParams, AveragesParams, Extract, Oalasso, OalassoParams, Oelnet,
    OelnetParams, Ofsa, OfsaParams, Olasso, OlassoParams, OlsParams, Olsth, Omcp, OmcpParams,
    Oscad, OscadParams, RunningAverages, Solver,
};
use keepnet::{Result, Row, RowBlock};
use rand::RngExt;
use rand_distr::StandardNormal;

const ROUNDS: usize = 4;
/// Seconds of one measurement.
const SECONDS: f64 = 0.15;
const P: usize = 1000;
const K: usize = 100;

fn averages() -> Result<RunningAverages> {
    let mut random = generator(1, 1);
    let mut averages = RunningAverages::new(P, 0, AveragesParams::default())?;
    let mut block = RowBlock::new(P, 1000);
    for _ in 0..10 {
        block.reset(1000);
        for _ in 0..1000 {
            let z: f32 = random.sample(StandardNormal);
            let x: Vec<f32> = (0..P).map(|_| z + random.sample::<f32, _>(StandardNormal)).collect();
            let noise: f64 = random.sample(StandardNormal);
            let sum: f32 = x.iter().skip(9).step_by(10).sum();
            block.push(Row::F32(&x), 0.1 * f64::from(sum) + noise, 1.0)?;
        }
        averages.push(&block)?;
    }
    Ok(averages)
}

/// The slides' seconds (least and most over their rows) and the ratio asked.
type Slides = Option<(f64, f64, f64)>;
type Case = (&'static str, Slides, Box<dyn Extract>);

fn cases() -> Result<Vec<Case>> {
    let ofsa = |iterations| Ofsa::new(OfsaParams { iterations, ..OfsaParams::default() });
    let lasso = |solver| Olasso::new(OlassoParams { solver, lambda: None });
    let mcp = |gamma| Omcp::new(OmcpParams { gamma, ..OmcpParams::default() });
    let ridge = |drop| AnnealedRidge::new(AnnealedRidgeParams { drop, ..Default::default() });
    Ok(vec![
        ("olsth", Some((0.051, 0.052, 3.0)), Box::new(Olsth::new(OlsParams::default())?)),
        ("ofsa N=1000", Some((0.266, 0.267, 10.0)), Box::new(ofsa(1000)?)),
        ("ofsa N=3000", Some((0.266, 0.267, 10.0)), Box::new(ofsa(3000)?)),
        ("olasso lars", Some((3.989, 54.5, 50.0)), Box::new(lasso(Solver::Lars)?)),
        ("olasso cd", Some((3.989, 54.5, 50.0)), Box::new(lasso(Solver::Cd)?)),
        ("oelnet", Some((5.814, 7.706, 50.0)), Box::new(Oelnet::new(OelnetParams::default())?)),
        ("oalasso", Some((2.692, 7.258, 50.0)), Box::new(Oalasso::new(OalassoParams::default())?)),
        ("omcp gamma=3", Some((9.843, 16.3, 50.0)), Box::new(mcp(3.0)?)),
        ("omcp gamma=10", Some((9.843, 16.3, 50.0)), Box::new(mcp(10.0)?)),
        ("oscad", None, Box::new(Oscad::new(OscadParams::default())?)),
        ("annealed-ridge", None, Box::new(ridge(0.1)?)),
        ("  drop .3", None, Box::new(ridge(0.3)?)),
    ])
}

fn run() -> Result<()> {
    let averages = averages()?;
    let start = clock();
    let gram = averages.gram()?;
    println!("standardising: {:.4} s", clock() - start);
    let only = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    println!(
        "{:>16} {:>16} {:>9} {:>7} {:>6} {:>5}",
        "method", "slides", "ours", "ratio", "asked", "found"
    );
    for (name, slides, method) in cases()? {
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let mut best = f64::INFINITY;
        let mut found = 0;
        for _ in 0..ROUNDS {
            let (start, mut calls) = (clock(), 0.0);
            while clock() - start < SECONDS {
                let set = method.choose(&gram, K)?;
                gram.refit(&set)?;
                found = set.iter().filter(|j| *j % 10 == 9).count();
                calls += 1.0;
            }
            best = best.min((clock() - start) / calls);
        }
        let (seconds, ratio, asked) = slides.map_or_else(
            || ["-"; 3].map(String::from).into(),
            |(least, most, asked)| {
                let ratio = format!("{:.1}", least / best);
                (format!("{least:.3}-{most:.3}"), ratio, asked.to_string())
            },
        );
        println!("{name:>16} {seconds:>16} {best:9.4} {ratio:>7} {asked:>6} {found:5}");
    }
    Ok(())
}

fn main() -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one");
    pool.install(run)
}
