//! The sparse text of libsvm and LIBLINEAR.
//!
//! ```text
//! label [qid:N] index:value index:value ...  [# comment]
//! ```
//!
//! Indices ascend within a line and start at 1, or at 0 where a file has an index 0. A column
//! is named by its index as written; its place is counted from the first. Chunks of lines are
//! parsed in parallel and the table is transposed by [`SparseBuilder`]; columns stay sparse.

use std::sync::Arc;

use keepnet::{ColumnBlock, ColumnData, Error, Numbers, Result};
use rayon::prelude::*;

use crate::formats::number::{digits, number};
use crate::formats::table::{Schema, Table};
use crate::formats::text::{TextInput, count_lines};
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::memory::Charge;
use crate::store::{Piece, Place, SparseBuilder, SparseStore};

/// Bytes that a byte of text becomes at most: an index and a value out of four, twice.
pub(crate) const ENTRY: u64 = 8;

/// The name of the column that holds the labels.
pub(crate) const LABEL: &str = "label";

/// Reads and transposes a svm file.
pub(crate) fn open(path: &str, place: &Place) -> Result<Arc<dyn Table>> {
    let input = TextInput::open(path, place, place.chunk(), false)?;
    read(input, place)
}

fn read(mut input: TextInput, place: &Place) -> Result<Arc<dyn Table>> {
    let mut builder = SparseBuilder::new(place.clone());
    let (mut labels, mut line) = (Vec::new(), 1);
    let mut labelled = place.meter.take(0, "")?;
    loop {
        let mut batch = Vec::new();
        while batch.len() < rayon::current_num_threads()
            && let Some(text) = input.next()?
        {
            batch.push(text);
        }
        if batch.is_empty() {
            break;
        }
        let long = batch.iter().filter(|text| text.len() > 2 * place.chunk());
        let work = long.map(|text| ENTRY * text.len() as u64).sum();
        let _work = place.meter.take(work, "the entries of a long line")?;
        let parsed: Vec<Result<Lines, Bad>> = batch.par_iter().map(|text| parse(text)).collect();
        for (text, lines) in batch.iter().zip(parsed) {
            let lines = lines.map_err(|bad| {
                Error::Data(format!("line {}: {}", line + count_lines(&text[..bad.at]), bad.what))
            })?;
            line += count_lines(text);
            labelled.grow(16 * lines.labels.len() as u64, "the labels")?;
            labels.extend(lines.labels);
            builder.push(lines.piece)?;
        }
        batch.into_iter().for_each(|text| input.recycle(text));
    }
    if labels.is_empty() {
        return Err(Error::Data("the file has no rows".into()));
    }
    let integral = builder.integral();
    let store = builder.finish()?;
    let mut print = input.fingerprint();
    print.number(store.end() as u64);
    // Where no line has an index 0, indices count from 1.
    let base = if store.end() == 0 || store.count(0) > 0 { 0 } else { 1 };
    let kind = if integral { ColumnKind::Int } else { ColumnKind::Float };
    let whole = labels.iter().all(|y: &f64| y.trunc() == *y);
    let label = if whole { ColumnKind::Int } else { ColumnKind::Float };
    let mut columns = vec![ColumnInfo { name: LABEL.into(), kind: label, file: 0 }];
    let name = |index: usize| ColumnInfo { name: index.to_string(), kind: kind.clone(), file: 0 };
    columns.extend((base..store.end()).map(name));
    let fingerprint = print.finish();
    Ok(Arc::new(Svm { labels, store, base, columns, fingerprint, _labelled: labelled }))
}

/// What one chunk of lines holds.
struct Lines {
    labels: Vec<f64>,
    piece: Piece,
}

/// What is wrong, and where in the chunk.
#[derive(Debug)]
struct Bad {
    at: usize,
    what: String,
}

