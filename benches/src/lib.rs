//! What the benchmarks share: best of several runs, peak memory, the wide data.
//!
//! Every benchmark measures both sides of its ratio in one process, interleaved, and takes the
//! best of several rounds: on a shared machine the ratio holds where the seconds do not.

mod columns;

use std::sync::Arc;
use std::time::Instant;

use keepnet::data::generator;
use keepnet::{
    Budget, Driver, FeatureSource, Generated, Lane, MethodSpec, NumberKind, Problem, Quiet, Result,
    RunOptions, Selection, registry,
};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

pub use columns::{MatrixColumns, WorkloadColumns};

/// Wall and processor seconds of a job.
#[derive(Clone, Copy, Debug)]
pub struct Seconds {
    /// By the clock on the wall.
    pub wall: f64,
    /// Summed over threads; what to compare where others use the machine.
    pub cpu: f64,
}

impl Seconds {
    /// Nothing measured yet: any time is better.
    pub const NONE: Self = Self { wall: f64::INFINITY, cpu: f64::INFINITY };

    /// The better of two, wall and processor apart.
    #[must_use]
    pub fn best(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu) }
    }
}

/// How long `job` took, and what it gave.
pub fn timed<T>(job: impl FnOnce() -> T) -> (Seconds, T) {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let out = job();
    (Seconds { wall: start.elapsed().as_secs_f64(), cpu: cpu_seconds() - cpu }, out)
}

/// Processor seconds of this process and its threads so far: what a loaded machine leaves fair.
pub fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let own = text.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok());
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let all: f64 = tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok())
        .filter_map(|text| text.split_whitespace().next()?.parse::<f64>().ok())
        .sum();
    all.max(own.unwrap_or(0.0)) / 1e9
}

/// Peak resident bytes of this process since [`reset_peak`]; `None` where /proc is not there.
pub fn peak_bytes() -> Option<u64> {
    status("VmHWM:")
}

/// Resident bytes now.
pub fn resident_bytes() -> Option<u64> {
    status("VmRSS:")
}

fn status(field: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with(field))?;
    Some(1024 * line.split_whitespace().nth(1)?.parse::<u64>().ok()?)
}

/// Starts a new peak; without the right to, the peak is that of the whole process.
pub fn reset_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Bytes in MiB, for tables.
pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// A feature-major f32 matrix of iid normal columns, `s` of them in the target with normal
/// weights, and noise of `noise` standard deviations of the signal.
pub struct Wide {
    /// Rows.
    pub n: usize,
    /// Values, feature by feature.
    pub x: Vec<f32>,
    /// Target.
    pub y: Vec<f64>,
    /// Features in the target.
    pub truth: Vec<u64>,
}

impl Wide {
    /// The data by seed.
    pub fn new(n: usize, p: usize, s: usize, noise: f64, seed: u64) -> Self {
        let mut x = vec![0f32; n * p];
        x.par_chunks_mut(n).enumerate().for_each(|(j, column)| {
            let mut rng = generator(seed, 1000 + j as u64);
            column.iter_mut().for_each(|x| *x = StandardNormal.sample(&mut rng));
        });
        let mut rng = generator(seed, 1);
        let order = keepnet::Order::Shuffled.indices(p as u64, seed, 7).unwrap_or_default();
        let truth: Vec<u64> = order[..s].iter().map(|j| u64::from(*j)).collect();
        let mut y = vec![0.0; n];
        for j in &truth {
            let w: f64 = StandardNormal.sample(&mut rng);
            let column = &x[*j as usize * n..(*j as usize + 1) * n];
            y.iter_mut().zip(column).for_each(|(y, x)| *y += w * f64::from(*x));
        }
        let sd = (y.iter().map(|y| y * y).sum::<f64>() / n as f64).sqrt();
        for y in &mut y {
            let e: f64 = StandardNormal.sample(&mut rng);
            *y += noise * sd * e;
        }
        Self { n, x, y, truth }
    }

    /// Share of the true features among `found`.
    pub fn recall(&self, found: &[u64]) -> f64 {
        self.truth.iter().filter(|j| found.contains(j)).count() as f64 / self.truth.len() as f64
    }
}

/// Sums every float once: the bound that a scan is measured against.
pub fn sum_once(x: &[f32]) -> f64 {
    x.par_chunks(1 << 20)
        .map(|part| {
            let mut lanes = [0f32; 32];
            let (chunks, _) = part.as_chunks::<32>();
            for chunk in chunks {
                for l in 0..32 {
                    lanes[l] += chunk[l];
                }
            }
            lanes.iter().map(|v| f64::from(*v)).sum::<f64>()
        })
        .sum()
}

