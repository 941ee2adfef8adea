//! The JSON result: its shape, its repeatability, and that neither format, threads nor blocks
//! change it.

mod common;

use common::{Folder, chosen, outside_run, small_csv};
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The fields of the product contract, version 1.
const FIELDS: [&str; 22] = [
    "keepnet",
    "version",
    "method",
    "params",
    "task",
    "classes",
    "stream",
    "complete",
    "warnings",
    "rows",
    "features_seen",
    "scans",
    "seed",
    "selected",
    "score_kind",
    "p_value_kind",
    "error_control",
    "always",
    "intercept",
    "final_loss",
    "substitutions",
    "dropped",
];

#[test]
fn the_result_has_the_fields_of_version_1() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv());
    let result = folder.select("x.csv --target y -k 2 --always c --seed 5");
    let found = keys(&result);
    for field in FIELDS.iter().chain(&["trace", "run", "covariates", "metrics"]) {
        assert!(found.contains(field), "{field}");
    }
    assert_eq!((&result["version"], &result["seed"]), (&1.into(), &5.into()));
    assert_eq!((&result["task"], &result["stream"]), (&"regression".into(), &"features".into()));
    assert_eq!(result["classes"], Value::Null);
    let feature = [
        "index",
        "name",
        "arrival",
        "order",
        "source",
        "group",
        "coefficient",
        "standardised",
        "score",
        "p_value",
        "log_p",
        "q_value",
        "level",
        "statistic",
        "test",
        "mean",
        "missing",
        "fill",
        "origin",
    ];
    let mut sorted = feature.to_vec();
    sorted.sort_unstable();
    for part in ["selected", "always"] {
        let mut found = keys(&result[part][0]);
        found.sort_unstable();
        assert_eq!(found, sorted, "{part}");
    }
    let mut dropped = keys(&result["dropped"]);
    dropped.sort_unstable();
    assert_eq!(dropped, ["constant", "evicted", "missing", "redundant", "weak"]);
    for field in ["arrived", "loss", "kept", "substitutions"] {
        assert!(result["trace"][0].get(field).is_some(), "{field}");
    }
    for field in ["total", "read", "select"] {
        assert!(result["run"]["seconds"][field].as_f64().unwrap() >= 0.0);
    }
    assert!(result["run"]["command"].as_str().unwrap().starts_with("keepnet select x.csv"));
    // y = 2 a - 3 b exactly, and c is always kept with nothing left to explain.
    let weights = chosen(&result);
    assert_eq!(weights.len(), 2);
    assert!((weights[0].1 - 2.0).abs() < 1e-8 && (weights[1].1 + 3.0).abs() < 1e-8);
    assert_eq!(result["always"][0]["name"], "c");
    let scores: Vec<f64> = result["selected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|feature| feature["score"].as_f64().unwrap())
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b));
}

/// The standard deviation is worked out here from the values, with weights as whole counts.
#[test]
fn a_standardised_coefficient_is_what_a_standard_deviation_changes() {
    let folder = Folder::new();
    let (mut table, mut a, mut b) = ("a,b,w,y,class\n".to_string(), Vec::new(), Vec::new());
    for i in 0..60 {
        let (x, z, w) = (1e8 + f64::from(i % 7), f64::from(i % 5) * 3.0, 1 + i % 3);
        let noise = f64::from(i * i % 11) / 10.0;
        let y = 2.0 * (x - 1e8) - z + noise;
        table += &format!("{x},{z},{w},{y},{}\n", if y > 0.5 { "yes" } else { "no" });
        for _ in 0..w {
            a.push(x - 1e8);
            b.push(z);
        }
    }
    folder.write("x.csv", table);
    let deviation = |x: &[f64]| {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64).sqrt()
    };
    let want = [deviation(&a), deviation(&b)];
    let common = "x.csv -k 2 --sample-weight w";
    for call in [
        "--target y --exclude class",
        "--target class --exclude y",
        "--target y --exclude class --method lasso --set lambda=0.01",
        "--target y --exclude class --method annealed-ridge",
    ] {
        let result = folder.select(&format!("{common} {call}"));
        let selected = result["selected"].as_array().unwrap();
        assert_eq!(selected.len(), 2, "{call}");
        for feature in selected {
            let want = want[feature["index"].as_u64().unwrap() as usize];
            let ratio = feature["standardised"].as_f64().unwrap()
                / feature["coefficient"].as_f64().unwrap();
            assert!((ratio / want - 1.0).abs() < 1e-6, "{call}: {ratio}, {want}");
        }
    }
    // No model, no coefficient, on whatever scale.
    let result = folder.select("x.csv -k 1 --target y --exclude class,w --method saola");
    assert_eq!(result["selected"][0]["standardised"], Value::Null);
}

