//! The papers' synthetic data and the stress designs, by seed.
//!
//! Column `j` is a function of the seed and `j` alone, so any column can be made again, in any
//! order, on any thread, and nothing is stored. With `S` the informative columns
//!
//! ```text
//! z = sum over S of w_j x_j,   y = z + sd e  (regression)   or   y = sign(z)  (classification)
//! ```
//!
//! Making the target costs the `s` informative columns. Values and targets are f32, so every
//! file format holds them without loss. `sample` draws other rows from the same truth: test
//! data. Sources: specs of online substitution; papers' section on synthetic data (`matched`
//! noise gives its published curves, `stated` is what its text says).

mod design;
mod settings;

use std::sync::Arc;

use rand::seq::index;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use design::Design;
use keepnet::data::generator;
use keepnet::{ColumnData, Generated, Problem, Result, Target, Task};
pub use settings::{WORKLOADS, WorkloadInfo};

/// What randomness is for; purposes never share a stream.
#[derive(Clone, Copy)]
enum Purpose {
    Truth = 1,
    Noise,
    Factor,
    Scale,
    Column,
}

/// Noise of the target.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Noise {
    /// This standard deviation.
    Deviation(f64),
    /// This share of the standard deviation of the signal.
    Relative(f64),
}

/// One data set: settings from which every column and the target follow.
#[derive(Clone, Debug)]
pub struct Workload {
    name: &'static str,
    n: usize,
    p: u64,
    s: usize,
    seed: u64,
    sample: u64,
    noise: Noise,
    task: Task,
    // Signs of a noisy score around its median, or a draw from the logistic model.
    logistic: Option<f64>,
    unit: bool,
    design: Design,
}

impl Workload {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.n
    }

    /// Number of features.
    #[must_use]
    pub fn features(&self) -> u64 {
        self.p
    }

    /// Number of informative features.
    #[must_use]
    pub fn informative(&self) -> usize {
        self.s
    }

    fn rng(&self, purpose: Purpose, index: u64) -> Xoshiro256PlusPlus {
        use rand::Rng;
        // Truth and scales belong to the data set, the rest to one sample of its rows.
        let sample = match purpose {
            Purpose::Truth | Purpose::Scale => 0,
            _ => self.sample,
        };
        let base = generator(self.seed, (purpose as u64) << 32 | sample).next_u64();
        generator(base, index)
    }

    /// Column `j`.
    #[must_use]
    pub fn column(&self, j: u64) -> ColumnData {
        self.design.column(self, j)
    }

    /// The features as a source with random access.
    #[must_use]
    pub fn source(&self) -> Generated {
        let workload = Arc::new(self.clone());
        let label = format!("{} n={} p={} s={}", self.name, self.n, self.p, self.s);
        let label = format!("{label} seed={} sample={}", self.seed, self.sample);
        let make = move |j| Ok(workload.column(j));
        Generated::new(label, self.n, self.p, make).with_column_bytes(4 * self.n as u64)
    }

    /// The informative features by index, with their weights on the columns as they are.
    #[must_use]
    pub fn truth(&self) -> Vec<(u64, f64)> {
        self.signal().0
    }

    fn signal(&self) -> (Vec<(u64, f64)>, Vec<f64>) {
        let mut rng = self.rng(Purpose::Truth, 0);
        let candidates = self.design.candidates(self);
        let mut chosen: Vec<u64> = index::sample(&mut rng, candidates as usize, self.s)
            .into_iter()
            .map(|at| self.design.candidate(self, at as u64))
            .collect();
        chosen.sort_unstable();
        let mut z = vec![0.0; self.n];
        let mut truth = Vec::with_capacity(self.s);
        for j in chosen {
            let draw: f64 = StandardNormal.sample(&mut rng);
            // A weight must not change with the sample, so its scale is that of sample 0.
            let scale = if self.unit { self.root_mean_square(j) } else { 1.0 };
            let w = draw / scale;
            self.column(j).view().axpy(w, &mut z);
            truth.push((j, w));
        }
        (truth, z)
    }

    fn root_mean_square(&self, j: u64) -> f64 {
        let first = Self { sample: 0, ..self.clone() };
        let (_, square) = first.column(j).view().moments(None, 0.0);
        let root = (square / self.n as f64).sqrt();
        if root > 0.0 { root } else { 1.0 }
    }

    /// The target.
    #[must_use]
    pub fn target(&self) -> Target {
        let (_, mut z) = self.signal();
        let mut rng = self.rng(Purpose::Noise, 0);
        if let Some(slope) = self.logistic {
            let (mean, deviation) = spread(&z);
            let positive = |z: f64| {
                let uniform: f64 = rand::RngExt::random(&mut rng);
                uniform < 1.0 / (1.0 + (-slope * (z - mean) / deviation.max(1e-300)).exp())
            };
            return classes(z.into_iter().map(positive).collect());
        }
        let deviation = match self.noise {
            Noise::Deviation(sd) => sd,
            Noise::Relative(share) => share * spread(&z).1,
        };
        if deviation > 0.0 {
            for z in &mut z {
                let e: f64 = StandardNormal.sample(&mut rng);
                *z = deviation.mul_add(e, *z);
            }
        }
        match self.task {
            Task::Regression => {
                Target::Numbers(z.into_iter().map(|z| f64::from(z as f32)).collect())
            }
            Task::Classification => {
                // The paper's own data split at zero; the stress designs at the median.
                let split = if self.unit { median(&z) } else { 0.0 };
                classes(z.into_iter().map(|z| z >= split).collect())
            }
        }
    }

    /// The target as a problem on all rows.
    #[must_use]
    pub fn problem(&self) -> Problem {
        Problem::new(self.target())
    }

    /// The workload of that name with `settings`; an error that names what it knows.
    pub fn parse(
        name: &str,
        settings: &std::collections::BTreeMap<String, String>,
    ) -> Result<Self> {
        settings::parse(name, settings)
    }
}

fn classes(positive: Vec<bool>) -> Target {
    let codes = positive.into_iter().map(u32::from).collect();
    Target::Classes { names: vec!["-1".into(), "1".into()], codes }
}

fn spread(z: &[f64]) -> (f64, f64) {
    let n = z.len() as f64;
    let mean = z.iter().sum::<f64>() / n;
    (mean, (z.iter().map(|z| (z - mean) * (z - mean)).sum::<f64>() / n).sqrt())
}

fn median(z: &[f64]) -> f64 {
    let mut sorted = z.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { 0.5 * (sorted[half - 1] + sorted[half]) }
}

#[cfg(test)]
mod tests;
