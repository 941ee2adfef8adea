//! Regret against n of running averages and streaming rivals.
//!
//! ```text
//! R_n = mean over i of (y_i - f_i(x_i))^2  -  the least mean square of the true features on all n
//! ```
//!
//! with `f_i` the model before row `i`. Models are taken anew every 1,000 rows, and counting starts
//! at row 2,000, where least squares on 1,000 features is determined. The figure has curves only.

use keepnet::learn::{AveragesParams, RunningAverages};
use keepnet::registry::{self, MethodSpec};
use keepnet::{Budget, Result, RowBlock, RowLearner, RowProblem};
use keepnet_papers::design::{Design, P, is_true};
use keepnet_papers::rows::extractor;

use super::Figure;
use super::bench::{Bench, Published, Row};

/// The figure.
pub const FIGURE: Figure = Figure {
    name: "ra-regret",
    what: "running averages: regret against n for three signals, p 1000",
    repeats: 2,
    settings: &[],
    time: "the default (n to 20,000) takes 1 to 4 minutes, the slides' 20 repeats ten times that",
    remark: "Models are renewed every 1,000 rows and regret counts from row 2,000 on. The slides show curves without numbers: \
        what to look for is that regret falls with n for olsth and ofsa, like log^2(n)/n where the signal is strong enough.",
    run,
};

const METHODS: [&str; 4] = ["olsth", "ofsa3000", "sgd", "siht"];
const BLOCK: usize = 1000;
const SHOWN: [usize; 3] = [5_000, 10_000, 20_000];

fn run(bench: &mut Bench) -> Result<()> {
    for (panel, beta) in [("strong", 1.0), ("medium", 0.1), ("weak", 0.01)] {
        let repeats = bench.repeats;
        let means = bench.over_seeds(panel, repeats, |seed| regrets(beta, seed))?;
        for (place, (n, method)) in
            SHOWN.iter().flat_map(|n| METHODS.map(|method| (n, method))).enumerate()
        {
            bench.rows.push(Row {
                panel: format!("{panel}, beta = {beta}"),
                at: format!("n = {n}"),
                method: method.into(),
                metric: "regret",
                published: Published::None,
                ours: Some(means[place]),
                why: String::new(),
            });
        }
    }
    Ok(())
}

fn rival(name: &str) -> Result<Box<dyn RowLearner>> {
    // As in the tables: the rules on the design as it comes.
    let spec = MethodSpec::k(P / 10).set("standardise", false);
    registry::make_rows(
        registry::find(name)?,
        &spec,
        &RowProblem::regression(P),
        Budget::unlimited(),
    )
}

/// Regret of each method at each shown n.
fn regrets(beta: f64, seed: u64) -> Result<Vec<f64>> {
    let mut design = Design::new(P, beta, false, seed);
    let mut averages = RunningAverages::new(P, 0, AveragesParams::default())?;
    let mut rivals = [rival("sgd")?, rival("siht")?];
    let mut block = RowBlock::new(P, BLOCK);
    let truth: Vec<usize> = (0..P).filter(|j| is_true(*j)).collect();
    let (mut loss, mut counted, mut out) = ([0.0; 4], 0, Vec::new());
    for step in 1..=SHOWN[2] / BLOCK {
        design.fill(BLOCK, &mut block);
        if step > 2 {
            for (m, name) in METHODS.iter().enumerate() {
                loss[m] += match m {
                    0 | 1 => {
                        let gram = averages.gram()?;
                        let method = extractor(name)?.expect("an extraction");
                        let set = method.choose(&gram, P / 10)?;
                        let model = gram.model(&set, &gram.refit(&set)?);
                        squares(&block, |x, out| {
                            model.predict(x, out);
                            Ok(())
                        })?
                    }
                    _ => squares(&block, |x, out| rivals[m - 2].predict(x, out))?,
                };
            }
            counted += BLOCK;
        }
        averages.push(&block)?;
        rivals.iter_mut().try_for_each(|rival| rival.learn_block(&block))?;
        if SHOWN.contains(&(step * BLOCK)) {
            let gram = averages.gram()?;
            let least = gram.rss(&truth, &gram.refit(&truth)?);
            out.extend(loss.map(|loss| loss / counted as f64 - least));
        }
    }
    Ok(out)
}

fn squares(
    block: &RowBlock,
    predict: impl Fn(keepnet::Row<'_>, &mut [f64]) -> Result<()>,
) -> Result<f64> {
    let (mut out, mut sum) = ([0.0], 0.0);
    for (x, y) in block.rows().zip(block.y()) {
        predict(x, &mut out)?;
        sum += (y - out[0]) * (y - out[0]);
    }
    Ok(sum)
}