fn parse(text: &[u8]) -> Result<Lines, Bad> {
    let mut labels = Vec::new();
    // An entry takes about ten bytes of text.
    let mut piece = Piece::with_capacity(text.len() / 10);
    let mut at = 0;
    while at < text.len() {
        let end = memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length);
        let line = &text[at..end];
        if let Some(label) =
            parse_line(line, &mut piece).map_err(|(offset, what)| Bad { at: at + offset, what })?
        {
            labels.push(label);
            piece.end_row();
        }
        at = end + 1;
    }
    piece.shrink();
    Ok(Lines { labels, piece })
}

/// Labels, ends of rows, indices as written and values of a text; or what is wrong, and where.
pub(crate) type SparseRows = (Vec<f64>, Vec<usize>, Vec<u32>, Vec<f64>);

/// The rows of some whole lines.
pub(crate) fn rows(text: &[u8]) -> Result<SparseRows, (usize, String)> {
    let Lines { labels, piece } = parse(text).map_err(|bad| (bad.at, bad.what))?;
    let (ends, index, value) = piece.into_rows();
    Ok((labels, ends, index, value))
}

/// How many lines the parser finds in a text.
pub(crate) fn lines(text: &[u8]) -> usize {
    parse(text).map_or(0, |lines| lines.labels.len())
}

fn skip_blanks(line: &[u8], mut at: usize) -> usize {
    while matches!(line.get(at), Some(b' ' | b'\t' | b'\r')) {
        at += 1;
    }
    at
}

/// Adds the entries of one line; its label, or `None` for an empty line.
fn parse_line(line: &[u8], piece: &mut Piece) -> Result<Option<f64>, (usize, String)> {
    let mut at = skip_blanks(line, 0);
    if matches!(line.get(at), None | Some(b'#')) {
        return Ok(None);
    }
    let plus = usize::from(line[at] == b'+');
    let (label, used) = number(&line[at + plus..]).ok_or_else(|| bad(line, at, "a label"))?;
    at += plus + used;
    if !matches!(line.get(at), None | Some(b' ' | b'\t' | b'\r' | b'#')) {
        return Err(bad(line, at - used - plus, "a label that is one number"));
    }
    let mut last = None;
    loop {
        at = skip_blanks(line, at);
        let start = at;
        let mut index = 0_u64;
        at = digits(line, at, &mut index);
        if at == start || line.get(at) != Some(&b':') {
            match line.get(start) {
                None | Some(b'#') => return Ok(Some(label)),
                Some(b'q') if line[start..].starts_with(b"qid:") && last.is_none() => {
                    let rest = &line[start..];
                    at = start + rest.iter().position(|b| *b == b' ').unwrap_or(rest.len());
                    continue;
                }
                _ => return Err(bad(line, start, "index:value")),
            }
        }
        // Past nineteen digits, leading zeros apart, the number may have wrapped.
        let fits = at - start <= 19 || line[start..at - 19].iter().all(|b| *b == b'0');
        let index = u32::try_from(index).ok().filter(|i| fits && *i < u32::MAX);
        let index = index.ok_or_else(|| bad(line, start, "an index below 4294967295"))?;
        if last.is_some_and(|last| index <= last) {
            return Err(bad(line, start, "an index larger than the one before it"));
        }
        last = Some(index);
        at += 1;
        let (value, used) = number(&line[at..]).ok_or_else(|| bad(line, start, "index:value"))?;
        at += used;
        if !matches!(line.get(at), None | Some(b' ' | b'\t' | b'\r' | b'#')) {
            return Err(bad(line, start, "index:value"));
        }
        piece.push(index, value);
    }
}

#[cold]
fn bad(line: &[u8], at: usize, want: &str) -> (usize, String) {
    let rest = line[at..].split(|b| matches!(b, b' ' | b'\t' | b'\r')).next().unwrap_or(&[]);
    let found: String = String::from_utf8_lossy(rest).chars().take(40).collect();
    (at, format!("{found:?} where {want} was expected"))
}

