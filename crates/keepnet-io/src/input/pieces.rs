//! Chosen columns of an input, a piece of its rows after the other.
//!
//! Text files that stack as rows are read as a stream, and nothing is held but a piece. Of files
//! that hold columns, and of files side by side, only the chosen columns are read; where these
//! are more than a piece may hold, each piece reads them again.

use keepnet::{ColumnBlock, Result};

use crate::formats::chunk::Chunk;
use crate::formats::table::Schema;
use crate::input::dataset::{Dataset, open};
use crate::input::names::unknown;
use crate::input::resolve::resolve;
use crate::input::row_files::RowFiles;
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::input::series::SeriesValues;
use crate::{OpenOptions, Stack};

/// Values of a piece of a stream.
const STREAMED: usize = 1 << 20;
/// Bytes of a piece of columns, unless the options say otherwise.
const HELD: u64 = 256 << 20;

/// Chosen columns of an input, in pieces of rows.
pub struct Pieces {
    from: From,
    chosen: Vec<Chosen>,
    counted: Option<u64>,
    next: usize,
}

/// Rows of the chosen columns.
pub struct Piece {
    /// Place of the first one in the input.
    pub first: usize,
    /// How many there are.
    pub rows: usize,
    /// The columns in the order in which they were chosen.
    pub columns: Vec<SeriesValues>,
}

enum From {
    Stream(Box<RowFiles>),
    Table(Box<Dataset>),
}

/// Where a chosen column is.
#[derive(Clone, Copy)]
enum Chosen {
    Number(usize),
    Text(usize),
    /// Past the end of a sparse file: all zero.
    Zero,
}

/// Opens files, or `-`, to read the columns of these names.
pub fn open_pieces(inputs: &[String], names: &[&str], options: &OpenOptions) -> Result<Pieces> {
    let files = resolve(inputs, options)?;
    let piped = files.iter().any(|file| file.path == "-");
    let streamed = piped || files.iter().all(|file| file.format.is_text());
    let several = files.len() > 1;
    let from = match streamed && options.stack != Some(Stack::Columns) {
        false => From::Table(Box::new(open(inputs, options)?)),
        true => match RowFiles::open(files, options) {
            Ok(files) => From::Stream(Box::new(files)),
            Err(error) if piped || !several => return Err(error),
            // They may be side by side.
            Err(_) => From::Table(Box::new(open(inputs, options)?)),
        },
    };
    let (columns, open_ended, paths) = match &from {
        From::Stream(files) => (files.columns(), files.schema().open_ended(), &files.paths),
        From::Table(table) => (table.columns(), table.table.open_ended(), &table.files),
    };
    let chosen = names.iter().map(|name| choose(name, columns, open_ended));
    let chosen = chosen.collect::<Result<_>>().map_err(|e| e.at(paths.join(", ")))?;
    Ok(Pieces { from, chosen, counted: None, next: 0 })
}

fn choose(name: &str, columns: &[ColumnInfo], open_ended: bool) -> Result<Chosen> {
    match columns.iter().position(|column| column.name == name) {
        Some(at) => {
            columns[at].readable()?;
            Ok(match columns[at].kind {
                ColumnKind::Text => Chosen::Text(at),
                _ => Chosen::Number(at),
            })
        }
        None if open_ended && name.parse::<u64>().is_ok() => Ok(Chosen::Zero),
        None => Err(unknown(name, columns.iter().map(|c| c.name.as_str()))),
    }
}

impl Pieces {
    /// Rows of the input; where that is not known beforehand they are counted, in a pass of its
    /// own.
    pub fn count(&mut self) -> Result<u64> {
        let known = match &self.from {
            From::Stream(files) => files.rows(),
            From::Table(table) => Some(table.rows() as u64),
        };
        if let Some(rows) = known.or(self.counted) {
            return Ok(rows);
        }
        let From::Stream(files) = &mut self.from else { unreachable!("a table knows its rows") };
        let mut rows = 0;
        while let Some(chunk) = files.next()? {
            rows += chunk.rows as u64;
        }
        files.rewind()?;
        self.counted = Some(rows);
        Ok(rows)
    }

    /// Whether the column chosen at this place is text.
    #[must_use]
    pub fn is_text(&self, at: usize) -> bool {
        matches!(self.chosen[at], Chosen::Text(_))
    }

