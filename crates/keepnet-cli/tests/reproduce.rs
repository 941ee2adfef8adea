//! `keepnet reproduce`, and what a batch method says of its memory.

mod common;

use common::skipped::skipped;
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
    let numbers = "3 4 5 6 8 10 11 12 13 14 15 16 17 18 20 21 22 23 bars batch stability";
    for number in numbers.split(' ') {
        let called = folder.run(&format!("reproduce saola-{number} --data . --quiet"));
        assert!(called.fine().out.contains("no data here"), "{number}: {}", called.out);
        assert_eq!(called.err, "");
    }
    folder.run("reproduce saola-9 --repeats 0").refused(2, &["repeats"]);
    folder.run("reproduce saola-shapes --set shapes=huge").refused(2, &["shapes", "small or all"]);
}

/// The paper's rows, features and classifiers: its Table XXI gives 0.5617, 0.5717 (nearest
/// neighbour) and 0.6083, 0.5416 (J48) on madelon at alpha 0.01 and 0.05.
#[test]
fn the_accuracies_of_saola_on_madelon_are_the_published_ones() {
    let shared = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !shared.join("madelon.parquet").is_file() {
        skipped("the accuracies of SAOLA on madelon: ../shared/data/madelon.parquet is not there");
        return;
    }
    let folder = Folder::new();
    std::fs::copy(shared.join("madelon.parquet"), folder.path("madelon.parquet")).unwrap();
    folder.run("reproduce saola-21 --data . --quiet --output f.csv --picture f.svg").fine();
    let mut reader = csv::Reader::from_path(folder.path("f.csv")).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let ours: Vec<f64> = rows[..4].iter().map(|row| row[5].parse().unwrap()).collect();
    assert!(rows[..4].iter().all(|row| &row[1] == "madelon" && row[8].is_empty()), "{rows:?}");
    // Equal distances are broken in an order that the paper does not give: two of 600 rows.
    assert!((ours[0] - 0.5617).abs() < 0.004, "{ours:?}");
    for (ours, published) in ours[1..].iter().zip([0.5717, 0.6083, 0.5416]) {
        assert!((ours - published).abs() < 1.5e-4, "{ours} {published}");
    }
    let picture = folder.read("f.svg");
    assert!(picture.contains("madelon, alpha = 0.05") && picture.contains("prefers-color-scheme"));
    folder.run("reproduce saola-21 --picture f.png").refused(2, &["picture", ".svg"]);
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
