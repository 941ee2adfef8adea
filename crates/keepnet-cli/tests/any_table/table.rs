//! A random table: what can be in a user's file, by seed.
//!
//! Values lie on a grid of 2^-20 of their column's unit, a power of two. So a shift by up to 1e8
//! deviations and a scale by a power of two are exact in f64, and two answers that differ do so
//! because of the program and not of the data.

use crate::random::Random;

/// How a file stores a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Int,
    F32,
    F64,
    /// Text in a dictionary, where the format has one.
    Dictionary,
    Text,
}

impl Kind {
    pub fn is_text(self) -> bool {
        matches!(self, Self::Dictionary | Self::Text)
    }
}

/// A column; NaN is missing. The values of text are the places of its sorted levels.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
    pub values: Vec<f64>,
    pub levels: Vec<String>,
}

/// What is to be predicted; NaN is missing.
#[derive(Clone, Debug)]
pub struct Target {
    /// Numbers, or places in `classes`.
    pub values: Vec<f64>,
    /// Sorted names; empty for numbers.
    pub classes: Vec<String>,
}

/// A table with its target and weights.
#[derive(Clone, Debug)]
pub struct Table {
    pub columns: Vec<Column>,
    pub target: Target,
    pub weight: Option<Vec<f64>>,
}

/// What a method can be given.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Fewest and most classes; 0 is a target of numbers.
    pub classes: (usize, usize),
    /// Class names must be numbers.
    pub numeric_classes: bool,
    /// Every column has few levels.
    pub discrete: bool,
    /// Offsets and scales of any size.
    pub wild: bool,
}

const GRID: f64 = (1_u64 << 20) as f64;

/// The power of two nearest below.
pub fn power(value: f64) -> f64 {
    2f64.powi(value.log2().floor() as i32)
}

impl Table {
    pub fn rows(&self) -> usize {
        self.target.values.len()
    }

    /// The table of a seed.
    pub fn random(seed: u64, limits: Limits) -> Self {
        let random = &mut Random::part(seed, "table");
        let n = match random.between(0, 9) {
            0 => random.between(5, 12),
            1..=4 => random.between(13, 80),
            _ => random.between(81, 400),
        };
        let p = random.between(3, 28);
        let factor: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let share = *random.pick(&[0.0, 0.0, 0.4, 0.8]);
        let palette = palette(random, limits);
        let mut columns: Vec<Column> = Vec::new();
        let mut signal = vec![0.0; n];
        for j in 0..p {
            let kind = *random.pick(&palette);
            let column = match random.between(0, 19) {
                0 if !columns.is_empty() => copy(random, &columns, j, Copied::Same),
                1 if !columns.is_empty() => copy(random, &columns, j, Copied::Negative),
                2 if !columns.is_empty() => copy(random, &columns, j, Copied::Near),
                3 => constant(random, j, n, kind),
                4 => rare(random, j, n, kind),
                _ => {
                    let mut z: Vec<f64> = (0..n).map(|_| random.normal()).collect();
                    z.iter_mut().zip(&factor).for_each(|(z, f)| *z += share * f);
                    if random.chance(0.35) {
                        let beta = random.uniform(0.3, 2.0) * random.pick(&[-1.0, 1.0]);
                        signal.iter_mut().zip(&z).for_each(|(s, z)| *s += beta * z);
                    }
                    stored(random, j, &z, kind, limits)
                }
            };
            columns.push(column);
        }
        if random.chance(0.4) {
            holes(random, &mut columns);
        }
        let noise = *random.pick(&[0.1, 0.5, 2.0]);
        signal.iter_mut().for_each(|s| *s += noise * random.normal());
        let target = target(random, &signal, limits);
        let weight = random.chance(0.4).then(|| match random.chance(0.5) {
            true => (0..n).map(|_| random.between(1, 3) as f64).collect(),
            false => (0..n).map(|_| (random.uniform(0.2, 3.0) * 64.0).ceil() / 64.0).collect(),
        });
        Self { columns, target, weight }
    }

