//! Discrete columns: `saola` with symmetric uncertainty over u8 columns of two to five levels in
//! memory, none of which is widened.
//!
//! Usage: discrete [n] [p] [rounds]; the defaults are 2,000, 20,000 and 5.

use std::sync::Arc;

use keepnet::data::generator;
use keepnet::{Generated, MethodSpec, NumberKind, Problem, Result, RunOptions};
use keepnet_bench::{Args, Seconds, load, mib, peak_bytes, pool, select, timed};
use rand::RngExt;

fn main() -> Result<()> {
    let args = Args::parse("discrete [n] [p] [rounds]");
    let (n, p, rounds) = (args.at(0, 2_000), args.at(1, 20_000), args.at(2, 5));
    println!("discrete: n = {n}, p = {p}, u8 of 2 to 5 levels, load {}", load());
    let mut random = generator(1, 0);
    let y: Vec<f64> = (0..n).map(|_| f64::from(random.random_range(0..2_u8))).collect();
    let mut bytes = Vec::with_capacity(n * p);
    for j in 0..p {
        let levels = 2 + (j % 4) as u8;
        // One column in fifty follows the class in a third of its rows.
        let follows = j % 50 == 0;
        bytes.extend(y.iter().map(|y| match follows && random.random_range(0..3_u8) == 0 {
            true => *y as u8,
            false => random.random_range(0..levels),
        }));
    }
    let (bytes, problem) = (Arc::new(bytes), Problem::binary(&y));
    let spec = MethodSpec::default().set("measure", "su");
    let (mut best, mut kept, mut read) = (Seconds::NONE, 0, Seconds::NONE);
    for _ in 0..rounds.max(1) {
        let (time, sum) = timed(|| bytes.iter().map(|x| u64::from(*x)).sum::<u64>());
        assert!(sum > 0);
        read = read.best(time);
        let mut source = Generated::matrix(n, Arc::clone(&bytes) as _, NumberKind::U8)?;
        let options = RunOptions { scans: 1, ..RunOptions::default() };
        let run = || select(&mut source, problem.clone(), "saola", &spec, options);
        let (time, selection) = pool(1).install(|| timed(run));
        (best, kept) = (best.best(time), selection?.selected.len());
    }
    println!(
        "  saola, su, one thread: processor {:.4} s, {kept} kept; one sum of the bytes {:.4} s",
        best.cpu, read.wall
    );
    if let Some(peak) = peak_bytes() {
        println!("  peak {:.0} MiB, of which the columns {:.0}", mib(peak), mib((n * p) as u64));
    }
    Ok(())
}
