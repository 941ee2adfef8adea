//! Selects three of 100,000 features that are made as they are asked for; nothing is stored.

use keepnet::select::substitution::os_plus::{OsPlus, OsPlusParams};
use keepnet::{Budget, ColumnData, Driver, Generated, Lane, Problem, Quiet, Result, RunOptions};

const ROWS: usize = 500;
const NOISE: u64 = 1 << 20;

/// Feature `j` at row `i`: uniform from -1 to 1, and the same each time it is asked for.
fn value(i: usize, j: u64) -> f32 {
    let mut z = (j << 32 | i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ z >> 31) >> 40) as f32 / (1 << 23) as f32 - 1.0
}

fn main() -> Result<()> {
    let mut source = Generated::new("uniform", ROWS, 100_000, |j| {
        Ok(ColumnData::f32((0..ROWS).map(|i| value(i, j)).collect()))
    });
    let y = |i| 3.0 * value(i, 7) - 2.0 * value(i, 50_000) + value(i, 99_999) + value(i, NOISE);
    let problem = Problem::regression((0..ROWS).map(|i| f64::from(y(i))).collect());

    let selector = OsPlus::new(OsPlusParams::new(3), &problem, Budget::bytes(1 << 20))?;
    let lane = Lane::new(problem, Box::new(selector));
    let report = Driver::new(&mut source, vec![lane], RunOptions::default())?.run(&mut Quiet)?;

    let selection = &report.lanes[0].selection;
    println!("{} features seen in {} scans", report.features_seen, report.scans);
    println!("{} substitutions", selection.substitutions);
    for feature in &selection.selected {
        println!("{:>6}  {:8.4}", feature.name, feature.coefficient[0]);
    }
    Ok(())
}
