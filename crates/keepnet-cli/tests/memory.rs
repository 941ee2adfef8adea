//! `--memory` is held while files are read, `--time` acts meanwhile, and a mapped file that
//! shrinks ends the run with one line.
//!
//! Where a run is refused it happens under a limit on the process's memory that it would pass if
//! it allocated first; where it goes on, its peak is that of its own result.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::skipped::skipped;
use common::{Called, Folder};

const MIB: u64 = 1 << 20;
const NO_PEAK: &str = "peaks of memory: the kernel does not tell them";

/// Runs the program with at most `mebibytes` of address space.
fn within(folder: &Folder, mebibytes: u64, words: &str) -> Called {
    let program = assert_cmd::cargo::cargo_bin!("keepnet");
    let script = format!("ulimit -v {}; exec {} {words}", mebibytes << 10, program.display());
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(folder.0.path());
    Called::new(&command.output().unwrap())
}

/// The peak of a run's resident memory, and that of the program with next to nothing to do.
fn peak(folder: &Folder, words: &str) -> Option<(u64, u64)> {
    folder.write("tiny.csv", "a,y\n1,2\n2,1\n3,5\n4,4\n");
    let least = folder.select("tiny.csv --target y -k 1")["run"]["peak_bytes"].as_u64();
    let peak = folder.select(words)["run"]["peak_bytes"].as_u64();
    let known = peak.zip(least);
    if known.is_none() {
        skipped(NO_PEAK);
    }
    known
}

#[test]
fn lies_about_columns_and_rows_are_refused_in_little_memory() {
    let folder = Folder::new();
    folder.write("i.svm", "1 1:2 100000000:3\n0 2:1\n");
    for method in ["", "--method ofs"] {
        let called = within(&folder, 400, &format!("select i.svm -k 1 --memory 100MB {method}"));
        called.refused(1, &["i.svm", "columns needs", "--memory"]);
    }
    let mut header = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775808), }";
    header.extend(format!("{text:<117}\n").bytes());
    folder.write("z.npy", header).write("y.csv", "y\n1\n2\n");
    for method in ["os", "olsth"] {
        let called =
            within(&folder, 400, &format!("select z.npy --target y.csv -k 1 --method {method}"));
        called.refused(1, &["z.npy", "no values"]);
    }
}

/// 200 MB of text in one line, from 20 KB of zstd.
#[test]
fn a_line_without_end_is_refused_in_little_memory() {
    let folder = Folder::new();
    let mut text = b"a,y\n1,2\n\"3".to_vec();
    text.resize(200_000_000, b'x');
    folder.write("x.csv.zst", zstd::encode_all(&text[..], 1).unwrap());
    drop(text);
    for method in ["", "--method olsth"] {
        let words = format!("select x.csv.zst --target y -k 1 {method}");
        within(&folder, 600, &format!("{words} --memory 100MB")).refused(1, &["x.csv.zst", "line"]);
        within(&folder, 900, &words).refused(1, &["longer than 64000000 bytes", "--max-line"]);
        let short = within(&folder, 600, &format!("{words} --max-line 1MB"));
        short.refused(1, &["longer than 1000000 bytes"]);
    }
    folder.run("select x.csv.zst --target y -k 1 --max-line x").refused(2, &["max-line", "300MB"]);
}

/// Each line has a key of its own: 3,000 columns of 3,000 rows from 60 KB.
#[test]
fn many_keys_stay_within_the_memory() {
    let folder = Folder::new();
    let line = |r: u64| format!("{{\"k{r}\":1,\"y\":{}}}\n", r * r % 17);
    folder.write("x.jsonl", (0..3000).map(line).collect::<String>());
    let words = "x.jsonl --target y -k 1 --memory 100MB --missing zero";
    let Some((peak, least)) = peak(&folder, words) else { return };
    assert!(peak < least.max(60 * MIB) + 60 * MIB, "{} MiB", peak / MIB);
}