    /// The rows in `take`, in its order; a row may come twice.
    pub fn take(&self, take: &[usize]) -> Self {
        let some = |values: &Vec<f64>| take.iter().map(|row| values[*row]).collect::<Vec<f64>>();
        let column = |c: &Column| Column { values: some(&c.values), ..c.clone() };
        Self {
            columns: self.columns.iter().map(column).collect(),
            target: Target { values: some(&self.target.values), ..self.target.clone() },
            weight: self.weight.as_ref().map(some),
        }
    }

    pub fn has_missing(&self) -> bool {
        self.columns.iter().any(|c| c.values.iter().any(|v| v.is_nan()))
    }

    pub fn has_text(&self) -> bool {
        self.columns.iter().any(|c| c.kind.is_text())
    }
}

/// The kinds of a table: all of them, or one.
fn palette(random: &mut Random, limits: Limits) -> Vec<Kind> {
    use Kind::{Bool, Dictionary, F32, F64, Int, Text};
    match (limits.discrete, random.between(0, 7)) {
        (true, 0) => vec![Bool],
        (true, 1) => vec![Int],
        (true, _) => vec![Bool, Int, Int, Dictionary, Text],
        (_, 0) => vec![F64],
        (_, 1) => vec![F32],
        (_, 2) => vec![Int],
        (_, 3) => vec![Int, F64, F64, F64],
        (_, 4 | 5) => vec![Bool, Int, F32, F64],
        _ => vec![Bool, Int, F32, F64, F64, Dictionary, Text],
    }
}

fn named(j: usize, kind: Kind, values: Vec<f64>, levels: Vec<String>) -> Column {
    Column { name: format!("c{j}"), kind, values, levels }
}

fn level_names(count: usize) -> Vec<String> {
    // Sorted as text, which is how codes are given.
    ["blue", "green", "grey", "red", "white"][..count].iter().map(|s| (*s).into()).collect()
}

/// Normal numbers in the way that a kind holds them.
fn stored(random: &mut Random, j: usize, z: &[f64], kind: Kind, limits: Limits) -> Column {
    let cut =
        |parts: usize, z: f64| ((z + 1.5) / 3.0 * parts as f64).clamp(0.0, parts as f64 - 1.0);
    match kind {
        Kind::Bool => {
            let at = random.uniform(-1.0, 1.0);
            let values = z.iter().map(|z| f64::from(u8::from(*z > at))).collect();
            named(j, kind, values, Vec::new())
        }
        Kind::Dictionary | Kind::Text => {
            let count = random.between(2, 5);
            let values = z.iter().map(|z| cut(count, *z).floor()).collect();
            named(j, kind, values, level_names(count))
        }
        Kind::Int if limits.discrete => {
            let count = random.between(2, 6);
            let values = z.iter().map(|z| cut(count, *z).floor()).collect();
            named(j, kind, values, Vec::new())
        }
        Kind::Int => {
            let spread = *random.pick(&[2.0, 30.0, 1e4]);
            let offset =
                if random.chance(0.3) { (spread * wide(random, 8.0, limits)).round() } else { 0.0 };
            named(j, kind, z.iter().map(|z| (z * spread).round() + offset).collect(), Vec::new())
        }
        Kind::F32 | Kind::F64 => {
            let exponent = if limits.wild { random.uniform(-6.0, 6.0) } else { 0.0 };
            let unit = power(10f64.powf(exponent));
            // What f32 resolves: at an offset of 1e3 deviations a thousandth of a deviation.
            let most = if kind == Kind::F32 { 3.0 } else { 8.0 };
            let offset = if random.chance(0.35) { wide(random, most, limits).round() } else { 0.0 };
            let value = |z: &f64| ((z * GRID).round() / GRID + offset) * unit;
            let narrow = |v: f64| if kind == Kind::F32 { f64::from(v as f32) } else { v };
            named(j, kind, z.iter().map(|z| narrow(value(z))).collect(), Vec::new())
        }
    }
}

/// An offset of up to 10^most deviations, of either sign.
fn wide(random: &mut Random, most: f64, limits: Limits) -> f64 {
    let most = if limits.wild { most } else { 1.0 };
    10f64.powf(random.uniform(0.0, most)) * random.pick(&[-1.0, 1.0])
}

enum Copied {
    Same,
    Negative,
    Near,
}

