//! The quick test of a block in many lanes that differ in their rows, as one product.
//!
//! A column that a lane would drop by its product with the residual needs no check in that lane.
//! With `R` the lanes' probes and `M` their masks, both 0 in the rows that a lane leaves out:
//!
//! ```text
//! z = x - c,  c the mean over all rows      a = Z'R     s = Z'M     q = (Z z)'M
//! h = (q - s^2 / m) / m                     dropped where (|a| + error)^2 < 0.99 least m^2 (h - error)
//! ```
//!
//! The errors bound the rounding of these sums and of the lane's own ones, so a lane decides as it
//! does when it checks every column. Of two lanes that halve the rows, `s` and `q` of one are what
//! the other leaves of those of all rows. What is not dropped here is checked and offered to the
//! lane by itself, in order. Sparse columns, genotypes and columns with missing values always are.
//!
//! Cost: `2 n` flops a column, lane and product, and what the lanes do with the columns that are
//! left. Memory: two vectors of `n` numbers a lane, and the columns of one pass.

use rayon::prelude::*;

use super::lane::Lane;
use crate::data::block::RawColumn;
use crate::data::check::{CheckedBlock, Wants, check};
use crate::data::column::Column;
use crate::data::target::RowMap;
use crate::error::Result;
use crate::numeric::kernel;
use crate::numeric::products::cross;
use crate::select::{Glances, QuickTest};

/// Fewest lanes that pay for a look at every column.
const LANES: usize = 4;
/// Columns of one pass.
const TOGETHER: usize = 32;
/// What is left for the relative rounding of a lane's own numbers.
const SURE: f64 = 0.99;

/// Bytes of the quick test of `lanes` lanes on `rows` rows.
#[must_use]
pub fn quick_bytes(lanes: usize, rows: usize) -> u64 {
    let (lanes, rows) = (lanes as u64, rows as u64);
    8 * rows * (2 * lanes + 2 * TOGETHER as u64) + 24 * lanes * TOGETHER as u64
}

/// How the moments of a column over a lane's rows are found.
enum Rows {
    /// By a mask of its own, at this place.
    Own(usize),
    /// The lane with the mask at this place has all other rows but these.
    Rest(usize, Vec<u32>),
}

/// A lane as the quick test sees it.
struct Side {
    rows: Rows,
    /// Rows that count.
    count: f64,
    /// The probe on all rows, its length and sum, and the state of the method that it is of.
    probe: Vec<f64>,
    norm: f64,
    sum: f64,
    version: Option<u64>,
    least: f64,
    centred: bool,
}

/// The quick test of a run.
pub(super) struct Quick {
    n: usize,
    sides: Vec<Side>,
    masks: Vec<Vec<f64>>,
    seen: Seen,
}

/// The columns of one pass, and their sums over the rows of each lane.
#[derive(Default)]
struct Seen {
    /// Place among the columns of the pass that are tested.
    place: Vec<Option<usize>>,
    z: Vec<Vec<f64>>,
    squares: Vec<Vec<f64>>,
    centre: Vec<f64>,
    /// Sums of `z` and `z^2` over all rows.
    all: Vec<(f64, f64)>,
    products: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
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
        let mut masks: Vec<Vec<f64>> = Vec::new();
        let mut sides: Vec<Side> = Vec::new();
        for lane in lanes {
            let mut mask = vec![0.0; n];
            each_row(&lane.problem.rows, |_, row| mask[row] = 1.0);
            let last = sides.last().map(|side| &side.rows);
            let rows = match last.and_then(|rows| rest(rows, &masks, &mask)) {
                Some(rest) => rest,
                None => {
                    masks.push(mask);
                    Rows::Own(masks.len() - 1)
                }
            };
            let (count, probe) = (lane.problem.n() as f64, vec![0.0; n]);
            let (norm, sum, version, least, centred) = (0.0, 0.0, None, 0.0, true);
            sides.push(Side { rows, count, probe, norm, sum, version, least, centred });
        }
        Some(Self { n, sides, masks, seen: Seen::default() })
    }

    /// The methods have taken up another state.
    pub(super) fn forget(&mut self) {
        self.sides.iter_mut().for_each(|side| side.version = None);
    }

    /// Offers the columns of a block, the first of which has the place `first` in the scan.
    pub(super) fn offer(
        &mut self,
        columns: &[RawColumn],
        first: u64,
        lanes: &mut [Lane],
    ) -> Result<()> {
        for (at, columns) in columns.chunks(TOGETHER).enumerate() {
            let first = first + (at * TOGETHER) as u64;
            let Self { n, sides, masks, seen } = self;
            sides.par_iter_mut().zip(&mut *lanes).for_each(|(side, lane)| {
                side.renew(lane);
            });
            seen.look(columns, *n, masks, sides);
            let (seen, width) = (&*seen, sides.len());
            let one = |(l, (side, lane)): (usize, (&mut Side, &mut Lane))| {
                if lane.rests() {
                    return Ok(());
                }
                let own = (0..seen.all.len()).map(|d| seen.products[d * width + l]).collect();
                side.offer(lane, columns, first, seen, own)
            };
            let done: Vec<Result<()>> =
                sides.par_iter_mut().zip(lanes.par_iter_mut()).enumerate().map(one).collect();
            done.into_iter().collect::<Result<()>>()?;
        }
        Ok(())
    }
}

fn each_row(rows: &RowMap, mut see: impl FnMut(usize, usize)) {
    (0..rows.used()).for_each(|at| see(at, rows.source_row(at)));
}

