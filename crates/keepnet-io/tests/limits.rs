//! What grows with the input is refused before it is allocated, and a line has a length.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use common::write::Matrix;
use common::{Dir, columns};
use keepnet::{Error, Result, RowBlock, SampleSource};
use keepnet_io::{Check, OpenOptions, ProblemSpec, open, open_rows};
use parquet::basic::Compression;

const MIB: u64 = 1 << 20;

fn limited(memory: u64) -> OpenOptions {
    OpenOptions { memory: Some(memory), ..OpenOptions::default() }
}

fn refusal(path: &str, options: &OpenOptions) -> String {
    open(&[path.to_string()], options).err().expect("it is refused").to_string()
}

fn row_spec(target: &str) -> ProblemSpec {
    ProblemSpec { target: target.into(), ..Default::default() }
}

fn row_refusal(path: &str, target: &str, options: &OpenOptions) -> String {
    open_rows(&[path.to_string()], &row_spec(target), options)
        .err()
        .expect("it is refused")
        .to_string()
}

/// All rows of a stream: targets, and values in the order of the rows.
fn rows(path: &str, target: &str, options: &OpenOptions) -> Result<(Vec<f64>, Vec<f64>)> {
    let mut stream = open_rows(&[path.to_string()], &row_spec(target), options)?;
    let p = stream.names().len();
    let (mut block, mut y, mut x) = (RowBlock::new(p, 50), Vec::new(), Vec::new());
    loop {
        block.reset(50);
        let more = stream.next_block(&mut block)?;
        y.extend_from_slice(block.y());
        block.rows().for_each(|row| x.extend((0..p).map(|j| row.get(j))));
        if !more {
            return Ok((y, x));
        }
    }
}

#[test]
fn a_large_index_needs_room_for_its_columns() {
    let dir = Dir::new();
    let path = dir.write("x.svm", "1 1:2 100000000:3\n0 2:1\n");
    // 160 bytes a column: 16e9 bytes are 14.9 GiB.
    let said = refusal(&path, &limited(25 * MIB));
    assert!(said.contains("the names and places of 100000001 columns needs 14.9 GiB"), "{said}");
    let said = row_refusal(&path, "", &limited(25 * MIB));
    assert!(said.contains("columns needs 29.8 GiB"), "{said}");
    // Rows hold it twice; the number of columns is that of the file.
    assert!(said.contains("of 100000000 columns"), "{said}");
}

#[test]
fn keys_that_come_one_by_one_stay_within_the_limit() {
    let dir = Dir::new();
    let line = |r: usize| format!("{{\"k{r}\":{r},\"y\":{}}}\n", r % 3);
    let path = dir.write("x.jsonl", (0..900).map(line).collect::<String>());
    let got = columns(open(&[path], &limited(MIB)).unwrap().source(&[]).unwrap());
    assert_eq!(got.len(), 901);
    for (index, name, values) in got {
        let want = |r: usize| match name.as_str() {
            "y" => (r % 3) as f64,
            name if name == format!("k{r}") => r as f64,
            _ => f64::NAN,
        };
        let same = values.iter().enumerate().all(|(r, v)| v.total_cmp(&want(r)).is_eq());
        assert!(same, "column {index}, {name}");
    }
    let line = |r: usize| format!("{{\"{}{r}\":1}}\n", "k".repeat(50_000));
    let path = dir.write("long.jsonl", (0..80).map(line).collect::<String>());
    assert!(refusal(&path, &limited(MIB)).contains("keys needs"));
}

