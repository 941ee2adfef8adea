//! `keepnet reproduce`, and what a batch method says of its memory.

mod common;

use common::{Called, Folder, keepnet};

#[test]
fn figures_are_listed_with_those_that_are_not_there() {
    let folder = Folder::new();
    let list = folder.run("reproduce --list");
    for name in ["os-1", "os-2", "os-3", "saola-6", "saola-23", "ra-regression", "ra-adaptation"] {
        assert!(list.fine().out.contains(name), "{name}");
    }
    assert!(list.out.contains("os-4: needs the privacy images"));
    folder.run("reproduce os-4").refused(1, &["privacy images"]);
    folder.run("reproduce os-9").refused(2, &["os-9", "--list"]);
    folder.run("reproduce os-1 --set speed=1").refused(2, &["speed", "noise"]);
    folder.run("reproduce ra-adaptation --repeats 0").refused(2, &["repeats"]);
    assert_eq!(folder.run("reproduce").code, 2);
}

/// Forgetting follows the turning signal: near the noise of 1 with it, far above without.
#[test]
fn a_small_figure_runs_and_writes_its_table() {
    let folder = Folder::new();
    let called = folder.run("reproduce ra-adaptation --repeats 2 --output f.csv");
    assert!(called.fine().out.contains("ra-adaptation"));
    assert!(called.err.contains("repeat 2 of 2"), "{}", called.err);
    let mut reader = csv::Reader::from_path(folder.path("f.csv")).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 12);
    let last = |forget: &str| -> f64 {
        let row = rows.iter().rev().find(|row| row[2].ends_with(forget)).unwrap();
        assert_eq!(&row[7], "2");
        row[5].parse().unwrap()
    };
    assert!(last("forget 0.01") < 1.2 && last("forget 0") > 2.0);
    assert!(!folder.path("f.csv.journal").exists());
}

#[test]
fn finished_cells_are_not_run_again() {
    let folder = Folder::new();
    let head = format!("keepnet {} ra-adaptation {{}}", env!("CARGO_PKG_VERSION"));
    let values: Vec<String> = (0..12).map(|at| format!("{at}.5")).collect();
    let line = format!("[\"turning signal, seed 0\",[{}]]", values.join(","));
    folder.write("f.csv.journal", format!("{head}\n{line}\n"));
    folder.run("reproduce ra-adaptation --repeats 1 --output f.csv").fine();
    let text = folder.read("f.csv");
    assert!(text.contains(",11.50,") && text.contains(",0.5000,"), "{text}");
    folder.write("f.csv.journal", "keepnet of another kind\n");
    let called = folder.run("reproduce ra-adaptation --repeats 1 --output f.csv");
    called.refused(1, &["f.csv.journal", "remove it"]);
}

#[test]
fn cells_without_data_say_so() {
    let folder = Folder::new();
    let called = folder.run("reproduce saola-6 --data . --quiet");
    assert!(called.fine().out.contains("no data here"));
    assert_eq!(called.err, "");
}

#[test]
fn a_batch_method_says_what_it_would_hold() {
    let folder = Folder::new();
    folder
        .run("generate regression --set p=3000 --set n=2000 --output x.npy --target y.csv")
        .fine();
    let call = "select x.npy --target y.csv -k 5 --quiet --output -";
    folder
        .run(&format!("{call} --method lasso --memory 20MB"))
        .refused(1, &["all 3000 columns", "raise --memory", "method on the stream"]);
    let mut command = keepnet();
    command.current_dir(folder.0.path()).args(call.split(' ')).args(["--method", "lasso"]);
    let called = Called::new(&command.output().unwrap());
    let result: serde_json::Value = serde_json::from_str(&called.fine().out).unwrap();
    assert_eq!(result["stream"], "batch");
    assert_eq!(result["selected"].as_array().unwrap().len(), 5);
}
