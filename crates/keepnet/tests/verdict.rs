//! The last look at a result: what it lets pass, and what it does not.

mod common;

use common::{Data, run, width};
use keepnet::run::verdict::{Constant, check};
use keepnet::{
    Budget, CheckedBlock, ColumnBlock, ColumnSelector, Covariate, Driver, Error, FeatureSource,
    Lane, LossKind, Memory, MethodSpec, Outcome, Problem, Quiet, Result, Row, RowBlock, RowProblem,
    Selection, Snapshot, Status, Stream, Target, data::check_block, registry,
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
    let mut selector = fresh(problem, name, loss);
    scan(&mut *selector, data, problem, |_| ()).unwrap();
    selector
}

fn fresh(problem: &Problem, name: &str, loss: LossKind) -> Box<dyn ColumnSelector> {
    let method = registry::find(name).unwrap();
    registry::make(method, &spec(name, loss), problem, Budget::unlimited()).unwrap()
}

/// Offers every column of `data` once, after `touch` had the block.
fn scan(
    selector: &mut dyn ColumnSelector,
    data: &Data,
    problem: &Problem,
    touch: impl Fn(&mut CheckedBlock<'_>),
) -> Result<()> {
    let mut block = ColumnBlock::new(data.columns.len());
    while block.room() > 0 && data.dense().next_block(&mut block).unwrap() {}
    let mut checked = check_block(&block, 0, problem, &Default::default()).unwrap();
    for (at, feature) in checked.features.iter_mut().enumerate() {
        feature.group = Some(at as u32 / 3);
    }
    touch(&mut checked);
    selector.offer_block(&checked, &mut Vec::new())?;
    selector.end_scan()?;
    selector.finish()
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

/// A method whose result is not that of its weights.
struct Liar(Box<dyn ColumnSelector>, fn(&mut Selection));

impl Snapshot for Liar {
    fn save(&self) -> Result<Vec<u8>> {
        self.0.save()
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.0.restore(state)
    }
}

impl ColumnSelector for Liar {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        self.0.offer_block(block, out)
    }

    fn end_scan(&mut self) -> Result<bool> {
        self.0.end_scan()
    }

    fn finish(&mut self) -> Result<()> {
        self.0.finish()
    }

    fn selection(&self) -> Result<Selection> {
        let mut selection = self.0.selection()?;
        self.1(&mut selection);
        Ok(selection)
    }

    fn fitted(
        &self,
        see: &mut dyn FnMut(&keepnet::run::verdict::Fitted<'_>) -> Result<()>,
    ) -> Result<()> {
        self.0.fitted(see)
    }

    fn centres(&self) -> bool {
        self.0.centres()
    }

    fn status(&self) -> Status {
        self.0.status()
    }

    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        self.0.memory(column, features)
    }
}

/// The look is taken: a run of a method that lies ends with an error, and with no result.
#[test]
fn a_run_gives_no_result_that_contradicts_itself() {
    let data = Data::normal(80, 30, 7);
    let lies: [fn(&mut Selection); 3] = [
        |_| (),
        |s| s.selected[0].coefficient[0] *= 1.1,
        |s| s.loss = s.loss.map(|loss| 0.9 * loss),
    ];
    for (at, lie) in lies.into_iter().enumerate() {
        let problem = Problem::regression(data.y.clone());
        let selector = Liar(fresh(&problem, "os-plus", LossKind::Squared), lie);
        let mut source = data.dense();
        let lane = Lane::new(problem, Box::new(selector));
        let ended = Driver::new(&mut source, vec![lane], width(8)).unwrap().run(&mut Quiet);
        match (at, ended) {
            (0, Ok(_)) | (_, Err(Error::Defect(_))) => {}
            (_, other) => panic!("lie {at}: {:?}", other.map(|_| ())),
        }
    }
}

/// Statistics that are no numbers: what a method computes with them is none either. Every one comes
/// to an end, with an error or with a result that has no such number in it.
#[test]
fn numbers_that_are_none_end_every_method() {
    let (done, ended) = std::sync::mpsc::channel();
    let runs = std::thread::spawn(move || {
        poison_every_method();
        done.send(())
    });
    // They take half a second.
    let minute = std::time::Duration::from_secs(60);
    let late = ended.recv_timeout(minute) == Err(std::sync::mpsc::RecvTimeoutError::Timeout);
    assert!(!late, "a method goes on without end");
    runs.join().unwrap().unwrap();
}

fn poison_every_method() {
    let data = Data::normal(80, 30, 8);
    let methods = registry::methods().iter().filter(|m| m.has_loss && m.stream != Stream::Samples);
    let poisons: [fn(&mut keepnet::ColumnStats); 4] = [
        |stats| stats.mean = f64::NAN,
        |stats| stats.mean = f64::INFINITY,
        |stats| stats.variance = f64::NAN,
        |stats| stats.variance = f64::INFINITY,
    ];
    for method in methods {
        for loss in LossKind::ALL {
            let mut stopped = 0;
            for (at, (which, poison)) in
                [0, 20].iter().flat_map(|at| poisons.iter().enumerate().map(move |p| (*at, p)))
            {
                let problem = data.problem(loss);
                let mut selector = fresh(&problem, method.name, loss);
                let ended = scan(&mut *selector, &data, &problem, |block| {
                    poison(&mut block.features[at].stats);
                });
                let what = format!("{} {loss:?} {at} {which}", method.name);
                stopped += usize::from(ended.is_err());
                match ended.and_then(|()| selector.selection()) {
                    Err(error) => {
                        let text = error.to_string();
                        let known = text.contains("no finite numbers") || text.contains("fitted");
                        assert!(known, "{what}: {text}");
                    }
                    Ok(selection) => verdict(&problem, &*selector, &selection)
                        .unwrap_or_else(|error| panic!("{what}: {error}")),
                }
            }
            // These step along a newcomer before they compare it, and end there and then; where it
            // is compared first, a number that is none wins nothing.
            let steps = match method.name {
                "grafting" | "grafting-light" | "l1-cd" => true,
                "os" => matches!(loss, LossKind::SquaredHinge | LossKind::SquaredEpsilon),
                _ => false,
            };
            assert!(!steps || stopped > 0, "{} {loss:?} goes on", method.name);
        }
    }
}

/// A rival on targets that nothing explains is above the best constant, and says so; one that has
/// learnt does not.
#[test]
fn a_rival_that_has_not_learnt_warns() {
    let data = Data::normal(400, 8, 9);
    for name in ["sgd", "tsgd", "truncated-gradient"] {
        let said = |explained: bool| {
            let method = registry::find(name).unwrap();
            let (problem, spec) = (RowProblem::regression(8), MethodSpec::k(4));
            let mut learner =
                registry::make_rows(method, &spec, &problem, Budget::unlimited()).unwrap();
            let mut rows = RowBlock::new(8, 400);
            for i in 0..400 {
                let x: Vec<f64> = data.columns.iter().map(|column| column[i]).collect();
                // Signs in turn have nothing to do with columns drawn at random.
                let noise = if i % 2 == 0 { 1.0 } else { -1.0 };
                let y = if explained { x[0] - x[1] + 0.01 * noise } else { noise };
                rows.push(Row::F64(&x), y, 1.0).unwrap();
            }
            learner.learn_block(&rows).unwrap();
            let selection = learner.selection().unwrap();
            // Half the variance of the target, which is 1 where it is noise.
            let above = selection.loss.unwrap() > 0.5;
            (selection.warnings.join(" ").contains("of the best constant"), above)
        };
        assert_eq!(said(false), (true, true), "{name}");
        assert!(!said(true).0, "{name}");
    }
}

/// Powers of two change no digit, so a table whose numbers still have squares keeps the features of
/// the table without them. `os-plus` kept others, or none, where a product of a column with the
/// target had no square.
#[test]
fn a_table_near_the_ends_of_f64_keeps_the_features_of_the_table_that_is_not() {
    let plain = Data::normal(80, 30, 10);
    let methods = registry::methods().iter().filter(|m| m.has_loss && m.stream != Stream::Samples);
    for method in methods {
        for loss in LossKind::ALL {
            let chosen = |x: i32, y: i32| {
                let mut data = plain.clone();
                data.columns.iter_mut().flatten().for_each(|v| *v *= 2.0f64.powi(x));
                data.y.iter_mut().for_each(|v| *v *= 2.0f64.powi(y));
                let spec = spec(method.name, loss);
                let report =
                    run(&mut data.dense(), data.problem(loss), method.name, &spec, width(8));
                report.lanes[0].selection.indices()
            };
            let want = chosen(0, 0);
            for x in [-490, -300, 0, 300, 490] {
                for y in [-490, -300, 0, 300, 490] {
                    assert_eq!(chosen(x, y), want, "{} {loss:?} {x} {y}", method.name);
                }
            }
        }
    }
}
