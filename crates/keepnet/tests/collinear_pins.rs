//! Features that are always kept and say the same: every method keeps the earlier one, leaves the
//! other out by name with the reason, and goes on with the rest.
//!
//! What is expected is known by construction: `copy`, `half` and `sum` are combinations of columns
//! before them, `flat` has one value, and a run without them must select what the run with them
//! does.

use std::collections::HashMap;

use keepnet::registry::{self, MethodInfo, MethodSpec, Stream};
use keepnet::run::Decision;
use keepnet::{
    Budget, ColumnData, Covariate, Driver, Flow, Generated, Groups, Lane, Maker, Observer, Outcome,
    Problem, Progress, Reason, Result, RunOptions, RunReport, Selected, Verdict,
};

const ROWS: usize = 120;
const FREE: usize = 24;

/// A number between -1 and 1 for each row and column, from the digits of a logarithm.
fn value(i: usize, j: usize) -> f64 {
    2.0 * (1e4 * ((j * ROWS + i + 2) as f64).ln().sin()).fract().abs() - 1.0
}

fn free(j: usize) -> Vec<f64> {
    (0..ROWS).map(|i| value(i, j)).collect()
}

fn of(f: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..ROWS).map(f).collect()
}

/// Pinned columns beside the free ones, named.
fn table(extra: &[(&str, Vec<f64>)], last: bool) -> Vec<(String, Vec<f64>)> {
    let extra = extra.iter().map(|(name, x)| (name.to_string(), x.clone()));
    let free = (0..FREE).map(|j| (format!("f{j}"), free(j)));
    if last { free.chain(extra).collect() } else { extra.chain(free).collect() }
}

fn problem() -> Problem {
    let y = |i: usize| 2.0 * value(i, 3) - 1.5 * value(i, 7) + value(i, 11) + 0.3 * value(i, 900);
    Problem::binary(&of(|i| f64::from(y(i) > 0.0)))
}

fn methods() -> impl Iterator<Item = &'static MethodInfo> {
    registry::methods().iter().copied().filter(|method| matches!(method.make, Maker::Columns(_)))
}

/// What became of each feature by name, in the last scan.
#[derive(Default)]
struct Fates(HashMap<String, Outcome>);

impl Observer for Fates {
    fn progress(&mut self, _: &Progress) -> Result<Flow> {
        Ok(Flow { save: false, stop: false })
    }

    fn decision(&mut self, decision: &Decision<'_>) -> Result<()> {
        self.0.insert(decision.name.to_string(), decision.outcome.clone());
        Ok(())
    }
}

fn run(
    method: &MethodInfo,
    columns: &[(String, Vec<f64>)],
    always: &[&str],
    problem: &Problem,
    width: usize,
) -> (RunReport, Fates) {
    let spec = match method.name {
        "group-saola" => MethodSpec::default().set("alpha", 0.3),
        "asy-os" => MethodSpec::k(4).set("centre", "simulated"),
        // Of 24 features few are two deviations above the mean.
        "ossfs-dd" => MethodSpec::k(4).set("low", 0).set("high", 0.5),
        _ => MethodSpec::k(4),
    };
    let selector = registry::make(method, &spec, problem, Budget::unlimited()).unwrap();
    let mut lane = Lane::new(problem.clone(), selector);
    lane.pinned = always.iter().map(|name| name.to_string()).collect();
    let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let data = columns.iter().map(|(_, x)| ColumnData::dense(x.clone())).collect();
    let mut source = Generated::columns(ROWS, data).with_names(move |j| names[j as usize].clone());
    let options = RunOptions { scans: method.scans, width, ..RunOptions::default() };
    let mut driver = Driver::new(&mut source, vec![lane], options).unwrap();
    if method.stream == Stream::Groups {
        driver = driver.with_groups(Groups::block(3).unwrap());
    }
    let mut fates = Fates::default();
    let report = driver.run(&mut fates).unwrap();
    (report, fates)
}

fn names(list: &[Selected]) -> Vec<String> {
    let mut names: Vec<String> = list.iter().map(|feature| feature.name.clone()).collect();
    names.sort();
    names
}

/// One kind of table: what is pinned, what must stay, and what the warning of each other says.
fn leaves_out(extra: &[(&str, Vec<f64>)], stay: &[&str], out: &[(&str, &str)]) {
    let always: Vec<&str> = extra.iter().map(|(name, _)| *name).collect();
    let without: Vec<_> =
        extra.iter().filter(|(name, _)| stay.contains(name)).cloned().collect::<Vec<_>>();
    for method in methods() {
        // With groups of three a column more would put others beside each other.
        let groups = method.stream == Stream::Groups;
        let want = run(method, &table(&without, true), stay, &problem(), 5).0;
        for width in [1, 7, 512] {
            let (report, fates) = run(method, &table(extra, true), &always, &problem(), width);
            let selection = &report.lanes[0].selection;
            let what = format!("{} at width {width}: {:?}", method.name, selection.warnings);
            assert_eq!(names(&selection.pinned), stay, "{what}");
            if !groups {
                let rest = &want.lanes[0].selection;
                assert_eq!(names(&selection.selected), names(&rest.selected), "{what}");
            }
            assert!(!selection.selected.is_empty(), "{what}");
            for (name, why) in out {
                let said: Vec<_> = selection
                    .warnings
                    .iter()
                    .filter(|w| w.contains(&format!("{name:?} is")))
                    .collect();
                assert!(said.len() == 1 && said[0].contains(why), "{name}: {what}");
                let verdict = fates.0[*name].verdict;
                let reason = if *name == "flat" { "constant" } else { "redundant" };
                assert!(
                    matches!(verdict, Verdict::Dropped(why) if why.word() == reason),
                    "{name} {verdict:?}: {what}"
                );
            }
            // The counts of the last scan add up to the features that came.
            let dropped = report.lanes[0].dropped;
            let sum = dropped.weak
                + dropped.redundant
                + dropped.constant
                + dropped.missing
                + dropped.evicted
                + (selection.selected.len() + selection.pinned.len()) as u64;
            assert_eq!(sum, report.features_seen, "{what} {dropped:?}");
        }
    }
}