#[test]
fn fields_come_in_the_order_of_the_contract() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv());
    let called = folder.run("select x.csv --target y -k 1 --quiet --output -");
    let places: Vec<_> = FIELDS
        .iter()
        .map(|field| called.out.find(&format!("\n  \"{field}\":")).unwrap_or(usize::MAX))
        .collect();
    assert!(places.is_sorted() && places[20] < usize::MAX, "{places:?}");
}

#[test]
fn several_classes_have_a_weight_each() {
    let folder = Folder::new();
    let mut table = "a,b,y\n".to_string();
    for i in 0..60u32 {
        let (a, b) = (f64::from(i % 9) - 4.0, f64::from(i * 7 % 11) - 5.0);
        let class = if a > 1.0 {
            "high"
        } else if b > 1.0 {
            "mid"
        } else {
            "low"
        };
        table += &format!("{a},{b},{class}\n");
    }
    folder.write("x.csv", table);
    let three = folder.select("x.csv --target y -k 2");
    assert_eq!(three["classes"], serde_json::json!(["high", "low", "mid"]));
    assert_eq!(three["intercept"].as_array().unwrap().len(), 3);
    assert_eq!(three["selected"][0]["coefficient"].as_array().unwrap().len(), 3);
    folder.write("two.csv", folder.read("x.csv").replace("mid", "low"));
    let two = folder.select("two.csv --target y -k 1");
    assert!(two["intercept"].is_f64() && two["selected"][0]["coefficient"].is_f64());
    assert_eq!(two["classes"], serde_json::json!(["high", "low"]));
}

#[test]
fn a_second_run_has_the_same_digits_outside_run() {
    let folder = Folder::new();
    folder.run("generate toeplitz --output x.parquet").fine();
    let flags = [
        "",
        "--order shuffled --seed 3",
        "--threads 1",
        "--loss squared-epsilon",
        "--method os",
        "--method os --order shuffled --set intercept=false",
    ];
    for flags in flags {
        let call = format!("x.parquet --target target -k 20 {flags}");
        let (first, second) = (folder.select(&call), folder.select(&call));
        assert_eq!(outside_run(first), outside_run(second), "{flags}");
    }
}

#[test]
fn threads_and_blocks_change_no_digit() {
    let folder = Folder::new();
    folder.run("generate equicorrelated --set n=20000 --output x.npy").fine();
    let call = "x.npy --target f1000 -k 20";
    let reference = outside_run(folder.select(call));
    for threads in [1, 2, 5] {
        let other = outside_run(folder.select(&format!("{call} --threads {threads}")));
        assert_eq!(reference, other, "{threads} threads");
    }
    // A smaller limit makes narrower blocks; the trace has a point a block and may differ.
    let mut narrow = outside_run(folder.select(&format!("{call} --memory 28MB")));
    let mut reference = reference;
    let points = |result: &Value| result["trace"].as_array().unwrap().len();
    assert!(points(&narrow) > points(&reference), "{} {}", points(&narrow), points(&reference));
    for result in [&mut narrow, &mut reference] {
        result.as_object_mut().unwrap().remove("trace").unwrap();
    }
    assert_eq!(reference, narrow);
}

#[test]
fn every_format_gives_the_same_features_and_weights() {
    for (workload, classes) in [("toeplitz", false), ("classification", true)] {
        let folder = Folder::new();
        let sizes = "--set p=300 --set n=200 --set s=10";
        let mut reference = None;
        for format in ["csv", "tsv", "npy", "parquet", "arrow", "jsonl", "svm"] {
            let file = format!("x.{format}");
            let made = folder.run(&format!("generate {workload} {sizes} --output {file}"));
            made.fine();
            let target = match format {
                "npy" => "--target f300",
                "svm" => "",
                _ => "--target target",
            };
            let result = folder.select(&format!("{file} {target} -k 12"));
            assert_eq!(result["task"] == "classification", classes, "{format}");
            let chosen = chosen(&result);
            let reference = reference.get_or_insert_with(|| chosen.clone());
            assert_eq!(chosen.len(), reference.len());
            for (a, b) in chosen.iter().zip(reference.iter()) {
                assert_eq!(a.0, b.0, "{workload} {format}");
                assert!((a.1 - b.1).abs() <= 1e-10 * b.1.abs().max(1.0), "{workload} {format}");
            }
        }
    }
}

