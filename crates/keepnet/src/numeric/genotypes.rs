//! Kernels on genotypes of two bits a row.
//!
//! With `lo`, `hi` the two bits of a row:
//!
//! ```text
//! P1 = ~lo          at least one copy       n(M) = |lo| - |lo & hi|      n(0) = |lo & hi|
//! P2 = ~lo & ~hi    two copies              n(1) = |hi| - |lo & hi|      n(2) = n - the rest
//! M  = lo & ~hi     missing
//! x'z = |u & u'| + |u & swap(u')|     with u = (P1 in even bits, P2 in odd bits)
//!       + m_x sum(z over M_x) + m_z sum(x over M_z) + m_x m_z |M_x & M_z|
//! ```
//!
//! `swap` exchanges neighbouring bits and `m` is the number for a missing value. Counts and the four
//! parts of a product are exact integers, the same in any order. Sums with a vector take eight rows
//! at a time: two bytes are shifted and choose among the four levels in a register
//! ([`Vector::pick`]). They run in the lanes of the dense kernels, so a column has the digits that it
//! has as f32.

use super::kernel;
use super::simd::{LANES, Vector, fold, on_best};
use crate::data::column::{GenotypeCounts, Genotypes, padding};

/// The low bit of every row of a word.
const EVEN: u64 = 0x5555_5555_5555_5555;
/// Rows that are decoded at a time; a multiple of the rows of a word.
pub(crate) const TILE: usize = 2048;
/// Vectors of a single reduction, as in `kernel.rs`.
const CHAINS: usize = 4;
/// Columns that are added together.
const TOGETHER: usize = 4;

/// Words of 32 rows and the last one, which has code 11 past the end; nothing of no rows.
#[inline(always)]
fn words<'a>(x: Genotypes<'a>) -> Option<(&'a [[u8; 8]], u64)> {
    let bytes = x.bytes();
    let whole = bytes.len().checked_sub(1)? / 8;
    let mut last = [0xff; 8];
    let rest = &bytes[8 * whole..];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len() - 1] |= padding(x.rows());
    Some((bytes[..8 * whole].as_chunks().0, u64::from_le_bytes(last)))
}

/// How often each value occurs.
pub(crate) fn counts(x: Genotypes<'_>) -> GenotypeCounts {
    let Some((words, last)) = words(x) else { return GenotypeCounts::default() };
    let (low, high, both) = on_best!(_v => {
        let (mut low, mut high, mut both) = (0_u64, 0_u64, 0_u64);
        for word in words {
            let word = u64::from_le_bytes(*word);
            low += u64::from((word & EVEN).count_ones());
            high += u64::from((word >> 1 & EVEN).count_ones());
            both += u64::from((word & word >> 1 & EVEN).count_ones());
        }
        low += u64::from((last & EVEN).count_ones());
        high += u64::from((last >> 1 & EVEN).count_ones());
        both += u64::from((last & last >> 1 & EVEN).count_ones());
        (low, high, both)
    });
    let all = 32 * (words.len() as u64 + 1);
    let none = both - (all - x.rows() as u64);
    let (one, missing) = (high - both, low - both);
    GenotypeCounts { copies: [none, one, x.rows() as u64 - none - one - missing], missing }
}

/// At least one copy in the even bits, two copies in the odd ones.
#[inline(always)]
fn unary(word: u64) -> u64 {
    let not = !word;
    (not & EVEN) | (not & not << 1 & !EVEN)
}

#[inline(always)]
fn swap(word: u64) -> u64 {
    (word >> 1 & EVEN) | (word & EVEN) << 1
}

/// Both bits of every missing row.
#[inline(always)]
fn missing(word: u64) -> u64 {
    let low = word & !(word >> 1) & EVEN;
    low | low << 1
}

/// One column as planes of bits, for its products with others.
#[derive(Default)]
pub(crate) struct Planes {
    unary: Vec<u64>,
    swapped: Vec<u64>,
    // Empty where no row is missing.
    missing: Vec<u64>,
    fill: f64,
}

impl Planes {
    /// The planes of a column, in the memory of those before.
    pub(crate) fn set(&mut self, x: Genotypes<'_>) {
        let Self { unary: us, swapped, missing: ms, fill } = self;
        us.clear();
        swapped.clear();
        ms.clear();
        let Some((words, last)) = words(x) else { return };
        *fill = x.missing();
        let all = || words.iter().map(|word| u64::from_le_bytes(*word)).chain([last]);
        us.extend(all().map(unary));
        swapped.extend(us.iter().map(|word| swap(*word)));
        if all().any(|word| missing(word) != 0) {
            ms.extend(all().map(missing));
        }
    }

