//! G²: the likelihood-ratio test of independence of discrete columns, with conditions.
//!
//! ```text
//! G2 = 2 sum O ln(O / E)   within each configuration of the conditions, over non-empty cells
//! df = (K_v - 1)(K_y - 1) prod K_S, at least 1       p = P(chi-squared_df >= G2)
//! independent where p >= alpha; also where n < 5 df, without a test
//! ```
//!
//! `K` is the number of levels of a column. Without conditions the table comes from the packed
//! kernels of [`Coded`]. Binary columns under binary conditions are counted by popcounts over
//! n/64 words per configuration. Other tests are one histogram over the rows. Counts are summed
//! through the fixed-point table of [`Entropies`], so the order of summation changes no digit. With
//! sample weights the cells are their sums, by the histogram, and `n` is the sum of all.

use serde::{Deserialize, Serialize};

use super::coded::{Coded, CodedColumn, Levels, fill_codes};
use super::conditional::Conditional;
use super::discrete::coded;
use super::entropy::Entropies;
use super::{ALPHA, Bins, Evidence, MeasureInfo, MeasureKind, Side, coded_target, rows_counted};
use crate::data::check::ColumnStats;
use crate::data::column::{Column, ColumnData};
use crate::data::target::Problem;
use crate::error::Result;
use crate::tails::chi_squared_tail;

/// Facts of a column: its levels, and the number of levels `k` in the degrees of freedom.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Coding {
    levels: Levels,
    k: u32,
}

/// The likelihood-ratio test.
pub struct G2 {
    n: usize,
    // Rows that the test counts: the sum of the sample weights.
    total: f64,
    weight: Option<Vec<f64>>,
    alpha: f64,
    bins: Option<Bins>,
    lofs: bool,
    coded: Coded,
    entropies: Entropies,
    target: ColumnData,
    target_levels: Levels,
    target_codes: Vec<u8>,
    // Scratch: codes of one column, configuration of the conditions, cells.
    codes: Vec<u8>,
    strata: Vec<u32>,
    cells: Vec<u32>,
    mass: Vec<f64>,
    too_few_rows: u64,
}

impl G2 {
    /// The test against the problem's target at level `alpha`; with `lofs` levels are counted as
    /// the library does.
    pub fn new(problem: &Problem, alpha: f64, bins: Option<Bins>, lofs: bool) -> Result<Self> {
        ALPHA.check(alpha)?;
        if lofs {
            super::lofs::plain(problem)?;
        }
        let n = problem.n();
        let target = coded_target(&problem.target)?;
        let mut coded = Coded::new(n, None);
        let target_levels = coded.levels(target.view())?;
        let mut target_codes = Vec::new();
        fill_codes(CodedColumn { x: target.view(), levels: &target_levels }, &mut target_codes);
        let (codes, strata, cells, mass) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let entropies = Entropies::new(n);
        Ok(Self {
            n,
            total: rows_counted(problem)?,
            weight: problem.weight.clone(),
            alpha,
            bins,
            lofs,
            coded,
            entropies,
            target,
            target_levels,
            target_codes,
            codes,
            strata,
            cells,
            mass,
            too_few_rows: 0,
        })
    }

    /// Degrees of freedom, or `None` where the rows are too few for the test.
    fn degrees(&mut self, k: u32, given: impl Iterator<Item = u32>) -> Option<f64> {
        let classes = self.target_levels.counts.len() as f64;
        let df = (f64::from(k) - 1.0) * (classes - 1.0) * given.map(f64::from).product::<f64>();
        let df = df.max(1.0);
        if self.total < 5.0 * df {
            self.too_few_rows += 1;
            return None;
        }
        Some(df)
    }

