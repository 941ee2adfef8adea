//! What results of methods on rows say, against counts made by hand and against columns.

mod common;

use common::{Folder, random};
use serde_json::Value;

const ROWS: usize = 240;
const STREAMING: [&str; 8] =
    ["sgd", "tsgd", "siht", "truncated-gradient", "opg", "rda", "opg-sadmm", "rda-sadmm"];
const AVERAGES: [&str; 9] =
    ["annealed-ridge", "ols", "olsth", "ofsa", "olasso", "oalasso", "oelnet", "omcp", "oscad"];

/// Four features, half of their values zero, some missing, a constant one; `y = a - 2 b + noise`.
fn rows(holes: bool) -> Vec<([f64; 5], f64)> {
    let mut next = random(5);
    let mut all = Vec::new();
    for i in 0..ROWS {
        let mut x: [f64; 5] = std::array::from_fn(|_| if next() < 0.0 { 0.0 } else { next() });
        x[4] = 3.0;
        let y = x[0] - 2.0 * x[1] + 0.1 * next();
        if holes && i % 7 == 3 {
            x[i % 3] = f64::NAN;
        }
        all.push((x, y));
    }
    all
}

fn number(v: f64) -> String {
    if v.is_nan() { String::new() } else { v.to_string() }
}

fn csv(rows: &[([f64; 5], f64)]) -> String {
    let mut text = "a,b,c,d,e,y\n".to_string();
    for (x, y) in rows {
        x.iter().for_each(|v| text += &format!("{},", number(*v)));
        text += &format!("{}\n", number(*y));
    }
    text
}

fn svm(rows: &[([f64; 5], f64)]) -> String {
    let mut text = String::new();
    for (x, y) in rows {
        text += &y.to_string();
        for (j, v) in x.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            text += &format!(" {}:{v}", j + 1);
        }
        text += "\n";
    }
    text.replace("NaN", "nan")
}

fn result(folder: &Folder, words: &str) -> Value {
    let called = folder.run(&format!("{words} -q --output -"));
    serde_json::from_str(&called.fine().out).unwrap()
}

/// Index, coefficient, mean and missing values of a feature.
type Chosen = (u64, f64, f64, Option<u64>);

/// Every feature chosen, and the intercept.
fn model(result: &Value) -> (Vec<Chosen>, f64) {
    let one = |f: &Value| {
        let part = |name: &str| f[name].as_f64().unwrap();
        let index = f["index"].as_u64().unwrap();
        (index, part("coefficient"), part("mean"), f["missing"].as_u64())
    };
    let mut all: Vec<_> = result["selected"].as_array().unwrap().iter().map(one).collect();
    all.sort_by_key(|f| f.0);
    (all, result["intercept"].as_f64().unwrap())
}

#[test]
fn absent_values_of_svm_text_are_zeros_for_every_policy_and_method() {
    let (folder, all) = (Folder::new(), rows(true));
    folder.write("d.csv", csv(&all)).write("d.svm", svm(&all));
    for method in AVERAGES.iter().chain(&STREAMING) {
        for missing in ["mean", "zero", "drop-row"] {
            let set = if AVERAGES.contains(method) { "--set products=f64" } else { "" };
            let flags = format!("-k 2 --method {method} {set} --missing {missing}");
            let flags = flags.split_whitespace().collect::<Vec<_>>().join(" ");
            let dense = result(&folder, &format!("select d.csv --target y {flags}"));
            let sparse = result(&folder, &format!("select d.svm {flags}"));
            let ((a, b), (c, d)) = (model(&dense), model(&sparse));
            assert_eq!(a.len(), c.len(), "{method} {missing}");
            for (f, g) in a.iter().zip(&c) {
                assert_eq!((f.0, f.3), (g.0, g.3), "{method} {missing}");
                let near = (f.1 - g.1).abs() < 1e-9 && (f.2 - g.2).abs() < 1e-9;
                assert!(near, "{method} {missing}: {f:?} {g:?}");
            }
            assert!((b - d).abs() < 1e-9, "{method} {missing}: {b} {d}");
            assert_eq!(dense["rows"], sparse["rows"]);
            assert_eq!(dense["final_loss"].is_null(), sparse["final_loss"].is_null());
        }
    }
}

