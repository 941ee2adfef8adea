//! Weights, offset, covariates, classes and keys, as the command line gives them.

mod common;

use common::{Folder, chosen, outside_run, small_csv};
use serde_json::Value;

/// A table with noise: every weight and row matters. `line` gets the row's cells.
fn noisy(line: impl Fn(usize, &str) -> Vec<String>, header: &str) -> String {
    let mut text = format!("{header}\n");
    for i in 0..50usize {
        let (a, b, c) = (i % 7, (i * i) % 5, (i * 3) % 11);
        let y = 2 * a + (i * 7) % 4 + 3 * b;
        for line in line(i, &format!("{a},{b},{c},{y}")) {
            text += &line;
            text.push('\n');
        }
    }
    text
}

fn same(a: &Value, b: &Value) {
    let (a, b) = (chosen(a), chosen(b));
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(&b) {
        assert_eq!(a.0, b.0);
        assert!((a.1 - b.1).abs() < 1e-9, "{a:?} {b:?}");
    }
}

#[test]
fn a_weight_of_two_is_a_row_that_comes_twice() {
    let folder = Folder::new();
    let weight = |i: usize| 1 + i % 3;
    folder.write("w.csv", noisy(|i, row| vec![format!("{row},{}", weight(i))], "a,b,c,y,w"));
    folder.write("twice.csv", noisy(|i, row| vec![row.to_string(); weight(i)], "a,b,c,y"));
    let weighted = folder.select("w.csv --target y --sample-weight w -k 2");
    same(&weighted, &folder.select("twice.csv --target y -k 2"));
    assert_eq!(weighted["features_seen"], 3, "the weight is no feature");
}

#[test]
fn an_offset_takes_its_part_of_the_target() {
    let folder = Folder::new();
    folder.write("o.csv", noisy(|i, row| vec![format!("{row},{}", i % 9)], "a,b,c,y,o"));
    let shifted = noisy(
        |i, row| {
            let (head, y) = row.rsplit_once(',').unwrap();
            vec![format!("{head},{}", y.parse::<i64>().unwrap() - (i % 9) as i64)]
        },
        "a,b,c,y",
    );
    folder.write("s.csv", shifted);
    let offset = folder.select("o.csv --target y --offset o -k 2");
    same(&offset, &folder.select("s.csv --target y -k 2"));
}

#[test]
fn covariates_are_in_the_model_and_no_features() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv());
    let covariate: Vec<String> = (0..40).map(|i| (i % 5 - 2).to_string()).collect();
    folder.write("cov.csv", format!("age\n{}\n", covariate.join("\n")));
    // The covariate is b itself, so a alone explains the rest: y = 2 a - 3 age.
    let result = folder.select("x.csv --target y --covar cov.csv -k 1 --exclude b");
    assert_eq!(result["covariates"][0]["name"], "age");
    assert!((result["covariates"][0]["coefficient"].as_f64().unwrap() + 3.0).abs() < 1e-8);
    assert_eq!(result["selected"][0]["name"], "a");
    assert!((result["selected"][0]["coefficient"].as_f64().unwrap() - 2.0).abs() < 1e-8);
}

#[test]
fn balanced_classes_are_the_weights_written_out() {
    let folder = Folder::new();
    // 10 of 40 rows are "yes": weights 40 / (2 * 10) = 2 and 40 / (2 * 30) = 2 / 3.
    let mut table = "a,b,y,w\n".to_string();
    for i in 0..40u32 {
        let yes = i % 4 == 0;
        let (class, weight) = if yes { ("yes", 2.0) } else { ("no", 2.0 / 3.0) };
        table += &format!("{},{},{class},{weight}\n", (i * 5) % 13 + 2 * u32::from(yes), i % 6);
    }
    folder.write("x.csv", table);
    let balanced = folder.select("x.csv --target y --class-weight balanced -k 1 --exclude w");
    let written = folder.select("x.csv --target y --sample-weight w -k 1");
    assert_eq!(balanced["task"], "classification");
    same(&balanced, &written);
    let regression = folder.run("select x.csv --target b --class-weight balanced -k 1 --exclude y");
    regression.refused(1, &["balanced", "classification"]);
}

#[test]
fn keys_join_a_target_in_another_order() {
    let folder = Folder::new();
    let table = small_csv();
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|r| r.split(',').collect()).collect();
    let mut x = "id,a,b,c\n".to_string();
    let mut y = "id,y\n".to_string();
    for (i, row) in rows.iter().enumerate() {
        x += &format!("r{i},{}\n", row[..3].join(","));
    }
    for i in (0..rows.len()).rev() {
        y += &format!("r{i},{}\n", rows[i][3]);
    }
    folder.write("x.csv", x).write("y.csv", y).write("all.csv", &table);
    let joined = folder.select("x.csv --target y.csv:y --key id -k 2");
    assert_eq!(joined["rows"]["matched_by"], "key id");
    same(&joined, &folder.select("all.csv --target y -k 2"));
}

#[test]
fn always_kept_features_are_not_counted_in_k() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv()).write("names", "c\n");
    let by_name = folder.select("x.csv --target y -k 1 --always c");
    assert_eq!(by_name["selected"].as_array().unwrap().len(), 1);
    assert_eq!(by_name["always"].as_array().unwrap().len(), 1);
    let by_file = folder.select("x.csv --target y -k 1 --always @names");
    assert_eq!(outside_run(by_name), outside_run(by_file));
}

#[test]
fn memory_stays_under_the_limit_in_every_format() {
    let folder = Folder::new();
    // 40 MB of numbers against a limit of 24 MB, of which the program itself takes a part.
    for format in ["npy", "parquet", "arrow"] {
        let file = format!("x.{format}");
        let sizes = "--set n=1000 --set p=10000 --set s=10";
        folder.run(&format!("generate regression {sizes} --output {file}")).fine();
        let target = if format == "npy" { "f10000" } else { "target" };
        let limit = if format == "parquet" { 40 } else { 24 };
        let result = folder.select(&format!("{file} --target {target} -k 10 --memory {limit}MB"));
        let peak = result["run"]["peak_bytes"].as_u64().unwrap();
        assert!(peak < limit * 1_000_000, "{format}: {peak}");
    }
}
