//! Sparse svm text, row by row; the label is the target.
//!
//! The number of features must be known before the first row, so a file is gone through once for
//! its largest index; on standard input the first lines say it.

use keepnet::{Error, Result};

use crate::formats::chunk::{CHUNK, Chunk, ChunkReader, ChunkValues};
use crate::formats::feed::Feed;
use crate::formats::svm::table::{ENTRY, LABEL, rows};
use crate::formats::table::Schema;
use crate::formats::text::count_lines;
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::memory::Charge;
use crate::store::Place;

struct Svm {
    feed: Feed,
    columns: Vec<ColumnInfo>,
    base: u32,
    line: u64,
    pipe: bool,
    place: Place,
    _described: Charge,
}

/// Rows looked at on standard input before the number of features is settled.
const HEAD: usize = 256;

pub(crate) fn open(path: &str, place: &Place) -> Result<Box<dyn ChunkReader>> {
    let pipe = path == "-";
    let mut feed = Feed::open(path, false, place)?;
    let (mut least, mut end) = (u32::MAX, 0);
    let mut look = |text: &[u8], line: u64| -> Result<()> {
        let _work = work(text, place)?;
        let found = rows(text).map_err(|(at, what)| {
            Error::Data(format!("line {}: {what}", line + count_lines(&text[..at])))
        })?;
        least = found.2.iter().copied().min().unwrap_or(u32::MAX).min(least);
        end = found.2.iter().map(|j| j + 1).max().unwrap_or(0).max(end);
        Ok(())
    };
    if pipe {
        let text = feed.head(HEAD)?;
        look(&text, 1)?;
        feed.put_back(text);
    } else {
        let mut line = 1;
        while let Some(text) = feed.next()? {
            look(&text, line)?;
            line += count_lines(&text);
        }
        feed = Feed::open(path, false, place)?;
    }
    // Rows of nothing but zeros name no feature: they are those of the other files.
    let base = u32::from(least > 0).min(end);
    let _described = place.row_columns(u64::from(end - base))?;
    let names = std::iter::once(LABEL.to_string()).chain((base..end).map(|j| j.to_string()));
    let columns = names.map(|name| ColumnInfo::of((name, ColumnKind::Float))).collect();
    let (line, place) = (1, place.clone());
    Ok(Box::new(Svm { feed, columns, base, line, pipe, place, _described }))
}

/// Room for the entries of a long text.
fn work(text: &[u8], place: &Place) -> Result<Charge> {
    place.long(text, || ENTRY * text.len() as u64, "the entries of a long line")
}

impl Schema for Svm {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn labels(&self) -> Vec<usize> {
        vec![0]
    }

    fn open_ended(&self) -> bool {
        true
    }

    fn fingerprint(&self) -> u64 {
        let mut print = self.feed.fingerprint();
        print.number(self.columns.len() as u64);
        print.finish()
    }
}

impl ChunkReader for Svm {
    fn next(&mut self) -> Result<Option<Chunk>> {
        let Some(text) = self.feed.next()? else { return Ok(None) };
        let _work = work(&text, &self.place)?;
        let (labels, ends, mut index, value) = rows(&text).map_err(|(at, what)| {
            Error::Data(format!("line {}: {what}", self.line + count_lines(&text[..at])))
        })?;
        self.line += count_lines(&text);
        let features = self.columns.len() as u32 - 1;
        for j in &mut index {
            let at = j.checked_sub(self.base).filter(|at| *at < features);
            *j = at.ok_or_else(|| {
                let advice = if self.pipe { "; give the rows as a file" } else { "" };
                Error::Data(format!("feature {j} was not among the first {HEAD} rows{advice}"))
            })?;
        }
        let rows = labels.len();
        let values = ChunkValues::Sparse { labels, ends, index, value };
        Ok(Some(Chunk { rows, values, texts: Vec::new() }))
    }

    fn bytes(&self) -> u64 {
        (1 + ENTRY) * self.place.chunk().min(CHUNK) as u64
    }
}