#[test]
fn counts_are_those_made_by_hand() {
    let folder = Folder::new();
    let (mut by_row, mut targets) = ("id,a,b,c,d,e\n".to_string(), "id,class\n".to_string());
    let (mut counts, mut missing, mut left) = ([0, 0], [0; 5], [0, 0]);
    for (i, (x, y)) in rows(true).iter().enumerate() {
        by_row += &format!("{i}");
        x.iter().for_each(|v| by_row += &format!(",{}", number(*v)));
        by_row += "\n";
        // Every ninth row has no line in the file of targets, every eleventh no target.
        let class = match (i % 9, i % 11) {
            (0, _) => {
                left[0] += 1;
                continue;
            }
            (_, 0) => {
                left[1] += 1;
                ""
            }
            _ => {
                let class = usize::from(*y > 0.0);
                counts[class] += 1;
                x.iter().zip(&mut missing).for_each(|(v, count)| *count += usize::from(v.is_nan()));
                ["low", "up"][class]
            }
        };
        targets += &format!("{i},{class}\n");
    }
    folder.write("x.csv", by_row).write("y.csv", targets);
    for method in ["annealed-ridge", "sgd", "ofs", "sofs"] {
        let words = format!("select x.csv --target y.csv:class --key id --method {method} -k 3");
        let got = result(&folder, &format!("{words} --missing zero"));
        let used = counts[0] + counts[1];
        let want = serde_json::json!({"input": ROWS, "used": used, "matched_by": "key id",
            "masked_target": left[1], "unmatched": left[0]});
        assert_eq!(got["rows"], want, "{method}");
        assert_eq!(got["classes"], serde_json::json!(["low", "up"]));
        assert_eq!(got["class_counts"], serde_json::json!(counts), "{method}");
        for feature in got["selected"].as_array().unwrap() {
            let index = feature["index"].as_u64().unwrap() as usize;
            assert_eq!(feature["missing"].as_u64(), Some(missing[index] as u64), "{method}");
        }
        for field in ["trace", "substitutions"] {
            assert!(got[field].is_null(), "{method}: {field}");
        }
        assert!(got["dropped"]["evicted"].is_null());
        if method != "annealed-ridge" {
            // Five features, one of them constant; three are kept.
            let kept = got["selected"].as_array().unwrap().len();
            let dropped = (got["dropped"]["constant"].as_u64(), got["dropped"]["weak"].as_u64());
            assert_eq!(dropped, (Some(1), Some(4 - kept as u64)), "{method}");
        }
        let warnings = got["warnings"].to_string();
        assert!(warnings.contains(&format!("{} rows have no match by key", left[0])), "{warnings}");
        // The same rows by columns have the same counts.
        let words = words.replace(method, "os-plus");
        let columns = result(&folder, &format!("{words} --missing zero"));
        assert_eq!(
            (&columns["rows"], &columns["class_counts"]),
            (&got["rows"], &got["class_counts"])
        );
    }
}

#[test]
fn a_checkpoint_knows_its_target_and_everything_else_that_a_digit_depends_on() {
    let folder = Folder::new();
    let mut text = "a,b,c,d,e,y,z,w\n".to_string();
    for (i, (x, y)) in rows(false).iter().cycle().take(4000).enumerate() {
        x.iter().for_each(|v| text += &format!("{v},"));
        text += &format!("{y},{},{}\n", 1.0 - x[2], 1 + i % 3);
    }
    // A hole near the end stops the run there, with the checkpoint of the block before.
    let hole = text.match_indices('\n').nth(3900).unwrap().0 + 1;
    let end = hole + text[hole..].find(',').unwrap();
    text.replace_range(hole..end, "");
    folder.write("d.csv", &text);
    for method in ["olsth", "sgd"] {
        let kept = "--checkpoint c.kn --checkpoint-every 1b";
        let base = format!("select d.csv --method {method} -k 2 -q {kept}");
        folder.run(&format!("{base} --target y --exclude z,w")).refused(1, &["row 3900"]);
        assert!(folder.path("c.kn").exists());
        for other in [
            "--target z --exclude y,w",
            "--target y --exclude z --sample-weight w",
            "--target y --exclude z --offset w",
            "--target y --columns a,b,c,d,e",
            "--target y --exclude z,w --missing drop-row",
            "--target y --exclude z,w --seed 3",
        ] {
            folder.run(&format!("{base} {other}")).refused(1, &["c.kn", "afresh"]);
        }
        let own = if method == "sgd" { "--set standardise=false" } else { "--covar a" };
        let own = format!("{base} --target y --exclude z,w {own}");
        folder.run(&own).refused(1, &["c.kn", "afresh"]);
        // The same call goes on, up to the same hole.
        folder.run(&format!("{base} --target y --exclude z,w")).refused(1, &["row 3900"]);
        std::fs::remove_file(folder.path("c.kn")).unwrap();
    }
}

