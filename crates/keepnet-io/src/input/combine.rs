//! Several tables as one: rows below rows, columns beside columns, rows in another order.

use std::sync::Arc;

use keepnet::{ColumnBlock, ColumnData, Error, Numbers, Result};

use crate::formats::table::{Fingerprint, Table};
use crate::input::dataset::{ColumnInfo, ColumnKind};
use crate::input::series::SeriesValues;

/// Tables with the same columns, one below the other.
pub(crate) struct Stacked {
    tables: Vec<Arc<dyn Table>>,
    // For each table the position of each column, `None` where the file ends before it.
    places: Vec<Vec<Option<usize>>>,
    columns: Vec<ColumnInfo>,
    rows: usize,
}

impl Stacked {
    /// `files` are named in errors; columns come in the order of the first table.
    pub(crate) fn new(tables: Vec<Arc<dyn Table>>, files: &[String]) -> Result<Self> {
        let mut columns = match tables.iter().all(|t| t.open_ended()) {
            true => all_indices(&tables),
            false => tables[0].columns().to_vec(),
        };
        // The file that said what each column holds, none while no file had a value.
        let mut said: Vec<Option<&String>> = vec![None; columns.len()];
        let mut places = Vec::with_capacity(tables.len());
        for (table, file) in tables.iter().zip(files) {
            let by_name: std::collections::HashMap<&str, usize> =
                table.columns().iter().enumerate().map(|(i, c)| (c.name.as_str(), i)).collect();
            let mut place = Vec::with_capacity(columns.len());
            for (column, said) in columns.iter_mut().zip(&mut said) {
                let at = by_name.get(column.name.as_str()).copied();
                place.push(at);
                let Some(at) = at.filter(|at| !table.blank(*at)) else { continue };
                let kind = &table.columns()[at].kind;
                let Some(other) = *said else {
                    (column.kind, *said) = (kind.clone(), Some(file));
                    continue;
                };
                column.kind = common(&column.kind, kind).ok_or_else(|| {
                    let (name, was, is) = (&column.name, word(&column.kind), word(kind));
                    Error::Data(format!(
                        "column {name:?} is {was} in {other} and {is} in {file}; make them one type"
                    ))
                })?;
            }
            places.push(place);
        }
        let rows = tables.iter().map(|t| t.rows()).sum();
        Ok(Self { tables, places, columns, rows })
    }
}

/// The columns of svm files together: the label, then every index in ascending order.
fn all_indices(tables: &[Arc<dyn Table>]) -> Vec<ColumnInfo> {
    let label = tables[0].columns()[0].clone();
    let mut indices = std::collections::BTreeMap::new();
    for column in tables.iter().flat_map(|t| &t.columns()[1..]) {
        let index: u64 = column.name.parse().unwrap_or(u64::MAX);
        indices.entry(index).or_insert_with(|| column.clone());
    }
    std::iter::once(label).chain(indices.into_values()).collect()
}

fn word(kind: &ColumnKind) -> &str {
    match kind {
        ColumnKind::Bool => "boolean",
        ColumnKind::Int | ColumnKind::Float => "a number",
        ColumnKind::Text => "text",
        ColumnKind::Other(name) => name,
    }
}

fn common(a: &ColumnKind, b: &ColumnKind) -> Option<ColumnKind> {
    use ColumnKind::{Bool, Float, Int};
    match (a, b) {
        (a, b) if a == b => Some(a.clone()),
        (Bool | Int, Bool | Int) => Some(Int),
        (Bool | Int | Float, Bool | Int | Float) => Some(Float),
        _ => None,
    }
}

impl Table for Stacked {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn blank(&self, at: usize) -> bool {
        let mut parts = self.tables.iter().zip(&self.places);
        parts.all(|(table, places)| places[at].is_some_and(|at| table.blank(at)))
    }

    fn read(&self, at: &[usize], spare: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        let mut parts: Vec<Vec<ColumnData>> = at.iter().map(|_| Vec::new()).collect();
        for (table, places) in self.tables.iter().zip(&self.places) {
            let there: Vec<usize> = at.iter().filter_map(|c| places[*c]).collect();
            let mut read = Vec::with_capacity(there.len());
            table.read(&there, spare, &mut read)?;
            let mut read = read.into_iter();
            for (c, parts) in at.iter().zip(&mut parts) {
                parts.push(match places[*c] {
                    Some(_) => read.next().expect("a column was read for each place"),
                    None => empty(table.rows()),
                });
            }
        }
        out.extend(parts.into_iter().map(|parts| below(parts, self.rows, spare)));
        Ok(())
    }

