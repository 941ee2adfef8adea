//! The same method on permuted targets, in the same reads: `--null N`.
//!
//! A permuted target has nothing to do with any feature, so what a method explains of it is what
//! its freedom to choose explains. Targets are permuted by seed; weights and rows stay, so that
//! these lanes share the check of each column with the real one. Weights that balance the classes
//! go with the targets. Offset and covariates stay with their rows.

use std::sync::Arc;

use keepnet::data::generator;
use keepnet::run::LaneReport;
use keepnet::{Problem, Target};
use rand::seq::SliceRandom;

use super::Ask;
use super::found::{Found, Null};

/// Keeps the random numbers of permutations apart from those of methods and splits.
const STREAM: u64 = 0x9e_2317;

/// A lane for each of `count` permutations of the target.
pub(super) fn asks(problem: &Arc<Problem>, balanced: bool, count: usize, seed: u64) -> Vec<Ask> {
    let one = |at: usize| {
        let mut permuted = problem.as_ref().clone();
        let mut random = generator(seed, STREAM ^ ((at as u64) << 24));
        let mut order: Vec<usize> = (0..problem.n()).collect();
        order.shuffle(&mut random);
        match &mut permuted.target {
            Target::Numbers(y) => *y = order.iter().map(|at| y[*at]).collect(),
            Target::Classes { codes, .. } => *codes = order.iter().map(|at| codes[*at]).collect(),
        }
        if let Some(weight) = permuted.weight.as_mut().filter(|_| balanced) {
            *weight = order.iter().map(|at| weight[*at]).collect();
        }
        Ask { problem: Arc::new(permuted), k: None }
    };
    (0..count).map(one).collect()
}

/// Compares the first lane with the others, whose targets are permuted.
pub(super) fn compare(lanes: &[LaneReport], found: &mut Found) {
    let losses: Option<Vec<f64>> = lanes.iter().map(|lane| lane.selection.loss).collect();
    let Some([own, permuted @ ..]) = losses.as_deref() else { return };
    if permuted.is_empty() {
        return;
    }
    let least = permuted.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = permuted.iter().sum::<f64>() / permuted.len() as f64;
    found.null = Some(Null { lanes: permuted.len(), least, mean });
    if *own >= least {
        found.warnings.push(format!(
            "a permuted target is explained as well: in-sample loss {own}, on {} permuted targets \
             {least} at least; the selection may be noise",
            permuted.len()
        ));
    }
}