#[test]
fn a_checkpoint_is_refused_when_the_targets_behind_it_have_changed() {
    // A pipe has neither size nor time, so only the rows themselves can tell.
    let folder = Folder::new();
    let mut all: Vec<_> = rows(false).into_iter().cycle().take(3000).collect();
    all[2900].0[1] = f64::NAN;
    folder.write("one.csv", csv(&all));
    all[10].1 += 1.0;
    folder.write("two.csv", csv(&all));
    let run = |file: &str| {
        let input = std::fs::File::open(folder.path(file)).unwrap();
        let mut command = folder.command(
            "select - --format csv --target y --task regression --method sgd -k 2 -q \
             --checkpoint c.kn --checkpoint-every 1b",
        );
        common::Called::new(&command.stdin(input).output().unwrap())
    };
    run("one.csv").refused(1, &["row 2900"]);
    assert!(folder.path("c.kn").exists());
    run("two.csv").refused(1, &["targets or weights"]);
    run("one.csv").refused(1, &["row 2900"]);
}

#[test]
fn saved_averages_of_two_targets_are_not_merged() {
    let folder = Folder::new();
    let mut text = "a,b,c,d,e,y,z\n".to_string();
    for (x, y) in rows(false) {
        x.iter().for_each(|v| text += &format!("{v},"));
        text += &format!("{y},{}\n", x[2] - y);
    }
    folder.write("d.csv", &text);
    let base = "select d.csv --method olsth -k 2 -q";
    folder.run(&format!("{base} --target y --exclude z --averages y.kn")).fine();
    folder.run(&format!("{base} --target y --exclude z --averages y2.kn")).fine();
    folder.run(&format!("{base} --target z --exclude y --averages z.kn")).fine();
    folder.run("merge y.kn z.kn --output all.kn").refused(1, &["target", "\"y\"", "\"z\""]);
    folder.run("merge y.kn y2.kn --output all.kn").fine();
    let got = result(&folder, "extract all.kn -k 2 --method olsth");
    assert_eq!(got["rows"]["used"].as_u64(), Some(2 * ROWS as u64));
    // What averages do not know is null, not 0.
    assert!(got["rows"]["unmatched"].is_null() && got["selected"][0]["missing"].is_null());
}

#[test]
fn names_that_are_not_there_and_globs_that_match_nothing_are_refused() {
    let folder = Folder::new();
    folder.write("d.csv", csv(&rows(false))).write("d.svm", svm(&rows(false)));
    for method in ["olsth", "sgd", "os-plus"] {
        let base = format!("select d.csv --target y -k 2 --method {method} -q");
        folder.run(&format!("{base} --exclude bb")).refused(1, &["--exclude", "\"bb\""]);
        folder.run(&format!("{base} --columns a,bb")).refused(1, &["--columns", "\"bb\""]);
        folder.run(&format!("{base} --exclude q*")).refused(1, &["--exclude", "\"q*\""]);
        folder.run(&format!("{base} --columns q*,a")).refused(1, &["--columns", "\"q*\""]);
        // svm text has names too, the numbers of its features.
        let base = format!("select d.svm -k 2 --method {method}");
        folder.run(&format!("{base} --exclude 9")).refused(1, &["--exclude", "\"9\""]);
        let got = result(&folder, &format!("{base} --exclude 2,5"));
        assert_eq!(got["features_seen"].as_u64(), Some(3), "{method}");
        assert!(got["selected"].as_array().unwrap().iter().all(|f| f["name"] != "2"), "{method}");
    }
    let sparse = result(&folder, "select d.svm -k 1 --method sgd --exclude 1,5");
    let dense = result(&folder, "select d.csv --target y -k 1 --method sgd --exclude a,e");
    assert_eq!(model(&sparse), model(&dense));
}

