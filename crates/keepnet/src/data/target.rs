//! What is asked of the rows: target, weights, offset, covariates, and which rows count.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Regression or classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// A number a row.
    Regression,
    /// A class a row.
    Classification,
}

/// The target of the rows that count.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A finite number a row.
    Numbers(Vec<f64>),
    /// A class a row, into names sorted ascending; the last of two is the positive one.
    Classes {
        /// Names in ascending order.
        names: Vec<String>,
        /// A class a row.
        codes: Vec<u32>,
    },
}

impl Target {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::Numbers(y) => y.len(),
            Self::Classes { codes, .. } => codes.len(),
        }
    }

    /// Which task this target is for.
    #[must_use]
    pub fn task(&self) -> Task {
        match self {
            Self::Numbers(_) => Task::Regression,
            Self::Classes { .. } => Task::Classification,
        }
    }

    /// Class names, where there are classes.
    #[must_use]
    pub fn classes(&self) -> Option<&[String]> {
        match self {
            Self::Numbers(_) => None,
            Self::Classes { names, .. } => Some(names),
        }
    }

    /// The margins to fit: the numbers, or -1 and 1 for two classes, or one against the rest.
    #[must_use]
    pub fn outputs(&self) -> Vec<Vec<f64>> {
        match self {
            Self::Numbers(y) => vec![y.clone()],
            Self::Classes { names, codes } => {
                let positives = if names.len() == 2 { 1..2 } else { 0..names.len() as u32 };
                let sign = |class| codes.iter().map(move |c| if *c == class { 1.0 } else { -1.0 });
                positives.map(|class| sign(class).collect()).collect()
            }
        }
    }

    /// Rows of each class; empty for numbers.
    #[must_use]
    pub fn class_counts(&self) -> Vec<usize> {
        match self {
            Self::Numbers(_) => Vec::new(),
            Self::Classes { names, codes } => {
                let mut counts = vec![0; names.len()];
                codes.iter().for_each(|c| counts[*c as usize] += 1);
                counts
            }
        }
    }

    /// Weights under which every class weighs the same: `n / (classes * rows of the class)`.
    pub fn balanced_weights(&self) -> Result<Vec<f64>> {
        let Self::Classes { names, codes } = self else {
            return Err(Error::param("class-weight", "balanced", "a target of classes"));
        };
        let counts = self.class_counts();
        let scale = codes.len() as f64 / names.len() as f64;
        Ok(codes.iter().map(|c| scale / counts[*c as usize] as f64).collect())
    }
}

/// Which rows of the source count, and in which order.
#[derive(Clone, Debug, PartialEq)]
pub enum RowMap {
    /// Every row, as it stands.
    All(usize),
    /// Some rows, or another order.
    Some {
        /// Source row of each row that counts.
        take: Vec<u32>,
        /// For each source row its place in `take`, or `u32::MAX`.
        place: Vec<u32>,
    },
}

impl RowMap {
    /// The rows `take` out of `input` source rows; the identity where they are all, in order.
    pub fn new(input: usize, take: Vec<u32>) -> Result<Self> {
        if take.len() == input && take.iter().enumerate().all(|(i, row)| i == *row as usize) {
            return Ok(Self::All(input));
        }
        let mut place = vec![u32::MAX; input];
        for (to, from) in take.iter().enumerate() {
            let slot = place.get_mut(*from as usize);
            match slot {
                Some(slot) if *slot == u32::MAX => *slot = to as u32,
                _ => return Err(Error::Data(format!("row {from} is used twice or is not there"))),
            }
        }
        Ok(Self::Some { take, place })
    }

    /// Rows that the source has.
    #[must_use]
    pub fn input(&self) -> usize {
        match self {
            Self::All(n) => *n,
            Self::Some { place, .. } => place.len(),
        }
    }

    /// Rows that count.
    #[must_use]
    pub fn used(&self) -> usize {
        match self {
            Self::All(n) => *n,
            Self::Some { take, .. } => take.len(),
        }
    }

    /// The source row of a row that counts.
    #[must_use]
    pub fn source_row(&self, row: usize) -> usize {
        match self {
            Self::All(_) => row,
            Self::Some { take, .. } => take[row] as usize,
        }
    }
}

/// An unpenalised column that is in every model and is no feature.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariate {
    /// Its name.
    pub name: String,
    /// A finite number for each row that counts.
    pub values: Vec<f64>,
}

