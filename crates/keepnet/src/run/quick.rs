//! The quick test of a block in many lanes that differ in their rows, as one product.
//!
//! A column that a lane would drop by its product with the residual needs no check in that lane.
//! With `R` the lanes' probes and `M` their masks, both 0 in the rows that a lane leaves out:
//!
//! ```text
//! z = (x - c) / d,  c and d mean and deviation over all rows
//! a = Z'R     s = Z'M     q = (Z z)'M                     in single precision, numeric/rough.rs
//! (|a| + error)^2 < 0.99 least m (q - s^2 / m - error)    dropped in this lane without another look
//! ```
//!
//! The errors bound the rounding of these sums and of the lane's own ones, so a lane decides as it
//! does when it checks every column. Of two lanes that halve the rows, `s` and `q` of one are what
//! the other leaves of those of all rows. What is not dropped here is checked and offered to the
//! lane by itself, in order. Sparse columns, genotypes and columns with missing values always are.
//!
//! Cost: `2 n` flops a column, lane and product, and what the lanes do with the columns that are
//! left. Memory: `quick_bytes`, some eight bytes a row and lane.

use rayon::prelude::*;

use super::lane::Lane;
use crate::data::block::RawColumn;
use crate::data::check::{CheckedBlock, Wants, check};
use crate::data::column::Column;
use crate::data::target::RowMap;
use crate::error::Result;
use crate::numeric::kernel;
use crate::numeric::rough::{self, ROUGH, Sides, WIDE};
use crate::numeric::tile::SIDE;
use crate::select::{Glances, QuickTest};

/// Fewest lanes that pay for a look at every column.
const LANES: usize = 4;
/// Rows of a strip that are filled together.
const ROWS: usize = 512;
/// What is left for the relative rounding of a lane's own numbers.
const SURE: f64 = 0.99;

/// Bytes of the quick test of `lanes` lanes on `rows` rows.
#[must_use]
pub fn quick_bytes(lanes: usize, rows: usize) -> u64 {
    let vectors = 2 * lanes.next_multiple_of(SIDE) + lanes;
    let (vectors, rows) = (vectors as u64, rows as u64);
    4 * rows * (vectors + 2 * WIDE as u64) + 8 * rows * rayon::current_num_threads() as u64
}

/// How the moments of a column over a lane's rows are found.
enum Moments {
    /// By a mask of its own, at this place.
    Own(usize),
    /// The lane with the mask at this place has all other rows but these.
    Rest(usize, Vec<u32>),
}

/// A lane as the quick test sees it.
struct Side {
    rows: Vec<u32>,
    moments: Moments,
    /// The probe over its root mean square, and the state of the method that it is of.
    probe: Vec<f32>,
    size: f64,
    sum: f64,
    version: Option<u64>,
    /// Whether the packed vectors have another probe.
    packed: Option<u64>,
    least: f64,
    centred: bool,
}

/// The quick test of a run.
pub(super) struct Quick {
    sides: Vec<Side>,
    probes: Sides,
    masks: Sides,
    seen: Seen,
}

/// A strip of columns, and their sums over the rows of each lane.
struct Seen {
    n: usize,
    z: Vec<[f32; WIDE]>,
    squares: Vec<[f32; WIDE]>,
    /// Mean over deviation of each column; NaN of one that is not tested.
    centre: [f64; WIDE],
    products: Vec<[f64; WIDE]>,
    first: Vec<[f64; WIDE]>,
    second: Vec<[f64; WIDE]>,
}

impl Quick {
    /// The test for these lanes; `None` where they cannot use it.
    pub(super) fn new(lanes: &[Lane]) -> Option<Self> {
        let suits = |lane: &Lane| {
            let test = lane.selector.glances().and_then(Glances::quick_test);
            lane.brief
                && lane.pinned.is_empty()
                && lane.problem.weight.is_none()
                && !lane.selector.compacts()
                && !lane.selector.whole_groups()
                && test.is_some()
        };
        if lanes.len() < LANES || !lanes.iter().all(suits) {
            return None;
        }
        let n = lanes[0].problem.rows.input();
        let mut masks: Vec<&RowMap> = Vec::new();
        let mut sides: Vec<Side> = Vec::new();
        for lane in lanes {
            let map = &lane.problem.rows;
            let rows = (0..map.used()).map(|at| map.source_row(at) as u32).collect();
            let rest = match sides.last().map(|side| &side.moments) {
                Some(Moments::Own(at)) => {
                    rest(masks[*at], map).map(|rest| Moments::Rest(*at, rest))
                }
                _ => None,
            };
            let moments = rest.unwrap_or_else(|| {
                masks.push(map);
                Moments::Own(masks.len() - 1)
            });
            let (probe, version, packed) = (Vec::new(), None, None);
            let (size, sum, least, centred) = (0.0, 0.0, 0.0, true);
            sides.push(Side { rows, moments, probe, size, sum, version, packed, least, centred });
        }
        let mut packed = Sides::new(n, masks.len());
        for (at, map) in masks.iter().enumerate() {
            let side = &mut packed.each_mut()[at / SIDE];
            (0..map.used()).for_each(|row| side[map.source_row(row)][at % SIDE] = 1.0);
        }
        let probes = Sides::new(n, lanes.len());
        Some(Self { sides, probes, masks: packed, seen: Seen::new(n) })
    }

