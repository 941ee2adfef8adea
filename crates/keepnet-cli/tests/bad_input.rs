//! Every bad input has one defined answer: the exit status and one line that says what to do.

mod common;

use common::{Folder, small_csv};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("x.csv", small_csv());
    folder
}

#[test]
fn a_missing_file_is_named() {
    folder().run("select none.csv --target y -k 1").refused(1, &["none.csv"]);
    folder().run("select x.csv --target none.csv:y -k 1").refused(1, &["none.csv"]);
}

#[test]
fn an_unknown_column_is_named() {
    folder().run("select x.csv --target z -k 1").refused(1, &["\"z\"", "column"]);
    folder().run("select x.csv --target y -k 1 --columns q").refused(1, &["q"]);
    folder().run("select x.csv --target y -k 1 --key id").refused(1, &["id"]);
    folder().run("select x.csv --target y -k 1 --always a,q").refused(1, &["--always", "\"q\""]);
    folder().run("select x.csv --target y -k 1 --always y").refused(1, &["--always", "\"y\""]);
}

#[test]
fn a_target_of_the_wrong_length_is_refused() {
    let folder = folder();
    folder.write("y.csv", "y\n1\n2\n3\n");
    folder.run("select x.csv --target y.csv:y -k 1").refused(1, &["3", "40"]);
}

/// 2^53 and 2^53 + 1 are one f64.
#[test]
fn keys_that_numbers_cannot_tell_apart_are_refused() {
    let folder = Folder::new();
    folder.write("x.csv", "id,a,b\n9007199254740992,1,2\n9007199254740993,2,1\n3,4,4\n");
    folder.write("y.csv", "id,y\n9007199254740993,1\n9007199254740992,2\n3,5\n");
    let run = folder.run("select x.csv --target y.csv:y -k 1 --key id");
    run.refused(1, &["y.csv", "\"id\"", "9007199254740992", "text"]);
}

#[test]
fn missing_and_infinite_values_meet_the_policy() {
    let folder = folder();
    let row = |i: usize| match i {
        3 => ",1,7".to_string(),
        5 => "inf,1,8".to_string(),
        i => format!("{},{},{}", i % 4, i * i % 7, i % 4 + i % 3),
    };
    let table: Vec<String> = (0..20).map(row).collect();
    folder.write("m.csv", format!("a,b,y\n{}\n", table.join("\n")));
    folder.run("select m.csv --target y -k 1").refused(1, &["\"a\"", "row 3", "--missing"]);
    let drop = folder.select("m.csv --target y -k 1 --missing drop-feature");
    assert_eq!(drop["dropped"]["missing"], 1);
    assert_eq!(drop["selected"][0]["name"], "b");
    for policy in ["mean", "zero"] {
        let kept = folder.select(&format!("m.csv --target y -k 2 --missing {policy}"));
        let a = kept["selected"].as_array().unwrap().iter().find(|f| f["name"] == "a").unwrap();
        assert_eq!(a["missing"], 2, "{policy}");
    }
    let both = folder.select("m.csv --target y -k 3 --missing indicator");
    let names: Vec<_> = both["selected"].as_array().unwrap().iter().map(|f| &f["name"]).collect();
    assert!(names.iter().any(|name| *name == "a:missing"), "{names:?}");
    let most = folder.select("m.csv --target y -k 1 --missing mean --max-missing 0.05");
    assert_eq!(most["dropped"]["missing"], 1);
}

#[test]
fn a_missing_target_masks_the_row() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv().replacen("\n0,-2,0,6\n", "\n0,-2,0,\n", 1));
    let result = folder.select("x.csv --target y -k 2");
    assert_eq!((&result["rows"]["input"], &result["rows"]["used"]), (&40.into(), &39.into()));
    assert_eq!(result["rows"]["masked_target"], 1);
}

#[test]
fn a_constant_column_is_dropped_and_counted() {
    let folder = Folder::new();
    let table: Vec<String> = (0..10).map(|i| format!("{i},5,{}", 2 * i + i % 2)).collect();
    folder.write("x.csv", format!("a,same,y\n{}\n", table.join("\n")));
    let result = folder.select("x.csv --target y -k 2");
    assert_eq!(result["dropped"]["constant"], 1);
    assert_eq!(result["selected"].as_array().unwrap().len(), 1);
}

#[test]
fn duplicate_names_are_refused() {
    let folder = Folder::new();
    folder.write("x.csv", "a,a,y\n1,2,3\n2,1,4\n3,3,5\n");
    folder.run("select x.csv --target y -k 1").refused(1, &["\"a\"", "more than once"]);
}

#[test]
fn truncated_files_are_refused() {
    let folder = Folder::new();
    for name in ["x.npy", "x.parquet", "x.arrow"] {
        let made = folder.run(&format!("generate regression --set p=50 --set s=5 --output {name}"));
        made.fine();
        let whole = std::fs::read(folder.path(name)).unwrap();
        for part in [whole.len() / 2, whole.len() - 1, 5] {
            folder.write(name, &whole[..part]);
            let target = if name == "x.npy" { "f50" } else { "target" };
            let called = folder.run(&format!("select {name} --target {target} -k 2"));
            called.refused(1, &[name]);
        }
    }
}

