//! The batch filters against recorded selections of public programs and of a plain Python form,
//! from the files through the program. The records and the data lie beside the repository, in
//! `../shared`; `SEMANTICS.md` there says who made each and where a program departs from its paper.

mod common;

use std::path::{Path, PathBuf};

use common::skipped::skipped;
use common::{Called, Folder, keepnet};
use serde_json::Value;

fn shared() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let there = shared.join("oracles/batch-filters").is_dir() && shared.join("data").is_dir();
    if !there {
        skipped("batch filters on real data: ../shared/oracles/batch-filters");
    }
    there.then_some(shared)
}

fn record(shared: &Path, name: &str) -> Value {
    let path = shared.join("oracles/batch-filters").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn list(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|index| index.as_u64().unwrap()).collect()
}

/// The program's result on a data set of `../shared`.
fn result(shared: &Path, dataset: &str, words: &[&str]) -> Value {
    let data = shared.join(format!("data/{dataset}.parquet"));
    let mut command = keepnet();
    command.arg("select").arg(data).args(["--target", "y", "--task", "classification"]).args(words);
    let called = Called::new(&command.args(["--quiet", "--output", "-"]).output().unwrap());
    serde_json::from_str(&called.fine().out).unwrap()
}

/// Indices and scores in the order of the method's own list.
fn ordered(result: &Value) -> (Vec<u64>, Vec<f64>) {
    let mut selected = result["selected"].as_array().unwrap().clone();
    selected.sort_by_key(|feature| feature["order"].as_u64().unwrap());
    let number = |feature: &Value| feature["index"].as_u64().unwrap();
    let score = |feature: &Value| feature["score"].as_f64().unwrap();
    (selected.iter().map(number).collect(), selected.iter().map(score).collect())
}

#[test]
fn fcbf_selects_the_recorded_features_in_their_order_for_any_hold() {
    let Some(shared) = shared() else { return };
    let mut compared = 0;
    for run in record(&shared, "fcbf_reference.json")["runs"].as_array().unwrap() {
        let dataset = run["dataset"].as_str().unwrap();
        let want = list(&run["selected"]);
        for hold in ["hold=all", "hold=50"] {
            let words = ["--method", "fcbf", "--measure", "su", "--set", hold];
            let got = result(&shared, dataset, &words);
            assert_eq!(ordered(&got).0, want, "{dataset} {hold}");
            assert_eq!(got["complete"], true);
            compared += 1;
        }
    }
    assert!(compared >= 16, "{compared}");
}

