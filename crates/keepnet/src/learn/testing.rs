//! Small problems for the tests of this folder.

use rand::RngExt;
use rand_distr::StandardNormal;

use super::averages::gram::Gram;
use super::averages::running::{AveragesParams, RunningAverages};
use crate::data::order::generator;
use crate::data::row::{Row, RowBlock};

/// Rows of the papers' design: a common factor, unit noise, `y = sum of the first k + noise`.
pub(crate) fn rows(n: usize, p: usize, k: usize, seed: u64) -> RowBlock {
    let mut random = generator(seed, 0);
    let mut block = RowBlock::new(p, n);
    for _ in 0..n {
        let z: f64 = random.sample(StandardNormal);
        let x: Vec<f64> = (0..p).map(|_| z + random.sample::<f64, _>(StandardNormal)).collect();
        let noise: f64 = random.sample(StandardNormal);
        let y = x[..k].iter().sum::<f64>() + noise;
        block.push(Row::F64(&x), y, 1.0).expect("rows fit");
    }
    block
}

/// The standardised problem of such rows.
pub(crate) fn gram(n: usize, p: usize, k: usize) -> Gram {
    let params = AveragesParams { f64_products: true, ..AveragesParams::default() };
    let mut averages = RunningAverages::new(p, 0, params).expect("settings are in range");
    averages.push(&rows(n, p, k, 5)).expect("finite rows");
    averages.gram().expect("features vary")
}