fn copy(random: &mut Random, columns: &[Column], j: usize, how: Copied) -> Column {
    let of = random.pick(columns).clone();
    let name = format!("c{j}");
    let number = matches!(of.kind, Kind::F64 | Kind::F32);
    let values = match how {
        Copied::Negative if !of.kind.is_text() && of.kind != Kind::Bool => {
            of.values.iter().map(|v| -v).collect()
        }
        Copied::Near if number && deviation(&of.values) > 0.0 => {
            let unit = power(deviation(&of.values)) / GRID;
            let noise = *random.pick(&[0.03, 0.01]) * GRID;
            of.values.iter().map(|v| v + (noise * random.normal()).round() * unit).collect()
        }
        _ => of.values.clone(),
    };
    let narrow = |v: f64| if of.kind == Kind::F32 { f64::from(v as f32) } else { v };
    Column { name, values: values.into_iter().map(narrow).collect(), ..of }
}

fn constant(random: &mut Random, j: usize, n: usize, kind: Kind) -> Column {
    match kind {
        Kind::Dictionary | Kind::Text => named(j, kind, vec![0.0; n], level_names(1)),
        Kind::Bool => named(j, kind, vec![1.0; n], Vec::new()),
        Kind::Int => named(j, kind, vec![7.0; n], Vec::new()),
        Kind::F32 => named(j, kind, vec![f64::from(0.1_f32); n], Vec::new()),
        Kind::F64 => named(j, kind, vec![*random.pick(&[0.0, 0.1, 0.3, 3e5]); n], Vec::new()),
    }
}

fn rare(random: &mut Random, j: usize, n: usize, kind: Kind) -> Column {
    let mut values = vec![0.0; n];
    for _ in 0..random.between(1, 3) {
        values[random.between(0, n - 1)] = 1.0;
    }
    let levels = if kind.is_text() { level_names(2) } else { Vec::new() };
    named(j, kind, values, levels)
}

/// Makes some values of some columns missing; two at least stay in each.
fn holes(random: &mut Random, columns: &mut [Column]) {
    for column in columns {
        if random.chance(0.7) {
            continue;
        }
        let n = column.values.len();
        for _ in 0..random.between(1, (n / 8).max(1)) {
            let row = random.between(0, n - 1);
            if column.values.iter().filter(|v| !v.is_nan()).count() > 2 {
                column.values[row] = f64::NAN;
            }
        }
    }
}

fn target(random: &mut Random, signal: &[f64], limits: Limits) -> Target {
    let classes = random.between(limits.classes.0, limits.classes.1);
    let mut values: Vec<f64> = if classes == 0 {
        let exponent = if limits.wild { random.uniform(-6.0, 6.0) } else { 0.0 };
        let unit = power(10f64.powf(exponent));
        let offset = if random.chance(0.3) { wide(random, 8.0, limits).round() } else { 0.0 };
        signal.iter().map(|s| ((s * GRID).round() / GRID + offset) * unit).collect()
    } else {
        let mut sorted = signal.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let mut cuts: Vec<f64> =
            (1..classes).map(|c| sorted[(c * signal.len()) / classes]).collect();
        // Unequal classes, but every one has rows.
        if signal.len() > 40 && random.chance(0.3) {
            cuts[0] = sorted[3];
        }
        let code = |s: &f64| cuts.iter().filter(|cut| *s >= **cut).count() as f64;
        signal.iter().map(code).collect()
    };
    let few = values.len() < 20;
    if !few && random.chance(0.25) {
        for _ in 0..random.between(1, 3) {
            values[random.between(0, signal.len() - 1)] = f64::NAN;
        }
    }
    let numeric = limits.numeric_classes || random.chance(0.5);
    let name =
        |c: usize| if numeric { c.to_string() } else { ["ape", "bee", "cat", "dog"][c].into() };
    Target { values, classes: (0..classes).map(name).collect() }
}

/// The standard deviation of what is there.
pub fn deviation(values: &[f64]) -> f64 {
    let there: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let mean = there.iter().sum::<f64>() / there.len().max(1) as f64;
    (there.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / there.len().max(1) as f64).sqrt()
}
