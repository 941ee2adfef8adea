//! `--always`, `--covar` and `--key` with methods on rows.

mod common;

use common::Folder;
use serde_json::Value;

const ROWS: usize = 400;

/// Columns a to f and age; `y = 2 a - b + 3 age + noise`, and noise of its own.
fn columns() -> (Vec<[f64; 7]>, Vec<f64>) {
    let mut state = 11u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((state >> 40) as f64 / 16.0).round() / 65536.0 * 4.0 - 32.0
    };
    let mut x = Vec::new();
    let mut y = Vec::new();
    for _ in 0..ROWS {
        let row: [f64; 7] = std::array::from_fn(|_| next());
        y.push(2.0 * row[0] - row[1] + 3.0 * row[6] + 0.25 * next());
        x.push(row);
    }
    (x, y)
}

fn table(head: &str, lines: impl Iterator<Item = String>) -> String {
    std::iter::once(head.to_string()).chain(lines).collect::<Vec<_>>().join("\n") + "\n"
}

/// `x.csv` with everything, `id` first; `age.csv` and `y.csv` with the id, in reverse order.
fn folder() -> Folder {
    let (x, y) = columns();
    let folder = Folder::new();
    let text = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    let all = (0..ROWS).map(|i| format!("r{i},{},{}", text(&x[i]), y[i]));
    folder.write("all.csv", table("id,a,b,c,d,e,f,age,y", all));
    let features = (0..ROWS).map(|i| format!("r{i},{}", text(&x[i][..6])));
    folder.write("x.csv", table("id,a,b,c,d,e,f", features));
    let bare = (0..ROWS).map(|i| format!("{},{}", text(&x[i][..6]), y[i]));
    folder.write("bare.csv", table("a,b,c,d,e,f,y", bare));
    folder.write("age.csv", table("age", (0..ROWS).map(|i| x[i][6].to_string())));
    let back = (0..ROWS).rev().filter(|i| *i != 7);
    folder.write("side.csv", table("id,age,y", back.map(|i| format!("r{i},{},{}", x[i][6], y[i]))));
    folder
}

