//! Methods on rows from the command line: formats, pipes, merging, watching, ending.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

fn keepnet(dir: &Path, args: &[&str]) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_keepnet");
    Command::new(program).current_dir(dir).args(args).output().unwrap()
}

fn ok(dir: &Path, args: &[&str]) -> String {
    let out = keepnet(dir, args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn json(dir: &Path, args: &[&str]) -> Value {
    let all = [args, &["--output", "-", "-q"]].concat();
    serde_json::from_str(&ok(dir, &all)).unwrap()
}

fn chosen(result: &Value) -> Vec<u64> {
    let list = result["selected"].as_array().unwrap();
    let mut index: Vec<u64> = list.iter().map(|f| f["index"].as_u64().unwrap()).collect();
    index.sort_unstable();
    index
}

const P: usize = 12;

/// Rows of which features 3 and 7 matter, as numbers with few digits.
fn rows(n: usize) -> Vec<(Vec<f64>, f64)> {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((state >> 40) as f64 / 16.0).round() / 65536.0 * 4.0 - 32.0
    };
    let mut row = || {
        let x: Vec<f64> = (0..P).map(|_| next()).collect();
        let y = 2.0 * x[3] - x[7] + 0.25 * next();
        (x, y)
    };
    (0..n).map(|_| row()).collect()
}

fn csv(rows: &[(Vec<f64>, f64)], header: bool) -> String {
    let mut text = String::new();
    if header {
        (0..P).for_each(|j| text += &format!("x{j},"));
        text += "y\n";
    }
    for (x, y) in rows {
        x.iter().for_each(|v| text += &format!("{v},"));
        text += &format!("{y}\n");
    }
    text
}

#[test]
fn every_format_gives_the_same_choice_and_weights() {
    let dir = tempfile::tempdir().unwrap();
    let (at, all) = (dir.path(), rows(900));
    std::fs::write(at.join("d.csv"), csv(&all, true)).unwrap();
    let mut svm = String::new();
    let mut lines = String::new();
    for (x, y) in &all {
        svm += &format!("{y}");
        x.iter().enumerate().for_each(|(j, v)| svm += &format!(" {}:{v}", j + 1));
        svm += "\n";
        let pairs: Vec<String> =
            x.iter().enumerate().map(|(j, v)| format!("\"x{j}\":{v}")).collect();
        lines += &format!("{{{},\"y\":{y}}}\n", pairs.join(","));
    }
    std::fs::write(at.join("d.svm"), svm).unwrap();
    std::fs::write(at.join("d.jsonl"), lines).unwrap();
    // The other formats are written by a method on features that keeps every column.
    for file in ["d.parquet", "d.arrow"] {
        let all = P.to_string();
        ok(
            at,
            &[
                "select",
                "d.csv",
                "--target",
                "y",
                "-k",
                &all,
                "--method",
                "os-plus",
                "--reduced",
                file,
                "-q",
            ],
        );
    }
    let want =
        json(at, &["select", "d.csv", "--target", "y", "-k", "2", "--method", "annealed-ridge"]);
    assert_eq!(chosen(&want), [3, 7]);
    assert_eq!(
        (want["stream"].as_str(), want["task"].as_str()),
        (Some("samples"), Some("regression"))
    );
    for file in ["d.jsonl", "d.svm", "d.parquet", "d.arrow"] {
        let mut args = vec!["select", file, "-k", "2", "--method", "annealed-ridge"];
        match file {
            "d.svm" => {}
            "d.jsonl" => args.extend(["--target", "y"]),
            // The reduced table calls the target by what it is.
            _ => args.extend(["--target", "target"]),
        }
        let got = json(at, &args);
        let mut names: Vec<&str> = got["selected"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| f["name"].as_str().unwrap())
            .collect();
        names.sort_unstable();
        assert_eq!(names, if file == "d.svm" { ["4", "8"] } else { ["x3", "x7"] }, "{file}");
        let weight = |v: &Value| v["selected"][0]["coefficient"].as_f64().unwrap();
        assert!((weight(&got) - weight(&want)).abs() < 1e-5, "{file}");
    }
}

#[test]
fn averages_of_parts_merge_to_those_of_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (at, all) = (dir.path(), rows(1000));
    std::fs::write(at.join("all.csv"), csv(&all, true)).unwrap();
    std::fs::write(at.join("a.csv"), csv(&all[..300], true)).unwrap();
    std::fs::write(at.join("b.csv"), csv(&all[300..], true)).unwrap();
    for part in ["all", "a", "b"] {
        let (input, out) = (format!("{part}.csv"), format!("{part}.kn"));
        ok(
            at,
            &[
                "select",
                &input,
                "--target",
                "y",
                "-k",
                "2",
                "--method",
                "ols",
                "--averages",
                &out,
                "-q",
            ],
        );
    }
    ok(at, &["merge", "b.kn", "a.kn", "--output", "ab.kn"]);
    let [whole, merged] =
        ["all.kn", "ab.kn"].map(|f| json(at, &["extract", f, "-k", "2", "--method", "omcp"]));
    assert_eq!((chosen(&whole), whole["rows"]["used"].as_u64()), (vec![3, 7], Some(1000)));
    for at in 0..2 {
        let of = |v: &Value| v["selected"][at]["coefficient"].as_f64().unwrap();
        assert!((of(&whole) - of(&merged)).abs() < 1e-6);
    }
    std::fs::write(at.join("c.csv"), csv(&all, false).replace('\n', ",1\n")).unwrap();
    ok(
        at,
        &[
            "select",
            "c.csv",
            "--target",
            "f12",
            "-k",
            "2",
            "--method",
            "ols",
            "--averages",
            "c.kn",
            "-q",
        ],
    );
    let out = keepnet(at, &["merge", "a.kn", "c.kn", "--output", "x.kn"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(!at.join("x.kn").exists());
}

#[test]
fn a_pipe_is_watched_every_n_rows_and_ends_whole_at_a_signal() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["select", "-", "--format", "csv", "--target", "y", "-k", "2", "--method", "ofsa"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_keepnet"))
        .current_dir(dir.path())
        .args(args)
        .args(["--task", "regression", "--every", "250", "--output", "r.json", "-q"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(csv(&rows(600), true).as_bytes()).unwrap();
    input.flush().unwrap();
    // Both looks are there while the pipe stays open; then a signal ends the run.
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    for want in [250, 500] {
        let mut line = String::new();
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        let look: Value = serde_json::from_str(&line).unwrap();
        assert_eq!((look["rows"].as_u64(), chosen(&look)), (Some(want), vec![3, 7]));
    }
    let ended = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(ended.success() && child.wait().unwrap().success());
    drop(input);
    let text = std::fs::read_to_string(dir.path().join("r.json")).unwrap();
    let result: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((result["complete"].as_bool(), chosen(&result)), (Some(false), vec![3, 7]));
}

#[test]
fn missing_values_and_wrong_flags_have_one_answer_each() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let text = csv(&rows(400), true).replacen("\n", "\nNA", 1);
    let text = text.replacen("NA", "", 1);
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    lines[5] = format!(",{}", lines[5].split_once(',').unwrap().1);
    let last = lines[9].rsplit_once(',').unwrap().0.to_string();
    lines[9] = format!("{last},");
    std::fs::write(at.join("m.csv"), lines.join("\n")).unwrap();
    let base = ["select", "m.csv", "--target", "y", "-k", "2", "--method", "olsth"];
    let out = keepnet(at, &base);
    let said = String::from_utf8_lossy(&out.stderr).to_string();
    assert!(
        out.status.code() == Some(1) && said.contains("\"x0\"") && said.contains("row 4"),
        "{said}"
    );
    for (way, used) in [("drop-row", 398), ("mean", 399), ("zero", 399)] {
        let result = json(at, &[&base[..], &["--missing", way]].concat());
        assert_eq!(result["rows"]["used"].as_u64(), Some(used), "{way}");
        assert_eq!(result["rows"]["masked_target"].as_u64(), Some(1));
        assert_eq!(chosen(&result), [3, 7]);
    }
    for flags in [
        &["--scans", "2"][..],
        &["--missing", "indicator"],
        &["--every", "0"],
        &["--max-missing", "0.5"],
    ] {
        let out = keepnet(at, &[&base[..], flags].concat());
        assert_eq!(out.status.code(), Some(2), "{flags:?}");
    }
}

#[test]
fn a_checkpoint_resumes_to_the_same_digits() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let all = csv(&rows(3000), true);
    std::fs::write(at.join("d.csv"), &all).unwrap();
    let method = "--target y --task regression -k 2 --method annealed-ridge";
    let method: Vec<_> = method.split(' ').collect();
    let whole = json(at, &[&["select", "d.csv"][..], &method].concat());
    // The first run is ended by a signal in the middle of the pipe, the second reads it again.
    let run = |rows: usize, signal: bool| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_keepnet"))
            .current_dir(at)
            .args(["select", "-", "--format", "csv"])
            .args(&method)
            .args(["--checkpoint", "c.kn", "--every", "1000", "--output", "r.json", "-q"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let end = all.match_indices('\n').nth(rows).map_or(all.len(), |(at, _)| at + 1);
        input.write_all(&all.as_bytes()[..end]).unwrap();
        if signal {
            let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
            std::io::BufRead::read_line(&mut out, &mut String::new()).unwrap();
            Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        } else {
            drop(input);
        }
        assert!(child.wait_with_output().unwrap().status.success());
        let text = std::fs::read_to_string(at.join("r.json")).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let first = run(1400, true);
    assert_eq!(first["complete"].as_bool(), Some(false));
    assert!(first["rows"]["used"].as_u64() >= Some(1000) && at.join("c.kn").exists());
    let resumed = run(3000, false);
    // One came from a pipe, the other from a file; all else is the same.
    let selected = |result: &Value| {
        let mut selected = result["selected"].clone();
        for feature in selected.as_array_mut().unwrap() {
            feature.as_object_mut().unwrap().remove("source");
        }
        selected
    };
    assert_eq!(resumed["complete"].as_bool(), Some(true));
    assert_eq!(selected(&resumed), selected(&whole));
    assert!(!at.join("c.kn").exists());
}

#[test]
fn offset_class_weight_reduced_and_dry_run_work_on_rows() {
    let dir = tempfile::tempdir().unwrap();
    let (at, all) = (dir.path(), rows(500));
    // The target is y plus a tenth of its row number, which the offset takes away again.
    let mut text = csv(&all, true).replacen("y\n", "y,o,c\n", 1);
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for (i, line) in lines.iter_mut().enumerate().skip(1) {
        let (x, y) = line.rsplit_once(',').unwrap();
        let y: f64 = y.parse().unwrap();
        let o = i as f64 / 8.0;
        *line = format!("{x},{},{o},{}", y + o, if y > 20.0 { "high" } else { "low" });
    }
    text = lines.join("\n") + "\n";
    std::fs::write(at.join("d.csv"), text).unwrap();
    std::fs::write(at.join("plain.csv"), csv(&all, true)).unwrap();
    let method = ["-k", "2", "--method", "olsth", "--set", "products=f64"];
    let base = |file: &'static str, target: &'static str| {
        [&["select", file, "--target", target][..], &method].concat()
    };
    let plain = json(at, &base("plain.csv", "y"));
    let less = ["--exclude", "c", "--offset", "o", "--reduced", "r.csv"];
    let with = json(at, &[&base("d.csv", "y")[..], &less].concat());
    let weight = |v: &Value| v["selected"][0]["coefficient"].as_f64().unwrap();
    assert!((weight(&plain) - weight(&with)).abs() < 1e-9);
    let reduced = std::fs::read_to_string(at.join("r.csv")).unwrap();
    let mut lines = reduced.lines();
    assert_eq!(lines.next(), Some("x3,x7,target"));
    let first: Vec<f64> = lines.next().unwrap().split(',').map(|v| v.parse().unwrap()).collect();
    assert_eq!((first[0], first[1]), (all[0].0[3], all[0].0[7]));
    assert_eq!(lines.count(), 499);
    // Balanced classes: by hand n / (2 n_c) as a column of weights gives the same model.
    let counts = [true, false].map(|high| all.iter().filter(|r| (r.1 > 20.0) == high).count());
    let mut weighed = csv(&all, true).replacen("y\n", "c,w\n", 1);
    weighed = weighed.lines().take(1).map(|l| format!("{l}\n")).collect();
    for (x, y) in &all {
        let (name, count) = if *y > 20.0 { ("high", counts[0]) } else { ("low", counts[1]) };
        x.iter().for_each(|v| weighed += &format!("{v},"));
        weighed += &format!("{name},{}\n", 500.0 / (2.0 * count as f64));
    }
    std::fs::write(at.join("w.csv"), weighed).unwrap();
    let drop = ["--exclude", "y,o", "--class-weight", "balanced"];
    let balanced = json(at, &[&base("d.csv", "c")[..], &drop].concat());
    let by_hand = json(at, &[&base("w.csv", "c")[..], &["--sample-weight", "w"]].concat());
    assert!((weight(&balanced) - weight(&by_hand)).abs() < 1e-9);
    let said = ok(at, &[&base("d.csv", "c")[..], &["--exclude", "y,o", "--dry-run"]].concat());
    assert!(said.contains("classification into high, low") && said.contains("olsth k=2"), "{said}");
    for flags in [&["--order", "shuffled"][..], &["--stack", "columns"], &["--decisions", "e.csv"]]
    {
        let out = keepnet(at, &[&base("d.csv", "y")[..], flags].concat());
        assert_eq!(out.status.code(), Some(2), "{flags:?}");
    }
    let offset = keepnet(at, &[&base("d.csv", "c")[..], &["--offset", "o"]].concat());
    assert_eq!(offset.status.code(), Some(1));
}

#[test]
fn rows_that_all_have_a_missing_value_give_no_result() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("x.csv"), "a,b,y\n1,,2\n,3,4\n,,5\n").unwrap();
    for method in ["sgd", "ofsa", "annealed-ridge"] {
        let words = "select x.csv --target y --task regression -k 1 --missing drop-row --method";
        let words: Vec<_> = words.split(' ').chain([method]).collect();
        let out = keepnet(dir.path(), &words);
        let why = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{method}: {why}");
        assert!(why.contains("no row can be used") && why.contains("3 have a missing"), "{why}");
    }
}
