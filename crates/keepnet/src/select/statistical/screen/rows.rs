//! The target as the tests of `screen` need it, made once a run: classes, or numbers with their
//! order, ranks and ties.
//!
//! Sample weights are counts: a row of weight 2 is that row twice, in every test and to the digit.

use crate::data::target::{Problem, Target};
use crate::error::{Error, Result};

/// Most rows, counted by their weights, for which every pair of rows fits a whole number.
const MOST: f64 = (1u64 << 31) as f64;

/// Rows of one target, counted.
pub(super) struct Rows {
    /// How often each row counts; empty where each counts once.
    weight: Vec<u32>,
    /// Rows, counted.
    pub(super) n: u64,
    /// Classes or numbers.
    pub(super) y: Y,
}

/// The target.
pub(super) enum Y {
    /// A class a row.
    Classes(Classes),
    /// A number a row.
    Numbers(Ranked),
}

/// A target of classes.
pub(super) struct Classes {
    /// The class of each row.
    pub(super) codes: Vec<u32>,
    /// Rows of each class, counted.
    pub(super) totals: Vec<u64>,
}

/// A target of numbers.
pub(super) struct Ranked {
    /// Rows, ascending by their number.
    pub(super) order: Vec<u32>,
    /// For each row the place of its number among the different ones.
    pub(super) rank: Vec<u32>,
    /// Rows below each of the different numbers, and all of them at the end, counted.
    pub(super) below: Vec<u64>,
    /// The numbers less their mean.
    pub(super) centred: Vec<f64>,
    /// Sum of their squares.
    pub(super) square: f64,
    /// Of the sizes t of ties: pairs, `t(t-1)(t-2)` and `t(t-1)(2t+5)`.
    pub(super) ties: Ties,
}

/// Sums over the sizes of tie groups.
#[derive(Clone, Copy, Default)]
pub(super) struct Ties {
    /// `sum t (t - 1) / 2`.
    pub(super) pairs: u64,
    /// `sum t (t - 1) (t - 2)`.
    pub(super) cubic: f64,
    /// `sum t (t - 1) (2 t + 5)`.
    pub(super) variance: f64,
    /// `sum t^3 - t`.
    pub(super) ranks: f64,
}

impl Ties {
    pub(super) fn of(sizes: impl Iterator<Item = u64>) -> Self {
        let mut ties = Self::default();
        for size in sizes {
            let t = size as f64;
            ties.pairs += pairs(size);
            ties.cubic += t * (t - 1.0) * (t - 2.0);
            ties.variance += t * (t - 1.0) * (2.0 * t + 5.0);
            ties.ranks += t * t * t - t;
        }
        ties
    }
}

/// Pairs among `n`.
pub(super) fn pairs(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

impl Rows {
    /// The rows of a problem; weights that are no counts are refused.
    pub(super) fn new(problem: &Problem) -> Result<Self> {
        let weight = counts(problem)?;
        let count = |row: usize| weight.get(row).map_or(1, |w| u64::from(*w));
        let y = match &problem.target {
            Target::Classes { names, codes } => {
                let mut totals = vec![0; names.len()];
                codes.iter().enumerate().for_each(|(i, c)| totals[*c as usize] += count(i));
                Y::Classes(Classes { codes: codes.clone(), totals })
            }
            Target::Numbers(y) => Y::Numbers(Ranked::new(y, count)),
        };
        Ok(Self { n: (0..problem.n()).map(count).sum(), weight, y })
    }

    /// How often a row counts.
    pub(super) fn count(&self, row: u32) -> u64 {
        self.weight.get(row as usize).map_or(1, |w| u64::from(*w))
    }

    /// Classes, where they are a question each; 1 for two classes and for numbers.
    pub(super) fn questions(&self) -> usize {
        match &self.y {
            Y::Classes(classes) if classes.totals.len() > 2 => classes.totals.len(),
            _ => 1,
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> u64 {
        let y = match &self.y {
            Y::Classes(classes) => 4 * classes.codes.len() + 8 * classes.totals.len(),
            Y::Numbers(y) => 16 * y.rank.len() + 8 * y.below.len(),
        };
        (y + 4 * self.weight.len()) as u64
    }
}

impl Ranked {
    fn new(y: &[f64], count: impl Fn(usize) -> u64) -> Self {
        let mut order: Vec<u32> = (0..y.len() as u32).collect();
        order.sort_by(|a, b| y[*a as usize].total_cmp(&y[*b as usize]));
        let (mut rank, mut below, mut total) = (vec![0; y.len()], vec![0], 0);
        for same in order.chunk_by(|a, b| y[*a as usize] == y[*b as usize]) {
            for row in same {
                rank[*row as usize] = below.len() as u32 - 1;
                total += count(*row as usize);
            }
            below.push(total);
        }
        // About one of the numbers first, so that a large offset costs no digits.
        let first = y[order[0] as usize];
        let weighted = |f: &dyn Fn(f64) -> f64| {
            (0..y.len()).map(|i| count(i) as f64 * f(y[i] - first)).sum::<f64>()
        };
        let mean = weighted(&|y| y) / total as f64;
        let centred: Vec<f64> = y.iter().map(|y| y - first - mean).collect();
        let square = centred.iter().enumerate().map(|(i, y)| count(i) as f64 * y * y).sum();
        let ties = Ties::of(below.windows(2).map(|pair| pair[1] - pair[0]));
        Self { order, rank, below, centred, square, ties }
    }

    /// Rows with one of the different numbers, counted.
    pub(super) fn size(&self, rank: usize) -> u64 {
        self.below[rank + 1] - self.below[rank]
    }
}

/// The sample weights as counts; empty where there are none.
fn counts(problem: &Problem) -> Result<Vec<u32>> {
    let Some(weight) = &problem.weight else { return Ok(Vec::new()) };
    if let Some(row) = weight.iter().position(|w| w.fract() != 0.0) {
        let (at, got) = (problem.rows.source_row(row), weight[row]);
        return Err(Error::Unsupported(format!(
            "screen counts rows, so a sample weight is a whole number, and row {at} has {got}; \
             `sample-weight` must be counts, and `class-weight` has no place in a test"
        )));
    }
    let sum: f64 = weight.iter().sum();
    if sum >= MOST {
        let why = format!("the sample weights sum to {sum:e}, above {MOST:e} rows; scale them");
        return Err(Error::Data(why));
    }
    Ok(weight.iter().map(|w| *w as u32).collect())
}
