//! Accuracy of classifiers on what was selected, as the paper measures it.
//!
//! Its nearest neighbour and J48 see the columns as they are; so they do here. Its AUC is that
//! of predicted classes and not of scores (in its Table XIV, accuracy and AUC agree to the last
//! digit where the classes are balanced), which for two classes is the mean of the two shares
//! of rows that are right. The linear machine is on standardised columns: on raw ones coordinate
//! descent does not end.

use keepnet::Result;
use keepnet::learn::RowLearner;
use keepnet::registry::{self, MethodSpec};
use keepnet::{Budget, ColumnData, Row, RowBlock, RowProblem};
use keepnet_eval::splits::Split;
use keepnet_eval::{ClassifierKind, Matrix, judge, judge_raw, metrics};
use rayon::prelude::*;

use super::data::{Arrival, Choice, Method, Table, select};

/// Sizes that the paper tries for OFS.
const SIZES: std::ops::RangeInclusive<usize> = 1..=20;
const STEP: usize = 5;

/// What one classifier says of one selection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Share of test rows that it gets right.
    pub accuracy: f64,
    /// AUC of the predicted classes.
    pub auc: f64,
}

/// Judges a selection.
pub fn verdict(kind: ClassifierKind, table: &Table, split: &Split, features: &[u64]) -> Verdict {
    let (names, codes) = table.classes();
    let values = table.values(features);
    let views: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    let (train, test) = (Matrix::gather(&views, &split.train), Matrix::gather(&views, &split.test));
    let pick = |rows: &[u32]| rows.iter().map(|row| codes[*row as usize]).collect::<Vec<u32>>();
    let (learnt, truth) = (pick(&split.train), pick(&split.test));
    let by = if kind == ClassifierKind::Svm { judge } else { judge_raw };
    let predicted = metrics::classes(&by(kind, &train, &learnt, names.len(), &test));
    Verdict {
        accuracy: 1.0 - metrics::error(&truth, &predicted),
        auc: balanced(&truth, &predicted),
    }
}

/// The mean over classes of the share of rows that are right; the AUC of two predicted classes.
fn balanced(truth: &[u32], predicted: &[u32]) -> f64 {
    let classes = truth.iter().max().map_or(0, |most| most + 1);
    let mut shares = Vec::new();
    for class in 0..classes {
        let rows = truth.iter().zip(predicted).filter(|(truth, _)| **truth == class);
        let (right, all) =
            rows.fold((0, 0), |(right, all), (t, p)| (right + u32::from(t == p), all + 1));
        if all > 0 {
            shares.push(f64::from(right) / f64::from(all));
        }
    }
    shares.iter().sum::<f64>() / shares.len().max(1) as f64
}

/// One run of a table: what was selected, then a verdict a classifier.
pub struct Run {
    /// Features selected; of OFS those of the size that the last classifier likes best.
    pub choice: Choice,
    /// Verdicts in the order of the classifiers.
    pub verdicts: Vec<Verdict>,
}

impl Run {
    /// As numbers for the journal: size, seconds, groups, then accuracy and AUC of each.
    pub fn numbers(&self) -> Vec<f64> {
        let choice = &self.choice;
        let mut out = vec![choice.features.len() as f64, choice.seconds, choice.groups as f64];
        self.verdicts.iter().for_each(|verdict| out.extend([verdict.accuracy, verdict.auc]));
        out
    }
}

/// Places in [`Run::numbers`].
pub const SIZE: usize = 0;
/// Seconds.
pub const SECONDS: usize = 1;
/// Groups.
pub const GROUPS: usize = 2;

/// Accuracy of the classifier at this place.
pub fn accuracy(judge: usize) -> usize {
    3 + 2 * judge
}

/// AUC of the classifier at this place.
pub fn auc(judge: usize) -> usize {
    4 + 2 * judge
}

/// Who competes: a method on features, with a size of its own or told, or OFS.
#[derive(Clone, Copy)]
pub enum Entrant {
    /// A method on features.
    Features(Method),
    /// A method that is told the size that is best on the test rows: the steps, and the largest.
    Told(Method, usize, usize),
    /// OFS, which sees rows and needs to be told its size.
    Ofs,
}

impl Entrant {
    /// Its name in the table.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Features(method) | Self::Told(method, ..) => method.label,
            Self::Ofs => "OFS",
        }
    }

    /// Selects and judges.
    pub fn run(
        &self,
        table: &Table,
        split: &Split,
        judges: &[ClassifierKind],
        seed: u64,
        arrival: Arrival,
    ) -> Result<Run> {
        match self {
            Self::Features(method) => {
                let choice = select(table, &split.train, method, (seed, None), arrival)?;
                let one = |kind: &ClassifierKind| verdict(*kind, table, split, &choice.features);
                Ok(Run { verdicts: judges.iter().map(one).collect(), choice })
            }
            Self::Told(method, step, most) => {
                let k = Some(*most);
                let all = select(table, &split.train, method, (seed, k), arrival)?;
                // A size at or beyond the end of the path is the end.
                let last = all.features.len().min(*most);
                let sizes = (*step..last).step_by(*step).chain([last]);
                let first = |size: usize| Choice {
                    features: all.features[..size].to_vec(),
                    groups: 0,
                    seconds: all.seconds,
                };
                Ok(best_of(table, split, judges, sizes.map(first).collect()))
            }
            Self::Ofs => {
                let sizes = SIZES.map(|step| step * STEP);
                let sizes = sizes.filter(|k| *k as u64 <= table.features);
                let choices = ofs(table, split, &sizes.collect::<Vec<usize>>())?;
                Ok(best_of(table, split, judges, choices))
            }
        }
    }

    /// The method in the registry; OFS is always there.
    pub fn is_there(&self) -> bool {
        match self {
            Self::Features(method) | Self::Told(method, ..) => registry::find(method.name).is_ok(),
            Self::Ofs => true,
        }
    }
}