    /// The methods have taken up another state.
    pub(super) fn forget(&mut self) {
        self.sides.iter_mut().for_each(|side| (side.version, side.packed) = (None, None));
    }

    /// Offers the columns of a block, the first of which has the place `first` in the scan.
    pub(super) fn offer(
        &mut self,
        columns: &[RawColumn],
        first: u64,
        lanes: &mut [Lane],
    ) -> Result<()> {
        for (at, columns) in columns.chunks(WIDE).enumerate() {
            let first = first + (at * WIDE) as u64;
            let Self { sides, probes, masks, seen } = self;
            let groups = sides.par_chunks_mut(SIDE).zip(lanes.par_chunks_mut(SIDE));
            groups.zip(probes.each_mut()).for_each(|((sides, lanes), packed)| {
                for (at, (side, lane)) in sides.iter_mut().zip(lanes).enumerate() {
                    side.renew(lane);
                    side.pack(at, packed);
                }
            });
            seen.look(columns, probes, masks);
            let seen = &*seen;
            let one = |(at, (side, lane)): (usize, (&mut Side, &mut Lane))| {
                if lane.rests() {
                    return Ok(());
                }
                side.offer(lane, columns, first, seen, seen.products[at])
            };
            let done: Vec<Result<()>> =
                sides.par_iter_mut().zip(lanes.par_iter_mut()).enumerate().map(one).collect();
            done.into_iter().collect::<Result<()>>()?;
        }
        Ok(())
    }
}

/// The rows that neither map has, where the two have no row in common and nearly all together.
fn rest(one: &RowMap, other: &RowMap) -> Option<Vec<u32>> {
    let mut has = vec![0u8; one.input()];
    for map in [one, other] {
        (0..map.used()).for_each(|row| has[map.source_row(row)] += 1);
    }
    let none: Vec<u32> = (0..has.len() as u32).filter(|row| has[*row as usize] == 0).collect();
    (has.iter().all(|has| *has < 2) && none.len() < 64).then_some(none)
}

impl Seen {
    fn new(n: usize) -> Self {
        let (z, squares) = (vec![[0.0; WIDE]; n], vec![[0.0; WIDE]; n]);
        let (products, first, second) = (Vec::new(), Vec::new(), Vec::new());
        Self { n, z, squares, centre: [f64::NAN; WIDE], products, first, second }
    }

    /// Reads the columns, and sums them over the rows of every lane.
    fn look(&mut self, columns: &[RawColumn], probes: &Sides, masks: &Sides) {
        let n = self.n;
        let views: Vec<Column<'_>> = columns.iter().map(|raw| raw.data.view()).collect();
        let tested = |x: &Column<'_>| {
            !matches!(x, Column::Sparse { .. } | Column::Genotypes(_)) && x.rows() == n
        };
        // Mean and one over the deviation; NaN keeps a column out.
        let stated = |x: &Column<'_>| {
            if !tested(x) {
                return (f64::NAN, f64::NAN);
            }
            let first = if x.is_dense() { x.get(0) } else { 0.0 };
            let (sum, square) = x.moments(None, first);
            let mean = sum / n as f64;
            let variance = (square - sum * mean) / n as f64;
            // Far from the first value the moments say little of a deviation.
            let clear = variance > 1e-5 * square / n as f64;
            (first + mean, if clear { 1.0 / variance.sqrt() } else { f64::NAN })
        };
        let stated: Vec<(f64, f64)> = views.par_iter().map(stated).collect();
        self.centre = [f64::NAN; WIDE];
        for (centre, (mean, scale)) in self.centre.iter_mut().zip(&stated) {
            *centre = mean * scale;
        }
        let strips = self.z.par_chunks_mut(ROWS).zip(self.squares.par_chunks_mut(ROWS));
        strips.enumerate().for_each(|(at, (z, squares))| {
            let start = at * ROWS;
            for (c, (x, (mean, scale))) in views.iter().zip(&stated).enumerate() {
                if scale.is_nan() {
                    z.iter_mut().for_each(|row| row[c] = f32::NAN);
                    continue;
                }
                let put = |row: &mut [f32; WIDE], x: f64| row[c] = ((x - mean) * scale) as f32;
                match x {
                    Column::F32(x) => {
                        z.iter_mut().zip(&x[start..]).for_each(|(row, x)| put(row, f64::from(*x)));
                    }
                    Column::F64(x) => {
                        z.iter_mut().zip(&x[start..]).for_each(|(row, x)| put(row, *x))
                    }
                    x => z.iter_mut().enumerate().for_each(|(i, row)| put(row, x.get(start + i))),
                }
            }
            for (squares, z) in squares.iter_mut().zip(&*z) {
                *squares = z.map(|z| z * z);
            }
        });
        for (strip, sides, out) in [
            (&self.z, probes, &mut self.products),
            (&self.z, masks, &mut self.first),
            (&self.squares, masks, &mut self.second),
        ] {
            let each = sides.each().par_iter().map(|side| rough::products(strip, side));
            let each: Vec<[[f64; WIDE]; SIDE]> = each.collect();
            *out = each.into_iter().flatten().collect();
        }
    }

    /// The sums of `z` and `z^2` over a lane's rows; over all rows they are 0 and `n`.
    fn moments(&self, c: usize, moments: &Moments) -> (f64, f64) {
        match moments {
            Moments::Own(at) => (self.first[*at][c], self.second[*at][c]),
            Moments::Rest(at, without) => {
                let start = (-self.first[*at][c], self.n as f64 - self.second[*at][c]);
                without.iter().fold(start, |sums, row| {
                    let z = f64::from(self.z[*row as usize][c]);
                    (sums.0 - z, sums.1 - z * z)
                })
            }
        }
    }
}

