//! G² of a newcomer and a target within the configurations of the condition.
//!
//! ```text
//! G2 = 2 sum O ln(O / E)   over level, class and configuration       O over non-empty cells
//! df = (K_x - 1)(K_y - 1) prod K_S, at least 1        p = P(chi-squared_df >= G2)
//! no test where n < few df
//! ```
//!
//! `K` counts the levels that occur, and the product takes every configuration, whether it occurs
//! or not. The configurations that occur are numbered, and with the class they make one column of
//! codes, so that a newcomer costs one table of two columns: by popcounts, planes of bits or a
//! merge, whatever its storage ([`Coded::joint`]). From 257 pairs of configuration and class on the
//! rows are counted one by one. Sums go through the fixed-point table of [`Entropies`], so their
//! order changes no digit. With sample weights cells are sums of these, and so is `n`. Memory: some
//! vectors of a number a row.

use rustc_hash::FxHashMap;

use super::{Link, Newcomer, Node};
use crate::data::check::ColumnStats;
use crate::data::column::{Column, ColumnData};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::coded::{Coded, CodedColumn, Levels, fill_codes, stored};
use crate::measure::discrete::coded;
use crate::measure::entropy::Entropies;
use crate::measure::{Bins, MeasureKind, Side, coded_target, rows_counted};
use crate::tails::ln_chi_squared_tail;

/// Most codes of a column of bytes.
const MOST_CODES: usize = 256;

/// The pairs of configuration and class, a column of their own.
struct Pairs {
    strata: usize,
    classes: usize,
    /// `(K_y - 1) prod K_S`.
    degrees: f64,
    /// The pair of each row; the same as codes where they are few enough.
    of: Vec<u32>,
    codes: Option<(ColumnData, Levels)>,
    /// Rows, or sample weights, of each pair.
    counts: Vec<u32>,
    mass: Vec<f64>,
    /// `sum g` over the configurations less that over the pairs: units, or with sample weights.
    units: (u64, u64),
    weighted: f64,
}

/// Likelihood-ratio tests.
pub(crate) struct Strata {
    n: usize,
    total: f64,
    weight: Option<Vec<f64>>,
    few: f64,
    bins: Option<Bins>,
    coded: Coded,
    entropies: Entropies,
    target: (ColumnData, Levels),
    covariates: Vec<(ColumnData, Levels)>,
    pairs: Option<Pairs>,
    // Scratch: codes of a column, and cells.
    codes: Vec<u8>,
    cells: Vec<u32>,
    mass: Vec<f64>,
}

impl Strata {
    /// Tests that are made from `few` rows a degree of freedom on.
    pub(crate) fn new(problem: &Problem, bins: Option<Bins>, few: f64) -> Result<Self> {
        let n = problem.n();
        let mut coding = Coded::new(n, problem.weight.clone());
        let target = coded_target(&problem.target)?;
        let levels = coding.levels(target.view())?;
        let mut covariates = Vec::new();
        for covariate in &problem.covariates {
            let named = |error: Error| error.at(format!("covariate {:?}", covariate.name));
            let x = ColumnData::dense(covariate.values.clone());
            let data = coded(x.view(), bins).map_err(named)?.unwrap_or(x);
            let levels = coding.levels(data.view()).map_err(named)?;
            covariates.push((data, levels));
        }
        Ok(Self {
            n,
            total: rows_counted(problem)?,
            weight: problem.weight.clone(),
            few,
            bins,
            coded: coding,
            entropies: Entropies::new(n),
            target: (target, levels),
            covariates,
            pairs: None,
            codes: Vec::new(),
            cells: Vec::new(),
            mass: Vec::new(),
        })
    }

