//! Which rows are learnt from and which are judged on.
//!
//! | written | meaning |
//! | --- | --- |
//! | `5` | stratified folds: each is tested once, the rest is for training |
//! | `5x30` | the same, 30 times with other folds |
//! | `holdout:10` | ten random parts of a third for testing, stratified |
//! | `holdout:10:0.2` | the same with a fifth |
//! | a file | CSV: a column a split, a line an input row; `train` or 0, `test` or 1, empty is neither |
//!
//! Stratified: every class is dealt out by itself, so its share differs by at most one row from
//! fold to fold; numbers are dealt out at random. Everything follows from the seed.

use keepnet::data::generator;
use keepnet::{Covariate, Error, Problem, Result, RowMap, Target};
use rand::seq::SliceRandom;

/// Keeps the random numbers of splits apart from those of methods.
const STREAM: u64 = 0x5_5011;

/// Rows for training and rows for testing, by their place among the rows that count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Its name in results: `1`, `2`, ..., or the column of a file.
    pub name: String,
    /// Rows to learn from, ascending.
    pub train: Vec<u32>,
    /// Rows to judge on, ascending.
    pub test: Vec<u32>,
}

/// How rows are divided.
#[derive(Clone, Debug, PartialEq)]
pub enum SplitSpec {
    /// Folds, and how often they are drawn anew.
    Folds {
        /// Number of folds, at least 2.
        folds: usize,
        /// How often.
        repeats: usize,
    },
    /// Random parts for testing.
    HoldOut {
        /// How many.
        repeats: usize,
        /// The share of the rows in each, between 0 and 1.
        share: f64,
    },
    /// As a file says.
    File(String),
}

impl SplitSpec {
    /// Reads what the user wrote; what is neither folds nor a hold-out is a file.
    pub fn parse(text: &str) -> Result<Self> {
        let want = "K, KxR, holdout:R[:SHARE], or a CSV file";
        let wrong = || Error::param("splits", text, want);
        if let Some(rest) = text.strip_prefix("holdout:") {
            let (repeats, share) = rest.split_once(':').unwrap_or((rest, "0.3333333333333333"));
            let repeats = repeats.parse().ok().filter(|n| *n > 0).ok_or_else(wrong)?;
            let share = share.parse().ok().filter(|s| (1e-9..1.0).contains(s)).ok_or_else(wrong)?;
            return Ok(Self::HoldOut { repeats, share });
        }
        let (folds, repeats) = text.split_once('x').unwrap_or((text, "1"));
        match (folds.parse::<usize>(), repeats.parse::<usize>()) {
            (Ok(folds), Ok(repeats)) if folds >= 2 && repeats >= 1 => {
                Ok(Self::Folds { folds, repeats })
            }
            (Ok(_), Ok(_)) => Err(Error::param("splits", text, "at least 2 folds, once or more")),
            _ => Ok(Self::File(text.into())),
        }
    }

    /// The splits of a problem; each has rows on both sides and two classes in training.
    pub fn splits(&self, problem: &Problem, seed: u64) -> Result<Vec<Split>> {
        let splits = match self {
            Self::Folds { folds, repeats } => k_fold(&problem.target, *folds, *repeats, seed)?,
            Self::HoldOut { repeats, share } => hold_out(&problem.target, *repeats, *share, seed)?,
            Self::File(path) => {
                let text = std::fs::read_to_string(path)
                    .map_err(|error| Error::io(format!("cannot read {path}"), error))?;
                parse_file(&text, &problem.rows).map_err(|error| error.at(path))?
            }
        };
        for split in &splits {
            check(split, &problem.target)
                .map_err(|error| error.at(format!("split {}", split.name)))?;
        }
        Ok(splits)
    }
}

fn check(split: &Split, target: &Target) -> Result<()> {
    if split.train.is_empty() || split.test.is_empty() {
        return Err(Error::Data("it needs rows for training and rows for testing".into()));
    }
    if let Target::Classes { codes, .. } = target {
        let first = codes[split.train[0] as usize];
        if split.train.iter().all(|row| codes[*row as usize] == first) {
            return Err(Error::Data("its training rows have one class only".into()));
        }
    }
    Ok(())
}

/// Rows in a random order, class after class.
fn dealt(target: &Target, seed: u64, stream: u64) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..target.rows() as u32).collect();
    rows.shuffle(&mut generator(seed, STREAM ^ stream));
    if let Target::Classes { codes, .. } = target {
        rows.sort_by_key(|row| codes[*row as usize]);
    }
    rows
}

