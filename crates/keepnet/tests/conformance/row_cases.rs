//! The row methods of the registry, with each of their losses, and rows in memory.

use std::fmt;

use keepnet::registry::{self, MethodInfo, MethodSpec, Relation, Stream};
use keepnet::{
    Budget, LossKind, Result, Row, RowBlock, RowLearner, RowProblem, SampleSource, Selection,
};

#[path = "../common/row_blocks.rs"]
mod row_blocks;

pub use row_blocks::{P, block};

/// Features, target and weight.
pub type Sample = (Vec<f64>, f64, f64);

/// One method with the loss and the kind of target that it is tested with.
#[derive(Clone)]
pub struct Case {
    pub method: &'static MethodInfo,
    pub loss: Option<LossKind>,
    pub classes: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.method.name, self.loss)
    }
}

impl Case {
    pub fn spec(&self, k: usize) -> MethodSpec {
        MethodSpec { loss: self.loss, ..MethodSpec::k(k) }
    }

    /// The settings under which its promises hold to the last digits.
    pub fn promised(&self, k: usize) -> MethodSpec {
        let with = self.method.promises.with.iter();
        with.fold(self.spec(k), |spec, (name, value)| spec.set(name, *value))
    }

    pub fn promises(&self, relation: Relation) -> bool {
        self.method.promises.why_not(relation).is_none()
    }

    pub fn problem(&self) -> RowProblem {
        if self.classes { RowProblem::binary(P) } else { RowProblem::regression(P) }
    }

    pub fn try_make(&self, spec: &MethodSpec, budget: Budget) -> Result<Box<dyn RowLearner>> {
        registry::make_rows(self.method, spec, &self.problem(), budget)
    }

    pub fn make(&self, spec: &MethodSpec) -> Box<dyn RowLearner> {
        self.try_make(spec, Budget::unlimited()).unwrap()
    }

    /// Rows of which the first three features matter.
    pub fn rows(&self, n: usize, seed: u64) -> Vec<Sample> {
        row_blocks::rows(n, seed, self.classes)
    }

    /// The selection after one block of dense rows.
    pub fn learn(&self, spec: &MethodSpec, rows: &[Sample]) -> Selection {
        let mut learner = self.make(spec);
        learner.learn_block(&block(rows, false)).unwrap();
        learner.selection().unwrap()
    }
}

/// Every method on rows, by itself and with every loss that it can be told.
pub fn cases() -> Vec<Case> {
    let rows = registry::methods().iter().filter(|m| m.stream == Stream::Samples);
    rows.flat_map(|method| {
        let losses = LossKind::ALL.into_iter().map(Some).filter(|_| method.has_loss);
        let cases: Vec<Case> =
            losses.chain([None]).filter_map(|loss| fitting(method, loss)).collect();
        assert!(!cases.is_empty(), "{}: no target that it takes", method.name);
        cases
    })
    .collect()
}

/// With numbers where the method takes them, with two classes otherwise.
fn fitting(method: &'static MethodInfo, loss: Option<LossKind>) -> Option<Case> {
    let case = |classes| Case { method, loss, classes };
    let made = |case: &Case| case.try_make(&case.spec(3), Budget::unlimited()).is_ok();
    [false, true].map(case).into_iter().find(made)
}

/// All that a second run must give again, digit for digit.
pub fn shown(s: &Selection) -> String {
    let features: Vec<_> = s.selected.iter().map(|f| (f.id, &f.coefficient, f.score)).collect();
    format!("{features:?} {:?} {:?} {:?}", s.intercept, s.loss, s.metrics)
}

/// The same features, and coefficients that agree once those of `b` are multiplied by `factor`.
pub fn assert_near(
    what: &str,
    a: &Selection,
    b: &Selection,
    most: f64,
    factor: impl Fn(u64) -> f64,
) {
    let sorted = |s: &Selection| {
        let mut s = s.selected.clone();
        s.sort_by_key(|f| f.id.index);
        s
    };
    let (a, b) = (sorted(a), sorted(b));
    assert_eq!(a.len(), b.len(), "{what}");
    for (a, b) in a.iter().zip(&b) {
        assert_eq!(a.id.index, b.id.index, "{what}");
        let (x, y) = (a.coefficient[0], b.coefficient[0] * factor(b.id.index));
        assert!((x - y).abs() <= most * (1.0 + x.abs()), "{what}: feature {}: {x} {y}", a.id.index);
    }
}

/// Rows in memory as a source.
pub struct Rows {
    names: Vec<String>,
    rows: Vec<Sample>,
    at: usize,
}

impl Rows {
    pub fn new(rows: Vec<Sample>) -> Self {
        Self { names: RowProblem::regression(P).names, rows, at: 0 }
    }
}

impl SampleSource for Rows {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn fingerprint(&self) -> u64 {
        self.rows.len() as u64
    }

    fn next_block(&mut self, out: &mut RowBlock) -> Result<bool> {
        for (x, y, w) in self.rows[self.at..].iter().take(out.room()) {
            out.push(Row::F64(x), *y, *w)?;
            self.at += 1;
        }
        Ok(self.at < self.rows.len())
    }
}
