//! Contingency tables of discrete columns in every storage, without making one dense.
//!
//! ```text
//! bits x bits      n11 by AND and popcount over n/64 words, the rest by subtraction
//! sparse x sparse  a merge (or a search of the shorter in the longer) over the non-zeros
//! sparse x other   the non-zeros of the sparse column, the zero level by subtraction
//! codes x other    popcounts of their levels as bits; with many levels, row by row
//! ```
//!
//! Counts are whole numbers, so every storage gives the same table and the same entropies to
//! the last digit. With sample weights the cells are their sums, computed in a plain pass.

use serde::{Deserialize, Serialize};

use super::entropy::Entropies;
use super::shared_rows::{bit, shared_rows};
use crate::data::column::Column;
use crate::data::compact::MOST_LEVELS;
use crate::error::{Error, Result};
use crate::numeric::counts::{Levelled, Planes, count, count_pairs, count_pairs_by_row, few_pairs};
use crate::numeric::popcount;

/// Facts of a discrete column, computed once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Levels {
    /// Rows by level, in order of value.
    pub counts: Vec<u32>,
    /// Sum of sample weights by level; empty without sample weights.
    pub mass: Vec<f64>,
    /// The level of the rows that a sparse or bit column does not store.
    pub zero: u32,
    /// `sum g(count)`, see `Entropies`.
    pub sum: u64,
    /// Values by level, for sparse columns only: their codes are looked up by value.
    values: Vec<f64>,
}

impl Levels {
    /// Levels that occur.
    #[must_use]
    pub fn used(&self) -> usize {
        self.counts.iter().filter(|c| **c > 0).count()
    }

    fn code(&self, value: f64) -> usize {
        self.values.partition_point(|v| *v < value)
    }
}

/// A discrete column and its levels.
#[derive(Clone, Copy)]
pub struct CodedColumn<'a> {
    /// The values: bits, codes or sparse.
    pub x: Column<'a>,
    /// Its levels.
    pub levels: &'a Levels,
}

/// Builds tables and entropies for one set of rows.
#[derive(Clone, Debug)]
pub struct Coded {
    entropies: Entropies,
    weight: Option<Vec<f64>>,
    table: Vec<u32>,
    mass: Vec<f64>,
    codes: [Vec<u8>; 2],
    planes: Planes,
}

/// Mutual information and the entropies, in one common unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Information {
    /// `I(X;Y)`.
    pub mutual: f64,
    /// `H(X) + H(Y)`.
    pub entropies: f64,
    /// Bits per unit.
    pub bits: f64,
}

impl Coded {
    /// Tables over `n` rows with these sample weights.
    #[must_use]
    pub fn new(n: usize, weight: Option<Vec<f64>>) -> Self {
        let (table, mass, codes) = (Vec::new(), Vec::new(), Default::default());
        Self { entropies: Entropies::new(n), weight, table, mass, codes, planes: Planes::default() }
    }