    /// The next piece; `None` at the end.
    pub fn next_piece(&mut self) -> Result<Option<Piece>> {
        let first = self.next;
        let columns = match &mut self.from {
            From::Stream(files) => stream(files, &self.chosen)?,
            From::Table(table) => held(table, &self.chosen, first)?,
        };
        Ok(columns.map(|(rows, columns)| {
            self.next += rows;
            Piece { first, rows, columns }
        }))
    }
}

type Columns = Option<(usize, Vec<SeriesValues>)>;

fn empty(chosen: &[Chosen]) -> Vec<SeriesValues> {
    let column = |chosen: &Chosen| match chosen {
        Chosen::Text(_) => SeriesValues::Text(Vec::new()),
        _ => SeriesValues::Numbers { values: Vec::new(), integral: false, boolean: false },
    };
    chosen.iter().map(column).collect()
}

/// Chunks of a stream until they are a piece.
fn stream(files: &mut RowFiles, chosen: &[Chosen]) -> Result<Columns> {
    let (mut columns, mut rows) = (empty(chosen), 0);
    while rows * chosen.len().max(1) < STREAMED {
        let Some(chunk) = files.next()? else { break };
        let width = files.columns().len();
        for (chosen, column) in chosen.iter().zip(&mut columns) {
            add(&chunk, width, *chosen, rows, column).map_err(|e| files.here(e))?;
        }
        rows += chunk.rows;
    }
    Ok((rows > 0).then_some((rows, columns)))
}

/// Adds the rows of a chunk to a column.
fn add(
    chunk: &Chunk,
    width: usize,
    chosen: Chosen,
    first: usize,
    column: &mut SeriesValues,
) -> Result<()> {
    match (chosen, column) {
        (Chosen::Text(c), SeriesValues::Text(texts)) => {
            for at in 0..chunk.rows {
                let code = chunk.number(at, c, width);
                let text = || chunk.text(c, code, (first + at) as u64).map(String::from);
                texts.push((!code.is_nan()).then(text).transpose()?);
            }
        }
        (Chosen::Number(c), SeriesValues::Numbers { values, .. }) => {
            values.extend((0..chunk.rows).map(|at| chunk.number(at, c, width)));
        }
        (_, SeriesValues::Numbers { values, .. }) => values.resize(values.len() + chunk.rows, 0.0),
        (_, SeriesValues::Text(texts)) => texts.resize(texts.len() + chunk.rows, None),
    }
    Ok(())
}

/// Rows of the columns of a table, as many as fit.
fn held(dataset: &Dataset, chosen: &[Chosen], first: usize) -> Result<Columns> {
    let (table, memory) = (&dataset.table, dataset.options.memory.unwrap_or(HELD));
    let most = (memory / (8 * chosen.len().max(1) as u64)).max(1);
    let rows = (table.rows() - first).min(most as usize);
    if rows == 0 {
        return Ok(None);
    }
    let (mut spare, mut read) = (ColumnBlock::new(1), Vec::with_capacity(1));
    let mut values = vec![0.0; table.rows()];
    let mut column = |chosen: &Chosen| -> Result<SeriesValues> {
        let at = match *chosen {
            Chosen::Text(at) => {
                return Ok(match table.series(at)? {
                    SeriesValues::Text(all) => {
                        SeriesValues::Text(all.into_iter().skip(first).take(rows).collect())
                    }
                    // A column without a value, whose kind is a guess.
                    SeriesValues::Numbers { .. } => SeriesValues::Text(vec![None; rows]),
                });
            }
            Chosen::Number(at) => Some(at),
            Chosen::Zero => None,
        };
        match at {
            Some(at) => {
                table.read(&[at], &mut spare, &mut read)?;
                let data = read.pop().expect("a column was read");
                data.view().fill(&mut values);
            }
            None => values.fill(0.0),
        }
        let values = values[first..first + rows].to_vec();
        Ok(SeriesValues::Numbers { values, integral: false, boolean: false })
    };
    let columns = chosen.iter().map(|chosen| {
        let file = |at: usize| dataset.files[table.columns()[at].file as usize].clone();
        column(chosen).map_err(|e| match *chosen {
            Chosen::Text(at) | Chosen::Number(at) => e.at(file(at)),
            Chosen::Zero => e,
        })
    });
    Ok(Some((rows, columns.collect::<Result<_>>()?)))
}
