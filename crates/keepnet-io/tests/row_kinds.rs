//! What a column of a row stream holds where its first values are missing.

mod common;

use common::{Dir, rows};
use keepnet_io::{Categorical, OpenOptions, ProblemSpec};

/// Every value of the stream by rows, or why it cannot be read.
fn read(paths: &[String]) -> keepnet::Result<Vec<Vec<f64>>> {
    let spec = ProblemSpec { target: "y".into(), ..ProblemSpec::default() };
    let options = OpenOptions { categorical: Categorical::Skip, ..OpenOptions::default() };
    rows(paths, &spec, &options)
}

#[test]
fn a_text_column_that_begins_with_null_is_text() {
    let dir = Dir::new();
    let lines = "{\"a\":1,\"t\":null,\"y\":1}\n{\"a\":2,\"t\":\"red\",\"y\":2.5}\n{\"a\":4,\"t\":\"blue\",\"y\":7}\n";
    let path = dir.write("x.jsonl", lines);
    assert_eq!(read(&[path]).unwrap(), [[1.0], [2.0], [4.0]]);
}

#[test]
fn a_file_whose_column_is_missing_throughout_stacks_with_the_others() {
    let dir = Dir::new();
    for (name, parts) in [
        ("csv", ["a,t,y\n1,red,1\n", "a,t,y\n2,,2.5\n", "a,t,y\n,blue,7\n"]),
        (
            "jsonl",
            [
                "{\"a\":1,\"t\":\"red\",\"y\":1}\n",
                "{\"a\":2,\"t\":null,\"y\":2.5}\n",
                "{\"a\":null,\"t\":\"blue\",\"y\":7}\n",
            ],
        ),
    ] {
        let paths: Vec<String> =
            (0..3).map(|at| dir.write(&format!("part{at}.{name}"), parts[at])).collect();
        let rows = read(&paths).unwrap();
        assert_eq!(rows[..2], [[1.0], [2.0]], "{name}");
        assert!(rows[2][0].is_nan(), "{name}");
        // The file without a text first: the next one says what the column holds.
        let turned = [1, 2, 0].map(|at: usize| paths[at].clone());
        let rows = read(&turned).unwrap();
        assert_eq!((rows[0][0], rows[2][0]), (2.0, 1.0), "{name}");
        assert!(rows[1][0].is_nan(), "{name}");
    }
}

#[test]
fn text_where_numbers_were_expected_is_refused_and_not_read_as_numbers() {
    let dir = Dir::new();
    // The first megabyte has no value of t, so that nothing says that it is text.
    let blank = "1.25,,3.5\n".repeat(120_000);
    let path = dir.write("late.csv", format!("a,t,y\n{blank}1,red,2\n1,blue,3\n"));
    let why = read(&[path]).unwrap_err().to_string();
    assert!(why.contains("\"t\"") && why.contains("text in later"), "{why}");
    let mixed = "{\"a\":1,\"y\":\"no\"}\n{\"a\":2,\"y\":\"yes\"}\n{\"a\":3,\"y\":0}\n";
    let why = read(&[dir.write("mixed.jsonl", mixed)]).unwrap_err().to_string();
    assert!(why.contains("line 3") && why.contains("a number where text"), "{why}");
    let first = dir.write("n.csv", "a,t,y\n1,2,1\n");
    let second = dir.write("t.csv", "a,t,y\n1,red,1\n");
    let why = read(&[first, second]).unwrap_err().to_string();
    assert!(why.contains("\"t\" is a number in") && why.contains("text in"), "{why}");
}

#[test]
fn rows_of_nothing_but_zeros_are_a_file_of_svm_text() {
    let dir = Dir::new();
    let zeros = dir.write("zeros.svm", "1.5\n0.5\n");
    let some = dir.write("some.svm", "2 1:3 2:4\n");
    let read = |paths: &[String]| rows(paths, &ProblemSpec::default(), &OpenOptions::default());
    let want = [[0.0, 0.0], [0.0, 0.0], [3.0, 4.0]];
    assert_eq!(read(&[zeros.clone(), some.clone()]).unwrap(), want);
    assert_eq!(read(&[some, zeros.clone()]).unwrap()[1..], want[..2]);
    let why = read(&[zeros]).unwrap_err().to_string();
    assert!(why.contains("zeros.svm") && why.contains("feature"), "{why}");
}
