//! A result on other data: `apply` and `predict`, and results where names are expected.

mod common;

use common::{Called, Folder, small_csv};
use serde_json::Value;

/// Columns of a CSV file by name, cells as text.
fn table(text: &str) -> Vec<(String, Vec<String>)> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut columns: Vec<(String, Vec<String>)> =
        reader.headers().unwrap().iter().map(|name| (name.to_string(), Vec::new())).collect();
    for record in reader.records() {
        for (column, cell) in columns.iter_mut().zip(record.unwrap().iter()) {
            column.1.push(cell.to_string());
        }
    }
    columns
}

fn numbers(text: &str, name: &str) -> Vec<f64> {
    let found = table(text).into_iter().find(|(column, _)| column == name);
    found.unwrap_or_else(|| panic!("no {name}")).1.iter().map(|v| v.parse().unwrap()).collect()
}

#[track_caller]
fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= 1e-11 * (1.0 + b.abs()), "{a} {b}");
    }
}

/// Rows with two towns, gaps, whole numbers and a key; `y` follows from some of them.
fn mixed(rows: std::ops::Range<usize>) -> String {
    let mut text = "id,town,a,b,c,y\n".to_string();
    for i in rows {
        let noise = |k: usize| (((i * 7919 + k * 104_729) % 1009) as f64) / 1009.0 - 0.5;
        let town = ["Bonn", "Rome", "Turin"][(i * i + i / 3) % 3];
        let (a, b, c) = (4.0 * noise(1), 1e4 + noise(2), noise(3));
        let gap = if i % 11 == 4 { String::new() } else { format!("{a}") };
        let lift = f64::from(u8::from(town == "Rome"));
        let y = 2.0 * a + 3.0 * lift - 5.0 * (b - 1e4) + 0.1 * noise(4);
        text += &format!("r{i},{town},{gap},{b},{c},{y}\n");
    }
    text
}

/// The model of a result on cells that are given by name.
fn by_hand(result: &Value, cell: impl Fn(&str) -> f64) -> f64 {
    let all = ["selected", "always"].map(|list| result[list].as_array().unwrap().clone());
    let terms = all.concat().into_iter().map(|feature| {
        feature["coefficient"].as_f64().unwrap() * cell(feature["name"].as_str().unwrap())
    });
    result["intercept"].as_f64().unwrap() + terms.sum::<f64>()
}

#[test]
fn every_format_gives_the_columns_and_the_fit_of_the_selection() {
    let folder = Folder::new();
    let task = "--set n=90 --set p=12 --set s=4 --set noise=0.1 --seed 3";
    for format in ["csv", "tsv", "jsonl", "parquet", "arrow", "npy", "svm"] {
        let file = format!("x.{format}");
        folder.run(&format!("generate wide {task} --output {file} --target y.csv")).fine();
        let (file, target) = match format {
            "svm" => {
                folder.run(&format!("generate wide {task} --output {file}")).fine();
                (file, "")
            }
            _ => (file, "--target y.csv"),
        };
        let out = format!("--output {format}.json --reduced r.csv --quiet");
        folder.run(&format!("select {file} {target} -k 4 {out}")).fine();
        folder.run(&format!("apply {format}.json {file} --output a.csv --quiet")).fine();
        let (reduced, applied) = (table(&folder.read("r.csv")), table(&folder.read("a.csv")));
        assert_eq!(applied.len(), 4, "{format}");
        for (got, want) in applied.iter().zip(&reduced) {
            assert_eq!(got.0, want.0, "{format}");
            let as_numbers = |cells: &[String]| -> Vec<f64> {
                cells.iter().map(|cell| cell.parse().unwrap()).collect()
            };
            assert_eq!(as_numbers(&got.1), as_numbers(&want.1), "{format} {}", got.0);
        }
        // The loss that the selection states is half the mean square of these residuals.
        folder.run(&format!("predict {format}.json {file} --output p.csv --quiet")).fine();
        let (fit, y) = (numbers(&folder.read("p.csv"), "prediction"), &reduced[4].1);
        let square = |(u, y): (&f64, &String)| (u - y.parse::<f64>().unwrap()).powi(2) / 2.0;
        let loss = fit.iter().zip(y).map(square).sum::<f64>() / fit.len() as f64;
        let result = folder.json(&format!("{format}.json"));
        let stated = result["final_loss"].as_f64().unwrap();
        assert!((loss - stated).abs() < 1e-9 * stated, "{format}: {loss} {stated}");
        if format == "svm" {
            continue; // Its names are numbers, and a CSV header of numbers is no header.
        }
        // Into every format and back: the same numbers.
        for other in ["tsv", "jsonl", "parquet", "arrow", "npy"] {
            folder.run(&format!("apply {format}.json {file} --output b.{other}")).fine();
            if other == "npy" {
                continue; // It has no names.
            }
            let again = format!("predict {format}.json b.{other} --output q.csv --quiet");
            folder.run(&again).fine();
            assert_eq!(folder.read("q.csv"), folder.read("p.csv"), "{format} by {other}");
        }
    }
}

