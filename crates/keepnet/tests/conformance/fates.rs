//! What becomes of each feature: one fate, constants, missing values, pinned ones, masked rows.

use std::collections::HashSet;

use keepnet::{Budget, Covariate, Missing, Problem, Quiet, RowMap, Target};

use crate::cases::{K, cases, digits};
use crate::common::{Data, width};

#[test]
fn every_feature_has_one_fate() {
    let mut data = Data::normal(100, 150, 16);
    data.columns[7] = vec![3.0; 100];
    for case in cases() {
        let report = case.go(&data, width(16));
        let lane = &report.lanes[0];
        let d = lane.dropped;
        let fates = d.weak + d.redundant + d.constant + d.missing + d.evicted;
        assert_eq!(d.constant, 1, "{case}");
        assert_eq!(fates + lane.selection.selected.len() as u64, 150, "{case} {d:?}");
        if case.has_model() {
            assert_eq!(lane.selection.selected.len(), K, "{case}");
        }
        // A batch method has all it needs after one scan, and so has one that has converged.
        let arrived = lane.trace.last().unwrap().arrived;
        assert_eq!(arrived, 150 * u64::from(report.scans), "{case}");
        if case.method.scans > 0 {
            assert_eq!(report.scans == 1, case.batch() || !case.has_model(), "{case}");
        }
        assert!(lane.trace.len() <= 200);
    }
}

#[test]
fn pinned_features_are_always_in_the_result() {
    let data = Data::normal(120, 100, 17);
    for case in cases() {
        let mut lane = case.lane(case.problem(&data));
        lane.pinned = HashSet::from(["f33".into(), "f90".into()]);
        let report = case.driver(&mut data.dense(), lane, width(16)).run(&mut Quiet).unwrap();
        let selection = &report.lanes[0].selection;
        let always: Vec<u64> = selection.pinned.iter().map(|s| s.id.index).collect();
        assert_eq!(always, [33, 90], "{case}");
        assert!(selection.selected.iter().all(|s| !always.contains(&s.id.index)), "{case}");
    }
}

#[test]
fn covariates_are_in_the_model_or_refused_by_name() {
    let data = Data::normal(120, 100, 17);
    for case in cases() {
        let mut problem = case.problem(&data);
        let values: Vec<f64> = (0..120).map(|i| f64::from(i % 7)).collect();
        problem.covariates.push(Covariate { name: "age".into(), values });
        if let Err(error) = case.make(&problem, Budget::unlimited()) {
            assert!(!case.has_model() && error.to_string().contains("covar"), "{case}: {error}");
            continue;
        }
        let mut lane = case.lane(problem);
        lane.pinned = HashSet::from(["f33".into(), "f90".into()]);
        let report = case.driver(&mut data.dense(), lane, width(16)).run(&mut Quiet).unwrap();
        let selection = &report.lanes[0].selection;
        let always: Vec<u64> = selection.pinned.iter().map(|s| s.id.index).collect();
        assert_eq!(always, [33, 90], "{case}");
        if case.has_model() {
            assert_eq!(selection.covariates[0].name, "age", "{case}");
            assert_eq!(selection.selected.len(), K, "{case}");
        }
        assert!(selection.selected.iter().all(|s| !always.contains(&s.id.index)), "{case}");
    }
}

#[test]
fn several_classes_share_one_kept_set() {
    let data = Data::normal(160, 120, 18);
    let codes: Vec<u32> =
        data.y.iter().map(|y| if *y < -1.0 { 0 } else { 1 + u32::from(*y > 1.0) }).collect();
    let mut models = 0;
    for case in cases() {
        let names = vec!["a".into(), "b".into(), "c".into()];
        let problem = Problem::new(Target::Classes { names, codes: codes.clone() });
        if let Err(error) = case.make(&problem, Budget::unlimited()) {
            let error = error.to_string();
            assert!(error.contains("class") || error.contains("regression"), "{case}: {error}");
            continue;
        }
        let report = case.run(&mut data.dense(), problem, width(16));
        let selection = &report.lanes[0].selection;
        if case.has_model() {
            models += 1;
            assert_eq!(selection.selected.len(), K, "{case}");
            assert!(selection.selected.iter().all(|s| s.coefficient.len() == 3), "{case}");
            assert_eq!(selection.intercept.len(), 3, "{case}");
        }
    }
    let with_model = cases().iter().filter(|case| case.has_model()).count();
    assert!(4 * models >= 3 * with_model, "{models} of {with_model} take three classes");
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
    for case in cases() {
        let mut problem = case.problem(&short);
        problem.rows = RowMap::new(150, take.clone()).unwrap();
        let masked = case.run(&mut data.dense(), problem, width(16));
        assert_eq!(digits(&masked), digits(&case.go(&short, width(16))), "{case}");
    }
}

#[test]
fn missing_values_meet_the_policy_before_any_method() {
    let mut data = Data::normal(80, 40, 20);
    data.columns[4][3] = f64::NAN;
    data.columns[8][0] = f64::INFINITY;
    for case in cases() {
        let with = |missing| {
            let mut lane = case.lane(case.problem(&data));
            lane.policy.missing = missing;
            case.driver(&mut data.dense(), lane, width(16)).run(&mut Quiet)
        };
        let error = with(Missing::Error).unwrap_err().to_string();
        assert!(error.contains("\"f4\"") && error.contains("row 3"), "{case}: {error}");
        assert_eq!(with(Missing::DropFeature).unwrap().lanes[0].dropped.missing, 2, "{case}");
        assert_eq!(with(Missing::Mean).unwrap().lanes[0].dropped.missing, 0, "{case}");
        with(Missing::Indicator).unwrap();
    }
}