/// What is asked of the rows, the same for every method. All vectors have a value a used row.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What to predict.
    pub target: Target,
    /// Sample weights, positive; `None` is 1 each.
    pub weight: Option<Vec<f64>>,
    /// Added to the prediction.
    pub offset: Option<Vec<f64>>,
    /// Which source rows the others speak of.
    pub rows: RowMap,
    /// Unpenalised columns.
    pub covariates: Vec<Covariate>,
}

impl Problem {
    /// A problem on all rows, without weights, offset or covariates.
    #[must_use]
    pub fn new(target: Target) -> Self {
        let rows = RowMap::All(target.rows());
        Self { target, weight: None, offset: None, rows, covariates: Vec::new() }
    }

    /// Regression on `y`.
    #[must_use]
    pub fn regression(y: Vec<f64>) -> Self {
        Self::new(Target::Numbers(y))
    }

    /// The same problem with its rows in another order: row `i` is row `order[i]` of this one.
    pub fn reordered(self, order: &[usize]) -> Result<Self> {
        let numbers = |values: Vec<f64>| order.iter().map(|row| values[*row]).collect();
        let take = order.iter().map(|row| self.rows.source_row(*row) as u32).collect();
        Ok(Self {
            target: match self.target {
                Target::Numbers(y) => Target::Numbers(numbers(y)),
                Target::Classes { names, codes } => {
                    let codes = order.iter().map(|row| codes[*row]).collect();
                    Target::Classes { names, codes }
                }
            },
            weight: self.weight.map(numbers),
            offset: self.offset.map(numbers),
            rows: RowMap::new(self.rows.input(), take)?,
            covariates: self
                .covariates
                .into_iter()
                .map(|Covariate { name, values }| Covariate { name, values: numbers(values) })
                .collect(),
        })
    }

    /// Two classes from labels of which the larger value is positive.
    #[must_use]
    pub fn binary(labels: &[f64]) -> Self {
        let low = labels.iter().copied().fold(f64::INFINITY, f64::min);
        let high = labels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let codes = labels.iter().map(|y| u32::from(*y != low)).collect();
        Self::new(Target::Classes { names: vec![low.to_string(), high.to_string()], codes })
    }

    /// Rows that count.
    #[must_use]
    pub fn n(&self) -> usize {
        self.rows.used()
    }

    /// Sum of the sample weights.
    #[must_use]
    pub fn weight_sum(&self) -> f64 {
        self.weight.as_ref().map_or(self.n() as f64, |v| v.iter().sum())
    }

    /// Makes every class weigh the same, on top of the weights that rows have.
    pub fn balance(&mut self) -> Result<()> {
        let mut balanced = self.target.balanced_weights()?;
        if let Some(weight) = &self.weight {
            balanced.iter_mut().zip(weight).for_each(|(b, w)| *b *= w);
        }
        self.weight = Some(balanced);
        Ok(())
    }

    /// Lengths, finiteness, positive weights, at least two classes or two different numbers.
    pub fn check(&self) -> Result<()> {
        let n = self.n();
        if n == 0 {
            return Err(Error::Data("no row has a target: nothing to learn from".into()));
        }
        length("the target", self.target.rows(), n)?;
        if let Some(weight) = &self.weight {
            length("the sample weights", weight.len(), n)?;
            finite("the sample weights", weight)?;
            if let Some(row) = weight.iter().position(|v| *v <= 0.0) {
                let row = self.rows.source_row(row);
                return Err(Error::Data(format!("the sample weight at row {row} is not positive")));
            }
            // Tests take the square of their sum, as a number of rows.
            let total = self.weight_sum();
            if !(total * total).is_normal() {
                let way = if total > 1.0 { "large" } else { "small" };
                return Err(Error::Data(format!(
                    "the sample weights sum to {total:e}, too {way} a number to square; scale them"
                )));
            }
        }
        match &self.target {
            Target::Numbers(y) => {
                finite("the target", y)?;
                self.squares("the target", y)?;
                if y.iter().all(|value| *value == y[0]) {
                    let value = y[0];
                    return Err(Error::Data(format!(
                        "the target has one value only ({value}); two or more are needed"
                    )));
                }
            }
            Target::Classes { names, .. } => {
                let counts = self.target.class_counts();
                let seen = counts.iter().filter(|count| **count > 0).count();
                if seen < 2 {
                    let name = counts.iter().position(|c| *c > 0).map_or("", |c| &names[c]);
                    return Err(Error::Data(format!(
                        "the target has one class only ({name:?}); two or more are needed"
                    )));
                }
            }
        }
        if let Some(offset) = &self.offset {
            length("the offset", offset.len(), n)?;
            finite("the offset", offset)?;
            self.squares("the offset", offset)?;
        }
        for covariate in &self.covariates {
            let what = format!("covariate {:?}", covariate.name);
            length(&what, covariate.values.len(), n)?;
            finite(&what, &covariate.values)?;
            self.squares(&what, &covariate.values)?;
        }
        Ok(())
    }