    /// Counts the pairs, and what they add to every test.
    fn count_pairs(&mut self, pairs: &mut Pairs, target: CodedColumn<'_>) {
        let size = pairs.strata * pairs.classes;
        if let Some(weight) = &self.weight {
            pairs.mass = vec![0.0; size];
            pairs.of.iter().zip(weight).for_each(|(at, v)| pairs.mass[*at as usize] += v);
            let strata = pairs.mass.chunks(pairs.classes).map(|one| g(one.iter().sum()));
            pairs.weighted = strata.sum::<f64>() - pairs.mass.iter().map(|m| g(*m)).sum::<f64>();
            return;
        }
        pairs.counts = vec![0; size];
        pairs.of.iter().for_each(|at| pairs.counts[*at as usize] += 1);
        let e = &self.entropies;
        let strata = pairs.counts.chunks(pairs.classes).map(|one| e.g(one.iter().sum()));
        pairs.units = (strata.sum(), e.sum(&pairs.counts));
        if pairs.strata == 1 {
            // In its own storage: two classes are bits.
            pairs.codes = Some((target.x.to_data(), target.levels.clone()));
        } else if size <= MOST_CODES {
            let codes = pairs.of.iter().map(|at| *at as u8).collect();
            let levels = (0..size).map(|level| level as f64).collect();
            let data = ColumnData::Codes { codes, levels };
            let levels = self.coded.levels(data.view()).ok();
            pairs.codes = levels.map(|levels| (data, levels));
        }
    }

    /// The link from the cells of a table of `k` levels and every pair.
    fn link(&mut self, x: CodedColumn<'_>) -> Option<Link> {
        let pairs = self.pairs.take()?;
        let df = ((x.levels.used() as f64 - 1.0) * pairs.degrees).max(1.0);
        let link = (self.total >= self.few * df).then(|| {
            let statistic = match self.weight {
                Some(_) => self.weighted(x, &pairs),
                None => self.plain(x, &pairs),
            };
            Link { ln_p: ln_chi_squared_tail(statistic, df), statistic }
        });
        self.pairs = Some(pairs);
        link
    }

    fn plain(&mut self, x: CodedColumn<'_>, pairs: &Pairs) -> f64 {
        let size = pairs.counts.len();
        let cells: &[u32] = match &pairs.codes {
            Some((data, levels)) => self.coded.joint(x, CodedColumn { x: data.view(), levels }),
            None => {
                self.cells.clear();
                self.cells.resize(x.levels.counts.len() * size, 0);
                count(x, &pairs.of, &pairs.counts, &mut self.cells);
                &self.cells
            }
        };
        let e = &self.entropies;
        let plus = pairs.units.0 + e.sum(cells);
        let sums = cells.chunks(pairs.classes).map(|one| e.g(one.iter().sum()));
        let minus = pairs.units.1 + sums.sum::<u64>();
        let rounding = e.rounding(4 * cells.len() + 8);
        let units = plus.saturating_sub(minus);
        let bits = if units <= rounding { 0.0 } else { e.bits(units) * self.n as f64 };
        2.0 * std::f64::consts::LN_2 * bits
    }

    fn weighted(&mut self, x: CodedColumn<'_>, pairs: &Pairs) -> f64 {
        let size = pairs.mass.len();
        self.mass.clear();
        self.mass.resize(x.levels.counts.len() * size, 0.0);
        fill_codes(x, &mut self.codes);
        let weight = self.weight.as_deref().unwrap_or(&[]);
        for ((code, pair), v) in self.codes.iter().zip(&pairs.of).zip(weight) {
            self.mass[usize::from(*code) * size + *pair as usize] += v;
        }
        let cells = self.mass.iter().map(|m| g(*m)).sum::<f64>();
        let sums = self.mass.chunks(pairs.classes).map(|one| g(one.iter().sum())).sum::<f64>();
        let (value, scale) = (pairs.weighted + cells - sums, cells.abs() + sums.abs());
        // Within rounding of 0 is 0.
        if value <= 1e-14 * scale * self.mass.len() as f64 { 0.0 } else { 2.0 * value }
    }
}

fn g(m: f64) -> f64 {
    if m > 0.0 { m * m.ln() } else { 0.0 }
}

/// Counts level by level of `x`, a cell a pair; the level of rows that are not stored by
/// subtraction.
fn count(x: CodedColumn<'_>, pairs: &[u32], totals: &[u32], cells: &mut [u32]) {
    let size = totals.len();
    if let Column::Codes { codes, .. } = x.x {
        for (code, pair) in codes.iter().zip(pairs) {
            cells[usize::from(*code) * size + *pair as usize] += 1;
        }
        return;
    }
    stored(x, |row, code| cells[code * size + pairs[row] as usize] += 1);
    let zero = x.levels.zero as usize;
    for (pair, total) in totals.iter().enumerate() {
        cells[zero * size + pair] = 0;
        let others: u32 = cells.iter().skip(pair).step_by(size).sum();
        cells[zero * size + pair] = total - others;
    }
}

