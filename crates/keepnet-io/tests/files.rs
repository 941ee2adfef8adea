//! Several files as one table, and what a problem is made of.

mod common;

use common::write::{Matrix, npy_header};
use common::{Dir, columns, strings};
use keepnet::{LossKind, RowMap, Target, Task};
use keepnet_io::{Format, OpenOptions, ProblemSpec, Stack, build_problem, open};

fn error(inputs: &[String], options: &OpenOptions, dir: &Dir) -> String {
    let error = open(inputs, options).err().unwrap();
    error.to_string().replace(&format!("{}/", dir.path("").trim_end_matches('/')), "")
}

#[test]
fn files_with_the_same_columns_stack_in_any_column_order() {
    let dir = Dir::new();
    let a = dir.write("a.csv", "x,y\n1,0.1\n2,0.2\n");
    let b = dir.write("b.csv", "y,x\n0.3,3\n");
    let data = open(&[a, b], &OpenOptions::default()).unwrap();
    assert_eq!((data.rows(), data.files().len()), (3, 2));
    let got = columns(data.source(&[]).unwrap());
    assert_eq!(got[0].2, [1.0, 2.0, 3.0]);
    assert_eq!(got[1].2, [0.1, 0.2, 0.3]);
}

#[test]
fn a_glob_stacks_its_files_in_the_order_of_their_names() {
    let dir = Dir::new();
    dir.write("p2.csv", "x\n3\n");
    dir.write("p1.csv", "x\n1\n2\n");
    let data = open(&[dir.path("p*.csv")], &OpenOptions::default()).unwrap();
    assert_eq!(data.files(), [dir.path("p1.csv"), dir.path("p2.csv")]);
    assert_eq!(columns(data.source(&[]).unwrap())[0].2, [1.0, 2.0, 3.0]);
}

#[test]
fn svm_files_of_different_width_stack() {
    let dir = Dir::new();
    let a = dir.write("a.svm", "1 1:1\n0 2:2\n");
    let b = dir.write("b.svm", "1 4:4\n");
    let mut data = open(&[a, b], &OpenOptions::default()).unwrap();
    let spec = ProblemSpec::default();
    let joined = build_problem(&mut data, &spec, &OpenOptions::default()).unwrap();
    assert_eq!(joined.problem.target.class_counts(), [1, 2]);
    let got = columns(data.source(&joined.not_features).unwrap());
    let values: Vec<_> = got.iter().map(|c| (c.1.as_str(), c.2.as_slice())).collect();
    let want: [(&str, &[f64]); 4] = [
        ("1", &[1.0, 0.0, 0.0]),
        ("2", &[0.0, 2.0, 0.0]),
        ("3", &[0.0, 0.0, 0.0]),
        ("4", &[0.0, 0.0, 4.0]),
    ];
    assert_eq!(values, want);
}

#[test]
fn a_zero_based_svm_file_keeps_its_first_column_when_stacked() {
    let dir = Dir::new();
    let a = dir.write("a.svm", "1 1:1 5:5\n");
    let b = dir.write("b.svm", "0 0:7\n");
    let got = columns(open(&[a, b], &OpenOptions::default()).unwrap().source(&[]).unwrap());
    let first = got.iter().find(|c| c.1 == "0").unwrap();
    assert_eq!(first.2, [0.0, 7.0]);
    assert_eq!(got.len(), 6);
}

#[test]
fn disjoint_columns_join_by_position_and_count_on() {
    let dir = Dir::new();
    let a = dir.write("a.csv", "x,y\n1,10\n2,20\n");
    let m = Matrix { names: vec![], columns: vec![vec![5.0, 6.0], vec![7.0, 8.0], vec![0.5, 1.5]] };
    let b = dir.write("b.npy", m.npy(true, "<f8"));
    let data = open(&[a.clone(), b.clone()], &OpenOptions::default()).unwrap();
    let got = columns(data.source(&strings(&["y"])).unwrap());
    let names: Vec<_> = got.iter().map(|c| (c.0, c.1.as_str())).collect();
    assert_eq!(names, [(0, "x"), (1, "f2"), (2, "f3"), (3, "f4")]);
    assert_eq!(got[3].2, [0.5, 1.5]);
    let short = dir.write("short.csv", "z\n1\n");
    let got = error(&[a, short], &OpenOptions::default(), &dir);
    assert_eq!(
        got,
        "rows of short.csv and a.csv match by position: short.csv has 1 rows, expected 2"
    );
}