    /// Refuses a vector whose weighted sum of squares, times the rows, leaves the range of f64.
    ///
    /// A target and an offset that pass may still differ by four times the larger in square.
    fn squares(&self, what: &str, values: &[f64]) -> Result<()> {
        let weight = |i: usize| self.weight.as_ref().map_or(1.0, |v| v[i]);
        let sum: f64 = values.iter().enumerate().map(|(i, x)| weight(i) * x * x).sum();
        if (4.0 * sum * self.weight_sum().max(1.0)).is_finite() {
            return Ok(());
        }
        let largest = values.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        Err(Error::Data(format!(
            "{what} has values too large to square (up to {largest:e}); scale it down"
        )))
    }
}

fn length(what: &str, got: usize, want: usize) -> Result<()> {
    match got == want {
        true => Ok(()),
        false => Err(Error::Rows { what: what.into(), got, want }),
    }
}

fn finite(what: &str, values: &[f64]) -> Result<()> {
    match values.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(row) => Err(Error::Data(format!("{what} is not a finite number at row {row}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_classes_are_one_output_and_three_are_three() {
        let names = |n: usize| (0..n).map(|c| c.to_string()).collect();
        let two = Target::Classes { names: names(2), codes: vec![0, 1, 1] };
        assert_eq!(two.outputs(), [[-1.0, 1.0, 1.0]]);
        let three = Target::Classes { names: names(3), codes: vec![2, 0, 1] };
        assert_eq!(three.outputs().len(), 3);
        assert_eq!(three.outputs()[0], [-1.0, 1.0, -1.0]);
    }

    #[test]
    fn balanced_weights_give_each_class_the_same_sum() {
        let target = Problem::binary(&[0.0, 0.0, 0.0, 1.0]).target;
        assert_eq!(target.balanced_weights().unwrap(), [2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 2.0]);
    }

    #[test]
    fn one_class_and_bad_weights_are_refused() {
        let mut one = Problem::binary(&[0.0, 1.0]);
        one.target = Target::Classes { names: vec!["a".into(), "b".into()], codes: vec![1, 1] };
        assert!(one.check().unwrap_err().to_string().contains("one class only (\"b\")"));
        let constant = Problem::regression(vec![3.0, 3.0]).check().unwrap_err().to_string();
        assert!(constant.contains("one value only (3)"), "{constant}");
        let mut weights = Problem::regression(vec![1.0, 2.0]);
        weights.weight = Some(vec![1.0, 0.0]);
        assert!(weights.check().unwrap_err().to_string().contains("row 1"));
    }

    /// The largest f64 is 1.8e308: 1e200 has no square, 1e150 has one, as has the sum of a few.
    #[test]
    fn numbers_that_have_no_square_are_refused_in_one_line() {
        let said = |problem: &Problem| problem.check().unwrap_err().to_string();
        let huge = Problem::regression(vec![1e200, -3e200, 0.0]);
        let want = "the target has values too large to square (up to 3e200); scale it down";
        assert_eq!(said(&huge), want);
        Problem::regression(vec![1e150, -1e150, 0.0]).check().unwrap();
        let plain = Problem::regression(vec![1.0, 2.0, 3.0]);
        let weights = |v: [f64; 3]| Problem { weight: Some(v.into()), ..plain.clone() };
        assert!(said(&weights([1e200, 1.0, 1.0])).contains("too large a number"));
        assert!(said(&weights([1e308, 1e308, 1.0])).contains("sum to inf"));
        assert!(said(&weights([1e-200; 3])).contains("too small a number"));
        weights([1e-20, 1e20, 1.0]).check().unwrap();
        let offset = Problem { offset: Some(vec![1e200, 0.0, 0.0]), ..plain.clone() };
        assert!(said(&offset).contains("the offset has values too large"));
        let values = vec![0.0, 1e180, 0.0];
        let covariates = vec![Covariate { name: "age".into(), values }];
        assert!(said(&Problem { covariates, ..plain }).contains("covariate \"age\" has values"));
    }

    #[test]
    fn a_map_in_order_is_the_identity() {
        assert_eq!(RowMap::new(3, vec![0, 1, 2]).unwrap(), RowMap::All(3));
        let map = RowMap::new(3, vec![2, 0]).unwrap();
        assert_eq!((map.used(), map.input(), map.source_row(0)), (2, 3, 2));
        assert!(RowMap::new(3, vec![1, 1]).is_err());
    }
}
