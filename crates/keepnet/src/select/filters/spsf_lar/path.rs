//! The path of least angles of several responses: residual, direction and steps.
//!
//! Rows are scaled by the root of their sample weight, so that all products are plain ones.

use serde::{Deserialize, Serialize};

use crate::data::check::ColumnStats;
use crate::data::column::Column;
use crate::data::target::{Problem, Target};
use crate::error::{Error, Result};
use crate::numeric::inner_product::centre;
use crate::numeric::kernel;
use crate::numeric::products::cross;
use crate::run::snapshot::ensure;

/// A column with less than this of its square outside of the others is spanned by them.
const SPANNED: f64 = 1e-12;
/// A feature whose product with what is left at the end of the direction is below this share of
/// the common one never meets it.
const NEVER: f64 = 1e-9;

/// Products of a unit column with the residual and, after these, with the direction.
pub(super) type Products = Vec<f64>;

/// Where the path is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Path {
    // Orthonormal basis of the active columns.
    basis: Vec<Vec<f64>>,
    residual: Vec<Vec<f64>>,
    // The projection of the residual on the basis.
    direction: Vec<Vec<f64>>,
    // The length of x'R that all active features have; none before the first of them.
    common: Option<f64>,
    // Residual and direction, each row times the root of its weight, and their sums.
    #[serde(skip)]
    probes: Vec<(Vec<f64>, f64)>,
    #[serde(skip)]
    root: Option<Vec<f64>>,
    #[serde(skip)]
    total: f64,
}

impl Path {
    /// The start: the responses of the target.
    pub(super) fn new(problem: &Problem) -> Result<Self> {
        let root: Option<Vec<f64>> =
            problem.weight.as_ref().map(|weight| weight.iter().map(|v| v.sqrt()).collect());
        let total = problem.weight.as_ref().map_or(problem.n() as f64, |v| v.iter().sum());
        let mut residual = match &problem.target {
            Target::Classes { names, codes } => of_classes(names.len(), codes, problem, total),
            Target::Numbers(y) => of_numbers(y, problem, total),
        };
        if residual.is_empty() {
            let text = "spsf-lar needs a target that has two values or more in the rows that count";
            return Err(Error::Data(text.into()));
        }
        if let Some(root) = &root {
            residual.iter_mut().for_each(|r| kernel::scale_by(r, root));
        }
        let direction = vec![vec![0.0; problem.n()]; residual.len()];
        let (basis, probes) = (Vec::new(), Vec::new());
        let mut path = Self { basis, residual, direction, common: None, probes, root, total };
        path.aim();
        Ok(path)
    }

    /// Number of responses.
    pub(super) fn responses(&self) -> usize {
        self.residual.len()
    }

    pub(super) fn residual(&self) -> &[Vec<f64>] {
        &self.residual
    }

    pub(super) fn common(&self) -> Option<f64> {
        self.common
    }

    /// Bytes at `members` active features.
    pub(super) fn bytes(&self, members: usize) -> u64 {
        8 * (self.residual[0].len() * (members + 4 * self.responses() + 2)) as u64
    }

