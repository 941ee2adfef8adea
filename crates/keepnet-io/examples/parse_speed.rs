//! How fast files are read: text against counting its lines, arrays against reading the file.
//!
//! `cargo run --release -p keepnet-io --example parse_speed [MB]` writes files of about that
//! size (100 by default) to the temporary directory, times each step several times on one
//! thread and on two, and prints the best; ratios are of processor time.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Float32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use keepnet::{ColumnBlock, FeatureSource};
use keepnet_io::{OpenOptions, open};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

/// A repeatable stream of numbers; its quality does not matter here.
struct Mix(u64);

impl Mix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
        self.0 >> 33
    }

    fn unit(&mut self) -> f64 {
        self.next() as f64 / (1_u64 << 31) as f64
    }
}

/// Nanoseconds of processor time of every thread, where the kernel tells; else of the clock.
fn processor(start: Instant) -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let spent = tasks.filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    });
    let sum: f64 = spent.sum();
    if sum > 0.0 { sum / 1e9 } else { start.elapsed().as_secs_f64() }
}

/// The least seconds of several runs, by the clock and of processor time.
#[derive(Clone, Copy)]
struct Best {
    wall: f64,
    cpu: f64,
}

fn best(mut work: impl FnMut()) -> Best {
    let mut best = Best { wall: f64::INFINITY, cpu: f64::INFINITY };
    for _ in 0..5 {
        let start = Instant::now();
        let before = processor(start);
        work();
        best.cpu = best.cpu.min(processor(start) - before);
        best.wall = best.wall.min(start.elapsed().as_secs_f64());
    }
    best
}

fn line(what: &str, bytes: usize, seconds: Best, base: Option<Best>) {
    let ratio = base.map_or(String::new(), |base| format!("{:8.2} x", seconds.cpu / base.cpu));
    let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
    let (wall, cpu) = (rate(seconds.wall), rate(seconds.cpu));
    println!("  {what:<44} {wall:7.0} MB/s  {cpu:7.0} MB/cpu-s {ratio}");
}

/// Opens a file and reads every column once.
fn scan(path: &str, threads: usize) -> Best {
    // Threads that end would take their processor time out of the sum.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let pool = Box::leak(Box::new(pool));
    best(|| {
        pool.install(|| {
            let data = open(&[path.to_string()], &OpenOptions::default()).expect("it was written");
            let mut source = data.source(&[]).expect("it has features");
            let (mut block, mut sum) = (ColumnBlock::new(64), 0.0_f32);
            loop {
                block.reset(64);
                if !source.next_block(&mut block).expect("it is whole") {
                    break;
                }
                for column in block.columns() {
                    // Every 16th f32: each cache line is touched, so mapped pages are read.
                    if let keepnet::Column::F32(x) = column.data.view() {
                        sum += x.iter().step_by(16).sum::<f32>();
                    }
                }
            }
            std::hint::black_box(sum);
        });
    })
}

fn text(what: &str, path: &str, text: &str, parse: impl Fn(&[u8]) -> usize) {
    std::fs::write(path, text).expect("the temporary directory is writable");
    let bytes = text.as_bytes();
    println!("{what}, {} MB", bytes.len() / 1_000_000);
    let count = best(|| {
        std::hint::black_box(memchr::memchr_iter(b'\n', bytes).count());
    });
    line("count lines (memchr)", bytes.len(), count, None);
    // In pieces of the size that the reader uses.
    let mut cuts = vec![0];
    while cuts[cuts.len() - 1] < bytes.len() {
        let want = (cuts[cuts.len() - 1] + (8 << 20)).min(bytes.len());
        let end = memchr::memrchr(b'\n', &bytes[..want]).map_or(want, |at| at + 1);
        cuts.push(end);
    }
    let parsed = best(|| {
        let sum: usize = cuts.windows(2).map(|cut| parse(&bytes[cut[0]..cut[1]])).sum();
        assert!(sum > 0);
    });
    line("parse, one core", bytes.len(), parsed, Some(count));
    for threads in [1, 2] {
        let seconds = scan(path, threads);
        let what = format!("read, parse, transpose, scan; {threads} threads");
        line(&what, bytes.len(), seconds, Some(count));
    }
}

