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
/// the ones before span are passed over. `None` where a column is so nearly spanned that the
/// condition number passes 1e6, beyond which nothing is promised.
fn errors(table: &Table, set: &[usize]) -> Option<(f64, f64)> {
    let (centred, total) = table.centring();
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
        match left / size.max(f64::MIN_POSITIVE) {
            share if share < 1e-9 => {}
            share if share < 1e-3 => return None,
            _ => basis.push(x.iter().map(|v| v / left).collect()),
        }
    }
    let mut y = centred(&table.y);
    let constant = dot(&y, &y) / total;
    project(&mut y, &basis);
    Some((dot(&y, &y) / total, constant))
}

fn all_places(selection: &Selection) -> Vec<usize> {
    let features = selection.selected.iter().chain(&selection.pinned);
    features.map(|f| f.id.index as usize).collect()
}

fn assert_fits(table: &Table, found: &Selection, most: f64, what: &str) {
    let Some((want, constant)) = errors(table, &all_places(found)) else { return };
    let got = 2.0 * found.loss.unwrap();
    assert!((got - want).abs() <= most * constant, "{what}: error {got}, least squares {want}");
    assert!(got <= constant * (1.0 + most), "{what}: {got} above the constant model's {constant}");
    // The model's own predictions, from its coefficients and intercept as shown.
    let total: f64 = table.w.iter().sum();
    let (mut sum, mut size) = (0.0, 0.0f64);
    for (i, w) in table.w.iter().enumerate() {
        let features = found.selected.iter().chain(&found.pinned);
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
    for seed in 0..40 {
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
                    problem.pinned = vec![(p / 2) as u32];
                }
                let what = format!("seed {seed} {name} {products} n {n} p {p} k {k}");
                let mut whole = learner(name, &problem, &spec);
                // A copy of a copy may be scaled beyond what f32 products take, which is said.
                if whole.learn_block(&table.all()).is_err() {
                    continue;
                }
                let found = match whole.selection() {
                    Err(error @ Error::Defect(_)) => panic!("{what}: {error}"),
                    Err(_) => continue,
                    Ok(found) => found,
                };
                runs += 1;
                let warned = found.warnings.iter().any(|w| w.contains("products=f64"));
                // A result in f32 that does not warn is good to a thousandth.
                let most = if products == "f64" { 1e-6 } else { 1e-3 };
                if !warned {
                    assert_fits(&table, &found, most, &what);
                }
                resumed_and_merged(&table, (name, &problem, &spec), &found, &what);
            }
        }
    }
    assert!(runs > 300, "{runs}");
}

#[test]
fn sparse_rows_and_classes_have_the_fit_of_least_squares_too() {
    for seed in 100..130 {
        let table = table(seed);
        let (n, p) = (table.y.len(), table.x.len());
        for name in ["annealed-ridge", "olsth", "ofsa", "ols"] {
            let what = format!("seed {seed} {name} n {n} p {p}");
            let spec = MethodSpec::k(1 + seed as usize % p).set("products", "f64");
            let mut sparse = learner(name, &RowProblem::regression(p), &spec);
            sparse.learn_block(&table.sparse()).unwrap();
            match sparse.selection() {
                Err(error @ Error::Defect(_)) => panic!("{what}: {error}"),
                Err(_) => {}
                Ok(found) => assert_fits(&table, &found, 1e-6, &format!("{what}, sparse")),
            }
            // Three classes by the target's thirds: an output each, 1 for the class and -1 else.
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|a, b| table.y[*a].total_cmp(&table.y[*b]));
            let mut classes = table.clone();
            order.iter().enumerate().for_each(|(at, i)| classes.y[*i] = (3 * at / n) as f64);
            let names = ["a", "b", "c"].map(String::from).to_vec();
            let problem = RowProblem { classes: names, ..RowProblem::regression(p) };
            let mut three = learner(name, &problem, &spec);
            three.learn_block(&classes.all()).unwrap();
            let found = match three.selection() {
                Err(error @ Error::Defect(_)) => panic!("{what}: {error}"),
                Err(_) => continue,
                Ok(found) => found,
            };
            let of = |class: usize| {
                let mut one = classes.clone();
                let margin = |y: &mut f64| *y = if *y as usize == class { 1.0 } else { -1.0 };
                one.y.iter_mut().for_each(margin);
                errors(&one, &all_places(&found))
            };
            let Some([a, b, c]) = of(0).zip(of(1)).zip(of(2)).map(|((a, b), c)| [a, b, c]) else {
                continue;
            };
            let (want, constant) = (a.0 + b.0 + c.0, a.1 + b.1 + c.1);
            let got = 2.0 * found.loss.unwrap();
            assert!((got - want).abs() < 1e-6 * constant, "{what}, classes: {got} for {want}");
        }
    }
}

#[test]
fn the_logistic_loss_is_the_same_in_any_blocks_and_after_a_save() {
    let mut table = Table::new(2900, 9, &[2.0, -1.0, 0.5], 7);
    table.y.iter_mut().for_each(|y| *y = f64::from(u8::from(*y > 0.0)));
    for spec in [
        MethodSpec::k(3),
        MethodSpec::k(2).set("active", 8),
        MethodSpec::k(3).set("choose", "holdout"),
        MethodSpec::default().set("forget", 0.002),
    ] {
        let spec = MethodSpec { loss: Some(keepnet::LossKind::Logistic), ..spec };
        let make = || learner("annealed-ridge", &RowProblem::binary(9), &spec);
        let shown = |s: Selection| format!("{:?} {:?} {:?}", s.selected, s.intercept, s.metrics);
        let mut whole = make();
        whole.learn_block(&table.all()).unwrap();
        let (mut parts, mut from) = (make(), 0);
        for length in [1, 255, 256, 61, 700, 300].into_iter().cycle() {
            let to = table.y.len().min(from + length);
            parts.learn_block(&table.block(from..to)).unwrap();
            let _ = parts.selection();
            let mut next = make();
            next.restore(&parts.save().unwrap()).unwrap();
            (parts, from) = (next, to);
            if from == table.y.len() {
                break;
            }
        }
        let (a, b) = (whole.selection().unwrap(), parts.selection().unwrap());
        assert_eq!(shown(a), shown(b), "{:?}", spec.settings);
    }
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
    let shown = |s: &Selection| format!("{:?} {:?} {:?}", s.selected, s.pinned, s.intercept);
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
    let constant = errors(table, &[]).map_or(0.0, |(_, constant)| constant);
    // Ties of copies may go either way; the fit may not.
    let mut sets = [all_places(&found), all_places(want)];
    sets.iter_mut().for_each(|set| set.sort_unstable());
    if sets[0] == sets[1] && errors(table, &sets[0]).is_some() {
        assert!((a - b).abs() <= 1e-3 * constant, "{what}: merged {a}, whole {b}");
    }
}
