//! JSON lines, row by row.
//!
//! The keys must be known before the first row, so a file is gone through once for them, and has
//! the columns that it has as a table. On standard input the first line names the columns, and the
//! first values that are not null in the first rows say what they hold.

use std::collections::HashMap;

use keepnet::{Error, Result};

use super::keys::{Cell, ENTRY, Keys, Kind};
use crate::formats::chunk::{CHUNK, Chunk, ChunkReader, ChunkValues};
use crate::formats::feed::Feed;
use crate::formats::table::Schema;
use crate::input::schema::ColumnInfo;
use crate::memory::Charge;
use crate::store::Place;

struct Jsonl {
    feed: Feed,
    keys: Keys,
    columns: Vec<ColumnInfo>,
    // Columns that are null as far as was looked.
    blank: Vec<bool>,
    line: u64,
    place: Place,
    _described: Charge,
}

pub(crate) fn open(path: &str, place: &Place) -> Result<Box<dyn ChunkReader>> {
    let mut feed = Feed::open(path, false, place)?;
    let mut keys = Keys::new(place)?;
    if path == "-" {
        let text = feed.head(1)?;
        head(&mut keys, &text, place)?;
        feed.put_back(text);
    } else {
        let mut line = 0;
        while let Some(text) = feed.next()? {
            let _work = work(&text, place)?;
            keys.lines(&text, &mut line, &mut (), |(), _, _| Ok(()), |(), _| Ok(()))?;
        }
        feed = Feed::open(path, false, place)?;
    }
    if keys.list.is_empty() {
        return Err(Error::Data("the file has no rows".into()));
    }
    keys.closed = true;
    let _described = place.row_columns(keys.list.len() as u64)?;
    let blank = keys.list.iter().map(|(_, kind)| kind.is_none()).collect();
    // Places in a list of texts must not be taken for numbers later.
    let settle = |(name, kind): &mut (String, Option<Kind>)| {
        let kind = kind.get_or_insert(Kind::Number);
        ColumnInfo::of((name.clone(), kind.column()))
    };
    let columns = keys.list.iter_mut().map(settle).collect();
    let place = place.clone();
    Ok(Box::new(Jsonl { feed, keys, columns, blank, line: 0, place, _described }))
}

/// Takes the keys of the first line; the lines after it that can be read say what those hold that
/// are null in it. A line that cannot be read is reported when its turn comes.
fn head(keys: &mut Keys, text: &[u8], place: &Place) -> Result<()> {
    let _work = work(text, place)?;
    let mut lines = text.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty());
    if let Some(first) = lines.next() {
        let line = |e| Error::Data(format!("line 1: {e}"));
        keys.line(first, |_, _| Ok(())).map_err(line)?;
    }
    keys.closed = true;
    while keys.list.iter().any(|(_, kind)| kind.is_none())
        && let Some(line) = lines.next()
        && keys.line(line, |_, _| Ok(())).is_ok()
    {}
    Ok(())
}

/// Room for the entries of a long text.
fn work(text: &[u8], place: &Place) -> Result<Charge> {
    place.long(text, || ENTRY * text.len() as u64, "the entries of a long line")
}

/// The rows of a chunk under way.
struct Rows {
    width: usize,
    current: Vec<f64>,
    values: Vec<f64>,
    texts: Vec<Vec<Box<str>>>,
    codes: HashMap<(usize, String), usize>,
}

impl Rows {
    fn value(&mut self, c: usize, cell: Cell) -> Result<()> {
        self.current[c] = match cell {
            Cell::Number(number) => number,
            Cell::Text(text) => {
                let next = self.texts[c].len();
                let code = *self.codes.entry((c, text)).or_insert_with_key(|(c, text)| {
                    self.texts[*c].push(text.as_str().into());
                    next
                });
                code as f64
            }
        };
        Ok(())
    }

    fn end_row(&mut self) {
        self.values.extend_from_slice(&self.current);
        self.current.fill(f64::NAN);
    }
}

impl Schema for Jsonl {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn blank(&self, column: usize) -> bool {
        self.blank[column]
    }

    fn fingerprint(&self) -> u64 {
        let mut print = self.feed.fingerprint();
        self.columns.iter().for_each(|column| print.bytes(column.name.as_bytes()));
        print.finish()
    }
}

impl ChunkReader for Jsonl {
    fn next(&mut self) -> Result<Option<Chunk>> {
        let Some(text) = self.feed.next()? else { return Ok(None) };
        let _work = work(&text, &self.place)?;
        let width = self.columns.len();
        // Each line has a number for every key, whether it names it or not.
        let lines = memchr::memchr_iter(b'\n', &text).count() as u64 + 1;
        let bytes = 16 * lines * width as u64;
        let _numbers = self.place.meter.take(bytes, "the numbers of some lines")?;
        let mut rows = Rows {
            width,
            current: vec![f64::NAN; width],
            values: Vec::new(),
            texts: vec![Vec::new(); width],
            codes: HashMap::new(),
        };
        self.keys.lines(&text, &mut self.line, &mut rows, Rows::value, |rows, _| {
            rows.end_row();
            Ok(())
        })?;
        let Rows { width, values, texts, .. } = rows;
        Ok(Some(Chunk { rows: values.len() / width, values: ChunkValues::F64(values), texts }))
    }

    fn bytes(&self) -> u64 {
        (1 + ENTRY) * self.place.chunk().min(CHUNK) as u64
    }
}