#[test]
fn text_that_is_no_number_is_named_with_its_line() {
    let folder = Folder::new();
    let mut table = small_csv();
    table = table.replacen("\n3,1,9,3\n", "\n3,oops,9,3\n", 1);
    assert!(table.contains("oops"));
    folder.write("x.csv", &table);
    let line = table.lines().position(|line| line.contains("oops")).unwrap() + 1;
    let called = folder.run("select x.csv --target y -k 1 --categorical refuse");
    called.refused(1, &["x.csv", "oops"]);
    assert!(called.err.contains(&line.to_string()), "line {line}: {}", called.err);
}

#[test]
fn k_is_checked() {
    let folder = folder();
    folder.run("select x.csv --target y").refused(2, &["k is not given", "-k K"]);
    folder.run("select x.csv --target y -k 0").refused(2, &["k is 0", "at least 1"]);
    folder.run("select x.csv --target y -k many").refused(2, &["many"]);
    let above = folder.run("select x.csv --target y -k 9 --output r.json");
    above.fine();
    assert!(above.err.contains("warning: k is 9 but only 3 features"), "{}", above.err);
    assert_eq!(folder.json("r.json")["selected"].as_array().unwrap().len(), 3);
    assert!(folder.json("r.json")["warnings"][0].as_str().unwrap().contains("k is 9"));
}

#[test]
fn k_not_below_the_rows_is_refused_for_the_squared_loss() {
    let folder = Folder::new();
    let made = folder.run("generate iid --set n=10 --set p=50 --set s=3 --output x.csv");
    made.fine();
    let called = folder.run("select x.csv --target target -k 10");
    called.refused(2, &["k is 10 with 10 rows", "below the number of rows"]);
    folder.run("select x.csv --target target -k 5").fine();
}

#[test]
fn one_class_only_is_refused() {
    let folder = Folder::new();
    folder.write("x.csv", "a,y\n1,no\n2,no\n3,no\n");
    folder.run("select x.csv --target y -k 1").refused(1, &["one class", "no"]);
}

#[test]
fn unwritable_outputs_are_found_before_the_run() {
    let folder = folder();
    folder.write("file", "");
    // The input does not exist: only a check made before it is opened can name the output.
    for flag in ["--output none/r.json", "--reduced none/x.csv", "--decisions none/d.csv"] {
        let called = folder.run(&format!("select none.csv --target y -k 1 {flag}"));
        called.refused(1, &["none/"]);
    }
    let called = folder.run("select none.csv --target y -k 1 --output file/r.json");
    called.refused(1, &["file/r.json"]);
    let called = folder.run("select none.csv --target y -k 1 --output r.csv --reduced r.csv");
    called.refused(2, &["r.csv", "twice"]);
    assert_eq!(folder.names(), ["file", "x.csv"]);
}

#[test]
fn wrong_flags_are_answered_with_advice() {
    let folder = folder();
    let refused = |flags: &str, words: &[&str]| {
        folder.run(&format!("select x.csv --target y -k 1 {flags}")).refused(2, words);
    };
    refused("--method os-minus", &["os-minus", "keepnet methods"]);
    refused("--set speed=9", &["speed", "os-plus knows", "reserve"]);
    refused("--set reserve", &["reserve", "KEY=VALUE"]);
    refused("--set theta=high", &["theta", "high"]);
    refused("--loss hinge", &["hinge", "squared-hinge"]);
    refused("--task cluster", &["cluster", "regression"]);
    refused("--missing maybe", &["maybe", "drop-feature"]);
    refused("--memory lots", &["lots", "300MB"]);
    refused("--time soon", &["soon", "2h"]);
    refused("--threads 0", &["threads"]);
    refused("--scans 0", &["scans"]);
    refused("--scans all", &["all", "rest"]);
    refused("--scans rest --method os", &["rest", "os-plus"]);
    refused("--scans rest --method saola", &["rest", "os-plus"]);
    refused("--max-missing 2", &["max-missing", "0 to 1"]);
    refused("--output r.txt", &["r.txt", ".json"]);
    refused("--reduced r.txt", &["r.txt"]);
    refused("--decisions d.json", &["d.json", ".csv"]);
    refused("--class-weight heavy", &["heavy", "balanced"]);
    refused("--format excel", &["excel", "parquet"]);
    refused("--frobnicate", &["--frobnicate"]);
    folder.run("choose x.csv").refused(2, &["choose"]);
    folder.run("").refused(2, &["--help"]);
}

#[test]
fn an_order_file_is_checked_with_its_line() {
    let folder = folder();
    folder.write("o1", "b\nz\n").write("o2", "0\n1\n0\n").write("o3", "0\n7\n");
    let refused = |file: &str, words: &[&str]| {
        folder.run(&format!("select x.csv --target y -k 1 --order {file}")).refused(1, words);
    };
    refused("o1", &["o1, line 2", "\"z\""]);
    refused("o2", &["o2, line 3", "twice"]);
    refused("o3", &["o3, line 2", "no feature 7"]);
    refused("none", &["none"]);
    folder.write("o4", "c\na\n");
    let result = folder.select("x.csv --target y -k 3 --order o4");
    assert_eq!(result["features_seen"], 2);
    assert_eq!(result["selected"].as_array().unwrap().len(), 2);
}

#[test]
fn a_run_that_cannot_fit_says_so_before_it_starts() {
    let folder = folder();
    let called = folder.run("select x.csv --target y -k 1 --memory 1MB");
    called.refused(1, &["needs", "budget is 976.6 KiB", "--memory"]);
}

#[test]
fn a_loss_that_does_not_fit_the_target_is_refused() {
    let call = "select x.csv --target y -k 1 --loss logistic --task regression";
    folder().run(call).refused(1, &["logistic", "regression", "--loss"]);
}
