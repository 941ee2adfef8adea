//! A C4.5 decision tree on numbers, grown by gain ratio and pruned pessimistically.
//!
//! ```text
//! gain(cut)  = H(classes) - sum_side n_side/n H(classes | side) - log2(cuts tried) / n
//! ratio      = gain / H(sides);  the best ratio among columns with at least the average gain
//! errors(N, e) = N U(e, N),  U the upper limit of a binomial error share at confidence 1/4
//! ```
//!
//! A node is cut where both sides keep at least `min(25, max(2, n / (10 classes)))` rows. Then
//! subtrees that do not lower the training errors fall, and from the leaves up a node becomes a
//! leaf, or its largest branch takes its place, where that does not raise the estimated errors
//! by more than 0.1. This is Weka's J48 (C4.5 release 8) with its defaults, for columns of
//! numbers without missing values; J48 sees values closer than 1e-5 as one, we do not.
//! Source: Quinlan, C4.5 (1993); Quinlan, JAIR 4 (1996) for the cost of the cuts.
//!
//! Growing costs O(d n log n) a level, the tree O(n) a level.

mod cut;
mod prune;

use super::Classifier;
use crate::matrix::Matrix;

/// Settings of [`Tree`].
#[derive(Clone, Copy, Debug)]
pub struct TreeParams {
    /// Fewest rows on either side of a cut.
    pub leaf: usize,
    /// Confidence of the pruning, below 1/2; smaller prunes more.
    pub confidence: f64,
    /// Whether to prune at all.
    pub prune: bool,
}

impl Default for TreeParams {
    fn default() -> Self {
        Self { leaf: 2, confidence: 0.25, prune: true }
    }
}

/// A node: the training rows in it and, unless it is a leaf, where it is cut.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) rows: Vec<u32>,
    pub(crate) counts: Vec<f64>,
    pub(crate) cut: Option<Cut>,
}

/// Rows whose value is at most `at` go to the first branch.
#[derive(Clone, Debug)]
pub(crate) struct Cut {
    pub(crate) column: usize,
    pub(crate) at: f64,
    pub(crate) branches: Box<[Node; 2]>,
}

impl Node {
    pub(crate) fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// Rows that are not of the commonest class.
    pub(crate) fn wrong(&self) -> f64 {
        self.total() - self.counts.iter().copied().fold(0.0, f64::max)
    }
}

/// What growing and pruning look at.
pub(crate) struct Data<'a> {
    pub(crate) x: &'a Matrix,
    pub(crate) codes: &'a [u32],
    pub(crate) classes: usize,
}

impl Data<'_> {
    pub(crate) fn counts(&self, rows: &[u32]) -> Vec<f64> {
        let mut counts = vec![0.0; self.classes];
        rows.iter().for_each(|row| counts[self.codes[*row as usize] as usize] += 1.0);
        counts
    }

    /// The rows on either side of a cut.
    pub(crate) fn sides(&self, rows: &[u32], column: usize, at: f64) -> [Vec<u32>; 2] {
        let below = |row: &u32| self.x.at(*row as usize, column) <= at;
        let (low, high) = rows.iter().copied().partition(below);
        [low, high]
    }

    fn grow(&self, rows: Vec<u32>, params: &TreeParams) -> Node {
        let counts = self.counts(&rows);
        let cut = cut::best(self, &rows, &counts, params.leaf).map(|(column, at)| {
            let branches = self.sides(&rows, column, at).map(|side| self.grow(side, params));
            Cut { column, at, branches: Box::new(branches) }
        });
        Node { rows, counts, cut }
    }
}

/// A fitted tree.
pub struct Tree {
    root: Node,
}

impl Tree {
    /// Grows and prunes a tree.
    #[must_use]
    pub fn fit(x: &Matrix, codes: &[u32], classes: usize, params: &TreeParams) -> Self {
        let data = Data { x, codes, classes };
        let mut root = data.grow((0..x.rows() as u32).collect(), params);
        prune::collapse(&mut root);
        if params.prune {
            prune::prune(&mut root, &data, params.confidence);
        }
        Self { root }
    }

    /// Number of leaves.
    #[must_use]
    pub fn leaves(&self) -> usize {
        fn count(node: &Node) -> usize {
            node.cut.as_ref().map_or(1, |cut| cut.branches.iter().map(count).sum())
        }
        count(&self.root)
    }
}

impl Classifier for Tree {
    fn scores(&self, row: &[f64], out: &mut [f64]) {
        let mut node = &self.root;
        while let Some(cut) = &node.cut {
            let next = &cut.branches[usize::from(row[cut.column] > cut.at)];
            // A branch that raising has emptied knows no better than the node above it.
            if next.total() == 0.0 {
                break;
            }
            node = next;
        }
        let total = node.total();
        out.iter_mut().zip(&node.counts).for_each(|(out, count)| *out = count / total);
    }
}

#[cfg(test)]
mod tests;
