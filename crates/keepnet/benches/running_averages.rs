//! Accumulation against this machine's own matrix product, in one run and one thread.
//!
//! ```text
//! cargo bench -p keepnet --bench running_averages [-- P...]
//! ```
//!
//! For each p: the best rate of the linear-algebra crate for a square product of the same
//! depth, then the rate of `RunningAverages::push` in useful flops (p (p + 1) a row), f32 and f64.

use std::time::Instant;

use faer::{Accum, Mat, Par};
use keepnet::learn::{AveragesParams, GRID, RunningAverages};
use keepnet::{Row, RowBlock};

fn noise(len: usize) -> Vec<f32> {
    let mut state = 9u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// Seconds on a processor of this thread where the system tells, else seconds gone by: other
/// work on the machine should not count.
fn clock() -> f64 {
    let read = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = read.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanos.map_or_else(|| EPOCH.elapsed().as_secs_f64(), |nanos| nanos / 1e9)
}

static EPOCH: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);

/// Best of several runs, in seconds.
fn best(times: usize, mut run: impl FnMut()) -> f64 {
    let one = |run: &mut dyn FnMut()| {
        let start = clock();
        run();
        clock() - start
    };
    (0..times).map(|_| one(&mut run)).fold(f64::INFINITY, f64::min)
}

fn gemm<T: faer::traits::ComplexField>(p: usize, value: T, one: T) -> f64 {
    let a = Mat::<T>::from_fn(p, GRID, |_, _| value.clone());
    let b = Mat::<T>::from_fn(GRID, p, |_, _| value.clone());
    let mut c = Mat::<T>::zeros(p, p);
    let seconds = best(7, || {
        faer::linalg::matmul::matmul(&mut c, Accum::Replace, &a, &b, one.clone(), Par::Seq);
    });
    2.0 * (GRID * p * p) as f64 / seconds / 1e9
}

fn accumulate(p: usize, wide: bool) -> f64 {
    let blocks = if p > 2000 { 2 } else { 8 };
    let x = noise(GRID * p);
    let mut block = RowBlock::new(p, GRID);
    for (i, row) in x.chunks_exact(p).enumerate() {
        block.push(Row::F32(row), i as f64, 1.0).expect("rows fit");
    }
    let params = AveragesParams { wide, ..AveragesParams::default() };
    let mut averages = RunningAverages::new(p, 0, params).expect("settings are in range");
    averages.push(&block).expect("finite rows");
    let seconds = best(5, || {
        for _ in 0..blocks {
            averages.push(&block).expect("finite rows");
        }
    });
    (blocks * GRID) as f64 * p as f64 * (p + 1) as f64 / seconds / 1e9
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one");
    pool.install(run);
}

fn run() {
    let given: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![1000, 4000] } else { given };
    println!("GFLOP/s, one thread\n     p   width    gemm  push   share");
    for p in sizes {
        let (g32, g64) = (gemm(p, 0.5f32, 1.0), gemm(p, 0.5f64, 1.0));
        let (r32, r64) = (accumulate(p, false), accumulate(p, true));
        println!("{p:6}     f32  {g32:6.1} {r32:6.1}  {:5.2}", r32 / g32);
        println!("{p:6}     f64  {g64:6.1} {r64:6.1}  {:5.2}", r64 / g64);
        println!("{p:6}     f32 / f64       {:5.2}", r32 / r64);
    }
}
