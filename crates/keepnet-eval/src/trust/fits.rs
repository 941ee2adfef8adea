//! Unpenalised fits with standard errors, on rows that did not choose the columns.
//!
//! ```text
//! numbers   b = (Z'Z)^-1 Z'y,  s^2 = RSS / (n - d),  se_j = s sqrt((Z'Z)^-1_jj),  t on n - d df
//! classes   logistic maximum likelihood by Newton, se from the inverse information, Wald z
//! ```
//!
//! `Z` has an intercept. Columns are centred and scaled for the fit, which changes no test, and
//! coefficients are given on the original scale. Cost O(n d^2) a step.

use keepnet::{Error, Result};
use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc;

use super::qr::{Depends, Qr};

/// Newton ends where a step is below this.
const STEP: f64 = 1e-10;
/// Rounds of Newton at most. Classes that overlap take about ten; where a part of the rows is
/// separated each round moves a margin by about one, without end.
const ROUNDS: usize = 50;

/// A fitted coefficient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The coefficient on the original scale.
    pub value: f64,
    /// Its standard error.
    pub std_error: f64,
    /// Two-sided p-value of the hypothesis that it is 0.
    pub p_value: f64,
    /// The interval at the level that was asked for.
    pub interval: [f64; 2],
}

/// A column with its name.
pub struct Named {
    /// The name in messages.
    pub name: String,
    /// A value a row.
    pub values: Vec<f64>,
}

/// Columns ready for a fit: centred, of unit mean square.
struct Scaled {
    columns: Vec<Vec<f64>>,
    scale: Vec<f64>,
}

fn scaled(columns: &[Named]) -> Result<Scaled> {
    let mut out = Scaled { columns: Vec::new(), scale: Vec::new() };
    for column in columns {
        let n = column.values.len() as f64;
        let first = column.values[0];
        let mean = column.values.iter().map(|x| x - first).sum::<f64>() / n;
        let centred: Vec<f64> = column.values.iter().map(|x| (x - first) - mean).collect();
        let scale = (centred.iter().map(|x| x * x).sum::<f64>() / n).sqrt();
        if scale == 0.0 {
            return Err(depends(&column.name));
        }
        out.columns.push(centred.into_iter().map(|x| x / scale).collect());
        out.scale.push(scale);
    }
    Ok(out)
}

fn depends(name: &str) -> Error {
    Error::Data(format!(
        "feature {name:?} depends on the others on the rows for inference, so its coefficient \
         cannot be estimated; lower `k`, or set aside more rows"
    ))
}

/// `P(|T| > |t|)` of Student's t with `df` degrees of freedom.
#[must_use]
pub fn student_tails(t: f64, df: f64) -> f64 {
    beta_reg(0.5 * df, 0.5, df / (df + t * t))
}

/// `P(|Z| > |z|)` of the normal law.
#[must_use]
pub fn normal_tails(z: f64) -> f64 {
    erfc(z.abs() / 2f64.sqrt())
}