#[test]
fn the_csv_result_says_what_the_json_says() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv());
    folder.run("select x.csv --target y -k 2 --output r.csv").fine();
    let json = folder.select("x.csv --target y -k 2");
    let text = folder.read("r.csv");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let at = |name: &str| lines[0].iter().position(|field| *field == name).unwrap();
    assert_eq!(lines.len(), 3);
    for (line, feature) in lines[1..].iter().zip(json["selected"].as_array().unwrap()) {
        assert_eq!(line[at("name")], feature["name"].as_str().unwrap());
        for field in ["coefficient", "score", "mean"] {
            let value: f64 = line[at(field)].parse().unwrap();
            assert_eq!(value, feature[field].as_f64().unwrap(), "{field}");
        }
    }
}

/// Levels A, B and C of `town`, a gap in every fourth row, then two numbers:
/// y = 5 where town is missing + 3 where it is C + a.
fn towns() -> String {
    let mut text = "town,a,b,y\n".to_string();
    for i in 0..80_i32 {
        let town = ["A", "", "C", "B"][(i % 4) as usize];
        let (a, b) = (f64::from(i * i % 13), f64::from(i * 7 % 11));
        let gap = f64::from(u8::from(town.is_empty()));
        let c = f64::from(u8::from(town == "C"));
        text += &format!("{town},{a},{b},{}\n", 5.0 * gap + 3.0 * c + a);
    }
    text
}

/// The names of the selected features as they arrived.
fn arrivals(result: &Value) -> Vec<(u64, &str)> {
    let selected = result["selected"].as_array().unwrap().iter();
    let mut arrivals: Vec<(u64, &str)> =
        selected.map(|f| (f["arrival"].as_u64().unwrap(), f["name"].as_str().unwrap())).collect();
    arrivals.sort_unstable();
    arrivals
}

#[test]
fn levels_of_text_and_their_gaps_are_features_of_their_own() {
    let folder = Folder::new();
    folder.write("x.csv", towns());
    let flags = "x.csv --target y --categorical onehot --missing indicator";
    let result = folder.select(&format!("{flags} -k 3 --reduced r.csv"));
    // town=B, town=C, a and b: A, which is as frequent, is the reference. What says where one is
    // missing is not counted.
    assert_eq!(result["features_seen"], 4);
    let mut names: Vec<&str> = arrivals(&result).into_iter().map(|(_, name)| name).collect();
    names.sort_unstable();
    assert_eq!(names, ["a", "town=B:missing", "town=C"]);
    // The file holds what the names say: C is filled with its mean over known rows, 1/3.
    let mut reader = csv::Reader::from_path(folder.path("r.csv")).unwrap();
    let head = reader.headers().unwrap().clone();
    let at = |name: &str| head.iter().position(|field| field == name).unwrap();
    for (i, row) in reader.records().map(Result::unwrap).enumerate() {
        let value = |name: &str| row[at(name)].parse::<f64>().unwrap();
        assert_eq!(value("town=B:missing"), f64::from(u8::from(i % 4 == 1)), "row {i}");
        let c = [0.0, 1.0 / 3.0, 1.0, 0.0][i % 4];
        assert!((value("town=C") - c).abs() < 1e-6, "row {i}");
        assert_eq!(value("a"), f64::from((i * i % 13) as u32), "row {i}");
    }
}

#[test]
fn columns_after_an_expanded_text_column_are_found_again() {
    let folder = Folder::new();
    folder.write("x.csv", towns()).write("order.txt", "b\ntown=C\na\n");
    let flags = "x.csv --target y --categorical onehot --missing mean";
    folder.select(&format!("{flags} -k 1 --reduced r.csv"));
    assert_eq!(folder.read("r.csv").lines().next(), Some("a,target"));
    // Feature 1 is the column a, whose place in the stream is 2.
    let ordered = folder.select(&format!("{flags} -k 3 --order order.txt"));
    assert_eq!(arrivals(&ordered), [(0, "b"), (1, "town=C"), (2, "a")]);
    // A comparison reads the selected columns once more for its judges.
    let compare = "compare x.csv --target y --categorical onehot --missing indicator -k 3";
    folder.run(&format!("{compare} --methods os-plus --quiet")).fine();
}
