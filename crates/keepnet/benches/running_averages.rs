//! Accumulation against this machine's own matrix product, in one run and one thread.
//!
//! ```text
//! cargo bench -p keepnet --bench running_averages [-- P...]
//! ```
//!
//! For each p: the best rate of the linear-algebra crate, the better of a p x p product of the
//! blocks' depth and a cube of 1024; then the rate of `RunningAverages::push` with blocks of 256
//! rows in useful flops (p (p + 1) a row), all of its work included. The four are measured in
//! turn, each for a fifth of a second at a time, and the best of the rounds counts.

mod common;

use common::clock;
use faer::{Accum, Mat, Par};
use keepnet::learn::{AveragesParams, GRID, RunningAverages};
use keepnet::{Row, RowBlock};

const ROUNDS: usize = 6;
/// Seconds of one measurement.
const SECONDS: f64 = 0.2;

fn noise(len: usize) -> Vec<f32> {
    let mut state = 9u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// Something timed in rounds: the flops of one call, the call, and the best rate so far.
struct Job<'a> {
    flops: f64,
    call: Box<dyn FnMut() + 'a>,
    best: f64,
}

impl<'a> Job<'a> {
    fn new(flops: f64, call: impl FnMut() + 'a) -> Self {
        Self { flops, call: Box::new(call), best: 0.0 }
    }

    fn round(&mut self) {
        let (start, mut calls) = (clock(), 0);
        let seconds = loop {
            (self.call)();
            calls += 1;
            let seconds = clock() - start;
            if seconds > SECONDS {
                break seconds;
            }
        };
        self.best = self.best.max(f64::from(calls) * self.flops / seconds / 1e9);
    }
}

fn gemm<T: faer::traits::ComplexField + 'static>(
    side: usize,
    depth: usize,
    of: fn(f32) -> T,
) -> Job<'static> {
    let x = noise(side * depth);
    let a = Mat::<T>::from_fn(side, depth, |i, j| of(x[i + side * j]));
    let b = Mat::<T>::from_fn(depth, side, |i, j| of(x[i + depth * j]));
    let mut c = Mat::<T>::zeros(side, side);
    Job::new(2.0 * (depth * side * side) as f64, move || {
        faer::linalg::matmul::matmul(&mut c, Accum::Replace, &a, &b, of(1.0), Par::Seq);
    })
}

fn accumulate(p: usize, wide: bool) -> Job<'static> {
    let mut block = RowBlock::new(p, GRID);
    for (i, row) in noise(GRID * p).chunks_exact(p).enumerate() {
        block.push(Row::F32(row), i as f64, 1.0).expect("rows fit");
    }
    let params = AveragesParams { f64_products: wide, ..AveragesParams::default() };
    let mut averages = RunningAverages::new(p, 0, params).expect("settings are in range");
    // Eight blocks a call: blocks wait for each other, and a call must pay for its own.
    Job::new((8 * GRID) as f64 * p as f64 * (p + 1) as f64, move || {
        (0..8).for_each(|_| averages.push(&block).expect("finite rows"));
    })
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one");
    pool.install(run);
}

fn run() {
    let given: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![1000, 4000] } else { given };
    println!("GFLOP/s, one thread\n     p   width    gemm  push   share (asked 0.85)");
    for p in sizes {
        let mut jobs = [
            gemm::<f32>(p, GRID, |x| x),
            gemm::<f32>(1024, 1024, |x| x),
            gemm::<f64>(p, GRID, f64::from),
            gemm::<f64>(1024, 1024, f64::from),
            accumulate(p, false),
            accumulate(p, true),
        ];
        (0..ROUNDS).for_each(|_| jobs.iter_mut().for_each(Job::round));
        let [a32, b32, a64, b64, r32, r64] = jobs.map(|job| job.best);
        let (g32, g64) = (a32.max(b32), a64.max(b64));
        println!("{p:6}     f32  {g32:6.1} {r32:6.1}  {:5.2}", r32 / g32);
        println!("{p:6}     f64  {g64:6.1} {r64:6.1}  {:5.2}", r64 / g64);
        println!("{p:6}     f32 / f64       {:5.2} (asked 1.7)", r32 / r64);
    }
}