    /// `G2` from the counted cells: strata of `k` rows of `classes` counts.
    fn statistic(&self, k: usize) -> f64 {
        let classes = self.target_levels.counts.len();
        if self.weight.is_some() {
            return self.mass.chunks(k * classes).map(|s| weighted_statistic(s, classes)).sum();
        }
        let e = &self.entropies;
        let (mut plus, mut minus) = (0u64, 0u64);
        for stratum in self.cells.chunks(k * classes) {
            plus += e.g(stratum.iter().sum()) + e.sum(stratum);
            minus += stratum.chunks(classes).map(|row| e.g(row.iter().sum())).sum::<u64>();
            minus += (0..classes)
                .map(|c| e.g(stratum.iter().skip(c).step_by(classes).sum()))
                .sum::<u64>();
        }
        let rounding = e.rounding(4 * self.cells.len() + 8);
        let units = plus.saturating_sub(minus);
        let bits = if units <= rounding { 0.0 } else { e.bits(units) * self.n as f64 };
        2.0 * std::f64::consts::LN_2 * bits
    }

    /// Counts by configuration of the conditions, level of `v` and class.
    fn tabulate(&mut self, v: CodedColumn<'_>, given: &[CodedColumn<'_>]) {
        let words = |x: Column<'_>| matches!(x, Column::Bits { .. });
        let all_bits = words(self.target.view()) && words(v.x) && given.iter().all(|g| words(g.x));
        if !all_bits || self.weight.is_some() {
            return self.count(v, given);
        }
        let given: Vec<&[u64]> = given.iter().map(|g| bits(g.x)).collect();
        let none = ColumnData::Bits { rows: 0, words: Vec::new() };
        let target = std::mem::replace(&mut self.target, none);
        self.count_bits(bits(v.x), bits(target.view()), &given);
        self.target = target;
    }

    /// `I(v; y | given)` in bits.
    pub(crate) fn information_given(
        &mut self,
        v: CodedColumn<'_>,
        given: &[CodedColumn<'_>],
    ) -> f64 {
        self.tabulate(v, given);
        let statistic = self.statistic(v.levels.counts.len());
        statistic / (2.0 * std::f64::consts::LN_2 * self.total)
    }

    /// Counts by configuration of the conditions, level of `v` and class, by one histogram.
    fn count(&mut self, v: CodedColumn<'_>, given: &[CodedColumn<'_>]) {
        self.strata.clear();
        self.strata.resize(self.n, 0);
        let mut width = 1;
        for x in given.iter().chain([&v]) {
            let k = x.levels.counts.len() as u32;
            fill_codes(*x, &mut self.codes);
            let codes = self.codes.iter();
            self.strata.iter_mut().zip(codes).for_each(|(s, c)| *s = *s * k + u32::from(*c));
            width *= k as usize;
        }
        let classes = self.target_levels.counts.len();
        if let Some(weight) = &self.weight {
            self.mass.clear();
            self.mass.resize(width * classes, 0.0);
            for ((stratum, y), v) in self.strata.iter().zip(&self.target_codes).zip(weight) {
                self.mass[*stratum as usize * classes + usize::from(*y)] += v;
            }
            return;
        }
        self.cells.clear();
        self.cells.resize(width * classes, 0);
        for (stratum, y) in self.strata.iter().zip(&self.target_codes) {
            self.cells[*stratum as usize * classes + usize::from(*y)] += 1;
        }
    }

    /// The same counts where everything is bits.
    fn count_bits(&mut self, v: &[u64], y: &[u64], given: &[&[u64]]) {
        self.cells.clear();
        for configuration in 0..1u32 << given.len() {
            let (mut all, mut ones, mut classes, mut both) = (0, 0, 0, 0);
            for (w, (v, y)) in v.iter().zip(y).enumerate() {
                let mut mask = row_mask(self.n, w);
                for (c, words) in given.iter().enumerate() {
                    // The first condition is the slowest index, as in the histogram.
                    let set = configuration >> (given.len() - 1 - c) & 1 == 1;
                    mask &= if set { words[w] } else { !words[w] };
                }
                all += mask.count_ones();
                ones += (mask & v).count_ones();
                classes += (mask & y).count_ones();
                both += (mask & v & y).count_ones();
            }
            self.cells.extend([all + both - ones - classes, classes - both, ones - both, both]);
        }
    }
}