    fn series(&self, at: usize) -> Result<SeriesValues> {
        let is_text = self.columns[at].kind == ColumnKind::Text;
        let mut numbers = (Vec::new(), true, self.columns[at].kind == ColumnKind::Bool);
        let mut text = Vec::new();
        for (table, places) in self.tables.iter().zip(&self.places) {
            let part = match places[at] {
                Some(at) => table.series(at)?,
                None => SeriesValues::Numbers {
                    values: vec![0.0; table.rows()],
                    integral: true,
                    boolean: false,
                },
            };
            match part {
                SeriesValues::Text(part) => text.extend(part),
                // A part without a value, whose kind is a guess.
                SeriesValues::Numbers { values, .. } if is_text => {
                    text.extend(values.iter().map(|_| None));
                }
                SeriesValues::Numbers { values, integral, .. } => {
                    numbers.0.extend(values);
                    numbers.1 &= integral;
                }
            }
        }
        let (values, integral, boolean) = numbers;
        Ok(match is_text {
            true => SeriesValues::Text(text),
            false => SeriesValues::Numbers { values, integral, boolean },
        })
    }

    fn column_bytes(&self) -> u64 {
        // One wide part makes the whole column wide.
        let wide = self.tables.iter().any(|t| t.column_bytes() > 4 * t.rows() as u64);
        let sum: u64 = self.tables.iter().map(|t| t.column_bytes()).sum();
        sum.max(self.rows as u64 * if wide { 8 } else { 4 })
    }

    fn scan_bytes(&self) -> u64 {
        self.tables.iter().map(|t| t.scan_bytes()).sum()
    }

    fn fingerprint(&self) -> u64 {
        fingerprint(&self.tables, 1)
    }

    fn labels(&self) -> Vec<usize> {
        self.tables[0].labels()
    }

    fn unnamed(&self) -> bool {
        self.tables.iter().all(|t| t.unnamed())
    }
}

fn fingerprint(tables: &[Arc<dyn Table>], kind: u64) -> u64 {
    let mut print = Fingerprint::new();
    print.number(kind);
    tables.iter().for_each(|t| print.number(t.fingerprint()));
    print.finish()
}

fn empty(rows: usize) -> ColumnData {
    ColumnData::Sparse { rows, index: Vec::new(), value: Numbers::F32(Vec::new()) }
}

/// One column out of its parts; sparse where all of them are.
fn below(parts: Vec<ColumnData>, rows: usize, spare: &mut ColumnBlock) -> ColumnData {
    use keepnet::Column;
    let wide = parts.iter().any(|part| match part.view() {
        Column::F64(_) | Column::Codes { .. } => true,
        Column::Sparse { value, .. } => matches!(value, keepnet::NumbersRef::F64(_)),
        _ => false,
    });
    let sparse = parts.iter().all(|part| matches!(part.view(), Column::Sparse { .. }));
    let mut values = match (sparse, wide) {
        (_, true) => Numbers::F64(spare.buffer64()),
        (_, false) => Numbers::F32(spare.buffer32()),
    };
    let mut push = |x: f64| match &mut values {
        Numbers::F32(v) => v.push(x as f32),
        Numbers::F64(v) => v.push(x),
    };
    if sparse {
        let (mut index, mut top) = (Vec::new(), 0);
        for part in &parts {
            part.view().each(|row, x| {
                index.push(top + row as u32);
                push(x);
            });
            top += part.view().rows() as u32;
        }
        return ColumnData::Sparse { rows, index, value: values };
    }
    let mut wide = Vec::new();
    for part in &parts {
        match part.view() {
            Column::F32(v) => v.iter().for_each(|x| push(f64::from(*x))),
            Column::F64(v) => v.iter().for_each(|x| push(*x)),
            other => {
                wide.resize(other.rows(), 0.0);
                other.fill(&mut wide);
                wide.iter().for_each(|x| push(*x));
            }
        }
    }
    ColumnData::Dense(values)
}

/// Tables with the same rows, side by side.
pub(crate) struct Beside {
    tables: Vec<Arc<dyn Table>>,
    // For each column its table and its place there.
    places: Vec<(u32, u32)>,
    columns: Vec<ColumnInfo>,
}

