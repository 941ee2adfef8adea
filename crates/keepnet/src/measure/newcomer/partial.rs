//! Fisher's Z of a newcomer and a target, given held columns, from correlations alone.
//!
//! ```text
//! R_SS = L L'        w = L^-1 r_St     v = L^-1 r_Sx                 S with the covariates
//! r = (r_xt - v'w) / sqrt((1 - v'v) (1 - w'w))       p = 2 (1 - Phi(sqrt(n - |S| - 3) atanh |r|))
//! ```
//!
//! A member of `S` of which the others leave nothing adds no condition. A newcomer costs a product
//! with the target and each column of `S`, in their own storage, and `|S|^2 / 2` operations a set;
//! memory is half the square of the number of held columns. A correlation within 1e-12 of 1 counts
//! as that, so that copies of the target tie.

use super::{Link, Newcomer, Node};
use crate::data::check::{ColumnStats, offset};
use crate::data::column::{Column, ColumnData};
use crate::data::target::Problem;
use crate::error::Result;
use crate::measure::fisher_z::Sums;
use crate::measure::{FisherZ, Measure, MeasureKind, Side};
use crate::tails::ln_normal_two_sided;
use serde::{Deserialize, Serialize};

/// Share of a variance below which only rounding is left of it.
const NOTHING_LEFT: f64 = 1e-12;
/// The largest correlation.
const MOST: f64 = 1.0 - 1e-12;
/// The place of the target among the correlations; covariates and then held columns follow.
const TARGET: usize = 0;

/// What is known of a column: its sums, and its correlation with the problem's target.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Known {
    sums: Sums,
    r: f64,
}

/// A target and the columns it is given, eliminated.
#[derive(Default)]
struct Condition {
    target: usize,
    /// The places that count, and a row of `L` for each.
    set: Vec<usize>,
    factor: Vec<Vec<f64>>,
    along: Vec<f64>,
    left: f64,
}

/// Partial correlations with Fisher's Z.
pub(crate) struct PartialZ {
    z: FisherZ,
    covariates: Vec<(ColumnData, Sums)>,
    /// Correlations of each place with those before it.
    lower: Vec<Vec<f64>>,
    condition: Condition,
}

impl PartialZ {
    pub(crate) fn new(problem: &Problem, alpha: f64) -> Result<Self> {
        let mut z = FisherZ::new(problem, alpha)?;
        let (weight, total) = (problem.weight.as_deref(), problem.weight_sum());
        let (mut covariates, mut lower) = (Vec::new(), vec![Vec::new()]);
        for covariate in &problem.covariates {
            let (data, stats) = offset::column(&covariate.values, weight, total, true);
            let (sums, r) = z.describe(data.view(), &stats);
            lower.push(row(&mut z, &covariates, Side { x: data.view(), facts: &sums }, r));
            covariates.push((data, sums));
        }
        Ok(Self { z, covariates, lower, condition: Condition::default() })
    }

    fn place(&self, node: Node) -> usize {
        match node {
            Node::Target => TARGET,
            Node::Held(at) => 1 + self.covariates.len() + at,
        }
    }

    fn between(&self, i: usize, j: usize) -> f64 {
        match i.cmp(&j) {
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => self.lower[i][j],
            std::cmp::Ordering::Less => self.lower[j][i],
        }
    }

    /// The link of a column whose correlation with a place is `r`.
    fn link(&self, r: impl Fn(usize) -> f64) -> Option<Link> {
        let Condition { target, set, factor, along, left } = &self.condition;
        let df = self.z.total() - set.len() as f64 - 3.0;
        if df < 1.0 {
            return None;
        }
        let solved = solve(factor, set.iter().map(|place| r(*place)));
        let own = 1.0 - product(&solved, &solved);
        if own <= NOTHING_LEFT || *left <= NOTHING_LEFT {
            return Some(Link::NONE);
        }
        let r = (r(*target) - product(&solved, along)) / (own * left).sqrt();
        let statistic = r.abs().min(MOST);
        let ln_p = ln_normal_two_sided(df.sqrt() * statistic.atanh());
        Some(Link { ln_p, statistic })
    }
}

/// Correlations of the loaded column with the target and the covariates.
fn row(
    z: &mut FisherZ,
    covariates: &[(ColumnData, Sums)],
    x: Side<'_, Sums>,
    target: f64,
) -> Vec<f64> {
    z.load(x);
    let others = covariates.iter().map(|(data, sums)| Side { x: data.view(), facts: sums });
    std::iter::once(target).chain(others.map(|other| z.signed_correlation(x, other))).collect()
}

fn sums<'a>(side: Side<'a, Known>) -> Side<'a, Sums> {
    Side { x: side.x, facts: &side.facts.sums }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `L^-1 r`.
