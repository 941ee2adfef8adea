//! A signal that turns, and running averages that follow it by forgetting.
//!
//! ```text
//! y = sum over 10 true features of 2 cos(2 pi t / 20000 + phase_j) x_j + N(0, 1)
//! ```
//!
//! over 20,000 rows of 100 features: one full turn. Every 100 rows a model of 10 features is taken
//! and predicts the next 100.

use std::f64::consts::TAU;

use rand::RngExt;
use rand_distr::StandardNormal;

use keepnet::data::generator;
use keepnet::learn::{AveragesParams, Extract, OlsParams, Olsth, RunningAverages};
use keepnet::{Result, Row, RowBlock};

const P: usize = 100;
const K: usize = 10;
const BLOCK: usize = 100;
/// Rows of the stream.
pub const ROWS: usize = 20_000;
/// Shares of the past that a row lets go.
pub const FORGET: [f64; 3] = [0.0, 0.002, 0.01];

/// RMSE in each quarter of the stream for each forgetting.
pub fn run(seed: u64) -> Result<Vec<f64>> {
    let mut random = generator(seed, 0xada7);
    let phase: Vec<f64> = (0..K).map(|_| TAU * random.random::<f64>()).collect();
    let mut averages = Vec::new();
    for forget in FORGET {
        let params = AveragesParams { forget, ..AveragesParams::default() };
        averages.push(RunningAverages::new(P, 0, params)?);
    }
    let method = Olsth::new(OlsParams { ridge: 1e-8 })?;
    let mut block = RowBlock::new(P, BLOCK);
    let mut squares = vec![(0.0, 0usize); 4 * FORGET.len()];
    let mut x = vec![0.0f32; P];
    for first in (0..ROWS).step_by(BLOCK) {
        block.reset(BLOCK);
        for t in first..first + BLOCK {
            x.iter_mut().for_each(|x| *x = random.sample::<f64, _>(StandardNormal) as f32);
            let angle = TAU * t as f64 / ROWS as f64;
            let signal = |j: usize| 2.0 * (angle + phase[j]).cos() * f64::from(x[j * P / K]);
            let noise: f64 = random.sample(StandardNormal);
            let y = (0..K).map(signal).sum::<f64>() + noise;
            block.push(Row::F32(&x), y, 1.0)?;
        }
        for (at, averages) in averages.iter_mut().enumerate() {
            // Two blocks of 100 rows determine the 100 features.
            if first >= 3 * BLOCK {
                let gram = averages.gram()?;
                let set = method.choose(&gram, K)?;
                let model = gram.model(&set, &gram.refit(&set)?);
                let mut out = [0.0];
                let sum = &mut squares[first * 4 / ROWS * FORGET.len() + at];
                for (x, y) in block.rows().zip(block.y()) {
                    model.predict(x, &mut out);
                    *sum = (sum.0 + (y - out[0]) * (y - out[0]), sum.1 + 1);
                }
            }
            averages.push(&block)?;
        }
    }
    Ok(squares.iter().map(|(sum, count)| (sum / *count as f64).sqrt()).collect())
}
