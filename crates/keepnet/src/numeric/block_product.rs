//! The block product `X'X` of running averages, tile by tile into a packed triangle.
//!
//! ```text
//! C <- decay_b C + X_b'X_b   for the waiting blocks b, in order;  X_b is rows x p, f32 or f64
//! ```
//!
//! `X` is stored in strips of [`Product::WIDTH`] features, each row after row. A tile (`tile`) is
//! twelve features by one strip. Its sums stay in registers over all rows of a block, in the order
//! of the rows, and are then added to the triangle. So an entry has the same digits for any number
//! of threads, any vector width and any number of blocks multiplied together. Blocks wait for each
//! other only so that the triangle passes through the cache once for all of them. Cost
//! `rows p (p + 1)` flops a block; memory [`Product::JOIN`] blocks and a panel a thread.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::kernel::Element;
use super::packed::start;
use super::row_loops;
use super::tile::{SIDE, Tile};

/// Largest number of rows of the triangle that share a strip while it is in cache.
const PANEL: usize = 192;
/// Strips of a block before the next block follows: their part of the triangle stays in cache.
const GROUP: usize = 4;

/// Rows of the smallest panel; strips and sides divide it.
const LEAST: usize = PANEL / 2;

/// Rows of a panel. A large triangle comes from memory, and a high panel reads each strip less
/// often. A small triangle stays in the outer cache, and a low panel keeps its blocks in the inner
/// one.
fn height(p: usize) -> usize {
    if p > 2000 { PANEL } else { LEAST }
}

/// A width of numbers: of block products, or of the triangle itself.
pub(crate) trait Product: Element + Default + Tile {
    /// Features of a strip: two vectors of 64 bytes.
    const WIDTH: usize;
    /// Blocks that are multiplied together.
    const JOIN: usize;

    /// The nearest value of this width.
    fn narrow(x: f64) -> Self;

    /// The blocks of this width.
    fn queue(queues: &mut Queues) -> &mut Queue<Self>;

    /// Whether blocks of the other width wait.
    fn others_wait(queues: &Queues) -> bool;

    /// Rows `from..to` of the triangle.
    fn panel<S: Product>(
        blocks: &[Strips<Self>],
        rows: std::ops::Range<usize>,
        lines: &mut [S],
        sides: &mut Vec<Self>,
    );
}

macro_rules! product {
    ($t:ty, $width:literal, $join:literal, $queue:ident, $other:ident, $narrow:expr) => {
        impl Product for $t {
            const WIDTH: usize = $width;
            const JOIN: usize = $join;

            #[inline(always)]
            fn narrow(x: f64) -> Self {
                $narrow(x)
            }

            fn queue(queues: &mut Queues) -> &mut Queue<Self> {
                &mut queues.$queue
            }

            fn others_wait(queues: &Queues) -> bool {
                queues.$other.used > 0
            }

            fn panel<S: Product>(
                blocks: &[Strips<Self>],
                rows: std::ops::Range<usize>,
                lines: &mut [S],
                sides: &mut Vec<Self>,
            ) {
                panel::<Self, S, $width>(blocks, rows, lines, sides);
            }
        }
    };
}

product!(f32, 32, 4, narrow, wide, |x| x as f32);
product!(f64, 16, 2, wide, narrow, |x| x);

/// The centred rows of one block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strips<T> {
    rows: usize,
    decay: f64,
    x: Vec<T>,
}

/// Blocks that wait to be multiplied. Their buffers are reused, as a new allocation for each block
/// would cost page faults.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue<T> {
    blocks: Vec<Strips<T>>,
    used: usize,
}

/// The blocks of either width.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues {
    narrow: Queue<f32>,
    wide: Queue<f64>,
}

impl Queues {
    /// Whether no block waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.narrow.used + self.wide.used == 0
    }

    /// Adds the waiting blocks to the triangle `values` of `p` rows.
    pub(crate) fn settle<S: Product>(&mut self, p: usize, values: &mut [S]) {
        self.narrow.settle(p, values);
        self.wide.settle(p, values);
    }
}

impl<T: Product> Queue<T> {
    /// Puts a block of `rows` rows in the queue; `fill` writes its strips. True when it is full.
    pub(crate) fn push(
        &mut self,
        p: usize,
        rows: usize,
        decay: f64,
        fill: impl FnOnce(&mut [T]),
    ) -> bool {
        if self.used == self.blocks.len() {
            self.blocks.push(Strips::default());
        }
        let block = &mut self.blocks[self.used];
        (block.rows, block.decay) = (rows, decay);
        block.x.resize(p.div_ceil(T::WIDTH) * T::WIDTH * rows, T::default());
        fill(&mut block.x);
        self.used += 1;
        self.used == T::JOIN
    }

    fn settle<S: Product>(&mut self, p: usize, values: &mut [S]) {
        let blocks = &self.blocks[..self.used];
        self.used = 0;
        if blocks.is_empty() {
            return;
        }
        let mut panels = Vec::with_capacity(p.div_ceil(height(p)));
        let mut rest = values;
        for from in (0..p).step_by(height(p)) {
            let to = p.min(from + height(p));
            let (lines, tail) = rest.split_at_mut(start(to) - start(from));
            panels.push((from..to, lines));
            rest = tail;
        }
        if rayon::current_num_threads() > 1 && panels.len() > 1 {
            // The longest panels first: the panel that starts last decides when all are done.
            panels
                .into_par_iter()
                .rev()
                .with_max_len(1)
                .for_each_init(Vec::new, |sides, (rows, lines)| {
                    T::panel(blocks, rows, lines, sides)
                });
        } else {
            let mut sides = Vec::new();
            for (rows, lines) in panels {
                T::panel(blocks, rows, lines, &mut sides);
            }
        }
    }
}

