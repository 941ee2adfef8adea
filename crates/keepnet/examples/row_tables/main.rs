//! The slides' regression and classification tables: published, reference and ours, with z.
//!
//! ```text
//! cargo run --release -p keepnet --example row_tables -- [regression|classification] [RUNS] [MAX_N]
//! ```
//!
//! `z` is ours minus the reference over the joint standard error, the reference's taken as our
//! spread over the square root of its runs. At most one cell in twenty may lie beyond 2 and none
//! beyond 3.5; cells of fewer than 4 reference runs are shown and not judged.

mod design;
mod published;

use design::{Design, K, P, auc, is_true, rmse};
use keepnet::learn::{
    AnnealedRidge, AnnealedRidgeParams, AveragesParams, Extract, Oalasso, OalassoParams, Oelnet,
    OelnetParams, Ofsa, OfsaParams, Olasso, OlassoParams, OlsParams, Olsth, Omcp, OmcpParams,
    RunningAverages,
};
use keepnet::registry::{self, MethodSpec};
use keepnet::{Budget, Result, RowBlock, RowLearner, RowProblem};
use published::Line;

/// Detection in percent and error (RMSE, or AUC) of one run.
type Score = (f64, f64);

fn extractor(name: &str) -> Result<Option<Box<dyn Extract>>> {
    let mcp = |gamma| Omcp::new(OmcpParams { gamma, ..OmcpParams::default() });
    Ok(Some(match name {
        "olasso" => Box::new(Olasso::new(OlassoParams::default())?),
        "olsth" => Box::new(Olsth::new(OlsParams { ridge: 1e-8 })?),
        "ofsa" => Box::new(Ofsa::new(OfsaParams { iterations: 10_000, ..OfsaParams::default() })?),
        "ofsa3000" => Box::new(Ofsa::new(OfsaParams::default())?),
        "oalasso" => Box::new(Oalasso::new(OalassoParams::default())?),
        "oelnet" => Box::new(Oelnet::new(OelnetParams::default())?),
        "omcp3" => Box::new(mcp(3.0)?),
        "omcp10" => Box::new(mcp(10.0)?),
        "annealed-ridge" => Box::new(AnnealedRidge::new(AnnealedRidgeParams::default())?),
        _ => return Ok(None),
    }))
}

fn rival(name: &str, classes: bool) -> Result<Box<dyn RowLearner>> {
    let problem = if classes { RowProblem::binary(P) } else { RowProblem::regression(P) };
    // The reference's SIHT has the published step; the others are shown tuned.
    let spec = match name {
        "siht" => MethodSpec::k(K).set("preset", "published"),
        _ => MethodSpec::k(K),
    };
    registry::make_rows(registry::find(name)?, &spec, &problem, Budget::unlimited())
}

/// One run: the data flow past once, every method is scored at the end.
fn run(methods: &[&str], line: &Line, classes: bool, seed: u64) -> Result<Vec<Score>> {
    let mut design = Design::new(line.beta, classes, seed);
    let count = if classes { 2 } else { 0 };
    // Where n = p least squares hangs on the last digits, so the small tables use f64 products.
    let params = AveragesParams { wide: line.n <= 3000, ..AveragesParams::default() };
    let mut averages = RunningAverages::new(P, count, params)?;
    let mut rivals = Vec::new();
    for name in methods {
        rivals.push(if extractor(name)?.is_none() { Some(rival(name, classes)?) } else { None });
    }
    let mut block = RowBlock::new(P, 1000);
    for _ in 0..line.n / 1000 {
        design.fill(1000, &mut block);
        averages.push(&block)?;
        rivals.iter_mut().flatten().try_for_each(|rival| rival.learn_block(&block))?;
    }
    let gram = averages.gram()?;
    design.fill(if classes { 4000 } else { 1 }, &mut block);
    let mut scores = Vec::new();
    for (name, rival) in methods.iter().zip(&rivals) {
        let (index, weight, intercept) = match rival {
            Some(rival) => {
                let s = rival.selection()?;
                let weight = s.selected.iter().map(|f| f.coefficient[0]).collect();
                (s.indices(), weight, s.intercept[0])
            }
            None => {
                let method = extractor(name)?.expect("no rival means an extractor");
                // The published OFSA of the classification reference has 3000 iterations.
                let method = match (*name, classes) {
                    ("ofsa", true) => extractor("ofsa3000")?.expect("named above"),
                    _ => method,
                };
                let set = method.choose(&gram, K)?;
                let model = gram.model(&set, &gram.refit(&set)?);
                let index: Vec<u64> = model.index.iter().map(|j| u64::from(*j)).collect();
                (index, model.weight[0].clone(), model.intercept[0])
            }
        };
        let hits = index.iter().filter(|j| is_true(**j as usize)).count();
        let error = match classes {
            false => rmse(line.beta, &index, &weight, intercept),
            true => {
                let mut w = vec![0.0; P];
                index.iter().zip(&weight).for_each(|(j, v)| w[*j as usize] = *v);
                let scores: Vec<f64> = block.rows().map(|x| x.dot(&w)).collect();
                auc(&scores, block.y())
            }
        };
        scores.push((100.0 * hits as f64 / K as f64, error));
    }
    Ok(scores)
}

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
        let (ours, spread, se) = summary(&column(|s| s.0));
        let (error, _, error_se) = summary(&column(|s| s.1));
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
        println!("\n== {name}, p {P}, k {K}; error is {error}");
        for line in lines.iter().filter(|line| line.n <= most) {
            let scores: Vec<Vec<Score>> =
                (0..runs).map(|seed| run(methods, line, classes, seed)).collect::<Result<_>>()?;
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
