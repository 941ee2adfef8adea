//! Entropies of counts, in fixed point, so that the order of summation changes no digit.
//!
//! With counts `c` that sum to `n` the entropy in bits is
//!
//! ```text
//! H = log2 n - (1/n) sum c log2 c
//! I(X;Y) = H(X) + H(Y) - H(X,Y) = (1/n) (g(n) + sum g(c_xy) - sum g(c_x) - sum g(c_y))
//! ```
//!
//! with `g(c) = c log2 c`. `g` is rounded once to a multiple of 2^-44 and summed as an integer; the
//! multiple is coarser from some thousand rows on, so that no sum overflows. So a relabelled copy
//! of a column has the same digits, `I(X;X)` is `H(X)` to the last bit, and a sum within rounding
//! of 0 can be told from others. Cost: one table look-up per cell, no logarithm. Memory: 8 n bytes.

/// Binary digits after the point, where there is room for them.
const FINEST: i32 = 44;

/// The table of `g(c)` for `c` up to `n`.
#[derive(Clone, Debug)]
pub struct Entropies {
    g: Vec<u64>,
    n: usize,
    unit: f64,
    // Error of the logarithms themselves, in units.
    noise: u64,
}

impl Entropies {
    /// The table for counts up to `n`.
    #[must_use]
    pub fn new(n: usize) -> Self {
        let g = |c: usize| if c < 2 { 0.0 } else { c as f64 * (c as f64).log2() };
        // Twice g(n) must stay below 2^63.
        let room = 61 - (g(n).max(1.0).log2().ceil() as i32);
        let unit = f64::from(room.min(FINEST)).exp2();
        let noise = (4.0 * g(n) * f64::EPSILON * unit).ceil() as u64;
        Self { g: (0..=n).map(|c| (g(c) * unit).round() as u64).collect(), n, unit, noise }
    }

    /// Rows in all.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.n
    }

    /// `c log2 c` in units.
    #[inline]
    #[must_use]
    pub fn g(&self, c: u32) -> u64 {
        self.g[c as usize]
    }

    /// `sum g(c)`.
    #[must_use]
    pub fn sum(&self, counts: &[u32]) -> u64 {
        counts.iter().map(|c| self.g(*c)).sum()
    }

    /// `n H` in units, from the sum of `g` over the counts.
    #[must_use]
    pub fn entropy(&self, sum: u64) -> u64 {
        self.g[self.n].saturating_sub(sum)
    }

    /// `n I` in units; `terms` is how many rounded terms went into the three sums.
    ///
    /// A result within rounding of 0 is exactly 0, so independent columns have 0.
    #[must_use]
    pub fn mutual(&self, joint: u64, a: u64, b: u64, terms: usize) -> u64 {
        let information = (self.g[self.n] + joint).saturating_sub(a + b);
        if information <= self.rounding(terms) { 0 } else { information }
    }

    /// Error of a sum of `terms` terms, in units.
    #[must_use]
    pub fn rounding(&self, terms: usize) -> u64 {
        (terms as u64 + 1).div_ceil(2) + self.noise
    }

    /// Bits from `n` times bits in units.
    #[must_use]
    pub fn bits(&self, units: u64) -> f64 {
        units as f64 / (self.unit * self.n as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropies_worked_by_hand() {
        let e = Entropies::new(8);
        // Four equal quarters are two bits; (1/2, 1/4, 1/4) are 1.5 bits.
        assert_eq!(e.bits(e.entropy(e.sum(&[2, 2, 2, 2]))), 2.0);
        assert_eq!(e.bits(e.entropy(e.sum(&[4, 2, 2]))), 1.5);
        assert_eq!(e.entropy(e.sum(&[8, 0])), 0);
    }

    #[test]
    fn independence_is_exactly_zero() {
        // Rows 3 of 9 and columns 3 of 9, independent: cells 1, 2, 2, 4; no power of two in 9.
        let e = Entropies::new(9);
        let (a, joint) = (e.sum(&[3, 6]), e.sum(&[1, 2, 2, 4]));
        assert_eq!(e.mutual(joint, a, a, 9), 0);
    }
}
