//! Model adaptation: running averages with forgetting follow a signal that turns.
//!
//! One full turn of ten weights over 20,000 rows of 100 features. Every 100 rows a model of 10
//! features is taken and predicts the next 100. The slides show curves only, for forgetting 0.01; the text of the
//! reference gives an RMSE of 2.94 without and 1.08 with it on a like signal.

use keepnet::Result;
use keepnet_papers::adaptation::{FORGET, ROWS, run as one};

use super::Figure;
use super::bench::{Bench, Published, Row};

/// The figure.
pub const FIGURE: Figure = Figure {
    name: "ra-adaptation",
    what: "running averages: a turning signal, with and without forgetting",
    repeats: 10,
    settings: &[],
    time: "the default takes seconds; so does any number of repeats",
    remark: "RMSE of the next 100 rows; noise alone is 1. The slides show curves without numbers.",
    run,
};

fn run(bench: &mut Bench) -> Result<()> {
    let repeats = bench.repeats;
    let means = bench.over_seeds("turning signal", repeats, one)?;
    for quarter in 0..4 {
        for (at, forget) in FORGET.iter().enumerate() {
            bench.rows.push(Row {
                panel: "prediction".into(),
                at: format!("rows {} to {}", quarter * ROWS / 4, (quarter + 1) * ROWS / 4),
                method: format!("olsth, forget {forget}"),
                metric: "RMSE",
                published: Published::None,
                ours: Some(means[quarter * FORGET.len() + at]),
                why: String::new(),
            });
        }
    }
    Ok(())
}
