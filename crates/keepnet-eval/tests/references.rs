//! Classifiers against scikit-learn 1.9.1 and Weka 3.6.14.
//!
//! The data come from a linear congruential generator, so that other programs can make them:
//! 600 rows of five whole numbers, every fifth row for testing. scikit-learn:
//! `KNeighborsClassifier(1)` and `LinearSVC(loss="hinge", dual=True, tol=1e-8)` after
//! `StandardScaler` on the training rows. Weka: `J48` with its defaults and with `-U`.

use keepnet_eval::classify::{Svm, SvmParams, Tree, TreeParams};
use keepnet_eval::metrics::{auc_of_classes, classes, error};
use keepnet_eval::{ClassifierKind, Matrix, Scale, judge};

struct Data {
    train: Matrix,
    train_codes: Vec<u32>,
    test: Matrix,
    test_codes: Vec<u32>,
}

fn data(classes: u64) -> Data {
    let mut state: u64 = 12345;
    let mut draw = || {
        state = (state * 1_103_515_245 + 12345) % 2_147_483_648;
        (state >> 16) % 1000
    };
    let (mut parts, mut codes) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for i in 0..600u64 {
        let c = i % classes;
        let part = usize::from(i % 5 == 0);
        for j in 0..5 {
            let shift = match (j, c) {
                (0, _) => 250 * c,
                (1, 1) => 400,
                (2, _) => (i % 7) * 60,
                _ => 0,
            };
            parts[part].push((draw() + shift) as f64);
        }
        codes[part].push(c as u32);
    }
    let [train, test] = parts;
    let [train_codes, test_codes] = codes;
    Data {
        train: Matrix::new(480, 5, train).unwrap(),
        train_codes,
        test: Matrix::new(120, 5, test).unwrap(),
        test_codes,
    }
}

fn wrong(kind: ClassifierKind, classes_: u64) -> (f64, f64) {
    let data = data(classes_);
    let scores = judge(kind, &data.train, &data.train_codes, classes_ as usize, &data.test);
    let share = error(&data.test_codes, &classes(&scores));
    (120.0 * share, auc_of_classes(&scores, &data.test_codes).unwrap())
}

#[test]
fn the_nearest_neighbour_is_that_of_scikit_learn() {
    let (two, auc) = wrong(ClassifierKind::Nearest, 2);
    assert_eq!(two.round(), 29.0);
    assert!((auc - 0.758_333_333_333_333_3).abs() < 1e-12, "{auc}");
    assert_eq!(wrong(ClassifierKind::Nearest, 3).0.round(), 52.0);
}

#[test]
fn the_support_vector_machine_is_that_of_scikit_learn() {
    let data = data(2);
    let x = Scale::fit(&data.train).apply(&data.train);
    let params = SvmParams { tolerance: 1e-8, passes: 100_000, ..SvmParams::default() };
    let svm = Svm::fit(&x, &data.train_codes, 2, &params);
    let (w, b) = &svm.outputs()[0];
    let loss: f64 = (0..x.rows())
        .map(|i| {
            let margin: f64 = x.row(i).iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + b;
            let y = if data.train_codes[i] == 1 { 1.0 } else { -1.0 };
            (1.0 - y * margin).max(0.0)
        })
        .sum();
    let objective = 0.5 * (w.iter().map(|w| w * w).sum::<f64>() + b * b) + loss;
    assert!((objective / 247.845_368_003_301_08 - 1.0).abs() < 1e-5, "{objective}");
    for (got, want) in w.iter().zip([0.695_345, 1.084_768, 0.052_807, -0.026_544, 0.062_478]) {
        assert!((got - want).abs() < 1e-3, "{w:?}");
    }
    // The default tolerance decides the same.
    let (two, auc) = wrong(ClassifierKind::Svm, 2);
    assert_eq!(two.round(), 26.0);
    assert!((auc - 0.880_277_777_777_777_7).abs() < 2e-3, "{auc}");
    assert!((wrong(ClassifierKind::Svm, 3).0.round() - 47.0).abs() <= 1.0);
}

#[test]
fn the_tree_is_that_of_weka() {
    for (classes_, pruned, whole, test) in [(2, 3, 3, 22.0), (3, 13, 15, 55.0)] {
        let data = data(classes_);
        let fit = |prune| {
            let params = TreeParams { prune, ..TreeParams::default() };
            Tree::fit(&data.train, &data.train_codes, classes_ as usize, &params).leaves()
        };
        assert_eq!((fit(true), fit(false)), (pruned, whole), "{classes_} classes");
        assert_eq!(wrong(ClassifierKind::Tree, classes_).0.round(), test, "{classes_} classes");
    }
}
