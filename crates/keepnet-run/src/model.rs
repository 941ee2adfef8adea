//! The linear model of a result: margins, classes, probabilities.

use keepnet::{ColumnData, Error, Result};
use keepnet_io::sink::{Cells, FieldKind};

use crate::result::saved::Saved;

/// What turns margins into predictions.
pub struct Model<'a> {
    intercept: &'a [f64],
    classes: Option<Vec<Class<'a>>>,
    logistic: bool,
    ones: Vec<f64>,
}

struct Class<'a> {
    name: &'a str,
    number: Option<f64>,
}

impl<'a> Model<'a> {
    /// The model of a result; an error where it has none.
    pub fn new(saved: &'a Saved) -> Result<Self> {
        let intercept = saved.intercept.values();
        let outputs = match &saved.classes {
            Some(classes) if classes.len() > 2 => classes.len(),
            _ => 1,
        };
        let mut coefficients = saved.features().map(|feature| feature.coefficient.values().len());
        if intercept.is_empty() || coefficients.any(|n| n == 0) {
            return Err(Error::Data(format!(
                "{} fits no model; take its columns with `keepnet apply` and fit one on them",
                saved.method
            )));
        }
        let covariates = saved.covariates.iter().map(|c| c.coefficient.values().len());
        let features = saved.features().map(|feature| feature.coefficient.values().len());
        if intercept.len() != outputs || features.chain(covariates).any(|n| n != outputs) {
            return Err(Error::Data(format!(
                "its coefficients are not those of {outputs} outputs"
            )));
        }
        let class = |name: &'a String| Class { name, number: name.parse().ok() };
        let classes = saved.classes.as_ref().map(|names| names.iter().map(class).collect());
        let logistic = saved.params.get("loss").is_some_and(|loss| loss == "logistic");
        Ok(Self { intercept, classes, logistic, ones: vec![1.0; outputs] })
    }

    /// A coefficient of 1 for every output.
    #[must_use]
    pub fn ones(&self) -> &[f64] {
        &self.ones
    }

    /// The margins of rows before any column was added, an output after the other.
    #[must_use]
    pub fn start(&self, rows: usize) -> Vec<Vec<f64>> {
        self.intercept.iter().map(|value| vec![*value; rows]).collect()
    }

    /// The columns that [`Model::cells`] gives.
    #[must_use]
    pub fn fields(&self) -> Vec<(String, FieldKind)> {
        let Some(classes) = &self.classes else {
            return vec![("prediction".into(), FieldKind::F64)];
        };
        let kind = if self.numbers().is_some() { FieldKind::F64 } else { FieldKind::Text };
        let mut fields = vec![("prediction".to_string(), kind)];
        let of_class = |what: &str, class: &Class<'_>| {
            let name = format!("{what}:{}", class.name);
            (name, FieldKind::F64)
        };
        match self.intercept.len() {
            1 => fields.push(("decision".into(), FieldKind::F64)),
            _ => fields.extend(classes.iter().map(|class| of_class("decision", class))),
        }
        if self.logistic {
            fields.extend(classes.iter().map(|class| of_class("probability", class)));
        }
        fields
    }

    /// The classes as numbers, where every name is one.
    fn numbers(&self) -> Option<Vec<f64>> {
        self.classes.as_ref()?.iter().map(|class| class.number).collect()
    }

    /// Predictions, decision values and probabilities of rows with these margins.
    #[must_use]
    pub fn cells(&self, margins: Vec<Vec<f64>>) -> Vec<Cells> {
        let column = |values: Vec<f64>| Cells::Numbers(ColumnData::dense(values));
        let Some(classes) = &self.classes else { return margins.into_iter().map(column).collect() };
        let best = best(&margins);
        let prediction = match self.numbers() {
            Some(numbers) => column(best.iter().map(|at| numbers[*at]).collect()),
            None => Cells::Text(best.iter().map(|at| classes[*at].name.to_string()).collect()),
        };
        let probabilities = if self.logistic { probabilities(&margins) } else { Vec::new() };
        let all = margins.into_iter().chain(probabilities);
        std::iter::once(prediction).chain(all.map(column)).collect()
    }
}

/// The place of the class of each row: of two the second where its margin is above 0, of several
/// the one with the largest margin, ties to the first.
fn best(margins: &[Vec<f64>]) -> Vec<usize> {
    let rows = margins.first().map_or(0, Vec::len);
    match margins {
        [one] => one.iter().map(|margin| usize::from(*margin > 0.0)).collect(),
        _ => (0..rows)
            .map(|row| {
                let better = |best: usize, at: usize| match margins[at][row] > margins[best][row] {
                    true => at,
                    false => best,
                };
                (1..margins.len()).fold(0, better)
            })
            .collect(),
    }
}

/// The probability of each class: `1 / (1 + exp(-margin))` of the second of two; of several each
/// class against the others, scaled to sum to 1.
fn probabilities(margins: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let sigmoid = |margin: f64| 1.0 / (1.0 + (-margin).exp());
    if let [one] = margins {
        let of = |sign: f64| one.iter().map(|margin| sigmoid(sign * margin)).collect();
        return vec![of(-1.0), of(1.0)];
    }
    let mut all: Vec<Vec<f64>> =
        margins.iter().map(|m| m.iter().map(|margin| sigmoid(*margin)).collect()).collect();
    for row in 0..all.first().map_or(0, Vec::len) {
        let sum: f64 = all.iter().map(|class| class[row]).sum();
        let even = 1.0 / all.len() as f64;
        all.iter_mut().for_each(|c| c[row] = if sum > 0.0 { c[row] / sum } else { even });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_the_logistic_function() {
        // scipy.special.expit(2) = 0.8807970779778823, expit(-800) = 0, expit(-1) = 0.2689414213699951.
        let two = probabilities(&[vec![2.0, -800.0]]);
        assert!((two[1][0] - 0.880_797_077_977_882_3).abs() < 1e-15);
        assert!((two[0][0] + two[1][0] - 1.0).abs() < 1e-15);
        assert_eq!((two[0][1], two[1][1]), (1.0, 0.0));
        let three = probabilities(&[vec![2.0, -800.0], vec![-1.0, -800.0], vec![2.0, -800.0]]);
        let (a, b) = (0.880_797_077_977_882_3, 0.268_941_421_369_995_1);
        assert!((three[1][0] - b / (2.0 * a + b)).abs() < 1e-15);
        assert_eq!(three.iter().map(|class| class[1]).sum::<f64>(), 1.0);
        assert_eq!(best(&[vec![1.0, 0.0], vec![1.0, 3.0], vec![0.0, 3.0]]), [0, 1]);
        assert_eq!(best(&[vec![0.0, 1e-300]]), [0, 1]);
    }
}
