//! Every method on rows, through the registry: blocks, saving, sparse rows, refusals, worked steps.

#[path = "common/row_blocks.rs"]
mod row_blocks;

use keepnet::registry::{self, MethodSpec};
use keepnet::{Budget, Row, RowBlock, RowProblem, Selection, Stream};
use row_blocks::{P, block, make, problem, rows};

fn names() -> Vec<&'static str> {
    let rows = |m: &&&registry::MethodInfo| m.stream == Stream::Samples;
    registry::methods().iter().filter(rows).map(|m| m.name).collect()
}

fn shown(s: &Selection) -> String {
    let features: Vec<_> = s.selected.iter().map(|f| (f.id, &f.coefficient, f.score)).collect();
    format!("{features:?} {:?} {:?} {:?}", s.intercept, s.loss, s.metrics)
}

#[test]
fn averages_find_the_features_that_matter() {
    for name in names() {
        if registry::find(name).unwrap().settings.iter().any(|s| s.name == "products") {
            let mut learner = make(name, &MethodSpec::k(3));
            learner.learn_block(&block(&rows(3000, 6, false), false)).unwrap();
            let selection = learner.selection().unwrap();
            if name != "ols" {
                let mut found = selection.indices();
                found.sort_unstable();
                assert_eq!(found, [0, 1, 2], "{name}");
            }
            let mut out = [0.0];
            let mut x = vec![0.0; P];
            x[0] = 1.0;
            learner.predict(Row::F64(&x), &mut out).unwrap();
            assert!((out[0] - 2.0).abs() < 0.1, "{name}: {}", out[0]);
        }
    }
}

#[test]
fn the_number_of_features_is_chosen_when_k_is_not_given() {
    for choose in ["bic", "ebic", "holdout"] {
        for name in ["annealed-ridge", "olsth", "ofsa", "olasso", "omcp"] {
            let spec = MethodSpec::default().set("choose", choose);
            let mut learner = make(name, &spec);
            learner.learn_block(&block(&rows(4000, 7, false), false)).unwrap();
            let selection = learner.selection().unwrap();
            let found = selection.indices();
            assert!([0, 1, 2].iter().all(|j| found.contains(j)), "{name} {choose}: {found:?}");
            assert!(found.len() <= 6, "{name} {choose}: {found:?}");
        }
    }
}

