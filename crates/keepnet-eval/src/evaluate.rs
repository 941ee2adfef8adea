//! One selection, judged on the rows that it has not seen.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use keepnet::{Error, Result, Selection, Target};

use crate::classify::{ClassifierKind, judge};
use crate::matrix::{Matrix, Scale};
use crate::metrics;
use crate::splits::Split;

/// Who judges: a classifier, a linear fit for numbers, or the method's own model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// A classifier, for classes.
    Classifier(ClassifierKind),
    /// Least squares on the selected columns, for numbers.
    Linear,
    /// The weights of the selection itself.
    Own,
}

impl Judge {
    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Classifier(kind) => kind.name(),
            Self::Linear => "linear",
            Self::Own => "own",
        }
    }

    /// The judge of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "own" => Ok(Self::Own),
            "linear" => Ok(Self::Linear),
            _ => ClassifierKind::parse(name).map(Self::Classifier).map_err(|_| {
                Error::param("classifiers", name, "1nn, svm, tree, own, or linear for numbers")
            }),
        }
    }

    /// The judges of a task unless others are asked for.
    #[must_use]
    pub fn defaults(target: &Target) -> Vec<Self> {
        match target {
            Target::Numbers(_) => vec![Self::Linear, Self::Own],
            Target::Classes { .. } => {
                let kinds = ClassifierKind::ALL.into_iter().map(Self::Classifier);
                kinds.chain([Self::Own]).collect()
            }
        }
    }

    /// Whether it can judge this target.
    #[must_use]
    pub fn fits(self, target: &Target) -> bool {
        match (self, target) {
            (Self::Own, _) => true,
            (Self::Linear, target) => matches!(target, Target::Numbers(_)),
            (Self::Classifier(_), target) => matches!(target, Target::Classes { .. }),
        }
    }
}

/// One number about one selection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Its name: `error`, `auc`, `rmse` or `r2`.
    pub metric: &'static str,
    /// The number.
    pub value: f64,
}

/// Judges a selection by its columns, which have a value for each row that counts.
///
/// Empty where the judge is the method's own model and it has none.
#[must_use]
pub fn evaluate(
    judge_: Judge,
    selection: &Selection,
    columns: &[Vec<f64>],
    target: &Target,
    split: &Split,
) -> Vec<Score> {
    let views: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let test = Matrix::gather(&views, &split.test);
    match target {
        Target::Classes { names, codes } => {
            let pick = |rows: &[u32]| rows.iter().map(|r| codes[*r as usize]).collect::<Vec<u32>>();
            let scores = match judge_ {
                Judge::Classifier(kind) => {
                    let train = Matrix::gather(&views, &split.train);
                    Some(judge(kind, &train, &pick(&split.train), names.len(), &test))
                }
                _ => own_scores(selection, &test, names.len()),
            };
            scores.map_or_else(Vec::new, |scores| of_classes(&scores, &pick(&split.test)))
        }
        Target::Numbers(y) => {
            let pick = |rows: &[u32]| rows.iter().map(|r| y[*r as usize]).collect::<Vec<f64>>();
            let predicted = match judge_ {
                Judge::Linear => {
                    let train = Matrix::gather(&views, &split.train);
                    Some(least_squares(&train, &pick(&split.train), &test))
                }
                _ => own_numbers(selection, &test),
            };
            predicted.map_or_else(Vec::new, |predicted| of_numbers(&predicted, &pick(&split.test)))
        }
    }
}

fn of_classes(scores: &Matrix, truth: &[u32]) -> Vec<Score> {
    let error = metrics::error(truth, &metrics::classes(scores));
    let mut out = vec![Score { metric: "error", value: error }];
    let auc = metrics::auc_of_classes(scores, truth);
    out.extend(auc.map(|value| Score { metric: "auc", value }));
    out
}

fn of_numbers(predicted: &[f64], truth: &[f64]) -> Vec<Score> {
    let mut out = vec![Score { metric: "rmse", value: metrics::rmse(truth, predicted) }];
    out.extend(metrics::r2(truth, predicted).map(|value| Score { metric: "r2", value }));
    out
}

