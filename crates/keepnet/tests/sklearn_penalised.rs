//! Lasso and elastic net against scikit-learn; `reference/sklearn_penalised.py` made the numbers.

use keepnet::learn::{
    AveragesParams, Gram, Oelnet, OelnetParams, Olasso, OlassoParams, RunningAverages, Solver,
};
use keepnet::{Row, RowBlock};

fn numbers(line: &str) -> Vec<f64> {
    line.split(',').skip(1).map(|v| v.parse().unwrap()).collect()
}

fn problem(text: &str) -> Gram {
    let rows: Vec<_> = text.lines().filter(|l| l.starts_with("data")).map(numbers).collect();
    let p = rows[0].len() - 1;
    let mut block = RowBlock::new(p, rows.len());
    for row in &rows {
        block.push(Row::F64(&row[1..]), row[0], 1.0).unwrap();
    }
    let params = AveragesParams { f64_products: true, ..AveragesParams::default() };
    let mut averages = RunningAverages::new(p, 0, params).unwrap();
    averages.push(&block).unwrap();
    averages.gram().unwrap()
}

#[test]
fn weights_are_those_of_scikit_learn_to_five_digits() {
    let text = include_str!("reference/sklearn_penalised.csv");
    let gram = problem(text);
    let mut fits = 0;
    for fit in text.lines().filter(|l| l.starts_with("fit")).map(numbers) {
        let (alpha, ratio, want) = (fit[0], fit[1], &fit[2..]);
        let (lambda, l2) = (alpha * ratio, alpha * (1.0 - ratio));
        let net = Oelnet::new(OelnetParams { l2, lambda: None }).unwrap();
        let mut ours = vec![net.coefficients(&gram, lambda)];
        if ratio == 1.0 {
            for solver in [Solver::Lars, Solver::Cd] {
                let lasso = Olasso::new(OlassoParams { solver, lambda: None }).unwrap();
                ours.push(lasso.coefficients(&gram, lambda));
            }
        }
        for got in ours {
            for (j, (a, b)) in got.iter().zip(want).enumerate() {
                assert!((a - b).abs() < 1e-5, "alpha {alpha} ratio {ratio} weight {j}: {a} {b}");
                assert_eq!(*a == 0.0, *b == 0.0, "alpha {alpha} ratio {ratio} support at {j}");
            }
        }
        fits += 1;
    }
    assert_eq!(fits, 6);
}