#[test]
fn levels_fills_and_the_key_come_along_to_other_rows() {
    let folder = Folder::new();
    folder.write("old.csv", mixed(0..120)).write("new.csv", mixed(120..180));
    let flags = "--target y --key id --categorical onehot";
    for (way, columns) in [("mean", 4), ("zero", 4), ("indicator", 4)] {
        let out = "--output r.json --reduced small.csv --quiet --always town=Turin";
        folder.run(&format!("select old.csv {flags} --missing {way} -k 3 {out}")).fine();
        let result = folder.json("r.json");
        assert_eq!(result["missing_policy"], way);
        folder.run("apply r.json old.csv --key id --output a.csv --quiet").fine();
        let (got, want) = (table(&folder.read("a.csv")), table(&folder.read("small.csv")));
        assert_eq!((got.len(), got[0].0.as_str()), (columns + 1, "id"));
        assert_eq!(got[0].1[..2], ["r0", "r1"]);
        for (got, want) in got[1..].iter().zip(&want) {
            assert_eq!(got.0, want.0);
            let value = |cell: &String| cell.parse::<f64>().unwrap();
            close(
                &got.1.iter().map(value).collect::<Vec<_>>(),
                &want.1.iter().map(value).collect::<Vec<_>>(),
            );
        }
        // Other rows: the model by hand, with the mean of the old rows in the gaps.
        folder.run("predict r.json new.csv --key id --output p.csv --quiet").fine();
        let rows = table(&mixed(120..180));
        let mean = {
            let old = table(&mixed(0..120));
            let there: Vec<f64> = old[2].1.iter().filter_map(|cell| cell.parse().ok()).collect();
            there.iter().sum::<f64>() / there.len() as f64
        };
        let fill = if way == "zero" { 0.0 } else { mean };
        let fit: Vec<f64> = (0..60)
            .map(|i| {
                by_hand(&result, |name| match name.split_once(['=', ':']) {
                    Some(("town", level)) => f64::from(u8::from(rows[1].1[i] == level)),
                    Some(("a", _)) => f64::from(u8::from(rows[2].1[i].is_empty())),
                    _ => {
                        let at = rows.iter().position(|(column, _)| column == name).unwrap();
                        rows[at].1[i].parse().unwrap_or(fill)
                    }
                })
            })
            .collect();
        close(&numbers(&folder.read("p.csv"), "prediction"), &fit);
        assert_eq!(table(&folder.read("p.csv"))[0].1[0], "r120");
    }
}

#[test]
fn codes_are_those_of_the_selection_and_an_unknown_level_is_refused() {
    let folder = Folder::new();
    folder.write("old.csv", mixed(0..60));
    let flags = "--target y --exclude id,a --categorical codes -k 3";
    folder.run(&format!("select old.csv {flags} --output r.json --quiet")).fine();
    // Only Turin, whose code by itself would be 0.
    let turin: Vec<String> = mixed(60..120).lines().map(String::from).collect();
    let some = turin.iter().filter(|line| line.contains("town") || line.contains("Turin"));
    folder.write("new.csv", some.cloned().collect::<Vec<_>>().join("\n") + "\n");
    folder.run("apply r.json new.csv --output a.csv --quiet").fine();
    assert!(numbers(&folder.read("a.csv"), "town").iter().all(|code| *code == 2.0));
    folder.write("odd.csv", mixed(60..120).replace("Turin", "Ulm"));
    let odd = folder.run("apply r.json odd.csv --output b.csv");
    odd.refused(1, &["odd.csv", "town", "Ulm", "row"]);
    assert!(!folder.path("b.csv").exists());
}

