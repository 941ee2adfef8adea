//! `sparse-group-lasso` against recorded runs of `asgl` and of a plain reference, from the Parquet
//! files through the program.
//!
//! The records lie beside the repository, in `../shared`; `SEMANTICS.md` there says how they were
//! made. `asgl` goes through a general conic solver, whose small weights are not zeros, so what is
//! compared is the objective, and the set of the reference, which has the lower one in every run.

mod common;

use std::path::{Path, PathBuf};

use common::skipped::skipped;
use common::{Called, Folder, keepnet, small_csv};
use serde_json::Value;

fn shared() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let record = shared.join("oracles/batch-filters/sparse_group_lasso.json");
    let there = record.is_file() && shared.join("data").is_dir();
    if !there {
        skipped("sparse-group-lasso: ../shared/oracles/batch-filters and ../shared/data");
    }
    there.then_some(shared)
}

#[test]
fn objectives_are_no_higher_than_the_recorded_ones_and_sets_are_the_same() {
    let Some(shared) = shared() else { return };
    let record = std::fs::read(shared.join("oracles/batch-filters/sparse_group_lasso.json"));
    let record: Value = serde_json::from_slice(&record.unwrap()).unwrap();
    let runs = record["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 24);
    for run in runs {
        let text = |name: &str| run[name].as_str().unwrap();
        let data = shared.join("data").join(format!("{}.parquet", text("dataset")));
        let mut command = keepnet();
        command.arg("select").arg(data).args(["--target", "y", "--task", "regression"]);
        command.args(["--method", "sparse-group-lasso", "--groups", text("groups")]);
        command.args(["--set", &format!("mix={}", run["mix"])]);
        command.args(["--set", &format!("lambda={}", run["lambda_"])]);
        let called = Called::new(&command.args(["--quiet", "--output", "-"]).output().unwrap());
        let result: Value = serde_json::from_str(&called.fine().out).unwrap();
        let what = format!("{} {} {}", text("dataset"), run["mix"], run["lambda_over_max"]);
        let number = |value: &Value| value.as_f64().unwrap();
        let metrics = &result["metrics"];
        let (got, want) = (number(&metrics["objective"]), number(&run["objective_reference"]));
        assert!(got <= want + 1e-9, "{what}: objective {got}, recorded {want}");
        assert!(number(&metrics["kkt_residual"]) < 1e-8, "{what}: {}", metrics["kkt_residual"]);
        let largest = number(&metrics["lambda_max"]) / number(&run["lambda_max"]);
        assert!((largest - 1.0).abs() < 1e-9, "{what}: {largest} of lambda_max");
        let index = |value: &Value| value["index"].as_u64().unwrap();
        let mut kept: Vec<u64> = result["selected"].as_array().unwrap().iter().map(index).collect();
        kept.sort_unstable();
        let recorded = run["selected"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap());
        // The kept set is cut to the number of rows that can fit it.
        if !result["warnings"].to_string().contains("rows can fit fewer") {
            assert_eq!(kept, recorded.collect::<Vec<u64>>(), "{what}");
        } else {
            let recorded: Vec<u64> = recorded.collect();
            assert!(kept.iter().all(|index| recorded.contains(index)), "{what}");
        }
        assert_eq!(number(&metrics["nonzero"]), run["selected"].as_array().unwrap().len() as f64);
    }
}

#[test]
fn bad_input_is_one_line() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv());
    let call = |words: &str| {
        folder.run(&format!("select x.csv --target y --method sparse-group-lasso {words}"))
    };
    call("-k 1").refused(2, &["groups"]);
    call("--groups block:2").refused(2, &["-k"]);
    call("--groups block:2 --set lambda1=0.1").refused(2, &["lambda2"]);
    call("--groups block:2 --set lambda=2 --set ratio=true").refused(2, &["at most 1"]);
    call("--groups block:2 -k 1 --set mix=2").refused(2, &["mix"]);
    assert_eq!(folder.names(), ["x.csv"]);
    let result =
        folder.select("x.csv --target y --method sparse-group-lasso --groups block:2 -k 2");
    let names: Vec<&str> = result["selected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 2);
    assert!(names.contains(&"a") && names.contains(&"b"));
    assert_eq!(result["metrics"]["groups_kept"], 1);
}