impl Side {
    /// Takes up the probe of the method's present state; `true` where it is another.
    fn renew(&mut self, lane: &Lane) -> bool {
        let Some(test) = lane.selector.glances().and_then(Glances::quick_test) else {
            (self.least, self.version) = (0.0, None);
            return false;
        };
        let QuickTest { probe, least, version, centred } = test;
        (self.least, self.centred) = (least, centred);
        if self.version == Some(version) || least <= 0.0 {
            return false;
        }
        let (sum, square) = kernel::moments(probe, 0.0);
        self.size = (square / probe.len() as f64).sqrt();
        let scale = 1.0 / self.size;
        self.sum = sum * scale;
        self.probe.clear();
        self.probe.extend(probe.iter().map(|r| (r * scale) as f32));
        self.version = Some(version);
        true
    }

    /// Puts the probe into its place of a side.
    fn pack(&mut self, at: usize, packed: &mut [[f32; SIDE]]) {
        if self.packed != self.version {
            let values = self.rows.iter().zip(&self.probe);
            values.for_each(|(row, r)| packed[*row as usize][at] = *r);
            self.packed = self.version;
        }
    }

    /// Offers the columns that are left to the lane, `own` being the products with its probe.
    fn offer(
        &mut self,
        lane: &mut Lane,
        columns: &[RawColumn],
        first: u64,
        seen: &Seen,
        mut own: [f64; WIDE],
    ) -> Result<()> {
        for (t, raw) in columns.iter().enumerate() {
            if self.drops(t, own[t], seen) {
                continue;
            }
            let mut checked = CheckedBlock::default();
            let wants = Wants { glances: lane.selector.glances(), ..lane.wants() };
            check(raw, first + t as u64, &lane.problem, &lane.policy, wants, &mut checked)?;
            lane.offer_briefly(&checked)?;
            if self.renew(lane) {
                own = rough::with_one(&seen.z, &self.rows, &self.probe);
            }
        }
        Ok(())
    }

    /// Whether the lane would drop a column as too weak; see the module.
    fn drops(&self, c: usize, product: f64, seen: &Seen) -> bool {
        let (n, m, centre) = (seen.n as f64, self.rows.len() as f64, seen.centre[c]);
        let (s, q) = seen.moments(c, &self.moments);
        let far = 1.0 + centre * centre;
        // The lane sums in f64, of values that are not centred.
        let fine = 8.0 * (n + 64.0) * f64::EPSILON * (m * n * far).sqrt();
        let (slope, curve, apart, lost) = match self.centred {
            true => (product, q - s * s / m, (centre * self.sum).abs(), n),
            false => {
                let curve = q + 2.0 * centre * s + m * centre * centre;
                (product + centre * self.sum, curve, 0.0, n * far)
            }
        };
        let slope = slope.abs() + ROUGH * (m * n).sqrt() + fine + apart;
        let curve = curve - 16.0 * ROUGH * lost;
        // A missing value makes the comparison false.
        slope * slope * self.size * self.size < SURE * self.least * m * curve
    }
}
