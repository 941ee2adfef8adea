//! The slides' design: a common factor, every tenth feature true.

use keepnet::data::generator;
use keepnet::{Row, RowBlock};
use rand::RngExt;
use rand_distr::StandardNormal;

/// Features of the slides' smaller design; a tenth of them are true: 9, 19, ..., 999.
pub const P: usize = 1000;

/// Whether feature `j` is true.
#[must_use]
pub fn is_true(j: usize) -> bool {
    j % 10 == 9
}

/// `x = z 1 + u`, `y = beta sum of the true features + noise`, or its sign as class 0 or 1.
pub struct Design {
    random: rand_xoshiro::Xoshiro256PlusPlus,
    p: usize,
    beta: f64,
    classes: bool,
}

impl Design {
    /// The design with `p` features.
    #[must_use]
    pub fn new(p: usize, beta: f64, classes: bool, seed: u64) -> Self {
        Self { random: generator(seed, 0x0de5_1697), p, beta, classes }
    }

    /// Fills a block with `n` rows.
    pub fn fill(&mut self, n: usize, block: &mut RowBlock) {
        block.reset(n);
        let mut x = vec![0.0f32; self.p];
        for _ in 0..n {
            let z: f64 = self.random.sample(StandardNormal);
            let mut sum = 0.0;
            for (j, x) in x.iter_mut().enumerate() {
                let u: f64 = self.random.sample(StandardNormal);
                *x = (z + u) as f32;
                if is_true(j) {
                    sum += f64::from(*x);
                }
            }
            let noise: f64 = self.random.sample(StandardNormal);
            let u = self.beta * sum + noise;
            let y = if self.classes { f64::from(u8::from(u > 0.0)) } else { u };
            block.push(Row::F32(&x), y, 1.0).expect("rows fit");
        }
    }
}

/// Exact error of a model on fresh rows of the regression design: the covariance is known.
#[must_use]
pub fn rmse(p: usize, beta: f64, index: &[u64], weight: &[f64], intercept: f64) -> f64 {
    let mut d: Vec<f64> = (0..p).map(|j| if is_true(j) { -beta } else { 0.0 }).collect();
    index.iter().zip(weight).for_each(|(j, w)| d[*j as usize] += w);
    let square: f64 = d.iter().map(|d| d * d).sum();
    let sum: f64 = d.iter().sum();
    (1.0 + square + sum * sum + intercept * intercept).sqrt()
}

/// Area under the ROC curve of scores against classes 0 and 1.
#[must_use]
pub fn auc(scores: &[f64], y: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..y.len()).collect();
    order.sort_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    let positives = y.iter().sum::<f64>();
    let ranks: f64 =
        order.iter().enumerate().filter(|(_, i)| y[**i] > 0.5).map(|(r, _)| r as f64 + 1.0).sum();
    (ranks - positives * (positives + 1.0) / 2.0) / (positives * (y.len() as f64 - positives))
}
