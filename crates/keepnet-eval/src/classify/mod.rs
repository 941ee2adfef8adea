//! Classifiers that judge a selection, behind one small trait.
//!
//! | name | what it is | checked against |
//! | --- | --- | --- |
//! | `1nn` | nearest neighbour, Euclidean distance on standardised columns | scikit-learn |
//! | `svm` | linear support vector machine, hinge loss, C = 1, one against the rest | scikit-learn |
//! | `tree` | C4.5: gain ratio, two rows a leaf, pessimistic pruning at 0.25 | Weka's J48 |
//!
//! They are written here since no crate gives the same thing: `linfa-svm` holds an n by n
//! kernel matrix, `smartcore`'s machine is an approximate online one, and the trees of both
//! are CART with Gini or entropy, without gain ratio and without C4.5's pruning.

mod nearest;
mod svm;
mod tree;

use keepnet::{Error, Result};

use crate::matrix::{Matrix, Scale};

pub use nearest::Nearest;
pub use svm::{Svm, SvmParams};
pub use tree::{Tree, TreeParams};

/// A fitted classifier.
pub trait Classifier: Send + Sync {
    /// A score a class; the largest is the prediction, ties to the earlier class.
    fn scores(&self, row: &[f64], out: &mut [f64]);
}

/// Which classifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClassifierKind {
    /// The nearest neighbour.
    Nearest,
    /// A linear support vector machine.
    Svm,
    /// A decision tree.
    Tree,
}

impl ClassifierKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Nearest, Self::Svm, Self::Tree];

    /// The name on the command line and in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nearest => "1nn",
            Self::Svm => "svm",
            Self::Tree => "tree",
        }
    }

    /// The classifier of that name.
    pub fn parse(name: &str) -> Result<Self> {
        let known = |kind: &Self| kind.name() == name;
        let want = "1nn, svm, tree or own";
        Self::ALL.into_iter().find(known).ok_or_else(|| Error::param("classifiers", name, want))
    }
}

/// Learns from the rows of one table and gives the scores of another's.
///
/// Columns are standardised by the training rows, for the tree they stay as they are. Without a column the scores are the shares
/// of the classes in the training rows.
#[must_use]
pub fn judge(
    kind: ClassifierKind,
    train: &Matrix,
    codes: &[u32],
    classes: usize,
    test: &Matrix,
) -> Matrix {
    // Cuts do not depend on scale, and stay at values of the data.
    if kind == ClassifierKind::Tree || train.columns() == 0 {
        return judge_raw(kind, train, codes, classes, test);
    }
    let scale = Scale::fit(train);
    judge_raw(kind, &scale.apply(train), codes, classes, &scale.apply(test))
}

/// As [`judge`], on the values as they are.
#[must_use]
pub fn judge_raw(
    kind: ClassifierKind,
    train: &Matrix,
    codes: &[u32],
    classes: usize,
    test: &Matrix,
) -> Matrix {
    let mut values = vec![0.0; test.rows() * classes];
    let lines = values.chunks_exact_mut(classes.max(1));
    if train.columns() == 0 {
        let shares = shares(codes, classes);
        lines.for_each(|line| line.copy_from_slice(&shares));
    } else {
        let fitted: Box<dyn Classifier> = match kind {
            ClassifierKind::Nearest => Box::new(Nearest::fit(train.clone(), codes)),
            ClassifierKind::Svm => Box::new(Svm::fit(train, codes, classes, &SvmParams::default())),
            ClassifierKind::Tree => {
                Box::new(Tree::fit(train, codes, classes, &TreeParams::default()))
            }
        };
        lines.enumerate().for_each(|(i, line)| fitted.scores(test.row(i), line));
    }
    Matrix::new(test.rows(), classes, values).expect("a score a row and class")
}

fn shares(codes: &[u32], classes: usize) -> Vec<f64> {
    let mut shares = vec![0.0; classes];
    codes.iter().for_each(|c| shares[*c as usize] += 1.0 / codes.len() as f64);
    shares
}
