//! The exact value of a curved loss along one column, in place of its quadratic model.
//!
//! The quadratic model is good where a column changes many margins a little, and bad where it
//! changes few margins a lot. A row with a large margin has almost no curvature, so a rare feature
//! seems to cost nothing to remove, or to gain more than the loss can fall. The exact loss along
//! the column costs one pass over its rows. Where nearly all rows have one value, such as the zeros
//! of a sparse column, only the column's mean moves these rows; for them the quadratic model is
//! exact enough. The common value need not be 0: a shift of the column changes nothing.

use std::borrow::Cow;

use crate::data::column::Column;
use crate::loss::Loss;
use crate::numeric::kernel::{Element, widen};

/// Share of the modelled fall of the loss at which the quadratic model is confirmed.
const CONFIRMED: f64 = 0.9;
const STEPS: usize = 8;
/// Share of the rows, by sample weight, that a common value must have. No ratio of small counts is
/// equal to it, so that rounding decides nothing.
const COMMON: f64 = 0.9017;

/// The state of one output, from which lines start.
pub(super) struct OutputState<'a> {
    pub(super) loss: &'a dyn Loss,
    pub(super) u: &'a [f64],
    pub(super) y: &'a [f64],
    pub(super) weight: Option<&'a [f64]>,
    pub(super) total: f64,
    /// Slopes and curvatures of the rows, and their sums.
    pub(super) g: &'a [f64],
    pub(super) d: &'a [f64],
    pub(super) sum_g: f64,
    pub(super) sum_d: f64,
    /// Whether a constant added to a column changes nothing.
    pub(super) centred: bool,
}

/// The loss along one column, from the current prediction.
pub(super) struct LossLine<'a> {
    loss: &'a dyn Loss,
    /// Centred value, margin, target and sample weight of the rows that are evaluated exactly.
    x: Vec<f64>,
    u: Cow<'a, [f64]>,
    y: Cow<'a, [f64]>,
    weight: Option<Cow<'a, [f64]>>,
    /// Centred value of the other rows, and the sums of their slopes and curvatures.
    common: f64,
    off_g: f64,
    off_d: f64,
    total: f64,
    start: f64,
}

/// The value of nearly all rows, where there is one: the majority vote of Boyer and Moore by sample
/// weight, then a count. Rows that the column does not store are zeros.
fn common(state: &OutputState<'_>, x: Column<'_>) -> Option<f64> {
    let varied = match x {
        Column::F32(x) => varied(state, x),
        Column::F64(x) => varied(state, x),
        _ => false,
    };
    if varied {
        return None;
    }
    let weight = |i: usize| state.weight.map_or(1.0, |v| v[i]);
    let mut stored = 0.0;
    x.each(|i, _| stored += weight(i));
    let zeros = (state.total - stored).max(0.0);
    let (mut value, mut lead) = (0.0, zeros);
    x.each(|i, here| {
        let v = weight(i);
        if here == value {
            lead += v;
        } else if lead >= v {
            lead -= v;
        } else {
            (value, lead) = (here, v - lead);
        }
    });
    let mut has = if value == 0.0 { zeros } else { 0.0 };
    x.each(|i, here| has += if here == value { weight(i) } else { 0.0 });
    let modelled = has > COMMON * state.total && (state.centred || value == 0.0);
    modelled.then_some(value)
}

/// Whether neighbours differ so often that no value can have nearly all rows: of two that differ,
/// one is not the common value. Most dense columns show it in their first rows.
fn varied<T: Element>(state: &OutputState<'_>, x: &[T]) -> bool {
    let most = (1.0 - COMMON) * state.total;
    let mut others = 0.0;
    for (at, pair) in x.chunks_exact(2).enumerate() {
        if pair[0].wide() != pair[1].wide() {
            others += state.weight.map_or(1.0, |v| v[2 * at].min(v[2 * at + 1]));
            if others > most {
                return true;
            }
        }
    }
    false
}

impl<'a> LossLine<'a> {
    pub(super) fn new(state: &OutputState<'a>, x: Column<'_>, mean: f64) -> Self {
        match common(state, x) {
            Some(value) => Self::of_some(state, x, mean, value),
            None => Self::of_all(state, x, mean),
        }
    }

