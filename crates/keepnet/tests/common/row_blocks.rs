//! Small rows for the methods on rows, half of their values zero, and a method by its name.

#![allow(dead_code, reason = "each test file uses a part of it")]

use keepnet::registry::{self, MethodSpec};
use keepnet::{Budget, Row, RowBlock, RowLearner, RowProblem};

pub const P: usize = 12;

pub fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

/// Rows of which the first three features matter; about half the values are zero.
pub fn rows(n: usize, seed: u64, classes: bool) -> Vec<(Vec<f64>, f64, f64)> {
    let mut next = random(seed);
    let mut row = || {
        let x: Vec<f64> = (0..P).map(|_| if next() < 0.0 { 0.0 } else { 2.0 * next() }).collect();
        let u = 2.0 * x[0] - 1.5 * x[1] + x[2] + 0.3 * next();
        let y = if classes { f64::from(u8::from(u > 0.0)) } else { u };
        (x, y, 0.5 + next().abs())
    };
    (0..n).map(|_| row()).collect()
}

pub fn block(rows: &[(Vec<f64>, f64, f64)], sparse: bool) -> RowBlock {
    let mut block = RowBlock::new(P, rows.len());
    for (x, y, w) in rows {
        if sparse {
            let index: Vec<u32> = (0..P as u32).filter(|j| x[*j as usize] != 0.0).collect();
            let value: Vec<f64> = index.iter().map(|j| x[*j as usize]).collect();
            block.push(Row::Sparse { index: &index, value: &value }, *y, *w).unwrap();
        } else {
            block.push(Row::F64(x), *y, *w).unwrap();
        }
    }
    block
}

pub fn problem(name: &str) -> (RowProblem, bool) {
    let classes = matches!(name, "ofs" | "sofs");
    (if classes { RowProblem::binary(P) } else { RowProblem::regression(P) }, classes)
}

pub fn make(name: &str, spec: &MethodSpec) -> Box<dyn RowLearner> {
    let method = registry::find(name).unwrap();
    registry::make_rows(method, spec, &problem(name).0, Budget::unlimited()).unwrap()
}
