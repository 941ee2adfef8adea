//! CSV and TSV: parsed in parallel by chunks of lines and transposed as they are parsed.
//!
//! The first line names the columns, unless all of it is numbers (then `f0`, `f1`, ...). A
//! column is text if its first value that is not missing is no number; later text in a column
//! of numbers is an error with its line. A column of the first chunk with a whole number that begins
//! with a zero, as the zip code 00999, is text. Empty, `NA`, `NaN` and `null` are missing.
//!
//! A number is parsed where it stands and the separator is looked for after it, so that each
//! byte is touched once. Text columns are stored as codes into a list of their values.

use std::sync::Arc;

use keepnet::Result;
use rayon::prelude::*;

use crate::formats::csv::head::{Head, no_rows};
use crate::formats::csv::parse::{Kind, Parsed, Shape, parse};
use crate::formats::row_table::{Levels, RowTable};
use crate::formats::table::Table;
use crate::formats::text::{TextInput, count_lines};
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::memory::Charge;
use crate::store::{DenseBuilder, DenseStore, Place, Tile};

/// Reads and transposes a file of values separated by `separator`.
pub(crate) fn open(path: &str, separator: u8, place: &Place) -> Result<Arc<dyn Table>> {
    Reader::new(path, separator, place)?.read()
}

struct Reader {
    input: TextInput,
    separator: u8,
    place: Place,
    names: Vec<String>,
    kinds: Vec<Kind>,
    levels: Vec<Levels>,
    unnamed: bool,
    line: u64,
    // What the names, and the texts, take.
    described: Option<Charge>,
    texts: Charge,
}

impl Reader {
    fn new(path: &str, separator: u8, place: &Place) -> Result<Self> {
        let input = TextInput::open(path, place, place.chunk(), true)?;
        let texts = place.meter.take(0, "")?;
        let (names, kinds, levels) = (Vec::new(), Vec::new(), Vec::new());
        let (place, unnamed) = (place.clone(), false);
        let (line, described) = (1, None);
        Ok(Self { input, separator, place, names, kinds, levels, unnamed, line, described, texts })
    }

    fn read(mut self) -> Result<Arc<dyn Table>> {
        let mut first = self.input.next()?.ok_or_else(no_rows)?;
        self.header(&mut first)?;
        let mut builder = DenseBuilder::new(self.place.clone());
        // The first chunk alone: it settles what nearly every column holds.
        self.take(&mut builder, vec![first])?;
        loop {
            let mut batch = Vec::new();
            while batch.len() < rayon::current_num_threads() {
                match self.input.next()? {
                    Some(text) => batch.push(text),
                    None => break,
                }
            }
            if batch.is_empty() {
                break;
            }
            self.take(&mut builder, batch)?;
        }
        let store = builder.finish();
        if store.rows() == 0 {
            return Err(no_rows());
        }
        Ok(Arc::new(self.table(store)))
    }

    /// Takes the header off the first chunk, or makes names where there is none.
    fn header(&mut self, text: &mut Vec<u8>) -> Result<()> {
        let head = Head::take(text, self.separator, |columns| self.place.columns(columns))?;
        self.separator = head.separator;
        self.kinds =
            Shape { separator: self.separator, kinds: &[], names: &head.names }.codes(text);
        self.levels = head.names.iter().map(|_| Levels::default()).collect();
        (self.names, self.unnamed, self.line) = (head.names, head.unnamed, head.line);
        self.described = Some(head.described);
        Ok(())
    }

    /// Parses chunks in parallel and stores them in order.
    fn take(&mut self, builder: &mut DenseBuilder, batch: Vec<Vec<u8>>) -> Result<()> {
        let (separator, columns) = (self.separator, self.names.len());
        let shape = Shape { separator, kinds: &[], names: &[] };
        let long = batch.iter().filter(|text| text.len() > 2 * self.place.chunk());
        let work = long.map(|text| shape.work(text)).sum();
        let _work = self.place.meter.take(work, "the numbers of a long line")?;
        let one = |text: &Vec<u8>, kinds: &[Kind], names: &[String]| {
            let parsed = parse(text, &Shape { separator, kinds, names })?;
            let tile = Tile::new(&parsed.values, columns);
            Ok((Parsed { values: Vec::new(), ..parsed }, tile))
        };
        let kinds = self.kinds.clone();
        let parsed: Vec<Result<_, _>> =
            batch.par_iter().map(|text| one(text, &kinds, &self.names)).collect();
        for (text, mut result) in batch.iter().zip(parsed) {
            if self.kinds != kinds {
                // An earlier chunk settled what a column holds: read this one by that.
                result = one(text, &self.kinds, &self.names);
            }
            let (parsed, tile) =
                result.map_err(|e: crate::formats::csv::parse::Bad| e.at(self.line))?;
            self.line += count_lines(text);
            let tile = match parsed.kinds.contains(&Kind::Text) {
                true => self.recode(&parsed, tile)?,
                false => tile,
            };
            self.kinds = parsed.kinds;
            builder.push(tile)?;
        }
        Ok(())
    }

    /// Turns a chunk's own text codes into those of the whole column.
    fn recode(&mut self, parsed: &Parsed, tile: Tile) -> Result<Tile> {
        let mut maps: Vec<Vec<f64>> = Vec::with_capacity(parsed.texts.len());
        for (levels, texts) in self.levels.iter_mut().zip(&parsed.texts) {
            let mut map = Vec::with_capacity(texts.len());
            for text in texts {
                map.push(f64::from(levels.code(text.clone(), &mut self.texts)?));
            }
            maps.push(map);
        }
        Ok(tile.recode(self.names.len(), |c, column| {
            if parsed.kinds[c] == Kind::Text {
                for v in column.iter_mut().filter(|v| !v.is_nan()) {
                    *v = maps[c][*v as usize];
                }
            }
        }))
    }

    fn table(self, store: DenseStore) -> RowTable {
        let mut print = self.input.fingerprint();
        self.names.iter().for_each(|name| print.bytes(name.as_bytes()));
        let kind = |c: usize| match self.kinds[c] {
            Kind::Text => ColumnKind::Text,
            Kind::Bool => ColumnKind::Bool,
            Kind::Number if store.integral(c) => ColumnKind::Int,
            Kind::Number | Kind::Unknown => ColumnKind::Float,
        };
        let unknown = |c: &usize| self.kinds[*c] == Kind::Unknown;
        let blank = (0..self.kinds.len()).filter(unknown).collect();
        let columns = self.names.into_iter().enumerate();
        let columns =
            columns.map(|(c, name)| ColumnInfo { name, kind: kind(c), file: 0 }).collect();
        let levels = self.levels.into_iter().map(Levels::list).collect();
        let _charges = self.described.into_iter().chain([self.texts]).collect();
        let (fingerprint, unnamed, meter) = (print.finish(), self.unnamed, self.place.meter);
        RowTable { store, columns, levels, blank, fingerprint, unnamed, meter, _charges }
    }
}