/// Makes configurations finer by a column, numbered as they occur; their new number.
fn refine(strata: &mut [u32], count: usize, codes: &[u8], levels: usize) -> usize {
    let mut next = 0u32;
    let mut number = |slot: &mut u32| {
        if *slot == u32::MAX {
            *slot = next;
            next += 1;
        }
        *slot
    };
    if count * levels <= 4 * strata.len() + 1024 {
        let mut table = vec![u32::MAX; count * levels];
        for (stratum, code) in strata.iter_mut().zip(codes) {
            *stratum = number(&mut table[*stratum as usize * levels + usize::from(*code)]);
        }
    } else {
        let mut table: FxHashMap<(u32, u8), u32> = FxHashMap::default();
        for (stratum, code) in strata.iter_mut().zip(codes) {
            *stratum = number(table.entry((*stratum, *code)).or_insert(u32::MAX));
        }
    }
    next as usize
}

impl Newcomer for Strata {
    type Facts = Levels;
    type Met = ();

    const KIND: MeasureKind = MeasureKind::G2;

    fn code(&self, x: Column<'_>) -> Result<Option<ColumnData>> {
        coded(x, self.bins)
    }

    fn facts(&mut self, x: Column<'_>, _: &ColumnStats) -> Result<Levels> {
        self.coded.levels(x)
    }