    /// Rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.entropies.rows()
    }

    /// Counts the levels of a column; an error for a dense one or past 256 levels.
    pub fn levels(&mut self, x: Column<'_>) -> Result<Levels> {
        let n = self.rows() as u32;
        let (mut values, mut zero) = (Vec::new(), 0);
        let counts = match x {
            Column::Bits { words, .. } => {
                let ones = popcount::count_ones(words) as u32;
                vec![n - ones, ones]
            }
            Column::Codes { codes, levels } => {
                let mut counts = vec![0; levels.len()];
                count(codes, &mut counts);
                counts
            }
            Column::Sparse { .. } => {
                let counts = sparse_levels(x, n, &mut values)?;
                zero = values.partition_point(|v| *v < 0.0) as u32;
                counts
            }
            // Genotypes come as codes; see `compact`.
            Column::F32(_) | Column::F64(_) | Column::Whole(_) | Column::Genotypes(_) => {
                return Err(too_many());
            }
        };
        let sum = self.entropies.sum(&counts);
        let mut levels = Levels { counts, mass: Vec::new(), zero, sum, values };
        if let Some(weight) = &self.weight {
            let [codes, _] = &mut self.codes;
            fill_codes(CodedColumn { x, levels: &levels }, codes);
            let mut mass = vec![0.0; levels.counts.len()];
            codes.iter().zip(weight).for_each(|(c, v)| mass[usize::from(*c)] += v);
            levels.mass = mass;
        }
        Ok(levels)
    }

    /// `I(A;B)` and the entropies.
    pub fn information(&mut self, a: CodedColumn<'_>, b: CodedColumn<'_>) -> Information {
        if self.weight.is_some() {
            return self.weighted(a, b);
        }
        self.joint(a, b);
        self.evaluate(a.levels, b.levels)
    }

    /// The same as [`Coded::information`] for columns that share no row: in every row at least
    /// one of them is at its zero level.
    pub fn information_disjoint(&mut self, a: &Levels, b: &Levels) -> Information {
        self.clear(a, b);
        self.complete(a, b);
        self.evaluate(a, b)
    }

    /// The information of a binary column, given how many of its ones fall on each level of `b`.
    pub fn information_of_bits(&mut self, a: &Levels, b: &Levels, ones: &[u32]) -> Information {
        self.table.clear();
        self.table.extend(b.counts.iter().zip(ones).map(|(count, ones)| count - ones));
        self.table.extend_from_slice(ones);
        self.evaluate(a, b)
    }

    /// An upper bound of the information that two columns with these counts can have; cheap.
    #[must_use]
    pub fn upper_bound(&self, a: &Levels, b: &Levels) -> Information {
        let e = &self.entropies;
        let (ha, hb) = (e.entropy(a.sum), e.entropy(b.sum));
        let mut mutual = ha.min(hb);
        if let ([a0, a1], [b0, b1]) = (&a.counts[..], &b.counts[..]) {
            // The information of a 2x2 table is convex in `n11`, so it is largest at an end.
            let n = a0 + a1;
            let ends = [(*a1).min(*b1), (a1 + b1).saturating_sub(n)];
            let at = |n11: u32| {
                let cells = [n + n11 - a1 - b1, b1 - n11, a1 - n11, n11];
                debug_assert_eq!(b0 + b1, n);
                e.mutual(e.sum(&cells), a.sum, b.sum, 0)
            };
            mutual = mutual.min(at(ends[0]).max(at(ends[1])));
        }
        let slack = e.rounding(2 * (a.counts.len() + 1) * (b.counts.len() + 1) + 16);
        self.info(mutual + slack, ha + hb)
    }

    fn info(&self, mutual: u64, entropies: u64) -> Information {
        let bits = self.entropies.bits(1);
        Information { mutual: mutual as f64, entropies: entropies as f64, bits }
    }

    fn evaluate(&self, a: &Levels, b: &Levels) -> Information {
        let e = &self.entropies;
        let terms = self.table.len() + a.counts.len() + b.counts.len() + 1;
        let mutual = e.mutual(e.sum(&self.table), a.sum, b.sum, terms);
        self.info(mutual, e.entropy(a.sum) + e.entropy(b.sum))
    }

    fn clear(&mut self, a: &Levels, b: &Levels) {
        self.table.clear();
        self.table.resize(a.counts.len() * b.counts.len(), 0);
    }

    /// The table of counts, one row per level of `a`.
    pub fn joint(&mut self, a: CodedColumn<'_>, b: CodedColumn<'_>) -> &[u32] {
        let n = self.rows() as u32;
        self.clear(a.levels, b.levels);
        let (height, width) = (a.levels.counts.len(), b.levels.counts.len());
        let table = &mut self.table;
        let both_bits = matches!((a.x, b.x), (Column::Bits { .. }, Column::Bits { .. }));
        if let Some((x, y)) = levelled(a.x).zip(levelled(b.x))
            && few_pairs(height, width)
            && !both_bits
        {
            count_pairs((x, height), (y, width), &mut self.planes, table);
            self.complete(a.levels, b.levels);
            return &self.table;
        }
        match (a.x, b.x) {
            (Column::Bits { words: x, .. }, Column::Bits { words: y, .. }) => {
                let (a1, b1) = (a.levels.counts[1], b.levels.counts[1]);
                let n11 = popcount::count_and(x, y) as u32;
                table.copy_from_slice(&[n + n11 - a1 - b1, b1 - n11, a1 - n11, n11]);
            }
            (Column::Codes { codes: x, .. }, Column::Codes { codes: y, .. }) => {
                count_pairs_by_row(x, y, width, table);
            }
            (Column::Codes { codes, .. }, _) => {
                let at = |row: usize| usize::from(codes[row]);
                stored(b, |row, code| table[at(row) * width + code] += 1);
                self.complete_columns(a.levels, b.levels);
            }
            (_, Column::Codes { codes, .. }) => {
                let at = |row: usize| usize::from(codes[row]);
                stored(a, |row, code| table[code * width + at(row)] += 1);
                self.complete_rows(a.levels, b.levels);
            }
            (Column::Bits { words, .. }, _) => {
                stored(b, |row, code| table[usize::from(bit(words, row)) * width + code] += 1);
                self.complete_columns(a.levels, b.levels);
            }
            (_, Column::Bits { words, .. }) => {
                stored(a, |row, code| table[code * width + usize::from(bit(words, row))] += 1);
                self.complete_rows(a.levels, b.levels);
            }
            (Column::Sparse { index: x, .. }, Column::Sparse { index: y, .. }) => {
                let (xs, ys) = (sparse_code(a), sparse_code(b));
                shared_rows(x, y, |i, j| table[xs(i) * width + ys(j)] += 1);
                self.complete(a.levels, b.levels);
            }
            _ => debug_assert!(false, "dense columns are coded before they are compared"),
        }
        &self.table
    }

    /// Fills the zero level of `b` from the counts of `a`, after all other levels of `b` were
    /// counted.
    fn complete_columns(&mut self, a: &Levels, b: &Levels) {
        let (width, zero) = (b.counts.len(), b.zero as usize);
        for (row, count) in self.table.chunks_mut(width).zip(&a.counts) {
            row[zero] = 0;
            row[zero] = count - row.iter().sum::<u32>();
        }
    }

    /// Fills the zero level of `a` from the counts of `b`.
    fn complete_rows(&mut self, a: &Levels, b: &Levels) {
        let (width, zero) = (b.counts.len(), a.zero as usize);
        for code in 0..width {
            self.table[zero * width + code] = 0;
            let others: u32 = self.table.iter().skip(code).step_by(width).sum();
            self.table[zero * width + code] = b.counts[code] - others;
        }
    }

    /// Fills both zero levels, after only rows with both columns off zero were counted.
    fn complete(&mut self, a: &Levels, b: &Levels) {
        let width = b.counts.len();
        self.table[a.zero as usize * width..][..width].fill(0);
        for (code, row) in self.table.chunks_mut(width).enumerate() {
            if code != a.zero as usize {
                row[b.zero as usize] = 0;
                row[b.zero as usize] = a.counts[code] - row.iter().sum::<u32>();
            }
        }
        self.complete_rows(a, b);
    }

    fn weighted(&mut self, a: CodedColumn<'_>, b: CodedColumn<'_>) -> Information {
        let (width, weight) = (b.levels.counts.len(), self.weight.as_deref().unwrap_or(&[]));
        let [x, y] = &mut self.codes;
        fill_codes(a, x);
        fill_codes(b, y);
        self.mass.clear();
        self.mass.resize(a.levels.counts.len() * width, 0.0);
        for ((x, y), v) in x.iter().zip(y.iter()).zip(weight) {
            self.mass[usize::from(*x) * width + usize::from(*y)] += v;
        }
        let total: f64 = a.levels.mass.iter().sum();
        let entropy = |mass: &[f64]| -> f64 {
            mass.iter().filter(|m| **m > 0.0).map(|m| m / total * (total / m).log2()).sum()
        };
        let entropies = entropy(&a.levels.mass) + entropy(&b.levels.mass);
        let mutual = entropies - entropy(&self.mass);
        // Within rounding of 0 is 0.
        let mutual = if mutual < 1e-13 * (1.0 + entropies) { 0.0 } else { mutual };
        Information { mutual, entropies, bits: 1.0 }
    }
}

