//! Random tables through every method on running averages: refits, merged parts, resumed runs.
//!
//! Each result is compared with least squares by QR on its own features. What a method refuses is no
//! failure; a result that contradicts itself (`Error::Defect`) is.

#[path = "common/row_table.rs"]
mod row_table;

use keepnet::learn::SavedAverages;
use keepnet::registry::MethodSpec;
use keepnet::{Error, RowProblem, Selection};
use row_table::{Table, learner, random};

const METHODS: [&str; 9] =
    ["annealed-ridge", "olsth", "ofsa", "olasso", "oalasso", "oelnet", "omcp", "oscad", "ols"];

/// Columns of any unit and offset, copies, near copies, negative pairs, constants and rare values.
fn table(seed: u64) -> Table {
    let mut next = random(seed);
    let mut pick = |n: usize| ((next().abs() * 1e6) as usize) % n;
    let (n, p) = (5 + pick(396), 2 + pick(10));
    let mut table = Table::new(n, p, &[1.0, -0.6], seed + 1);
    for j in 0..p {
        let (kind, other) = (pick(12), pick(p));
        let source = table.x[other].clone();
        let column = &mut table.x[j];
        match kind {
            0 => *column = source,
            1 => column.iter_mut().zip(&source).for_each(|(x, s)| *x = s + 0.05 * *x),
            2 => column.iter_mut().zip(&source).for_each(|(x, s)| *x = -s + 0.3 * *x),
            3 => column.fill(0.3),
            4 => column.iter_mut().for_each(|x| *x = f64::from(u8::from(*x > 1.2))),
            5 => column.iter_mut().for_each(|x| *x = x.round()),
            _ => {}
        }
        let scale = 10f64.powi(pick(13) as i32 - 6);
        let offset = [0.0, 0.0, 1.0, -1e3, 1e8][pick(5)];
        column.iter_mut().for_each(|x| *x = scale * (*x + offset));
    }
    let offset = [0.0, 1e3, 1e10][pick(3)];
    table.y.iter_mut().for_each(|y| *y += offset);
    if pick(2) == 0 {
        let unit = [1.0, 1e-9, 1e12][pick(3)];
        table.w.iter_mut().for_each(|w| *w = unit * (1 + pick(4)) as f64);
    }
    table
}