/// Where the two tails have this probability.
fn quantile(tails: impl Fn(f64) -> f64, level: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while tails(high) > level {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if tails(middle) > level { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

fn estimates(
    b: &[f64],
    se: &[f64],
    scale: &[f64],
    (tails, half): (impl Fn(f64) -> f64, f64),
) -> Vec<Estimate> {
    let one = |((b, se), scale): ((&f64, &f64), &f64)| {
        let (value, std_error) = (b / scale, se / scale);
        let interval = [value - half * std_error, value + half * std_error];
        Estimate { value, std_error, p_value: tails(b / se), interval }
    };
    b.iter().zip(se).zip(scale).map(one).collect()
}

/// Least squares of `y` on an intercept and these columns; intervals at `1 - level`.
pub fn least_squares(columns: &[Named], y: &[f64], level: f64) -> Result<(Vec<Estimate>, f64)> {
    let (n, d) = (y.len(), columns.len() + 1);
    let Scaled { columns: z, scale } = scaled(columns)?;
    let first = y[0];
    let mean = y.iter().map(|y| y - first).sum::<f64>() / n as f64;
    let y: Vec<f64> = y.iter().map(|y| (y - first) - mean).collect();
    let rows: Vec<Vec<f64>> = z.clone();
    let qr = Qr::new(z).map_err(|Depends(at)| depends(&columns[at].name))?;
    let b = qr.solve(&y);
    let mut rest = y;
    for (b, z) in b.iter().zip(&rows) {
        rest.iter_mut().zip(z).for_each(|(r, z)| *r -= b * z);
    }
    let df = (n - d) as f64;
    let s = (rest.iter().map(|r| r * r).sum::<f64>() / df).sqrt();
    if s == 0.0 {
        return Err(Error::Data("the features fit the rows for inference exactly".into()));
    }
    let se: Vec<f64> = qr.inverse_diagonal().iter().map(|v| s * v.sqrt()).collect();
    let tails = |t: f64| student_tails(t, df);
    Ok((estimates(&b, &se, &scale, (tails, quantile(tails, level))), df))
}

/// Logistic regression of `y`, -1 or 1, on an intercept and these columns, with a constant added to
/// each margin; intervals at `1 - level`.
pub fn logistic(
    columns: &[Named],
    y: &[f64],
    offset: Option<&[f64]>,
    level: f64,
) -> Result<Vec<Estimate>> {
    let n = y.len();
    let Scaled { columns: mut z, scale } = scaled(columns)?;
    z.insert(0, vec![1.0; n]);
    let mut b = vec![0.0; z.len()];
    for _ in 0..ROUNDS {
        let margins = margins(&z, &b, offset);
        if margins.iter().zip(y).all(|(u, y)| u * y > 0.0) {
            break;
        }
        // Weighted least squares of the working response, whose step is Newton's.
        let root = |u: &f64| (-0.5 * u.abs()).exp() / (1.0 + (-u.abs()).exp());
        let root: Vec<f64> = margins.iter().map(root).collect();
        let weigh = |z: &Vec<f64>| z.iter().zip(&root).map(|(z, w)| z * w).collect();
        let name = |at: usize| at.checked_sub(1).map_or("the intercept", |at| &columns[at].name);
        let qr = Qr::new(z.iter().map(weigh).collect()).map_err(|Depends(at)| depends(name(at)))?;
        let short = |i: usize| y[i] / (1.0 + (y[i] * margins[i]).exp()) / root[i];
        let step = qr.solve(&(0..n).map(short).collect::<Vec<f64>>());
        b.iter_mut().zip(&step).for_each(|(b, step)| *b += step);
        if step.iter().all(|step| step.abs() < STEP) {
            let se: Vec<f64> = qr.inverse_diagonal().iter().map(|v| v.sqrt()).collect();
            let half = quantile(normal_tails, level);
            return Ok(estimates(&b[1..], &se[1..], &scale, (normal_tails, half)));
        }
    }
    let strongest = (1..b.len()).max_by(|i, j| b[*i].abs().total_cmp(&b[*j].abs()));
    let name = strongest.map_or("the intercept", |at| &columns[at - 1].name);
    Err(Error::Data(format!(
        "the classes are separated on the rows for inference, most by feature {name:?}, so no \
         coefficient can be estimated; lower `k`, or set aside more rows"
    )))
}

fn margins(z: &[Vec<f64>], b: &[f64], offset: Option<&[f64]>) -> Vec<f64> {
    let mut u = offset.map_or_else(|| vec![0.0; z[0].len()], <[f64]>::to_vec);
    for (b, z) in b.iter().zip(z) {
        u.iter_mut().zip(z).for_each(|(u, z)| *u += b * z);
    }
    u
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, values: &[f64]) -> Named {
        Named { name: name.into(), values: values.to_vec() }
    }

    /// Anscombe's first set: slope 0.500091, se 0.117906, t 4.241 on 9 df, p 0.00217.
    #[test]
    fn anscombe_has_the_published_slope() {
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let (fit, df) = least_squares(&[column("x", &x)], &y, 0.05).unwrap();
        assert_eq!(df, 9.0);
        assert!((fit[0].value - 0.500_090_909_090_909).abs() < 1e-12);
        assert!((fit[0].std_error - 0.117_905_5).abs() < 1e-7);
        assert!((fit[0].p_value - 0.002_169_63).abs() < 1e-8);
        // t(0.975, 9) = 2.262157.
        let half = (fit[0].interval[1] - fit[0].interval[0]) / 2.0 / fit[0].std_error;
        assert!((half - 2.262_157).abs() < 1e-6);
    }

    #[test]
    fn copies_and_separated_classes_are_named() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let two = [column("a", &x), column("b", &x.map(|x| 3.0 - 2.0 * x))];
        let error = least_squares(&two, &[1.0, 0.0, 2.0, 1.0, 3.0, 5.0], 0.05).unwrap_err();
        assert!(error.to_string().contains("\"b\" depends"), "{error}");
        let y = [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
        let error = logistic(&[column("a", &x)], &y, None, 0.05).unwrap_err();
        assert!(error.to_string().contains("separated"), "{error}");
    }

    /// One binary column: the coefficient is the log odds ratio, its variance the sum of the
    /// reciprocals of the four counts (3, 7 and 6, 4).
    #[test]
    fn a_two_by_two_table_has_its_log_odds_ratio() {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (value, class, count) in [(0.0, 1.0, 3), (0.0, -1.0, 7), (1.0, 1.0, 6), (1.0, -1.0, 4)]
        {
            x.extend(vec![value; count]);
            y.extend(vec![class; count]);
        }
        let fit = logistic(&[column("x", &x)], &y, None, 0.05).unwrap()[0];
        let odds: f64 = (6.0 / 4.0) / (3.0 / 7.0);
        assert!((fit.value - odds.ln()).abs() < 1e-10, "{fit:?}");
        let se = (1.0 / 3.0 + 1.0 / 7.0 + 1.0 / 6.0 + 1.0 / 4.0f64).sqrt();
        assert!((fit.std_error - se).abs() < 1e-9);
    }
}
