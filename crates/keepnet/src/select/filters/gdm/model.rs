//! The model of the feature generating machine on a few sets of features.
//!
//! ```text
//! least over w and rho of  1/2 (sum_t |w_t|)^2 + C/2 sum_i v_i max(0, rho - y_i w'x_i)^2 - rho
//! alpha_i = C v_i max(0, rho - y_i w'x_i),   sum alpha = 1
//! ```
//!
//! with `w_t` the coefficients of set `t` and `v` the sample weights. Its dual is the problem of the
//! method's page: the largest over alpha in the simplex of `-1/2 max_t |sum_i alpha_i y_i x_i,t|^2 -
//! sum_i alpha_i^2 / (2 C v_i)`. `rho` is eliminated exactly: alpha is the projection of the
//! margins on the simplex. What is left is smooth but for the norms, whose proximal step is known,
//! so accelerated proximal gradient with restarts solves it until the duality gap is closed. Cost:
//! two products a row and feature each iteration.

use crate::numeric::kernel;

/// The gap between primal and dual at the end, as a share of the objective.
const GAP: f64 = 1e-12;
/// Iterations at most.
const MOST: usize = 20_000;
/// The gap is computed every so many iterations.
const EVERY: usize = 10;

/// What alpha is solved from.
pub(super) struct Rows<'a> {
    /// The class of each row as -1 or 1.
    pub(super) sign: &'a [f64],
    /// Sample weights.
    pub(super) weight: Option<&'a [f64]>,
    /// The `C` of the paper.
    pub(super) cost: f64,
}

impl Rows<'_> {
    fn weight(&self, i: usize) -> f64 {
        self.weight.map_or(1.0, |weight| weight[i])
    }

    /// Alpha and rho of these margins.
    ///
    /// `C sum v_i max(0, rho - m_i) = 1` is convex in rho, so steps from where every row counts
    /// come down to it and stop after few.
    fn alpha(&self, margin: &[f64], alpha: &mut [f64]) -> f64 {
        let mut rho = f64::INFINITY;
        loop {
            let (mut mass, mut sum, mut last) = (0.0, 0.0, true);
            for (i, m) in margin.iter().enumerate() {
                if *m < rho {
                    let v = self.weight(i);
                    (mass, sum) = (mass + v, sum + v * m);
                }
            }
            let next = (1.0 / self.cost + sum) / mass;
            if next < rho {
                last = margin.iter().all(|m| (*m < rho) == (*m < next));
                rho = next;
            }
            if last {
                break;
            }
        }
        for (i, (alpha, m)) in alpha.iter_mut().zip(margin).enumerate() {
            *alpha = self.cost * self.weight(i) * (rho - m).max(0.0);
        }
        rho
    }

    /// `y_i w'x_i`.
    fn margins(&self, columns: &[&[f64]], w: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (x, w) in columns.iter().zip(w).filter(|(_, w)| **w != 0.0) {
            kernel::axpy(*w, x, out);
        }
        kernel::scale_by(out, self.sign);
    }

    /// `sum_i alpha_i y_i x_i` of each column.
    fn products(&self, columns: &[&[f64]], alpha: &[f64]) -> Vec<f64> {
        let signed: Vec<f64> = alpha.iter().zip(self.sign).map(|(a, y)| a * y).collect();
        columns.iter().map(|x| kernel::dot(x, &signed)).collect()
    }

    /// The smooth part: `C/2 sum v (rho - m)^2 - rho`.
    fn smooth(&self, alpha: &[f64], rho: f64) -> f64 {
        self.squares(alpha) - rho
    }

    /// `sum alpha_i^2 / (2 C v_i)`.
    fn squares(&self, alpha: &[f64]) -> f64 {
        let there = alpha.iter().enumerate().filter(|(_, alpha)| **alpha > 0.0);
        let sum: f64 = there.map(|(i, alpha)| alpha * alpha / self.weight(i)).sum();
        sum / (2.0 * self.cost)
    }
}

