//! `--state`: days of a stream are one stream, whatever the method; and what a state refuses.

mod common;

use std::process::Stdio;

use common::{Folder, outside_run};
use keepnet::registry::{self, Stream};
use serde_json::Value;

const ROWS: usize = 160;

fn value(i: usize, j: usize) -> f64 {
    (1e4 * ((j * ROWS + i + 2) as f64).ln().sin()).fract()
}

/// Columns as CSV, with the key `id` where asked.
fn day(columns: std::ops::Range<usize>, rows: &[usize], key: bool) -> String {
    let names: Vec<String> = columns.clone().map(|j| format!("g{}_{j}", j / 4)).collect();
    let mut text = format!("{}{}\n", if key { "id," } else { "" }, names.join(","));
    for i in rows {
        if key {
            text += &format!("r{i},");
        }
        let cells: Vec<String> = columns.clone().map(|j| value(*i, j).to_string()).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

fn target(rows: &[usize], key: bool) -> String {
    let mut text = if key { "id,y\n".to_string() } else { "y\n".to_string() };
    for i in rows {
        if key {
            text += &format!("r{i},");
        }
        let signal = 2.0 * value(*i, 3) - value(*i, 20) + 1.5 * value(*i, 41) + value(*i, 55);
        text += &format!("{}\n", signal + 0.1 * value(*i, 1000));
    }
    text
}

fn folder() -> Folder {
    let (folder, rows) = (Folder::new(), (0..ROWS).collect::<Vec<_>>());
    folder.write("d1.csv", day(0..32, &rows, false)).write("d2.csv", day(32..64, &rows, false));
    folder.write("y.csv", target(&rows, false));
    folder
}

/// What does not depend on where blocks end and which command it was.
fn result(folder: &Folder, name: &str) -> Value {
    let mut json = outside_run(folder.json(name));
    for field in ["trace", "warnings"] {
        json.as_object_mut().unwrap().remove(field);
    }
    if json["method"] == "asy-os" {
        // Its workers report how long they waited.
        json.as_object_mut().unwrap().remove("metrics");
    }
    json
}

#[test]
fn two_days_are_one_stream_for_every_method() {
    let folder = folder();
    let classes = folder.read("y.csv").replace("y\n", "c\n");
    let class = |line: &str| match line.parse::<f64>() {
        Ok(y) => format!("{}\n", u8::from(y > 1.5)),
        Err(_) => format!("{line}\n"),
    };
    folder.write("c.csv", classes.lines().map(class).collect::<String>());
    let mut checked = 0;
    for method in registry::methods() {
        let name = method.name;
        let groups = if method.stream == Stream::Groups { "--groups prefix:_" } else { "" };
        let own = match name {
            // One worker decides in a fixed order.
            "asy-os" => "--set workers=1",
            _ => "",
        };
        let y = if method.tasks.contains("regression") { "y.csv" } else { "c.csv" };
        let flags = format!("--target {y} --method {name} {groups} {own} --quiet");
        // Some methods have a size of their own and take none.
        let sized = folder.run(&format!("select d1.csv {flags} -k 4 --dry-run")).code == 0;
        let flags = if sized { format!("{flags} -k 4") } else { flags };
        let first = folder.run(&format!("select d1.csv {flags} --state s.kn --output a.json"));
        // Those that need every column at once, or as many scans as they take, cannot go on.
        if matches!(method.stream, Stream::Batch | Stream::Samples) || method.scans == 0 {
            first.refused(2, &["state is given"]);
            continue;
        }
        first.fine();
        let one = folder.run(&format!("select d1.csv {flags} --scans 1 --output b.json"));
        one.fine();
        assert_eq!(result(&folder, "a.json"), result(&folder, "b.json"), "{name}: the first day");
        std::fs::rename(folder.path("d1.csv"), folder.path("away")).unwrap();
        let two = format!("select d2.csv {flags} --state s.kn --output two.json");
        folder.run(&two).fine();
        std::fs::rename(folder.path("away"), folder.path("d1.csv")).unwrap();
        folder.run(&format!("select d1.csv d2.csv {flags} --scans 1 --output one.json")).fine();
        let one = result(&folder, "one.json");
        assert_eq!(result(&folder, "two.json"), one, "{name}");
        assert_eq!(one["features_seen"], 64, "{name}");
        std::fs::remove_file(folder.path("s.kn")).unwrap();
        checked += 1;
    }
    assert!(checked > 10, "{checked}");
}

#[test]
fn again_is_another_scan_and_a_name_that_came_before_is_refused_without_it() {
    let folder = folder();
    let flags = "--target y.csv -k 5 --quiet";
    let both = format!("select d1.csv d2.csv {flags}");
    folder.run(&format!("{both} --state s.kn")).fine();
    let state = std::fs::read(folder.path("s.kn")).unwrap();
    let twice = folder.run(&format!("select d2.csv {flags} --state s.kn"));
    twice.refused(1, &["d2.csv", "g8_32", "came before", "--again"]);
    assert_eq!(std::fs::read(folder.path("s.kn")).unwrap(), state);
    folder.run(&format!("{both} --state s.kn --again --output again.json")).fine();
    folder.run(&format!("{both} --scans 2 --output two.json")).fine();
    let (mut again, mut two) = (result(&folder, "again.json"), result(&folder, "two.json"));
    assert_eq!(again["scans"], 2);
    // `arrival` and the rest are those of two scans at once.
    assert_eq!(again["selected"].take(), two["selected"].take());
    assert_eq!(again, two);
    // And the stream goes on with new columns.
    folder.write("d3.csv", day(64..70, &(0..ROWS).collect::<Vec<_>>(), false));
    folder.run(&format!("select d3.csv {flags} --state s.kn --output on.json")).fine();
    assert_eq!(folder.json("on.json")["features_seen"], 70);
}

#[test]
fn rows_by_key_may_come_in_another_order_and_no_others() {
    let folder = Folder::new();
    let rows: Vec<usize> = (0..ROWS).collect();
    let back: Vec<usize> = (0..ROWS).rev().collect();
    let flags = "--key id --target y.csv -k 4 --quiet";
    folder.write("y.csv", target(&rows, true)).write("d1.csv", day(0..32, &rows, true));
    folder.write("d2.csv", day(32..64, &back, true));
    folder.run(&format!("select d1.csv {flags} --state s.kn")).fine();
    let state = std::fs::read(folder.path("s.kn")).unwrap();
    folder.run(&format!("select d2.csv {flags} --state s.kn --output two.json")).fine();
    folder.run(&format!("select d1.csv d2.csv {flags} --scans 1 --output one.json")).fine();
    assert_eq!(result(&folder, "two.json"), result(&folder, "one.json"));
    // Other rows, another target, no key: one line, and the state is as it was.
    folder.write("s.kn", &state).write("few.csv", day(32..64, &rows[1..], true));
    let few = folder.run(&format!("select few.csv {flags} --state s.kn"));
    few.refused(1, &["s.kn", "160 rows", "159", "\"r0\""]);
    let mut others = rows.clone();
    others[5] = 999;
    folder.write("other.csv", day(32..64, &others, true)).write("z.csv", target(&others, true));
    let call = format!("select other.csv {flags} --state s.kn").replace("y.csv", "z.csv");
    folder.run(&call).refused(1, &["s.kn", "\"r5\"", "same rows"]);
    let other = |line: &str| match line.starts_with("r7,") {
        true => "r7,0.25\n".to_string(),
        false => format!("{line}\n"),
    };
    folder.write("z.csv", target(&rows, true).lines().map(other).collect::<String>());
    let call = format!("select d2.csv {flags} --state s.kn").replace("y.csv", "z.csv");
    folder.run(&call).refused(1, &["s.kn", "another target"]);
    let call = format!("select d2.csv {flags} --state s.kn --exclude id").replace("--key id", "");
    assert_eq!(folder.run(&call.replace("y.csv", "y.csv:y")).code, 1);
    assert_eq!(std::fs::read(folder.path("s.kn")).unwrap(), state);
}

#[test]
fn what_a_state_refuses_is_said_in_a_line() {
    let folder = folder();
    let flags = "--target y.csv --quiet";
    folder.run(&format!("select d1.csv {flags} -k 4 --state s.kn")).fine();
    let state = std::fs::read(folder.path("s.kn")).unwrap();
    let refused = |words: &str, code: i32, about: &[&str]| {
        folder.run(&format!("select d2.csv {flags} {words}")).refused(code, about);
        assert_eq!(std::fs::read(folder.path("s.kn")).unwrap(), state, "{words}");
    };
    refused("-k 5 --state s.kn", 1, &["s.kn", "k=4", "k=5"]);
    refused("-k 4 --method os --state s.kn", 1, &["s.kn", "other settings"]);
    refused("-k 4 --missing mean --state s.kn", 1, &["s.kn", "other settings"]);
    refused("-k 4 --state s.kn --scans 2", 2, &["scans is given", "--again"]);
    refused("-k 4 --state s.kn --order shuffled", 2, &["order is given"]);
    refused("-k 4 --state s.kn --checkpoint c.kn", 2, &["checkpoint is given"]);
    refused("-k 4 --state s.kn --reduced r.csv", 2, &["reduced is given", "apply"]);
    refused("-k 4 --again", 2, &["again is given", "--state"]);
    refused("-k 4 --method sgd --state s.kn", 2, &["state is given"]);
    refused("-k 4 --method lasso --state s.kn", 2, &["state is given"]);
    refused("-k 4 --state d2.csv", 2, &["d2.csv"]);
    folder.write("few.csv", day(32..64, &[1, 2, 3], false)).write("y3.csv", "y\n1\n2\n3\n");
    let few = folder.run("select few.csv --target y3.csv -k 2 --quiet --state s.kn");
    few.refused(1, &["s.kn", "160 rows"]);
    // Damaged at any place: refused, and left alone.
    for at in [0, 9, 40, state.len() / 2, state.len() - 1] {
        let mut bytes = state.clone();
        bytes[at] ^= 1;
        folder.write("bad.kn", &bytes);
        let bad = folder.run(&format!("select d2.csv {flags} -k 4 --state bad.kn"));
        assert_eq!(bad.code, 1, "{}", bad.err);
        assert_eq!(std::fs::read(folder.path("bad.kn")).unwrap(), bytes);
    }
}

#[test]
fn decisions_pinned_features_and_levels_go_on() {
    let folder = folder();
    let towns = |seed: usize| {
        let town = |i: usize| ["Bonn", "Rome", "Turin"][(i * seed + i / 7) % 3];
        (0..ROWS).map(town).collect::<Vec<_>>()
    };
    let rows: Vec<usize> = (0..ROWS).collect();
    let with = |text: String, name: &str, cells: Vec<&str>| {
        let lines = text.lines().enumerate();
        let line = |(i, line): (usize, &str)| match i {
            0 => format!("{line},{name}\n"),
            i => format!("{line},{}\n", cells[i - 1]),
        };
        lines.map(line).collect::<String>()
    };
    folder.write("d1.csv", with(day(0..32, &rows, false), "town", towns(5)));
    folder.write("d2.csv", with(day(32..64, &rows, false), "city", towns(3)));
    let flags = "--target y.csv -k 3 --categorical onehot --missing mean --quiet";
    let day1 = format!("select d1.csv {flags} --state s.kn --decisions d.csv --always town=Rome");
    folder.run(&day1).fine();
    let early = folder.read("d.csv");
    let day2 = format!(
        "select d2.csv {flags} --state s.kn --decisions d.csv --always town=Rome,city=Rome"
    );
    folder.run(&format!("{day2} --output two.json")).fine();
    let one = format!("select d1.csv d2.csv {flags} --scans 1 --decisions e.csv");
    folder.run(&format!("{one} --always town=Rome,city=Rome --output one.json")).fine();
    let (two, one) = (result(&folder, "two.json"), result(&folder, "one.json"));
    let names = |json: &Value, list: &str| -> Vec<String> {
        let features = json[list].as_array().unwrap().iter();
        features.map(|f| f["name"].as_str().unwrap().to_string()).collect()
    };
    // A pin that comes later is no pin before, so only what is kept is the same.
    assert_eq!(names(&two, "always"), names(&one, "always"));
    assert_eq!(two["always"][0]["origin"]["level"], "Rome");
    assert_eq!(two["always"][1]["origin"]["column"], "city");
    assert!(folder.read("d.csv").starts_with(&early));
    assert!(folder.read("d.csv").contains("city=Rome,kept"));
    assert_eq!(folder.read("d.csv").matches("scan,index").count(), 1);
    // The result applies to the files of all days side by side.
    folder.run("apply two.json d1.csv d2.csv --output a.csv --quiet").fine();
    // Decisions that are not those of the state's last run are not added to.
    folder.write("d.csv", "scan\n").write("d3.csv", day(64..66, &rows, false));
    let day3 = format!("select d3.csv {flags} --state s.kn --decisions d.csv");
    folder.run(&day3).refused(1, &["d.csv", "--decisions"]);
}

#[test]
fn a_run_that_is_killed_leaves_the_old_state_or_the_new_one() {
    let folder = folder();
    let flags = "--target y.csv -k 5 --quiet";
    folder.run(&format!("select d1.csv {flags} --state s.kn")).fine();
    let old = std::fs::read(folder.path("s.kn")).unwrap();
    let call = format!("select d2.csv {flags} --state s.kn");
    let begun = std::time::Instant::now();
    folder.run(&call).fine();
    let whole = begun.elapsed();
    let new = std::fs::read(folder.path("s.kn")).unwrap();
    assert_ne!(old, new);
    let mut kept = 0;
    for step in 0..20 {
        folder.write("s.kn", &old);
        let mut command = folder.command(&call);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(f64::from(step) / 19.0));
        let _ = child.kill();
        child.wait().unwrap();
        let found = std::fs::read(folder.path("s.kn")).unwrap();
        if found == old {
            kept += 1;
            continue;
        }
        // The order of a set in it may differ, but it is whole, and today's columns are in it.
        folder.run(&call).refused(1, &["came before"]);
    }
    assert!(kept > 0, "no run was killed in time");
}

#[test]
fn arrays_without_names_go_on_counting() {
    let folder = Folder::new();
    let sizes = "--set n=120 --set p=30 --set s=4";
    folder.run(&format!("generate wide {sizes} --seed 1 --output a.npy --target y.csv")).fine();
    folder.run(&format!("generate wide {sizes} --seed 2 --output b.npy --target z.csv")).fine();
    let flags = "--target y.csv -k 4 --quiet";
    folder.run(&format!("select a.npy {flags} --state s.kn")).fine();
    folder.run(&format!("select b.npy {flags} --state s.kn --output two.json")).fine();
    folder
        .run(&format!("select a.npy b.npy --stack columns {flags} --scans 1 --output one.json"))
        .fine();
    assert_eq!(result(&folder, "two.json"), result(&folder, "one.json"));
}
