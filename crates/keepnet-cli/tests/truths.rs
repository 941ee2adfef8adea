//! What an answer of the program may not depend on: constants beside the features, the scale of
//! weights, the width in which a column is stored.
//!
//! What is expected is known by construction, or is the program's own answer to the same numbers
//! in another form.

mod common;

use common::{Folder, chosen, random};

const ROWS: usize = 300;
const COLUMNS: [&str; 11] = [
    "os-plus",
    "os",
    "saola",
    "alpha-investing",
    "fast-osfs",
    "grafting",
    "lasso",
    "l0-cd",
    "l1-cd",
    "proj-gd",
    "grafting-light",
];
const AVERAGES: [&str; 5] = ["annealed-ridge", "ols", "olsth", "ofsa", "olasso"];
const RIVALS: [&str; 4] = ["sgd", "rda", "opg", "tsgd"];

/// `n` rows of `p` features that are half zeros; `y = x0 - 2 x1 + noise`.
fn rows(n: usize, p: usize) -> Vec<(Vec<f64>, f64)> {
    let mut next = random(3);
    let row = |_| {
        let x: Vec<f64> = (0..p).map(|_| if next() < 0.0 { 0.0 } else { next() }).collect();
        let y = x[0] - 2.0 * x[1] + 0.1 * next();
        (x, y)
    };
    (0..n).map(row).collect()
}

/// A table as CSV, the target last.
fn csv(rows: &[(Vec<f64>, f64)]) -> String {
    let p = rows[0].0.len();
    let mut text = (0..p).map(|j| format!("x{j},")).collect::<String>() + "y\n";
    for (x, y) in rows {
        let cell = |v: &f64| if v.is_nan() { ",".into() } else { format!("{v},") };
        text += &(x.iter().map(cell).collect::<String>() + &format!("{y}\n"));
    }
    text
}

/// The same as svm text, where zeros are not stored.
fn svm(rows: &[(Vec<f64>, f64)]) -> String {
    let line = |(x, y): &(Vec<f64>, f64)| {
        let stored = x.iter().enumerate().filter(|(_, v)| **v != 0.0);
        let stored: String = stored.map(|(j, v)| format!(" {}:{v}", j + 1)).collect();
        format!("{y}{stored}\n").replace("NaN", "nan")
    };
    rows.iter().map(line).collect()
}

/// Sums of 0.1, 0.3 and 1.1 are rounded for nearly every number of rows, and so is a mean that
/// fills a gap; a column of one value is constant nevertheless, in every storage.
fn no_constant_varies(methods: &[&str]) {
    for (n, holes) in [(10, false), (10, true), (97, true), (ROWS, false), (ROWS, true)] {
        let folder = Folder::new();
        let mut table = rows(n, 3);
        for (i, (x, _)) in table.iter_mut().enumerate() {
            let gone = holes && i % 5 == 2;
            x.extend([0.1, 0.3, 1.1].map(|v| if gone { f64::NAN } else { v }));
        }
        folder.write("d.csv", csv(&table)).write("d.svm", svm(&table));
        for method in methods {
            for input in ["d.svm", "d.csv --target y"] {
                let what = format!("{method} {input}, {n} rows, holes {holes}");
                let got = folder.select(&format!("{input} -k 5 --method {method} --missing mean"));
                let kept = got["selected"].as_array().unwrap().iter();
                let kept: Vec<u64> = kept.map(|f| f["index"].as_u64().unwrap()).collect();
                assert!(kept.iter().all(|index| *index < 3), "{what} keeps {kept:?}");
                assert_eq!(got["dropped"]["constant"].as_u64(), Some(3), "{what}");
            }
        }
    }
}

#[test]
fn a_column_of_one_value_does_not_vary() {
    no_constant_varies(&COLUMNS);
}

#[test]
fn a_feature_of_one_value_does_not_vary_in_rows() {
    no_constant_varies(&AVERAGES);
    no_constant_varies(&RIVALS);
}

/// The same weights as counts of rows, summing to 1, and very large.
const WEIGHTS: [&str; 3] = ["counts", "one", "large"];

