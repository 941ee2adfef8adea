//! Running averages and their rivals on the slides' design: one pass, every method scored at
//! the end.

use std::time::Instant;

use super::design::{Design, auc, is_true, rmse};
use keepnet::learn::{
    AnnealedRidge, AnnealedRidgeParams, AveragesParams, Extract, Oalasso, OalassoParams, Oelnet,
    OelnetParams, Ofsa, OfsaParams, Olasso, OlassoParams, OlsParams, Olsth, Omcp, OmcpParams,
    RunningAverages,
};
use keepnet::registry::{self, MethodSpec};
use keepnet::{Budget, Result, RowBlock, RowLearner, RowProblem};

/// What one run gave for one method.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    /// True features found, in percent.
    pub detection: f64,
    /// Exact RMSE on fresh rows, or AUC on 4,000 fresh rows.
    pub error: f64,
    /// Seconds of extraction, or of learning for a streaming rival.
    pub seconds: f64,
}

/// One row of a table: the design and its size.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Features, a tenth of them true.
    pub p: usize,
    /// Rows.
    pub n: usize,
    /// Signal.
    pub beta: f64,
    /// Two classes by sign, and not a number.
    pub classes: bool,
}

/// The extraction that a table calls by this name; `None` for a streaming rival.
pub fn extractor(name: &str) -> Result<Option<Box<dyn Extract>>> {
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

fn rival(name: &str, p: usize, classes: bool) -> Result<Box<dyn RowLearner>> {
    let problem = if classes { RowProblem::binary(p) } else { RowProblem::regression(p) };
    // The tables are of the rules on the design as it comes, all features of one scale; the
    // reference's SIHT has the published step, the others are shown tuned.
    let spec = match name {
        "siht" => MethodSpec::k(p / 10).set("preset", "published"),
        _ => MethodSpec::k(p / 10),
    };
    let spec = spec.set("standardise", false);
    registry::make_rows(registry::find(name)?, &spec, &problem, Budget::unlimited())
}

/// One run: the scores of `methods`, and the seconds of the running averages.
pub fn run(methods: &[&str], setting: Setting, seed: u64) -> Result<(Vec<Score>, f64)> {
    let Setting { p, n, beta, classes } = setting;
    let mut design = Design::new(p, beta, classes, seed);
    let count = if classes { 2 } else { 0 };
    // Where n is near p least squares hangs on the last digits, so such tables use f64 products.
    let params = AveragesParams { f64_products: n <= 3 * p, ..AveragesParams::default() };
    let mut averages = RunningAverages::new(p, count, params)?;
    let mut rivals = Vec::new();
    for name in methods {
        let rival = if extractor(name)?.is_none() { Some(rival(name, p, classes)?) } else { None };
        rivals.push((rival, 0.0));
    }
    let mut block = RowBlock::new(p, 1000);
    let mut pushing = 0.0;
    for _ in 0..n / 1000 {
        design.fill(1000, &mut block);
        pushing += timed(|| averages.push(&block))?.1;
        for (rival, seconds) in &mut rivals {
            if let Some(rival) = rival {
                *seconds += timed(|| rival.learn_block(&block))?.1;
            }
        }
    }
    let gram = averages.gram()?;
    design.fill(if classes { 4000 } else { 1 }, &mut block);
    let mut scores = Vec::new();
    for (name, (rival, learning)) in methods.iter().zip(&rivals) {
        let (model, seconds) = match rival {
            Some(rival) => {
                let s = rival.selection()?;
                let weight = s.selected.iter().map(|f| f.coefficient[0]).collect();
                ((s.indices(), weight, s.intercept[0]), *learning)
            }
            None => timed(|| {
                // The published OFSA of the classification reference has 3000 iterations.
                let name = if *name == "ofsa" && classes { "ofsa3000" } else { name };
                let method = extractor(name)?.expect("no rival means an extractor");
                let set = method.choose(&gram, p / 10)?;
                let model = gram.model(&set, &gram.refit(&set)?);
                let index: Vec<u64> = model.index.iter().map(|j| u64::from(*j)).collect();
                Ok((index, model.coefficient[0].clone(), model.intercept[0]))
            })?,
        };
        let (index, weight, intercept): (Vec<u64>, Vec<f64>, f64) = model;
        let hits = index.iter().filter(|j| is_true(**j as usize)).count();
        let error = match classes {
            false => rmse(p, beta, &index, &weight, intercept),
            true => {
                let mut w = vec![0.0; p];
                index.iter().zip(&weight).for_each(|(j, v)| w[*j as usize] = *v);
                let scores: Vec<f64> = block.rows().map(|x| x.dot(&w)).collect();
                auc(&scores, block.y())
            }
        };
        let detection = 1000.0 * hits as f64 / p as f64;
        scores.push(Score { detection, error, seconds });
    }
    Ok((scores, pushing))
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let start = Instant::now();
    let value = work()?;
    Ok((value, start.elapsed().as_secs_f64()))
}
