//! The answer of a run, and whether two of them are the same.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::fits::condition;
use crate::hand::Hand;

/// One selected feature.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub coefficient: Vec<f64>,
    pub score: f64,
}

/// What a run kept and with which weights, under the table's own names.
#[derive(Clone, Debug)]
pub struct Answer {
    pub json: Value,
    pub chosen: BTreeMap<String, Chosen>,
    pub intercept: Vec<f64>,
    pub loss: Option<f64>,
    /// The largest number that the intercept was made from: its last digits are worth no more.
    pub level: f64,
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect(),
        Value::Null => Vec::new(),
        value => vec![value.as_f64().unwrap_or(f64::NAN)],
    }
}

impl Answer {
    /// Reads a result; `rename` gives a feature's name in the table.
    pub fn new(json: Value, rename: impl Fn(&str) -> String) -> Self {
        let chosen = |f: &Value| {
            let name = rename(f["name"].as_str().unwrap_or_default());
            let score = f["score"].as_f64().unwrap_or(f64::NAN);
            (name, Chosen { coefficient: numbers(&f["coefficient"]), score })
        };
        let list = |name: &str| json[name].as_array().unwrap().iter();
        let chosen = list("selected").chain(list("always")).map(chosen).collect();
        let (intercept, loss) = (numbers(&json["intercept"]), json["final_loss"].as_f64());
        let level = intercept.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        Self { chosen, intercept, loss, level, json }
    }

    /// Everything outside `run`; the files are in another folder each time.
    pub fn digits(&self) -> Value {
        let mut json = self.json.clone();
        json.as_object_mut().unwrap().remove("run");
        for list in ["selected", "always"] {
            for feature in json[list].as_array_mut().unwrap() {
                feature.as_object_mut().unwrap().remove("source");
            }
        }
        json
    }

    /// The predictions where every chosen feature is at its mean: intercepts are compared there,
    /// since an offset of 1e8 would make any of them look wrong or right.
    fn centres(&self, hand: &Hand) -> Vec<f64> {
        let at = |(c, intercept): (usize, &f64)| {
            let part = |(name, f): (&String, &Chosen)| {
                let mean = hand.feature(name).map_or(0.0, |x| hand.mean(&x.values));
                f.coefficient.get(c).map_or(0.0, |w| w * mean)
            };
            intercept + self.chosen.iter().map(part).sum::<f64>()
        };
        self.intercept.iter().enumerate().map(at).collect()
    }

    /// Whether features of one answer stand in for those of the other: in the order of their
    /// scores these differ by at most 1e-9 of the largest score or, where a score is a rise of the
    /// loss, of the loss of a constant: what two features add to a perfect fit is rounding.
    fn ties(&self, other: &Self, hand: &Hand) -> Result<(), String> {
        let only = |a: &Self, b: &Self| {
            let mine = a.chosen.iter().filter(|(name, _)| !b.chosen.contains_key(*name));
            let mut mine: Vec<(f64, String)> =
                mine.map(|(name, f)| (f.score, name.clone())).collect();
            mine.sort_by(|x, y| x.0.total_cmp(&y.0));
            mine
        };
        let (a, b) = (only(self, other), only(other, self));
        let scores = self.chosen.values().chain(other.chosen.values());
        let rises = self.json["score_kind"].as_str().is_some_and(|kind| kind.starts_with("loss"));
        let spread: f64 = hand.y.iter().map(|y| 0.5 * hand.deviation(y).powi(2)).sum();
        let least = if rises { spread } else { 0.0 };
        let largest = scores.map(|f| f.score.abs()).fold(least, f64::max);
        let tie = |(x, y): (&(f64, String), &(f64, String))| (x.0 - y.0).abs() <= 1e-9 * largest;
        match a.len() == b.len() && a.iter().zip(&b).all(tie) {
            true => Ok(()),
            false => Err(format!("other features: {a:?} against {b:?}")),
        }
    }

    /// Whether another answer to the same question is the same: set, weights, intercept, loss.
    pub fn same(&self, other: &Self, hand: &Hand) -> Result<(), String> {
        self.ties(other, hand)?;
        let columns: Vec<&[f64]> = self
            .chosen
            .keys()
            .filter_map(|name| hand.feature(name))
            .filter(|x| hand.deviation(&x.values) > 0.0)
            .map(|x| x.values.as_slice())
            .collect();
        // Copies share one weight, and how is settled by the ridge of the refit alone: what it
        // leaves of the digits.
        let tolerance = 1e-6_f64.max(1e-13 * condition(hand, &columns, 1e-10));
        let deviation =
            |name: &str| hand.feature(name).map_or(f64::NAN, |x| hand.deviation(&x.values));
        let size = |name: &str, f: &Chosen| {
            let s = deviation(name);
            f.coefficient.iter().fold(0.0_f64, |m, w| m.max((w * s).abs()))
        };
        let largest = self.chosen.iter().map(|(n, f)| size(n, f)).fold(0.0, f64::max);
        for (name, a) in &self.chosen {
            let Some(b) = other.chosen.get(name) else { continue };
            if a.coefficient.len() != b.coefficient.len() {
                return Err(format!("{name}: {} outputs", a.coefficient.len()));
            }
            for (x, y) in a.coefficient.iter().zip(&b.coefficient) {
                let apart = (x - y).abs() * deviation(name);
                let near = apart <= tolerance * largest || x.to_bits() == y.to_bits();
                if !near {
                    return Err(format!("weight of {name}: {x} against {y}"));
                }
            }
        }
        let tied = self.chosen.keys().ne(other.chosen.keys());
        self.same_level(other, hand, tied, tolerance)
    }

    /// Intercept and loss.
    fn same_level(
        &self,
        other: &Self,
        hand: &Hand,
        tied: bool,
        tolerance: f64,
    ) -> Result<(), String> {
        if !tied {
            let (a, b) = (self.centres(hand), other.centres(hand));
            let rounding = 1e-13 * self.level.max(other.level);
            for ((a, b), y) in a.iter().zip(&b).zip(&hand.y) {
                let near = tolerance * hand.deviation(y) + 1e-12 * a.abs();
                let same = (a - b).abs() <= near + rounding || a.to_bits() == b.to_bits();
                if !same {
                    return Err(format!("intercept at the means: {a} against {b}"));
                }
            }
        }
        match (self.loss, other.loss) {
            (None, None) => Ok(()),
            (Some(a), Some(b)) => {
                let spread: f64 = hand.y.iter().map(|y| hand.deviation(y).powi(2)).sum();
                let near = 1e-6 * a.abs().max(b.abs()) + 1e-10 * spread;
                match (a - b).abs() <= near {
                    true => Ok(()),
                    false => Err(format!("loss: {a} against {b}")),
                }
            }
            (a, b) => Err(format!("loss: {a:?} against {b:?}")),
        }
    }
}