/// Rows `rows` of the triangle: every strip to their left, block after block.
fn panel<T: Product, S: Product, const N: usize>(
    blocks: &[Strips<T>],
    rows: std::ops::Range<usize>,
    lines: &mut [S],
    sides: &mut Vec<T>,
) {
    let (from, to) = (rows.start, rows.end);
    let height = (to - from).next_multiple_of(LEAST);
    gather::<T, N>(blocks, from, height, sides);
    for group in (0..to).step_by(GROUP * N) {
        let mut rest = sides.as_slice();
        for block in blocks {
            let (sides, tail) = rest.split_at(block.rows * height);
            rest = tail;
            for left in (group..to.min(group + GROUP * N)).step_by(N) {
                let strip = &block.x[left * block.rows..(left + N) * block.rows];
                let (strip, _) = strip.as_chunks::<N>();
                row_loops::dispatch(StripBySides { strip, sides, block, left, rows: &rows, lines });
            }
        }
    }
}

/// One strip of a block by every side of a panel.
struct StripBySides<'a, T, S, const N: usize> {
    strip: &'a [[T; N]],
    sides: &'a [T],
    block: &'a Strips<T>,
    left: usize,
    rows: &'a std::ops::Range<usize>,
    lines: &'a mut [S],
}

impl<T: Product, S: Product, const N: usize> WithSimd for StripBySides<'_, T, S, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let Self { strip, sides, block, left, rows, lines } = self;
        let sides = sides.chunks_exact(block.rows * SIDE);
        for (top, side) in rows.clone().step_by(SIDE).zip(sides) {
            if top + SIDE > left {
                prefetch::<S, N>(top, left, rows, lines);
                let half = top + SIDE <= left + N / 2;
                let sums = T::tile(simd, side.as_chunks::<SIDE>().0, strip, half);
                add(&sums, block.decay, top, left, rows, lines);
            }
        }
    }
}

/// Copies the features of a panel into strips of [`SIDE`].
fn gather<T: Product, const N: usize>(
    blocks: &[Strips<T>],
    from: usize,
    height: usize,
    sides: &mut Vec<T>,
) {
    sides.resize(blocks.iter().map(|block| block.rows * height).sum(), T::default());
    let mut rest = sides.as_mut_slice();
    for block in blocks {
        let (sides, tail) = rest.split_at_mut(block.rows * height);
        rest = tail;
        let strips = block.x[from * block.rows..].as_chunks::<N>().0;
        let sides = sides.as_chunks_mut::<SIDE>().0;
        let mut line = [T::default(); PANEL];
        let line = &mut line[..height];
        for i in 0..block.rows {
            for (s, part) in line.as_chunks_mut::<N>().0.iter_mut().enumerate() {
                *part = strips.get(s * block.rows + i).copied().unwrap_or([T::default(); N]);
            }
            for (s, part) in line.as_chunks::<SIDE>().0.iter().enumerate() {
                sides[s * block.rows + i] = *part;
            }
        }
    }
}

/// Prefetches the part of the triangle that [`add`] will change, while the tile is summed. A part of
/// a row may touch three cache lines.
#[inline(always)]
fn prefetch<S: Product, const N: usize>(
    top: usize,
    left: usize,
    rows: &std::ops::Range<usize>,
    lines: &[S],
) {
    let mut at = start(top) - start(rows.start) + left;
    for i in 0..SIDE {
        if let Some(line) = lines.get(at..at + N) {
            [0, N / 2, N - 1].iter().for_each(|place| row_loops::prefetch(&line[*place]));
        }
        at += top + i + 1;
    }
}

/// Adds a tile to rows `top..` and columns `left..` of the triangle, of which `lines` are `rows`.
#[inline(always)]
fn add<T: Product, S: Product, const N: usize>(
    sums: &[[T; N]; SIDE],
    decay: f64,
    top: usize,
    left: usize,
    rows: &std::ops::Range<usize>,
    lines: &mut [S],
) {
    // Inside the triangle the loop has no branch, so that the sums stay in registers.
    if top + SIDE <= rows.end && left + N <= top + 1 {
        let mut at = start(top) - start(rows.start) + left;
        for i in 0..SIDE {
            let (line, _) = lines[at..].split_first_chunk_mut::<N>().expect("the row is whole");
            let mut out = *line;
            for l in 0..N {
                out[l] = S::narrow(decay.mul_add(out[l].wide(), sums[i][l].wide()));
            }
            *line = out;
            at += top + i + 1;
        }
        return;
    }
    for (row, sums) in (top..rows.end).zip(sums) {
        let used = N.min((row + 1).saturating_sub(left));
        let at = start(row) - start(rows.start) + left;
        let line = lines.get_mut(at..at + used).unwrap_or_default();
        for (out, sum) in line.iter_mut().zip(sums) {
            *out = S::narrow(decay.mul_add(out.wide(), sum.wide()));
        }
    }
}