    /// Every row is evaluated exactly.
    fn of_all(state: &OutputState<'a>, column: Column<'_>, mean: f64) -> Self {
        let mut x = vec![0.0; state.u.len()];
        match column {
            Column::F32(from) => widen(from, mean, &mut x),
            Column::F64(from) => widen(from, mean, &mut x),
            _ => {
                x.fill(-mean);
                column.each(|i, value| x[i] = value - mean);
            }
        }
        Self {
            loss: state.loss,
            x,
            u: Cow::Borrowed(state.u),
            y: Cow::Borrowed(state.y),
            weight: state.weight.map(Cow::Borrowed),
            common: 0.0,
            off_g: 0.0,
            off_d: 0.0,
            total: state.total,
            start: state.loss.value(state.u, state.y, state.weight),
        }
    }

    /// Only rows with another value than `common` are evaluated exactly.
    fn of_some(state: &OutputState<'a>, column: Column<'_>, mean: f64, common: f64) -> Self {
        let (mut x, mut u, mut y) = (Vec::new(), Vec::new(), Vec::new());
        let mut weight = state.weight.map(|_| Vec::new());
        let (mut off_g, mut off_d) = (state.sum_g, state.sum_d);
        let mut follow = |i: usize, value: f64| {
            off_g -= state.g[i];
            off_d -= state.d[i];
            x.push(value - mean);
            u.push(state.u[i]);
            y.push(state.y[i]);
            if let (Some(all), Some(v)) = (state.weight, &mut weight) {
                v.push(all[i]);
            }
        };
        if common == 0.0 {
            column.each(|i, value| {
                if value != 0.0 {
                    follow(i, value);
                }
            });
        } else {
            let mut values = vec![0.0; state.u.len()];
            column.fill(&mut values);
            let there = values.iter().enumerate().filter(|(_, value)| **value != common);
            there.for_each(|(i, value)| follow(i, *value));
        }
        let start = state.loss.value(&u, &y, weight.as_deref());
        Self {
            loss: state.loss,
            x,
            u: Cow::Owned(u),
            y: Cow::Owned(y),
            weight: weight.map(Cow::Owned),
            common: common - mean,
            off_g,
            off_d,
            total: state.total,
            start,
        }
    }

    /// Change of the loss at `t` times the column, and slope and curvature there, divided by W.
    fn at(&self, t: f64) -> (f64, f64, f64) {
        let shift = self.common * t;
        let sums = self.loss.along(t, &self.x, &self.u, &self.y, self.weight.as_deref());
        let value = shift * (self.off_g + 0.5 * shift * self.off_d) - self.start + sums.0;
        let slope = self.common * (self.off_g + shift * self.off_d) + sums.1;
        let curve = self.common * self.common * self.off_d + sums.2;
        (value / self.total, slope / self.total, curve / self.total)
    }

    /// Rise of the penalised loss if the coefficient `w` of the column became 0.
    pub(super) fn removal(&self, w: f64, ridge: f64) -> f64 {
        self.at(-w).0 - 0.5 * ridge * w * w
    }

    /// How far the penalised loss can fall along the column. The search starts at the step
    /// `slope / curve` of the quadratic model and ends once its fall is confirmed.
    pub(super) fn fall(&self, slope: f64, curve: f64, ridge: f64) -> f64 {
        let enough = CONFIRMED * 0.5 * slope * (slope / curve);
        let mut t = slope / curve;
        let (mut best, mut low, mut high) = (0f64, 0.0, f64::INFINITY);
        for _ in 0..STEPS {
            let (change, slope_here, curve_here) = self.at(t);
            best = best.max(-change - 0.5 * ridge * t * t);
            if best >= enough {
                break;
            }
            let (slope_here, curve_here) = (slope_here + ridge * t, curve_here + ridge);
            // The slope tells on which side of `t` the minimum lies.
            if slope_here * slope.signum() > 0.0 {
                high = t.abs()
            } else {
                low = t.abs()
            }
            let next = (t - slope_here / curve_here).abs();
            let inside = next > low && next < high;
            t = slope.signum() * if inside { next } else { 0.5 * (low + high.min(4.0 * t.abs())) };
        }
        best
    }