/// Stratified folds, drawn `repeats` times.
pub fn k_fold(target: &Target, folds: usize, repeats: usize, seed: u64) -> Result<Vec<Split>> {
    let n = target.rows();
    if folds < 2 || folds > n {
        return Err(Error::param("splits", folds, "at least 2 folds and at most one a row"));
    }
    let mut splits = Vec::with_capacity(folds * repeats);
    for repeat in 0..repeats {
        // Dealt in turn over all classes, so folds differ by at most one row in all as well.
        let rows = dealt(target, seed, repeat as u64);
        let mut fold = vec![0; n];
        rows.iter().enumerate().for_each(|(at, row)| fold[*row as usize] = at % folds);
        for f in 0..folds {
            splits.push(by(n, splits.len() + 1, |row| fold[row] == f));
        }
    }
    Ok(splits)
}

/// Random stratified parts for testing.
pub fn hold_out(target: &Target, repeats: usize, share: f64, seed: u64) -> Result<Vec<Split>> {
    let n = target.rows();
    let mut splits = Vec::with_capacity(repeats);
    for repeat in 0..repeats {
        let rows = dealt(target, seed, repeat as u64);
        let mut test = vec![false; n];
        // Evenly spaced places of a list that is sorted by class are a stratified sample.
        for (at, row) in rows.iter().enumerate() {
            let (before, after) = (at as f64 * share, (at + 1) as f64 * share);
            test[*row as usize] = after.round() > before.round();
        }
        splits.push(by(n, repeat + 1, |row| test[row]));
    }
    Ok(splits)
}

fn by(n: usize, number: usize, test: impl Fn(usize) -> bool) -> Split {
    let (test, train) = (0..n as u32).partition(|row| test(*row as usize));
    Split { name: number.to_string(), train, test }
}

/// Splits from CSV text: a column a split, a line an input row.
pub fn parse_file(text: &str, rows: &RowMap) -> Result<Vec<Split>> {
    let mut lines = text.lines().map(|line| line.trim_end_matches('\r'));
    let header = lines.next().ok_or_else(|| Error::Data("the file is empty".into()))?;
    let names: Vec<&str> = header.split(',').map(|name| name.trim().trim_matches('"')).collect();
    let lines: Vec<&str> = lines.collect();
    if lines.len() != rows.input() {
        let (what, got) = ("the list of splits, its heading not counted,".into(), lines.len());
        return Err(Error::Rows { what, got, want: rows.input() });
    }
    let blank = |name: &&str| Split { name: (*name).into(), train: Vec::new(), test: Vec::new() };
    let mut splits: Vec<Split> = names.iter().map(blank).collect();
    for row in 0..rows.used() {
        let source = rows.source_row(row);
        let place = format!("line {}", source + 2);
        let cells: Vec<&str> = lines[source].split(',').map(str::trim).collect();
        if cells.len() != names.len() {
            let text = format!("has {} columns, the heading {}", cells.len(), names.len());
            return Err(Error::Data(text).at(place));
        }
        for (split, cell) in splits.iter_mut().zip(cells) {
            match cell.trim_matches('"') {
                "train" | "0" => split.train.push(row as u32),
                "test" | "1" => split.test.push(row as u32),
                "" => {}
                other => {
                    let text = format!("{other:?} is not train, test, 0, 1 or empty");
                    return Err(Error::Data(text).at(place));
                }
            }
        }
    }
    Ok(splits)
}

/// The same problem on some of its rows, given by their place among the rows that count.
pub fn subset(problem: &Problem, rows: &[u32]) -> Result<Problem> {
    let take = |values: &[f64]| rows.iter().map(|row| values[*row as usize]).collect::<Vec<f64>>();
    let target = match &problem.target {
        Target::Numbers(y) => Target::Numbers(take(y)),
        Target::Classes { names, codes } => Target::Classes {
            names: names.clone(),
            codes: rows.iter().map(|row| codes[*row as usize]).collect(),
        },
    };
    let source = rows.iter().map(|row| problem.rows.source_row(*row as usize) as u32).collect();
    let covariate = |c: &Covariate| Covariate { name: c.name.clone(), values: take(&c.values) };
    Ok(Problem {
        target,
        weight: problem.weight.as_deref().map(take),
        offset: problem.offset.as_deref().map(take),
        rows: RowMap::new(problem.rows.input(), source)?,
        covariates: problem.covariates.iter().map(covariate).collect(),
    })
}

#[cfg(test)]
mod tests;
