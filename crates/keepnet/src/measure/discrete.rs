//! Measures on discrete codes: symmetrical uncertainty and mutual information.
//!
//! Both come from one contingency table ([`Coded`]) and differ in how they use its entropies.

use std::marker::PhantomData;

use super::coded::{Coded, CodedColumn, Information, Levels, fill_codes, too_many};
use super::{
    BINS, Bins, DELTA, Evidence, Measure, MeasureKind, Named, Side, Thresholds, coded_target,
    rows_counted,
};
use crate::data::check::ColumnStats;
use crate::data::column::{Column, ColumnData};
use crate::data::compact;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::numeric::popcount;
use crate::tails::chi_squared_tail;

/// Most classes for which a bit mask each is held.
const MOST_MASKS: usize = 32;

/// How a measure computes its strength from mutual information and entropies.
pub trait Kind: Send {
    /// Which measure it is.
    const KIND: MeasureKind;

    /// The strength.
    fn strength(information: Information) -> f64;
}

/// A measure on codes.
pub struct Discrete<K> {
    coded: Coded,
    target: ColumnData,
    levels: Levels,
    // For each class the rows that have it, as bits: a binary feature then costs popcounts.
    masks: Vec<Vec<u64>>,
    delta: f64,
    bins: Option<Bins>,
    // Rows that the test counts: the sum of the sample weights.
    rows: f64,
    weighted: bool,
    kind: PhantomData<K>,
}

impl<K: Kind> Discrete<K> {
    /// The measure against the problem's target; relevant is a strength above `delta`.
    ///
    /// With `bins` a column of more levels is cut into that many equal-frequency bins.
    pub fn new(problem: &Problem, delta: f64, bins: Option<Bins>) -> Result<Self> {
        DELTA.check(delta)?;
        if let Some(Bins::Equal(bins)) = bins {
            BINS.check(bins)?;
        }
        let target = coded_target(&problem.target)?;
        let mut coded = Coded::new(problem.n(), problem.weight.clone());
        let levels = coded.levels(target.view())?;
        let mut classes = Vec::new();
        fill_codes(CodedColumn { x: target.view(), levels: &levels }, &mut classes);
        let masks = masks(&classes, levels.counts.len());
        let rows = rows_counted(problem)?;
        let weighted = problem.weight.is_some();
        let kind = PhantomData;
        Ok(Self { coded, target, levels, masks, delta, bins, rows, weighted, kind })
    }

    /// Information of a binary column with the classes, by one popcount per class.
    fn against_masks(&mut self, words: &[u64], levels: &Levels) -> Information {
        let ones: Vec<u32> =
            self.masks.iter().map(|mask| popcount::count_and(words, mask) as u32).collect();
        self.coded.information_of_bits(levels, &self.levels, &ones)
    }
}

fn masks(codes: &[u8], classes: usize) -> Vec<Vec<u64>> {
    if classes > MOST_MASKS {
        return Vec::new();
    }
    let mut masks = vec![vec![0u64; codes.len().div_ceil(64)]; classes];
    codes.iter().enumerate().for_each(|(i, c)| masks[usize::from(*c)][i / 64] |= 1 << (i % 64));
    masks
}

fn coded_column<'a>(side: Side<'a, Levels>) -> CodedColumn<'a> {
    CodedColumn { x: side.x, levels: side.facts }
}

impl<K: Kind + 'static> Named for Discrete<K> {
    fn made(problem: &Problem, thresholds: Thresholds) -> Result<Self> {
        Self::new(problem, thresholds.delta, thresholds.bins)
    }
}

impl<K: Kind> Measure for Discrete<K> {
    type Facts = Levels;

    const KIND: MeasureKind = K::KIND;

    fn code(&self, x: Column<'_>) -> Result<Option<ColumnData>> {
        coded(x, self.bins)
    }

    fn weigh(&mut self, x: Column<'_>, _: &ColumnStats) -> Result<(Levels, Evidence)> {
        let levels = self.coded.levels(x)?;
        let information = match x {
            Column::Bits { words, .. } if !self.masks.is_empty() && !self.weighted => {
                self.against_masks(words, &levels)
            }
            _ => {
                let target = CodedColumn { x: self.target.view(), levels: &self.levels };
                self.coded.information(CodedColumn { x, levels: &levels }, target)
            }
        };
        let strength = K::strength(information);
        if strength <= self.delta {
            return Ok((levels, Evidence::weak(strength)));
        }
        let df = (levels.used() - 1) * (self.levels.used() - 1);
        let nats = information.mutual * information.bits * std::f64::consts::LN_2;
        let p_value = Some(chi_squared_tail(2.0 * self.rows * nats, df as f64));
        Ok((levels, Evidence { strength, relevant: true, p_value }))
    }

    fn strength(&mut self, newcomer: Side<'_, Levels>, other: Side<'_, Levels>) -> f64 {
        K::strength(self.coded.information(coded_column(newcomer), coded_column(other)))
    }

    fn strength_disjoint(&mut self, a: &Levels, b: &Levels) -> Option<f64> {
        (!self.weighted).then(|| K::strength(self.coded.information_disjoint(a, b)))
    }

    fn upper_bound(&self, a: &Levels, b: &Levels) -> f64 {
        if self.weighted { f64::INFINITY } else { K::strength(self.coded.upper_bound(a, b)) }
    }

    fn ties_count(&self) -> bool {
        true
    }
}

/// A column as codes, bits or sparse levels; `None` where it is that already.
pub fn coded(x: Column<'_>, bins: Option<Bins>) -> Result<Option<ColumnData>> {
    if bins == Some(Bins::Mean) {
        return Ok(Some(compact::above_mean(x)));
    }
    if let Some(Bins::Equal(bins)) = bins {
        let many = match x {
            Column::Bits { .. } => false,
            Column::Codes { levels, .. } => levels.len() > bins,
            _ => more_levels(x, bins),
        };
        if many {
            return Ok(Some(compact::bin(x, bins)));
        }
    }
    if x.is_listed() {
        return Ok(None);
    }
    if let Some(data) = compact::compact(x) {
        return Ok(Some(data));
    }
    let data = compact::encode(x).ok_or_else(too_many)?;
    let data = Some(data).filter(|data| match data {
        // Fractions with many levels for the number of rows are measurements, not codes.
        ColumnData::Codes { levels, .. } => {
            let whole = levels.iter().all(|level| level.fract() == 0.0);
            whole || levels.len() <= (x.rows() / 4).max(16)
        }
        _ => false,
    });
    let advice = "continuous values under a discrete measure; \
                  choose `measure=fisher-z` or `bins=N`";
    data.map(Some).ok_or_else(|| Error::Data(advice.into()))
}

fn more_levels(x: Column<'_>, most: usize) -> bool {
    // Zero is a level of a sparse column even where every row is stored.
    let mut levels = if x.is_listed() { vec![0.0] } else { Vec::new() };
    x.each(|_, v| {
        if levels.len() <= most && !levels.contains(&v) {
            levels.push(v);
        }
    });
    levels.len() > most
}