/// The rows of a mask as those that the lane before leaves out, where these are nearly all.
fn rest(before: &Rows, masks: &[Vec<f64>], mask: &[f64]) -> Option<Rows> {
    let Rows::Own(at) = before else { return None };
    let mut without = Vec::new();
    for (row, (other, own)) in masks[*at].iter().zip(mask).enumerate() {
        match other + own {
            1.0 => {}
            0.0 if without.len() < 64 => without.push(row as u32),
            _ => return None,
        }
    }
    Some(Rows::Rest(*at, without))
}

impl Seen {
    /// Reads the columns, and sums them over the rows of every lane.
    fn look(&mut self, columns: &[RawColumn], n: usize, masks: &[Vec<f64>], sides: &[Side]) {
        let views = columns.iter().map(|raw| {
            let x = raw.data.view();
            let suits = !matches!(x, Column::Sparse { .. } | Column::Genotypes(_));
            Some(x).filter(|x| suits && x.rows() == n)
        });
        let views: Vec<Option<Column<'_>>> = views.collect();
        let mut next = 0;
        self.place.clear();
        self.place.extend(views.iter().map(|view| {
            view.map(|_| {
                next += 1;
                next - 1
            })
        }));
        for vectors in [&mut self.z, &mut self.squares] {
            vectors.resize_with(next.max(vectors.len()), || vec![0.0; n]);
        }
        let some: Vec<Column<'_>> = views.into_iter().flatten().collect();
        let both = self.z.par_iter_mut().zip(&mut self.squares);
        let read = |((z, squares), x): ((&mut Vec<f64>, &mut Vec<f64>), &Column<'_>)| {
            x.fill(z);
            let centre = z.iter().sum::<f64>() / n as f64;
            z.iter_mut().for_each(|z| *z -= centre);
            squares.iter_mut().zip(&*z).for_each(|(square, z)| *square = z * z);
            (centre, (z.iter().sum(), squares.iter().sum()))
        };
        (self.centre, self.all) = both.zip(&some).map(read).unzip();
        let z: Vec<Column<'_>> = self.z[..next].iter().map(|z| Column::F64(z)).collect();
        let squares: Vec<Column<'_>> =
            self.squares[..next].iter().map(|z| Column::F64(z)).collect();
        let probes: Vec<&[f64]> = sides.iter().map(|side| side.probe.as_slice()).collect();
        let masks: Vec<&[f64]> = masks.iter().map(Vec::as_slice).collect();
        for (columns, vectors, out) in [
            (&z, &probes, &mut self.products),
            (&z, &masks, &mut self.first),
            (&squares, &masks, &mut self.second),
        ] {
            out.clear();
            out.resize(columns.len() * vectors.len(), 0.0);
            cross(columns, vectors, out);
        }
    }

    /// The sums of `z` and `z^2` over a lane's rows.
    fn moments(&self, d: usize, rows: &Rows) -> (f64, f64) {
        let masks = self.first.len() / self.all.len().max(1);
        match rows {
            Rows::Own(at) => (self.first[d * masks + at], self.second[d * masks + at]),
            Rows::Rest(at, without) => {
                let start = (
                    self.all[d].0 - self.first[d * masks + at],
                    self.all[d].1 - self.second[d * masks + at],
                );
                without.iter().fold(start, |sums, row| {
                    let row = *row as usize;
                    (sums.0 - self.z[d][row], sums.1 - self.squares[d][row])
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
        each_row(&lane.problem.rows, |at, row| self.probe[row] = probe[at]);
        self.norm = probe.iter().map(|r| r * r).sum::<f64>().sqrt();
        self.sum = probe.iter().sum();
        self.version = Some(version);
        true
    }

    /// Offers the columns that are left to the lane, `own` being the products with its probe.
    fn offer(
        &mut self,
        lane: &mut Lane,
        columns: &[RawColumn],
        first: u64,
        seen: &Seen,
        mut own: Vec<f64>,
    ) -> Result<()> {
        for (t, raw) in columns.iter().enumerate() {
            if let Some(d) = seen.place[t]
                && self.drops(d, own[d], seen)
            {
                continue;
            }
            let mut checked = CheckedBlock::default();
            let wants = Wants { glances: lane.selector.glances(), ..lane.wants() };
            check(raw, first + t as u64, &lane.problem, &lane.policy, wants, &mut checked)?;
            lane.offer_briefly(&checked)?;
            if self.renew(lane) {
                for d in seen.place[t + 1..].iter().flatten() {
                    own[*d] = kernel::dot(&seen.z[*d], &self.probe);
                }
            }
        }
        Ok(())
    }

    /// Whether the lane would drop a column as too weak; see the module.
    fn drops(&self, d: usize, product: f64, seen: &Seen) -> bool {
        let n = self.probe.len() as f64;
        let (m, centre, square) = (self.count, seen.centre[d], seen.all[d].1);
        let small = (n + 64.0) * f64::EPSILON;
        let (s, q) = seen.moments(d, &self.rows);
        let (slope, curve) = match self.centred {
            true => (product, q - s * s / m),
            false => (product + centre * self.sum, q + 2.0 * centre * s + m * centre * centre),
        };
        let far = square + n * centre * centre;
        let apart = if self.centred { (centre * self.sum).abs() } else { 0.0 };
        let slope = slope.abs() + 8.0 * small * self.norm * far.sqrt() + apart;
        let lost = if self.centred { square } else { far };
        let curve = curve - 16.0 * small * lost * (n / m);
        // A missing value makes every comparison false.
        slope * slope < SURE * self.least * m * curve
    }
}
