//! Whether a loaded state can come from rows; a forged one is refused.

use super::running::{GRID, RunningAverages, check_target, weight_unit};
use crate::data::row::outputs;
use crate::error::{Error, Result};

/// Refuses a state that is not sound.
pub(crate) fn refuse_unless(sound: bool) -> Result<()> {
    match sound {
        true => Ok(()),
        false => Err(Error::Snapshot(
            "its parts do not fit together, or are numbers that no rows give".into(),
        )),
    }
}

impl RunningAverages {
    /// Whether loaded averages can come from rows: the parts fit together and every number is
    /// possible.
    pub(crate) fn sound(&self) -> bool {
        let (p, m, q) = (self.features(), &self.moments, outputs(self.classes));
        let fits = self.classes != 1
            && (0.0..1.0).contains(&self.params.forget)
            && m.xx.sound()
            && m.xx.is_f32() == self.params.f32_storage
            && self.pending.features() == p
            && self.pending.len() < GRID
            && self.pending.sound()
            && m.mean_x.sound(p)
            && m.mean_y.sound(q)
            && m.yy.len() == q
            && m.xy.len() == q
            && m.xy.iter().all(|xy| xy.len() == p);
        fits && self.plausible()
    }

    /// Whether rows can give these counts, sample weights and sums.
    fn plausible(&self) -> bool {
        let m = &self.moments;
        let finite = |v: &f64| v.is_finite();
        let squares = m.yy.iter().all(|v| v.is_finite() && *v >= 0.0);
        // The sum of n weights, squared, is at most n times the sum of their squares.
        let weights = match m.rows {
            0 => m.weight == 0.0 && m.weight2 == 0.0,
            n => {
                let most = n as f64 * m.weight2 * (1.0 + 1e-6);
                m.weight > 0.0 && m.weight2 > 0.0 && m.weight * m.weight <= most
            }
        };
        let unit = match self.rows() {
            0 => m.weight_unit == 0.0,
            _ => {
                let unit = m.weight_unit;
                unit.is_finite() && unit >= f64::MIN_POSITIVE && unit == weight_unit(unit)
            }
        };
        let shift = m.raw.iter().all(|raw| {
            let first = m.rows == 0 && raw.y.is_empty();
            let ascend = raw.index.windows(2).all(|pair| pair[0] < pair[1]);
            let inside = raw.index.last().is_none_or(|j| (*j as usize) < self.features());
            let whole = raw.y.len() == m.yy.len() && raw.index.len() == raw.value.len();
            let numbers = raw.value.iter().chain(&raw.y).all(finite);
            (first && raw.index.is_empty()) || (ascend && inside && whole && numbers)
        });
        let targets = self.pending.y().iter().zip(self.pending.weight());
        m.rows < 1 << 60
            && weights
            && unit
            && squares
            && shift
            && m.xy.iter().flatten().all(finite)
            && (self.pending.is_empty() || self.pending.is_sparse() == m.raw.is_some())
            && targets.into_iter().all(|(y, w)| check_target(self.classes, *y, *w, 0).is_ok())
    }
}
