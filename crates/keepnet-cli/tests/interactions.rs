//! `ossfs-dd` and `sfs-fi` with `rules=authors` against recorded selections, from the Parquet files
//! through the program. The records and the data lie beside the repository, in `../shared`; they
//! are those of a plain Python form of the authors' programs (`made_by` in the record).

mod common;

use std::path::{Path, PathBuf};

use common::skipped::skipped;
use common::{Called, keepnet};
use serde_json::Value;

fn shared() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let there = shared.join("oracles/batch-filters").is_dir() && shared.join("data").is_dir();
    if !there {
        skipped("ossfs-dd and sfs-fi on real data: ../shared/oracles/batch-filters");
    }
    there.then_some(shared)
}

/// Indices in the order of the method's own list.
fn select(data: &Path, method: &str, measure: &str) -> Vec<u64> {
    let mut command = keepnet();
    command.arg("select").arg(data).args(["--target", "y", "--task", "classification"]);
    command.args(["--method", method, "--measure", measure, "--set", "rules=authors"]);
    let called = Called::new(&command.args(["--quiet", "--output", "-"]).output().unwrap());
    let result: Value = serde_json::from_str(&called.fine().out).unwrap();
    let number = |feature: &Value, name: &str| feature[name].as_u64().unwrap();
    let mut selected = result["selected"].as_array().unwrap().clone();
    selected.sort_by_key(|feature| number(feature, "order"));
    selected.iter().map(|feature| number(feature, "index")).collect()
}

#[test]
fn every_recorded_selection_is_reproduced_list_for_list() {
    let Some(shared) = shared() else { return };
    let record = shared.join("oracles/batch-filters/streaming_reference.json");
    let record: Value = serde_json::from_slice(&std::fs::read(record).unwrap()).unwrap();
    let mut compared = 0;
    for run in record["runs"].as_array().unwrap() {
        let (dataset, measure) =
            (run["dataset"].as_str().unwrap(), run["measure"].as_str().unwrap());
        for (method, field) in [("ossfs-dd", "ossfs_dd"), ("sfs-fi", "sfs_fi")] {
            let want = run[field].as_array().unwrap();
            let want: Vec<_> = want.iter().map(|index| index.as_u64().unwrap()).collect();
            let data = shared.join(format!("data/{dataset}.parquet"));
            let got = select(&data, method, measure);
            assert_eq!(got, want, "{method} with {measure} on {dataset}");
            compared += 1;
        }
    }
    assert_eq!(compared, 12);
}