#[test]
fn a_path_that_exists_is_a_file_before_it_is_a_glob() {
    let (folder, all) = (Folder::new(), rows(false));
    folder.write("data[1].csv", csv(&all)).write("data1.csv", csv(&all[..100]));
    for method in ["olsth", "sgd", "os-plus"] {
        let words = format!("select data[1].csv --target y -k 2 --method {method}");
        assert_eq!(result(&folder, &words)["rows"]["input"].as_u64(), Some(ROWS as u64));
        let words = format!("select data?.csv --target y -k 2 --method {method}");
        assert_eq!(result(&folder, &words)["rows"]["input"].as_u64(), Some(100));
        let none = format!("select nothing*.csv --target y -k 2 --method {method}");
        folder.run(&none).refused(1, &["no file matches"]);
    }
}

#[test]
fn weights_offsets_and_targets_have_one_answer_on_rows_and_columns() {
    let folder = Folder::new();
    let table = |bad: &str, target: &str| {
        let mut text = "a,b,c,d,e,y,w\n".to_string();
        for (i, (x, y)) in rows(false).iter().enumerate() {
            x.iter().for_each(|v| text += &format!("{v},"));
            let y = if i == 20 && !target.is_empty() { target.into() } else { y.to_string() };
            let w = if i == 17 { bad.into() } else { (1 + i % 3).to_string() };
            text += &format!("{y},{w}\n");
        }
        text
    };
    for (bad, say) in [("0", "not positive"), ("-1", "not positive"), ("", "missing or infinite")] {
        folder.write("d.csv", table(bad, ""));
        for method in ["olsth", "sgd", "os-plus"] {
            let base = format!("select d.csv --target y -k 2 --method {method} -q");
            folder.run(&format!("{base} --sample-weight w")).refused(1, &["row 17", say]);
        }
    }
    folder.write("d.csv", table("", ""));
    for method in ["olsth", "sgd", "os-plus"] {
        let base = format!("select d.csv --target y -k 2 --method {method} -q");
        folder.run(&format!("{base} --offset w")).refused(1, &["row 17", "offset", "missing"]);
    }
    folder.write("d.csv", table("1", "inf"));
    for method in ["olsth", "sgd", "os-plus"] {
        let base = format!("select d.csv --target y -k 2 --method {method} -q --exclude w");
        folder.run(&base).refused(1, &["the target", "finite number at row 20"]);
    }
    // Weights may be in a file of their own, and be of any scale.
    folder.write("d.csv", table("2", ""));
    let weights = |scale: f64| {
        let line =
            |i: usize| format!("{}\n", scale * if i == 17 { 2.0 } else { 1.0 + (i % 3) as f64 });
        "w\n".to_string() + &(0..ROWS).map(line).collect::<String>()
    };
    folder.write("w.csv", weights(1.0)).write("big.csv", weights(1e6));
    for method in ["olsth", "sgd", "rda", "opg-sadmm"] {
        let set = if method == "olsth" { " --set products=f64" } else { "" };
        let base = format!("select d.csv --target y -k 2 --method {method}{set}");
        let inside = result(&folder, &format!("{base} --sample-weight w"));
        let aside = result(&folder, &format!("{base} --exclude w --sample-weight w.csv"));
        assert_eq!(model(&inside), model(&aside), "{method}");
        let big = model(&result(&folder, &format!("{base} --exclude w --sample-weight big.csv:w")));
        for (f, g) in model(&inside).0.iter().zip(&big.0) {
            assert!(f.0 == g.0 && (f.1 - g.1).abs() < 1e-9, "{method}: {f:?} {g:?}");
        }
    }
}

