//! A symmetric matrix as its packed lower triangle, and the sums of products added to it.
//!
//! ```text
//! C <- decay C + X'X        X is b x p, f32 or f64; C is f64, or f32 at half the memory
//! entry (i, j), j <= i, at i (i + 1) / 2 + j
//! ```
//!
//! Blocks of rows wait until a few can be multiplied together (`block_product`), so an entry is
//! read only after [`Packed::settle`]. Memory `4 p (p + 1)` bytes or half of it, and the waiting
//! blocks. An f32 triangle rounds each entry once a block: after `B` blocks a relative error near
//! `6e-8 sqrt(B)`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::block_product::{Product, Queues};
use crate::data::row::{Row, RowBlock};

/// The entries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Values {
    F64(Vec<f64>),
    F32(Vec<f32>),
}

/// One expression for either width: `$v` are the entries.
macro_rules! each_width {
    ($values:expr, $v:ident => $body:expr) => {
        match $values {
            Values::F64($v) => $body,
            Values::F32($v) => $body,
        }
    };
}

/// A symmetric `p x p` matrix, lower triangle, row after row.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    p: usize,
    values: Values,
    waiting: Queues,
}

/// Where row `i` of the triangle starts.
#[inline(always)]
pub(crate) fn start(i: usize) -> usize {
    i * (i + 1) / 2
}

impl Packed {
    /// The zero matrix, in f32 or f64.
    pub(crate) fn zeros(p: usize, f32_storage: bool) -> Self {
        let values = match f32_storage {
            true => Values::F32(vec![0.0; start(p)]),
            false => Values::F64(vec![0.0; start(p)]),
        };
        Self { p, values, waiting: Queues::default() }
    }

    /// Bytes of a triangle of `p` rows and of the blocks of `rows` rows that wait.
    pub(crate) fn bytes_for(p: usize, rows: usize, f32_storage: bool) -> u64 {
        let (p, width) = (p as u64, if f32_storage { 4 } else { 8 });
        let strips = p.next_multiple_of(f32::WIDTH as u64);
        width * p * (p + 1) / 2 + 4 * (f32::JOIN * rows) as u64 * strips
    }

    /// Rows.
    pub(crate) fn p(&self) -> usize {
        self.p
    }

    /// Whether the entries are f32.
    pub(crate) fn is_f32(&self) -> bool {
        matches!(self.values, Values::F32(_))
    }

    /// Whether a loaded matrix can be a matrix of products: it has the length of `p` rows, and no
    /// entry is larger than the diagonal allows.
    pub(crate) fn sound(&self) -> bool {
        let length = each_width!(&self.values, v => v.len());
        let whole = self.p.checked_add(1).and_then(|next| self.p.checked_mul(next));
        if whole.map(|twice| twice / 2) != Some(length) {
            return false;
        }
        let root: Vec<f64> = (0..self.p).map(|j| self.get(j, j).sqrt()).collect();
        // Rounding may exceed the bound a little. A square that underflows gives no bound.
        let bounded = |i: usize, j: usize| {
            let tiny = root[i] < 1e-140 || root[j] < 1e-140;
            let v = self.get(i, j);
            v.is_finite() && (tiny || v.abs() <= 1.01 * root[i] * root[j])
        };
        root.iter().all(|v| v.is_finite()) && (0..self.p).all(|i| (0..i).all(|j| bounded(i, j)))
    }

    /// Whether no block waits.
    pub(crate) fn settled(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds the blocks that wait.
    pub(crate) fn settle(&mut self) {
        each_width!(&mut self.values, v => self.waiting.settle(self.p, v));
    }

    /// Adds the blocks that wait and frees their buffers.
    pub(crate) fn close(&mut self) {
        self.settle();
        self.waiting = Queues::default();
    }

    /// Entry `(i, j)` with `j <= i`.
    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        debug_assert!(self.settled());
        match &self.values {
            Values::F64(v) => v[start(i) + j],
            Values::F32(v) => f64::from(v[start(i) + j]),
        }
    }

