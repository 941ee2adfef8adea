//! Which coefficients are the smallest, where rounding must not decide.
//!
//! Copies of a column, with either sign, have coefficients of equal size except for rounding, and
//! rounding changes with the order of the rows. Sizes that differ by less than a share [`SAME`] of
//! the largest count as equal, and among equal ones the later feature goes first.
//!
//! Where features are dependent and only jitter is added to the diagonal, the coefficients of copies
//! differ by rounding divided by the jitter, which is much more. There they are set to their mean,
//! which they have in the shortest solution.

use super::gram::Gram;

/// Sizes this close, relative to the largest, are equal; the share is larger for f32 products.
const SAME: f64 = 1e-9;

/// The share of the largest size by which equal sizes may differ.
pub(crate) fn same(gram: &Gram) -> f64 {
    SAME.max(10.0 * gram.rounding)
}

/// The `count` places of the smallest sizes that are not negative, the smallest first. Among sizes
/// that differ by at most a share `same` of the largest, the later place comes first.
pub(crate) fn weakest(size: &[f64], count: usize, same: f64) -> Vec<usize> {
    let slack = same * size.iter().copied().fold(0.0, f64::max);
    // Late in the schedule one or two go at a time, and a plain search is fastest.
    if count <= 2 {
        let mut out = Vec::with_capacity(count);
        for _ in 0..count {
            let remains = |at: usize| size[at] >= 0.0 && !out.contains(&at);
            let sizes = (0..size.len()).filter(|at| remains(*at)).map(|at| size[at]);
            let most = sizes.fold(f64::INFINITY, f64::min) + slack;
            let last = (0..size.len()).rfind(|at| remains(*at) && size[*at] <= most);
            out.extend(last);
        }
        return out;
    }
    let mut order: Vec<usize> = (0..size.len()).filter(|at| size[*at] >= 0.0).collect();
    let by = |a: &usize, b: &usize| size[*a].total_cmp(&size[*b]).then(b.cmp(a));
    if count < order.len() {
        // Sizes equal to that of the last place may take its place.
        let cut = size[*order.select_nth_unstable_by(count - 1, by).1];
        order.retain(|at| size[*at] <= cut + slack);
    }
    order.sort_unstable_by(by);
    let mut from = 0;
    while from < order.len() {
        let most = size[order[from]] + slack;
        let run = order[from..].iter().take_while(|at| size[**at] <= most).count();
        order[from..from + run].sort_unstable_by(|a, b| b.cmp(a));
        from += run;
    }
    order.truncate(count);
    order
}

/// The places of the `k` largest sizes, ascending: all but the [`weakest`].
pub(crate) fn strongest(size: &[f64], k: usize, same: f64) -> Vec<usize> {
    let mut stays = vec![true; size.len()];
    weakest(size, size.len().saturating_sub(k), same).into_iter().for_each(|at| stays[at] = false);
    (0..size.len()).filter(|at| stays[*at]).collect()
}

/// Places by descending size: the [`weakest`] last.
pub(crate) fn ranked(size: &[f64], same: f64) -> Vec<usize> {
    let mut order = weakest(size, size.len(), same);
    order.reverse();
    order
}