/// Floats in memory as the bytes that a source shares.
pub struct Floats(pub Arc<Vec<f32>>);

impl AsRef<[u8]> for Floats {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

/// A source over a resident feature-major matrix of `n` rows; nothing is copied.
pub fn resident(n: usize, x: &Arc<Vec<f32>>) -> Result<Generated> {
    Generated::matrix(n, Arc::new(Floats(Arc::clone(x))), NumberKind::F32)
}

/// One run of a method with its defaults apart from `spec` and `options`.
pub fn select(
    source: &mut dyn FeatureSource,
    problem: Problem,
    method: &str,
    spec: &MethodSpec,
    options: RunOptions,
) -> Result<Selection> {
    let selector = registry::make(registry::find(method)?, spec, &problem, Budget::unlimited())?;
    let driver = Driver::new(source, vec![Lane::new(problem, selector)], options)?;
    let mut report = driver.run(&mut Quiet)?;
    Ok(report.lanes.remove(0).selection)
}

/// Thread counts worth measuring: one, and all where that is more.
pub fn thread_counts() -> Vec<usize> {
    let all = rayon::current_num_threads();
    if all > 1 { vec![1, all] } else { vec![1] }
}

/// A pool of `threads` that lives on: threads that end take their processor time with them.
pub fn pool(threads: usize) -> &'static rayon::ThreadPool {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    Box::leak(Box::new(pool))
}

/// Arguments: whole numbers in order, and `key=value` settings.
pub struct Args {
    numbers: Vec<usize>,
    /// The settings.
    pub settings: Vec<(String, String)>,
}

impl Args {
    /// Those of this process; `usage` answers `--help`, and whatever is neither a number nor a
    /// setting.
    #[must_use]
    pub fn parse(usage: &str) -> Self {
        let all: Vec<String> = std::env::args().skip(1).collect();
        if all.iter().any(|a| a == "--help" || a == "-h") {
            println!("usage: {usage}");
            std::process::exit(0);
        }
        if let Some(bad) = all.iter().find(|a| a.parse::<usize>().is_err() && !a.contains('=')) {
            eprintln!("{bad:?} is no number and no KEY=VALUE; usage: {usage}");
            std::process::exit(2);
        }
        let pair = |a: &String| a.split_once('=').map(|(k, v)| (k.to_string(), v.to_string()));
        let settings = all.iter().filter_map(pair).collect();
        Self { numbers: all.iter().filter_map(|a| a.parse().ok()).collect(), settings }
    }

    /// The number at place `i`, or `default`.
    #[must_use]
    pub fn at(&self, i: usize, default: usize) -> usize {
        self.numbers.get(i).copied().unwrap_or(default)
    }

    /// Takes the setting `name` out.
    pub fn take(&mut self, name: &str) -> Option<String> {
        let at = self.settings.iter().position(|(key, _)| key == name)?;
        Some(self.settings.remove(at).1)
    }

    /// `spec` with the settings on top.
    #[must_use]
    pub fn apply(&self, spec: MethodSpec) -> MethodSpec {
        self.settings.iter().fold(spec, |spec, (key, value)| spec.set(key, value))
    }
}

/// The machine's load, for the record: runnable processes over the last minute.
#[must_use]
pub fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_string()
}

/// Processor seconds of the programs that this process started and that have ended.
#[must_use]
pub fn child_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name in brackets: cutime and cstime are fields 16 and 17 of all, in ticks.
    let rest = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: f64 =
        rest.split_whitespace().skip(13).take(2).filter_map(|t| t.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// Area under the curve of margins `u` for labels -1 and 1; ties count half.
#[must_use]
pub fn auc(u: &[f64], y: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..u.len()).collect();
    order.sort_by(|a, b| u[*a].total_cmp(&u[*b]));
    let (mut rank_sum, mut positives, mut at) = (0.0, 0.0, 0);
    while at < order.len() {
        let tie = order[at..].iter().take_while(|i| u[**i] == u[order[at]]).count();
        let rank = at as f64 + 0.5 * (tie + 1) as f64;
        let here = order[at..at + tie].iter().filter(|i| y[**i] > 0.0).count() as f64;
        (rank_sum, positives, at) = (rank_sum + here * rank, positives + here, at + tie);
    }
    let negatives = u.len() as f64 - positives;
    (rank_sum - 0.5 * positives * (positives + 1.0)) / (positives * negatives)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn area_counts_the_pairs_in_order() {
        // Pairs (positive, negative): (.9,.5) (.9,.1) right, (.5,.5) half, (.5,.1) right: 3.5 / 4.
        assert_eq!(auc(&[0.9, 0.5, 0.5, 0.1], &[1.0, 1.0, -1.0, -1.0]), 0.875);
    }
}