/// The size that each classifier likes best on the test rows, as in the paper: the accuracies are
/// therefore too good.
fn best_of(table: &Table, split: &Split, judges: &[ClassifierKind], choices: Vec<Choice>) -> Run {
    let judged: Vec<Vec<Verdict>> = choices
        .par_iter()
        .map(|choice| {
            let one = |kind: &ClassifierKind| verdict(*kind, table, split, &choice.features);
            judges.iter().map(one).collect()
        })
        .collect();
    let mut best: Vec<Option<(usize, Verdict)>> = vec![None; judges.len()];
    for (place, verdicts) in judged.iter().enumerate() {
        for (best, verdict) in best.iter_mut().zip(verdicts) {
            if best.is_none_or(|(_, other)| verdict.accuracy > other.accuracy) {
                *best = Some((place, *verdict));
            }
        }
    }
    let last = best.last().and_then(|best| best.map(|(place, _)| place)).unwrap_or(0);
    let verdicts = best.into_iter().map(|best| best.map_or_else(Verdict::default, |b| b.1));
    let verdicts = verdicts.collect();
    let choice = choices.into_iter().nth(last);
    let none = || Choice { features: Vec::new(), groups: 0, seconds: 0.0 };
    Run { choice: choice.unwrap_or_else(none), verdicts }
}

/// One pass over the training rows for each size, on the columns as they are: so the paper's
/// accuracy of the nearest neighbour on madelon is met at its 65 features.
pub fn ofs(table: &Table, split: &Split, sizes: &[usize]) -> Result<Vec<Choice>> {
    let (names, codes) = table.classes();
    let mut problem = RowProblem::binary(table.features as usize);
    problem.classes = names.to_vec();
    let mut rows = RowBlock::new(problem.features(), split.train.len());
    let target = |row: &u32| f64::from(codes[*row as usize]);
    match (table.make)(0) {
        ColumnData::Sparse { .. } | ColumnData::Bits { .. } => {
            for (row, (index, value)) in split.train.iter().zip(by_rows(table, &split.train)) {
                rows.push(Row::Sparse { index: &index, value: &value }, target(row), 1.0)?;
            }
        }
        _ => {
            let all: Vec<u64> = (0..table.features).collect();
            let values = table.values(&all);
            let views: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
            let train = Matrix::gather(&views, &split.train);
            for (at, row) in split.train.iter().enumerate() {
                rows.push(Row::F64(train.row(at)), target(row), 1.0)?;
            }
        }
    }
    let info = registry::find("ofs")?;
    let one = |k: &usize| {
        let spec = MethodSpec::k(*k);
        let start = std::time::Instant::now();
        let mut learner: Box<dyn RowLearner> =
            registry::make_rows(info, &spec, &problem, Budget::unlimited())?;
        learner.learn_block(&rows)?;
        let features = learner.selection()?.indices();
        Ok(Choice { features, groups: 0, seconds: start.elapsed().as_secs_f64() })
    };
    sizes.iter().map(one).collect()
}

/// The values that are not zero, row by row.
fn by_rows(table: &Table, train: &[u32]) -> Vec<(Vec<u32>, Vec<f64>)> {
    let mut place = vec![usize::MAX; table.problem.n()];
    train.iter().enumerate().for_each(|(at, row)| place[*row as usize] = at);
    let mut rows = vec![(Vec::new(), Vec::new()); train.len()];
    let mut values = vec![0.0; table.problem.n()];
    for j in 0..table.features {
        (table.make)(j).view().fill(&mut values);
        for (value, at) in values.iter().zip(&place) {
            if *value != 0.0 && *at != usize::MAX {
                rows[*at].0.push(j as u32);
                rows[*at].1.push(*value);
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_auc_of_predicted_classes_is_their_mean_recall() {
        // One of two zeros and three of four ones are right: (1/2 + 3/4) / 2. With the classes as
        // scores 3 of the 8 pairs are in order and 4 are tied: (3 + 4 / 2) / 8.
        let got = balanced(&[0, 0, 1, 1, 1, 1], &[0, 1, 1, 1, 1, 0]);
        assert_eq!(got, 0.625);
        let positive = [false, false, true, true, true, true];
        assert_eq!(metrics::auc(&[0.0, 1.0, 1.0, 1.0, 1.0, 0.0], &positive), Some(got));
    }
}