#[test]
fn three_classes_share_one_choice() {
    let problem = RowProblem {
        classes: vec!["a".into(), "b".into(), "c".into()],
        ..RowProblem::regression(P)
    };
    let class = |x: &[f64]| {
        if x[0] > 1.0 {
            0.0
        } else if x[5] > 0.8 {
            1.0
        } else {
            2.0
        }
    };
    let all: Vec<_> =
        rows(3000, 8, false).into_iter().map(|(x, _, w)| (x.clone(), class(&x), w)).collect();
    for name in ["annealed-ridge", "olsth", "ofsa"] {
        let method = registry::find(name).unwrap();
        let mut learner =
            registry::make_rows(method, &MethodSpec::k(2), &problem, Budget::unlimited()).unwrap();
        learner.learn_block(&block(&all, false)).unwrap();
        let selection = learner.selection().unwrap();
        let mut found = selection.indices();
        found.sort_unstable();
        assert_eq!(found, [0, 5], "{name}");
        assert_eq!((selection.intercept.len(), selection.selected[0].coefficient.len()), (3, 3));
    }
    let lasso = registry::find("olasso").unwrap();
    let refused = registry::make_rows(lasso, &MethodSpec::k(2), &problem, Budget::unlimited());
    assert!(refused.err().unwrap().to_string().contains("3 classes"));
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let refused = |name: &str, spec: MethodSpec| {
        let method = registry::find(name).unwrap();
        let made = registry::make_rows(method, &spec, &problem(name).0, Budget::unlimited());
        made.err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert!(refused("sgd", MethodSpec::default()).contains("k is not given"));
    assert!(refused("ofsa", MethodSpec::k(2).set("step", 2.5)).contains("step is 2.5"));
    assert!(refused("omcp", MethodSpec::k(2).set("gamma", 1)).contains("above 1"));
    assert!(
        refused("olasso", MethodSpec::k(2).set("solver", "magic")).contains("lars, cd or ista")
    );
    assert!(refused("olsth", MethodSpec::k(2).set("drop", 1)).contains("olsth knows"));
    for name in ["olasso", "omcp"] {
        let both = MethodSpec::k(2).set("solver", "ista").set("lambda", 0.1);
        assert!(refused(name, both).contains("ista walks to k"), "{name}");
    }
    let holdout = MethodSpec::k(2).set("choose", "holdout").set("forget", 0.1);
    assert!(refused("ofsa", holdout).contains("forgetting"));
    let few = block(&rows(5, 9, false), false);
    let mut olsth = make("olsth", &MethodSpec::k(2));
    olsth.learn_block(&few).unwrap();
    assert!(olsth.selection().unwrap_err().to_string().contains("needs more than"));
    // Least squares on every feature has the shortest solution there, which meets every row.
    let mut ols = make("ols", &MethodSpec::default());
    ols.learn_block(&few).unwrap();
    assert!(ols.selection().unwrap().selected.len() > 5);
    for (row, y) in few.rows().zip(few.y()) {
        let mut fitted = [0.0];
        ols.predict(row, &mut fitted).unwrap();
        assert!((fitted[0] - y).abs() < 1e-4, "{} {y}", fitted[0]);
    }
    let method = registry::find("olsth").unwrap();
    let tight = registry::make_rows(
        method,
        &MethodSpec::k(2),
        &RowProblem::regression(10_000),
        Budget::bytes(100_000),
    );
    assert!(tight.err().unwrap().to_string().contains("raise `memory`"));
}

/// One learner, two rows, weights by feature.
fn weights(name: &str, spec: &MethodSpec, classes: bool, rows: &[([f64; 2], f64)]) -> Vec<f64> {
    let problem = if classes { RowProblem::binary(2) } else { RowProblem::regression(2) };
    let method = registry::find(name).unwrap();
    // The rule itself, on the rows as they are.
    let spec = &spec.clone().set("standardise", false);
    let mut learner = registry::make_rows(method, spec, &problem, Budget::unlimited()).unwrap();
    for (x, y) in rows {
        let mut block = RowBlock::new(2, 1);
        block.push(Row::F64(x), *y, 1.0).unwrap();
        learner.learn_block(&block).unwrap();
    }
    let selection = learner.selection().unwrap();
    let mut w = vec![0.0; 2];
    selection.selected.iter().for_each(|f| w[f.id.index as usize] = f.coefficient[0]);
    w
}

fn near(a: &[f64], b: [f64; 2]) {
    assert!((a[0] - b[0]).abs() < 1e-12 && (a[1] - b[1]).abs() < 1e-12, "{a:?} {b:?}");
}

#[test]
fn rules_step_as_worked_by_hand() {
    let spec = MethodSpec::k(2).set("rate", 0.2).set("power", 0);
    // eta = 0.2 / 2 = 0.1. Row (1, 2), y 3: f = 0, slope -3, w = (0.3, 0.6), b0 = 0.3.
    let one = [([1.0, 2.0], 3.0)];
    near(&weights("sgd", &spec, false, &one), [0.3, 0.6]);
    // Row (1, -1), y 0: f = 0.3 - 0.6 + 0.3 = 0, nothing moves.
    let two = [([1.0, 2.0], 3.0), ([1.0, -1.0], 0.0)];
    near(&weights("sgd", &spec, false, &two), [0.3, 0.6]);
    near(&weights("siht", &MethodSpec { k: Some(1), ..spec.clone() }, false, &one), [0.0, 0.6]);
    // A soft threshold of eta lambda = 0.1 after each row: after row 1 (0.2, 0.5);
    // row 2: f = 0.2 - 0.5 + 0.3 = 0, so (0.1, 0.4).
    near(&weights("opg", &spec.clone().set("lambda", 1), false, &two), [0.1, 0.4]);
    // Every 2 rows by 2 * 0.1 * 0.5 = 0.1.
    let truncated = spec.clone().set("lambda", 0.5).set("every", 2);
    near(&weights("truncated-gradient", &truncated, false, &two), [0.2, 0.5]);
    // theta 0.5 spares the larger weight.
    near(&weights("truncated-gradient", &truncated.set("theta", 0.5), false, &two), [0.2, 0.6]);
    // Dual averaging, gamma p = 1: G = (-3, -6), w = -(1/1) soft(G, 1) = (2, 5).
    let rda = MethodSpec::k(2).set("gamma", 0.5).set("lambda", 1);
    near(&weights("rda", &rda, false, &one), [2.0, 5.0]);
    // Perceptron: y = +1, w = 0.2 (3, 4); |w| = 1 within the ball of radius 10.
    let hit = [([3.0, 4.0], 1.0)];
    near(&weights("ofs", &MethodSpec::k(2), true, &hit), [0.6, 0.8]);
    // lambda 4: the ball has radius 0.5.
    near(&weights("ofs", &MethodSpec::k(2).set("lambda", 4), true, &hit), [0.3, 0.4]);
    // SOFS, r 1: beta = 1 / (1 + 25), w = (3, 4) / 26; Sigma = (1/10, 1/17), so k 1 keeps x_1.
    near(&weights("sofs", &MethodSpec::k(2), true, &hit), [3.0 / 26.0, 4.0 / 26.0]);
    near(&weights("sofs", &MethodSpec::k(1), true, &hit), [0.0, 4.0 / 26.0]);
    // ADMM, eta 1, rho 1, lambda 1: x = -g / 2 = (1.5, 3), z = soft(x, 1) = (0.5, 2).
    let admm = MethodSpec::k(2).set("rate", 1).set("rho", 1).set("lambda", 1);
    near(&weights("opg-sadmm", &admm, false, &one), [0.5, 2.0]);
    // Dual averaging ADMM: x = 1 * (3, 6), z = (2, 5).
    near(&weights("rda-sadmm", &admm, false, &one), [2.0, 5.0]);
}

#[test]
fn regret_falls_and_is_not_negative() {
    let spec = MethodSpec::k(3).set("regret", true).set("rate", 0.5);
    let mut learner = make("sgd", &spec);
    let mut course = Vec::new();
    for part in rows(6000, 10, false).chunks(1000) {
        learner.learn_block(&block(part, false)).unwrap();
        let selection = learner.selection().unwrap();
        let (_, value) = selection.metrics.iter().find(|m| m.0 == "regret").unwrap();
        let keepnet::Value::Float(regret) = value else { panic!("regret is a number") };
        course.push(*regret);
    }
    assert!(course.windows(2).all(|w| w[1] < w[0]) && course[5] > 0.0, "{course:?}");
}

#[test]
fn an_active_set_depends_on_rows_alone_and_survives_saving() {
    let spec = MethodSpec::k(2).set("active", 8);
    let all = rows(5000, 11, false);
    for sparse in [false, true] {
        let mut once = make("annealed-ridge", &spec);
        once.learn_block(&block(&all, sparse)).unwrap();
        let mut parts = make("annealed-ridge", &spec);
        for part in all.chunks(333) {
            parts.learn_block(&block(part, sparse)).unwrap();
            let mut taken_up = make("annealed-ridge", &spec);
            taken_up.restore(&parts.save().unwrap()).unwrap();
            parts = taken_up;
        }
        let (a, b) = (once.selection().unwrap(), parts.selection().unwrap());
        assert_eq!(shown(&a), shown(&b));
        let mut found = a.indices();
        found.sort_unstable();
        assert_eq!(found, [0, 1]);
    }
}
