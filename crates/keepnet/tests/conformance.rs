//! What every method on a column stream must do: the same answer for any block, thread count
//! and storage, the same after a resume, and a clear error for a wrong row count.

mod common;

use std::collections::HashSet;

use common::{Data, run, width};
use keepnet::{
    Budget, Bytes, ColumnData, Covariate, Driver, Flow, Generated, Lane, LossKind, MethodSpec,
    Missing, Numbers, Observer, Order, Problem, Progress, Quiet, Result, RowMap, RunOptions,
    RunReport, Target, registry,
};

/// Every method with a loss, with every loss it takes.
fn cases() -> Vec<(&'static str, LossKind)> {
    let losses = |name| LossKind::ALL.into_iter().map(move |loss| (name, loss));
    let columns = |m: &&&registry::MethodInfo| m.has_loss && m.stream != keepnet::Stream::Samples;
    let all = registry::methods().iter().filter(columns).flat_map(|m| losses(m.name));
    // Its loss is in its name, and it takes no other.
    all.chain([("l1-hinge", LossKind::SquaredHinge)]).collect()
}

fn spec(name: &str, loss: LossKind) -> MethodSpec {
    let spec = MethodSpec { loss: Some(loss), ..MethodSpec::k(10) };
    match name {
        // On threads its result is up to the machine; its own tests are in `select/asy_os`.
        "asy-os" => spec.set("centre", "simulated").set("workers", 3),
        _ => spec,
    }
}

/// All that a second run must give again, digit for digit.
fn digits(report: &RunReport) -> String {
    let lane = &report.lanes[0];
    format!("{:?} {:?} {:?}", lane.selection, lane.dropped, report.features_seen)
}

fn go(data: &Data, name: &str, loss: LossKind, options: RunOptions) -> RunReport {
    run(&mut data.dense(), data.problem(loss), name, &spec(name, loss), options)
}

#[test]
fn neither_blocks_nor_threads_change_a_digit() {
    let data = Data::normal(150, 300, 11);
    for (name, loss) in cases() {
        let shuffled = |width_: usize| RunOptions { order: Order::Shuffled, ..width(width_) };
        let want = digits(&go(&data, name, loss, shuffled(128)));
        for block in [1, 3, 16, 512] {
            assert_eq!(digits(&go(&data, name, loss, shuffled(block))), want, "{name} {loss:?}");
        }
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let got = pool.install(|| digits(&go(&data, name, loss, shuffled(64))));
            assert_eq!(got, want, "{name} {loss:?} on {threads} threads");
        }
    }
}

#[test]
fn the_storage_of_the_columns_changes_only_rounding() {
    let data = Data::normal(120, 200, 12).thinned(0.6, 13);
    for (name, loss) in cases() {
        let dense = go(&data, name, loss, width(32));
        let sparse =
            run(&mut data.sparse(), data.problem(loss), name, &spec(name, loss), width(32));
        let (a, b) = (&dense.lanes[0].selection, &sparse.lanes[0].selection);
        assert_eq!(a.indices(), b.indices(), "{name} {loss:?}");
        for (x, y) in a.selected.iter().zip(&b.selected) {
            let (x, y) = (x.coefficient[0], y.coefficient[0]);
            assert!((x - y).abs() <= 1e-10 * (1.0 + x.abs()), "{name} {loss:?}: {x} {y}");
        }
    }
}

#[test]
fn scaling_columns_by_powers_of_two_changes_only_their_weights() {
    let data = Data::normal(150, 200, 14);
    let mut scaled = data.clone();
    let factor = |j: usize| 2f64.powi((j % 13) as i32 - 6);
    for (j, column) in scaled.columns.iter_mut().enumerate() {
        column.iter_mut().for_each(|x| *x *= factor(j));
    }
    for (name, loss) in cases() {
        let (a, b) = (go(&data, name, loss, width(32)), go(&scaled, name, loss, width(32)));
        let (a, b) = (&a.lanes[0].selection, &b.lanes[0].selection);
        assert_eq!(a.indices(), b.indices(), "{name} {loss:?}");
        for (x, y) in a.selected.iter().zip(&b.selected) {
            let y = y.coefficient[0] * factor(y.id.index as usize);
            assert_eq!(x.coefficient[0].to_bits(), y.to_bits(), "{name} {loss:?} {:?}", x.id);
        }
        assert_eq!(a.loss, b.loss);
    }
}

/// Saves after some blocks, then stops.
struct SaveAt {
    block: usize,
    seen: usize,
    state: Vec<u8>,
}

impl Observer for SaveAt {
    fn progress(&mut self, _: &Progress) -> Result<Flow> {
        self.seen += 1;
        let now = self.seen == self.block;
        Ok(Flow { save: now, stop: now })
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        self.state = state;
        Ok(())
    }
}