#[test]
fn a_constant_target_is_refused_by_every_method() {
    let (folder, mut all) = (Folder::new(), rows(false));
    all.iter_mut().for_each(|row| row.1 = 7.0);
    folder.write("d.csv", csv(&all));
    for method in AVERAGES.iter().chain(&STREAMING).chain(&["os-plus"]) {
        let called = folder.run(&format!("select d.csv --target y -k 2 --method {method} -q"));
        called.refused(1, &["one value only (7)"]);
    }
    let text = csv(&all).replace(",7\n", ",no\n");
    folder.write("d.csv", text);
    for method in ["sgd", "ofs", "olsth", "os-plus"] {
        let called = folder.run(&format!("select d.csv --target y -k 2 --method {method} -q"));
        called.refused(1, &["one class only (\"no\")"]);
    }
}

#[test]
fn every_flag_acts_on_rows_or_is_refused_with_the_reason() {
    let folder = Folder::new();
    folder.write("d.csv", csv(&rows(false)));
    for method in ["olsth", "sgd"] {
        let base = format!("select d.csv --target y -k 2 --method {method} -q");
        for flag in [
            "--groups block:2",
            "--measure su",
            "--on-full evict",
            "--min-count 3",
            "--max-missing 0.5",
            "--order shuffled",
            "--scans 2",
            "--scans 0",
            "--stack columns",
            "--decisions e.csv",
            "--set nonsense=1",
            "--missing drop-feature",
            "--missing indicator",
            "--every 0",
            "--task nonsense",
            "--class-weight nonsense",
            "--loss squared-epsilon",
        ] {
            let called = folder.run(&format!("{base} {flag}"));
            let code = if flag.starts_with("--loss") { 1 } else { 2 };
            called.refused(code, &[]);
        }
        let lines = folder.run(&format!("{base} --progress json")).fine().err.clone();
        let line: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
        assert_eq!(line["rows"].as_u64(), Some(ROWS as u64), "{lines}");
    }
    let binary: String = csv(&rows(false))
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!("{line}\n"),
            _ => format!("{},{}\n", line.rsplit_once(',').unwrap().0, i % 2),
        })
        .collect();
    folder.write("c.csv", binary);
    for method in ["ofs", "sofs"] {
        let words = format!("select c.csv --target y -k 2 --method {method} -q --loss logistic");
        folder.run(&words).refused(1, &["--loss"]);
    }
    for flag in ["--every 10", "--averages a.kn", "--missing drop-row", "--set standardise=false"] {
        let called = folder.run(&format!("select d.csv --target y -k 2 -q {flag}"));
        called.refused(2, &[]);
    }
}

#[test]
fn compare_fills_missing_values_with_the_means_that_rivals_measured() {
    // One feature of mean 20 and deviation 1 explains the target; a third of it is missing. Filled
    // with 0 it is 20 deviations off wherever it is missing; with its mean it says nothing there.
    let folder = Folder::new();
    let mut next = random(9);
    let mut text = "a,b,c,y\n".to_string();
    let mut targets = Vec::new();
    for i in 0..600 {
        let z = 3.0f64.sqrt() * next();
        let a = if i % 3 == 1 { String::new() } else { (20.0 + z).to_string() };
        let y = z + 0.1 * next();
        targets.push(y);
        text += &format!("{a},{},{},{y}\n", next(), next());
    }
    folder.write("d.csv", text);
    let called = folder.run(
        "compare d.csv --target y --methods sgd,opg,annealed-ridge -k 1 --missing mean -q --output -",
    );
    let out = &called.fine().out;
    let mut lines = out.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    let place = |name: &str| head.iter().position(|h| *h == name).unwrap();
    let (method, metric, value) = (place("method"), place("metric"), place("value"));
    let mut means = std::collections::BTreeMap::<String, Vec<f64>>::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[metric] == "rmse" {
            means.entry(cells[method].into()).or_default().push(cells[value].parse().unwrap());
        }
    }
    assert_eq!(means.len(), 3, "{out}");
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let ridge = mean(&means["annealed-ridge"]);
    for (name, values) in &means {
        assert!((mean(values) / ridge - 1.0).abs() < 0.1, "{name}: {values:?} for {ridge}");
    }
}