pub(crate) fn too_many() -> Error {
    Error::Data(format!(
        "more than {MOST_LEVELS} levels for a discrete measure; \
         choose `measure=fisher-z` or `bins=N`"
    ))
}

/// Counts of a sparse column by value, zero included; `values` gets the levels.
fn sparse_levels(x: Column<'_>, n: u32, values: &mut Vec<f64>) -> Result<Vec<u32>> {
    let mut levels: Vec<(f64, u32)> = vec![(0.0, n)];
    let mut at = 0;
    let mut fits = true;
    x.each(|_, v| {
        if fits && levels[at].0 != v {
            at = levels.iter().position(|(level, _)| *level == v).unwrap_or_else(|| {
                levels.push((v, 0));
                levels.len() - 1
            });
            fits = levels.len() <= MOST_LEVELS;
        }
        if fits {
            levels[at].1 += 1;
            levels[0].1 -= 1;
        }
    });
    if !fits {
        return Err(too_many());
    }
    levels.sort_by(|a, b| a.0.total_cmp(&b.0));
    values.extend(levels.iter().map(|(level, _)| *level));
    Ok(levels.iter().map(|(_, count)| *count).collect())
}

fn levelled(x: Column<'_>) -> Option<Levelled<'_>> {
    match x {
        Column::Codes { codes, .. } => Some(Levelled::Codes(codes)),
        Column::Bits { words, .. } => Some(Levelled::Bits(words)),
        _ => None,
    }
}

/// Calls `f` with row and code of every stored value; a stored zero has the code of the zero level.
pub(crate) fn stored(x: CodedColumn<'_>, mut f: impl FnMut(usize, usize)) {
    match x.x {
        Column::Bits { .. } => x.x.each(|row, _| f(row, 1)),
        _ => x.x.each(|row, v| f(row, x.levels.code(v))),
    }
}

fn sparse_code<'a>(x: CodedColumn<'a>) -> impl Fn(usize) -> usize + 'a {
    use crate::data::column::NumbersRef;
    move |at| match x.x {
        Column::Sparse { value: NumbersRef::F32(v), .. } => x.levels.code(f64::from(v[at])),
        Column::Sparse { value: NumbersRef::F64(v), .. } => x.levels.code(v[at]),
        _ => 0,
    }
}