#[test]
fn a_resumed_run_gives_every_digit_of_an_unbroken_one() {
    let data = Data::normal(120, 240, 15);
    for (name, loss) in cases() {
        let options = RunOptions { order: Order::Shuffled, ..width(32) };
        let lane = || {
            let problem = data.problem(loss);
            let method = registry::find(name).unwrap();
            let selector =
                registry::make(method, &spec(name, loss), &problem, Budget::unlimited()).unwrap();
            vec![Lane::new(problem, selector)]
        };
        let (mut source, mut observer) =
            (data.dense(), SaveAt { block: 0, seen: 0, state: Vec::new() });
        let driver = Driver::new(&mut source, lane(), options.clone()).unwrap();
        let want = driver.run(&mut observer).unwrap();
        // A batch method ends after the eight blocks of its one scan.
        let batch = registry::find(name).unwrap().stream == keepnet::Stream::Batch;
        for block in [1, 4, 8, 9, 15].into_iter().filter(|block| !batch || *block < 8) {
            let mut observer = SaveAt { block, seen: 0, state: Vec::new() };
            let mut source = data.dense();
            let driver = Driver::new(&mut source, lane(), options.clone()).unwrap();
            let part = driver.run(&mut observer).unwrap();
            assert!(!part.complete);
            let mut source = data.dense();
            let mut driver = Driver::new(&mut source, lane(), options.clone()).unwrap();
            driver.restore(&observer.state).unwrap();
            let got = driver.run(&mut Quiet).unwrap();
            assert_eq!(digits(&got), digits(&want), "{name} {loss:?} from block {block}");
            assert_eq!(got.lanes[0].trace, want.lanes[0].trace);
        }
    }
}

#[test]
fn every_feature_has_one_fate() {
    let mut data = Data::normal(100, 150, 16);
    data.columns[7] = vec![3.0; 100];
    for (name, loss) in cases() {
        let report = go(&data, name, loss, width(16));
        let lane = &report.lanes[0];
        let d = lane.dropped;
        let fates = d.weak + d.redundant + d.constant + d.missing + d.evicted;
        assert_eq!(d.constant, 1);
        assert_eq!(fates + lane.selection.selected.len() as u64, 150, "{name} {loss:?} {d:?}");
        assert_eq!(lane.selection.selected.len(), 10);
        // A batch method has all it needs after one scan.
        let batch = registry::find(name).unwrap().stream == keepnet::Stream::Batch;
        let arrived = if batch { 150 } else { 300 };
        assert!(lane.trace.len() <= 200 && lane.trace.last().unwrap().arrived == arrived);
    }
}

#[test]
fn pinned_features_and_covariates_are_always_in_the_model() {
    let data = Data::normal(120, 100, 17);
    for (name, loss) in cases() {
        let mut problem = data.problem(loss);
        let values: Vec<f64> = (0..120).map(|i| f64::from(i % 7)).collect();
        problem.covariates.push(Covariate { name: "age".into(), values });
        let method = registry::find(name).unwrap();
        let selector =
            registry::make(method, &spec(name, loss), &problem, Budget::unlimited()).unwrap();
        let mut lane = Lane::new(problem, selector);
        lane.pinned = HashSet::from(["f33".into(), "f90".into()]);
        let mut source = data.dense();
        let report =
            Driver::new(&mut source, vec![lane], width(16)).unwrap().run(&mut Quiet).unwrap();
        let selection = &report.lanes[0].selection;
        let always: Vec<u64> = selection.always.iter().map(|s| s.id.index).collect();
        assert_eq!(always, [33, 90], "{name} {loss:?}");
        assert_eq!(selection.covariates[0].name, "age");
        assert_eq!(selection.selected.len(), 10);
        assert!(selection.selected.iter().all(|s| !always.contains(&s.id.index)));
    }
}

#[test]
fn several_classes_share_one_kept_set() {
    let data = Data::normal(160, 120, 18);
    let codes =
        data.y.iter().map(|y| if *y < -1.0 { 0 } else { 1 + u32::from(*y > 1.0) }).collect();
    let names = vec!["a".into(), "b".into(), "c".into()];
    for (name, loss) in cases() {
        if loss == LossKind::SquaredEpsilon {
            continue;
        }
        let target = Target::Classes { names: names.clone(), codes: Vec::clone(&codes) };
        let problem = Problem::new(target);
        let report = run(&mut data.dense(), problem, name, &spec(name, loss), width(16));
        let selection = &report.lanes[0].selection;
        assert_eq!(selection.selected.len(), 10, "{name} {loss:?}");
        assert!(selection.selected.iter().all(|s| s.coefficient.len() == 3));
        assert_eq!(selection.intercept.len(), 3);
    }
}