#[test]
fn disjoint_columns_join_by_key() {
    let dir = Dir::new();
    let a = dir.write("a.csv", "id,x\nr1,1\nr2,2\nr3,3\n");
    let b = dir.write("b.csv", "z,id\n30,r3\n10,r1\n99,r9\n");
    let options = OpenOptions { key: strings(&["id"]), ..Default::default() };
    let mut data = open(&[a.clone(), b], &options).unwrap();
    let y = dir.write("y.csv", "id,y\nr3,0.3\nr1,0.1\nr2,0.2\n");
    let task = Some(Task::Regression);
    let spec = ProblemSpec { target: y.into(), task, key: strings(&["id"]), ..Default::default() };
    let joined = build_problem(&mut data, &spec, &options).unwrap();
    assert_eq!((joined.used, joined.unmatched), (2, 1));
    assert_eq!(joined.problem.target, Target::Numbers(vec![0.1, 0.3]));
    assert_eq!(joined.problem.rows, RowMap::new(3, vec![0, 2]).unwrap());
    let source = data.source(&joined.not_features).unwrap();
    use keepnet::FeatureSource;
    assert_eq!(source.row_ids().unwrap().0, ["r1", "r2", "r3"]);
    let got = columns(source);
    assert_eq!((got[1].1.as_str(), got[1].2[0], got[1].2[2]), ("z", 10.0, 30.0));
    assert_eq!(got.len(), 2);
    let twice = dir.write("twice.csv", "id,w\nr1,1\nr1,2\n");
    assert_eq!(
        error(&[a, twice], &options, &dir),
        "twice.csv: the key id is \"r1\" in rows 0 and 1; keys must not repeat"
    );
}

#[test]
fn anything_else_is_an_error_that_names_both_files() {
    let dir = Dir::new();
    let a = dir.write("a.csv", "x,y\n1,2\n");
    let b = dir.write("b.csv", "y,z\n1,2\n");
    let rule = "files with the same columns stack as rows and files with disjoint columns join \
                side by side (--stack rows or columns decides)";
    let both = [a.clone(), b.clone()];
    assert_eq!(
        error(&both, &OpenOptions::default(), &dir),
        format!("a.csv and b.csv share some columns (\"y\") but not all; {rule}")
    );
    let rows = OpenOptions { stack: Some(Stack::Rows), ..Default::default() };
    assert_eq!(
        error(&both, &rows, &dir),
        format!("a.csv and b.csv do not have the same columns; {rule}")
    );
    let beside = OpenOptions { stack: Some(Stack::Columns), ..Default::default() };
    assert_eq!(
        error(&both, &beside, &dir),
        "b.csv: feature name \"y\" occurs more than once; rename one of the columns"
    );
    let text = dir.write("text.csv", "x,y\na,2\n");
    assert_eq!(
        error(&[a, text], &rows, &dir),
        "column \"x\" is a number in a.csv and text in text.csv; make them one type"
    );
}

