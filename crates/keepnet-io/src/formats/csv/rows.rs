//! CSV and TSV, row by row.

use keepnet::{Error, Result};

use crate::formats::chunk::{CHUNK, Chunk, ChunkReader, ChunkValues};
use crate::formats::csv::head::{Head, no_rows};
use crate::formats::csv::parse::{Kind, Shape, parse};
use crate::formats::feed::Feed;
use crate::formats::table::Schema;
use crate::formats::text::count_lines;
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::memory::Charge;
use crate::store::Place;

struct Csv {
    feed: Feed,
    separator: u8,
    names: Vec<String>,
    kinds: Vec<Kind>,
    columns: Vec<ColumnInfo>,
    unnamed: bool,
    line: u64,
    place: Place,
    _described: Charge,
}

pub(crate) fn open(path: &str, separator: u8, place: &Place) -> Result<Box<dyn ChunkReader>> {
    let mut feed = Feed::open(path, true, place)?;
    let mut text = feed.head(2)?;
    let _work = work(&text, separator, place)?;
    let head = Head::take(&mut text, separator, |columns| place.row_columns(columns))?;
    let Head { names, unnamed, line, separator, described: _described } = head;
    // What the first rows hold settles what the columns hold.
    let kinds = Shape { separator, kinds: &[], names: &names }.codes(&text);
    let shape = Shape { separator, kinds: &kinds, names: &names };
    let first = loop {
        let first = parse(&text, &shape).map_err(|bad| bad.at(line))?;
        if !first.values.is_empty() {
            break first;
        }
        text.extend(feed.next()?.ok_or_else(no_rows)?);
    };
    let kinds = first.kinds;
    let kind = |kind: &Kind| match kind {
        Kind::Text => ColumnKind::Text,
        Kind::Bool => ColumnKind::Bool,
        Kind::Number | Kind::Unknown => ColumnKind::Float,
    };
    let columns = names.iter().cloned().zip(kinds.iter().map(kind)).map(ColumnInfo::of).collect();
    feed.put_back(text);
    let place = place.clone();
    Ok(Box::new(Csv { feed, separator, names, kinds, columns, unnamed, line, place, _described }))
}

/// Room for the numbers of a long text.
fn work(text: &[u8], separator: u8, place: &Place) -> Result<Charge> {
    let shape = Shape { separator, kinds: &[], names: &[] };
    place.long(text, || shape.work(text), "the numbers of a long line")
}

impl Csv {
    /// Whether the head said that a column is text.
    fn is_text(&self, column: usize) -> bool {
        self.columns[column].kind == ColumnKind::Text
    }
}

impl Schema for Csv {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn blank(&self, column: usize) -> bool {
        self.kinds[column] == Kind::Unknown
    }

    fn unnamed(&self) -> bool {
        self.unnamed
    }

    fn fingerprint(&self) -> u64 {
        let mut print = self.feed.fingerprint();
        self.names.iter().for_each(|name| print.bytes(name.as_bytes()));
        print.finish()
    }
}

impl ChunkReader for Csv {
    fn next(&mut self) -> Result<Option<Chunk>> {
        let Some(text) = self.feed.next()? else { return Ok(None) };
        let _work = work(&text, self.separator, &self.place)?;
        let shape = Shape { separator: self.separator, kinds: &self.kinds, names: &self.names };
        let parsed = parse(&text, &shape).map_err(|bad| bad.at(self.line))?;
        self.line += count_lines(&text);
        for (c, kind) in parsed.kinds.iter().enumerate() {
            // Its places in a list of texts must not be taken for numbers.
            if self.kinds[c] == Kind::Unknown && *kind == Kind::Text && !self.is_text(c) {
                return Err(Error::Data(format!(
                    "column {:?} has no value in the first rows and text in later ones; leave it \
                     out with --exclude {:?}",
                    self.names[c], self.names[c]
                )));
            }
        }
        self.kinds = parsed.kinds;
        let rows = parsed.values.len() / self.names.len();
        let values = ChunkValues::F64(parsed.values);
        Ok(Some(Chunk { rows, values, texts: parsed.texts }))
    }

    fn bytes(&self) -> u64 {
        // Text, its numbers (a number in two bytes at most), and the next text.
        6 * self.place.chunk().min(CHUNK) as u64
    }
}