#[test]
fn masked_rows_do_not_count() {
    let data = Data::normal(150, 100, 19);
    let take: Vec<u32> = (0..150).filter(|i| i % 5 != 2).collect();
    let mut short = data.clone();
    short.n = take.len();
    let pick = |x: &[f64]| -> Vec<f64> { take.iter().map(|i| x[*i as usize]).collect() };
    short.columns = data.columns.iter().map(|x| pick(x)).collect();
    short.y = pick(&data.y);
    for (name, loss) in cases() {
        let mut problem = short.problem(loss);
        problem.rows = RowMap::new(150, take.clone()).unwrap();
        let masked = run(&mut data.dense(), problem, name, &spec(name, loss), width(16));
        assert_eq!(digits(&masked), digits(&go(&short, name, loss, width(16))), "{name} {loss:?}");
    }
}

#[test]
fn missing_values_meet_the_policy_before_any_method() {
    let mut data = Data::normal(80, 40, 20);
    data.columns[4][3] = f64::NAN;
    data.columns[8][0] = f64::INFINITY;
    let with = |missing| {
        let problem = data.problem(LossKind::Squared);
        let method = registry::find("os-plus").unwrap();
        let selector =
            registry::make(method, &MethodSpec::k(5), &problem, Budget::unlimited()).unwrap();
        let mut lane = Lane::new(problem, selector);
        lane.policy.missing = missing;
        let mut source = data.dense();
        Driver::new(&mut source, vec![lane], width(16)).unwrap().run(&mut Quiet)
    };
    let error = with(Missing::Error).unwrap_err().to_string();
    assert!(error.contains("\"f4\"") && error.contains("row 3"), "{error}");
    assert_eq!(with(Missing::DropFeature).unwrap().lanes[0].dropped.missing, 2);
    assert_eq!(with(Missing::Mean).unwrap().lanes[0].dropped.missing, 0);
    assert!(with(Missing::Indicator).is_ok());
}

#[test]
fn a_budget_that_is_too_small_is_an_error_and_not_a_surprise() {
    let data = Data::normal(1000, 60, 21);
    let problem = data.problem(LossKind::Squared);
    let method = registry::find("os").unwrap();
    let budget = Budget::bytes(10 * 4 * 1000);
    let selector = registry::make(method, &MethodSpec::k(30), &problem, budget).unwrap();
    let mut source = data.dense();
    let driver = Driver::new(&mut source, vec![Lane::new(problem, selector)], width(16)).unwrap();
    let error = driver.run(&mut Quiet).unwrap_err().to_string();
    assert!(error.contains("--memory") && error.contains(&Bytes(40_000).to_string()), "{error}");
}

#[test]
fn wrong_calls_are_refused_with_the_reason() {
    let data = Data::normal(30, 20, 22);
    let problem = data.problem(LossKind::Squared);
    let refuse = |name: &str, spec: MethodSpec| {
        let method = registry::find(name).unwrap();
        match registry::make(method, &spec, &problem, Budget::unlimited()) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{name} took {spec:?}"),
        }
    };
    for name in ["os", "os-plus"] {
        assert!(refuse(name, MethodSpec::default()).contains("-k K"));
        assert!(refuse(name, MethodSpec::k(0)).contains("at least 1"));
        assert!(refuse(name, MethodSpec::k(30)).contains("below the number of rows"));
        assert!(refuse(name, MethodSpec::k(3).set("speed", 1)).contains("speed"));
        let logistic = MethodSpec { loss: Some(LossKind::Logistic), ..MethodSpec::k(3) };
        assert!(refuse(name, logistic).contains("logistic"));
    }
    assert!(refuse("os", MethodSpec::k(3).set("eta", "fast")).contains("c/L"));
    assert!(refuse("os", MethodSpec::k(3).set("m", 0.5)).contains("at least 1"));
    assert!(registry::find("os-pluss").unwrap_err().to_string().contains("did you mean os"));
    let short = Problem::regression(vec![1.0, 2.0]);
    let mut source = data.dense();
    let error = match Driver::new(&mut source, vec![], RunOptions { scans: 0, ..width(4) }) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("no scans"),
    };
    assert!(error.contains("scans"));
    let method = registry::find("os").unwrap();
    let selector = registry::make(method, &MethodSpec::k(1), &short, Budget::unlimited()).unwrap();
    assert!(Driver::new(&mut source, vec![Lane::new(short, selector)], width(4)).is_err());
}

#[test]
fn narrow_and_wide_storage_of_the_same_values_agree() {
    let data = Data::normal(100, 80, 23);
    let wide = |x: &Vec<f64>| ColumnData::Dense(Numbers::F64(x.clone()));
    for (name, loss) in cases() {
        let narrow = go(&data, name, loss, width(16));
        let mut wide = Generated::columns(100, data.columns.iter().map(wide).collect());
        let wide = run(&mut wide, data.problem(loss), name, &spec(name, loss), width(16));
        assert_eq!(digits(&narrow), digits(&wide), "{name} {loss:?}");
    }
}
