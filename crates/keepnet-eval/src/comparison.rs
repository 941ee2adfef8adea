//! The numbers of a comparison: tidy records, and what they say about the methods.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::stats::{Friedman, WinTieLoss, critical_difference, friedman, mean_sd};

/// Level of every test.
pub const ALPHA: f64 = 0.05;

/// One number, with all that it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Record {
    /// The data set.
    pub dataset: String,
    /// The method, as it was written.
    pub method: String,
    /// The split; empty for a number about all of them.
    pub split: String,
    /// The order of the features, from 0; empty for a number about all of them.
    pub order: String,
    /// Who judged; empty for a number about the selection itself.
    pub classifier: String,
    /// What was measured.
    pub metric: String,
    /// The number.
    pub value: f64,
}

/// All numbers of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Data sets in the order given.
    pub datasets: Vec<String>,
    /// Methods in the order given.
    pub methods: Vec<String>,
    /// Judges in the order given.
    pub judges: Vec<String>,
    /// The numbers.
    pub records: Vec<Record>,
}

/// How methods rank on one judge's numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// The judge.
    pub judge: String,
    /// `error` or `rmse`.
    pub metric: &'static str,
    /// What one line of the ranking is: `data sets`, or `splits` where there is one data set.
    pub over: &'static str,
    /// Friedman's test; rank 1 is best.
    pub friedman: Friedman,
    /// Nemenyi's critical difference at [`ALPHA`].
    pub difference: f64,
    /// The methods, in the order of the ranks.
    pub methods: Vec<String>,
}

impl Comparison {
    /// The numbers of one kind, in the order of splits and orders.
    #[must_use]
    pub fn values(&self, dataset: &str, method: &str, classifier: &str, metric: &str) -> Vec<f64> {
        let asked = |r: &&Record| {
            r.metric == metric
                && r.method == method
                && r.dataset == dataset
                && r.classifier == classifier
        };
        self.records.iter().filter(asked).map(|r| r.value).collect()
    }

    /// Mean and standard deviation of the numbers of one kind.
    #[must_use]
    pub fn summary(
        &self,
        dataset: &str,
        method: &str,
        by: &str,
        metric: &str,
    ) -> Option<(f64, f64)> {
        let values = self.values(dataset, method, by, metric);
        (!values.is_empty()).then(|| mean_sd(&values))
    }

