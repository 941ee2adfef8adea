//! `--format arrow-columns`: features pushed through a pipe, a row each.

mod common;

use std::process::Stdio;
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, Int32Builder, ListBuilder};
use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray};
use arrow_ipc::writer::StreamWriter;
use common::{Called, Folder, outside_run};
use serde_json::Value;

const ROWS: usize = 120;

fn value(i: usize, j: usize) -> f32 {
    (1e4 * ((j * ROWS + i + 2) as f32).ln().sin()).fract()
}

fn name(j: usize) -> String {
    format!("g{}_{j}", j / 4)
}

/// Features as a stream, some in each batch.
fn stream(features: &[usize], step: usize, groups: bool) -> Vec<u8> {
    let batches: Vec<RecordBatch> = features
        .chunks(step)
        .map(|part| {
            let mut lists = FixedSizeListBuilder::new(Float32Builder::new(), ROWS as i32);
            for j in part {
                (0..ROWS).for_each(|i| lists.values().append_value(value(i, *j)));
                lists.append(true);
            }
            let names = StringArray::from(part.iter().map(|j| name(*j)).collect::<Vec<_>>());
            let mut fields: Vec<(&str, ArrayRef)> =
                vec![("values", Arc::new(lists.finish())), ("name", Arc::new(names))];
            if groups {
                let group = part.iter().map(|j| format!("G{}", j / 4));
                let group = StringArray::from(group.collect::<Vec<_>>());
                fields.push(("group", Arc::new(group)));
            }
            RecordBatch::try_from_iter(fields).unwrap()
        })
        .collect();
    written(&batches)
}

