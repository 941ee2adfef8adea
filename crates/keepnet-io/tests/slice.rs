//! From files to columns and problems, on small files written here.

mod common;

use common::{Dir, columns, strings};
use keepnet::{Target, Task};
use keepnet_io::{OpenOptions, ProblemSpec, build_problem, open};

#[test]
fn a_csv_with_its_target_becomes_a_problem_and_columns() {
    let dir = Dir::new();
    let x = dir.write("x.csv", "a,y,b\n1,0,0.5\n2,1,\n3,,2.5\n");
    let mut data = open(&[x], &OpenOptions::default()).unwrap();
    let spec = ProblemSpec { target: "y".into(), ..Default::default() };
    let joined = build_problem(&mut data, &spec, &OpenOptions::default()).unwrap();
    assert_eq!((joined.input, joined.used, joined.masked_target), (3, 2, 1));
    assert_eq!(joined.problem.target.task(), Task::Classification);
    assert_eq!(joined.not_features, ["y"]);
    let source = data.source(&joined.not_features).unwrap();
    let got = columns(source);
    assert_eq!(got[0], (0, "a".to_string(), vec![1.0, 2.0, 3.0]));
    assert_eq!((got[1].0, got[1].1.as_str(), got[1].2[2]), (1, "b", 2.5));
    assert!(got[1].2[1].is_nan());
}

#[test]
fn files_join_by_key_and_unmatched_rows_are_counted() {
    let dir = Dir::new();
    let x = dir.write("x.csv", "id,a\n3,30\n1,10\n2,20\n9,90\n");
    let y = dir.write("y.csv", "id,t,w\n1,0.1,1\n2,0.2,2\n3,0.3,3\n4,0.4,4\n");
    let options = OpenOptions { key: strings(&["id"]), ..Default::default() };
    let mut data = open(&[x], &options).unwrap();
    let spec = ProblemSpec {
        target: format!("{y}:t").into(),
        weight: Some(format!("{y}:w")),
        key: strings(&["id"]),
        ..Default::default()
    };
    let joined = build_problem(&mut data, &spec, &options).unwrap();
    assert_eq!(joined.problem.target, Target::Numbers(vec![0.3, 0.1, 0.2]));
    assert_eq!(joined.problem.weight, Some(vec![3.0, 1.0, 2.0]));
    assert_eq!((joined.used, joined.unmatched, joined.matched_by.as_str()), (3, 1, "key id"));
    assert_eq!(columns(data.source(&joined.not_features).unwrap()).len(), 1);
}
