//! What a table comes to by hand: rows that count, features as a method sees them, targets.

use crate::table::{Column, Table};
use crate::write::{Text, codes};

/// A feature as a method should see it.
#[derive(Clone, Debug)]
pub struct Feature {
    pub name: String,
    /// Over the rows that count, missing values filled.
    pub values: Vec<f64>,
    pub missing: usize,
    pub fate: Fate,
}

/// What the check of a column should come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Offered,
    Constant,
    Missing,
}

/// The table as a method should see it.
#[derive(Clone, Debug)]
pub struct Hand {
    pub weight: Vec<f64>,
    /// One list an output: numbers, or -1 and 1.
    pub y: Vec<Vec<f64>>,
    pub features: Vec<Feature>,
    /// Rows without a target.
    pub masked: usize,
    pub class_counts: Vec<usize>,
}

/// The features of a table before any row is left out or filled.
pub fn features(table: &Table, text: Text) -> Vec<(String, Vec<f64>)> {
    let one = |c: &Column| match (c.kind.is_text(), text) {
        (false, _) => vec![(c.name.clone(), c.values.clone())],
        (true, Text::Skip) => Vec::new(),
        (true, Text::Codes) => vec![(c.name.clone(), codes(c))],
        (true, Text::OneHot) => {
            let rows =
                |level: usize| (0..table.rows()).filter(move |row| c.values[*row] == level as f64);
            let weight = |level: usize| -> f64 {
                let known = rows(level).filter(|row| !table.target.values[*row].is_nan());
                known.map(|row| table.weight.as_ref().map_or(1.0, |w| w[row])).sum()
            };
            // The first of the levels with the most weight in the rows that count is the
            // reference; sums in another order may differ in their last digits.
            let most = (0..c.levels.len()).map(weight).fold(0.0, f64::max) * (1.0 - 1e-9);
            let there = |level: &usize| rows(*level).next().is_some();
            let reference = (0..c.levels.len()).filter(there).find(|level| weight(*level) >= most);
            let there = |level: usize| there(&level) && Some(level) != reference;
            let is = |level: usize, v: &f64| match v.is_nan() {
                true => f64::NAN,
                false => f64::from(u8::from(*v == level as f64)),
            };
            (0..c.levels.len())
                .filter(|level| there(*level))
                .map(|level| {
                    let values = c.values.iter().map(|v| is(level, v)).collect();
                    (format!("{}={}", c.name, c.levels[level]), values)
                })
                .collect()
        }
    };
    table.columns.iter().flat_map(one).collect()
}

impl Hand {
    /// A table under a policy for missing values, on a stream of features or of rows.
    pub fn new(table: &Table, text: Text, missing: &str, by_rows: bool) -> Self {
        let columns = features(table, text);
        let known = |row: &usize| !table.target.values[*row].is_nan();
        let whole = |row: &usize| columns.iter().all(|(_, values)| !values[*row].is_nan());
        let masked = (0..table.rows()).filter(|row| !known(row)).count();
        let rows: Vec<usize> = (0..table.rows())
            .filter(known)
            .filter(|row| missing != "drop-row" || whole(row))
            .collect();
        let weight: Vec<f64> =
            rows.iter().map(|row| table.weight.as_ref().map_or(1.0, |w| w[*row])).collect();
        let mut features = Vec::new();
        for (name, values) in &columns {
            let there: Vec<f64> = rows.iter().map(|row| values[*row]).collect();
            fill(name, there, &weight, missing, by_rows, &mut features);
            if missing == "drop-row" {
                // Values that were missing, and for which rows were left out.
                let holes = (0..table.rows()).filter(known).filter(|row| values[*row].is_nan());
                features.last_mut().expect("just pushed").missing = holes.count();
            }
        }
        let code = |row: &usize| table.target.values[*row];
        let names = table.target.classes.len();
        let classes: Vec<f64> =
            (0..names).map(|c| c as f64).filter(|c| table.target.values.contains(c)).collect();
        let sign = |c: f64| rows.iter().map(move |row| if code(row) == c { 1.0 } else { -1.0 });
        let y = match classes.len() {
            0 => vec![rows.iter().map(code).collect()],
            2 => vec![sign(classes[1]).collect()],
            _ => classes.iter().map(|c| sign(*c).collect()).collect(),
        };
        let count = |c: &f64| rows.iter().filter(|row| code(row) == *c).count();
        let class_counts = classes.iter().map(count).collect();
        Self { weight, y, features, masked, class_counts }
    }

