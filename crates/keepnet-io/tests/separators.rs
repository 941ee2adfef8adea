//! What stands between values, codes with leading zeros, and the index of pandas.

mod common;

use common::{Dir, columns};
use keepnet_io::{ColumnKind, Format, OpenOptions, ProblemSpec, open, open_rows};

#[test]
fn semicolons_and_tabs_are_recognised() {
    let dir = Dir::new();
    let want = vec![(0, "a".to_string(), vec![1.0, 3.0]), (1, "b,c".into(), vec![2.0, 4.0])];
    for (name, text) in [
        ("a.csv", "a;\"b,c\"\n1;2\n3;4\n"),
        ("b.csv", "a\t\"b,c\"\n1\t2\n3\t4\n"),
        ("c.tsv", "a,\"b,c\"\n1,2\n3,4\n"),
        ("d.csv", "\r\na;\"b,c\"\r\n1;2\r\n3;4\r\n"),
    ] {
        let path = dir.write(name, text);
        let data = open(&[path], &OpenOptions::default()).unwrap();
        assert_eq!(columns(data.source(&[]).unwrap()), want, "{name}");
        let path = dir.path(name);
        let spec = ProblemSpec { target: "a".into(), ..Default::default() };
        let rows = open_rows(&[path], &spec, &OpenOptions::default()).unwrap();
        assert_eq!(rows.problem().names, ["b,c"], "{name}");
    }
}

#[test]
fn one_column_with_a_semicolon_in_its_name_stays_one() {
    let dir = Dir::new();
    let path = dir.write("a.csv", "speed; fast\n1\n2\n");
    let data = open(&[path], &OpenOptions::default()).unwrap();
    assert_eq!(data.columns()[0].name, "speed; fast");
}

#[test]
fn a_head_that_does_not_fit_names_the_separator() {
    let dir = Dir::new();
    for (text, want) in [
        (
            "a;b;c\n1;2;3\n4;5\n",
            "line 3: 2 fields separated by semicolons, expected 3 as in the head",
        ),
        ("a;b\n1;2;3\n", "line 2: 3 fields separated by semicolons, expected 2 as in the head"),
    ] {
        let path = dir.write("a.csv", text);
        let error = open(&[path], &OpenOptions::default()).map(drop).unwrap_err().to_string();
        assert!(error.ends_with(want), "{error}");
    }
}

#[test]
fn a_code_with_a_leading_zero_is_text_wherever_it_stands_among_the_first_rows() {
    let dir = Dir::new();
    let text = "zip,share,zero,code\n10115,0.5,0,01\n00999,00.25,0,\"02\"\n80331,0,0,03\n";
    let path = dir.write("a.csv", text);
    let kinds = |path: &String| -> Vec<ColumnKind> {
        let data = open(std::slice::from_ref(path), &OpenOptions::default()).unwrap();
        data.columns().iter().map(|column| column.kind.clone()).collect()
    };
    use ColumnKind::{Float, Int, Text};
    assert_eq!(kinds(&path), [Text, Float, Int, Text]);
    let rows = |target: &str| {
        let spec = ProblemSpec { target: target.into(), ..Default::default() };
        let options =
            OpenOptions { exclude: vec!["zip".into(), "code".into()], ..Default::default() };
        open_rows(std::slice::from_ref(&path), &spec, &options)
    };
    assert_eq!(rows("zip").unwrap().problem().classes, ["00999", "10115", "80331"]);
    assert!(rows("share").unwrap().problem().classes.is_empty());
}

#[test]
fn the_index_of_pandas_is_no_feature_unless_it_is_asked_for() {
    let dir = Dir::new();
    let path = dir.write("a.csv", "a,__index_level_0__,__index_level_x__\n1,7,5\n2,8,6\n");
    let names = |columns: &[&str]| -> Vec<String> {
        let columns = columns.iter().map(|name| name.to_string()).collect();
        let options = OpenOptions { columns, format: Some(Format::Csv), ..Default::default() };
        let data = open(std::slice::from_ref(&path), &options).unwrap();
        self::columns(data.source(&[]).unwrap()).into_iter().map(|column| column.1).collect()
    };
    assert_eq!(names(&[]), ["a", "__index_level_x__"]);
    assert_eq!(names(&["__index_level_0__"]), ["__index_level_0__"]);
}
