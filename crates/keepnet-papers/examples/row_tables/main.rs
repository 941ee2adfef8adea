//! The slides' regression and classification tables: published, reference and ours, with z.
//!
//! ```text
//! cargo run --release -p keepnet-papers --example row_tables -- [regression|classification] [RUNS] [MAX_N]
//! ```
//!
//! A row of at most 10,000 samples is run with four times RUNS seeds (10 unless given), a longer one,
//! which takes minutes, with RUNS: decided by what a run costs, for all rows alike.
//!
//! `z` is ours minus the reference over the joint standard error, the reference's taken as our
//! spread over the square root of its runs. At most one cell in twenty may lie beyond 2 and none
//! beyond 3.5; cells of fewer than 4 reference runs are shown and not judged.

use keepnet::Result;
use keepnet_papers::design::P;
use keepnet_papers::published::{self, Line};
use keepnet_papers::rows::{Score, Setting, run};

/// Samples up to which a row is run with four times as many seeds.
const SHORT: usize = 10_000;

/// Mean, spread of one run, standard error.
fn summary(values: &[f64]) -> (f64, f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let spread =
        (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    (mean, spread, spread / n.sqrt())
}

/// Cells judged, beyond 2, beyond 3.5.
#[derive(Default)]
struct Verdict(usize, usize, usize);

fn show(line: &Line, methods: &[&str], runs: &[Vec<Score>], verdict: &mut Verdict) {
    println!("\nn {} beta {} ({} runs; reference {})", line.n, line.beta, runs.len(), line.runs);
    println!("{:>16} {:>40} {:>34}", "", "detection %", "error");
    println!(
        "{:>16} {:>9} {:>9} {:>14} {:>6} {:>9} {:>9} {:>14}",
        "method", "published", "reference", "ours (se)", "z", "published", "reference", "ours (se)"
    );
    for (at, name) in methods.iter().enumerate() {
        let column = |pick: fn(&Score) -> f64| -> Vec<f64> {
            runs.iter().map(|scores| pick(&scores[at])).collect()
        };
        let (ours, spread, se) = summary(&column(|s| s.detection));
        let (error, _, error_se) = summary(&column(|s| s.error));
        let (published, reference) = line.detection[at];
        // A reference given to a tenth of a point cannot be known better than that.
        let joint = (se * se + spread * spread / line.runs as f64 + 0.05f64.powi(2)).sqrt();
        let z = (ours - reference) / joint;
        let judged = line.runs >= 4 && !reference.is_nan();
        if judged {
            verdict.0 += 1;
            verdict.1 += usize::from(z.abs() > 2.0);
            verdict.2 += usize::from(z.abs() > 3.5);
        }
        let mark = if judged { format!("{z:6.1}") } else { format!("{:>6}", "-") };
        let number = |v: f64| if v.is_nan() { "-".into() } else { format!("{v:.4}") };
        println!(
            "{name:>16} {:>9} {:>9} {ours:8.2} ({se:4.2}) {mark} {:>9} {:>9} {error:8.4} ({error_se:.3})",
            number(published).trim_end_matches('0'),
            number(reference).trim_end_matches('0'),
            number(line.error[at].0),
            number(line.error[at].1),
        );
    }
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let which = args.first().map_or("both", String::as_str);
    let runs: u64 = args.get(1).and_then(|a| a.parse().ok()).unwrap_or(10);
    let most: usize = args.get(2).and_then(|a| a.parse().ok()).unwrap_or(usize::MAX);
    let mut verdict = Verdict::default();
    let tables: [(&str, &[&str; 10], &[Line], bool); 2] = [
        ("regression", &published::REGRESSION, &published::REGRESSION_LINES, false),
        ("classification", &published::CLASSIFICATION, &published::CLASSIFICATION_LINES, true),
    ];
    for (name, methods, lines, classes) in tables {
        if which != "both" && which != name {
            continue;
        }
        let error = if classes { "AUC on 4000 rows" } else { "RMSE, exact" };
        println!("\n== {name}, p {P}, k {}; error is {error}", P / 10);
        for line in lines.iter().filter(|line| line.n <= most) {
            let setting = Setting { p: P, n: line.n, beta: line.beta, classes };
            let seeds = if line.n <= SHORT { 4 * runs } else { runs };
            let scores: Vec<Vec<Score>> =
                (0..seeds).map(|seed| Ok(run(methods, setting, seed)?.0)).collect::<Result<_>>()?;
            show(line, methods, &scores, &mut verdict);
        }
    }
    let Verdict(cells, two, three) = verdict;
    println!(
        "\ncells judged {cells}, beyond 2: {two} (allowed {}), beyond 3.5: {three}",
        cells / 20
    );
    println!("published cells that are not reproducible:");
    published::NOT_REPRODUCIBLE.iter().for_each(|why| println!("  {why}"));
    Ok(())
}
