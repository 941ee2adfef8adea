//! The rows that two sorted index lists share.

/// Lists whose lengths differ by more than this factor are searched and not merged.
const SKEWED: usize = 16;

/// Calls `f` with the positions in `a` and `b` of every row that both contain, in row order.
///
/// Costs the sum of the lengths, or one search per entry of a much shorter list.
pub fn shared_rows(a: &[u32], b: &[u32], mut f: impl FnMut(usize, usize)) {
    if a.len() > SKEWED * b.len() {
        search(b, a, |at_b, at_a| f(at_a, at_b));
    } else if b.len() > SKEWED * a.len() {
        search(a, b, f);
    } else {
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i], b[j]);
            if x == y {
                f(i, j);
            }
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
}

fn search(short: &[u32], long: &[u32], mut f: impl FnMut(usize, usize)) {
    let mut from = 0;
    for (i, row) in short.iter().enumerate() {
        from += long[from..].partition_point(|r| r < row);
        if long.get(from) == Some(row) {
            f(i, from);
        }
    }
}

/// Whether a bit is set.
#[inline]
#[must_use]
pub fn bit(words: &[u64], row: usize) -> bool {
    words[row / 64] >> (row % 64) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_rows_are_the_intersection_for_every_skew() {
        let long: Vec<u32> = (0..300).map(|i| 3 * i).collect();
        for b in [vec![], vec![7, 9, 12], (0..450).map(|i| 2 * i).collect(), vec![897, 900]] {
            let mut got = Vec::new();
            shared_rows(&long, &b, |i, j| got.push((long[i], b[j])));
            let mut swapped = Vec::new();
            shared_rows(&b, &long, |j, i| swapped.push((long[i], b[j])));
            let want: Vec<(u32, u32)> =
                long.iter().filter(|r| b.contains(r)).map(|r| (*r, *r)).collect();
            assert_eq!(got, want);
            assert_eq!(swapped, want);
        }
    }
}