    /// Whether a fall confirms the fall of the quadratic model.
    pub(super) fn confirmed(fall: f64, modelled: f64) -> bool {
        fall >= CONFIRMED * modelled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Logistic, Squared};

    fn state<'a>(
        loss: &'a dyn Loss,
        u: &'a [f64],
        y: &'a [f64],
        gd: &'a [Vec<f64>; 2],
    ) -> OutputState<'a> {
        let (g, d) = (gd[0].as_slice(), gd[1].as_slice());
        let (sum_g, sum_d) = (g.iter().sum(), d.iter().sum());
        let centred = false;
        OutputState { loss, u, y, weight: None, total: u.len() as f64, g, d, sum_g, sum_d, centred }
    }

    #[test]
    fn a_quadratic_loss_gives_just_what_its_model_promises() {
        let (u, y) = ([0.0; 4], [1.0, -1.0, 2.0, 0.5]);
        let gd = [u.iter().zip(&y).map(|(u, y)| u - y).collect(), vec![1.0; 4]];
        let state = state(&Squared, &u, &y, &gd);
        let x = [1.0, 0.0, 2.0, 0.0];
        let line = LossLine::new(&state, Column::F64(&x), 0.0);
        // a = x'y / 4 = 5/4, h = x'x / 4 = 5/4: the fall is a^2 / 2h = 5/8.
        assert!((line.fall(1.25, 1.25, 0.0) - 0.625).abs() < 1e-15);
        // Removing w from the optimum w = 1 costs h w^2 / 2; from u = x it is the same sum.
        let fitted: Vec<f64> = x.to_vec();
        let gd = [fitted.iter().zip(&y).map(|(u, y)| u - y).collect(), vec![1.0; 4]];
        let state = self::state(&Squared, &fitted, &y, &gd);
        let line = LossLine::new(&state, Column::F64(&x), 0.0);
        assert!((line.removal(1.0, 0.0) - 0.625).abs() < 1e-15);
    }

    /// Zeros of a sparse column, or the same column shifted: one value has nearly all the rows.
    #[test]
    fn a_shift_of_the_column_changes_no_line() {
        let n = 24;
        let u: Vec<f64> = (0..n).map(|i| f64::from(i) * 0.1 - 1.0).collect();
        let y: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let at: Vec<_> = u.iter().zip(&y).map(|(u, y)| Logistic.at(*u, *y)).collect();
        let gd = [at.iter().map(|at| at.1).collect(), at.iter().map(|at| at.2).collect()];
        let state = OutputState { centred: true, ..state(&Logistic, &u, &y, &gd) };
        for ones in [1, 2, 9, 12, 23] {
            let x: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i < ones))).collect();
            let shifted: Vec<f64> = x.iter().map(|x| x - 7.0).collect();
            let mean = f64::from(ones) / f64::from(n);
            let line = LossLine::new(&state, Column::F64(&x), mean);
            let other = LossLine::new(&state, Column::F64(&shifted), mean - 7.0);
            assert_eq!(
                line.x.len(),
                if (3..=21).contains(&ones) { n } else { ones.min(n - ones) } as usize
            );
            for t in [-2.0, 0.3, 5.0] {
                let (a, b) = (line.at(t), other.at(t));
                assert!((a.0 - b.0).abs() < 1e-14 && (a.1 - b.1).abs() < 1e-14, "{ones} {t}");
            }
        }
    }

    #[test]
    fn a_sure_and_wrong_row_promises_more_than_it_gives() {
        // One row, margin -10: slope nearly 1, curvature 4.5e-5, so the model promises 1.1e4
        // where the loss can fall by 10 at most.
        let (u, y) = ([-10.0], [1.0]);
        let (_, slope, curve) = Logistic.at(-10.0, 1.0);
        let gd = [vec![slope], vec![curve]];
        let state = state(&Logistic, &u, &y, &gd);
        let line = LossLine::new(&state, Column::F64(&[1.0]), 0.0);
        let fall = line.fall(-slope, curve + 1e-3, 1e-3);
        assert!(fall > 9.0 && fall < 10.0, "{fall}");
        assert!(!LossLine::confirmed(fall, 0.5 * slope * slope / (curve + 1e-3)));
    }
}
