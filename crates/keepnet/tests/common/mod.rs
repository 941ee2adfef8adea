//! Small random data and a runner, shared by the tests of the engine.
#![allow(dead_code)]

pub mod column_methods;

use keepnet::{
    Budget, ColumnData, Driver, Generated, Groups, Lane, LossKind, MethodSpec, Numbers, Order,
    Problem, Quiet, RunOptions, RunReport, Stream, Task, data::generator, registry,
};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Columns and target of one small problem.
#[derive(Clone)]
pub struct Data {
    pub n: usize,
    pub columns: Vec<Vec<f64>>,
    pub y: Vec<f64>,
}

impl Data {
    /// `p` normal columns of `n` rows, a tenth of them in the target, and noise.
    pub fn normal(n: usize, p: usize, seed: u64) -> Self {
        let mut rng = generator(seed, 1);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let columns: Vec<Vec<f64>> =
            (0..p).map(|_| (0..n).map(|_| f64::from(normal() as f32)).collect()).collect();
        let mut y: Vec<f64> = (0..n).map(|_| 0.5 * normal()).collect();
        for column in columns.iter().step_by(10) {
            let w = 1.0 + normal();
            y.iter_mut().zip(column).for_each(|(y, x)| *y += w * x);
        }
        Self { n, columns, y }
    }

    /// The same with about `share` of the entries zero, for sparse storage.
    pub fn thinned(mut self, share: f64, seed: u64) -> Self {
        let mut rng = generator(seed, 2);
        for value in self.columns.iter_mut().flatten() {
            if rng.random::<f64>() < share {
                *value = 0.0;
            }
        }
        self
    }

    /// Labels -1 and 1 by the sign of the target.
    pub fn labels(&self) -> Vec<f64> {
        self.y.iter().map(|y| if *y > 0.0 { 1.0 } else { -1.0 }).collect()
    }

    /// The problem for a loss.
    pub fn problem(&self, loss: LossKind) -> Problem {
        match loss.task() {
            Some(Task::Classification) => Problem::binary(&self.labels()),
            _ => Problem::regression(self.y.clone()),
        }
    }

    /// A source of dense columns.
    pub fn dense(&self) -> Generated {
        let dense = |x: &Vec<f64>| ColumnData::dense(x.clone());
        Generated::columns(self.n, self.columns.iter().map(dense).collect())
    }

    /// A source of sparse columns with the same values.
    pub fn sparse(&self) -> Generated {
        let sparse = |x: &Vec<f64>| {
            let index: Vec<u32> = (0..self.n as u32).filter(|i| x[*i as usize] != 0.0).collect();
            let value = index.iter().map(|i| x[*i as usize]).collect();
            ColumnData::Sparse { rows: self.n, index, value: Numbers::narrow(value) }
        };
        Generated::columns(self.n, self.columns.iter().map(sparse).collect())
    }
}

/// Runs a method over a source.
pub fn run(
    source: &mut Generated,
    problem: Problem,
    method: &str,
    spec: &MethodSpec,
    options: RunOptions,
) -> RunReport {
    let method = registry::find(method).unwrap();
    let selector = registry::make(method, spec, &problem, Budget::unlimited()).unwrap();
    let lanes = vec![Lane::new(problem, selector)];
    let mut driver = Driver::new(source, lanes, options).unwrap();
    if method.stream == Stream::Groups {
        driver = driver.with_groups(Groups::block(3).unwrap());
    }
    driver.run(&mut Quiet).unwrap()
}

/// Two scans in the given order with blocks of `width`.
pub fn width(width: usize) -> RunOptions {
    RunOptions { width, order: Order::Given, ..RunOptions::default() }
}
