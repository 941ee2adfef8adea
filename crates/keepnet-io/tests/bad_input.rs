//! Bad input: each case has one message, which names the file and what is wrong with it.

mod common;

use std::sync::Arc;

use arrow_array::{ArrayRef, Date32Array, ListArray, RecordBatch, types::Int32Type};
use common::write::{Matrix, everywhere, gz, npy_header, write_parquet};
use common::{Dir, strings};
use keepnet::{ColumnBlock, FeatureSource, Result};
use keepnet_io::{Format, OpenOptions, ProblemSpec, build_problem, open};
use parquet::file::properties::WriterProperties;

/// Opens a file and reads every column.
fn read(path: &str, options: &OpenOptions) -> Result<usize> {
    let mut source = open(&[path.to_string()], options)?.source(&[])?;
    let (mut block, mut count) = (ColumnBlock::new(4), 0);
    loop {
        block.reset(4);
        if !source.next_block(&mut block)? {
            return Ok(count);
        }
        count += block.len();
    }
}

/// The message, with the directory taken out.
fn message(dir: &Dir, path: &str) -> String {
    let error = read(path, &OpenOptions::default()).unwrap_err();
    error.to_string().replace(&format!("{}/", dir.path("").trim_end_matches('/')), "")
}

fn check(name: &str, contents: impl AsRef<[u8]>, want: &str) {
    let dir = Dir::new();
    let path = dir.write(name, contents);
    assert_eq!(message(&dir, &path), want);
}

#[test]
fn missing_files_and_unknown_formats() {
    let dir = Dir::new();
    let message = |name: &str| message(&dir, &dir.path(name));
    assert_eq!(message("none.csv"), "none.csv: No such file or directory (os error 2)");
    assert_eq!(message("none.npy"), "none.npy: No such file or directory (os error 2)");
    assert_eq!(message("*.csv"), "no file matches \"*.csv\"");
    dir.write("x.dat", "1");
    assert_eq!(
        message("x.dat"),
        "format is unknown from the extension of \"x.dat\", expected --format parquet, arrow, \
         csv, tsv, npy, svm, jsonl, bed, table or arrow-columns"
    );
    let error = open(&strings(&["-"]), &OpenOptions::default()).err().unwrap();
    assert_eq!(error.to_string(), "format is not given, expected --format NAME with -");
    assert!(error.is_usage());
}

#[test]
fn csv_messages_name_line_column_and_text() {
    check("a.csv", "", "a.csv: the file has no rows");
    check("a.csv", "x,y\n", "a.csv: the file has no rows");
    check(
        "a.csv",
        "x,y\n1,2\n\n3,four\n",
        "a.csv: line 4: column \"y\" has \"four\" where a number was expected",
    );
    check(
        "a.csv",
        "x,y\n1,2\n3\n",
        "a.csv: line 3: 1 fields separated by commas, expected 2 as in the head",
    );
    check(
        "a.csv",
        "x,y\n1,2,3\n",
        "a.csv: line 2: 3 fields separated by commas, expected 2 as in the head",
    );
    check(
        "a.csv",
        "x,y,x\n1,2,3\n",
        "a.csv: feature name \"x\" occurs more than once; rename one of the columns",
    );
    check(
        "a.csv",
        "x,y\ntrue,2\n1,3\n",
        "a.csv: line 3: column \"x\" has \"1\" where true or false was expected",
    );
    check(
        "a.csv",
        "x,city\n1,Oslo\n",
        "a.csv: column \"city\" is text and no feature as it stands; choose --categorical skip, \
         codes or onehot, or --exclude \"city\"",
    );
    // The line is right in a later chunk, too.
    let mut text = String::from("x,y\n");
    (0..5000).for_each(|r| text += &format!("{r},{r}\n"));
    text += "1,oops\n";
    let dir = Dir::new();
    let path = dir.write("long.csv", &text);
    let error = read(&path, &OpenOptions { memory: Some(0), ..Default::default() }).unwrap_err();
    assert!(error.to_string().contains("line 5002: column \"y\" has \"oops\""), "{error}");
}

#[test]
fn svm_and_json_messages_name_the_line() {
    check("a.svm", "# nothing\n", "a.svm: the file has no rows");
    check("a.svm", "1 1:2\n1 1:x\n", "a.svm: line 2: \"1:x\" where index:value was expected");
    check(
        "a.svm",
        "1 2:1 2:3\n",
        "a.svm: line 1: \"2:3\" where an index larger than the one before it was expected",
    );
    check("a.jsonl", "", "a.jsonl: the file has no rows");
    check(
        "a.jsonl",
        "{\"a\":1}\n{\"a\":\"x\"}\n",
        "a.jsonl: line 2: key \"a\" holds text where a number was expected",
    );
    check(
        "a.jsonl",
        "{\"a\":[1]}\n",
        "a.jsonl: line 1: key \"a\" holds a list or an object; values must be numbers, booleans, \
         text or null",
    );
    let dir = Dir::new();
    let cut = message(&dir, &dir.write("a.jsonl", "{\"a\":1}\n{\"a\":"));
    assert!(cut.starts_with("a.jsonl: line 2: EOF while parsing"), "{cut}");
}

