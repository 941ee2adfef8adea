//! Budgets that are too small, and calls that cannot be right.

use keepnet::data::check_block;
use keepnet::registry::{self, Stream};
use keepnet::{
    Budget, Bytes, CheckPolicy, ColumnBlock, Driver, FeatureSource, Lane, LossKind, MethodSpec,
    Problem, Quiet, RunOptions,
};

use crate::cases::{Case, cases};
use crate::common::{Data, width};

/// The cases, those that can do with few columns made to hold all.
fn holding() -> impl Iterator<Item = Case> {
    cases().into_iter().map(|case| match case.method.has("hold") {
        true => case.set("hold", "all"),
        false => case,
    })
}

/// Room for two columns of numbers, or for one of codes: no method can keep what it wants.
fn room(case: &Case) -> u64 {
    if case.spec.settings.contains_key("bins") { 1500 } else { 2 * 4 * 1000 + 500 }
}

#[test]
fn over_budget_is_an_error_that_changes_nothing() {
    let data = Data::normal(1000, 60, 21);
    for case in holding() {
        let problem = case.problem(&data);
        let mut selector = match case.make(&problem, Budget::bytes(room(&case))) {
            Ok(selector) => selector,
            Err(error) => {
                assert!(error.to_string().contains("budget"), "{case}: {error}");
                continue;
            }
        };
        let (mut source, mut block, mut refused) = (data.dense(), ColumnBlock::new(1), 0);
        for j in 0..60 {
            block.reset(1);
            assert!(source.next_block(&mut block).unwrap());
            let mut checked = check_block(&block, j, &problem, &CheckPolicy::default()).unwrap();
            let grouped = case.method.stream == Stream::Groups;
            checked.features.iter_mut().for_each(|x| x.group = grouped.then_some(j as u32));
            let before = selector.save().unwrap();
            if let Err(error) = selector.offer_block(&checked, &mut Vec::new()) {
                assert!(error.to_string().contains("budget"), "{case}: {error}");
                assert!(selector.save().unwrap() == before, "{case}: feature {j} left a trace");
                refused += 1;
            }
        }
        assert!(refused > 0, "{case} held {} bytes", selector.status().bytes);
    }
}

#[test]
fn a_budget_that_is_too_small_ends_the_run_and_names_it() {
    let data = Data::normal(1000, 60, 21);
    for case in holding() {
        let problem = case.problem(&data);
        let Ok(selector) = case.make(&problem, Budget::bytes(room(&case))) else { continue };
        let mut source = data.dense();
        let driver = case.driver(&mut source, Lane::new(problem, selector), width(16));
        let error = driver.run(&mut Quiet).unwrap_err().to_string();
        // A worker has a part of the room.
        let (named, room) = ("the budget is", Bytes(room(&case)).to_string());
        let workers = case.spec.settings.contains_key("workers");
        assert!(error.contains(named) && (workers || error.contains(&room)), "{case}: {error}");
    }
}

#[test]
fn a_target_of_other_rows_than_the_columns_is_refused() {
    let (data, short) = (Data::normal(50, 20, 22), Data::normal(49, 20, 22));
    for case in cases() {
        let (mut source, lane) = (data.dense(), case.lane(case.problem(&short)));
        let Err(error) = Driver::new(&mut source, vec![lane], width(4)) else {
            panic!("{case} took 49 values for 50 rows")
        };
        let error = error.to_string();
        assert!(error.contains("50") && error.contains("49"), "{case}: {error}");
    }
}

#[test]
fn a_setting_that_the_method_does_not_know_is_refused() {
    let data = Data::normal(30, 20, 22);
    for case in cases() {
        let spec = case.spec.clone().set("speed", 1);
        let made = registry::make(case.method, &spec, &case.problem(&data), Budget::unlimited());
        assert!(made.err().unwrap().to_string().contains("speed"), "{case}");
        if case.method.needs_k {
            let spec = MethodSpec { k: None, ..case.spec.clone() };
            let made =
                registry::make(case.method, &spec, &case.problem(&data), Budget::unlimited());
            assert!(made.err().unwrap().to_string().contains('k'), "{case}");
        }
    }
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
        assert!(refuse(name, MethodSpec::default()).contains("`k=K`"));
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