    /// The measure that is small for a good prediction: `error`, or `rmse` for numbers.
    #[must_use]
    pub fn loss(&self) -> &'static str {
        if self.records.iter().any(|r| r.metric == "rmse") { "rmse" } else { "error" }
    }

    /// Numbers of two methods on one data set, paired by split and order.
    fn paired(&self, dataset: &str, judge: &str, pair: [&str; 2]) -> [Vec<f64>; 2] {
        let metric = self.loss();
        let of = |method: &str| -> BTreeMap<(&str, &str), f64> {
            let asked = |r: &&Record| {
                r.metric == metric
                    && r.dataset == dataset
                    && r.classifier == judge
                    && r.method == method
            };
            self.records
                .iter()
                .filter(asked)
                .map(|r| ((r.split.as_str(), r.order.as_str()), r.value))
                .collect()
        };
        let (a, b) = (of(pair[0]), of(pair[1]));
        // A method on rows has one order, which stands for all.
        let other = |key: &(&str, &str)| b.get(key).or_else(|| b.get(&(key.0, "0"))).copied();
        let pairs: Vec<(f64, f64)> =
            a.iter().filter_map(|(key, value)| Some((*value, other(key)?))).collect();
        [pairs.iter().map(|p| p.0).collect(), pairs.iter().map(|p| p.1).collect()]
    }

    /// On how many data sets the first method is better, equal and worse than another, by
    /// paired t-tests over splits and orders.
    #[must_use]
    pub fn win_tie_loss(&self, judge: &str, first: &str, other: &str) -> Option<WinTieLoss> {
        let mut count = WinTieLoss::default();
        for dataset in &self.datasets {
            let [ours, theirs] = self.paired(dataset, judge, [first, other]);
            if !ours.is_empty() {
                count.add(&ours, &theirs, ALPHA);
            }
        }
        (count != WinTieLoss::default()).then_some(count)
    }

    /// Ranks of the methods by one judge, over data sets, or over splits of the only one.
    /// Methods without numbers on some data set are left out.
    #[must_use]
    pub fn ranking(&self, judge: &str) -> Option<Ranking> {
        let metric = self.loss();
        let all = |method: &&String| {
            self.datasets.iter().all(|d| !self.values(d, method, judge, metric).is_empty())
        };
        let methods: Vec<String> = self.methods.iter().filter(all).cloned().collect();
        let several = self.datasets.len() > 1;
        let table: Vec<Vec<f64>> = if several {
            let mean = |d: &String, m: &String| self.summary(d, m, judge, metric).map(|s| s.0);
            let line = |d: &String| methods.iter().filter_map(|m| mean(d, m)).collect();
            self.datasets.iter().map(line).collect()
        } else {
            let dataset = self.datasets.first()?;
            let columns: Vec<Vec<f64>> = methods
                .iter()
                .map(|m| self.paired(dataset, judge, [methods[0].as_str(), m.as_str()])[1].clone())
                .collect();
            let lines = columns.iter().map(Vec::len).min().unwrap_or(0);
            (0..lines).map(|i| columns.iter().map(|c| c[i]).collect()).collect()
        };
        let friedman = friedman(&table)?;
        let difference = critical_difference(methods.len(), table.len(), ALPHA);
        let over = if several { "data sets" } else { "splits" };
        Some(Ranking { judge: judge.into(), metric, over, friedman, difference, methods })
    }

    /// Every ranking that there is.
    #[must_use]
    pub fn rankings(&self) -> Vec<Ranking> {
        self.judges.iter().filter_map(|judge| self.ranking(judge)).collect()
    }

    /// Adds a number; `place` is data set, method, split, order and classifier.
    pub fn push(&mut self, place: [&str; 5], metric: &str, value: f64) {
        let [dataset, method, split, order, classifier] = place.map(String::from);
        let metric = metric.to_string();
        self.records.push(Record { dataset, method, split, order, classifier, metric, value });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two methods on two data sets; `a` is better on the first and equal on the second.
    fn example() -> Comparison {
        let mut all = Comparison {
            datasets: vec!["x".into(), "y".into()],
            methods: vec!["a".into(), "b".into()],
            judges: vec!["svm".into()],
            records: Vec::new(),
        };
        for (split, (a, b)) in [("1", (0.1, 0.3)), ("2", (0.11, 0.29)), ("3", (0.1, 0.31))] {
            all.push(["x", "a", split, "0", "svm"], "error", a);
            all.push(["x", "b", split, "0", "svm"], "error", b);
            all.push(["y", "a", split, "0", "svm"], "error", a);
            all.push(["y", "b", split, "0", "svm"], "error", a);
        }
        all
    }

    #[test]
    fn methods_are_paired_by_split_and_ranked_over_data_sets() {
        let all = example();
        assert_eq!(all.win_tie_loss("svm", "a", "b").unwrap().to_string(), "1/1/0");
        assert_eq!(all.win_tie_loss("svm", "b", "a").unwrap().to_string(), "0/1/1");
        let ranking = all.ranking("svm").unwrap();
        // First data set 1 and 2, second tied: 1.25 and 1.75.
        assert_eq!(ranking.friedman.ranks, [1.25, 1.75]);
        assert_eq!(ranking.over, "data sets");
        assert!(all.ranking("tree").is_none());
    }

    #[test]
    fn one_data_set_is_ranked_over_its_splits() {
        let mut all = example();
        all.datasets.truncate(1);
        let ranking = all.ranking("svm").unwrap();
        assert_eq!((ranking.over, ranking.friedman.n), ("splits", 3));
        assert_eq!(ranking.friedman.ranks, [1.0, 2.0]);
    }
}