fn weights(result: &Value) -> Vec<(String, f64)> {
    let mut all = Vec::new();
    for part in ["selected", "always", "covariates"] {
        for f in result[part].as_array().unwrap() {
            let name = f["name"].as_str().unwrap().to_string();
            all.push((name, f["coefficient"].as_f64().unwrap()));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[track_caller]
fn same(a: &Value, b: &Value) {
    let (a, b) = (weights(a), weights(b));
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(&b) {
        assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-6, "{a:?} {b:?}");
    }
}

/// Least squares on the named columns, by the normal equations.
fn least_squares(places: &[usize]) -> Vec<f64> {
    let (x, y) = columns();
    let mean = |v: &dyn Fn(usize) -> f64| (0..ROWS).map(v).sum::<f64>() / ROWS as f64;
    let centre: Vec<f64> = places.iter().map(|j| mean(&|i| x[i][*j])).collect();
    let my = mean(&|i| y[i]);
    let m = places.len();
    let mut a = vec![vec![0.0; m + 1]; m];
    for i in 0..ROWS {
        let row: Vec<f64> = places.iter().zip(&centre).map(|(j, c)| x[i][*j] - c).collect();
        for r in 0..m {
            (0..m).for_each(|c| a[r][c] += row[r] * row[c]);
            a[r][m] += row[r] * (y[i] - my);
        }
    }
    for r in 0..m {
        let pivot = a[r].clone();
        for (other, row) in a.iter_mut().enumerate() {
            let factor = if other == r { 1.0 - 1.0 / pivot[r] } else { row[r] / pivot[r] };
            row.iter_mut().zip(&pivot).for_each(|(v, p)| *v -= factor * p);
        }
    }
    a.iter().map(|row| row[m]).collect()
}

#[test]
fn always_and_covariates_are_in_the_model_and_not_counted() {
    let folder = folder();
    let base = "--target y --exclude id -k 1 --method annealed-ridge --set products=f64";
    let result = folder.select(&format!("all.csv {base} --always d --covar age"));
    assert_eq!(result["selected"][0]["name"], "a");
    assert_eq!(result["selected"].as_array().unwrap().len(), 1);
    assert_eq!(result["always"][0]["name"], "d");
    assert_eq!(result["always"][0]["index"], 3);
    assert_eq!(result["covariates"][0]["name"], "age");
    assert_eq!(result["features_seen"], 6);
    // The same three columns, fitted here: a, d and age.
    let want = least_squares(&[0, 3, 6]);
    for ((name, got), (known, want)) in
        weights(&result).iter().zip(["a", "age", "d"].iter().zip([want[0], want[2], want[1]]))
    {
        assert!(name == known && (got - want).abs() < 1e-6, "{name}: {got} for {want}");
    }
    // The covariate from a file, and from the input itself by its path.
    let aside = folder.select(
        "bare.csv --target y -k 1 --method annealed-ridge --set products=f64 --always d --covar age.csv",
    );
    same(&result, &aside);
    let inside = folder.select(&format!("all.csv {base} --always d --covar all.csv:age"));
    same(&result, &inside);
    // Where p^2 does not fit, the active set keeps them too.
    let few = folder.select(&format!("all.csv {base} --always d --covar age --set active=6"));
    same(&result, &few);
}

#[test]
fn rows_of_other_files_join_by_key() {
    let folder = folder();
    let base = "-k 2 --method olsth --set products=f64";
    let by_key =
        folder.select(&format!("x.csv --key id --target side.csv:y --covar side.csv:age {base}"));
    // Row 7 has no match and is left out.
    assert_eq!(by_key["rows"]["used"], ROWS - 1);
    assert_eq!(by_key["rows"]["unmatched"], 1);
    assert_eq!(by_key["rows"]["masked_target"], 0);
    assert_eq!(by_key["rows"]["matched_by"], "key id");
    let names: Vec<String> = weights(&by_key).into_iter().map(|w| w.0).collect();
    assert_eq!(names, ["a", "age", "b"]);
    let all = folder.read("all.csv");
    let without: Vec<&str> = all.lines().filter(|line| !line.starts_with("r7,")).collect();
    folder.write("seven.csv", without.join("\n") + "\n");
    let plain = folder.select(&format!("seven.csv --exclude id --target y --covar age {base}"));
    same(&by_key, &plain);
    folder.run("select x.csv --key no --target side.csv:y -k 1 --method ols").refused(1, &["no"]);
}

#[test]
fn averages_remember_covariates_and_take_always_later() {
    let folder = folder();
    folder
        .run("select all.csv --target y --exclude id --covar age --method ols --averages a.kn -q")
        .fine();
    let direct =
        folder.select("all.csv --target y --exclude id --covar age -k 1 --method olsth --always d");
    folder.run("extract a.kn -k 1 --method olsth --always d -q --output r.json").fine();
    let extracted = folder.json("r.json");
    same(&direct, &extracted);
    assert_eq!(extracted["covariates"][0]["name"], "age");
    folder.run("extract a.kn -k 1 --always nothing").refused(1, &["nothing", "a.kn"]);
    folder.run("select all.csv --target y --exclude id --method ols --averages b.kn -q").fine();
    folder.run("merge a.kn b.kn --output c.kn").refused(1, &["b.kn"]);
}

#[test]
fn what_cannot_be_pinned_is_refused_with_the_reason() {
    let folder = folder();
    let base = "select all.csv --target y --exclude id -k 1";
    let rival = format!("{base} --method sgd --always d");
    folder.run(&rival).refused(1, &["sgd", "--always", "annealed-ridge"]);
    folder.run(&format!("{base} --method ols --always y")).refused(1, &["\"y\"", "--always"]);
    folder.run(&format!("{base} --method ols --covar nothing")).refused(1, &["nothing", "--covar"]);
    folder.run(&format!("{base} --method ols --covar id")).refused(1, &["id", "text"]);
    folder.write("short.csv", "v\n1\n2\n");
    folder
        .run(&format!("{base} --method ols --covar short.csv"))
        .refused(1, &["short.csv", "row 2"]);
    folder.write("long.csv", "v\n".to_string() + &"1\n2\n".repeat(300));
    folder.run(&format!("{base} --method ols --covar long.csv")).refused(1, &["long.csv", "600"]);
}

#[test]
fn a_checkpoint_is_refused_once_a_file_of_covariates_has_changed() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    let folder = folder();
    let lines = std::fs::read_to_string(folder.path("bare.csv")).unwrap();
    let start = || {
        Command::new(env!("CARGO_BIN_EXE_keepnet"))
            .current_dir(folder.path("."))
            .args(["select", "-", "--format", "csv", "--target", "y", "-k", "2"])
            .args(["--method", "annealed-ridge", "--covar", "age.csv", "--checkpoint", "c.kn"])
            .args(["--task", "regression", "--every", "100", "--output", "r.json", "-q"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let mut child = start();
    let mut input = child.stdin.take().unwrap();
    let end = lines.match_indices('\n').nth(300).unwrap().0 + 1;
    input.write_all(&lines.as_bytes()[..end]).unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(child.wait().unwrap().success());
    assert!(folder.path("c.kn").exists());
    folder.write("age.csv", table("age", (0..ROWS).map(|i| i.to_string())));
    let mut child = start();
    // It may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    let again = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&again.stderr);
    assert!(!again.status.success() && error.contains("other data"), "{error}");
}
