//! Ranks with ties shared.

/// The rank of each value, the smallest 1; equal values share the mean of their ranks.
#[must_use]
pub fn average_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
        // Places before + 1 to before + length have this mean.
        let rank = before as f64 + (group.len() as f64 + 1.0) / 2.0;
        group.iter().for_each(|at| ranks[*at] = rank);
        before += group.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(average_ranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(average_ranks(&[0.0, -0.0]), [1.5, 1.5]);
    }
}
