//! Statistical methods through the program: groups, decisions, refusals, checkpoints.

mod common;

use common::Folder;
use serde_json::Value;

/// Twelve features of 40 rows in three groups of names; `a_0` is nearly the target.
fn folder() -> Folder {
    let names: Vec<String> =
        ["a", "b", "c"].iter().flat_map(|g| (0..4).map(move |i| format!("{g}_{i}"))).collect();
    let mut text = names.join(",") + ",y\n";
    for row in 0..40u64 {
        let y = row * 7 % 11 % 2;
        let cell = |j: u64| match (row * 31 + j * 17) % (3 + j) {
            0 => (row * j + 1) % 2,
            _ => y,
        };
        let cells: Vec<String> = (0..12).map(|j| cell(j).to_string()).collect();
        text += &format!("{},{y}\n", cells.join(","));
    }
    let folder = Folder::new();
    folder.write("x.csv", text);
    let lines: Vec<String> = names.iter().map(|n| format!("{n},{}", &n[..1])).collect();
    folder.write("groups.csv", format!("feature,group\n{}\n", lines.join("\n")));
    folder
}

fn result(folder: &Folder, words: &str) -> Value {
    let call = format!("select x.csv --target y {words} --quiet --output r.json");
    folder.run(&call).fine();
    serde_json::from_str(&folder.read("r.json")).unwrap()
}

#[test]
fn groups_come_from_a_file_a_prefix_or_blocks() {
    let folder = folder();
    let mut seen = Vec::new();
    for groups in ["groups.csv", "prefix:_", "block:4"] {
        let result = result(&folder, &format!("--method group-saola --groups {groups}"));
        assert_eq!(result["stream"], "groups");
        assert_eq!(result["metrics"]["groups_seen"], 3);
        let living = result["groups"].as_array().unwrap();
        let members: u64 = living.iter().map(|g| g["members"].as_u64().unwrap()).sum();
        assert_eq!(members as usize, result["selected"].as_array().unwrap().len());
        let name = &result["selected"][0]["group"];
        assert!(living.iter().any(|group| group["name"] == *name), "{name}");
        let indices = result["selected"].as_array().unwrap().iter();
        seen.push(indices.map(|f| f["index"].as_u64().unwrap()).collect::<Vec<_>>());
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
    let shuffled = "--method group-saola --groups prefix:_ --order shuffled --seed 3";
    assert_eq!(result(&folder, shuffled)["metrics"]["groups_seen"], 3);
}

/// A text column has several levels at several places, and is one column of its group.
#[test]
fn shuffled_groups_of_text_columns_stay_whole() {
    let folder = Folder::new();
    let row =
        |i: usize| format!("{},{},{},{},{}\n", i % 2, ["u", "v", "w"][i % 3], i % 5, i % 7, i % 2);
    folder
        .write("x.csv", "a_1,a_2,b_1,b_2,y\n".to_string() + &(0..42).map(row).collect::<String>());
    folder.write("g.csv", "a_1,a\na_2=u,a\na_2=v,a\na_2=w,a\nb_1,b\nb_2,b\n");
    for groups in ["block:2", "prefix:_", "g.csv"] {
        for seed in 0..6 {
            let words = format!("--groups {groups} --order shuffled --seed {seed}");
            let words = format!("--method group-saola --categorical onehot {words}");
            assert_eq!(result(&folder, &words)["metrics"]["groups_seen"], 2, "{words}");
        }
    }
}

#[test]
fn decisions_name_who_made_a_feature_redundant() {
    let folder = folder();
    result(&folder, "--method saola --measure su --decisions d.csv");
    let decisions = folder.read("d.csv");
    let redundant: Vec<_> = decisions.lines().filter(|l| l.contains("redundant")).collect();
    assert!(!redundant.is_empty(), "{decisions}");
    // scan,index,name,event,reason,by,marginal,score
    for line in redundant {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!((cells[3], cells[4]), ("dropped", "redundant"));
        assert!(cells[5].parse::<u64>().is_ok() && cells[6].parse::<f64>().is_ok(), "{line}");
    }
}

#[test]
fn every_method_runs_and_says_its_p_values() {
    let folder = folder();
    for (method, words, p_values) in [
        ("saola", "", "marginal"),
        ("saola-max", "--measure mi -k 2", "marginal"),
        ("group-saola", "--groups block:4 --measure fisher-z", "marginal"),
        ("alpha-investing", "", "bid"),
        ("osfs", "--measure fisher-z", "marginal"),
        ("fast-osfs", "--measure g2", "marginal"),
        ("ogfs", "--groups prefix:_ --set lambda=0.01", "marginal"),
    ] {
        let words = format!("--method {method} {words}");
        let whole = result(&folder, &words);
        assert_eq!(whole["p_value_kind"], p_values, "{method}");
        assert!(!whole["selected"].as_array().unwrap().is_empty(), "{method}");
        assert!(whole["selected"][0]["coefficient"].is_null());
        // Saving the state after every block changes nothing; resuming is tested elsewhere.
        let again = result(&folder, &format!("{words} --checkpoint c.kn --checkpoint-every 1b"));
        assert_eq!(again["selected"], whole["selected"], "{method}");
    }
}

#[test]
fn wrong_calls_are_refused_with_advice() {
    let folder = folder();
    let refused = |words: &str, code: i32, expected: &[&str]| {
        folder.run(&format!("select x.csv --target y {words}")).refused(code, expected);
    };
    refused("--method group-saola", 2, &["groups", "prefix:SEP"]);
    refused("--method group-saola --groups block:4 -k 3", 2, &["no -k"]);
    refused("--method group-saola --groups block:x", 2, &["block:N"]);
    refused("--method group-saola --groups none.csv", 1, &["none.csv"]);
    refused("--method os-plus -k 3 --measure su", 2, &["measure", "os-plus has none"]);
    refused("--method saola --measure pearson", 2, &["auto, su, mi or fisher-z"]);
    refused("--method saola --set alpha=7 --measure fisher-z", 2, &["between 0 and 1"]);
    folder.write("some.csv", "a_0,g\na_1,g\n");
    refused("--method group-saola --groups some.csv", 1, &["\"a_2\" has no group"]);
    folder.write("twice.csv", "a_0,g\na_0,h\n");
    refused("--method group-saola --groups twice.csv", 1, &["twice.csv", "\"a_0\""]);
}

#[test]
fn continuous_columns_under_a_discrete_measure_need_bins() {
    let folder = Folder::new();
    let mut text = "u,v,y\n".to_string();
    for row in 0..60 {
        let y = row % 2;
        let u = f64::from(row) / 7.0 + 3.0 * f64::from(y);
        text += &format!("{u},{},{y}\n", f64::from(row * 13 % 60) / 3.0);
    }
    folder.write("x.csv", text);
    let call = "select x.csv --target y --method saola --measure su --quiet --output r.json";
    folder.run(call).refused(1, &["\"u\"", "bins=N"]);
    folder.run(&format!("{call} --set bins=4")).fine();
    let result: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(
        (&result["params"]["bins"], &result["params"]["measure"]),
        (&4.into(), &"su".into())
    );
}