#[test]
fn a_line_has_a_length() {
    let dir = Dir::new();
    let cells = "1,".repeat(100_000) + "1\n";
    for (name, text, target) in [
        ("a.csv", format!("{cells}{cells}"), "f0"),
        ("quote.csv", format!("a,b\n1,2\n\"3,{cells}"), "a"),
        ("a.svm", "1".to_string() + &" 1:1".repeat(50_000), ""),
        ("a.jsonl", format!("{{\"a\":\"{}\"}}\n", "x".repeat(200_000)), "a"),
    ] {
        let path = dir.write(name, &text);
        let short = OpenOptions { max_line: Some(50_000), ..OpenOptions::default() };
        let said = refusal(&path, &short);
        assert!(said.contains("is longer than 50000 bytes; raise --max-line"), "{name}: {said}");
        let said = row_refusal(&path, target, &short);
        assert!(said.contains("--max-line"), "{name}: {said}");
    }
    // As long as the limit allows, with its line end.
    let path = dir.write("b.csv", format!("{cells}{cells}"));
    let exact = OpenOptions { max_line: Some(cells.len() as u64), ..OpenOptions::default() };
    assert_eq!(open(&[path], &exact).unwrap().columns().len(), 100_001);
}

#[test]
fn a_line_that_does_not_fit_is_refused_with_what_it_needs() {
    let dir = Dir::new();
    // 12 MB in one line, under a limit of 8 MiB for reading.
    let path = dir.write("x.csv", format!("a,b\n1,\"{}", "x,".repeat(6_000_000)));
    assert!(refusal(&path, &limited(4 * MIB)).contains("the line at byte 4 needs"));
    let zst = zstd::encode_all(&b"x,".repeat(6_000_000)[..], 1).unwrap();
    let path = dir.write("x.csv.zst", zst);
    assert!(refusal(&path, &limited(4 * MIB)).contains("the line at byte 0 needs"));
}

#[test]
fn different_texts_are_counted() {
    let dir = Dir::new();
    let text: String = (0..60_000).map(|r| format!("word{r},{r}\n")).collect();
    let path = dir.write("x.csv", format!("t,y\n{text}"));
    assert!(refusal(&path, &limited(2 * MIB)).contains("the different texts of the columns"));
}

/// The tables of many files share one limit, and are the same in memory and beyond it.
#[test]
fn many_files_share_the_limit() {
    let (dir, m) = (Dir::new(), Matrix::random(60, 8, 1));
    let paths: Vec<String> = (0..40).map(|i| dir.write(&format!("{i}.csv"), m.text(','))).collect();
    let read = |options: &OpenOptions| columns(open(&paths, options).unwrap().source(&[]).unwrap());
    // 40 tables of 60 by 8 doubles are 150 KiB, far above 16 KiB.
    assert_eq!(read(&limited(32 << 10)), read(&OpenOptions::default()));
}

/// Where a page of every column does not fit, rows come by way of a temporary file.
#[test]
fn rows_of_parquet_are_the_same_within_any_memory() {
    let (dir, m) = (Dir::new(), Matrix::random(4000, 300, 9));
    let path = dir.path("x.parquet");
    m.parquet(&path, 4000, Compression::SNAPPY);
    let (y, x) = rows(&path, "x0", &OpenOptions::default()).unwrap();
    assert_eq!(y, m.columns[0]);
    assert_eq!(rows(&path, "x0", &limited(2 * MIB)).unwrap(), (y, x));
}

#[test]
fn a_check_ends_the_opening_of_files() {
    let (dir, m) = (Dir::new(), Matrix::random(500, 6, 2));
    for (name, text) in [("x.csv", m.text(',')), ("x.svm", m.svm()), ("x.jsonl", m.jsonl())] {
        let path = dir.write(name, text);
        let asked = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&asked);
        let check = Check::new(move || match count.fetch_add(1, Ordering::Relaxed) {
            3.. => Err(Error::Data("the time is over".into())),
            _ => Ok(()),
        });
        let options =
            OpenOptions { check: Some(check), memory: Some(1 << 10), ..Default::default() };
        assert!(refusal(&path, &options).contains("the time is over"), "{name}");
        assert!(asked.load(Ordering::Relaxed) >= 4);
    }
}
