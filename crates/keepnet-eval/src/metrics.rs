//! Numbers that say how good a prediction or a selection is.
//!
//! ```text
//! error    = share of rows whose class is wrong
//! AUC      = P(score of a positive > score of a negative) + P(equal) / 2        (Mann-Whitney)
//! RMSE     = sqrt(mean (y - p)^2)          R2 = 1 - sum (y - p)^2 / sum (y - mean y)^2
//! recall   = |selected and true| / |true|  recovery = |w - w*| / |w*|           (2-norms)
//! ```
//!
//! With more than two classes the AUC is the mean over classes of one against the rest, classes
//! without a positive or without a negative row left out (scikit-learn's `ovr`, `macro`).

use std::collections::{HashMap, HashSet};

use crate::matrix::Matrix;

/// The share of wrong classes.
#[must_use]
pub fn error(truth: &[u32], predicted: &[u32]) -> f64 {
    let wrong = truth.iter().zip(predicted).filter(|(a, b)| a != b).count();
    wrong as f64 / truth.len().max(1) as f64
}

/// The class with the largest score in each row, ties to the earlier class.
#[must_use]
pub fn classes(scores: &Matrix) -> Vec<u32> {
    let best = |row: &[f64]| {
        let better = |best: usize, c: usize| if row[c] > row[best] { c } else { best };
        (1..row.len()).fold(0, better) as u32
    };
    (0..scores.rows()).map(|i| best(scores.row(i))).collect()
}

/// Area under the receiver operating characteristic; `None` without a row of each kind.
#[must_use]
pub fn auc(scores: &[f64], positive: &[bool]) -> Option<f64> {
    let positives = positive.iter().filter(|p| **p).count();
    let negatives = positive.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    let ranks = crate::rank::average_ranks(scores);
    let sum: f64 = ranks.iter().zip(positive).filter(|(_, p)| **p).map(|(r, _)| r).sum();
    let (a, b) = (positives as f64, negatives as f64);
    Some((sum - a * (a + 1.0) / 2.0) / (a * b))
}

/// The AUC of a score a class: the last class against the first, or the mean over classes.
#[must_use]
pub fn auc_of_classes(scores: &Matrix, truth: &[u32]) -> Option<f64> {
    let one = |class: usize, score: &dyn Fn(usize) -> f64| {
        let score: Vec<f64> = (0..scores.rows()).map(score).collect();
        let positive: Vec<bool> = truth.iter().map(|c| *c as usize == class).collect();
        auc(&score, &positive)
    };
    if scores.columns() == 2 {
        return one(1, &|i| scores.at(i, 1) - scores.at(i, 0));
    }
    let each: Vec<f64> =
        (0..scores.columns()).filter_map(|c| one(c, &|i| scores.at(i, c))).collect();
    (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
}

/// Root of the mean squared difference.
#[must_use]
pub fn rmse(truth: &[f64], predicted: &[f64]) -> f64 {
    (squares(truth, predicted) / truth.len().max(1) as f64).sqrt()
}

/// The share of the variance that is explained; `None` where the truth is constant.
#[must_use]
pub fn r2(truth: &[f64], predicted: &[f64]) -> Option<f64> {
    let mean = truth.iter().sum::<f64>() / truth.len().max(1) as f64;
    let total: f64 = truth.iter().map(|y| (y - mean) * (y - mean)).sum();
    (total > 0.0).then(|| 1.0 - squares(truth, predicted) / total)
}

fn squares(truth: &[f64], predicted: &[f64]) -> f64 {
    truth.iter().zip(predicted).map(|(y, p)| (y - p) * (y - p)).sum()
}

/// The share of the true features that are selected; `None` where there is no true one.
#[must_use]
pub fn feature_recall(selected: &[u64], truth: &[u64]) -> Option<f64> {
    let selected: HashSet<_> = selected.iter().collect();
    let found = truth.iter().filter(|feature| selected.contains(feature)).count();
    (!truth.is_empty()).then(|| found as f64 / truth.len() as f64)
}

/// Distance between the weights found and the true ones over the length of the true ones.
#[must_use]
pub fn recovery_error(found: &[(u64, f64)], truth: &[(u64, f64)]) -> Option<f64> {
    let mut difference: HashMap<u64, f64> = truth.iter().copied().collect();
    let length: f64 = truth.iter().map(|(_, w)| w * w).sum();
    for (feature, weight) in found {
        *difference.entry(*feature).or_default() -= weight;
    }
    // Sorted, so that the sum has the same digits in every run.
    let mut squares: Vec<f64> = difference.values().map(|d| d * d).collect();
    squares.sort_unstable_by(f64::total_cmp);
    (length > 0.0).then(|| (squares.iter().sum::<f64>() / length).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auc_with_ties_agrees_with_scikit_learn() {
        // roc_auc_score of scikit-learn 1.9.1 on the same numbers.
        let scores = [0.1, 0.4, 0.35, 0.8, 0.4, 0.4, 0.9, 0.1];
        let positive = [false, false, true, true, true, false, true, false];
        assert_eq!(auc(&scores, &positive), Some(0.8125));
        assert_eq!(auc(&scores, &[true; 8]), None);
    }

    #[test]
    fn auc_of_three_classes_agrees_with_scikit_learn() {
        let rows = [
            [0.7, 0.2, 0.1],
            [0.3, 0.4, 0.3],
            [0.2, 0.5, 0.3],
            [0.5, 0.3, 0.2],
            [0.1, 0.2, 0.7],
            [0.3, 0.3, 0.4],
        ];
        let scores = Matrix::new(6, 3, rows.concat()).unwrap();
        let truth = [0, 0, 1, 1, 2, 2];
        // roc_auc_score(..., multi_class="ovr") of scikit-learn 1.9.1 gives 0.875.
        let got = auc_of_classes(&scores, &truth).unwrap();
        assert!((got - 0.875).abs() < 1e-15, "{got}");
        assert_eq!(classes(&scores), [0, 1, 1, 0, 2, 2]);
        assert!((error(&truth, &classes(&scores)) - 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn regression_metrics_worked_by_hand() {
        // Differences 1, 0, -1; the mean is 2, the total square 2.
        let (y, p) = ([1.0, 2.0, 3.0], [0.0, 2.0, 4.0]);
        assert!((rmse(&y, &p) - (2.0f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(r2(&y, &p), Some(0.0));
        assert_eq!(r2(&[1.0, 1.0], &[1.0, 1.0]), None);
    }

    #[test]
    fn recall_and_recovery_worked_by_hand() {
        assert_eq!(feature_recall(&[3, 1, 9], &[1, 2]), Some(0.5));
        assert_eq!(feature_recall(&[3], &[]), None);
        // True (3, 4), length 5; found 3 on the first and 1 on a wrong one: sqrt(16 + 1) / 5.
        let got = recovery_error(&[(0, 3.0), (7, 1.0)], &[(0, 3.0), (1, 4.0)]).unwrap();
        assert!((got - 17f64.sqrt() / 5.0).abs() < 1e-15);
    }
}