#[test]
fn classes_and_probabilities_are_those_of_the_margins() {
    let folder = Folder::new();
    let mut text = "a,b,c,kind\n".to_string();
    for i in 0..90 {
        let (a, b, c) = ((i * 37 % 41) as f64 / 9.0, (i * 13 % 17) as f64 / 4.0, i % 2);
        let kind = if a > 3.0 {
            "tall"
        } else if b > 2.2 {
            "wide"
        } else {
            "none"
        };
        text += &format!("{a},{b},{c},{kind}\n");
    }
    folder.write("x.csv", &text).write("two.csv", text.replace("wide", "none"));
    for (file, classes) in [("x.csv", 3), ("two.csv", 2)] {
        for loss in ["logistic", "squared-hinge"] {
            let out = "--output r.json --quiet";
            folder.run(&format!("select {file} --target kind -k 2 --loss {loss} {out}")).fine();
            folder.run(&format!("predict r.json {file} --output p.csv --quiet")).fine();
            let result = folder.json("r.json");
            let predicted = table(&folder.read("p.csv"));
            let names: Vec<&str> = predicted.iter().map(|(name, _)| name.as_str()).collect();
            let many = if classes == 3 { 3 } else { 1 };
            let chances = if loss == "logistic" { classes } else { 0 };
            assert_eq!(names.len(), 1 + many + chances, "{names:?}");
            let right = table(&folder.read(file))[3].1.clone();
            let hits = predicted[0].1.iter().zip(&right).filter(|(a, b)| a == b).count();
            assert!(hits > 75, "{loss} {classes}: {hits}");
            let cells = table(&folder.read(file));
            for i in 0..90 {
                let at = |j: usize| predicted[j].1[i].parse::<f64>().unwrap();
                let margin = |k: usize| {
                    let pick = |value: &Value| match value.as_array() {
                        Some(list) => list[k].as_f64().unwrap(),
                        None => value.as_f64().unwrap(),
                    };
                    let features = result["selected"].as_array().unwrap();
                    let term = |feature: &Value| {
                        let column = cells.iter().find(|c| feature["name"] == *c.0).unwrap();
                        pick(&feature["coefficient"]) * column.1[i].parse::<f64>().unwrap()
                    };
                    pick(&result["intercept"]) + features.iter().map(term).sum::<f64>()
                };
                let margins: Vec<f64> = (0..many).map(margin).collect();
                close(&(0..many).map(|k| at(1 + k)).collect::<Vec<_>>(), &margins);
                if chances == 0 {
                    continue;
                }
                // scikit-learn: expit for two classes, OneVsRestClassifier's scaling for several.
                let expit = |m: f64| 1.0 / (1.0 + (-m).exp());
                let want: Vec<f64> = match &margins[..] {
                    [m] => vec![1.0 - expit(*m), expit(*m)],
                    all => {
                        let sum: f64 = all.iter().map(|m| expit(*m)).sum();
                        all.iter().map(|m| expit(*m) / sum).collect()
                    }
                };
                close(&(0..classes).map(|k| at(1 + many + k)).collect::<Vec<_>>(), &want);
            }
        }
    }
}

#[test]
fn pieces_files_side_by_side_and_a_pipe_give_the_same_rows() {
    let folder = Folder::new();
    let task = "--set n=3000 --set p=40 --set s=5 --seed 1";
    folder.run(&format!("generate wide {task} --output x.parquet --target y.csv")).fine();
    folder.run("select x.parquet --target y.csv -k 5 --output r.json --quiet").fine();
    folder.run("predict r.json x.parquet --output whole.csv --quiet").fine();
    // 4 kB of rows at a time, of a column of 12 kB.
    folder.run("predict r.json x.parquet --output small.csv --memory 16KB --quiet").fine();
    assert_eq!(folder.read("small.csv"), folder.read("whole.csv"));
    folder.run(&format!("generate wide {task} --output x.csv --target y.csv")).fine();
    let mut piped = folder.command("predict r.json - --format csv --output -");
    let input = std::fs::File::open(folder.path("x.csv")).unwrap();
    let piped = Called::new(&piped.stdin(input).output().unwrap());
    close(
        &numbers(&piped.fine().out, "prediction"),
        &numbers(&folder.read("whole.csv"), "prediction"),
    );
    let mut piped = folder.command("apply r.json - --format csv --output a.npy");
    let input = std::fs::File::open(folder.path("x.csv")).unwrap();
    let counted = Called::new(&piped.stdin(input).output().unwrap());
    counted.refused(1, &["standard input cannot be read twice"]);
    // Rows of two files by their key, in another order.
    let lines: Vec<String> = folder.read("x.csv").lines().map(String::from).collect();
    let cut = |line: &str, from: usize, to: usize| {
        line.split(',').collect::<Vec<_>>()[from..to].join(",")
    };
    let part = |from: usize, to: usize, rev: bool| {
        let mut rows: Vec<String> = lines[1..]
            .iter()
            .enumerate()
            .map(|(i, line)| format!("k{i},{}", cut(line, from, to)))
            .collect();
        if rev {
            rows.reverse();
        }
        format!("id,{}\n{}\n", cut(&lines[0], from, to), rows.join("\n"))
    };
    folder.write("left.csv", part(0, 15, false)).write("right.csv", part(15, 40, true));
    folder.run("predict r.json left.csv right.csv --key id --output sides.csv --quiet").fine();
    let fit = |name: &str| numbers(&folder.read(name), "prediction");
    close(&fit("sides.csv"), &fit("whole.csv"));
    // Two files below each other.
    let (top, bottom) = lines.split_at(1001);
    folder.write("top.csv", top.join("\n") + "\n");
    folder.write("bottom.csv", format!("{}\n{}\n", lines[0], bottom.join("\n")));
    folder.run("predict r.json top.csv bottom.csv --output below.csv --quiet").fine();
    close(&fit("below.csv"), &fit("whole.csv"));
}

