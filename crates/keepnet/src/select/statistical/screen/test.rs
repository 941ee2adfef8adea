//! Which test a feature gets, and what it says.

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::mann_whitney::Law;
use super::profile::Profile;
use super::rows::{Classes, Ranked, Rows, Y};
use super::welch::Sample;
use super::{Sign, anova, chi2, correlation, fisher, kendall, ks, mann_whitney, spearman, welch};

/// A marginal test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Test {
    /// Fisher's exact test.
    Fisher,
    /// Mann-Whitney.
    MannWhitney,
    /// Kolmogorov-Smirnov.
    Ks,
    /// Kendall's tau-b.
    Kendall,
    /// Pearson's correlation.
    Pearson,
    /// Pearson's correlation by Fisher's z.
    FisherZ,
    /// Spearman's rank correlation.
    Spearman,
    /// Welch's t-test.
    Welch,
    /// Analysis of variance.
    Anova,
    /// Chi-squared of a table.
    Chi2,
    /// Likelihood ratio of a table.
    G2,
}

impl Test {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Fisher,
        Self::MannWhitney,
        Self::Ks,
        Self::Kendall,
        Self::Pearson,
        Self::FisherZ,
        Self::Spearman,
        Self::Welch,
        Self::Anova,
        Self::Chi2,
        Self::G2,
    ];

    /// The name in settings and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fisher => "fisher",
            Self::MannWhitney => "mann-whitney",
            Self::Ks => "ks",
            Self::Kendall => "kendall",
            Self::Pearson => "pearson",
            Self::FisherZ => "fisher-z",
            Self::Spearman => "spearman",
            Self::Welch => "welch",
            Self::Anova => "anova",
            Self::Chi2 => "chi2",
            Self::G2 => "g2",
        }
    }

    /// Whether it fits a target of classes, or of numbers, whatever the feature.
    pub(super) fn fits(self, classes: bool) -> bool {
        match self {
            Self::Fisher | Self::MannWhitney | Self::Anova | Self::Chi2 | Self::G2 => classes,
            Self::Kendall | Self::Spearman => !classes,
            Self::Ks | Self::Pearson | Self::FisherZ | Self::Welch => true,
        }
    }

    /// Whether it takes all classes at once, where there are more than two.
    fn joins_classes(self) -> bool {
        matches!(self, Self::Anova | Self::Chi2 | Self::G2)
    }
}

/// What a feature's test found.
pub(super) struct Found {
    /// The test.
    pub(super) test: Test,
    /// The statistic of the least p-value.
    pub(super) statistic: Option<f64>,
    /// The logarithm of p, of each class where each is a question.
    pub(super) log_p: SmallVec<[f64; 1]>,
    /// Whether the test's law is rough, as many expected counts are small.
    pub(super) thin: bool,
}

/// The test of a column; `asked` is `None` for the default. An error is why none fits.
pub(super) fn test(
    asked: Option<Test>,
    x: &Profile,
    rows: &Rows,
    laws: &[Law],
) -> Result<Found, String> {
    match &rows.y {
        Y::Numbers(y) => numbers(asked, x, rows, y),
        Y::Classes(classes) => {
            let table = x.table(rows).unwrap_or_default();
            classified(asked, x, (&table, classes), laws)
        }
    }
}

fn found(test: Test, sign: Sign) -> Found {
    let log_p = SmallVec::from_elem(sign.log_p, 1);
    Found { test, statistic: sign.statistic, log_p, thin: false }
}

fn numbers(asked: Option<Test>, x: &Profile, rows: &Rows, y: &Ranked) -> Result<Found, String> {
    let binary = x.len() == 2;
    let test = asked.unwrap_or(if binary { Test::Ks } else { Test::Kendall });
    let sign = match test {
        Test::Ks | Test::Welch if !binary => {
            return Err(format!(
                "it has {} values, and with a target of numbers {} compares two; choose `test=auto`, \
                 `test=kendall`, spearman or pearson",
                x.len(),
                test.name()
            ));
        }
        Test::Ks => split_ks(x, rows, y),
        Test::Welch => {
            if x.totals.iter().any(|total| *total < 2) {
                return Err("welch needs two rows of each value; raise `min-count`".into());
            }
            split_welch(x, rows, y)
        }
        Test::Spearman => spearman::test(x, rows, y),
        Test::Pearson => correlation::pearson(correlation::with_numbers(x, rows, y), rows.n),
        Test::FisherZ => correlation::fisher_z(correlation::with_numbers(x, rows, y), rows.n),
        _ => kendall::test(x, rows, y),
    };
    Ok(found(test, sign))
}

/// The place of the value whose rows are listed and few.
fn listed(x: &Profile) -> usize {
    match x.rest {
        Some(rest) => 1 - rest,
        None => usize::from(x.totals[1] < x.totals[0]),
    }
}

