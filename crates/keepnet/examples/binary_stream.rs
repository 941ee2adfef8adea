//! SAOLA with symmetrical uncertainty on a stream of binary columns, against plain code.
//!
//! ```text
//! cargo run --release --example binary_stream -- [features, default 100000] [plain, default 4000]
//! ```
//!
//! n = 10,000 rows, two classes, informative columns in families. The first `plain` features
//! also go through SAOLA written plainly: a byte a value, a contingency table by one pass over
//! the rows for every test, logarithms for every cell. Both must select the same features; the
//! ratio of their times on these is printed, and the time of ours on the whole stream.

mod common;

use std::time::{Duration, Instant};

use common::peak_mib;
use keepnet::data::generator;
use keepnet::{
    Budget, ColumnData, Driver, Generated, Lane, MethodSpec, Problem, Quiet, Result, RunOptions,
    RunReport, registry,
};
use rand::{Rng, RngExt};

const ROWS: usize = 10_000;
const FAMILIES: u64 = 64;

/// Bits of column `j`: one in sixteen belongs to a family that follows the classes.
fn column(j: u64, y: &[f64]) -> Vec<u64> {
    let mut random = generator(2, j);
    // The AND of a few random words gives densities 1/2, 1/4, 1/8.
    let sparse = |random: &mut dyn Rng, times: u64| {
        (0..times).fold(u64::MAX, |word, _| word & random.next_u64())
    };
    let density = 1 + j % 3;
    let mut words: Vec<u64> =
        (0..ROWS.div_ceil(64)).map(|_| sparse(&mut random, density)).collect();
    if j.is_multiple_of(16) {
        let mut family = generator(3, j / 16 % FAMILIES);
        let (follow, noise) = (0.1 + 0.5 * family.random::<f64>(), 0.3 * random.random::<f64>());
        for (i, y) in y.iter().enumerate() {
            let base = if family.random::<f64>() < follow { *y == 1.0 } else { family.random() };
            if random.random::<f64>() >= noise {
                words[i / 64] &= !(1 << (i % 64));
                words[i / 64] |= u64::from(base) << (i % 64);
            }
        }
    }
    let last = words.len() - 1;
    words[last] &= (1 << (ROWS % 64)) - 1;
    words
}

fn ours(features: u64, y: &[f64]) -> Result<RunReport> {
    let target = y.to_vec();
    let make = move |j| Ok(ColumnData::Bits { rows: ROWS, words: column(j, &target) });
    let mut source = Generated::new("bits", ROWS, features, make);
    let problem = Problem::binary(y);
    let spec = MethodSpec::default().set("measure", "su").set("delta", 0.001);
    let method = registry::find("saola")?;
    let selector = registry::make(method, &spec, &problem, Budget::unlimited())?;
    let options = RunOptions { scans: 1, width: 256, ..RunOptions::default() };
    Driver::new(&mut source, vec![Lane::new(problem, selector)], options)?.run(&mut Quiet)
}

/// Symmetrical uncertainty from a table counted row by row.
fn plain_su(a: &[u8], b: &[u8]) -> f64 {
    let mut table = [[0u32; 2]; 2];
    for (a, b) in a.iter().zip(b) {
        table[usize::from(*a)][usize::from(*b)] += 1;
    }
    let n = a.len() as f64;
    let h = |counts: &[u32]| -> f64 {
        let p = counts.iter().filter(|c| **c > 0).map(|c| f64::from(*c) / n);
        p.map(|p| -p * p.log2()).sum()
    };
    let [[c00, c01], [c10, c11]] = table;
    let (ha, hb) = (h(&[c00 + c01, c10 + c11]), h(&[c00 + c10, c01 + c11]));
    2.0 * (ha + hb - h(&[c00, c01, c10, c11])) / (ha + hb)
}

/// Algorithm 1 written plainly; returns the selection and the time without making columns.
fn plain(features: u64, y: &[f64]) -> (Vec<u64>, Duration) {
    let y_bytes: Vec<u8> = y.iter().map(|y| *y as u8).collect();
    let mut kept: Vec<(u64, f64, Vec<u8>)> = Vec::new();
    let mut time = Duration::ZERO;
    for j in 0..features {
        let words = column(j, y);
        let x: Vec<u8> = (0..ROWS).map(|i| (words[i / 64] >> (i % 64) & 1) as u8).collect();
        let start = Instant::now();
        let score = plain_su(&x, &y_bytes);
        let mut dropped = score <= 0.001;
        let mut at = 0;
        while at < kept.len() && !dropped {
            let t = plain_su(&x, &kept[at].2);
            let other = kept[at].1;
            dropped = other > score && t >= score;
            if score > other && t >= other {
                kept.remove(at);
            } else {
                at += 1;
            }
        }
        if !dropped {
            kept.push((j, score, x));
        }
        time += start.elapsed();
    }
    (kept.into_iter().map(|kept| kept.0).collect(), time)
}

fn main() -> Result<()> {
    let argument = |at: usize, default: u64| {
        std::env::args().nth(at).and_then(|s| s.parse().ok()).unwrap_or(default)
    };
    let (features, few) = (argument(1, 100_000), argument(2, 4_000));
    let mut random = generator(1, 0);
    let y: Vec<f64> = (0..ROWS).map(|_| f64::from(random.random_range(0..2))).collect();

    let report = ours(few, &y)?;
    let (want, time) = plain(few, &y);
    let mut got: Vec<_> = report.lanes[0].selection.selected.clone();
    got.sort_by_key(|s| s.order);
    let got: Vec<u64> = got.iter().map(|s| s.id.index).collect();
    let (plain, packed) = (time.as_secs_f64(), report.select.as_secs_f64());
    println!("{few} features of {ROWS} rows, {} selected", want.len());
    println!("plain tables     {plain:8.3} s   {:.2} us a feature", 1e6 * plain / few as f64);
    println!("packed           {packed:8.3} s   {:.2} us a feature", 1e6 * packed / few as f64);
    println!("ratio            {:8.1}     the same list: {}", plain / packed, got == want);

    let report = ours(features, &y)?;
    let select = report.select.as_secs_f64();
    println!(
        "{features} features: {select:.3} s, {:.2} us a feature, {} selected, {:?}",
        1e6 * select / features as f64,
        report.lanes[0].selection.selected.len(),
        report.lanes[0].selection.metrics
    );
    println!("peak memory      {} MiB", peak_mib().map_or("unknown".into(), |p| format!("{p:.1}")));
    Ok(())
}
