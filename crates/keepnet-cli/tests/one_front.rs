//! One front: the same input and flags mean the same to a method on features and to one on rows.
//! Rows used, how they were matched, classes and warnings agree, and so does every refusal.

mod common;

use std::fmt::Write as _;
use std::process::Stdio;

use common::{Called, Folder, random};
use serde_json::{Value, json};

const ROWS: usize = 24;

/// A table of every kind of column, files beside it, and the same values in other formats.
fn folder() -> Folder {
    let (folder, mut random) = (Folder::new(), random(3));
    let mut number = || (1000.0 * random()).round() / 1000.0;
    let rows: Vec<[f64; 5]> = (0..ROWS)
        .map(|_| {
            let (a, b, c) = (number(), number(), number());
            [a, b, c, (1.5 + number() / 2.0).abs(), 2.0 * a - b + 0.1 * number()]
        })
        .collect();
    let table = |head: &str, row: &dyn Fn(usize, &[f64; 5]) -> String| {
        let lines = rows.iter().enumerate().map(|(i, values)| row(i, values) + "\n");
        format!("{head}\n{}", lines.collect::<String>())
    };
    let town = |c: f64| if c > 0.0 { "Rome" } else { "Oslo" };
    let write = |name: &str, head: &str, row: &dyn Fn(usize, &[f64; 5]) -> String| {
        folder.write(name, table(head, row));
    };
    write("x.csv", "id,a,b,c,town,w,y", &|i, [a, b, c, w, y]| {
        format!("{i},{a},{b},{c},{},{w},{y}", town(*c))
    });
    write("p.csv", "id,a,b,c", &|i, [a, b, c, ..]| format!("{i},{a},{b},{c}"));
    write("data[1].csv", "a,b,y", &|_, [a, b, .., y]| format!("{a},{b},{y}"));
    write("y.csv", "id,y,kind,w,none", &|i, [_, _, c, w, y]| format!("{i},{y},{},{w},", town(*c)));
    write("back.csv", "id,y,kind,w,cov", &|i, _| {
        let j = ROWS - 1 - i;
        let [_, _, c, w, y] = rows[j];
        format!("{j},{y},{},{w},{}", town(c), j % 3)
    });
    write("some.csv", "id,y,kind,w,cov", &|i, [_, _, c, w, y]| {
        let id = if i < 4 { 90 + i } else { i };
        format!("{id},{y},{},{w},{}", town(*c), i % 3)
    });
    write("holes.csv", "id,y,cov,w", &|i, [.., w, y]| {
        let part = |missing: bool, v: f64| if missing { String::new() } else { v.to_string() };
        format!("{i},{},{},{}", part(i % 5 == 0, *y), part(i == 3, 1.0), part(i == 6, *w))
    });
    write("twice.csv", "id,y", &|i, [.., y]| format!("{},{y}", i / 2));
    write("one.csv", "w", &|_, [.., w, _]| w.to_string());
    write("bad.csv", "w", &|i, _| if i == 5 { "-1".into() } else { "1".into() });
    write("two.csv", "a,b,y", &|i, [a, b, c, ..]| match i % 6 {
        0 => format!("{a},{b},"),
        _ => format!("{a},{b},{}", 1 + i32::from(*c > 0.0)),
    });
    write("bool.csv", "a,b,y", &|_, [a, b, c, ..]| format!("{a},{b},{}", *c > 0.0));
    write("text.csv", "a,b,y", &|_, [a, b, c, ..]| format!("{a},{b},{}", town(*c)));
    write("none.csv", "a,b,y", &|_, [a, b, ..]| format!("{a},{b},"));
    write("side.csv", "d,e", &|i, [.., w, _]| format!("{w},{}", i * i % 7));
    write("mixed.csv", "b,zz,y", &|i, [_, b, .., y]| format!("{b},{i},{y}"));
    write("s.svm", "", &|_, [a, b, c, _, y]| format!("{y} 1:{a} 2:{b} 3:{c}"));
    let part = |from: usize, to: usize, head: &str, row: &dyn Fn(&[f64; 5]) -> String| {
        let lines = rows[from..to].iter().map(|values| row(values) + "\n");
        format!("{head}\n{}", lines.collect::<String>())
    };
    let plain = |[a, b, .., y]: &[f64; 5]| format!("{a},{b},{y}");
    folder.write("p1.csv", part(0, 12, "a,b,y", &plain));
    folder.write("p2.csv", part(12, ROWS, "a,b,y", &plain));
    let turned = |[a, b, .., y]: &[f64; 5]| format!("{y},{b},{a}");
    folder.write("p2turned.csv", part(12, ROWS, "y,b,a", &turned));
    folder.write("p2text.csv", part(12, ROWS, "a,b,y", &|[_, b, .., y]| format!("q,{b},{y}")));
    folder.write("few.csv", part(0, 12, "w", &|[.., w, _]| w.to_string()));
    folder.write("head.csv", "a,b,y\n").write("names.txt", "a\nb\n").write("near.txt", "a\nbb\n");
    let mut late = String::new();
    let (mut kinds, mut texts) = (String::new(), String::new());
    for (i, [a, b, .., y]) in rows.iter().enumerate() {
        let more = if i > 3 { format!(", \"late\": {i}") } else { String::new() };
        writeln!(late, "{{\"a\": {a}, \"b\": {b}, \"y\": {y}{more}}}").unwrap();
        let flag = if i == 0 { "true".to_string() } else { b.to_string() };
        writeln!(kinds, "{{\"a\": {a}, \"b\": {flag}, \"y\": {y}}}").unwrap();
        let text = if i == 7 { "\"no\"".to_string() } else { b.to_string() };
        writeln!(texts, "{{\"a\": {a}, \"b\": {text}, \"y\": {y}}}").unwrap();
    }
    folder.write("late.jsonl", late).write("kinds.jsonl", kinds).write("texts.jsonl", texts);
    folder.write("fortran.npy", fortran(&rows));
    folder
}