/// `G2` of one table of sample weights, one row per level.
fn weighted_statistic(cells: &[f64], classes: usize) -> f64 {
    let g = |m: f64| if m > 0.0 { m * m.ln() } else { 0.0 };
    let column = |c: usize| g(cells.iter().skip(c).step_by(classes).sum());
    let plus = g(cells.iter().sum()) + cells.iter().map(|m| g(*m)).sum::<f64>();
    let minus = cells.chunks(classes).map(|row| g(row.iter().sum())).sum::<f64>()
        + (0..classes).map(column).sum::<f64>();
    // Within rounding of 0 is 0.
    let noise = 1e-14 * (plus.abs() + minus.abs()) * cells.len() as f64;
    if plus - minus <= noise { 0.0 } else { 2.0 * (plus - minus) }
}

/// The bits of word `w` that stand for rows.
fn row_mask(n: usize, w: usize) -> u64 {
    if n >= 64 * (w + 1) { u64::MAX } else { (1u64 << (n % 64)) - 1 }
}

/// The number of levels as the library counts it: its largest code.
///
/// Values -2, 0, 2 are coded 1, 2, 3. With a least value of 0 codes are the values plus 1. Other
/// positive values are their own codes.
fn library_levels(x: Column<'_>) -> u32 {
    let (mut low, mut high, mut stored) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    x.each(|_, v| {
        (low, high) = (low.min(v), high.max(v));
        stored += 1;
    });
    if stored < x.rows() {
        (low, high) = (low.min(0.0), high.max(0.0));
    }
    let k = if low < 0.0 {
        if low == -2.0 && high.abs() <= 2.0 { high / 2.0 + 2.0 } else { high - low + 1.0 }
    } else if low == 0.0 {
        high + 1.0
    } else {
        high
    };
    k.clamp(1.0, 1e9) as u32
}

/// What the measure is and can do.
pub(super) const INFO: MeasureInfo = MeasureInfo {
    name: "g2",
    score: "G2 statistic against the target",
    numbers: false,
    tested: true,
    pairs: false,
    conditional: true,
};

impl Conditional for G2 {
    type Facts = Coding;
    type Memory = ();

    const KIND: MeasureKind = MeasureKind::G2;

    fn code(&self, x: Column<'_>) -> Result<Option<ColumnData>> {
        coded(x, self.bins)
    }

    fn weigh(&mut self, x: Column<'_>, _: &ColumnStats) -> Result<(Coding, Evidence)> {
        let levels = self.coded.levels(x)?;
        let k = if self.lofs { library_levels(x) } else { levels.used() as u32 };
        let Some(df) = self.degrees(k, std::iter::empty()) else {
            return Ok((Coding { levels, k }, Evidence::weak(0.0)));
        };
        if self.weight.is_some() {
            self.count(CodedColumn { x, levels: &levels }, &[]);
        } else {
            let target = CodedColumn { x: self.target.view(), levels: &self.target_levels };
            let table = self.coded.joint(CodedColumn { x, levels: &levels }, target);
            self.cells.clear();
            self.cells.extend_from_slice(table);
        }
        let statistic = self.statistic(levels.counts.len());
        let p = chi_squared_tail(statistic, df);
        let evidence = if p < self.alpha {
            Evidence { strength: statistic, relevant: true, p_value: Some(p) }
        } else {
            Evidence::weak(statistic)
        };
        Ok((Coding { levels, k }, evidence))
    }

