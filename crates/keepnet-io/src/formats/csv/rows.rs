//! CSV and TSV, row by row.

use keepnet::{Error, Result};

use crate::formats::chunk::{CHUNK, Chunk, ChunkReader, ChunkValues};
use crate::formats::csv::parse::{Kind, Shape, parse};
use crate::formats::feed::Feed;
use crate::formats::text::count_lines;
use crate::input::dataset::ColumnKind;
use crate::input::names::check_unique;
use crate::memory::Charge;
use crate::store::Place;

struct Csv {
    feed: Feed,
    separator: u8,
    names: Vec<String>,
    kinds: Vec<Kind>,
    columns: Vec<(String, ColumnKind)>,
    // Text already read while the head was looked at.
    waiting: Option<Vec<u8>>,
    line: u64,
    place: Place,
    _described: Charge,
}

pub(crate) fn open(path: &str, separator: u8, place: &Place) -> Result<Box<dyn ChunkReader>> {
    let mut feed = Feed::open(path, true, place)?;
    let mut text = feed.head(2)?;
    let blank = text.iter().take_while(|b| matches!(b, b'\n' | b'\r')).count();
    let mut line = 1 + count_lines(&text[..blank]);
    text.drain(..blank);
    if text.is_empty() {
        return Err(Error::Data("the file has no rows".into()));
    }
    let shape = Shape { separator, kinds: &[], names: &[] };
    let _described = place.row_columns(shape.width(&text))?;
    let _work = work(&text, separator, place)?;
    let (fields, used) = shape.fields(&text);
    let kinds: Vec<_> = fields.iter().map(|field| Kind::of(field)).collect();
    let unnamed = kinds.contains(&Some(Kind::Number))
        && kinds.iter().all(|kind| matches!(kind, None | Some(Kind::Number)));
    let names: Vec<String> = match unnamed {
        true => (0..fields.len()).map(|j| format!("f{j}")).collect(),
        false => {
            let name = |(j, field): (usize, String)| match field.is_empty() {
                true => format!("column{j}"),
                false => field,
            };
            fields.into_iter().enumerate().map(name).collect()
        }
    };
    if !unnamed {
        line += count_lines(&text[..used]);
        text.drain(..used);
    }
    check_unique(names.iter().map(String::as_str))?;
    // What the first rows hold settles what the columns hold.
    let kinds = vec![Kind::Unknown; names.len()];
    let first = parse(&text, &Shape { separator, kinds: &kinds, names: &names });
    let kinds = first.map_err(|bad| bad.at(line))?.kinds;
    let kind = |kind: &Kind| match kind {
        Kind::Text => ColumnKind::Text,
        Kind::Bool => ColumnKind::Bool,
        Kind::Number | Kind::Unknown => ColumnKind::Float,
    };
    let columns = names.iter().cloned().zip(kinds.iter().map(kind)).collect();
    let (waiting, place) = (Some(text), place.clone());
    Ok(Box::new(Csv { feed, separator, names, kinds, columns, waiting, line, place, _described }))
}

/// Room for the numbers of a text, where it is longer than a chunk.
fn work(text: &[u8], separator: u8, place: &Place) -> Result<Option<Charge>> {
    if text.len() <= 2 * place.chunk() {
        return Ok(None);
    }
    let shape = Shape { separator, kinds: &[], names: &[] };
    place.meter.take(shape.work(text), "the numbers of a long line").map(Some)
}

impl Csv {
    /// Whether the head said that a column is text.
    fn is_text(&self, column: usize) -> bool {
        self.columns[column].1 == ColumnKind::Text
    }
}

impl ChunkReader for Csv {
    fn columns(&self) -> &[(String, ColumnKind)] {
        &self.columns
    }

    fn next(&mut self) -> Result<Option<Chunk>> {
        let text = match self.waiting.take() {
            Some(text) => text,
            None => match self.feed.next()? {
                Some(text) => text,
                None => return Ok(None),
            },
        };
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

    fn blank(&self, column: usize) -> bool {
        self.kinds[column] == Kind::Unknown
    }

    fn fingerprint(&self) -> u64 {
        let mut print = self.feed.fingerprint();
        self.names.iter().for_each(|name| print.bytes(name.as_bytes()));
        print.finish()
    }

    fn bytes(&self) -> u64 {
        // Text, its numbers (a number in two bytes at most), and the next text.
        6 * self.place.chunk().min(CHUNK) as u64
    }
}