/// Kolmogorov-Smirnov on the target, between the two values of a column. The distance is largest
/// at a listed row or right below one.
fn split_ks(x: &Profile, rows: &Rows, y: &Ranked) -> Sign {
    let at = listed(x);
    let (n1, n0) = (x.totals[at], x.totals[1 - at]);
    let members = x.members(at);
    let (mut one, mut most) = (0, 0);
    let apart = |one: u64, below: u64| (one * n0).abs_diff((below - one) * n1);
    for same in members.chunk_by(|a, b| y.rank[*a as usize] == y.rank[*b as usize]) {
        let rank = y.rank[same[0] as usize] as usize;
        most = most.max(apart(one, y.below[rank]));
        one += same.iter().map(|row| rows.count(*row)).sum::<u64>();
        most = most.max(apart(one, y.below[rank + 1]));
    }
    ks::of_distance(most, (n1, n0))
}

/// Welch's test of the target, between the two values of a column.
fn split_welch(x: &Profile, rows: &Rows, y: &Ranked) -> Sign {
    let at = listed(x);
    let values = x.members(at).iter().map(|row| (y.centred[*row as usize], rows.count(*row)));
    let one = Sample::of(values.clone());
    // The target is centred: what one value has, the other lacks.
    let n = x.totals[1 - at];
    let mean = -(one.n as f64) * one.mean / n as f64;
    let own = one.square + one.n as f64 * one.mean * one.mean;
    let square = (y.square - own - n as f64 * mean * mean).max(0.0);
    let zero = Sample { n, mean, square };
    let (low, high) = if at == 0 { (one, zero) } else { (zero, one) };
    welch::test(high, low)
}

fn classified(
    asked: Option<Test>,
    x: &Profile,
    (table, classes): (&[u64], &Classes),
    laws: &[Law],
) -> Result<Found, String> {
    let many = classes.totals.len();
    let binary = x.len() == 2;
    let tabled = matches!(asked, Some(Test::Chi2 | Test::G2));
    if tabled && !x.is_coded() {
        return Err(format!(
            "chi2 and g2 need codes, at most {} whole numbers; choose `test=auto`",
            crate::data::compact::MOST_LEVELS
        ));
    }
    let test = match asked {
        Some(test) if tabled || (many > 2 && test.joins_classes()) => test,
        Some(Test::Fisher) if !binary => {
            let got = x.len();
            return Err(format!(
                "it has {got} values, and fisher compares two; choose `test=auto`"
            ));
        }
        // Rank tests are chosen for features of more values; on two Fisher's is exact.
        None | Some(Test::MannWhitney | Test::Ks) if binary => Test::Fisher,
        asked => asked.unwrap_or(Test::MannWhitney),
    };
    if tabled {
        let (sign, thin) = chi2::test(table, many, test == Test::G2);
        return Ok(Found { thin, ..found(test, sign) });
    }
    if test == Test::Anova {
        let samples: Vec<Sample> = (0..many)
            .filter(|class| classes.totals[*class] > 0)
            .map(|class| Sample::of(column(x, table, many, class)))
            .collect();
        return Ok(found(test, anova::test(&samples)));
    }
    let questions = if many == 2 { 1..2 } else { 0..many };
    let one = |class: usize| {
        let own = table.iter().skip(class).step_by(many);
        let counts = own.zip(&x.totals).map(|(one, total)| (*one, total - one));
        let n1 = classes.totals[class];
        let sizes = (n1, classes.totals.iter().sum::<u64>() - n1);
        if sizes.0 == 0 || sizes.1 == 0 {
            // A class without rows is no question.
            return Sign { statistic: None, log_p: 0.0 };
        }
        match test {
            Test::Fisher => {
                let pairs: Vec<(u64, u64)> = counts.collect();
                let [(a, b), (c, d)] = [pairs[1], pairs[0]];
                fisher::test([[a, b], [c, d]])
            }
            Test::Ks => ks::test(counts, sizes),
            Test::Welch => {
                let others = x.values.iter().copied().zip(counts.map(|(_, zero)| zero));
                welch::test(Sample::of(column(x, table, many, class)), Sample::of(others))
            }
            Test::Pearson => {
                correlation::pearson(correlation::with_class(x, counts, sizes), sizes.0 + sizes.1)
            }
            Test::FisherZ => {
                correlation::fisher_z(correlation::with_class(x, counts, sizes), sizes.0 + sizes.1)
            }
            _ => mann_whitney::test(counts, sizes, &laws[class]),
        }
    };
    let signs: SmallVec<[Sign; 1]> = questions.map(one).collect();
    let least = signs.iter().min_by(|a, b| a.log_p.total_cmp(&b.log_p));
    let statistic = least.and_then(|sign| sign.statistic);
    let log_p = signs.iter().map(|sign| sign.log_p).collect();
    Ok(Found { test, statistic, log_p, thin: false })
}

/// The values of one class, with their counts.
fn column<'a>(
    x: &'a Profile,
    table: &'a [u64],
    many: usize,
    class: usize,
) -> impl Iterator<Item = (f64, u64)> + Clone + 'a {
    x.values.iter().copied().zip(table.iter().skip(class).step_by(many).copied())
}
