//! Where a node is cut, if anywhere.

use super::Data;

/// Smaller differences of gains are rounding, as in J48.
const SLACK: f64 = 1e-6;
/// How far below the average gain a column may be and still be chosen by its ratio.
const BELOW_AVERAGE: f64 = 1e-3;

struct Candidate {
    at: f64,
    gain: f64,
    ratio: f64,
}

/// Column and threshold of the best cut; `None` makes a leaf.
pub(super) fn best(
    data: &Data<'_>,
    rows: &[u32],
    counts: &[f64],
    leaf: usize,
) -> Option<(usize, f64)> {
    let n = rows.len() as f64;
    let pure = counts.iter().any(|count| *count >= n);
    if pure || rows.len() < 2 * leaf {
        return None;
    }
    let tenth = 0.1 * n / data.classes as f64;
    let least = if tenth <= leaf as f64 { leaf as f64 } else { tenth.min(25.0) };
    let found: Vec<(usize, Candidate)> = (0..data.x.columns())
        .filter_map(|column| Some((column, along(data, rows, counts, column, least)?)))
        .collect();
    let average = found.iter().map(|(_, c)| c.gain).sum::<f64>() / found.len().max(1) as f64;
    let mut best: Option<&(usize, Candidate)> = None;
    for one in found.iter().filter(|(_, c)| c.gain >= average - BELOW_AVERAGE) {
        if one.1.ratio > best.map_or(0.0, |best| best.1.ratio) + SLACK {
            best = Some(one);
        }
    }
    best.map(|(column, candidate)| (*column, actual(data, *column, candidate.at)))
}

/// The largest value in all rows that is not above the middle: what C4.5 compares with.
fn actual(data: &Data<'_>, column: usize, middle: f64) -> f64 {
    let values = (0..data.x.rows()).map(|row| data.x.at(row, column));
    values.filter(|value| *value <= middle).fold(f64::NEG_INFINITY, f64::max)
}

/// `c log2 c`.
fn g(count: f64) -> f64 {
    if count > 0.0 { count * count.log2() } else { 0.0 }
}

fn sum_g(counts: &[f64]) -> f64 {
    counts.iter().map(|count| g(*count)).sum()
}

/// The best cut along one column.
fn along(
    data: &Data<'_>,
    rows: &[u32],
    counts: &[f64],
    column: usize,
    least: f64,
) -> Option<Candidate> {
    let value = |row: u32| data.x.at(row as usize, column);
    let mut order = rows.to_vec();
    order.sort_by(|a, b| value(*a).total_cmp(&value(*b)));
    let n = rows.len() as f64;
    let before = g(n) - sum_g(counts);
    let (mut low, mut high) = (vec![0.0; counts.len()], counts.to_vec());
    let (mut tried, mut gain, mut place) = (0u32, 0.0, 0);
    for next in 1..order.len() {
        let class = data.codes[order[next - 1] as usize] as usize;
        low[class] += 1.0;
        high[class] -= 1.0;
        let (a, b) = (next as f64, n - next as f64);
        if value(order[next - 1]) >= value(order[next]) || a < least || b < least {
            continue;
        }
        let after = g(a) - sum_g(&low) + g(b) - sum_g(&high);
        let here = (before - after) / n;
        if here > gain + SLACK {
            (gain, place) = (here, next);
        }
        tried += 1;
    }
    if tried == 0 || place == 0 {
        return None;
    }
    let gain = gain - f64::from(tried).log2() / n;
    if gain <= SLACK {
        return None;
    }
    let (a, b) = (place as f64, n - place as f64);
    let ratio = gain / ((g(n) - g(a) - g(b)) / n);
    let (left, right) = (value(order[place - 1]), value(order[place]));
    let middle = 0.5 * (left + right);
    Some(Candidate { at: if middle >= right { left } else { middle }, gain, ratio })
}
