//! The law of the one-sample Kolmogorov-Smirnov distance, `P(D_n >= d)`, as a logarithm.
//!
//! ```text
//! n d^2 large     2 P(D+ >= d),  P(D+ >= d) = d sum_j C(n, j) (d + j/n)^(j-1) (1 - d - j/n)^(n-j)
//! n <= 140        1 - (n! / n^n) (H^n)_kk         Marsaglia, Tsang, Wang, J. Stat. Software 8 (2003)
//! otherwise       1 - K0 - K1 / n^1/2 - K2 / n - K3 / n^3/2     Pelz and Good, JRSS-B 38 (1976)
//! ```
//!
//! The three meet where SciPy's `kstwo` changes from one to the other (Simard and L'Ecuyer, J.
//! Stat. Software 39, 2011).

use std::f64::consts::PI;

use super::fisher::ln_choose;

const FEW: f64 = 140.0;

/// `ln P(D_n >= d)`.
pub(super) fn ln_tail(n: f64, d: f64) -> f64 {
    let square = n * d * d;
    if n * d <= 0.5 {
        return 0.0;
    }
    if square >= if n <= FEW { 4.0 } else { 2.2 } || d >= 0.5 {
        return (std::f64::consts::LN_2 + ln_one_sided(n, d)).min(0.0);
    }
    let below = if n <= FEW { matrix_power(n as usize, d) } else { pelz_good(n, d) };
    (-below.clamp(0.0, 1.0)).ln_1p()
}

/// `ln P(D+ >= d)`.
fn ln_one_sided(n: f64, d: f64) -> f64 {
    if d >= 1.0 {
        return f64::NEG_INFINITY;
    }
    let term = |j: f64| {
        let (up, down) = (d + j / n, 1.0 - d - j / n);
        let rest = if n == j { 0.0 } else { (n - j) * down.max(0.0).ln() };
        ln_choose(n as u64, j as u64) + (j - 1.0) * up.ln() + rest
    };
    let last = (n * (1.0 - d)).floor();
    let terms = || (0..=last as u64).map(|j| term(j as f64)).filter(|term| term.is_finite());
    let most = terms().fold(f64::NEG_INFINITY, f64::max);
    d.ln() + most + terms().map(|term| (term - most).exp()).sum::<f64>().ln()
}

/// `P(D_n < d)` by a power of the matrix of the paths between the bounds.
fn matrix_power(n: usize, d: f64) -> f64 {
    let k = (n as f64 * d).ceil() as usize;
    let (size, h) = (2 * k - 1, k as f64 - n as f64 * d);
    let mut start = vec![vec![0.0; size]; size];
    for (i, row) in start.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate().take((i + 2).min(size)) {
            *cell = f64::from(u8::from(i + 1 >= j));
        }
    }
    for i in 0..size {
        start[i][0] -= h.powi(i as i32 + 1);
        start[size - 1][i] -= h.powi((size - i) as i32);
    }
    start[size - 1][0] += if 2.0 * h > 1.0 { (2.0 * h - 1.0).powi(size as i32) } else { 0.0 };
    for (i, row) in start.iter_mut().enumerate() {
        for (j, cell) in row.iter_mut().enumerate() {
            (1..=(i + 1).saturating_sub(j)).for_each(|g| *cell /= g as f64);
        }
    }
    // A row of the power is all that is needed; n! / n^n goes in step by step.
    let mut row = vec![0.0; size];
    row[k - 1] = 1.0;
    for step in 1..=n {
        let share = step as f64 / n as f64;
        let next = (0..size).map(|j| share * (0..size).map(|i| row[i] * start[i][j]).sum::<f64>());
        row = next.collect();
    }
    row[k - 1]
}

/// `P(D_n < d)` by the expansion to `n^(-3/2)`.
fn pelz_good(n: f64, d: f64) -> f64 {
    let z = n.sqrt() * d;
    let (z2, z4, z6) = (z * z, z.powi(4), z.powi(6));
    let half_pi = (0.5 * PI).sqrt();
    let mut k = [0.0; 4];
    // Sums over all whole numbers are twice those over half of them.
    for at in (0..200).rev() {
        let half = PI * (f64::from(at) + 0.5);
        let (h2, weight) = (half * half, (-half * half / (2.0 * z2)).exp());
        k[0] += 2.0 * weight;
        k[1] += 2.0 * (h2 - z2) * weight;
        k[2] += 2.0
            * weight
            * (6.0 * z6 + 2.0 * z4 + h2 * (2.0 * z4 - 5.0 * z2) + h2 * h2 * (1.0 - 2.0 * z2));
        k[3] += 2.0
            * weight
            * (h2.powi(3) * (5.0 - 30.0 * z2)
                + h2 * h2 * (-60.0 * z2 + 212.0 * z4)
                + h2 * (135.0 * z4 - 96.0 * z6)
                - (30.0 * z6 + 90.0 * z4 * z4));
    }
    let (mut second, mut third) = (0.0, 0.0);
    for at in (1..200).rev() {
        let whole = PI * f64::from(at);
        let (w2, weight) = (whole * whole, (-whole * whole / (2.0 * z2)).exp());
        second += 2.0 * w2 * weight;
        third += 2.0 * (3.0 * w2 * z2 - w2 * w2) * weight;
    }
    let k0 = half_pi / z * k[0];
    let k1 = half_pi / (6.0 * z4) * k[1];
    let k2 = half_pi * (k[2] / (72.0 * z.powi(7)) - second / (36.0 * z.powi(3)));
    let k3 = half_pi * (k[3] / (6480.0 * z.powi(10)) + third / (216.0 * z6));
    k0 + (k1 + (k2 + k3 / n.sqrt()) / n.sqrt()) / n.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// scipy.stats.kstwo.sf(d, n), SciPy 1.17.
    #[test]
    fn the_law_is_that_of_scipy() {
        for (n, d, want) in [
            (20.0, 0.1, 0.976255094592155),
            (20.0, 0.2, 0.352720173623415),
            (20.0, 0.5, 3.787595240539032e-05),
            (100.0, 0.05, 0.9532159710635725),
            (100.0, 0.1, 0.2526927570063874),
            (100.0, 0.15, 0.019839242125643017),
            (140.0, 0.16, 0.001344016324418744),
            (140.0, 0.2, 2.1981563302200222e-05),
            (1000.0, 0.02, 0.8108971656895577),
            (1000.0, 0.03, 0.3226902143914636),
            (1000.0, 0.04, 0.07933956059000224),
            (1000.0, 0.046, 0.02813926237876274),
            (1000.0, 0.05, 0.013012074781090332),
            (1000.0, 0.1, 3.703687096817711e-09),
            (50000.0, 0.003, 0.7579000443487147),
            (50000.0, 0.0065, 0.029123491051929684),
            (50000.0, 0.007, 0.014823357590770293),
            (50000.0, 0.03, 1.5783051787103078e-39),
            (3.0, 0.4, 0.5946666666666665),
        ] {
            let got = ln_tail(n, d).exp();
            assert!((got / want - 1.0).abs() < 1e-9, "{n} {d}: {got} {want}");
        }
    }
}