#[test]
fn a_copy_and_a_multiple_of_the_one_before() {
    let a = of(|i| value(i, 500));
    leaves_out(
        &[("a", a.clone()), ("copy", a.clone()), ("half", of(|i| 3.0 - 0.5 * a[i]))],
        &["a"],
        &[("copy", "same as \"a\""), ("half", "same as \"a\"")],
    );
}

#[test]
fn a_combination_of_two_others_and_a_constant() {
    let (a, b) = (of(|i| value(i, 500)), of(|i| value(i, 501)));
    let sum = of(|i| 1e6 * a[i] - 2e6 * b[i] + 1e7);
    leaves_out(
        &[("a", a), ("b", b), ("sum", sum), ("flat", vec![2.5; ROWS])],
        &["a", "b"],
        &[("sum", "combination of \"b\" and \"a\""), ("flat", "does not vary")],
    );
}

/// A pinned feature that comes after an equal one that may go takes its place.
#[test]
fn a_free_twin_gives_way_to_the_pinned_one() {
    let mut columns = table(&[], true);
    columns.push(("twin".into(), of(|i| 4.0 * value(i, 3) + 9.0)));
    for method in methods().filter(|method| method.stream != Stream::Groups) {
        // With the logistic loss the ridge of os-plus lets both be; with the squared it must not.
        let problem = match method.name {
            "os-plus" => Problem::regression(of(|i| 2.0 * value(i, 3) - 1.5 * value(i, 7))),
            _ => problem(),
        };
        let (report, _) = run(method, &columns, &["twin"], &problem, 4);
        let selection = &report.lanes[0].selection;
        let what = format!("{}: {:?}", method.name, selection.warnings);
        assert_eq!(names(&selection.pinned), ["twin"], "{what}");
        // Methods that hold pinned features apart may keep the twin beside it; the model of those
        // that span it must not.
        if ["os-plus", "alpha-investing", "osfs", "fast-osfs"].contains(&method.name) {
            assert!(!names(&selection.selected).contains(&"f3".to_string()), "{what}");
        }
        // `screen` looks at each feature alone and keeps what its level allows.
        if method.name != "screen" {
            assert!(names(&selection.selected).contains(&"f7".to_string()), "{what}");
        }
        assert!(selection.warnings.iter().all(|w| !w.contains("twin")), "{what}");
    }
}

/// Beside covariates, for the methods that take them.
#[test]
fn a_feature_that_covariates_span_is_named_with_them() {
    let mut problem = problem();
    let age = of(|i| value(i, 700));
    let years = of(|i| 30.0 + 10.0 * age[i]);
    problem.covariates.push(Covariate { name: "age".into(), values: age });
    for method in methods() {
        let spec = MethodSpec::k(4);
        if registry::make(method, &spec, &problem, Budget::unlimited()).is_err() {
            continue;
        }
        let columns = table(&[("years", years.clone())], false);
        let (report, fates) = run(method, &columns, &["years"], &problem, 6);
        let selection = &report.lanes[0].selection;
        let what = format!("{}: {:?}", method.name, selection.warnings);
        assert!(selection.pinned.is_empty() && !selection.selected.is_empty(), "{what}");
        assert!(selection.warnings.iter().any(|w| w.contains("same as \"age\"")), "{what}");
        let verdict = fates.0["years"].verdict;
        assert_eq!(verdict, Verdict::Dropped(Reason::Redundant { by: None }), "{what}");
    }
}

/// Without an intercept a constant counts: `x` and `x + 1` are two columns, `x` and `2 x` are not.
#[test]
fn without_an_intercept_a_shift_is_another_column() {
    let a = of(|i| value(i, 500));
    let columns = table(
        &[("a", a.clone()), ("more", of(|i| a[i] + 1.0)), ("twice", of(|i| 2.0 * a[i]))],
        false,
    );
    let method = registry::find("os-plus").unwrap();
    let problem = Problem::regression(of(|i| value(i, 3) + 0.1 * value(i, 900)));
    let spec = MethodSpec::k(4).set("intercept", false);
    let selector = registry::make(method, &spec, &problem, Budget::unlimited()).unwrap();
    let mut lane = Lane::new(problem, selector);
    lane.pinned = ["a", "more", "twice"].map(String::from).into();
    let names_: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
    let data = columns.iter().map(|(_, x)| ColumnData::dense(x.clone())).collect();
    let mut source = Generated::columns(ROWS, data).with_names(move |j| names_[j as usize].clone());
    let driver = Driver::new(&mut source, vec![lane], RunOptions::default()).unwrap();
    let report = driver.run(&mut Fates::default()).unwrap();
    assert_eq!(names(&report.lanes[0].selection.pinned), ["a", "more"]);
}