/// Mean squared error and that of the constant model, by Gram and Schmidt done twice; columns that
/// the ones before span are passed over.
fn errors(table: &Table, set: &[usize]) -> (f64, f64) {
    let most = table.w.iter().copied().fold(0.0, f64::max);
    let w: Vec<f64> = table.w.iter().map(|w| w / most).collect();
    let total: f64 = w.iter().sum();
    let centred = |x: &[f64]| -> Vec<f64> {
        let mut x: Vec<f64> = x.iter().map(|v| v - x[0]).collect();
        for _ in 0..2 {
            let mean = x.iter().zip(&w).map(|(x, w)| w * x).sum::<f64>() / total;
            x.iter_mut().for_each(|x| *x -= mean);
        }
        x.iter().zip(&w).map(|(x, w)| w.sqrt() * x).collect()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let project = |x: &mut Vec<f64>, basis: &[Vec<f64>]| {
        for _ in 0..2 {
            for u in basis {
                let scale = dot(x, u);
                x.iter_mut().zip(u).for_each(|(x, u)| *x -= scale * u);
            }
        }
    };
    for j in set {
        let mut x = centred(&table.x[*j]);
        let size = dot(&x, &x).sqrt();
        project(&mut x, &basis);
        let left = dot(&x, &x).sqrt();
        if left > 1e-6 * size {
            basis.push(x.iter().map(|v| v / left).collect());
        }
    }
    let mut y = centred(&table.y);
    let constant = dot(&y, &y) / total;
    project(&mut y, &basis);
    (dot(&y, &y) / total, constant)
}

fn all_places(selection: &Selection) -> Vec<usize> {
    let features = selection.selected.iter().chain(&selection.always);
    features.map(|f| f.id.index as usize).collect()
}

fn assert_fits(table: &Table, found: &Selection, most: f64, what: &str) {
    let (want, constant) = errors(table, &all_places(found));
    let got = 2.0 * found.loss.unwrap();
    assert!((got - want).abs() <= most * constant, "{what}: error {got}, least squares {want}");
    assert!(got <= constant * (1.0 + most), "{what}: {got} above the constant model's {constant}");
    // The model's own predictions, from its coefficients and intercept as shown.
    let total: f64 = table.w.iter().sum();
    let (mut sum, mut size) = (0.0, 0.0f64);
    for (i, w) in table.w.iter().enumerate() {
        let features = found.selected.iter().chain(&found.always);
        let terms: Vec<f64> =
            features.map(|f| f.coefficient[0] * table.x[f.id.index as usize][i]).collect();
        let fit = found.intercept[0] + terms.iter().sum::<f64>();
        sum += w / total * (table.y[i] - fit).powi(2);
        size = size.max(terms.iter().map(|t| t.abs()).fold(table.y[i].abs(), f64::max));
    }
    // Terms of an offset of 1e8 deviations cancel; what is left of them is rounding.
    let slack = most * constant + 1e-14 * size * (1e-14 * size + constant.sqrt());
    assert!((sum - got).abs() <= slack, "{what}: predictions have error {sum}, the fit {got}");
}

#[test]
fn every_refit_is_least_squares_on_its_own_features() {
    let mut runs = 0;
    for seed in 0..60 {
        let table = table(seed);
        let (n, p) = (table.y.len(), table.x.len());
        for (at, name) in METHODS.iter().enumerate() {
            let mut next = random(1000 * seed + at as u64);
            let k = 1 + (next().abs() * 1e6) as usize % p;
            for products in ["f64", "f32"] {
                let mut spec = MethodSpec::k(k).set("products", products);
                if next() > 1.0 {
                    spec.k = None;
                    spec = spec.set("choose", "ebic");
                }
                let mut problem = RowProblem::regression(p);
                if next() > 0.8 {
                    problem.always = vec![(p / 2) as u32];
                }
                let what = format!("seed {seed} {name} {products} n {n} p {p} k {k}");
                let mut whole = learner(name, &problem, &spec);
                whole.learn_block(&table.all()).unwrap();
                let found = match whole.selection() {
                    Err(error @ Error::Defect(_)) => panic!("{what}: {error}"),
                    Err(_) => continue,
                    Ok(found) => found,
                };
                runs += 1;
                let warned = found.warnings.iter().any(|w| w.contains("products=f64"));
                let most = if products == "f64" { 1e-6 } else { 1e-4 };
                if !warned {
                    assert_fits(&table, &found, most, &what);
                }
                resumed_and_merged(&table, (name, &problem, &spec), &found, &what);
            }
        }
    }
    assert!(runs > 500, "{runs}");
}

/// A run saved and taken up at a random row is the same to the last digit; averages of two parts
/// merged give the model of the whole.
fn resumed_and_merged(
    table: &Table,
    (name, problem, spec): (&str, &RowProblem, &MethodSpec),
    want: &Selection,
    what: &str,
) {
    let n = table.y.len();
    let cut = 1 + n * 3 / 7;
    let shown = |s: &Selection| format!("{:?} {:?} {:?}", s.selected, s.always, s.intercept);
    let mut first = learner(name, problem, spec);
    first.learn_block(&table.block(0..cut)).unwrap();
    let mut second = learner(name, problem, spec);
    second.restore(&first.save().unwrap()).unwrap();
    second.learn_block(&table.block(cut..n)).unwrap();
    assert_eq!(shown(&second.selection().unwrap()), shown(want), "{what}: resumed");
    let mut rest = learner(name, problem, spec);
    rest.learn_block(&table.block(cut..n)).unwrap();
    let saved = |learner: &dyn keepnet::RowLearner| {
        let averages = learner.averages().unwrap().unwrap();
        let file = SavedAverages { problem: problem.clone(), averages }.to_bytes().unwrap();
        SavedAverages::from_bytes(&file).unwrap()
    };
    let mut merged = saved(rest.as_ref());
    merged.merge(&saved(first.as_ref())).unwrap();
    let mut third = learner(name, problem, spec);
    third.load(merged.averages).unwrap();
    let Ok(found) = third.selection() else { return };
    let (a, b) = (found.loss.unwrap(), want.loss.unwrap());
    let (_, constant) = errors(table, &[]);
    // Ties of copies may go either way; the fit may not.
    let mut sets = [all_places(&found), all_places(want)];
    sets.iter_mut().for_each(|set| set.sort_unstable());
    if sets[0] == sets[1] {
        assert!((a - b).abs() < 1e-4 * constant, "{what}: merged {a}, whole {b}");
    }
}