    /// `C *= factor`.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.settle();
        each_width!(&mut self.values, v => map(v, |x, _| factor * x));
    }

    /// `C += factor other`, which has no block waiting.
    pub(crate) fn add(&mut self, factor: f64, other: &Self) {
        debug_assert!(other.settled());
        self.settle();
        match &other.values {
            Values::F64(o) => each_width!(&mut self.values, v => map(v, |x, i| x + factor * o[i])),
            Values::F32(o) => {
                each_width!(&mut self.values, v => map(v, |x, i| x + factor * f64::from(o[i])))
            }
        }
    }

    /// `C += scale d d'`.
    pub(crate) fn rank_one(&mut self, scale: f64, d: &[f64]) {
        self.settle();
        for (i, di) in d.iter().enumerate() {
            let (range, factor) = (start(i)..start(i + 1), scale * di);
            each_width!(&mut self.values, v => map(&mut v[range], |x, j| factor.mul_add(d[j], x)));
        }
    }

    /// Sets squares that rounding made negative to zero.
    pub(crate) fn lift_diagonal(&mut self) {
        for j in 0..self.p {
            let at = start(j) + j;
            each_width!(&mut self.values, v => map(&mut v[at..=at], |x, _| x.max(0.0)));
        }
    }

    /// `C = decay C + X'X` with `X` of `rows` rows, whose strips `fill` writes; see `block_product`.
    pub(crate) fn update<T: Product>(
        &mut self,
        rows: usize,
        decay: f64,
        fill: impl FnOnce(&mut [T]),
    ) {
        // Blocks are added in order, whatever their width.
        if T::others_wait(&self.waiting) {
            self.close();
        }
        if T::queue(&mut self.waiting).push(self.p, rows, decay, fill) {
            self.settle();
        }
    }

    /// `C = decay C + sum v_i x_i x_i'` over sparse rows: `nnz (nnz + 1) / 2` products a row.
    pub(crate) fn scatter(&mut self, rows: &RowBlock, weight: &[f64], decay: f64) {
        if decay != 1.0 {
            self.scale(decay);
        }
        let Values::F64(values) = &mut self.values else {
            unreachable!("sparse rows are refused where the triangle is f32")
        };
        for (row, v) in rows.rows().zip(weight) {
            let Row::Sparse { index, value } = row else {
                unreachable!("a raw accumulator stores its rows sparse")
            };
            for (at, (i, x)) in index.iter().zip(value).enumerate() {
                let (scaled, line) = (v * x, start(*i as usize));
                for (j, z) in index[..=at].iter().zip(value) {
                    values[line + *j as usize] += scaled * z;
                }
            }
        }
    }
}

/// `x = f(x, place)` for every entry.
fn map<S: Product>(values: &mut [S], f: impl Fn(f64, usize) -> f64) {
    for (i, x) in values.iter_mut().enumerate() {
        *x = S::narrow(f(x.wide(), i));
    }
}

impl Default for Packed {
    fn default() -> Self {
        Self::zeros(0, false)
    }
}

impl PartialEq for Packed {
    fn eq(&self, other: &Self) -> bool {
        if self.settled() && other.settled() {
            return self.p == other.p && self.values == other.values;
        }
        let (mut a, mut b) = (self.clone(), other.clone());
        a.settle();
        b.settle();
        a == b
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.settled() {
            return (self.p, &self.values).serialize(to);
        }
        let mut all = self.clone();
        all.settle();
        all.serialize(to)
    }
}

impl<'a> Deserialize<'a> for Packed {
    fn deserialize<D: Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        let (p, values) = Deserialize::deserialize(from)?;
        Ok(Self { p, values, waiting: Queues::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(b: usize, p: usize) -> Vec<f64> {
        (0..b * p).map(|i| ((i * 7919) % 101) as f64 / 50.0 - 1.0).collect()
    }

    /// Pushes the rows of `x` as one block.
    fn update<T: Product>(c: &mut Packed, x: &[f64], rows: usize, decay: f64) {
        let p = c.p();
        c.update::<T>(rows, decay, |strips| {
            for (i, row) in x.chunks_exact(p).enumerate() {
                for (j, v) in row.iter().enumerate() {
                    strips[(j / T::WIDTH * rows + i) * T::WIDTH + j % T::WIDTH] = T::narrow(*v);
                }
            }
        });
    }

    fn tiled<T: Product>(f32_storage: bool, within: f64) {
        // Sizes around one side, one strip and one panel; the plain sum is the reference.
        for p in [1, 3, 6, 7, 16, 17, 95, 96, 97, 300] {
            let x = rows(5, p);
            let mut c = Packed::zeros(p, f32_storage);
            update::<T>(&mut c, &x, 5, 1.0);
            update::<T>(&mut c, &x, 5, 0.5);
            c.settle();
            for (i, j) in (0..p).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                let plain: f64 = (0..5).map(|r| x[r * p + i] * x[r * p + j]).sum();
                assert!((c.get(i, j) - 1.5 * plain).abs() < within, "p {p} at {i} {j}");
            }
        }
    }

    #[test]
    fn a_tiled_update_is_the_plain_sum_of_products() {
        tiled::<f64>(false, 1e-12);
        tiled::<f32>(false, 1e-5);
        tiled::<f32>(true, 1e-5);
    }

    #[test]
    fn neither_threads_nor_waiting_change_a_digit() {
        let x = rows(257, 700);
        let run = |threads, settle: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut c = Packed::zeros(700, false);
            pool.install(|| {
                for decay in [1.0, 0.5, 1.0] {
                    update::<f32>(&mut c, &x, 257, decay);
                    if settle {
                        c.settle();
                    }
                }
            });
            c
        };
        assert!(!run(1, false).settled());
        assert_eq!(run(1, false), run(3, true));
    }

    #[test]
    fn scattered_sparse_rows_give_the_dense_update() {
        let mut block = RowBlock::new(4, 8);
        block.push(Row::Sparse { index: &[0, 2], value: &[1.0, 3.0] }, 0.0, 1.0).unwrap();
        block.push(Row::Sparse { index: &[1, 2, 3], value: &[2.0, -1.0, 0.5] }, 0.0, 1.0).unwrap();
        let mut sparse = Packed::zeros(4, false);
        sparse.scatter(&block, &[4.0, 1.0], 1.0);
        let mut dense = Packed::zeros(4, false);
        update::<f64>(&mut dense, &[2.0, 0.0, 6.0, 0.0, 0.0, 2.0, -1.0, 0.5], 2, 1.0);
        assert_eq!(sparse, dense);
    }
}