#[test]
fn mrmr_selects_what_pengs_program_selects() {
    let Some(shared) = shared() else { return };
    let mut compared = 0;
    for run in record(&shared, "mrmr_peng.json")["runs"].as_array().unwrap() {
        let (dataset, criterion) =
            (run["dataset"].as_str().unwrap(), run["criterion"].as_str().unwrap());
        let (k, rule) = (run["k"].to_string(), format!("criterion={criterion}"));
        for hold in ["hold=all", "hold=50"] {
            let words = ["--method", "mrmr", "-k", &k, "--set", &rule, "--set", hold];
            let got = result(&shared, dataset, &words);
            let (order, scores) = ordered(&got);
            assert_eq!(order, list(&run["reference_order"]), "{dataset} {criterion} {hold}");
            let mut set = order.clone();
            set.sort_unstable();
            let mut want = list(&run["selected"]);
            if run["order"] == "set" {
                want.sort_unstable();
                assert_eq!(set, want, "{dataset} {criterion}");
            } else {
                assert_eq!(order, want, "{dataset} {criterion}");
            }
            // Peng's program prints three digits.
            for (got, want) in scores.iter().zip(run["scores"].as_array().into_iter().flatten()) {
                assert!((got - want.as_f64().unwrap()).abs() <= 5.1e-4, "{got} {want}");
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 14);
}

#[test]
fn mrmr_with_the_rules_of_the_package_selects_what_it_selects() {
    let Some(shared) = shared() else { return };
    let mut compared = 0;
    for run in record(&shared, "mrmr_selection.json")["runs"].as_array().unwrap() {
        if run["status"] != "ok" {
            continue;
        }
        let dataset = run["dataset"].as_str().unwrap();
        let k = run["parameters"]["K"].to_string();
        let rules = ["--set", "criterion=fcq", "--set", "rules=mrmr-selection"];
        for hold in ["hold=all", "hold=20"] {
            let words = [&["--method", "mrmr", "-k", &k, "--set", hold][..], &rules].concat();
            let got = ordered(&result(&shared, dataset, &words)).0;
            assert_eq!(got, list(&run["selected"]), "{dataset} {hold}");
            compared += 1;
        }
    }
    assert_eq!(compared, 12);
}

/// The records of bnlearn with the tests that it shares with these methods. Their fast.iamb has
/// other steps than the paper's.
#[test]
fn markov_blankets_with_the_rules_of_bnlearn_are_what_it_finds() {
    let Some(shared) = shared() else { return };
    let (mut compared, mut wrong) = (0, Vec::new());
    for run in record(&shared, "bnlearn.json")["runs"].as_array().unwrap() {
        let text = |name: &str| run[name].as_str().unwrap();
        let measure = match text("test") {
            "mi" => "g2",
            "zf" => "fisher-z",
            _ => continue,
        };
        let method = match text("algorithm") {
            "fast.iamb" => continue,
            name => name.replace('.', "-"),
        };
        let (dataset, alpha) = (text("dataset"), format!("alpha={}", run["alpha"]));
        let most = format!("max-condition={}", run["max_sx"]);
        for hold in ["hold=all", "hold=50"] {
            let mut words =
                vec!["--method", &method, "--measure", measure, "--set", "rules=bnlearn"];
            words.extend(["--set", &alpha, "--set", hold]);
            if run["max_sx"].is_u64() {
                words.extend(["--set", &most]);
            }
            let got = ordered(&result(&shared, dataset, &words)).0;
            let want = list(&run["selected"]);
            if got != want {
                wrong
                    .push(format!("{dataset} {method} {measure} {alpha} {hold}: {got:?} {want:?}"));
            }
            compared += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(compared, 144);
}

/// pyCausalFS with G2: sets without an order. Its `mmpc` reads the strength 0 that it gives what is
/// above p = 0.01 as independence, so one set at a level above that is not by the rules; the record
/// has what the plain form gives in its place.
#[test]
fn markov_blankets_by_g2_are_those_of_pycausalfs() {
    let Some(shared) = shared() else { return };
    let mut compared = 0;
    for run in record(&shared, "pycausalfs.json")["runs"].as_array().unwrap() {
        if run["parameters"]["test"] != "g2" {
            continue;
        }
        let dataset = run["dataset"].as_str().unwrap();
        let alpha = format!("alpha={}", run["parameters"]["alpha"]);
        // The program makes every test, orders by the statistic, and has no symmetric correction.
        let mut words = vec!["--method", run["algorithm"].as_str().unwrap(), "--measure", "g2"];
        words.extend(["--set", &alpha, "--set", "few-rows=0", "--set", "strongest=statistic"]);
        if run["algorithm"] == "mmmb" {
            words.extend(["--set", "symmetric=false"]);
        }
        let mut got = ordered(&result(&shared, dataset, &words)).0;
        got.sort_unstable();
        let mut want = list(&run["reference"]);
        want.sort_unstable();
        assert_eq!(got, want, "{dataset} {} {alpha}", run["algorithm"]);
        compared += 1;
    }
    assert_eq!(compared, 12);
}

#[test]
fn spsf_lar_selects_the_recorded_features_in_their_order_for_any_hold() {
    let Some(shared) = shared() else { return };
    let mut compared = 0;
    for run in record(&shared, "spsf_lar.json")["runs"].as_array().unwrap() {
        let dataset = run["dataset"].as_str().unwrap();
        let k = run["k"].to_string();
        // Of madelon and arcene the first rows, which are the training part: the others weigh 0.
        let folder = Folder::new();
        let weights = folder.path("w.csv").to_string_lossy().into_owned();
        let mut rows: Vec<&str> = Vec::new();
        if let Some(first) = run["rows"].as_u64() {
            let all = if dataset == "madelon" { 2600 } else { 200 };
            let lines: Vec<&str> =
                (0..all).map(|row| if row < first { "1" } else { "0" }).collect();
            folder.write("w.csv", format!("w\n{}\n", lines.join("\n")));
            rows = vec!["--sample-weight", &weights];
        }
        for hold in ["hold=all", "hold=50", "hold=1"] {
            let words = ["--method", "spsf-lar", "-k", &k, "--set", hold];
            let got = result(&shared, dataset, &[&words[..], &rows].concat());
            assert_eq!(ordered(&got).0, list(&run["selected"]), "{dataset} {hold}");
            compared += 1;
        }
    }
    assert_eq!(compared, 30);
}