/// A svm file after its transposition: the labels, then the columns by index.
struct Svm {
    labels: Vec<f64>,
    store: SparseStore,
    base: usize,
    columns: Vec<ColumnInfo>,
    fingerprint: u64,
    _labelled: Charge,
}

impl Schema for Svm {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn number(&self, at: usize) -> Option<u64> {
        at.checked_sub(1).map(|at| (at + self.base) as u64)
    }

    fn labels(&self) -> Vec<usize> {
        vec![0]
    }

    fn open_ended(&self) -> bool {
        true
    }
}

impl Table for Svm {
    fn rows(&self) -> usize {
        self.labels.len()
    }

    fn read(&self, at: &[usize], spare: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        let mut rest = at;
        while let Some(first) = rest.first() {
            let run = rest.iter().enumerate().take_while(|(i, c)| **c == first + i).count();
            let (mut from, end) = (*first, first + run);
            if from == 0 {
                let mut labels = spare.buffer64();
                labels.extend_from_slice(&self.labels);
                out.push(ColumnData::Dense(Numbers::F64(labels)));
                from = 1;
            }
            self.store.read(from - 1 + self.base..end - 1 + self.base, self.labels.len(), out)?;
            rest = &rest[run..];
        }
        Ok(())
    }

    fn column_bytes(&self) -> u64 {
        self.store.column_bytes()
    }

    fn scan_bytes(&self) -> u64 {
        self.store.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> (usize, String) {
        let bad = parse(text.as_bytes()).err().unwrap();
        (bad.at, bad.what)
    }

    #[test]
    fn lines_with_ranks_comments_and_blanks_are_read() {
        let text = "+1 qid:7 1:0.5 3:2 # one\r\n\n# none\n-1\t2:1e3\n0";
        let lines = parse(text.as_bytes()).unwrap();
        assert_eq!(lines.labels, [1.0, -1.0, 0.0]);
        assert_eq!(lines.piece.entries(), [(0, 1, 0.5), (0, 3, 2.0), (1, 2, 1000.0)]);
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_back(
            rows in proptest::collection::vec(
                proptest::collection::btree_map(0_u32..5000, -1e6_f64..1e6, 0..9),
                1..20,
            )
        ) {
            let (mut text, mut want) = (String::new(), Vec::new());
            for (r, row) in rows.iter().enumerate() {
                text += if r % 2 == 0 { "-1" } else { "+1" };
                for (c, v) in row {
                    text += &format!(" {c}:{v}");
                    want.push((r as u32, *c, *v));
                }
                text += "\n";
            }
            let lines = parse(text.as_bytes()).unwrap();
            proptest::prop_assert_eq!(lines.piece.entries(), want);
            proptest::prop_assert_eq!(lines.labels.len(), rows.len());
        }

        #[test]
        fn any_bytes_are_lines_or_an_error(
            text in proptest::collection::vec(proptest::sample::select(&b"12:.-e# \nq\xff"[..]), 0..60)
        ) {
            if let Err(bad) = parse(&text) {
                proptest::prop_assert!(bad.at <= text.len());
            }
        }
    }

    #[test]
    fn what_is_no_entry_is_named() {
        assert_eq!(error("1 2:x"), (2, "\"2:x\" where index:value was expected".into()));
        assert_eq!(error("1 3:1\n1 x:1"), (8, "\"x:1\" where index:value was expected".into()));
        assert!(error("a 1:1").1.contains("a label was expected"));
        assert!(error("1,2 1:1").1.contains("a label that is one number"));
        assert!(error("1 3:1 2:1").1.contains("larger than the one before"));
        assert!(error("1 4294967295:1").1.contains("below 4294967295"));
        // 2^64 + 3, which would be 3 if it wrapped.
        assert!(error("1 18446744073709551619:1").1.contains("below 4294967295"));
        let zeros = parse(b"1 00000000000000000000003:1").unwrap();
        assert_eq!(zeros.piece.entries(), [(0, 3, 1.0)]);
        assert!(error("1 5:").1.contains("index:value"));
    }
}