impl Beside {
    /// Columns named in `leave_out` are taken from the first table only.
    pub(crate) fn new(tables: Vec<Arc<dyn Table>>, leave_out: &[String]) -> Self {
        let (mut places, mut columns) = (Vec::new(), Vec::new());
        for (t, table) in tables.iter().enumerate() {
            for (c, column) in table.columns().iter().enumerate() {
                if t > 0 && leave_out.contains(&column.name) {
                    continue;
                }
                let name = match table.unnamed() {
                    true => format!("f{}", columns.len()),
                    false => column.name.clone(),
                };
                places.push((t as u32, c as u32));
                columns.push(ColumnInfo { name, kind: column.kind.clone(), file: t as u32 });
            }
        }
        Self { tables, places, columns }
    }
}

impl Table for Beside {
    fn rows(&self) -> usize {
        self.tables[0].rows()
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn read(&self, at: &[usize], spare: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        let mut run = Vec::with_capacity(at.len());
        let mut rest = at;
        while let Some(first) = rest.first() {
            let table = self.places[*first].0;
            run.clear();
            run.extend(
                rest.iter()
                    .map(|c| self.places[*c])
                    .take_while(|(t, _)| *t == table)
                    .map(|(_, c)| c as usize),
            );
            self.tables[table as usize].read(&run, spare, out)?;
            rest = &rest[run.len()..];
        }
        Ok(())
    }

    fn series(&self, at: usize) -> Result<SeriesValues> {
        let (table, column) = self.places[at];
        self.tables[table as usize].series(column as usize)
    }

    fn column_bytes(&self) -> u64 {
        self.tables.iter().map(|t| t.column_bytes()).max().unwrap_or(0)
    }

    fn scan_bytes(&self) -> u64 {
        self.tables.iter().map(|t| t.scan_bytes()).sum()
    }

    fn fingerprint(&self) -> u64 {
        fingerprint(&self.tables, 2)
    }

    fn labels(&self) -> Vec<usize> {
        let all: Vec<Vec<usize>> = self.tables.iter().map(|t| t.labels()).collect();
        let is_label = |(t, c): &(u32, u32)| all[*t as usize].contains(&(*c as usize));
        (0..self.places.len()).filter(|i| is_label(&self.places[*i])).collect()
    }
}

/// A table with its rows in another order; rows without a match are missing.
pub(crate) struct Reordered {
    table: Arc<dyn Table>,
    // Row of the table for each row, or `u32::MAX`.
    take: Vec<u32>,
}

impl Reordered {
    pub(crate) fn new(table: Arc<dyn Table>, take: Vec<u32>) -> Self {
        Self { table, take }
    }

    fn column(&self, column: &ColumnData, spare: &mut ColumnBlock) -> ColumnData {
        use keepnet::Column;
        let from = |row: &u32| (*row != u32::MAX).then_some(*row as usize);
        match column.view() {
            Column::F32(v) => {
                let mut out = spare.buffer32();
                out.extend(self.take.iter().map(|row| from(row).map_or(f32::NAN, |r| v[r])));
                ColumnData::Dense(Numbers::F32(out))
            }
            view => {
                let mut all = vec![0.0; view.rows()];
                view.fill(&mut all);
                let mut out = spare.buffer64();
                out.extend(self.take.iter().map(|row| from(row).map_or(f64::NAN, |r| all[r])));
                ColumnData::Dense(Numbers::F64(out))
            }
        }
    }
}

impl Table for Reordered {
    fn rows(&self) -> usize {
        self.take.len()
    }

    fn columns(&self) -> &[ColumnInfo] {
        self.table.columns()
    }

    fn read(&self, at: &[usize], spare: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        let mut read = Vec::with_capacity(1);
        for c in at {
            self.table.read(&[*c], spare, &mut read)?;
            out.extend(read.drain(..).map(|column| self.column(&column, spare)));
        }
        Ok(())
    }

    fn series(&self, at: usize) -> Result<SeriesValues> {
        Ok(crate::input::keys::reorder(self.table.series(at)?, &self.take))
    }

    fn column_bytes(&self) -> u64 {
        8 * self.take.len() as u64
    }

    fn scan_bytes(&self) -> u64 {
        self.table.scan_bytes()
    }

    fn fingerprint(&self) -> u64 {
        fingerprint(std::slice::from_ref(&self.table), 3)
    }

    fn labels(&self) -> Vec<usize> {
        self.table.labels()
    }

    fn unnamed(&self) -> bool {
        self.table.unnamed()
    }
}
