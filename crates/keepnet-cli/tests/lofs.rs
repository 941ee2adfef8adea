//! `--set rules=lofs` against the recorded selections of the LOFS library, list for list,
//! from the Parquet files through the program.
//!
//! `lofs/` has the records of two small data sets. Those of all sets, and the sets, lie beside the
//! repository, in `../shared`; how they were made is in `SEMANTICS.md` there.

mod common;

use std::path::{Path, PathBuf};

use common::skipped::skipped;
use common::{Called, keepnet};
use serde_json::Value;

/// The recorded routine and how the program is asked for it.
const ROUTINES: [(&str, &[&str]); 9] = [
    ("saola_mi", &["saola", "--measure", "su"]),
    ("saola_z_test", &["saola", "--measure", "fisher-z"]),
    ("group_saola_mi", &["group-saola", "--measure", "su"]),
    ("group_saola_z_test", &["group-saola", "--measure", "fisher-z"]),
    ("alpha_investing", &["alpha-investing"]),
    ("osfs_d", &["osfs", "--measure", "g2"]),
    ("osfs_z", &["osfs", "--measure", "fisher-z"]),
    ("fast_osfs_d", &["fast-osfs", "--measure", "g2"]),
    ("fast_osfs_z", &["fast-osfs", "--measure", "fisher-z"]),
];

/// The records and data sets of the repository.
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lofs")
}

fn shared() -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let there = shared.join("oracles/lofs").is_dir() && shared.join("data").is_dir();
    if !there {
        skipped("LOFS on its larger data sets: ../shared/oracles/lofs and ../shared/data");
    }
    there.then_some(shared)
}

fn read(file: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// Indices in the order of the method's own list, and the seconds of the selection.
fn select(data: &Path, words: &[String]) -> (Vec<u64>, f64) {
    let mut command = keepnet();
    command.arg("select").arg(data).args(["--target", "y", "--task", "classification"]);
    command.args(["--quiet", "--output", "-"]).args(words);
    let called = Called::new(&command.output().unwrap());
    called.fine();
    let result: Value = serde_json::from_str(&called.out).unwrap();
    let number = |feature: &Value, name: &str| feature[name].as_u64().unwrap();
    let mut selected = result["selected"].as_array().unwrap().clone();
    selected.sort_by_key(|feature| number(feature, "order"));
    let seconds = result["run"]["seconds"]["select"].as_f64().unwrap();
    (selected.iter().map(|feature| number(feature, "index")).collect(), seconds)
}

fn words(method: &[&str], parameters: &Value) -> Vec<String> {
    let mut words = vec!["--method".to_string(), method[0].into()];
    words.extend(method[1..].iter().map(|word| word.to_string()));
    words.extend(["--set".into(), "rules=lofs".into()]);
    if let Some(alpha) = parameters["alpha"].as_f64() {
        words.extend(["--set".into(), format!("alpha={alpha}")]);
    }
    if let Some(size) = parameters["group_size"].as_u64() {
        words.extend(["--groups".into(), format!("block:{size}")]);
    }
    words
}

/// Compares the completed runs of one routine; says how many there were.
fn compare(routine: &str, method: &[&str], runs: &Value, data: &Path) -> usize {
    let mut compared = 0;
    for run in runs.as_array().unwrap() {
        let Some(want) = run["selected"].as_array() else { continue };
        let want: Vec<u64> = want.iter().map(|index| index.as_u64().unwrap()).collect();
        let dataset = run["dataset"].as_str().unwrap();
        let data = data.join(format!("{dataset}.parquet"));
        let (got, seconds) = select(&data, &words(method, &run["parameters"]));
        assert_eq!(got, want, "{routine} on {dataset} {}", run["parameters"]);
        println!(
            "{routine:20} {dataset:12} {:4} features  {seconds:8.3} s, the library {} s \
             (of its process {} s)",
            want.len(),
            run["elapsed_seconds"],
            run["cpu_seconds"],
        );
        compared += 1;
    }
    compared
}

#[test]
fn the_selections_from_two_small_sets_are_reproduced_list_for_list() {
    let records = read(&fixture().join("records.json"));
    let compared = |(routine, method): &(&str, &[&str])| {
        let compared = compare(routine, method, &records["routines"][routine], &fixture());
        assert!(compared > 0, "{routine} has no record");
        compared
    };
    assert_eq!(ROUTINES.iter().map(compared).sum::<usize>(), 16);
}

#[test]
fn every_recorded_selection_is_reproduced_list_for_list() {
    let Some(shared) = shared() else { return };
    let compared = |(routine, method): &(&str, &[&str])| {
        let record = read(&shared.join(format!("oracles/lofs/{routine}.json")));
        compare(routine, method, &record["runs"], &shared.join("data"))
    };
    // Completed runs in the nine files.
    assert_eq!(ROUTINES.iter().map(compared).sum::<usize>(), 73);
}

#[test]
fn the_measure_is_chosen_by_the_schema_and_said() {
    let mut sets = vec![("spect", "su", fixture()), ("wdbc", "fisher-z", fixture())];
    sets.extend(shared().map(|shared| ("colon", "su", shared.join("data"))));
    for (dataset, measure, folder) in sets {
        let mut command = keepnet();
        command.arg("select").arg(folder.join(format!("{dataset}.parquet")));
        command.args(["--target", "y", "--method", "saola", "--quiet", "--output", "-"]);
        let called = Called::new(&command.output().unwrap());
        let result: Value = serde_json::from_str(&called.fine().out).unwrap();
        assert_eq!(result["params"]["measure"], measure);
        assert!(called.err.contains(&format!("measure {measure}, as ")), "{}", called.err);
        assert_eq!(result["p_value_kind"], "marginal");
        let first = &result["selected"][0];
        assert!(first["coefficient"].is_null() && first["p_value"].as_f64().unwrap() < 0.01);
        assert_eq!(result["class_counts"].as_array().unwrap().len(), 2);
    }
}