/// Gives copies of a feature the mean of their coefficients, up to the sign.
pub(crate) fn level(gram: &Gram, b: &mut [Vec<f64>]) {
    let (p, most) = (gram.p(), 1.0 - 10.0 * gram.rounding);
    let mut done = vec![false; p];
    for j in 0..p {
        if std::mem::replace(&mut done[j], true) {
            continue;
        }
        let column = gram.column(j);
        let copy = |i: &usize| column[*i].abs() >= most && !done[*i];
        let copies: Vec<(usize, f64)> =
            (j + 1..p).filter(copy).map(|i| (i, column[i].signum())).collect();
        if copies.is_empty() {
            continue;
        }
        for b in b.iter_mut() {
            let sum = copies.iter().fold(b[j], |sum, (i, sign)| sum + sign * b[*i]);
            let mean = sum / (copies.len() + 1) as f64;
            b[j] = mean;
            copies.iter().for_each(|(i, sign)| b[*i] = sign * mean);
        }
        copies.iter().for_each(|(i, _)| done[*i] = true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::row::{Row, RowBlock};
    use crate::learn::averages::annealed_ridge::{AnnealedRidge, AnnealedRidgeParams};
    use crate::learn::averages::extract::Extract;
    use crate::learn::averages::ofsa::{Ofsa, OfsaParams};
    use crate::learn::averages::ols::OlsParams;
    use crate::learn::averages::olsth::Olsth;
    use crate::learn::averages::running::{AveragesParams, RunningAverages};
    use crate::learn::testing;

    #[test]
    fn of_sizes_that_differ_by_rounding_the_later_goes_first() {
        // One at a time and many at once.
        for away in [-1e-15, 0.0, 1e-15] {
            let size = [5.0, 1.0, -1.0, 1.0 + away, 3.0, 0.5, 1.0 - away, 0.1];
            assert_eq!(weakest(&size, 1, 1e-9), [7]);
            assert_eq!(weakest(&size, 2, 1e-9), [7, 5]);
            assert_eq!(weakest(&size, 3, 1e-9), [7, 5, 6]);
            assert_eq!(weakest(&size, 4, 1e-9), [7, 5, 6, 3]);
            assert_eq!(weakest(&size, 7, 1e-9), [7, 5, 6, 3, 1, 4, 0]);
        }
    }

    /// The papers' rows with two copies of the first feature, one of them negated. Each `turn` gives
    /// another order of the rows.
    fn gram(turn: usize, wide: bool) -> Gram {
        const P: usize = 9;
        let params = AveragesParams { f64_products: wide, ..AveragesParams::default() };
        let mut averages = RunningAverages::new(P, 0, params).unwrap();
        let plain = testing::rows(120, P, 4, 3);
        let mut rows: Vec<(Vec<f64>, f64)> = plain
            .rows()
            .zip(plain.y())
            .map(|(row, y)| ((0..P).map(|j| row.get(j)).collect(), *y))
            .collect();
        rows.iter_mut().for_each(|(x, _)| (x[4], x[7]) = (-x[0], x[0]));
        rows.rotate_left(turn);
        if turn % 2 == 1 {
            rows.reverse();
        }
        let mut block = RowBlock::new(P, rows.len());
        rows.iter().for_each(|(x, y)| block.push(Row::F64(x), *y, 1.0).unwrap());
        averages.push(&block).unwrap();
        averages.gram().unwrap()
    }

    #[test]
    fn of_copies_the_later_go_in_every_order_of_the_rows() {
        let ridge = |ridge| AnnealedRidgeParams { ridge, ..AnnealedRidgeParams::default() };
        let methods: [Box<dyn Extract>; 6] = [
            Box::new(Olsth::new(OlsParams::default()).unwrap()),
            Box::new(Olsth::new(OlsParams { ridge: 0.1 }).unwrap()),
            Box::new(AnnealedRidge::new(ridge(None)).unwrap()),
            Box::new(AnnealedRidge::new(ridge(Some(0.0))).unwrap()),
            Box::new(AnnealedRidge::new(ridge(Some(1e-6))).unwrap()),
            Box::new(Ofsa::new(OfsaParams::default()).unwrap()),
        ];
        for (at, method) in methods.iter().enumerate() {
            for wide in [true, false] {
                for k in 1..=8 {
                    let first = method.choose(&gram(0, wide), k).unwrap();
                    let copies: Vec<usize> =
                        first.iter().copied().filter(|j| [0, 4, 7].contains(j)).collect();
                    assert_eq!(copies, [0, 4, 7][..copies.len()], "{at} {k}: {first:?}");
                    for turn in 1..40 {
                        let gram = gram(3 * turn, wide);
                        assert_eq!(method.choose(&gram, k).unwrap(), first, "{at} {k} {turn}");
                        let mut best = method.rank(&gram, k).unwrap();
                        best.sort_unstable();
                        assert_eq!(best.len(), k, "{at} {k} {turn}");
                    }
                }
            }
        }
    }
}