    /// `sum x_i z_i`, from exact integers; `whole` says that `z` misses nothing.
    pub(crate) fn product(&self, z: Genotypes<'_>, whole: bool) -> f64 {
        let Some((words, last)) = words(z) else { return 0.0 };
        let (us, swapped) = (self.unary.as_slice(), self.swapped.as_slice());
        debug_assert_eq!(us.len(), words.len() + 1);
        let (us, u) = us.split_at(words.len());
        let (swapped, s) = swapped.split_at(words.len());
        let sum = on_best!(_v => {
            let mut sum = 0_u64;
            for ((word, u), s) in words.iter().zip(us).zip(swapped) {
                let q = unary(u64::from_le_bytes(*word));
                sum += u64::from((u & q).count_ones()) + u64::from((s & q).count_ones());
            }
            let q = unary(last);
            sum + u64::from((u[0] & q).count_ones()) + u64::from((s[0] & q).count_ones())
        });
        if self.missing.is_empty() && whole {
            return sum as f64;
        }
        self.with_missing(sum, z)
    }

    /// Adds what rows that miss in either column add to a product.
    fn with_missing(&self, sum: u64, z: Genotypes<'_>) -> f64 {
        let Some((words, last)) = words(z) else { return 0.0 };
        let none = [0];
        let ms = |at: usize| self.missing.get(at).unwrap_or(&none[0]);
        let (ours, theirs, both) = on_best!(_v => {
            let (mut ours, mut theirs, mut both) = (0_u64, 0_u64, 0_u64);
            for (at, u) in self.unary.iter().enumerate() {
                let word = words.get(at).map_or(last, |word| u64::from_le_bytes(*word));
                let (m, miss) = (ms(at), missing(word));
                ours += u64::from((m & unary(word)).count_ones());
                theirs += u64::from((miss & u).count_ones());
                both += u64::from((m & miss & EVEN).count_ones());
            }
            (ours, theirs, both)
        });
        // A number for missing values that stands for nothing may be NaN.
        let times = |count: u64, by: f64| if count == 0 { 0.0 } else { count as f64 * by };
        let rest = times(ours, self.fill) + times(theirs, z.missing());
        sum as f64 + rest + times(both, self.fill * z.missing())
    }
}

/// Two bytes a vector of eight rows, in four parts of `length` vectors each, and the first row after.
#[inline(always)]
fn parts<'a>(x: Genotypes<'a>) -> ([&'a [[u8; 2]]; CHAINS], usize, usize) {
    let length = x.rows() / (LANES * CHAINS);
    let (pairs, _) = x.bytes().as_chunks::<2>();
    let part = |c: usize| &pairs[c * length..(c + 1) * length];
    (std::array::from_fn(part), length, LANES * CHAINS * length)
}

/// `sum x_i v_i`, in the lanes of [`kernel::dot`].
pub(crate) fn dot(x: Genotypes<'_>, v: &[f64]) -> f64 {
    debug_assert_eq!(x.rows(), v.len());
    let (xs, length, done) = parts(x);
    let levels = x.levels();
    on_best!(s => {
        let table = s.table(levels);
        let (vectors, _) = v.as_chunks::<LANES>();
        let mut vs: [&[[f64; LANES]]; CHAINS] = [&[]; CHAINS];
        for c in 0..CHAINS {
            vs[c] = &vectors[c * length..][..length];
        }
        let mut sums = [s.splat(0.0); CHAINS];
        for i in 0..length {
            for c in 0..CHAINS {
                sums[c] = s.fma(s.pick(table, xs[c][i]), s.load64(&vs[c][i]), sums[c]);
            }
        }
        let mut lanes = sums.map(|sum| s.store(sum));
        for (i, v) in v[done..].iter().enumerate() {
            let x = levels[usize::from(x.code(done + i))];
            let lane = &mut lanes[i / LANES][i % LANES];
            *lane = x.mul_add(*v, *lane);
        }
        let mut all = [0.0; LANES];
        for l in 0..LANES {
            all[l] = (lanes[0][l] + lanes[2][l]) + (lanes[1][l] + lanes[3][l]);
        }
        fold(all)
    })
}

/// Vectors of eight rows from row `first` on, which is a multiple of eight, and the rows after them.
#[inline(always)]
fn vectors<'a>(x: Genotypes<'a>, first: usize, rows: usize) -> (&'a [[u8; 2]], usize) {
    let count = rows / LANES;
    (&x.bytes()[first / 4..].as_chunks::<2>().0[..count], first + LANES * count)
}

/// `out_i = x_(first + i) - less`; `first` is a multiple of eight.
pub(crate) fn decode(x: Genotypes<'_>, first: usize, less: f64, out: &mut [f64]) {
    let levels = x.levels().map(|level| level - less);
    let (xs, after) = vectors(x, first, out.len());
    on_best!(s => {
        let table = s.table(levels);
        let (whole, rest) = out.as_chunks_mut::<LANES>();
        for (x, out) in xs.iter().zip(whole) {
            *out = s.store(s.pick(table, *x));
        }
        for (i, out) in rest.iter_mut().enumerate() {
            *out = levels[usize::from(x.code(after + i))];
        }
    });
}

