//! A result on other data: its columns, and what its model predicts.
//!
//! Rows come in pieces and leave in pieces; nothing grows with their number, except where columns
//! are read from files that hold columns, of which one is held at a time.

use std::io::BufWriter;

use keepnet::{ColumnData, Error, Result};
use keepnet_io::sink::{Cells, Field, FieldKind, Pieced};
use keepnet_io::{Origin, Piece, SeriesValues, open_pieces};

use crate::model::Model;
use crate::outputs::atomic::{self, Pending};
use crate::outputs::inputs::Inputs;
use crate::outputs::{self, STDOUT};
use crate::request::ApplyRequest;
use crate::result::saved::{Saved, SavedFeature};

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
}

/// Writes the kept columns of other data, as the result has them: those always kept, then the
/// others, best first.
pub fn apply(request: &ApplyRequest) -> Result<Written> {
    let saved = Saved::read(&request.result, request.target.as_deref())?;
    let features: Vec<&SavedFeature> = saved.features().collect();
    if features.is_empty() {
        let error = Error::Data("it keeps no feature, so there is nothing to apply".into());
        return Err(error.at(request.result.display()));
    }
    let key = request.key();
    let mut wanted = Wanted::new(&key);
    let terms: Vec<Term<'_>> = features.iter().map(|f| Term::new(f, &mut wanted)).collect();
    let fields = terms.iter().map(|term| (term.name.to_string(), FieldKind::F64)).collect();
    write(request, &wanted, fields, |piece| {
        terms
            .iter()
            .map(|term| Ok(Cells::Numbers(ColumnData::dense(term.values(piece)?))))
            .collect()
    })
}

/// Writes what the result's model predicts: a number a row; or a class, its decision values, and
/// probabilities under the logistic loss.
pub fn predict(request: &ApplyRequest) -> Result<Written> {
    let saved = Saved::read(&request.result, request.target.as_deref())?;
    let model = Model::new(&saved).map_err(|e| e.at(request.result.display()))?;
    let key = request.key();
    let mut wanted = Wanted::new(&key);
    let mut terms: Vec<(Term<'_>, &[f64])> = Vec::new();
    for feature in saved.features() {
        terms.push((Term::new(feature, &mut wanted), feature.coefficient.values()));
    }
    for covariate in &saved.covariates {
        let term = Term::plain("covariate", &covariate.name, &mut wanted);
        terms.push((term, covariate.coefficient.values()));
    }
    if let Some(offset) = &saved.offset {
        // A file of the training rows says nothing of other rows, but its column may be here.
        let name = offset.rsplit_once(':').map_or(offset.as_str(), |(_, column)| column);
        terms.push((Term::plain("offset", name, &mut wanted), model.ones()));
    }
    write(request, &wanted, model.fields(), |piece| {
        let mut margins = model.start(piece.rows);
        for (term, coefficients) in &terms {
            let values = term.values(piece)?;
            for (margin, coefficient) in margins.iter_mut().zip(*coefficients) {
                margin.iter_mut().zip(&values).for_each(|(m, x)| *m = coefficient.mul_add(*x, *m));
            }
        }
        Ok(model.cells(margins))
    })
}

/// The columns to read, each once; those of the key come first.
struct Wanted<'a> {
    names: Vec<&'a str>,
    keys: usize,
}

impl<'a> Wanted<'a> {
    fn new(key: &'a [String]) -> Self {
        let mut wanted = Self { names: Vec::new(), keys: 0 };
        for name in key {
            wanted.place(name);
        }
        wanted.keys = wanted.names.len();
        wanted
    }

    fn place(&mut self, name: &'a str) -> usize {
        let known = self.names.iter().position(|other| *other == name);
        known.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }
}

/// A feature, covariate or offset as numbers out of a column.
struct Term<'a> {
    what: &'static str,
    name: &'a str,
    column: usize,
    fill: Option<f64>,
    made: Made<'a>,
}