    /// Products of columns with residual and direction, each column taken as one of unit length.
    pub(super) fn products(&self, columns: &[(Column<'_>, &ColumnStats)]) -> Vec<Products> {
        let probes: Vec<&[f64]> = self.probes.iter().map(|(probe, _)| probe.as_slice()).collect();
        let (plain, width): (Vec<_>, _) = (columns.iter().map(|(x, _)| *x).collect(), probes.len());
        let mut out = vec![0.0; plain.len() * width];
        cross(&plain, &probes, &mut out);
        let each = columns.iter().zip(out.chunks(width));
        let unit = |((_, stats), products): (&(Column<'_>, &ColumnStats), &[f64])| {
            let length = (self.total * stats.variance).sqrt();
            let centred = products.iter().zip(&self.probes);
            centred.map(|(x, (_, sum))| (x - stats.mean * sum) / length).collect()
        };
        each.map(unit).collect()
    }

    /// The length of a feature's products with the residual.
    pub(super) fn length(&self, products: &Products) -> f64 {
        norm(products[..self.responses()].iter())
    }

    /// The share of the direction after which a feature's products with the residual are as long
    /// as those of the active ones, if there is one.
    ///
    /// ```text
    /// |c - s d|^2 = (1 - s)^2 a^2,   0 <= s <= 1
    /// ```
    ///
    /// An inactive feature is below at 0 and, unless it has nothing to add, above at 1. One that is
    /// level with the active ones and would rise above them meets them at 0.
    pub(super) fn meets(&self, products: &Products) -> Option<f64> {
        let common = self.common?;
        let (c, d) = products.split_at(self.responses());
        let sum =
            |f: &dyn Fn(f64, f64) -> f64| c.iter().zip(d).map(|(c, d)| f(*c, *d)).sum::<f64>();
        if sum(&|c, d| (c - d) * (c - d)).sqrt() <= NEVER * common {
            return None;
        }
        let square = common * common;
        let curve = square - sum(&|_, d| d * d);
        let slope = square - sum(&|c, d| c * d);
        let below = square - sum(&|c, _| c * c);
        let root = (slope * slope - curve * below).max(0.0).sqrt();
        let s = if slope >= 0.0 { below / (slope + root) } else { (slope - root) / curve };
        // 0 / 0: level with the active ones, and above them from there on.
        Some(if s.is_nan() { 0.0 } else { s.clamp(0.0, 1.0) })
    }

    /// Goes the share `s` of the direction and takes a feature in; `false`, and nothing is changed,
    /// where the active features span it.
    pub(super) fn take(&mut self, x: Column<'_>, stats: &ColumnStats, s: f64, common: f64) -> bool {
        let Some(q) = self.outside(x, stats) else { return false };
        for (r, d) in self.residual.iter_mut().zip(&self.direction) {
            kernel::axpy(-s, d, r);
        }
        self.common = Some((1.0 - s) * common);
        self.basis.push(q);
        self.aim();
        true
    }

    /// Takes a pinned feature in: its fit to the residual is taken off at once.
    pub(super) fn pin(&mut self, x: Column<'_>, stats: &ColumnStats) {
        let Some(q) = self.outside(x, stats) else { return };
        for r in &mut self.residual {
            let along = kernel::dot(&q, r);
            kernel::axpy(-along, &q, r);
        }
        self.basis.push(q);
        self.aim();
    }

    /// The unit vector of what a column has outside of the basis.
    fn outside(&self, x: Column<'_>, stats: &ColumnStats) -> Option<Vec<f64>> {
        let mut q = vec![0.0; x.rows()];
        x.fill(&mut q);
        let length = (self.total * stats.variance).sqrt();
        q.iter_mut().for_each(|x| *x = (*x - stats.mean) / length);
        if let Some(root) = &self.root {
            kernel::scale_by(&mut q, root);
        }
        // Twice: what rounding left of the basis in the first pass goes in the second.
        for _ in 0..2 {
            for b in &self.basis {
                let along = kernel::dot(b, &q);
                kernel::axpy(-along, b, &mut q);
            }
        }
        let square = kernel::dot(&q, &q);
        if square <= SPANNED {
            return None;
        }
        let length = square.sqrt();
        q.iter_mut().for_each(|x| *x /= length);
        Some(q)
    }

    /// The direction and the probes of this residual.
    fn aim(&mut self) {
        for (r, d) in self.residual.iter().zip(&mut self.direction) {
            d.fill(0.0);
            for q in &self.basis {
                kernel::axpy(kernel::dot(q, r), q, d);
            }
        }
        let probe = |v: &Vec<f64>| {
            let mut probe = v.clone();
            if let Some(root) = &self.root {
                kernel::scale_by(&mut probe, root);
            }
            let sum = kernel::sum(&probe);
            (probe, sum)
        };
        self.probes = self.residual.iter().chain(&self.direction).map(probe).collect();
    }

    /// How far the residual has moved since it was `from`, at the share `s` of the direction.
    pub(super) fn moved(&self, from: &[Vec<f64>], s: f64) -> f64 {
        let rows = from.iter().zip(&self.residual).zip(&self.direction);
        let squares = rows.flat_map(|((from, r), d)| {
            from.iter().zip(r).zip(d).map(move |((from, r), d)| {
                let moved = from - r + s * d;
                moved * moved
            })
        });
        squares.sum::<f64>().sqrt()
    }

    /// What was read back, completed by the start of this run.
    pub(super) fn restored(self, start: &Self) -> Result<Self> {
        let rows = start.residual[0].len();
        let vectors = |list: &[Vec<f64>]| {
            list.iter().all(|v| v.len() == rows && v.iter().all(|x| x.is_finite()))
        };
        let sizes = [&self.residual, &self.direction].map(Vec::len) == [start.responses(); 2];
        let fits = sizes
            && vectors(&self.basis)
            && vectors(&self.residual)
            && vectors(&self.direction)
            && self.common.is_none_or(|common| common.is_finite() && common >= 0.0);
        ensure(fits, "a path has other rows or no numbers")?;
        let mut path = Self { root: start.root.clone(), total: start.total, ..self };
        path.aim();
        Ok(path)
    }
}

fn norm<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    values.map(|x| x * x).sum::<f64>().sqrt()
}

/// The centred target, of unit length; none where it is constant.
fn of_numbers(y: &[f64], problem: &Problem, total: f64) -> Vec<Vec<f64>> {
    let weight = problem.weight.as_deref();
    let mut y = y.to_vec();
    let largest = y.iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    centre(&mut y, weight, total);
    let one = |i: usize| weight.map_or(1.0, |weight| weight[i]);
    let length = y.iter().enumerate().map(|(i, y)| one(i) * y * y).sum::<f64>().sqrt();
    if length <= 1e-14 * largest * total.sqrt() {
        return Vec::new();
    }
    y.iter_mut().for_each(|y| *y /= length);
    vec![y]
}

/// The root of the similarity `K_ij = 1/n_c` within class `c`: indicators over `sqrt(n_c)`,
/// centred, in a basis of their span, which has one dimension less than there are classes.
///
/// With `q_c = sqrt(n_c / n)` the centred ones have `Y'Y = 1 - q q'`. A reflection that sends `q` to
/// the first axis makes the first column zero and the others orthonormal.
fn of_classes(classes: usize, codes: &[u32], problem: &Problem, total: f64) -> Vec<Vec<f64>> {
    let mut mass = vec![0.0; classes];
    for (i, code) in codes.iter().enumerate() {
        mass[*code as usize] += problem.weight.as_ref().map_or(1.0, |weight| weight[i]);
    }
    let there: Vec<usize> = (0..classes).filter(|class| mass[*class] > 0.0).collect();
    let q: Vec<f64> = there.iter().map(|class| (mass[*class] / total).sqrt()).collect();
    if there.len() < 2 {
        return Vec::new();
    }
    let mut v = q.clone();
    v[0] -= 1.0;
    let square: f64 = v.iter().map(|v| v * v).sum();
    // What a row of each class has in each column.
    let table: Vec<Vec<f64>> = (0..classes)
        .map(|class| {
            let row: Vec<f64> = there
                .iter()
                .map(|c| (f64::from(u8::from(*c == class)) - mass[*c] / total) / mass[*c].sqrt())
                .collect();
            let along: f64 = row.iter().zip(&v).map(|(row, v)| row * v).sum();
            row.iter().zip(&v).map(|(row, v)| row - 2.0 * along / square * v).collect()
        })
        .collect();
    let column = |g: usize| codes.iter().map(|code| table[*code as usize][g]).collect();
    (1..there.len()).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes 1, 2 and 3: the products of two rows are those of the similarity, centred, as
    /// `K - K1 1'/n - 1 1'K/n + 1 1'K1 1'/n^2` with `K1 = 1` worked by hand: `K_ij - 1/6`.
    #[test]
    fn the_responses_have_the_similarity_of_classes() {
        let y = [0.0, 1.0, 1.0, 2.0, 2.0, 2.0];
        let codes: Vec<u32> = y.iter().map(|y| *y as u32).collect();
        let got = of_classes(3, &codes, &Problem::regression(y.to_vec()), 6.0);
        assert_eq!(got.len(), 2);
        for i in 0..6 {
            for j in 0..6 {
                let product: f64 = got.iter().map(|g| g[i] * g[j]).sum();
                let own = if codes[i] == codes[j] { 1.0 / (y[i] + 1.0) } else { 0.0 };
                assert!((product - (own - 1.0 / 6.0)).abs() < 1e-14, "{i} {j} {product}");
            }
        }
    }

    /// With y = (2, 1)/sqrt 5 in a basis of two orthogonal unit columns the second meets the first,
    /// which falls from 2/sqrt 5, at half of the way.
    #[test]
    fn a_step_worked_by_hand() {
        let x = [[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]];
        let y: Vec<f64> = (0..4).map(|i| 2.0 * x[0][i] + x[1][i]).collect();
        let mut path = Path::new(&Problem::regression(y)).unwrap();
        let stats = ColumnStats { mean: 0.0, variance: 0.5, ..ColumnStats::default() };
        let of = |path: &Path, j: usize| path.products(&[(Column::dense(&x[j]), &stats)]).remove(0);
        let first = path.length(&of(&path, 0));
        assert!((first - 2.0 / 5f64.sqrt()).abs() < 1e-15);
        assert!(path.take(Column::dense(&x[0]), &stats, 0.0, first));
        assert_eq!(path.meets(&of(&path, 0)), None, "it is spanned");
        let s = path.meets(&of(&path, 1)).unwrap();
        assert!((s - 0.5).abs() < 1e-15, "{s}");
        assert!(path.take(Column::dense(&x[1]), &stats, s, first));
        assert!((path.common().unwrap() - 1.0 / 5f64.sqrt()).abs() < 1e-15);
        assert!(!path.take(Column::dense(&x[0]), &stats, 0.0, 1.0), "it is in already");
    }
}
