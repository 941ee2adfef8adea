//! What it costs to copy the columns of a npy or Arrow file and not to map it.
//!
//! ```text
//! cargo run --release -p keepnet-io --example copied -- x.npy 5
//! ```
//!
//! Both ways in turn, in one process; the best of the rounds. A scan reads every column and takes
//! one product with each.

use std::time::{Duration, Instant};

use keepnet::{ColumnBlock, FeatureSource, Result};
use keepnet_io::{OpenOptions, Reading, open};

fn scan(path: &str, reading: Reading) -> Result<(Duration, f64)> {
    let options = OpenOptions { reading, ..OpenOptions::default() };
    let mut source = open(&[path.to_string()], &options)?.source(&[])?;
    let ones = vec![1.0; source.rows()];
    let (mut block, mut sum, start) = (ColumnBlock::new(64), 0.0, Instant::now());
    loop {
        block.reset(64);
        if !source.next_block(&mut block)? {
            return Ok((start.elapsed(), sum));
        }
        sum += block.columns().iter().map(|c| c.data.view().dot(&ones)).sum::<f64>();
    }
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let path = words.next().unwrap_or_else(|| "x.npy".into());
    let rounds = words.next().and_then(|n| n.parse().ok()).unwrap_or(3);
    let mut best = [Duration::MAX; 2];
    for _ in 0..rounds {
        for (best, reading) in best.iter_mut().zip([Reading::Mapped, Reading::Copied]) {
            let (time, sum) = scan(&path, reading)?;
            *best = time.min(*best);
            println!("{reading:?}: {:.3} s (sum {sum:e})", time.as_secs_f64());
        }
    }
    println!("copied / mapped: {:.2}", best[1].as_secs_f64() / best[0].as_secs_f64());
    Ok(())
}
