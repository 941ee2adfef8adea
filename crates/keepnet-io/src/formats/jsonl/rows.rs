//! JSON lines, row by row: the keys of the first line are the columns, and the first values that
//! are not null in the first rows say what they hold.

use std::collections::HashMap;

use keepnet::{Error, Result};
use serde_json::Value;

use crate::formats::chunk::{CHUNK, Chunk, ChunkReader, ChunkValues};
use crate::formats::feed::Feed;
use crate::formats::jsonl::table::{ENTRY, Row};
use crate::input::dataset::ColumnKind;
use crate::input::names::check_unique;
use crate::memory::Charge;
use crate::store::Place;

struct Jsonl {
    feed: Feed,
    columns: Vec<(String, ColumnKind)>,
    place: HashMap<String, usize>,
    /// Columns that are null throughout the first rows.
    blank: Vec<bool>,
    waiting: Option<Vec<u8>>,
    line: u64,
    limits: Place,
    _described: Charge,
}

pub(crate) fn open(path: &str, limits: &Place) -> Result<Box<dyn ChunkReader>> {
    let mut feed = Feed::open(path, false, limits)?;
    let text = feed.head(1)?;
    let _work = work(&text, limits)?;
    let mut lines = text.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let first = lines.next().ok_or_else(|| Error::Data("the file has no rows".into()))?;
    let first = object(first).map_err(|what| Error::Data(format!("line 1: {what}")))?;
    let _described = limits.row_columns(first.len() as u64)?;
    let mut kinds: Vec<_> = first.iter().map(|(_, value)| kind(value)).collect();
    check_unique(first.iter().map(|(name, _)| name.as_str()))?;
    let place: HashMap<String, usize> =
        first.iter().enumerate().map(|(c, (name, _))| (name.clone(), c)).collect();
    // A line that cannot be read is reported when its turn comes.
    while kinds.contains(&None)
        && let Some(Ok(row)) = lines.next().map(object)
    {
        for (name, value) in &row {
            if let Some(known) = place.get(name).map(|c| &mut kinds[*c]).filter(|k| k.is_none()) {
                *known = kind(value);
            }
        }
    }
    let blank = kinds.iter().map(Option::is_none).collect();
    let kinds = kinds.into_iter().map(|kind| kind.unwrap_or(ColumnKind::Float));
    let columns = first.into_iter().map(|(name, _)| name).zip(kinds).collect();
    let (waiting, line, limits) = (Some(text), 0, limits.clone());
    Ok(Box::new(Jsonl { feed, columns, place, blank, waiting, line, limits, _described }))
}

/// What a value says of its column; null says nothing.
fn kind(value: &Value) -> Option<ColumnKind> {
    match value {
        Value::Null => None,
        Value::Bool(_) => Some(ColumnKind::Bool),
        Value::String(_) => Some(ColumnKind::Text),
        _ => Some(ColumnKind::Float),
    }
}

/// Room for the entries of a text, where it is longer than a chunk.
fn work(text: &[u8], place: &Place) -> Result<Option<Charge>> {
    if text.len() <= 2 * place.chunk() {
        return Ok(None);
    }
    place.meter.take(ENTRY * text.len() as u64, "the entries of a long line").map(Some)
}

fn object(line: &[u8]) -> Result<Vec<(String, Value)>, String> {
    let Row(entries) = serde_json::from_slice(line).map_err(|e| e.to_string())?;
    Ok(entries)
}

impl Jsonl {
    fn row(
        &self,
        line: &[u8],
        row: &mut [f64],
        texts: &mut [Vec<Box<str>>],
        codes: &mut HashMap<(usize, String), usize>,
    ) -> Result<(), String> {
        for (key, value) in object(line)? {
            let c = *self.place.get(&key).ok_or_else(|| {
                format!("key {key:?} was not in the first line, which names the columns")
            })?;
            row[c] = match value {
                Value::Null => f64::NAN,
                Value::Bool(_) | Value::Number(_) if self.columns[c].1 == ColumnKind::Text => {
                    return Err(format!("key {key:?} holds no text, as it did before"));
                }
                Value::Bool(b) => f64::from(u8::from(b)),
                Value::Number(n) => n.as_f64().unwrap_or(f64::NAN),
                Value::String(s) if self.columns[c].1 == ColumnKind::Text => {
                    let next = texts[c].len();
                    let code = *codes.entry((c, s)).or_insert_with_key(|(c, s)| {
                        texts[*c].push(s.as_str().into());
                        next
                    });
                    code as f64
                }
                _ => return Err(format!("key {key:?} holds no number")),
            };
        }
        Ok(())
    }
}

impl ChunkReader for Jsonl {
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
        let _work = work(&text, &self.limits)?;
        let p = self.columns.len();
        // Each line has a number for every key of the first, whether it names it or not.
        let lines = memchr::memchr_iter(b'\n', &text).count() as u64 + 1;
        let bytes = 16 * lines * p as u64;
        let _numbers = self.limits.meter.take(bytes, "the numbers of some lines")?;
        let (mut values, mut codes) = (Vec::new(), HashMap::new());
        let mut texts = vec![Vec::new(); p];
        for line in text.strip_suffix(b"\n").unwrap_or(&text).split(|b| *b == b'\n') {
            if text.is_empty() {
                break;
            }
            self.line += 1;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let at = values.len();
            values.resize(at + p, f64::NAN);
            self.row(line, &mut values[at..], &mut texts, &mut codes)
                .map_err(|what| Error::Data(format!("line {}: {what}", self.line)))?;
        }
        let rows = values.len() / p.max(1);
        Ok(Some(Chunk { rows, values: ChunkValues::F64(values), texts }))
    }

    fn blank(&self, column: usize) -> bool {
        self.blank[column]
    }

    fn fingerprint(&self) -> u64 {
        let mut print = self.feed.fingerprint();
        self.columns.iter().for_each(|(name, _)| print.bytes(name.as_bytes()));
        print.finish()
    }

    fn bytes(&self) -> u64 {
        (1 + ENTRY) * self.limits.chunk().min(CHUNK) as u64
    }
}