/// The table as a npy array in Fortran order.
fn fortran(rows: &[[f64; 5]]) -> Vec<u8> {
    let mut head =
        format!("{{'descr': '<f8', 'fortran_order': True, 'shape': ({}, 5), }}", rows.len());
    while (10 + head.len() + 1) % 64 != 0 {
        head.push(' ');
    }
    head.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((head.len() as u16).to_le_bytes());
    bytes.extend(head.as_bytes());
    for c in 0..5 {
        rows.iter().for_each(|row| bytes.extend(row[c].to_le_bytes()));
    }
    bytes
}

/// The flags of a call, and the words of its refusal; none where it must be done.
const CASES: &[(&str, Option<&str>)] = &[
    // Which files.
    ("data[1].csv --target y", None),
    ("no.csv --target y", Some("no.csv: No such file")),
    ("p1.csv no.csv --target y --format csv", Some("no.csv: No such file")),
    ("q*.csv --target y", Some("no file matches \"q*.csv\"")),
    ("- --target y", Some("format is not given, expected --format NAME with -")),
    ("- - --format csv --target y", Some("input is - twice, expected - once")),
    ("- --format npy --target y", Some("npy is read in no fixed order and cannot come from")),
    ("- --format parquet --target y", Some("parquet is read in no fixed order and cannot")),
    ("- --format csv --target y --exclude town --task regression", None),
    ("- --format csv --target town", None),
    ("head.csv --target y", Some("head.csv: the file has no rows")),
    ("fortran.npy --target f4", None),
    // Several files.
    ("p1.csv p2.csv --target y", None),
    ("p1.csv p2turned.csv --target y", None),
    ("p1.csv p2text.csv --target y", Some("column \"a\" is a number in p1.csv and text in p2t")),
    ("p1.csv mixed.csv --target y", Some("share some columns (\"b\") but not all; files with")),
    ("p1.csv mixed.csv --target y --stack rows", Some("do not have the same columns; files")),
    // Which columns are features.
    ("x.csv --target y --exclude town", None),
    ("x.csv --target y --categorical skip", None),
    ("x.csv --target y --columns a,b", None),
    ("x.csv --target y --columns [a-c]", None),
    ("x.csv --target y --columns @names.txt", None),
    ("x.csv --target y --columns a,bb", Some("--columns: there is no column \"bb\"; did you")),
    ("x.csv --target y --columns @near.txt", Some("--columns: there is no column \"bb\"")),
    ("x.csv --target y --exclude twon", Some("--exclude: there is no column \"twon\"; did you")),
    ("x.csv --target y --exclude z*", Some("--exclude: no column matches \"z*\"")),
    ("x.csv --target y --columns y", Some("x.csv: no column of the input is a feature")),
    ("x.csv --target y --exclude town --always nope", Some("--always: there is no feature \"no")),
    ("x.csv --target y --exclude town --always y", Some("--always: there is no feature \"y\"")),
    ("late.jsonl --target y --exclude late", None),
    ("kinds.jsonl --target y", Some("line 2: key \"b\" holds a number where true or false was")),
    ("texts.jsonl --target y", Some("line 8: key \"b\" holds text where a number was expected")),
    // The target.
    (
        "x.csv --exclude town",
        Some("target is not given (x.csv has 7 columns: id, a ... w, y), expected"),
    ),
    ("x.csv --target nope", Some("the target: \"nope\" is neither a column of the input nor a")),
    ("x.csv --target x.csv:y --exclude town", None),
    ("x.csv --target x.csv --exclude town", Some("it is the input itself; say which column")),
    ("p.csv --target y.csv", Some("y.csv: the file has 5 columns (id, y, kind, w, none); say")),
    ("p.csv --target y.csv:y", None),
    ("p.csv --target y.csv:nope", Some("y.csv: there is no column \"nope\"")),
    ("p.csv --target one.csv", None),
    ("p.csv --target p1.csv:y", Some("the target (p1.csv) has 12 rows")),
    ("p1.csv --target one.csv", Some("the target (one.csv) has 24 rows")),
    ("s.svm", None),
    ("s.svm --target label", None),
    ("s.svm --target 2", None),
    ("s.svm --target one.csv", None),
    ("two.csv --target y", None),
    ("two.csv --target y --task regression", None),
    ("two.csv --target y --loss logistic", None),
    ("two.csv --target y --class-weight balanced", None),
    ("p1.csv --target y --class-weight balanced", Some("class-weight is balanced, expected a")),
    ("bool.csv --target y", None),
    ("text.csv --target y", None),
    ("text.csv --target y --task regression", Some("the target \"y\" is text, which regression")),
    ("p.csv --target holes.csv:y", None),
    // Rows matched by key.
    ("p.csv --target back.csv:y --key id", None),
    ("p.csv --target back.csv:kind --key id", None),
    ("p.csv --target some.csv:y --key id", None),
    ("p.csv --target some.csv:kind --key id", None),
    ("p.csv --target holes.csv:y --key id", None),
    ("p.csv --target twice.csv:y --key id", Some("twice.csv: the key id is \"0\" in rows 0 and")),
    ("p.csv --target back.csv:y --key nope", Some("p.csv: --key: there is no column \"nope\"")),
    ("s.svm --key nope", Some("s.svm: --key: there is no column \"nope\"")),
    // Weights, offsets, covariates.
    ("x.csv --target y --exclude town --sample-weight w", None),
    ("x.csv --target y --exclude town --sample-weight one.csv", None),
    ("x.csv --target y --exclude town --sample-weight back.csv:w --key id", None),
    ("x.csv --target y --exclude town --sample-weight some.csv:w --key id", None),
    ("x.csv --target y --exclude town --sample-weight nope", Some("the sample weight: \"nope\"")),
    ("x.csv --target y --sample-weight town", Some("the sample weight \"town\" is text, expected")),
    (
        "x.csv --target y --exclude town --sample-weight few.csv",
        Some("the sample weight (few.csv)"),
    ),
    ("x.csv --target y --exclude town --sample-weight bad.csv", Some("the sample weight at row 5")),
    (
        "x.csv --target y --exclude town --sample-weight holes.csv:w",
        Some("keepnet: the sample weight \"w\" has a missing or infinite value at row 6"),
    ),
    ("x.csv --target y --exclude town --offset w", None),
    ("x.csv --target y --exclude town --offset back.csv:w --key id", None),
    ("x.csv --target y --exclude town --offset y.csv:none", Some("the offset \"none\" has a miss")),
    ("x.csv --target y --exclude town --covar w", None),
    ("x.csv --target y --exclude town --covar w,c", None),
    ("x.csv --target y --exclude town --covar x.csv:w", None),
    ("x.csv --target y --exclude town --covar x.csv", Some("it is the input itself; say which")),
    ("x.csv --target y --exclude town --covar side.csv", None),
    ("x.csv --target y --exclude town --covar back.csv:cov --key id", None),
    ("x.csv --target y --exclude town --covar nope", Some("--covar: \"nope\" is neither a column")),
    ("x.csv --target y --exclude town --covar town", Some("covariate \"town\" is text, expected")),
    ("x.csv --target y --exclude town --covar one.csv", Some("--covar: \"w\" is a feature and a")),
    (
        "x.csv --target y --exclude town --covar holes.csv:cov",
        Some("keepnet: covariate \"cov\" has a missing or infinite value at row 3"),
    ),
    ("s.svm --covar 2", None),
    ("s.svm --offset 2", None),
];