/// `v_i += scale x_i`.
pub(crate) fn axpy(scale: f64, x: Genotypes<'_>, v: &mut [f64]) {
    add(&[x], &[scale], 0, v);
}

/// `out_i += sum_j w_j x_j,(first + i)`, several columns a pass; a row's sum runs over the columns in
/// their order. `first` is a multiple of eight.
pub(crate) fn combine(x: &[Genotypes<'_>], w: &[f64], first: usize, out: &mut [f64]) {
    for (at, out) in out.chunks_mut(TILE).enumerate() {
        for (x, w) in x.chunks(TOGETHER).zip(w.chunks(TOGETHER)) {
            let first = first + at * TILE;
            match (x, w) {
                ([a, b, c, d], [e, f, g, h]) => {
                    add(&[*a, *b, *c, *d], &[*e, *f, *g, *h], first, out);
                }
                _ => x.iter().zip(w).for_each(|(x, w)| add(&[*x], &[*w], first, out)),
            }
        }
    }
}

/// Adds `J` columns to the rows from `first` on.
fn add<const J: usize>(x: &[Genotypes<'_>; J], w: &[f64; J], first: usize, out: &mut [f64]) {
    let levels = x.map(|x| x.levels());
    let parts = x.map(|x| vectors(x, first, out.len()));
    let after = parts.first().map_or(0, |(_, after)| *after);
    on_best!(s => {
        let (tables, ws) = (levels.map(|levels| s.table(levels)), w.map(|w| s.splat(w)));
        let (whole, rest) = out.as_chunks_mut::<LANES>();
        for (i, out) in whole.iter_mut().enumerate() {
            let mut sum = s.load64(out);
            for j in 0..J {
                sum = s.fma(ws[j], s.pick(tables[j], parts[j].0[i]), sum);
            }
            *out = s.store(sum);
        }
        for (i, out) in rest.iter_mut().enumerate() {
            for j in 0..J {
                *out = w[j].mul_add(levels[j][usize::from(x[j].code(after + i))], *out);
            }
        }
    });
}

/// Decodes tile after tile: each with its first row and its values.
fn each_tile(x: Genotypes<'_>, mut f: impl FnMut(usize, &[f64])) {
    let mut tile = [0.0; TILE];
    for first in (0..x.rows()).step_by(TILE) {
        let out = &mut tile[..TILE.min(x.rows() - first)];
        decode(x, first, 0.0, out);
        f(first, out);
    }
}

/// `sum x_i g_i`, `sum x_i d_i` and `sum x_i^2 d_i`.
pub(crate) fn slope_curve(x: Genotypes<'_>, g: &[f64], d: &[f64]) -> (f64, f64, f64) {
    let mut sums = (0.0, 0.0, 0.0);
    each_tile(x, |first, x| {
        let rows = first..first + x.len();
        let (a, b, c) = kernel::slope_curve(x, &g[rows.clone()], &d[rows]);
        sums = (sums.0 + a, sums.1 + b, sums.2 + c);
    });
    sums
}

/// `sum v_i (x_i - shift)` and `sum v_i (x_i - shift)^2`.
pub(crate) fn weighted_moments(x: Genotypes<'_>, v: &[f64], shift: f64) -> (f64, f64) {
    let mut sums = (0.0, 0.0);
    each_tile(x, |first, x| {
        let (a, b) = kernel::weighted_moments(x, &v[first..first + x.len()], shift);
        sums = (sums.0 + a, sums.1 + b);
    });
    sums
}

/// `sum (x_i - shift)` and `sum (x_i - shift)^2`, of the counts.
pub(crate) fn moments(x: Genotypes<'_>, shift: f64) -> (f64, f64) {
    let counts = x.counts();
    let [none, one, two] = counts.copies;
    let (mut first, mut second) = (0.0, 0.0);
    for (count, level) in [(none, 0.0), (one, 1.0), (two, 2.0), (counts.missing, x.missing())] {
        // The number for missing values is none where no value is missing.
        if count > 0 {
            let d = level - shift;
            (first, second) = (first + count as f64 * d, second + count as f64 * d * d);
        }
    }
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::GenotypeData;
    use crate::numeric::simd::testing::same_in_each_form;

    /// Values by a counter, with missing ones where `gaps`.
    fn copies(n: usize, seed: usize, gaps: bool) -> Vec<Option<u8>> {
        let at = |i: usize| (i + 1).wrapping_mul(2_654_435_761 + 2 * seed) >> 9;
        (0..n).map(|i| Some((at(i) % 3) as u8).filter(|_| !gaps || at(i) % 7 > 0)).collect()
    }

    fn column(n: usize, seed: usize, gaps: bool) -> (GenotypeData, Vec<f64>) {
        let copies = copies(n, seed, gaps);
        let data = GenotypeData::of(copies.iter().copied()).unwrap().filled(0.75 + seed as f64);
        let value = |c: &Option<u8>| c.map_or(0.75 + seed as f64, f64::from);
        let values = copies.iter().map(value).collect();
        (data, values)
    }

    const LENGTHS: [usize; 12] = [1, 2, 3, 4, 5, 8, 9, 31, 33, 257, 2051, 5000];

    #[test]
    fn counts_and_products_are_those_of_a_loop_over_rows() {
        for n in LENGTHS {
            for gaps in [false, true] {
                let (x, xs) = column(n, 0, gaps);
                let got = x.view().counts();
                let count = |value: f64| xs.iter().filter(|x| **x == value).count() as u64;
                assert_eq!(got.copies, [count(0.0), count(1.0), count(2.0)], "{n}");
                assert_eq!(got.missing, count(0.75));
                for other in [false, true] {
                    let (z, zs) = column(n, 3, other);
                    let mut planes = Planes::default();
                    planes.set(x.view());
                    // Quarters: every sum is exact.
                    let plain: f64 = xs.iter().zip(&zs).map(|(x, z)| x * z).sum();
                    assert_eq!(planes.product(z.view(), !other), plain, "{n} {gaps} {other}");
                    assert_eq!(planes.product(z.view(), false), plain);
                }
            }
        }
    }

    #[test]
    fn sums_have_the_digits_of_the_same_column_as_numbers() {
        for n in LENGTHS {
            let (x, xs) = column(n, 0, true);
            let v: Vec<f64> = (0..n).map(|i| ((i * 37) % 101) as f64 / 7.0 - 5.0).collect();
            let x = x.view();
            assert_eq!(dot(x, &v).to_bits(), kernel::dot(&xs, &v).to_bits());
            let (mut a, mut b) = (v.clone(), v.clone());
            axpy(0.3, x, &mut a);
            kernel::axpy(0.3, &xs, &mut b);
            assert_eq!(a, b);
            decode(x, 0, 0.1, &mut a);
            kernel::widen(&xs, 0.1, &mut b);
            assert_eq!(a, b);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
            let (a, b) = (moments(x, 1.0), kernel::moments(&xs, 1.0));
            assert!(near(a.0, b.0) && near(a.1, b.1));
            let (a, b) = (weighted_moments(x, &v, 0.5), kernel::weighted_moments(&xs, &v, 0.5));
            assert!(near(a.0, b.0) && near(a.1, b.1));
            let (a, b) = (slope_curve(x, &v, &xs), kernel::slope_curve(&xs, &v, &xs));
            assert!(near(a.0, b.0) && near(a.1, b.1) && near(a.2, b.2));
        }
    }

    #[test]
    fn several_columns_a_pass_are_one_after_the_other() {
        let n = 5003;
        let data: Vec<_> = (0..6).map(|seed| column(n, seed, seed % 2 == 0)).collect();
        let views: Vec<_> = data.iter().map(|(x, _)| x.view()).collect();
        let w = [0.5, -1.25, 2.0, 0.3, 3.0, -0.1];
        let mut out = vec![0.1; n];
        combine(&views, &w, 0, &mut out);
        let mut plain = vec![0.1; n];
        data.iter().zip(w).for_each(|((_, x), w)| kernel::axpy(w, x, &mut plain));
        assert_eq!(out, plain);
        let mut part = vec![0.1; 100];
        combine(&views, &w, 2048, &mut part);
        assert_eq!(part, plain[2048..2148]);
    }

    #[test]
    fn every_form_gives_the_same_digits() {
        for n in LENGTHS {
            let ((x, _), (z, _)) = (column(n, 1, true), column(n, 2, true));
            let v: Vec<f64> = (0..n).map(|i| ((i * 37) % 101) as f64 / 7.0 - 5.0).collect();
            same_in_each_form(|| {
                let mut planes = Planes::default();
                planes.set(x.view());
                let mut out = v.clone();
                combine(&[x.view(), z.view()], &[0.1, 0.7], 0, &mut out);
                out.push(dot(x.view(), &v));
                out.push(planes.product(z.view(), false));
                (x.view().counts(), out)
            });
        }
    }

    #[test]
    fn padding_of_a_file_is_no_row() {
        for rows in 1..=9 {
            // The file has zeros there, which would be two copies.
            let bytes = vec![0; usize::div_ceil(rows, 4)];
            let x = Genotypes::new(rows, &bytes, 0.0);
            assert_eq!(x.counts().copies, [0, 0, rows as u64]);
            assert_eq!(dot(x, &vec![1.0; rows]), 2.0 * rows as f64);
        }
    }
}