fn csv(path: &str, target: usize) {
    let (mut mix, columns) = (Mix(1), 200);
    let names: Vec<String> = (0..columns).map(|c| format!("x{c}")).collect();
    let mut out = names.join(",") + "\n";
    let header = out.len();
    while out.len() < target {
        for c in 0..columns {
            let v = mix.unit() * 10.0 - 5.0;
            let end = if c + 1 == columns { '\n' } else { ',' };
            let _ = if c % 2 == 0 { write!(out, "{v:.6}{end}") } else { write!(out, "{v}{end}") };
        }
    }
    text("CSV, half six decimals, half all digits", path, &out, |bytes| {
        let skip = if bytes.starts_with(b"x0") { header } else { 0 };
        keepnet_io::speed::csv(&bytes[skip..], columns)
    });
}

fn svm(path: &str, target: usize) {
    let (mut mix, mut out) = (Mix(2), String::new());
    while out.len() < target {
        let _ = write!(out, "{}", mix.next() % 2);
        let mut index = 0;
        for _ in 0..400 {
            index += 1 + mix.next() % 2500;
            let _ = write!(out, " {index}:{:.5}", mix.unit());
        }
        out.push('\n');
    }
    text("svm, five decimals", path, &out, keepnet_io::speed::svm);
}

fn arrays(directory: &std::path::Path, target: usize) {
    let (rows, mut mix) = (20_000, Mix(3));
    let columns = target / 4 / rows;
    let values: Vec<f32> = (0..rows * columns).map(|_| mix.unit() as f32).collect();
    let npy = directory.join("x.npy");
    let mut text =
        format!("{{'descr': '<f4', 'fortran_order': True, 'shape': ({rows}, {columns}), }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16 + 1).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.push(b'\n');
    values.iter().for_each(|v| bytes.extend(v.to_le_bytes()));
    std::fs::write(&npy, &bytes).expect("the temporary directory is writable");
    let wide = directory.join("x.parquet");
    let field = |c| Field::new(format!("x{c}"), DataType::Float32, false);
    let schema = Arc::new(Schema::new((0..columns).map(field).collect::<Vec<_>>()));
    let array = |v: &[f32]| Arc::new(Float32Array::from(v.to_vec())) as ArrayRef;
    let batch = RecordBatch::try_new(Arc::clone(&schema), values.chunks(rows).map(array).collect());
    let options = WriterProperties::builder().set_dictionary_enabled(false).build();
    let file = File::create(&wide).expect("the temporary directory is writable");
    let mut writer = ArrowWriter::try_new(file, schema, Some(options)).expect("a writer");
    writer.write(&batch.expect("columns of one length")).expect("written");
    writer.close().expect("written");
    for (what, path) in [("npy, Fortran order, f32", npy), ("Parquet, f32, plain", wide)] {
        let size = std::fs::metadata(&path).expect("it was written").len() as usize;
        println!("{what}, {} MB", size / 1_000_000);
        let mut buffer = vec![0; 4 << 20];
        let read = best(|| {
            let mut file = File::open(&path).expect("it was written");
            while file.read(&mut buffer).expect("it is whole") > 0 {}
        });
        line("read the file", size, read, None);
        for threads in [1, 2] {
            let seconds = scan(path.to_str().expect("a plain name"), threads);
            line(&format!("scan every column; {threads} threads"), size, seconds, Some(read));
        }
    }
}

fn main() {
    let size = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(100_usize);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| directory.path().join(name).to_str().expect("a plain name").to_string();
    csv(&path("x.csv"), size * 1_000_000);
    svm(&path("x.svm"), size * 1_000_000);
    arrays(directory.path(), 2 * size * 1_000_000);
}
