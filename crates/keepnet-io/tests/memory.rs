//! Peak resident memory of files much larger than the limit. One test, so that the process's
//! peak is that of the steps below; where the kernel does not tell, it says so and stops.

mod common;

use std::io::Write;

use common::Dir;
use common::write::npy_header;
use keepnet::{ColumnBlock, FeatureSource};
use keepnet_io::{OpenOptions, open};

const MIB: u64 = 1 << 20;

/// The most resident memory so far, in bytes.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

/// Reads every column and touches every value; their sum.
fn scan(path: &str, memory: u64) -> f64 {
    let options = OpenOptions { memory: Some(memory), ..Default::default() };
    let mut source = open(&[path.to_string()], &options).unwrap().source(&[]).unwrap();
    let ones = vec![1.0; source.rows()];
    let (mut block, mut sum) = (ColumnBlock::new(32), 0.0);
    loop {
        block.reset(32);
        if !source.next_block(&mut block).unwrap() {
            return sum;
        }
        sum += block.columns().iter().map(|c| c.data.view().dot(&ones)).sum::<f64>();
    }
}

#[test]
fn peak_memory_stays_under_the_limit() {
    let Some(before) = peak() else {
        println!("skipped: the kernel does not tell the peak of resident memory");
        return;
    };
    let dir = Dir::new();
    // 320 MB that are all holes: read as zeros, mapped as any other file.
    let npy = dir.write("x.npy", npy_header("<f4", true, &[20_000, 4_000]));
    let file = std::fs::OpenOptions::new().write(true).open(&npy).unwrap();
    file.set_len(file.metadata().unwrap().len() + 320_000_000).unwrap();
    assert_eq!(scan(&npy, 64 * MIB), 0.0);
    let used = peak().unwrap() - before;
    assert!(used < 40 * MIB, "npy: {} MiB", used / MIB);

    // 48 MB of text that become 96 MB of numbers, with room for 16 MB of them.
    let csv = dir.path("x.csv");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&csv).unwrap());
    let row = |r: usize| (0..300).map(|c| format!("0.{}", (r + c) % 7)).collect::<Vec<_>>();
    for r in 0..40_000 {
        writeln!(file, "{}", row(r).join(",")).unwrap();
    }
    drop(file);
    // 0.0 to 0.6 in turn, over 40,000 rows and 300 columns: the mean is 0.3.
    let mean = scan(&csv, 32 * MIB) / 12e6;
    assert!((mean - 0.3).abs() < 1e-3, "{mean}");
    let used = peak().unwrap() - before;
    assert!(used < 64 * MIB, "csv: {} MiB", used / MIB);
}
