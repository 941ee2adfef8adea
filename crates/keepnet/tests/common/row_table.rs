//! A table of numbers, and least squares done on it without averages: columns centred twice in f64,
//! then Householder's QR on unit columns.

#![allow(dead_code, reason = "each test file uses a part of it")]

use keepnet::registry::{self, MethodSpec};
use keepnet::{Budget, Row, RowBlock, RowLearner, RowProblem, Selection};

pub fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut uniform = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    // Box and Muller.
    move || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (2.0 * std::f64::consts::PI * uniform()).cos()
}

/// Columns, a target and weights.
#[derive(Clone)]
pub struct Table {
    pub x: Vec<Vec<f64>>,
    pub y: Vec<f64>,
    pub w: Vec<f64>,
}

impl Table {
    /// `p` independent columns; the target is `beta` of the first ones and unit noise.
    pub fn new(n: usize, p: usize, beta: &[f64], seed: u64) -> Self {
        let mut next = random(seed);
        let x: Vec<Vec<f64>> = (0..p).map(|_| (0..n).map(|_| next()).collect()).collect();
        let signal = |i: usize| beta.iter().zip(&x).map(|(b, x)| b * x[i]).sum::<f64>();
        let y = (0..n).map(|i| signal(i) + next()).collect();
        Self { x, y, w: vec![1.0; n] }
    }

    pub fn block(&self, rows: std::ops::Range<usize>) -> RowBlock {
        let mut block = RowBlock::new(self.x.len(), rows.len().max(1));
        for i in rows {
            let row: Vec<f64> = self.x.iter().map(|x| x[i]).collect();
            block.push(Row::F64(&row), self.y[i], self.w[i]).unwrap();
        }
        block
    }

    pub fn sparse(&self) -> RowBlock {
        let n = self.y.len();
        let mut block = RowBlock::new(self.x.len(), n);
        for i in 0..n {
            let index: Vec<u32> =
                (0..self.x.len() as u32).filter(|j| self.x[*j as usize][i] != 0.0).collect();
            let value: Vec<f64> = index.iter().map(|j| self.x[*j as usize][i]).collect();
            block.push(Row::Sparse { index: &index, value: &value }, self.y[i], self.w[i]).unwrap();
        }
        block
    }

    pub fn all(&self) -> RowBlock {
        self.block(0..self.y.len())
    }

    /// What centres a column and multiplies it by the roots of the weights, over the largest of
    /// them; and the sum of these weights. The mean is taken twice, from values less the first.
    pub fn centring(&self) -> (impl Fn(&[f64]) -> Vec<f64>, f64) {
        let most = self.w.iter().copied().fold(0.0, f64::max);
        let w: Vec<f64> = self.w.iter().map(|w| w / most).collect();
        let total: f64 = w.iter().sum();
        let centred = move |x: &[f64]| -> Vec<f64> {
            let mut x: Vec<f64> = x.iter().map(|v| v - x[0]).collect();
            for _ in 0..2 {
                let mean = x.iter().zip(&w).map(|(x, w)| w * x).sum::<f64>() / total;
                x.iter_mut().for_each(|x| *x -= mean);
            }
            x.iter().zip(&w).map(|(x, w)| w.sqrt() * x).collect()
        };
        (centred, total)
    }

    /// Weighted least squares on the columns `set`: slopes, their columns' sizes, mean squared error.
    pub fn least_squares(&self, set: &[usize]) -> (Vec<f64>, Vec<f64>, f64) {
        let (centred, total) = self.centring();
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut y = centred(&self.y);
        let mut a: Vec<Vec<f64>> = set.iter().map(|j| centred(&self.x[*j])).collect();
        let size: Vec<f64> = a.iter().map(|x| norm(x)).collect();
        a.iter_mut().zip(&size).for_each(|(x, s)| x.iter_mut().for_each(|x| *x /= s));
        let m = set.len();
        for k in 0..m {
            let mut v = a[k].clone();
            v[..k].fill(0.0);
            v[k] += v[k].signum() * norm(&v);
            let square = norm(&v).powi(2);
            let mut reflect = |x: &mut Vec<f64>| {
                let dot = x.iter().zip(&v).map(|(x, v)| x * v).sum::<f64>() * 2.0 / square;
                x.iter_mut().zip(&v).for_each(|(x, v)| *x -= dot * v);
            };
            a[k..].iter_mut().for_each(&mut reflect);
            reflect(&mut y);
        }
        let mut b = vec![0.0; m];
        for k in (0..m).rev() {
            let rest: f64 = (k + 1..m).map(|j| a[j][k] * b[j]).sum();
            b[k] = (y[k] - rest) / a[k][k];
        }
        let left = y[m..].iter().map(|y| y * y).sum::<f64>() / total;
        (b.iter().zip(&size).map(|(b, s)| b / s).collect(), size, left)
    }
}

pub fn learner(name: &str, problem: &RowProblem, spec: &MethodSpec) -> Box<dyn RowLearner> {
    registry::make_rows(registry::find(name).unwrap(), spec, problem, Budget::unlimited()).unwrap()
}

pub fn run(name: &str, table: &Table, spec: &MethodSpec) -> Selection {
    let mut learner = learner(name, &RowProblem::regression(table.x.len()), spec);
    learner.learn_block(&table.all()).unwrap();
    learner.selection().unwrap()
}

/// Features and their coefficients, in the order of features.
pub fn model(selection: &Selection) -> Vec<(usize, f64)> {
    let mut model: Vec<(usize, f64)> =
        selection.selected.iter().map(|f| (f.id.index as usize, f.coefficient[0])).collect();
    model.sort_by_key(|(j, _)| *j);
    model
}

pub fn places(selection: &Selection) -> Vec<usize> {
    model(selection).into_iter().map(|(j, _)| j).collect()
}

/// Whether a result is least squares on its own features: each coefficient, times its column's size,
/// within `most` of the largest.
pub fn assert_refitted(table: &Table, selection: &Selection, most: f64, what: &str) {
    let set = places(selection);
    let (b, size, left) = table.least_squares(&set);
    let largest = b.iter().zip(&size).map(|(b, s)| (b * s).abs()).fold(0.0, f64::max);
    for (((j, got), want), size) in model(selection).into_iter().zip(&b).zip(&size) {
        let off = (got - want).abs() * size / largest;
        assert!(off < most, "{what}: feature {j} has {got}, least squares {want} ({off:e})");
    }
    let loss = selection.loss.unwrap();
    assert!((2.0 * loss / left - 1.0).abs() < most, "{what}: loss {loss} for {}", 0.5 * left);
}