    pub fn feature(&self, name: &str) -> Option<&Feature> {
        self.features.iter().find(|f| f.name == name)
    }

    pub fn total(&self) -> f64 {
        self.weight.iter().sum()
    }

    /// The weighted mean, summed twice so that an offset costs nothing.
    pub fn mean(&self, values: &[f64]) -> f64 {
        let sum = |shift: f64| -> f64 {
            values.iter().zip(&self.weight).map(|(v, w)| w * (v - shift)).sum()
        };
        let first = sum(0.0) / self.total();
        first + sum(first) / self.total()
    }

    /// The values less their mean, twice: a mean between two neighbouring numbers is neither, and
    /// what it is rounded by is much where all values are 0.3 but for the last place.
    pub fn centred(&self, values: &[f64]) -> Vec<f64> {
        let less = |values: &[f64]| -> Vec<f64> {
            let mean = self.mean(values);
            values.iter().map(|v| v - mean).collect()
        };
        less(&less(values))
    }

    /// The weighted standard deviation.
    pub fn deviation(&self, values: &[f64]) -> f64 {
        let squares = self.centred(values).into_iter().zip(&self.weight).map(|(v, w)| w * v * v);
        (squares.sum::<f64>() / self.total()).sqrt()
    }
}

/// One column under the policy; with `indicator` two features may come of it.
fn fill(
    name: &str,
    mut values: Vec<f64>,
    weight: &[f64],
    policy: &str,
    by_rows: bool,
    out: &mut Vec<Feature>,
) {
    let missing = values.iter().filter(|v| v.is_nan()).count();
    let mut there = values.iter().filter(|v| !v.is_nan());
    let first = there.next().copied().unwrap_or(0.0);
    let one_value = there.all(|v| *v == first);
    let holes: Vec<f64> = values.iter().map(|v| f64::from(u8::from(v.is_nan()))).collect();
    let mut fate = Fate::Offered;
    if missing > 0 {
        match policy {
            "zero" => values.iter_mut().filter(|v| v.is_nan()).for_each(|v| *v = 0.0),
            "mean" if by_rows => running(&mut values),
            "mean" | "indicator" => {
                let there = values.iter().zip(weight).filter(|(v, _)| !v.is_nan());
                let (sum, total) = there.fold((0.0, 0.0), |(s, t), (v, w)| (s + w * v, t + w));
                let mean = if total > 0.0 { sum / total } else { 0.0 };
                values.iter_mut().filter(|v| v.is_nan()).for_each(|v| *v = mean);
            }
            _ => fate = Fate::Missing,
        }
    }
    // Filled with its own mean a column of one value is constant, whatever the mean's last digit.
    let near = |v: &f64| (v - first).abs() <= 1e-12 * first.abs();
    let filled =
        |v: &f64| if policy == "mean" || policy == "indicator" { near(v) } else { *v == values[0] };
    if fate == Fate::Offered && one_value && values.iter().all(filled) {
        fate = Fate::Constant;
    }
    out.push(Feature { name: name.into(), values, missing, fate });
    if missing > 0 && policy == "indicator" {
        let constant = holes.iter().all(|v| *v == holes[0]);
        let fate = if constant { Fate::Constant } else { Fate::Offered };
        out.push(Feature { name: format!("{name}:missing"), values: holes, missing: 0, fate });
    }
}

/// Fills with the mean of the rows before, 0 where there is none.
fn running(values: &mut [f64]) {
    let (mut sum, mut count) = (0.0, 0.0);
    for v in values {
        if v.is_nan() {
            *v = if count > 0.0 { sum / count } else { 0.0 };
        } else {
            sum += *v;
            count += 1.0;
        }
    }
}