/// How a column becomes numbers.
enum Made<'a> {
    Values,
    Level(&'a str),
    Codes(std::collections::HashMap<&'a str, f64>),
    Missing,
}

impl<'a> Term<'a> {
    fn new(feature: &'a SavedFeature, wanted: &mut Wanted<'a>) -> Self {
        let made = match &feature.origin {
            None => Made::Values,
            Some(Origin::Level { level, .. }) => Made::Level(level),
            Some(Origin::Missing { .. }) => Made::Missing,
            Some(Origin::Codes { levels, .. }) => {
                let code = |(code, level): (usize, &'a String)| (level.as_str(), code as f64);
                Made::Codes(levels.iter().enumerate().map(code).collect())
            }
        };
        let column = wanted.place(feature.column());
        Self { what: "feature", name: &feature.name, column, fill: feature.fill, made }
    }

    fn plain(what: &'static str, name: &'a str, wanted: &mut Wanted<'a>) -> Self {
        Self { what, name, column: wanted.place(name), fill: None, made: Made::Values }
    }

    /// Its values in the rows of a piece.
    fn values(&self, piece: &Piece) -> Result<Vec<f64>> {
        let column = &piece.columns[self.column];
        (0..piece.rows).map(|row| self.value(column, row, piece.first + row)).collect()
    }

    fn value(&self, column: &SeriesValues, at: usize, row: usize) -> Result<f64> {
        let wrong = |why: &str| {
            let Self { what, name, .. } = self;
            Err(Error::Data(format!("{what} {name:?} {why} at row {row}")))
        };
        let found = match (&self.made, column) {
            (Made::Missing, SeriesValues::Numbers { values, .. }) => {
                Some(f64::from(u8::from(!values[at].is_finite())))
            }
            (Made::Missing, SeriesValues::Text(text)) => {
                Some(f64::from(u8::from(text[at].is_none())))
            }
            (Made::Values, SeriesValues::Numbers { values, .. }) => {
                Some(values[at]).filter(|value| value.is_finite())
            }
            (Made::Values, SeriesValues::Text(text)) => match &text[at] {
                None => None,
                Some(_) => return wrong("is text where the result has a number,"),
            },
            (made, column) => match word(column, at) {
                None => None,
                Some(word) => match made {
                    Made::Codes(codes) => match codes.get(&*word) {
                        Some(code) => Some(*code),
                        None => {
                            let why = format!("has the level {word:?}, which the result has not,");
                            return wrong(&why);
                        }
                    },
                    Made::Level(level) => Some(f64::from(u8::from(*word == **level))),
                    Made::Values | Made::Missing => None,
                },
            },
        };
        match found.or(self.fill) {
            Some(value) => Ok(value),
            None => wrong(
                "is missing, and the result says no value for it (select with --missing mean or \
                 zero does),",
            ),
        }
    }
}

/// A cell of a category as text: a file of other rows may hold it as numbers.
fn word(column: &SeriesValues, at: usize) -> Option<std::borrow::Cow<'_, str>> {
    match column {
        SeriesValues::Text(text) => text[at].as_deref().map(Into::into),
        SeriesValues::Numbers { values, .. } if values[at].is_nan() => None,
        SeriesValues::Numbers { values, .. } => Some(values[at].to_string().into()),
    }
}

/// Writes the key, and what `make` gives for each piece of the wanted columns.
fn write(
    request: &ApplyRequest,
    wanted: &Wanted<'_>,
    made: Vec<(String, FieldKind)>,
    make: impl Fn(&Piece) -> Result<Vec<Cells>>,
) -> Result<Written> {
    let format = request.format_out()?;
    let counted = Pieced::counted(format)?;
    let output = Some(request.output.clone());
    let inputs = Inputs::default().with("INPUT", &request.inputs);
    let inputs = inputs.files("RESULT", [&request.result]);
    outputs::ready(&outputs::given([("output", &output)]), &inputs)?;
    let mut pieces = open_pieces(&request.inputs, &wanted.names, &request.options())?;
    let rows = if counted { pieces.count()? as usize } else { 0 };
    let keys = wanted.keys;
    let mut fields: Vec<Field> = Vec::with_capacity(keys + made.len());
    for (at, name) in wanted.names[..keys].iter().enumerate() {
        let kind = if pieces.is_text(at) { FieldKind::Text } else { FieldKind::F64 };
        fields.push(Field { name: (*name).into(), kind });
    }
    for (mut name, kind) in made {
        while fields[..keys].iter().any(|key| key.name == name) {
            name.push('_');
        }
        fields.push(Field { name, kind });
    }
    let mut written = Written { rows: 0, columns: fields.len() };
    let pending = match request.to_stdout() {
        true => None,
        false => Some(Pending::new(&request.output)?),
    };
    let failed = |error: Error| match (&pending, error) {
        (Some(pending), error @ Error::Io { .. }) => pending.failed(error),
        (None, Error::Io { source, .. }) => Error::io(STDOUT, source),
        (_, error) => error,
    };
    let out: keepnet_io::sink::Output = match &pending {
        Some(pending) => Box::new(pending.writer()?),
        None => Box::new(BufWriter::with_capacity(1 << 18, std::io::stdout())),
    };
    let mut sink = Pieced::new(format, out, rows, fields).map_err(&failed)?;
    while let Some(mut piece) = pieces.next_piece()? {
        let made = make(&piece).map_err(|e| e.at(request.inputs.join(", ")))?;
        let key = piece.columns.drain(..keys).map(|column| match column {
            SeriesValues::Numbers { values, .. } => Cells::Numbers(ColumnData::dense(values)),
            SeriesValues::Text(text) => {
                Cells::Text(text.into_iter().map(Option::unwrap_or_default).collect())
            }
        });
        let cells = key.chain(made).collect();
        sink.push(piece.rows, cells).map_err(&failed)?;
        written.rows += piece.rows;
    }
    sink.finish().map_err(&failed)?;
    if let Some(pending) = pending {
        atomic::publish(vec![pending])?;
    }
    Ok(written)
}
