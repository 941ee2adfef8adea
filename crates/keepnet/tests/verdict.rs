//! The last look at a result: what it lets pass, and what it does not.

mod common;

use common::{Data, run, width};
use keepnet::verdict::{Constant, check};
use keepnet::{
    Budget, ColumnBlock, ColumnSelector, Covariate, Error, FeatureSource, LossKind, MethodSpec,
    Problem, Result, Selection, Stream, Target, check::check_block, registry,
};

fn spec(name: &str, loss: LossKind) -> MethodSpec {
    let spec = MethodSpec { loss: Some(loss), ..MethodSpec::k(6) };
    match name {
        "asy-os" => spec.set("centre", "simulated").set("workers", 3),
        _ => spec,
    }
}

/// A selector that saw every column of `data` once.
fn selector(data: &Data, problem: &Problem, name: &str, loss: LossKind) -> Box<dyn ColumnSelector> {
    let method = registry::find(name).unwrap();
    let budget = Budget::unlimited();
    let mut selector = registry::make(method, &spec(name, loss), problem, budget).unwrap();
    let mut block = ColumnBlock::new(data.columns.len());
    while block.room() > 0 && data.dense().next_block(&mut block).unwrap() {}
    let checked = check_block(&block, 0, problem, &Default::default()).unwrap();
    selector.offer_block(&checked, &mut Vec::new()).unwrap();
    selector.end_scan().unwrap();
    selector.finish().unwrap();
    selector
}

fn verdict(problem: &Problem, selector: &dyn ColumnSelector, selection: &Selection) -> Result<()> {
    let mut seen = 0;
    let result = selector.fitted(&mut |fitted| {
        seen += 1;
        check(problem, selection, fitted, &Constant::default())
    });
    assert_eq!(seen, 1, "the model is shown");
    result
}

/// Every method with a loss shows its model; what it says passes, and no number of it can be
/// changed without notice.
#[test]
fn a_result_that_contradicts_itself_is_a_defect() {
    let data = Data::normal(80, 30, 3);
    let methods = registry::methods().iter().filter(|m| m.has_loss && m.stream != Stream::Samples);
    for method in methods {
        for loss in LossKind::ALL {
            let mut problem = data.problem(loss);
            problem.weight = Some((0..80).map(|i| 1.0 + f64::from(i % 3)).collect());
            problem.offset = Some((0..80).map(|i| f64::from(i % 5) - 1.0).collect());
            let values = (0..80).map(|i| f64::from(i % 7)).collect();
            problem.covariates = vec![Covariate { name: "age".into(), values }];
            let selector = selector(&data, &problem, method.name, loss);
            let selection = selector.selection().unwrap();
            let what = format!("{} {loss:?}", method.name);
            assert!(!selection.selected.is_empty(), "{what}");
            verdict(&problem, &*selector, &selection).unwrap_or_else(|e| panic!("{what}: {e}"));
            let mut wrong = vec![selection.clone(); 5];
            wrong[0].selected[0].coefficient[0] *= 1.1;
            wrong[1].intercept[0] += 0.1;
            wrong[2].loss = selection.loss.map(|loss| loss * 1.001);
            wrong[3].covariates[0].coefficient[0] += 0.1;
            wrong[4].selected[0].id = keepnet::FeatureId::new(1000);
            for (at, wrong) in wrong.iter().enumerate() {
                let error = verdict(&problem, &*selector, wrong).expect_err(&what);
                assert!(matches!(error, Error::Defect(_)), "{what} {at}: {error}");
                assert!(error.to_string().contains("please report it"), "{error}");
            }
            let mut none = selection.clone();
            none.selected[0].score = f64::NAN;
            let error = verdict(&problem, &*selector, &none).expect_err(&what).to_string();
            assert!(error.contains("no finite numbers"), "{error}");
        }
    }
}

/// A model that is worse than none: weights and loss agree, and are still no answer.
#[test]
fn a_loss_above_that_of_the_constant_model_is_a_defect() {
    let data = Data::normal(80, 30, 4);
    let problem = Problem::regression(data.y.clone());
    let selector = selector(&data, &problem, "os-plus", LossKind::Squared);
    let mut worse = selector.selection().unwrap();
    let feature = &mut worse.selected[0];
    feature.coefficient[0] += 10.0;
    let predict = |i: usize| {
        let own = |f: &keepnet::Selected| f.coefficient[0] * data.columns[f.id.index as usize][i];
        worse.intercept[0] + worse.selected.iter().map(own).sum::<f64>()
    };
    let loss: f64 = (0..80).map(|i| (data.y[i] - predict(i)).powi(2)).sum::<f64>() / 160.0;
    worse.loss = Some(loss);
    let error = verdict(&problem, &*selector, &worse).unwrap_err().to_string();
    assert!(error.contains("model without features"), "{error}");
}

/// `y` is noise: the constant model's loss, in closed form, is next to the one reported.
#[test]
fn noise_and_perfect_fits_pass() {
    let noise = Data::normal(60, 12, 5);
    for (name, loss) in [("os-plus", LossKind::Logistic), ("os", LossKind::SquaredHinge)] {
        let labels: Vec<f64> = (0..60).map(|i| f64::from(i % 10 == 0)).collect();
        let problem = Problem::binary(&labels);
        let report = run(&mut noise.dense(), problem, name, &spec(name, loss), width(8));
        let told = report.lanes[0].selection.loss.unwrap();
        // A tenth is positive: p ln 1/p, and p (1 - b)^2 / 2 + q (1 + b)^2 / 2 at b = p - q.
        let (p, q): (f64, f64) = (0.1, 0.9);
        let prior = match loss {
            LossKind::Logistic => -p * p.ln() - q * q.ln(),
            _ => 2.0 * p * q,
        };
        assert!(told <= prior && told > 0.3 * prior, "{name}: {told} {prior}");
    }
    let exact = Data { y: noise.columns[3].iter().map(|x| 1e6 + 2.0 * x).collect(), ..noise };
    for name in ["os-plus", "os", "grafting", "lasso", "l0-cd", "l1-cd", "proj-gd"] {
        let problem = Problem::regression(exact.y.clone());
        let spec = spec(name, LossKind::Squared);
        let report = run(&mut exact.dense(), problem, name, &spec, width(8));
        assert!(matches!(report.lanes[0].selection.loss, Some(loss) if loss < 1e-6), "{name}");
    }
}

/// Classes that a feature parts, three of them, and weights: no false alarm.
#[test]
fn separable_classes_pass() {
    let data = Data::normal(90, 20, 6);
    let codes: Vec<u32> =
        data.columns[2].iter().map(|x| u32::from(*x > 0.5) + u32::from(*x > -0.5)).collect();
    let names = ["a", "b", "c"].map(String::from).to_vec();
    for name in ["os-plus", "os", "grafting", "grafting-light", "lasso"] {
        for loss in [LossKind::Logistic, LossKind::SquaredHinge, LossKind::Squared] {
            let mut problem =
                Problem::new(Target::Classes { names: names.clone(), codes: codes.clone() });
            problem.weight = Some((0..90).map(|i| 0.25 + f64::from(i % 4)).collect());
            let report = run(&mut data.dense(), problem, name, &spec(name, loss), width(8));
            assert!(report.lanes[0].selection.loss.is_some());
        }
    }
}