/// One code per row, for weighted tables and conditional tests.
pub fn fill_codes(x: CodedColumn<'_>, out: &mut Vec<u8>) {
    out.clear();
    match x.x {
        Column::Codes { codes, .. } => out.extend_from_slice(codes),
        _ => {
            out.resize(x.x.rows(), x.levels.zero as u8);
            stored(x, |row, code| out[row] = code as u8);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::{ColumnData, Numbers};
    use crate::data::compact::encode;
    use crate::data::order::generator;
    use rand::RngExt;

    /// The same small whole numbers as sparse, codes and, where they are 0 and 1, bits.
    pub fn kinds(values: &[f64]) -> Vec<ColumnData> {
        let rows = values.len();
        let nonzero: Vec<usize> = (0..rows).filter(|i| values[*i] != 0.0).collect();
        let value = Numbers::F64(nonzero.iter().map(|i| values[*i]).collect());
        let index = nonzero.iter().map(|i| *i as u32).collect();
        let mut kinds =
            vec![encode(Column::dense(values)).unwrap(), ColumnData::Sparse { rows, index, value }];
        if values.iter().all(|v| *v == 0.0 || *v == 1.0) {
            let mut words = vec![0u64; rows.div_ceil(64)];
            nonzero.iter().for_each(|i| words[i / 64] |= 1 << (i % 64));
            kinds.push(ColumnData::Bits { rows, words });
        }
        kinds
    }

    /// Mutual information by the definition, over a map of pairs.
    fn plain(a: &[f64], b: &[f64], weight: Option<&[f64]>) -> (f64, f64) {
        use std::collections::BTreeMap;
        let mut cells: BTreeMap<(i64, i64), f64> = BTreeMap::new();
        let (mut rows, mut cols): (BTreeMap<i64, f64>, BTreeMap<i64, f64>) = Default::default();
        let mut total = 0.0;
        for i in 0..a.len() {
            let v = weight.map_or(1.0, |v| v[i]);
            *cells.entry((a[i] as i64, b[i] as i64)).or_default() += v;
            *rows.entry(a[i] as i64).or_default() += v;
            *cols.entry(b[i] as i64).or_default() += v;
            total += v;
        }
        let h = |m: &BTreeMap<i64, f64>| -> f64 {
            m.values().map(|c| -(c / total) * (c / total).log2()).sum()
        };
        let mutual = cells
            .iter()
            .map(|((x, y), c)| c / total * (c * total / (rows[x] * cols[y])).log2())
            .sum();
        (mutual, h(&rows) + h(&cols))
    }

    #[test]
    fn every_pair_of_storages_gives_the_table_of_the_definition() {
        let mut random = generator(5, 0);
        for trial in 0..400 {
            let n = random.random_range(1..150);
            let mut column = |levels: i32| -> Vec<f64> {
                let low = random.random_range(-1..1);
                (0..n).map(|_| f64::from(random.random_range(low..low + levels))).collect()
            };
            let (a, b) = (column(1 + trial % 4), column(1 + trial % 3));
            let weight: Vec<f64> = (0..n).map(|i| 0.5 + f64::from(i as u32 % 3)).collect();
            for weight in [None, Some(weight)] {
                let (mutual, entropies) = plain(&a, &b, weight.as_deref());
                let mut coded = Coded::new(n, weight);
                let mut first: Option<Information> = None;
                for (x, y) in kinds(&a)
                    .iter()
                    .flat_map(|x| kinds(&b).into_iter().map(move |y| (x.clone(), y)))
                {
                    let (p, q) = (coded.levels(x.view()).unwrap(), coded.levels(y.view()).unwrap());
                    let x = CodedColumn { x: x.view(), levels: &p };
                    let y = CodedColumn { x: y.view(), levels: &q };
                    let got = coded.information(x, y);
                    assert!((got.mutual * got.bits - mutual).abs() < 1e-9, "{got:?} {mutual}");
                    assert!((got.entropies * got.bits - entropies).abs() < 1e-9);
                    let turned = coded.information(y, x);
                    if got.bits != 1.0 {
                        assert_eq!(got, turned);
                        assert_eq!(
                            *first.get_or_insert(got),
                            got,
                            "the same digits in any storage"
                        );
                        let most = coded.upper_bound(&p, &q);
                        assert!(most.mutual >= got.mutual, "a bound is a bound");
                        if !a.iter().zip(&b).any(|(a, b)| *a != 0.0 && *b != 0.0)
                            && p.values.len() * q.values.len() > 0
                        {
                            assert_eq!(coded.information_disjoint(&p, &q), got);
                        }
                    }
                }
            }
        }
    }
}