/// 300 tables of 200 by 50 numbers are 24 MB together, each of them far below the limit.
#[test]
fn many_files_share_the_memory() {
    let folder = Folder::new();
    for file in 0..300 {
        let names: Vec<String> = (0..50).map(|j| format!("f{file}_{j}")).collect();
        let mut text = names.join(",") + if file == 0 { ",y\n" } else { "\n" };
        for r in 0..200 {
            let cell =
                |j: usize| format!("0.{}", (file * 7919 + r * 104_729 + j * j * 31) % 99_991);
            text += &(0..50).map(cell).collect::<Vec<_>>().join(",");
            text += &if file == 0 { format!(",{}\n", r * r % 17) } else { "\n".into() };
        }
        folder.write(&format!("{file:03}.csv"), text);
    }
    let result = folder.select("*.csv --target y -k 2 --memory 30MB");
    assert_eq!(result["features_seen"], 15_000);
    match result["run"]["peak_bytes"].as_u64() {
        Some(peak) => assert!(peak < 30_000_000, "{} MiB", peak / MIB),
        None => skipped(NO_PEAK),
    }
}

/// Rows of 400 columns: with a page of each the run's peak is some 60 MB.
#[test]
fn rows_of_parquet_stay_within_the_memory() {
    let folder = Folder::new();
    folder.run("generate wide --set p=400 --set n=30000 --output x.parquet").fine();
    let words = "x.parquet --target target -k 5 --method olsth";
    let free = folder.select(words);
    let tight = folder.select(&format!("{words} --memory 40MB"));
    assert_eq!(tight["selected"], free["selected"]);
    let Some(peak) = tight["run"]["peak_bytes"].as_u64() else {
        skipped(NO_PEAK);
        return;
    };
    assert!(peak < 40_000_000, "{} MiB", peak / MIB);
    let said = folder.run(&format!("select {words} --memory 40MB --dry-run")).out;
    let line = said.lines().find(|line| line.starts_with("memory")).unwrap();
    // What is foretold is more than a method alone takes, and no more than the limit.
    assert!(line.contains("MiB, limit 38.1 MiB"), "{line}");
    let foretold: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(foretold < 38.1 && foretold * 1.1 > (peak / MIB) as f64, "{line}, peak {peak}");
}

/// The clock is looked at while standard input is still being read.
#[test]
fn time_ends_the_opening_of_files() {
    let folder = Folder::new();
    let mut command = folder.command("select - --format csv --target y -k 1 --time 1s");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let lines = "1,2,3\n".repeat(10_000);
        let _ = input.write_all(b"a,b,y\n");
        let start = Instant::now();
        // Until the program has gone; a minute is more than it should ever take.
        while start.elapsed() < Duration::from_secs(60) && input.write_all(lines.as_bytes()).is_ok()
        {
            std::thread::sleep(Duration::from_millis(5));
        }
        start.elapsed()
    });
    let called = Called::new(&child.wait_with_output().unwrap());
    called.refused(1, &["--time", "files were opened", "nothing was selected"]);
    assert!(writer.join().unwrap() < Duration::from_secs(30));
}

/// A file of holes is cut while it is scanned again and again.
#[test]
fn a_mapped_file_that_shrinks_is_one_line() {
    let folder = Folder::new();
    let mut header = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let text = "{'descr': '<f8', 'fortran_order': True, 'shape': (1000, 20000), }";
    header.extend(format!("{text:<117}\n").bytes());
    folder.write("x.npy", header);
    let file = std::fs::File::options().write(true).open(folder.path("x.npy")).unwrap();
    file.set_len(128 + 8 * 1000 * 20_000).unwrap();
    let y: String = (0..1000).map(|r| format!("{}\n", r * r % 31)).collect();
    folder.write("y.csv", format!("y\n{y}"));
    let mut command = folder.command("select x.npy --target y.csv -k 1 --scans 100000 --quiet");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    file.set_len(100_000).unwrap();
    let called = Called::new(&child.wait_with_output().unwrap());
    called.refused(1, &["became shorter while it was read"]);
}