/// Runs a selection; what it says of the rows, and how it ended.
fn select(folder: &Folder, call: &str, method: &str) -> (Called, Value) {
    let words = format!("select {call} -k 2 --method {method} --quiet --output -");
    let mut command = folder.command(&words);
    if call.split_whitespace().any(|word| word == "-") {
        command.stdin(Stdio::from(std::fs::File::open(folder.path("x.csv")).unwrap()));
    }
    let called = Called::new(&command.output().unwrap());
    let said = match called.code {
        0 => {
            let result: Value = serde_json::from_str(&called.out).unwrap();
            let of = |name: &str| result[name].clone();
            json!([of("rows"), of("task"), of("classes"), of("class_counts"), of("features_seen")])
        }
        _ => Value::Null,
    };
    (called, said)
}

#[test]
fn a_flag_means_the_same_for_columns_and_for_rows() {
    let folder = folder();
    let mut wrong = String::new();
    for (call, refused) in CASES {
        let (columns, said) = select(&folder, call, "os-plus");
        let (rows, also) = select(&folder, call, "olsth");
        // How many rows there are is known at the end of a stream only.
        let line = |called: &Called| {
            let text = called.err.trim_end().to_string();
            text.split_once(" and ends before row")
                .map_or(text.clone(), |(start, _)| format!("{start}, expected {ROWS}"))
        };
        let done = match refused {
            None => columns.code == 0 && rows.code == 0,
            Some(words) => columns.code != 0 && line(&columns).contains(words),
        };
        if !done || columns.code != rows.code || said != also || line(&columns) != line(&rows) {
            let (one, other) = (line(&columns), line(&rows));
            writeln!(wrong, "{call}\n  columns: {} {said} {one}", columns.code).unwrap();
            writeln!(wrong, "  rows:    {} {also} {other}", rows.code).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn what_only_one_of_the_two_can_do_is_refused_with_the_reason() {
    let folder = folder();
    let reasons = [
        ("p1.csv side.csv --target y --stack columns", 2, "cannot join files side by side"),
        ("p.csv side.csv --target one.csv", 1, "a stream of rows cannot join files side by side"),
        ("x.csv --target y", 1, "choose --categorical skip, or --exclude \"town\""),
        ("x.csv --target y --categorical codes", 1, "whose levels are not known while rows come"),
        ("x.csv --target y --categorical onehot", 1, "or a method on features"),
        (
            "- --format csv --target y --exclude town",
            1,
            "not known beforehand; choose --task regression, or --task classification",
        ),
    ];
    for (call, code, words) in reasons {
        let (called, _) = select(&folder, call, "olsth");
        called.refused(code, &[words]);
    }
    let (called, _) = select(&folder, "x.csv --target y", "os-plus");
    called.refused(1, &["choose --categorical skip, codes or onehot, or --exclude \"town\""]);
}

#[test]
fn a_column_named_through_the_input_file_is_no_feature() {
    let folder = folder();
    for method in ["os-plus", "olsth"] {
        let call = format!("x.csv --exclude town,id --method {method} -k 4");
        let names = |more: &str| -> Vec<String> {
            let result = folder.select(&format!("{call} {more}"));
            let selected = result["selected"].as_array().unwrap();
            let mut names: Vec<_> =
                selected.iter().map(|f| f["name"].as_str().unwrap().to_string()).collect();
            names.sort();
            names
        };
        assert_eq!(names("--target x.csv:y"), ["a", "b", "c", "w"], "{method}");
        assert_eq!(names("--target y --covar x.csv:w"), ["a", "b", "c"], "{method}");
    }
}

#[test]
fn the_same_values_in_another_order_give_the_same_model_on_rows() {
    let folder = folder();
    let model = |inputs: &str| {
        let result = folder.select(&format!("{inputs} --method olsth -k 2"));
        let selected = result["selected"].as_array().unwrap();
        let one = |f: &Value| f["coefficient"].as_f64().unwrap();
        let mut model: Vec<f64> = selected.iter().map(one).collect();
        model.sort_by(f64::total_cmp);
        model
    };
    assert_eq!(model("p1.csv p2turned.csv --target y"), model("p1.csv p2.csv --target y"));
    let want = model("x.csv --target y --columns a,b,c,w");
    assert_eq!(model("fortran.npy --target f4"), want);
}

#[test]
fn an_arrow_file_on_a_pipe_is_the_file() {
    let folder = Folder::new();
    folder.run("generate regression --set n=90 --set p=12 --set s=3 --output x.arrow").fine();
    for method in ["os-plus", "olsth"] {
        let call =
            format!("--target target --task regression -k 3 --method {method} --quiet --output");
        folder.run(&format!("select x.arrow {call} file.json")).fine();
        let mut command = folder.command(&format!("select - --format arrow {call} pipe.json"));
        command.stdin(std::fs::File::open(folder.path("x.arrow")).unwrap());
        assert!(command.status().unwrap().success(), "{method}");
        let selected = |name: &str| -> Vec<(Value, Value)> {
            let result = folder.json(name);
            let features = result["selected"].as_array().unwrap().iter();
            features.map(|f| (f["name"].clone(), f["coefficient"].clone())).collect()
        };
        assert_eq!(selected("pipe.json"), selected("file.json"), "{method}");
        assert_eq!(selected("file.json").len(), 3);
    }
}
