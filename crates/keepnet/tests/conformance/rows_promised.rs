//! Methods on rows: the relations that each of them promises, and averages that are merged.

use keepnet::LossKind;
use keepnet::registry::Relation;

use crate::row_cases::{Case, Sample, assert_near, block, cases};

/// The cases that promise a relation, and what they are called with it.
fn promising(relation: Relation) -> impl Iterator<Item = (Case, String)> {
    // The logistic loss on rows goes by the place of a row (docs/promises.md).
    let by_place = matches!(relation, Relation::RowOrder | Relation::Doubled);
    let promises = move |case: &Case| {
        case.promises(relation) && !(by_place && case.loss == Some(LossKind::Logistic))
    };
    let what = move |case: Case| {
        let what = format!("{case} {}", relation.name());
        (case, what)
    };
    let promised: Vec<Case> = cases().into_iter().filter(promises).collect();
    assert!(!promised.is_empty(), "no method promises {}", relation.name());
    promised.into_iter().map(what)
}

#[test]
fn averages_of_parts_merge_into_those_of_all_rows() {
    let mut merged = 0;
    for case in cases() {
        let (all, spec) = (case.rows(900, 31), case.promised(3));
        let part = |rows: &[Sample]| {
            let mut learner = case.make(&spec);
            learner.learn_block(&block(rows, false)).unwrap();
            learner
        };
        // The methods of steps have none.
        let Some(first) = part(&all[..300]).averages() else { continue };
        let mut averages = first.unwrap();
        for rows in all[300..].chunks(300) {
            averages.merge(&part(rows).averages().unwrap().unwrap()).unwrap();
        }
        assert_eq!(averages.rows(), 900, "{case}");
        let mut learner = case.make(&spec);
        learner.load(averages).unwrap();
        let (got, want) = (learner.selection().unwrap(), case.learn(&spec, &all));
        assert_near(&case.to_string(), &want, &got, 1e-9, |_| 1.0);
        merged += 1;
    }
    assert!(merged > 0);
}

#[test]
fn a_row_of_weight_two_is_that_row_twice() {
    for (case, what) in promising(Relation::Doubled) {
        let mut heavy = case.rows(500, 32);
        let mut twice = Vec::new();
        for (i, (x, y, w)) in heavy.iter_mut().enumerate() {
            *w = if i % 3 == 0 { 2.0 } else { 1.0 };
            (0..*w as usize).for_each(|_| twice.push((x.clone(), *y, 1.0)));
        }
        let spec = case.promised(3);
        assert_near(&what, &case.learn(&spec, &heavy), &case.learn(&spec, &twice), 1e-6, |_| 1.0);
    }
}

#[test]
fn the_order_of_rows_does_not_matter_where_that_is_promised() {
    for (case, what) in promising(Relation::RowOrder) {
        let all = case.rows(500, 33);
        let mut turned = all.clone();
        turned.reverse();
        turned.swap(7, 400);
        let spec = case.promised(3);
        assert_near(&what, &case.learn(&spec, &all), &case.learn(&spec, &turned), 1e-6, |_| 1.0);
    }
}

#[test]
fn scaled_columns_give_the_same_set_and_coefficients_follow() {
    for (case, what) in promising(Relation::Columns) {
        let factor = |j: u64| 2f64.powi((j % 7) as i32 - 3);
        let all = case.rows(500, 34);
        let mut scaled = all.clone();
        for (x, ..) in &mut scaled {
            (0..).zip(x).for_each(|(j, x)| *x *= factor(j));
        }
        let spec = case.promised(3);
        assert_near(&what, &case.learn(&spec, &all), &case.learn(&spec, &scaled), 1e-6, factor);
    }
}

#[test]
fn a_scaled_target_gives_the_same_set_and_coefficients_follow() {
    for (case, what) in promising(Relation::Target).filter(|(case, _)| !case.classes) {
        let all = case.rows(500, 35);
        let mut scaled = all.clone();
        scaled.iter_mut().for_each(|(_, y, _)| *y = 4.0 * *y + 3.0);
        let spec = case.promised(3);
        assert_near(&what, &case.learn(&spec, &all), &case.learn(&spec, &scaled), 1e-6, |_| 0.25);
    }
}