#[test]
fn targets_weights_and_covariates_come_from_files() {
    let dir = Dir::new();
    let x = dir.write("x.csv", "a\n1\n2\n3\n4\n");
    let mut y = npy_header("<i4", false, &[4]);
    [3_i32, 5, 3, 9].iter().for_each(|v| y.extend(v.to_le_bytes()));
    let y = dir.write("y.npy", y);
    let w = dir.write("w.csv", "w:1,o\n1,0.5\n2,0.5\n1,0.5\n1,0.5\n");
    let c = dir.write("c.csv", "age,sex,city\n30,0,A\n40,1,B\n50,0,C\n60,1,D\n");
    let spec = ProblemSpec {
        target: y.into(),
        weight: Some(format!("{w}:w:1")),
        offset: Some(format!("{w}:o")),
        covar: Some(format!("{c}:age,sex")),
        task: Some(Task::Regression),
        ..Default::default()
    };
    let build = |spec: &ProblemSpec| {
        let mut data = open(std::slice::from_ref(&x), &OpenOptions::default()).unwrap();
        build_problem(&mut data, spec, &OpenOptions::default())
    };
    let joined = build(&spec).unwrap();
    assert_eq!(joined.problem.target, Target::Numbers(vec![3.0, 5.0, 3.0, 9.0]));
    assert_eq!(joined.problem.weight, Some(vec![1.0, 2.0, 1.0, 1.0]));
    assert_eq!(joined.problem.offset, Some(vec![0.5; 4]));
    assert_eq!(joined.problem.covariates[0].values, [30.0, 40.0, 50.0, 60.0]);
    assert_eq!(joined.problem.covariates[1].name, "sex");
    assert!(joined.not_features.is_empty());
    assert_eq!((joined.matched_by.as_str(), joined.problem.n()), ("position", 4));
    joined.problem.check().unwrap();
    // Three classes, sorted as numbers, each weighing the same: 4 / (3 * count), by hand.
    let spec = ProblemSpec { task: Some(Task::Classification), balanced: true, ..spec };
    let joined = build(&spec).unwrap();
    assert_eq!(joined.problem.target.classes().unwrap(), ["3", "5", "9"]);
    let third = 4.0 / 3.0;
    assert_eq!(joined.problem.weight, Some(vec![third / 2.0, 2.0 * third, third / 2.0, third]));
    let bad = ProblemSpec { covar: Some(c), ..ProblemSpec::default() };
    let bad = ProblemSpec { target: "a".into(), ..bad };
    let error = build(&bad).unwrap_err().to_string();
    assert!(error.ends_with("c.csv: covariate \"city\" is text, expected numbers"), "{error}");
}

#[test]
fn a_target_file_goes_by_its_extension_and_else_by_the_format_of_the_input() {
    let dir = Dir::new();
    let x = dir.write("x.dat", "a\n1\n2\n3\n");
    let (tab, plain) =
        (dir.write("y.tsv", "p\tq\n1\t4\n2\t5\n3\t6\n"), dir.write("y", "q\n4\n5\n6\n"));
    let options = OpenOptions { format: Some(Format::Csv), ..Default::default() };
    for target in [format!("{tab}:q"), plain] {
        let mut data = open(std::slice::from_ref(&x), &options).unwrap();
        let spec = ProblemSpec {
            target: target.into(),
            task: Some(Task::Regression),
            ..Default::default()
        };
        let joined = build_problem(&mut data, &spec, &options).unwrap();
        assert_eq!(joined.problem.target, Target::Numbers(vec![4.0, 5.0, 6.0]));
    }
}

#[test]
fn the_task_follows_loss_and_values() {
    let dir = Dir::new();
    let x = dir.write("x.csv", "n,two,text,flag\n1,10,b,true\n2,9,a,false\n3,10,b,true\n");
    let task = |target: &str, loss: Option<LossKind>| {
        let mut data = open(std::slice::from_ref(&x), &OpenOptions::default()).unwrap();
        let spec = ProblemSpec { target: target.into(), loss, ..Default::default() };
        let joined = build_problem(&mut data, &spec, &OpenOptions::default()).unwrap();
        let classes = joined.problem.target.classes().map(<[String]>::to_vec);
        (joined.task_reason.to_string(), classes.unwrap_or_default(), joined.notes)
    };
    let none: [&str; 0] = [];
    assert_eq!(task("n", None).1, ["1", "2", "3"]);
    assert_eq!(task("n", None).0, "the target has 3 distinct whole numbers");
    let note = "the target has 3 distinct whole numbers, which are taken for classes; \
                `task=regression` takes them as numbers";
    assert_eq!(task("n", None).2, [note]);
    assert_eq!(task("n", Some(LossKind::Logistic)).1, ["1", "2", "3"]);
    assert_eq!(task("n", Some(LossKind::Logistic)).0, "by the logistic loss");
    // Sorted as numbers: 9 before 10.
    assert_eq!(task("two", None).1, ["9", "10"]);
    assert_eq!(task("two", None).0, "the target has two distinct values");
    assert_eq!(task("two", Some(LossKind::SquaredEpsilon)).1, none);
    let quiet = Vec::new;
    assert_eq!(task("text", None), ("the target is text".into(), strings(&["a", "b"]), quiet()));
    let boolean = "the target is boolean".into();
    assert_eq!(task("flag", None), (boolean, strings(&["0", "1"]), quiet()));
}