#[test]
fn npy_messages_say_what_was_expected() {
    let m = Matrix::random(4, 3, 1);
    let whole = m.npy(true, "<f8");
    check(
        "a.npy",
        &whole[..whole.len() - 1],
        "a.npy: the file is truncated: 224 bytes expected, 223 found",
    );
    check("a.npy", "hello, world", "a.npy: this is not a npy file (its first bytes are others)");
    check("a.npy", "\u{93}", "a.npy: the file ends inside the npy header");
    check(
        "a.npy",
        npy_header("<c8", true, &[2]),
        "a.npy: the number type \"<c8\" is not read; save the array as f4, f8, b1, or an integer \
         of 1 to 8 bytes",
    );
    check("a.npy", npy_header("<f8", true, &[0, 3]), "a.npy: the shape [0, 3] has no values");
    let mut cube = npy_header("<f8", true, &[1, 1, 1]);
    cube.extend([0; 8]);
    check("a.npy", cube, "a.npy: the array has 3 dimensions, expected samples by features");
    let huge = npy_header("<f8", true, &[1 << 40, 1 << 40]);
    check("a.npy", huge, "a.npy: the shape [1099511627776, 1099511627776] is too large for a file");
}

#[test]
fn dates_and_nested_columns_are_refused_by_name() {
    let dir = Dir::new();
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![1, 2]));
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1)]),
        Some(vec![Some(2)]),
    ]));
    for (array, kind, arrow_kind) in
        [(dates, "date", "date32"), (lists, "a nested type", "list(int32)")]
    {
        let batch = RecordBatch::try_from_iter([("when", array)]).unwrap();
        let path = dir.path("a.parquet");
        let batches = [batch.clone()];
        write_parquet(&path, batch.schema(), &batches, WriterProperties::builder().build());
        let got = message(&dir, &path);
        let advice = |name: &str| {
            format!("and no feature; leave it out with --exclude {name} or --categorical skip")
        };
        let name = if kind == "date" { "\"when\"" } else { "\"when.list.item\"" };
        assert_eq!(got, format!("a.parquet: column {name} is of type {kind} {}", advice(name)));
        let path = dir.path("a.arrow");
        let file = std::fs::File::create(&path).unwrap();
        let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let got = message(&dir, &path);
        let start = format!("a.arrow: column \"when\" is of type {arrow_kind}");
        assert!(got.starts_with(&start), "{got}");
    }
}

/// A file cut anywhere is an error or, where text ends with a whole row, fewer rows.
#[test]
fn truncated_files_never_panic() {
    let (dir, m) = (Dir::new(), Matrix::random(12, 5, 7));
    for path in everywhere(&m, &dir) {
        let whole = std::fs::read(&path).unwrap();
        let name = std::path::Path::new(&path).file_name().unwrap().to_str().unwrap();
        let cut_path = dir.path(&format!("cut-{name}"));
        let step = (whole.len() / 150).max(1);
        let text = [".csv", ".tsv", ".svm", ".jsonl"].iter().any(|end| path.ends_with(end));
        for cut in (0..whole.len()).step_by(step).chain(whole.len() - 9..whole.len()) {
            // A new file each time: cutting one short makes the file system flush it.
            let _ = std::fs::remove_file(&cut_path);
            std::fs::write(&cut_path, &whole[..cut]).unwrap();
            let result = read(&cut_path, &OpenOptions::default());
            if let Err(error) = &result {
                assert!(error.to_string().contains(&format!("cut-{name}")), "{cut} {error}");
            } else {
                // A stream of batches may end after any of them; the others must not.
                let open_end = text || name.starts_with("stream");
                assert!(open_end, "{name} cut at {cut} of {} was accepted", whole.len());
            }
        }
    }
}

#[test]
fn damaged_compressed_text_is_an_error() {
    let dir = Dir::new();
    let whole = gz(Matrix::random(50, 4, 1).text(',').as_bytes());
    let path = dir.write("a.csv.gz", &whole[..whole.len() / 2]);
    let got = message(&dir, &path);
    assert!(got.starts_with("a.csv.gz: "), "{got}");
    let path = dir.write("b.npy", Matrix::random(3, 2, 1).npy(true, "<f8"));
    let csv = OpenOptions { format: Some(Format::Csv), ..Default::default() };
    assert!(read(&path, &csv).is_err());
}

#[test]
fn targets_of_the_wrong_length_and_unknown_columns() {
    let dir = Dir::new();
    let x = dir.write("x.csv", "price,size\n1,2\n3,4\n5,6\n");
    let y = dir.write("y.csv", "y\n1\n2\n");
    let two = dir.write("two.csv", "a,b\n1,2\n3,4\n5,6\n");
    let problem = |spec: ProblemSpec| {
        let mut data = open(std::slice::from_ref(&x), &OpenOptions::default()).unwrap();
        let error = build_problem(&mut data, &spec, &OpenOptions::default()).unwrap_err();
        error.to_string().replace(&format!("{}/", dir.path("").trim_end_matches('/')), "")
    };
    let target = |t: &str| ProblemSpec { target: t.into(), ..Default::default() };
    assert_eq!(problem(target(&y)), "the target (y.csv) has 2 rows, expected 3");
    assert_eq!(
        problem(target("prise")),
        "the target: \"prise\" is neither a column of the input nor a file; did you mean \"price\"?"
    );
    assert_eq!(
        problem(target(&two)),
        "two.csv: the file has 2 columns (a, b); say which with two.csv:COLUMN"
    );
    assert_eq!(
        problem(target(&format!("{two}:c"))),
        "two.csv: there is no column \"c\"; did you mean \"a\", \"b\"?"
    );
    let weight = ProblemSpec { weight: Some(y.clone()), ..target("size") };
    assert_eq!(problem(weight), "the sample weight (y.csv) has 2 rows, expected 3");
}
