//! The whole of such a table, held: it has few columns.
//!
//! The first line names the columns where it starts with FID, IID, #FID or #IID, or where a field
//! after the second is no number. Otherwise it is PLINK's old form: FID, IID, and columns `P1`, `P2`,
//! ... `NA`, `nan`, `.` and -9 are missing. FID and IID are text whatever they look like.

use std::sync::Arc;

use keepnet::{ColumnBlock, ColumnData, Error, Numbers, Result};

use crate::formats::table::{Fingerprint, Schema, Table};
use crate::formats::text::TextInput;
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::input::series::SeriesValues;
use crate::memory::Charge;
use crate::store::Place;

/// A column as it was read.
enum Values {
    Numbers(Vec<f64>),
    Text(Vec<Option<String>>),
}

struct Blanks {
    columns: Vec<ColumnInfo>,
    values: Vec<Values>,
    rows: usize,
    fingerprint: u64,
    _charges: Vec<Charge>,
}

pub(super) fn open(path: &str, place: &Place) -> Result<Arc<dyn Table>> {
    let mut input = TextInput::open(path, place, place.chunk(), false)?;
    let (mut names, mut values) = (Vec::new(), Vec::new());
    let mut charges = Vec::new();
    let (mut line, mut rows) = (0_u64, 0_usize);
    while let Some(bytes) = input.next()? {
        // A value of text takes some times its own bytes.
        charges.push(place.meter.take(12 * bytes.len() as u64, "its values")?);
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| Error::Data(format!("line {} or after is not UTF-8", line + 1)))?;
        for text in text.lines() {
            line += 1;
            let fields: Vec<&str> = text.split_ascii_whitespace().collect();
            if fields.is_empty() {
                continue;
            }
            if names.is_empty() {
                names = head(&fields)?;
                values = names.iter().map(|name| empty(name)).collect();
                if is_header(&fields) {
                    continue;
                }
            }
            if fields.len() != names.len() {
                let (got, want) = (fields.len(), names.len());
                return Err(Error::Data(format!("line {line} has {got} fields, expected {want}")));
            }
            fields.iter().zip(&mut values).for_each(|(field, values)| values.push(field));
            rows += 1;
        }
    }
    if rows == 0 {
        return Err(Error::Data("the file has no rows".into()));
    }
    let kind = |values: &Values| match values {
        Values::Text(_) => ColumnKind::Text,
        Values::Numbers(v) if v.iter().all(|v| v.trunc() == *v) => ColumnKind::Int,
        Values::Numbers(_) => ColumnKind::Float,
    };
    let columns = names.into_iter().zip(&values);
    let columns: Vec<ColumnInfo> =
        columns.map(|(name, values)| ColumnInfo { name, kind: kind(values), file: 0 }).collect();
    let fingerprint = print(&input, &columns);
    Ok(Arc::new(Blanks { columns, values, rows, fingerprint, _charges: charges }))
}

fn print(input: &TextInput, columns: &[ColumnInfo]) -> u64 {
    let mut print: Fingerprint = input.fingerprint();
    columns.iter().for_each(|column| print.bytes(column.name.as_bytes()));
    print.finish()
}

/// The names of the columns, by the first line.
fn head(fields: &[&str]) -> Result<Vec<String>> {
    if is_header(fields) {
        let first = fields[0].strip_prefix('#').unwrap_or(fields[0]);
        let names = std::iter::once(&first).chain(&fields[1..]).map(|name| (*name).to_string());
        let names: Vec<String> = names.collect();
        crate::input::names::check_unique(names.iter().map(String::as_str))?;
        return Ok(names);
    }
    if fields.len() < 3 {
        return Err(Error::Data(
            "the first line is no header, and without one there are FID, IID and a value".into(),
        ));
    }
    let more = (1..=fields.len() - 2).map(|at| format!("P{at}"));
    Ok(["FID", "IID"].map(String::from).into_iter().chain(more).collect())
}

fn is_header(fields: &[&str]) -> bool {
    matches!(fields[0], "FID" | "IID" | "#FID" | "#IID")
        || fields.iter().skip(2).any(|field| number(field).is_none())
}

fn number(text: &str) -> Option<f64> {
    crate::formats::bed::phenotype(text)
}

fn is_id(name: &str) -> bool {
    matches!(name, "FID" | "IID" | "SID")
}

fn empty(name: &str) -> Values {
    if is_id(name) { Values::Text(Vec::new()) } else { Values::Numbers(Vec::new()) }
}

impl Values {
    fn push(&mut self, text: &str) {
        match self {
            Self::Text(values) => values.push(Some(text.into()).filter(|_| text != "NA")),
            Self::Numbers(values) => match number(text) {
                Some(value) => values.push(value),
                // A column of text: the numbers before it are what their text says.
                None => {
                    let known = values.iter().map(|v| (!v.is_nan()).then(|| v.to_string()));
                    let text = known.chain([Some(text.to_string())]).collect();
                    *self = Self::Text(text);
                }
            },
        }
    }
}

impl Schema for Blanks {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

impl Table for Blanks {
    fn rows(&self) -> usize {
        self.rows
    }

    fn read(&self, at: &[usize], _: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        for c in at {
            let Values::Numbers(values) = &self.values[*c] else {
                return Err(Error::Data(format!("column {:?} is text", self.columns[*c].name)));
            };
            out.push(ColumnData::integers(Numbers::narrow(values.clone())));
        }
        Ok(())
    }

    fn series(&self, at: usize) -> Result<SeriesValues> {
        Ok(match &self.values[at] {
            Values::Text(values) => SeriesValues::Text(values.clone()),
            Values::Numbers(values) => SeriesValues::Numbers {
                values: values.clone(),
                integral: values.iter().all(|v| v.is_nan() || v.trunc() == *v),
                boolean: false,
            },
        })
    }

    fn column_bytes(&self) -> u64 {
        8 * self.rows as u64
    }

    fn scan_bytes(&self) -> u64 {
        (8 * self.rows * self.columns.len()) as u64
    }
}