#[test]
fn covariates_and_an_offset_are_part_of_the_model() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv());
    let flags = "--target y --covar c --offset b -k 1";
    folder.run(&format!("select x.csv {flags} --output r.json --quiet")).fine();
    folder.run("predict r.json x.csv --output p.csv --quiet").fine();
    // y - b is not linear in a and c, but the fit is that of the coefficients.
    let result = folder.json("r.json");
    let cells = table(&small_csv());
    let covariate = result["covariates"][0]["coefficient"].as_f64().unwrap();
    let want: Vec<f64> = (0..40)
        .map(|i| {
            let cell = |name: &str| -> f64 {
                cells.iter().find(|c| c.0 == name).unwrap().1[i].parse().unwrap()
            };
            by_hand(&result, cell) + covariate * cell("c") + cell("b")
        })
        .collect();
    close(&numbers(&folder.read("p.csv"), "prediction"), &want);
    folder.write("few.csv", "a,c\n1,2\n");
    folder.run("predict r.json few.csv --output q.csv").refused(1, &["few.csv", "\"b\""]);
}

#[test]
fn what_cannot_be_applied_is_said_in_a_line() {
    let folder = Folder::new();
    folder.write("x.csv", small_csv()).write("holes.csv", "a,b,c\n1,2,3\n1,,3\n");
    folder.run("select x.csv --target y -k 2 --output r.json --quiet").fine();
    folder.run("select x.csv --target y -k 2 --output r.csv --quiet").fine();
    folder.run("select x.csv --target y --method saola --output s.json --quiet").fine();
    let refused = |words: &str, code: i32, about: &[&str]| folder.run(words).refused(code, about);
    refused("predict s.json x.csv --output p.csv", 1, &["s.json", "saola", "keepnet apply"]);
    folder.run("apply s.json x.csv --output p.csv --quiet").fine();
    refused("predict r.csv x.csv --output p.csv", 1, &["r.csv", ".json"]);
    refused("predict none.json x.csv --output p.csv", 1, &["none.json"]);
    refused("predict r.json x.csv --output p.svm", 1, &["label"]);
    refused("predict r.json x.csv --output p.csv.gz", 2, &["gz"]);
    refused("predict r.json x.csv --output x.csv", 2, &["x.csv", "INPUT"]);
    refused("predict r.json x.csv --output r.json", 2, &["r.json"]);
    refused("predict r.json holes.csv --output q.csv", 1, &["holes.csv", "row 1", "--missing"]);
    assert!(!folder.path("q.csv").exists());
    folder.write("few.csv", "a,c\n1,2\n");
    refused("apply r.json few.csv --output q.csv", 1, &["few.csv", "\"b\""]);
    folder.write("odd.json", "{\"version\": 1}");
    refused("apply odd.json x.csv --output q.csv", 1, &["odd.json", "no result"]);
    refused("select x.csv --target y -k 1 --columns @odd.json", 1, &["odd.json", "no result"]);
}

#[test]
fn a_result_stands_where_names_stand() {
    let folder = Folder::new();
    folder.write("x.csv", mixed(0..120));
    let flags = "select x.csv --target y --key id --categorical onehot --missing mean --quiet";
    folder.run(&format!("{flags} -k 3 --output r.json")).fine();
    folder.run(&format!("{flags} -k 3 --output r.csv")).fine();
    let names = |result: &Value, list: &str| -> Vec<String> {
        let features = result[list].as_array().unwrap().iter();
        let mut names: Vec<String> = features.map(|f| f["name"].as_str().unwrap().into()).collect();
        names.sort();
        names
    };
    let kept = names(&folder.json("r.json"), "selected");
    assert!(kept.iter().any(|name| name.starts_with("town=")), "{kept:?}");
    for file in ["r.json", "r.csv"] {
        // The columns that the kept features come from: a level leads to its column.
        folder.run(&format!("{flags} -k 9 --columns @{file} --output s.json")).fine();
        let seen = folder.json("s.json")["features_seen"].as_u64().unwrap();
        let columns: std::collections::BTreeSet<&str> =
            kept.iter().map(|name| name.split('=').next().unwrap()).collect();
        // Two of the three towns have a column; the most frequent is the reference.
        assert_eq!(seen, columns.len() as u64 + u64::from(columns.contains("town")));
        folder.run(&format!("{flags} -k 1 --always @{file} --output t.json")).fine();
        assert_eq!(names(&folder.json("t.json"), "always"), kept);
        folder.run(&format!("{flags} -k 1 --exclude @{file} --output u.json")).fine();
        let left = names(&folder.json("u.json"), "selected");
        assert!(left.iter().all(|name| !kept.contains(name)), "{left:?}");
    }
}
