//! Kendall's tau-b and the test that it is zero.
//!
//! ```text
//! N = n (n - 1) / 2   T(v) = sum t (t - 1) / 2     S = N - T(x) - T(y) + T(xy) - 2 discordant
//! tau = S / sqrt((N - T(x)) (N - T(y)))            p = erfc(|S| / sqrt(2 var))
//! var = (m (2n + 5) - x1 - y1) / 18 + 2 T(x) T(y) / m + x0 y0 / (9 m (n - 2)),  m = n (n - 1)
//! ```
//!
//! with `v0 = sum t (t-1) (t-2)` and `v1 = sum t (t-1) (2t+5)` over ties. The rows of each value
//! come in the order of the target, so merging value with value counts the discordant pairs:
//! O(n log levels), and O(nnz log nnz) where zeros are not listed: these are one group, whose pairs
//! with the others follow from how many rows of the target lie below each.

use super::Sign;
use super::profile::Profile;
use super::rows::{Ranked, Rows, Ties, pairs};
use crate::tails::ln_normal_two_sided;

/// A row that is listed: its place in the target, how often it counts, whether it is below zero.
#[derive(Clone, Copy)]
struct Entry {
    rank: u32,
    count: u32,
    negative: bool,
}

/// The test of a column against numbers.
pub(super) fn test(x: &Profile, rows: &Rows, y: &Ranked) -> Sign {
    let n = rows.n as f64;
    let (all, ties) = (pairs(rows.n), Ties::of(x.sizes()));
    let (discordant, both) = discordant(x, rows, y);
    let s = (all + both) as i128 - (ties.pairs + y.ties.pairs) as i128 - 2 * discordant as i128;
    let s = s as f64;
    let (open_x, open_y) = ((all - ties.pairs) as f64, (all - y.ties.pairs) as f64);
    let m = n * (n - 1.0);
    let variance = (m * (2.0 * n + 5.0) - ties.variance - y.ties.variance) / 18.0
        + 2.0 * ties.pairs as f64 * y.ties.pairs as f64 / m
        + ties.cubic * y.ties.cubic / (9.0 * m * (n - 2.0));
    let statistic = Some(s / open_x.sqrt() / open_y.sqrt());
    Sign { statistic, log_p: ln_normal_two_sided(s / variance.sqrt()) }
}

/// Discordant pairs, and pairs that are tied in both.
fn discordant(x: &Profile, rows: &Rows, y: &Ranked) -> (u64, u64) {
    let mut entries = Vec::with_capacity(x.listed().len());
    let (mut ends, mut both) = (vec![0], 0);
    for at in (0..x.len()).filter(|at| Some(*at) != x.rest) {
        let negative = x.values[at] < 0.0;
        let start = entries.len();
        entries.extend(x.members(at).iter().map(|row| Entry {
            rank: y.rank[*row as usize],
            count: rows.count(*row) as u32,
            negative,
        }));
        both += tied(&entries[start..]);
        ends.push(entries.len());
    }
    let mut discordant = inversions(&mut entries, ends);
    if x.rest.is_some() {
        let (more, tied) = with_rest(&entries, rows, y);
        (discordant, both) = (discordant + more, both + tied);
    }
    (discordant, both)
}

/// Pairs of equal rank, in a list that ascends.
fn tied(entries: &[Entry]) -> u64 {
    let same = entries.chunk_by(|a, b| a.rank == b.rank);
    same.map(|same| pairs(same.iter().map(|e| u64::from(e.count)).sum())).sum()
}

/// Discordant pairs of a listed row and one of the rest, and tied pairs within the rest; `entries`
/// ascend in rank.
fn with_rest(entries: &[Entry], rows: &Rows, y: &Ranked) -> (u64, u64) {
    let listed: u64 = entries.iter().map(|e| u64::from(e.count)).sum();
    let (mut discordant, mut tied, mut before) = (0, y.ties.pairs, 0);
    for same in entries.chunk_by(|a, b| a.rank == b.rank) {
        let rank = same[0].rank as usize;
        let count = |negative: bool| -> u64 {
            same.iter().filter(|e| e.negative == negative).map(|e| u64::from(e.count)).sum()
        };
        let (negative, positive) = (count(true), count(false));
        let here = negative + positive;
        let below = y.below[rank] - before;
        let above = (rows.n - y.below[rank + 1]) - (listed - before - here);
        discordant += negative * below + positive * above;
        tied -= pairs(y.size(rank)) - pairs(y.size(rank) - here);
        before += here;
    }
    (discordant, tied)
}

/// Pairs out of order, by merging neighbouring runs until there is one.
fn inversions(entries: &mut Vec<Entry>, mut ends: Vec<usize>) -> u64 {
    let mut spare = Vec::with_capacity(entries.len());
    let mut found = 0;
    while ends.len() > 2 {
        spare.clear();
        let mut merged = vec![0];
        for run in ends.windows(3).step_by(2) {
            found += merge(&entries[run[0]..run[1]], &entries[run[1]..run[2]], &mut spare);
            merged.push(run[2]);
        }
        if ends.len().is_multiple_of(2) {
            let [from, to] = [ends[ends.len() - 2], ends[ends.len() - 1]];
            spare.extend_from_slice(&entries[from..to]);
            merged.push(to);
        }
        std::mem::swap(entries, &mut spare);
        ends = merged;
    }
    found
}

/// Merges two ascending lists; the pairs of which the left one is larger.
fn merge(left: &[Entry], right: &[Entry], out: &mut Vec<Entry>) -> u64 {
    let mut waiting: u64 = left.iter().map(|e| u64::from(e.count)).sum();
    let (mut at, mut found) = (0, 0);
    for entry in right {
        while at < left.len() && left[at].rank <= entry.rank {
            waiting -= u64::from(left[at].count);
            out.push(left[at]);
            at += 1;
        }
        found += u64::from(entry.count) * waiting;
        out.push(*entry);
    }
    out.extend_from_slice(&left[at..]);
    found
}