fn square(set: &[f64]) -> f64 {
    set.iter().map(|w| w * w).sum()
}

/// The norm of each set's part of `w`.
fn norms(w: &[f64], sets: &[usize]) -> Vec<f64> {
    let mut first = 0;
    let norm = |size: &usize| {
        let part = &w[first..first + size];
        first += size;
        square(part).sqrt()
    };
    sets.iter().map(norm).collect()
}

/// `w` less the step of `eta/2 (sum_t |w_t|)^2`: each norm falls by `tau = eta` times the sum of
/// the norms afterwards, or to 0.
fn shrink(w: &mut [f64], sets: &[usize], eta: f64) {
    let all = norms(w, sets);
    let mut sorted = all.clone();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut tau) = (0.0, 0.0);
    for (r, norm) in sorted.iter().enumerate() {
        sum += norm;
        let next = eta * sum / (1.0 + eta * (r + 1) as f64);
        if *norm <= next {
            break;
        }
        tau = next;
    }
    let mut first = 0;
    for (norm, size) in all.iter().zip(sets) {
        let scale = if *norm > tau { 1.0 - tau / norm } else { 0.0 };
        w[first..first + size].iter_mut().for_each(|w| *w *= scale);
        first += size;
    }
}

/// The solution: one alpha a row. `columns` are the unit columns of the sets one after the other,
/// `sets` the sizes of these.
pub(super) fn solve(rows: &Rows<'_>, columns: &[&[f64]], sets: &[usize]) -> Vec<f64> {
    let n = rows.sign.len();
    let (mut margin, mut alpha) = (vec![0.0; n], vec![0.0; n]);
    let (mut w, mut ahead) = (vec![0.0; columns.len()], vec![0.0; columns.len()]);
    let (mut steepest, mut t) = (rows.cost, 1.0f64);
    for round in 0..MOST {
        rows.margins(columns, &ahead, &mut margin);
        let rho = rows.alpha(&margin, &mut alpha);
        let here = rows.smooth(&alpha, rho);
        let slope = rows.products(columns, &alpha);
        let mut next;
        loop {
            next = ahead.clone();
            kernel::axpy(1.0 / steepest, &slope, &mut next);
            shrink(&mut next, sets, 1.0 / steepest);
            rows.margins(columns, &next, &mut margin);
            let rho = rows.alpha(&margin, &mut alpha);
            let there = rows.smooth(&alpha, rho);
            let step: Vec<f64> = next.iter().zip(&ahead).map(|(a, b)| a - b).collect();
            let bound = here - kernel::dot(&slope, &step) + 0.5 * steepest * square(&step);
            if there <= bound + 1e-15 * (1.0 + here.abs()) {
                if round % EVERY == 0 && closed(rows, columns, sets, &next, &alpha, there) {
                    return alpha;
                }
                break;
            }
            steepest *= 2.0;
        }
        // The momentum starts anew where it leads away.
        let away: f64 =
            ahead.iter().zip(&next).zip(&w).map(|((z, new), old)| (z - new) * (new - old)).sum();
        let grown = if away > 0.0 { 1.0 } else { (1.0 + (1.0 + 4.0 * t * t).sqrt()) / 2.0 };
        let momentum = if away > 0.0 { 0.0 } else { (t - 1.0) / grown };
        ahead = next.iter().zip(&w).map(|(new, old)| new + momentum * (new - old)).collect();
        (w, t) = (next, grown);
    }
    alpha
}