fn solve(factor: &[Vec<f64>], r: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut solved = Vec::with_capacity(factor.len());
    for (r, row) in r.zip(factor) {
        let before = product(&solved, row);
        solved.push((r - before) / row[row.len() - 1]);
    }
    solved
}

impl Newcomer for PartialZ {
    type Facts = Known;
    type Met = Vec<f64>;

    const KIND: MeasureKind = MeasureKind::FisherZ;

    fn code(&self, _: Column<'_>) -> Result<Option<ColumnData>> {
        Ok(None)
    }

    fn facts(&mut self, x: Column<'_>, stats: &ColumnStats) -> Result<Known> {
        let (sums, r) = self.z.describe(x, stats);
        Ok(Known { sums, r })
    }

    fn hold(&mut self, held: &[Side<'_, Known>]) {
        let Some((newcomer, others)) = held.split_last() else { return };
        let row = self.meet(others, *newcomer, |_| true);
        self.lower.push(row);
    }

    fn let_go(&mut self, at: usize) {
        let place = self.place(Node::Held(at));
        self.lower.remove(place);
        for row in &mut self.lower[place..] {
            row.remove(place);
        }
    }

    fn meet(
        &mut self,
        held: &[Side<'_, Known>],
        x: Side<'_, Known>,
        wanted: impl Fn(usize) -> bool,
    ) -> Vec<f64> {
        let mut row = row(&mut self.z, &self.covariates, sums(x), x.facts.r);
        row.extend(held.iter().enumerate().map(|(at, other)| match wanted(at) {
            true => self.z.signed_correlation(sums(x), sums(*other)),
            // No test asks for it.
            false => f64::NAN,
        }));
        row
    }

    fn condition(&mut self, _: &[Side<'_, Known>], target: Node, set: &[Node], bare: bool) {
        let target = self.place(target);
        let covariates = if bare { 1..1 } else { 1..1 + self.covariates.len() };
        let mut condition = Condition { target, ..Condition::default() };
        for place in covariates.chain(set.iter().map(|node| self.place(*node))) {
            let r = condition.set.iter().map(|other| self.between(place, *other));
            let mut row = solve(&condition.factor, r);
            let left = 1.0 - product(&row, &row);
            // This one is a combination of the others: it adds no condition.
            if left > NOTHING_LEFT {
                row.push(left.sqrt());
                condition.factor.push(row);
                condition.set.push(place);
            }
        }
        let r = condition.set.iter().map(|place| self.between(target, *place));
        condition.along = solve(&condition.factor, r);
        condition.left = 1.0 - product(&condition.along, &condition.along);
        self.condition = condition;
    }

    fn test(&mut self, _: Side<'_, Known>, met: &Vec<f64>) -> Option<Link> {
        self.link(|place| met[place])
    }

    fn test_node(&mut self, _: &[Side<'_, Known>], node: Node) -> Option<Link> {
        let own = self.place(node);
        self.link(|place| self.between(own, place))
    }

    fn score(&self) -> &'static str {
        "absolute partial correlation with the target when it was selected"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `r(x,y|c) = (r_xy - r_xc r_yc) / sqrt((1 - r_xc^2)(1 - r_yc^2))`, and underflow: with n = 10^6
    /// rows the p-values of 0.5 and 0.6 are both 0, their logarithms are not.
    #[test]
    fn one_condition_is_the_textbook_formula_and_logarithms_do_not_underflow() {
        let y: Vec<f64> = (0..10).map(f64::from).collect();
        let mut problem = Problem::regression(y);
        let mut tests = PartialZ::new(&problem, 0.01).unwrap();
        tests.lower = vec![vec![], vec![0.7], vec![0.6, 0.5]];
        tests.condition(&[], Node::Target, &[Node::Held(0)], false);
        let want = (0.6 - 0.5 * 0.7) / ((1.0 - 0.25) * (1.0 - 0.49f64)).sqrt();
        let link = tests.test_node(&[], Node::Held(1)).unwrap();
        assert!((link.statistic - want).abs() < 1e-14);
        // A condition twice is that condition once.
        tests.lower = vec![vec![], vec![0.7], vec![0.7, 1.0], vec![0.6, 0.5, 0.5]];
        tests.condition(&[], Node::Target, &[Node::Held(0), Node::Held(1)], false);
        assert_eq!(tests.test_node(&[], Node::Held(2)), Some(link));
        problem.weight = Some(vec![1e5; 10]);
        let mut tests = PartialZ::new(&problem, 0.01).unwrap();
        tests.lower = vec![vec![], vec![0.5], vec![0.6, 0.0]];
        tests.condition(&[], Node::Target, &[], false);
        let [a, b] = [0, 1].map(|at| tests.test_node(&[], Node::Held(at)).unwrap());
        assert!(a.ln_p.exp() == 0.0 && b.ln_p.exp() == 0.0 && b.ln_p < a.ln_p, "{a:?} {b:?}");
    }
}
