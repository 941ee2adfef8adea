//! C4.5's pruning: estimated errors, from the leaves up.

use statrs::distribution::{ContinuousCDF, Normal};

use super::{Cut, Data, Node};

/// How much worse a smaller tree may be estimated.
const SLACK: f64 = 0.1;

/// Cuts that do not lower the training errors fall, from the root down.
pub(super) fn collapse(node: &mut Node) {
    if node.cut.is_none() {
        return;
    }
    if training_errors(node) >= node.wrong() - 1e-3 {
        node.cut = None;
    } else if let Some(cut) = &mut node.cut {
        cut.branches.iter_mut().for_each(collapse);
    }
}

fn training_errors(node: &Node) -> f64 {
    match &node.cut {
        None => node.wrong(),
        Some(cut) => cut.branches.iter().map(training_errors).sum(),
    }
}

/// Prunes a tree by estimated errors.
pub(super) fn prune(node: &mut Node, data: &Data<'_>, confidence: f64) {
    let estimate = |counts: &[f64]| estimated(counts, confidence);
    loop {
        let Some(cut) = &mut node.cut else { return };
        cut.branches.iter_mut().for_each(|branch| prune(branch, data, confidence));
        let largest = usize::from(cut.branches[1].rows.len() > cut.branches[0].rows.len());
        let raised = if_raised(&cut.branches[largest], &node.rows, data, &estimate);
        let leaf = estimate(&node.counts);
        let tree = tree_errors(node, &estimate);
        if leaf <= tree + SLACK + 1e-6 && leaf <= raised + SLACK + 1e-6 {
            node.cut = None;
            return;
        }
        if raised > tree + SLACK + 1e-6 {
            return;
        }
        let Some(cut) = node.cut.take() else { return };
        let branches = *cut.branches;
        node.cut = branches.into_iter().nth(largest).and_then(|branch| branch.cut);
        let rows = std::mem::take(&mut node.rows);
        refill(node, rows, data);
    }
}

/// Estimated errors of a branch if all these rows went through it.
fn if_raised(node: &Node, rows: &[u32], data: &Data<'_>, estimate: &dyn Fn(&[f64]) -> f64) -> f64 {
    match &node.cut {
        None => estimate(&data.counts(rows)),
        Some(Cut { column, at, branches }) => {
            let sides = data.sides(rows, *column, *at);
            let each = branches.iter().zip(&sides);
            each.map(|(branch, rows)| if_raised(branch, rows, data, estimate)).sum()
        }
    }
}

fn tree_errors(node: &Node, estimate: &dyn Fn(&[f64]) -> f64) -> f64 {
    match &node.cut {
        None => estimate(&node.counts),
        Some(cut) => cut.branches.iter().map(|branch| tree_errors(branch, estimate)).sum(),
    }
}

/// Sends other rows down a tree.
fn refill(node: &mut Node, rows: Vec<u32>, data: &Data<'_>) {
    node.counts = data.counts(&rows);
    if let Some(cut) = &mut node.cut {
        let sides = data.sides(&rows, cut.column, cut.at);
        for (branch, rows) in cut.branches.iter_mut().zip(sides) {
            refill(branch, rows, data);
        }
    }
    node.rows = rows;
}

/// Errors of a leaf with these rows, on rows it has not seen.
fn estimated(counts: &[f64], confidence: f64) -> f64 {
    let total: f64 = counts.iter().sum();
    if total <= 0.0 {
        return 0.0;
    }
    let wrong = total - counts.iter().copied().fold(0.0, f64::max);
    wrong + further(total, wrong, confidence)
}

/// Errors to add to `e` out of `n`: the upper limit of the share, less what is there.
pub(super) fn further(n: f64, e: f64, confidence: f64) -> f64 {
    if e < 1.0 {
        let none = n * (1.0 - confidence.powf(1.0 / n));
        return if e == 0.0 { none } else { none + e * (further(n, 1.0, confidence) - none) };
    }
    if e + 0.5 >= n {
        return (n - e).max(0.0);
    }
    let z = Normal::standard().inverse_cdf(1.0 - confidence);
    let f = (e + 0.5) / n;
    let spread = (f / n - f * f / n + z * z / (4.0 * n * n)).sqrt();
    let share = (f + z * z / (2.0 * n) + z * spread) / (1.0 + z * z / n);
    share * n - e
}