/// Whether primal and dual are as close as asked.
fn closed(
    rows: &Rows<'_>,
    columns: &[&[f64]],
    sets: &[usize],
    w: &[f64],
    alpha: &[f64],
    smooth: f64,
) -> bool {
    let total: f64 = norms(w, sets).iter().sum();
    let primal = 0.5 * total * total + smooth;
    let most = norms(&rows.products(columns, alpha), sets).into_iter().fold(0.0, f64::max);
    let dual = -0.5 * most * most - rows.squares(alpha);
    primal - dual <= GAP * primal.abs().max(dual.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::order::generator;
    use rand::RngExt;

    /// Two rows of either class on one column (1, -1)/sqrt 2: by symmetry alpha = (1/2, 1/2).
    #[test]
    fn alpha_of_two_rows_is_a_half_each() {
        let x = [0.5f64.sqrt(), -(0.5f64.sqrt())];
        let rows = Rows { sign: &[1.0, -1.0], weight: None, cost: 1.0 };
        let alpha = solve(&rows, &[&x], &[1]);
        assert!(alpha.iter().all(|a| (a - 0.5).abs() < 1e-9), "{alpha:?}");
    }

    /// The optimum of the dual: no point of the simplex near alpha is better, found by moving mass
    /// between pairs of rows; and weights count as copies.
    #[test]
    fn no_shift_of_mass_improves_alpha() {
        let mut random = generator(5, 0);
        let n = 30;
        let mut draw = || -> Vec<f64> { (0..n).map(|_| random.random_range(-1.0..1.0)).collect() };
        let columns: Vec<Vec<f64>> = (0..7).map(|_| draw()).collect();
        let sign: Vec<f64> = draw().iter().map(|x| x.signum()).collect();
        let weight: Vec<f64> = (0..n).map(|i| 1.0 + (i % 3) as f64).collect();
        let (sets, cost) = ([3, 3, 1], 0.7);
        let views: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let rows = Rows { sign: &sign, weight: Some(&weight), cost };
        let alpha = solve(&rows, &views, &sets);
        assert!((alpha.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let dual = |alpha: &[f64]| {
            let most = norms(&rows.products(&views, alpha), &sets).into_iter().fold(0.0, f64::max);
            -0.5 * most * most - rows.squares(alpha)
        };
        let best = dual(&alpha);
        for i in 0..n {
            for j in 0..n {
                let mut moved = alpha.clone();
                let by = 1e-4f64.min(moved[i]);
                moved[i] -= by;
                moved[j] += by;
                assert!(dual(&moved) <= best + 1e-11, "{i} {j}");
            }
        }
        // Copies of rows in the place of weights.
        let times: Vec<usize> = (0..n).flat_map(|i| vec![i; weight[i] as usize]).collect();
        let copied: Vec<Vec<f64>> =
            columns.iter().map(|x| times.iter().map(|i| x[*i]).collect()).collect();
        let views: Vec<&[f64]> = copied.iter().map(Vec::as_slice).collect();
        let sign: Vec<f64> = times.iter().map(|i| sign[*i]).collect();
        let all = solve(&Rows { sign: &sign, weight: None, cost }, &views, &sets);
        for (a, i) in all.iter().zip(&times) {
            assert!((a * weight[*i] - alpha[*i]).abs() < 1e-6);
        }
    }

    /// The proximal step is the least of its objective: by a grid around it.
    #[test]
    fn the_step_of_the_norms_is_the_least() {
        let v = [1.0, 0.5, -0.2, 0.1];
        let (sets, eta) = ([1, 1, 2], 0.4);
        let mut w = v.to_vec();
        shrink(&mut w, &sets, eta);
        let objective = |w: &[f64]| {
            let apart: f64 = w.iter().zip(&v).map(|(w, v)| (w - v) * (w - v)).sum();
            let total: f64 = norms(w, &sets).iter().sum();
            0.5 * apart + 0.5 * eta * total * total
        };
        let least = objective(&w);
        for j in 0..4 {
            for by in [-1e-3, 1e-3] {
                let mut near = w.clone();
                near[j] += by;
                assert!(objective(&near) >= least - 1e-15, "{j} {by} {w:?}");
            }
        }
    }
}