/// The margins of the method's own model: one an output.
fn margins(selection: &Selection, row: &[f64]) -> Vec<f64> {
    let mut out = selection.intercept.clone();
    for (feature, x) in selection.selected.iter().chain(&selection.pinned).zip(row) {
        out.iter_mut().zip(&feature.coefficient).for_each(|(out, w)| *out += w * x);
    }
    out
}

fn own_scores(selection: &Selection, test: &Matrix, classes: usize) -> Option<Matrix> {
    // Covariates are no columns here, so a model with them cannot be applied.
    if selection.intercept.is_empty() || !selection.covariates.is_empty() {
        return None;
    }
    let mut values = Vec::with_capacity(test.rows() * classes);
    for i in 0..test.rows() {
        match margins(selection, test.row(i)).as_slice() {
            [margin] => values.extend([-0.5 * margin, 0.5 * margin]),
            many => values.extend(many),
        }
    }
    Matrix::new(test.rows(), classes, values).ok()
}

fn own_numbers(selection: &Selection, test: &Matrix) -> Option<Vec<f64>> {
    if selection.intercept.is_empty() || !selection.covariates.is_empty() {
        return None;
    }
    Some((0..test.rows()).map(|i| margins(selection, test.row(i))[0]).collect())
}

/// Least squares with an intercept on standardised columns; a millionth of each column's
/// variance is added, so that copies of a column share their weight.
fn least_squares(train: &Matrix, y: &[f64], test: &Matrix) -> Vec<f64> {
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    let (n, d) = (train.rows(), train.columns());
    if d == 0 {
        return vec![mean; test.rows()];
    }
    let scale = Scale::fit(train);
    let (train, test) = (scale.apply(train), scale.apply(test));
    let mut gram = vec![0.0; d * d];
    let mut weights = vec![0.0; d];
    for i in 0..n {
        let row = train.row(i);
        for (a, x) in row.iter().enumerate() {
            weights[a] += x * (y[i] - mean);
            for (b, z) in row[..=a].iter().enumerate() {
                gram[a * d + b] += x * z;
            }
        }
    }
    let ridge = 1e-6 * n as f64;
    let entry =
        |i: usize, j: usize| gram[i.max(j) * d + i.min(j)] + if i == j { ridge } else { 0.0 };
    let mut weights = Mat::from_fn(d, 1, |i, _| weights[i]);
    let Ok(factor) = Mat::from_fn(d, d, entry).llt(Side::Lower) else {
        return vec![mean; test.rows()];
    };
    factor.solve_in_place(weights.as_mut());
    let weights: Vec<f64> = weights.col(0).iter().copied().collect();
    if weights.iter().any(|weight| !weight.is_finite()) {
        return vec![mean; test.rows()];
    }
    let one = |i: usize| mean + test.row(i).iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>();
    (0..test.rows()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split() -> Split {
        Split { name: "1".into(), train: vec![0, 1, 2, 3], test: vec![4, 5] }
    }

    #[test]
    fn a_linear_target_is_predicted_by_least_squares() {
        let x: Vec<f64> = (0..6).map(|i| f64::from(i * i)).collect();
        let y = Target::Numbers(x.iter().map(|x| 3.0 * x - 1.0).collect());
        let scores = evaluate(Judge::Linear, &Selection::default(), &[x], &y, &split());
        assert!(scores[0].value < 1e-3 && scores[0].metric == "rmse", "{scores:?}");
        assert!(scores[1].value > 1.0 - 1e-6 && scores[1].metric == "r2");
    }

    #[test]
    fn without_a_column_the_commonest_class_or_the_mean_is_predicted() {
        let codes = vec![0, 0, 0, 1, 1, 0];
        let y = Target::Classes { names: vec!["a".into(), "b".into()], codes };
        let nearest = Judge::Classifier(ClassifierKind::Nearest);
        let scores = evaluate(nearest, &Selection::default(), &[], &y, &split());
        assert_eq!(scores[0].value, 0.5);
        assert_eq!(scores[1].value, 0.5);
        let y = Target::Numbers(vec![1.0, 3.0, 1.0, 3.0, 2.0, 2.0]);
        let scores = evaluate(Judge::Linear, &Selection::default(), &[], &y, &split());
        assert_eq!(scores, [Score { metric: "rmse", value: 0.0 }]);
        assert!(evaluate(Judge::Own, &Selection::default(), &[], &y, &split()).is_empty());
    }
}
