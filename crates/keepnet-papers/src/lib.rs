//! The papers' synthetic data and experiments: data by seed, a run, its scores, and the published
//! numbers to compare them with.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`workload`] | the papers' synthetic data and the stress designs; `keepnet generate` writes them |
//! | [`columns`] | the experiments of online substitution and its rivals |
//! | [`rows`] | those of running averages, on the [`design`] of their slides |
//! | [`adaptation`] | a signal that turns, for averages that forget |
//! | [`genotypes`] | genotypes with linkage disequilibrium, and traits |
//! | [`published`] | the numbers of the slides |
//!
//! `keepnet reproduce` prints them; the examples `os_tables` and `row_tables` judge every cell.

#![forbid(unsafe_code)]

pub mod adaptation;
pub mod columns;
pub mod design;
pub mod genotypes;
pub mod published;
pub mod rows;
pub mod workload;

pub use workload::Workload;

/// Mean and standard deviation over seeds.
#[derive(Clone, Copy, Debug)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Spread of one run.
    pub sd: f64,
    /// Runs.
    pub count: usize,
}

impl Mean {
    /// Of some values.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count();
        let mean = values.clone().sum::<f64>() / count as f64;
        let square = values.map(|v| (v - mean) * (v - mean)).sum::<f64>();
        Self { mean, sd: (square / (count.max(2) - 1) as f64).sqrt(), count }
    }

    /// Standard error of the mean.
    #[must_use]
    pub fn se(&self) -> f64 {
        self.sd / (self.count as f64).sqrt()
    }

    /// `(ours - reference) / sqrt(se^2 + se_reference^2)`.
    #[must_use]
    pub fn z(&self, reference: f64, se_reference: f64) -> f64 {
        let se = self.se();
        (self.mean - reference) / (se * se + se_reference * se_reference).sqrt()
    }
}

impl std::fmt::Display for Mean {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.3} ({:.3})", self.mean, self.se())
    }
}