/// 300 rows of 6 features, and the weights as columns beside them.
fn weighted() -> Folder {
    let folder = Folder::new();
    let total: f64 = (0..ROWS).map(|i| (1 + i % 3) as f64).sum();
    let mut text = String::new();
    for (i, line) in csv(&rows(ROWS, 6)).lines().enumerate() {
        let count = (1 + i % 3) as f64;
        text += &match i {
            0 => format!("{line},{}\n", WEIGHTS.join(",")),
            _ => format!("{line},{count},{},{}\n", count / total, 1e9 * count),
        };
    }
    folder.write("d.csv", text);
    folder
}

/// A call that weighs by one of the columns and takes none of the others for a feature.
fn weighing(method: &str, by: &str) -> String {
    let others: Vec<&str> = WEIGHTS.into_iter().filter(|name| *name != by).collect();
    let others = others.join(",");
    format!("d.csv --target y --method {method} --sample-weight {by} --exclude {others}")
}

/// A test counts rows by their weights, so weights of sum 1 say too little for one.
#[test]
fn weights_that_sum_to_1_are_refused_by_tests() {
    let folder = weighted();
    for method in ["saola", "saola-max", "osfs", "fast-osfs"] {
        folder.select(&format!("{} --measure fisher-z", weighing(method, "counts")));
        let words = format!("select {} --measure fisher-z", weighing(method, "one"));
        folder.run(&words).refused(1, &["weights are counts of rows; these sum to 1:"]);
    }
}

/// A model is the same for any multiple of the weights.
#[test]
fn weights_of_any_scale_give_one_model() {
    let folder = weighted();
    let models = COLUMNS.iter().filter(|m| !["saola", "fast-osfs", "alpha-investing"].contains(m));
    for method in models.chain(&AVERAGES).chain(&RIVALS) {
        let set = if AVERAGES.contains(method) { "--set products=f64" } else { "" };
        let model =
            |by: &str| chosen(&folder.select(&format!("{} -k 3 {set}", weighing(method, by))));
        let want = model("counts");
        for by in ["one", "large"] {
            let got = model(by);
            assert_eq!(got.len(), want.len(), "{method} {by}");
            for ((i, a), (j, b)) in want.iter().zip(&got) {
                assert!(i == j && (a - b).abs() < 1e-8, "{method} {by}: {a} {b}");
            }
        }
    }
}

/// One column of whole numbers among 29 of fractions is held in another width than they are. The
/// reference is the same table less 2^-30 in one row of that column, so that none is whole: the
/// answer moves by no more than that.
#[test]
fn a_column_of_whole_numbers_among_fractions_changes_nothing() {
    let folder = Folder::new();
    let mut next = random(11);
    let mut table = Vec::new();
    for _ in 0..ROWS {
        let mut x: Vec<f64> = (0..30).map(|_| next()).collect();
        x[7] = (4.0 * x[7]).round();
        let y = x[3] - 0.8 * x[7] + 0.6 * x[12] - 0.5 * x[20] + 0.4 * x[28] + 0.2 * next();
        table.push((x, y));
    }
    folder.write("mixed.csv", csv(&table));
    table[5].0[7] -= 2.0f64.powi(-30);
    folder.write("even.csv", csv(&table));
    for method in COLUMNS {
        for more in ["", "--scans 2", "--loss squared-epsilon"] {
            let once = keepnet::registry::find(method).unwrap().scans == 1;
            if more.contains("scans") && once {
                continue;
            }
            if more.contains("loss") && ["saola", "alpha-investing", "fast-osfs"].contains(&method)
            {
                continue;
            }
            let model = |file: &str| {
                let words = format!("{file} --target y -k 5 --method {method} {more}");
                let got = folder.select(&words);
                let one = |f: &serde_json::Value| {
                    (f["index"].as_u64().unwrap(), f["coefficient"].as_f64().unwrap_or(0.0))
                };
                let mut all: Vec<_> = got["selected"].as_array().unwrap().iter().map(one).collect();
                all.sort_by_key(|f| f.0);
                all
            };
            let (want, got) = (model("even.csv"), model("mixed.csv"));
            let names = |m: &[(u64, f64)]| m.iter().map(|f| f.0).collect::<Vec<_>>();
            assert_eq!(names(&got), names(&want), "{method} {more}");
            assert!(names(&got).contains(&7), "{method} {more}: {got:?}");
            for (a, b) in want.iter().zip(&got) {
                assert!((a.1 - b.1).abs() < 1e-6, "{method} {more}: {a:?} {b:?}");
            }
        }
    }
}