    fn hold(&mut self, _: &[Side<'_, Levels>]) {}

    fn let_go(&mut self, _: usize) {}

    fn meet(&mut self, _: &[Side<'_, Levels>], _: Side<'_, Levels>, _: impl Fn(usize) -> bool) {}

    fn condition(&mut self, held: &[Side<'_, Levels>], target: Node, set: &[Node], bare: bool) {
        let own = self.target.clone();
        let column = |node: &Node| match node {
            Node::Target => CodedColumn { x: own.0.view(), levels: &own.1 },
            Node::Held(at) => CodedColumn { x: held[*at].x, levels: held[*at].facts },
        };
        let kept = std::mem::take(&mut self.covariates);
        let covariates = if bare { &[] } else { &kept[..] }.iter();
        let covariates = covariates.map(|(data, levels)| CodedColumn { x: data.view(), levels });
        let (mut strata, mut number, mut degrees) = (vec![0u32; self.n], 1, 1.0);
        let mut codes = std::mem::take(&mut self.codes);
        for x in covariates.chain(set.iter().map(column)) {
            fill_codes(x, &mut codes);
            number = refine(&mut strata, number, &codes, x.levels.counts.len());
            degrees *= x.levels.used() as f64;
        }
        let y = column(&target);
        fill_codes(y, &mut codes);
        let classes = y.levels.counts.len();
        for (stratum, code) in strata.iter_mut().zip(&codes) {
            *stratum = *stratum * classes as u32 + u32::from(*code);
        }
        self.codes = codes;
        let mut pairs = Pairs {
            strata: number,
            classes,
            degrees: degrees * (y.levels.used() as f64 - 1.0),
            of: strata,
            codes: None,
            counts: Vec::new(),
            mass: Vec::new(),
            units: (0, 0),
            weighted: 0.0,
        };
        self.count_pairs(&mut pairs, y);
        (self.pairs, self.covariates) = (Some(pairs), kept);
    }

    fn test(&mut self, x: Side<'_, Levels>, (): &()) -> Option<Link> {
        self.link(CodedColumn { x: x.x, levels: x.facts })
    }

    fn test_node(&mut self, held: &[Side<'_, Levels>], node: Node) -> Option<Link> {
        match node {
            Node::Held(at) => self.test(held[at], &()),
            Node::Target => {
                let target = self.target.clone();
                self.link(CodedColumn { x: target.0.view(), levels: &target.1 })
            }
        }
    }

    fn score(&self) -> &'static str {
        "G2 statistic with the target when it was selected"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::order::generator;
    use crate::measure::g2::tests::plain;
    use rand::RngExt;

    /// Few pairs of configuration and class are codes; many are counted row by row.
    #[test]
    fn every_storage_and_size_of_condition_is_the_definition() {
        let mut random = generator(4, 0);
        let mut many = 0;
        for trial in 0..60 {
            let (n, tops) = (random.random_range(60..400), [2, 4, 6, 16]);
            let mut column = |top: u32| -> Vec<f64> {
                (0..n).map(|_| f64::from(random.random_range(0..top))).collect()
            };
            let y = column(2 + trial % 2);
            let x = column(tops[trial as usize % 4]);
            let given: Vec<Vec<f64>> =
                (0..trial % 4).map(|at| column(tops[(trial + at) as usize % 4])).collect();
            let set: Vec<&[f64]> = given.iter().map(|g| &g[..]).collect();
            let want = plain(&x, &y, &set);
            for weighted in [false, true] {
                let mut problem = Problem::regression(y.clone());
                problem.weight = weighted.then(|| vec![1.0; n]);
                let mut strata = Strata::new(&problem, None, 0.0).unwrap();
                let coded = |strata: &Strata, x: &[f64]| strata.code(Column::dense(x)).unwrap();
                let held: Vec<ColumnData> =
                    given.iter().map(|g| coded(&strata, g).unwrap()).collect();
                let facts: Vec<Levels> = held
                    .iter()
                    .map(|x| strata.facts(x.view(), &ColumnStats::default()).unwrap())
                    .collect();
                let sides: Vec<Side<'_, Levels>> =
                    held.iter().zip(&facts).map(|(x, facts)| Side { x: x.view(), facts }).collect();
                let nodes: Vec<Node> = (0..sides.len()).map(Node::Held).collect();
                strata.condition(&sides, Node::Target, &nodes, false);
                let pairs = strata.pairs.as_ref().unwrap();
                many += u32::from(!weighted && pairs.codes.is_none());
                let index: Vec<u32> = (0..n as u32).filter(|i| x[*i as usize] != 0.0).collect();
                let value = index.iter().map(|i| x[*i as usize]).collect();
                let sparse = ColumnData::Sparse {
                    rows: n,
                    index,
                    value: crate::data::column::Numbers::F64(value),
                };
                for data in [coded(&strata, &x).unwrap(), sparse] {
                    let facts = strata.facts(data.view(), &ColumnStats::default()).unwrap();
                    let side = Side { x: data.view(), facts: &facts };
                    let link = strata.test(side, &()).unwrap();
                    let levels = |x: &[f64]| {
                        let mut x = x.to_vec();
                        x.sort_by(f64::total_cmp);
                        x.dedup();
                        x.len() as f64
                    };
                    let product: f64 = given.iter().map(|g| levels(g)).product();
                    let df = (levels(&x) - 1.0) * (levels(&y) - 1.0) * product;
                    assert!((link.statistic - want).abs() < 1e-7, "{} {want}", link.statistic);
                    assert!((link.ln_p - ln_chi_squared_tail(want, df)).abs() < 1e-6);
                }
            }
        }
        assert!(many > 5, "{many}");
    }

    #[test]
    fn a_test_of_too_few_rows_is_not_made() {
        // Two levels each: a degree of freedom a configuration, and 5 rows a degree.
        let column = |at: u32| (0..19).map(|i| f64::from(i >> at & 1)).collect::<Vec<f64>>();
        let problem = Problem::binary(&column(0));
        let mut strata = Strata::new(&problem, None, 5.0).unwrap();
        let data = [1, 2, 3].map(|at| strata.code(Column::dense(&column(at))).unwrap().unwrap());
        let facts =
            data.each_ref().map(|x| strata.facts(x.view(), &ColumnStats::default()).unwrap());
        let sides = [0, 1, 2].map(|at| Side { x: data[at].view(), facts: &facts[at] });
        strata.condition(&sides, Node::Target, &[Node::Held(0)], false);
        assert!(strata.test(sides[2], &()).is_some());
        strata.condition(&sides, Node::Target, &[Node::Held(0), Node::Held(1)], false);
        assert!(strata.test(sides[2], &()).is_none());
    }
}