    fn push(&mut self, (): &mut (), _: &[Side<'_, Coding>]) {}

    fn remove(&self, (): &mut (), _: usize) {}

    fn independent(
        &mut self,
        (): &(),
        columns: &[Side<'_, Coding>],
        v: usize,
        given: &[usize],
    ) -> bool {
        let (v, given) = (columns[v], given.iter().map(|g| columns[*g]));
        let Some(df) = self.degrees(v.facts.k, given.clone().map(|g| g.facts.k)) else {
            return true;
        };
        let given: Vec<CodedColumn<'_>> = given.map(coded_column).collect();
        self.tabulate(coded_column(v), &given);
        let statistic = self.statistic(v.facts.levels.counts.len());
        chi_squared_tail(statistic, df) >= self.alpha
    }

    fn too_few_rows(&self) -> u64 {
        self.too_few_rows
    }
}

fn bits(x: Column<'_>) -> &[u64] {
    match x {
        Column::Bits { words, .. } => words,
        _ => &[],
    }
}

fn coded_column<'a>(side: Side<'a, Coding>) -> CodedColumn<'a> {
    CodedColumn { x: side.x, levels: &side.facts.levels }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::data::order::generator;
    use rand::RngExt;
    use std::collections::BTreeMap;

    /// G2 by the definition: observed and expected cells in maps.
    pub(in crate::measure) fn plain(v: &[f64], y: &[f64], given: &[&[f64]]) -> f64 {
        let mut strata: BTreeMap<Vec<i64>, Vec<(i64, i64)>> = BTreeMap::new();
        for i in 0..v.len() {
            let key = given.iter().map(|g| g[i] as i64).collect();
            strata.entry(key).or_default().push((v[i] as i64, y[i] as i64));
        }
        let mut sum = 0.0;
        for rows in strata.values() {
            let n = rows.len() as f64;
            let count =
                |f: &dyn Fn(&(i64, i64)) -> bool| rows.iter().filter(|r| f(r)).count() as f64;
            let mut cells: Vec<_> = rows.clone();
            cells.sort_unstable();
            cells.dedup();
            for cell in cells {
                let o = count(&|r| *r == cell);
                let e = count(&|r| r.0 == cell.0) * count(&|r| r.1 == cell.1) / n;
                sum += o * (o / e).ln();
            }
        }
        2.0 * sum
    }

    #[test]
    fn bits_codes_and_sparse_agree_with_the_definition() {
        let mut random = generator(3, 0);
        for trial in 0..150 {
            let n = random.random_range(40..200);
            let top = 2 + trial % 2;
            let mut column =
                || -> Vec<f64> { (0..n).map(|_| f64::from(random.random_range(0..top))).collect() };
            let (y, v, c, d) = (column(), column(), column(), column());
            let labels: Vec<f64> = y.iter().map(|y| y.min(1.0)).collect();
            let mut g2 = G2::new(&Problem::binary(&labels), 0.01, None, false).unwrap();
            let want = plain(&v, &labels, &[&c, &d]);
            for packed in [true, false] {
                let data: Vec<ColumnData> = [&v, &c, &d]
                    .map(|x| {
                        let x = Column::dense(x);
                        let codes = || crate::data::compact::encode(x).unwrap();
                        if packed { g2.code(x).unwrap().unwrap() } else { codes() }
                    })
                    .into();
                let facts: Vec<Coding> = data
                    .iter()
                    .map(|d| g2.weigh(d.view(), &ColumnStats::default()).unwrap().0)
                    .collect();
                let sides: Vec<Side<'_, Coding>> =
                    data.iter().zip(&facts).map(|(d, facts)| Side { x: d.view(), facts }).collect();
                let independent = g2.independent(&(), &sides, 0, &[1, 2]);
                let df = f64::from(top - 1) * f64::from(top * top);
                if n as f64 >= 5.0 * df {
                    let got = g2.statistic(facts[0].levels.counts.len());
                    assert!((got - want).abs() < 1e-7, "{got} {want}");
                    assert_eq!(independent, chi_squared_tail(want, df) >= 0.01);
                } else {
                    assert!(independent);
                }
            }
        }
    }

    #[test]
    fn levels_are_counted_as_the_library_codes_them() {
        let k = |x: &[f64]| library_levels(Column::dense(x));
        assert_eq!((k(&[-2.0, 0.0, 2.0]), k(&[-2.0, 0.0]), k(&[0.0, 2.0])), (3, 2, 3));
        assert_eq!((k(&[1.0, 2.0]), k(&[0.0, 5.0])), (2, 6));
    }
}