fn written(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn folder() -> Folder {
    let folder = Folder::new();
    let mut y = "y\n".to_string();
    for i in 0..ROWS {
        let signal = 2.0 * value(i, 3) - value(i, 20) + value(i, 41);
        y += &format!("{}\n", signal + 0.1 * value(i, 999));
    }
    // The same values as columns of a table.
    let column = |j: usize| -> ArrayRef {
        Arc::new(Float32Array::from_iter_values((0..ROWS).map(|i| value(i, j))))
    };
    let table = RecordBatch::try_from_iter((0..60).map(|j| (name(j), column(j)))).unwrap();
    folder.write("y.csv", y).write("x.arrow", written(&[table]));
    folder
}

fn pipe(folder: &Folder, words: &str, bytes: &[u8]) -> Called {
    folder.write("pipe", bytes);
    let input = std::fs::File::open(folder.path("pipe")).unwrap();
    let mut command = folder.command(words);
    Called::new(&command.stdin(Stdio::from(input)).output().unwrap())
}

/// What does not depend on the names of files and on how features are told apart.
fn result(folder: &Folder, name: &str) -> Value {
    let mut json = outside_run(folder.json(name));
    for field in ["trace", "warnings"] {
        json.as_object_mut().unwrap().remove(field);
    }
    for feature in json["selected"].as_array_mut().unwrap() {
        feature.as_object_mut().unwrap().remove("source");
    }
    json
}

#[test]
fn a_stream_of_features_gives_what_a_table_gives_in_one_scan() {
    let folder = folder();
    let all: Vec<usize> = (0..60).collect();
    for method in ["os-plus", "os", "saola", "l0-cd", "alpha-investing"] {
        let k = if matches!(method, "saola" | "alpha-investing") { "" } else { "-k 4" };
        let flags = format!("--target y.csv --method {method} {k} --quiet");
        folder.run(&format!("select x.arrow {flags} --scans 1 --output table.json")).fine();
        for step in [1, 7, 60] {
            let call = format!("select - --format arrow-columns {flags} --output pipe.json");
            pipe(&folder, &call, &stream(&all, step, false)).fine();
            assert_eq!(result(&folder, "pipe.json"), result(&folder, "table.json"), "{method}");
        }
    }
    // From a file, and with some columns only.
    folder.write("x.arrow-columns", stream(&all, 7, false));
    let flags = "--target y.csv -k 4 --quiet --exclude g0_3 --columns *_2*,*_3*,*_4*";
    folder.run(&format!("select x.arrow {flags} --scans 1 --output table.json")).fine();
    folder.run(&format!("select x.arrow-columns {flags} --output file.json")).fine();
    assert_eq!(result(&folder, "file.json"), result(&folder, "table.json"));
}

#[test]
fn groups_come_with_their_features() {
    let folder = folder();
    let all: Vec<usize> = (0..60).collect();
    let flags = "--target y.csv --method group-saola --quiet";
    folder.run(&format!("select x.arrow {flags} --groups prefix:_ --output table.json")).fine();
    let call = format!("select - --format arrow-columns {flags} --groups stream");
    pipe(&folder, &format!("{call} --output pipe.json"), &stream(&all, 7, true)).fine();
    let names = |file: &str| -> Vec<(String, String)> {
        let result = folder.json(file);
        let text = |v: &Value| v.as_str().unwrap().to_lowercase();
        let features = result["selected"].as_array().unwrap().iter();
        features.map(|f| (text(&f["name"]), text(&f["group"]))).collect()
    };
    assert_eq!(names("pipe.json"), names("table.json"));
    assert!(!names("pipe.json").is_empty());
    pipe(&folder, &call, &stream(&all, 7, false)).refused(1, &["group"]);
    folder
        .run(&format!("select x.arrow {flags} --groups stream"))
        .refused(2, &["groups is stream", "arrow-columns"]);
}

#[test]
fn days_may_come_through_a_pipe() {
    let folder = folder();
    let flags = "--format arrow-columns --target y.csv -k 4 --quiet";
    let days: [Vec<usize>; 3] = [(0..25).collect(), (25..60).collect(), (0..60).collect()];
    let day = |day: usize, more: &str| {
        pipe(&folder, &format!("select - {flags} {more}"), &stream(&days[day], 9, false))
    };
    day(0, "--state s.kn").fine();
    day(1, "--state s.kn --output two.json").fine();
    day(2, "--output one.json").fine();
    assert_eq!(result(&folder, "two.json"), result(&folder, "one.json"));
}

#[test]
fn what_is_no_stream_of_features_is_refused_in_a_line() {
    let folder = folder();
    let call = "select - --format arrow-columns --target y.csv -k 4";
    let all: Vec<usize> = (0..20).collect();
    let good = stream(&all, 5, false);
    let refused = |more: &str, bytes: &[u8], code: i32, words: &[&str]| {
        pipe(&folder, &format!("{call} {more}"), bytes).refused(code, words);
    };
    refused("--scans 2", &good, 2, &["scans is given", "once"]);
    refused("--checkpoint c.kn", &good, 2, &["checkpoint is given"]);
    refused("--reduced r.csv", &good, 2, &["reduced is given"]);
    refused("--key id", &good, 1, &["--key"]);
    refused("--method sgd", &good, 1, &["arrow-columns"]);
    refused("", &stream(&[1, 2, 1], 2, false), 1, &["g0_1", "standard input"]);
    refused("", &good[..good.len() / 2], 1, &["standard input"]);
    refused("", b"", 1, &["standard input"]);
    // A feature of other rows, one without a name, values that are no numbers.
    let mut lists = ListBuilder::new(Int32Builder::new());
    for n in [ROWS, ROWS - 1] {
        (0..n).for_each(|i| lists.values().append_value(i as i32));
        lists.append(true);
    }
    let lists: ArrayRef = Arc::new(lists.finish());
    let batch = |names: StringArray| {
        let fields: [(&str, ArrayRef); 2] = [("name", Arc::new(names)), ("values", lists.clone())];
        written(&[RecordBatch::try_from_iter(fields).unwrap()])
    };
    refused("", &batch(StringArray::from(vec!["a", "b"])), 1, &["\"b\"", "119", "120"]);
    refused("", &batch(StringArray::from(vec![Some("a"), None])), 1, &["no name"]);
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    let plain = [("name", texts.clone()), ("values", texts.clone())];
    let plain = written(&[RecordBatch::try_from_iter(plain).unwrap()]);
    refused("", &plain, 1, &["values", "list of numbers"]);
    let none = written(&[RecordBatch::try_from_iter([("name", texts)]).unwrap()]);
    refused("", &none, 1, &["values"]);
    folder.write("a.arrow-columns", &good);
    let two = folder.run("select a.arrow-columns x.arrow --target y.csv -k 4");
    two.refused(1, &["a.arrow-columns", "one input"]);
}
