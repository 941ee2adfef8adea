//! Several tables as one: rows below rows, columns side by side, rows in another order.

use std::sync::Arc;

use keepnet::{ColumnBlock, ColumnData, Error, GenotypeData, Genotypes, Numbers, Result};

use crate::formats::bed::Variant;
use crate::formats::table::{Fingerprint, Schema, Table};
use crate::input::schema::{ColumnInfo, ColumnKind, StackedColumns};
use crate::input::series::SeriesValues;

/// Tables with the same columns, one below the other.
pub(crate) struct Stacked {
    tables: Vec<Arc<dyn Table>>,
    // For each table the position of each column, `None` where the file ends before it.
    places: Vec<Vec<Option<usize>>>,
    columns: StackedColumns,
    rows: usize,
}

impl Stacked {
    /// `files` are named in errors; columns come in the order of the first table.
    pub(crate) fn new(tables: Vec<Arc<dyn Table>>, files: &[String]) -> Result<Self> {
        let mut columns = StackedColumns::new(&files[0], &*tables[0]);
        for (table, file) in tables.iter().zip(files).skip(1) {
            columns.add(file, &**table)?;
        }
        let places: Vec<Vec<Option<usize>>> =
            tables.iter().map(|table| columns.places(&**table)).collect();
        for ((table, file), places) in tables.iter().zip(files).zip(&places).skip(1) {
            same_alleles((&*tables[0], &files[0]), (&**table, file), places)?;
        }
        let rows = tables.iter().map(|t| t.rows()).sum();
        Ok(Self { tables, places, columns, rows })
    }
}

impl Schema for Stacked {
    fn columns(&self) -> &[ColumnInfo] {
        self.columns.columns()
    }

    fn blank(&self, at: usize) -> bool {
        self.columns.blank(at)
    }

    fn fingerprint(&self) -> u64 {
        fingerprint(&self.tables, 1)
    }

    fn labels(&self) -> Vec<usize> {
        self.columns.labels()
    }

    fn variant(&self, at: usize) -> Option<Variant> {
        self.tables[0].variant(self.places[0][at]?)
    }

    fn unnamed(&self) -> bool {
        self.columns.unnamed()
    }
}

impl Table for Stacked {
    fn rows(&self) -> usize {
        self.rows
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
        let is_text = self.columns()[at].kind == ColumnKind::Text;
        let mut numbers = (Vec::new(), true, self.columns()[at].kind == ColumnKind::Bool);
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
}

/// Refuses a file whose variants count another allele than those of the first file.
fn same_alleles(
    (first, first_file): (&dyn Table, &str),
    (other, file): (&dyn Table, &str),
    places: &[Option<usize>],
) -> Result<()> {
    for (at, place) in places.iter().enumerate() {
        let variants = first.variant(at).zip(place.and_then(|place| other.variant(place)));
        let Some((a, b)) = variants.filter(|(a, b)| (&a.a1, &a.a2) != (&b.a1, &b.a2)) else {
            continue;
        };
        let name = &first.columns()[at].name;
        let how = if (&a.a1, &a.a2) == (&b.a2, &b.a1) { "swapped" } else { "other" };
        return Err(Error::Data(format!(
            "variant {name:?} has the alleles {} and {} in {first_file} and {how} ones, {} and {}, \
             in {file}; give all files the same A1",
            a.a1, a.a2, b.a1, b.a2
        )));
    }
    Ok(())
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

fn packed(part: &ColumnData) -> Option<Genotypes<'_>> {
    match part.view() {
        keepnet::Column::Genotypes(x) => Some(x),
        _ => None,
    }
}

/// Copies of a row, `None` where missing.
fn copies(x: Genotypes<'_>, row: usize) -> Option<u8> {
    [Some(2), None, Some(1), Some(0)][usize::from(x.code(row))]
}

/// One column out of its parts; sparse where all of them are.
fn below(parts: Vec<ColumnData>, rows: usize, spare: &mut ColumnBlock) -> ColumnData {
    use keepnet::{Column, WholeRef};
    let genotypes: Option<Vec<Genotypes<'_>>> = parts.iter().map(packed).collect();
    let rows_of = |x: &Genotypes<'_>| (0..x.rows()).map(|row| copies(*x, row)).collect::<Vec<_>>();
    let stacked = genotypes.and_then(|all| GenotypeData::of(all.iter().flat_map(rows_of)));
    if let Some(stacked) = stacked {
        return ColumnData::Genotypes(stacked);
    }
    let wide = parts.iter().any(|part| match part.view() {
        Column::F64(_) | Column::Codes { .. } => true,
        Column::Whole(WholeRef::I32(v)) => v.iter().any(|v| f64::from(*v as f32) != f64::from(*v)),
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
    match parts.iter().all(|part| matches!(part.view(), Column::Whole(_))) {
        true => ColumnData::integers(values),
        false => ColumnData::Dense(values),
    }
}

/// Tables with the same rows, side by side.
pub(crate) struct SideBySide {
    tables: Vec<Arc<dyn Table>>,
    // For each column its table and its place there.
    places: Vec<(u32, u32)>,
    columns: Vec<ColumnInfo>,
}

impl SideBySide {
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

impl Schema for SideBySide {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn fingerprint(&self) -> u64 {
        fingerprint(&self.tables, 2)
    }

    fn unnamed(&self) -> bool {
        self.tables.iter().all(|table| table.unnamed())
    }

    fn labels(&self) -> Vec<usize> {
        // In the order of each file: its first label is its target.
        let of = |(t, table): (usize, &Arc<dyn Table>)| {
            let places = table.labels().into_iter().map(move |c| (t as u32, c as u32));
            places
                .filter_map(|place| self.places.iter().position(|p| *p == place))
                .collect::<Vec<_>>()
        };
        self.tables.iter().enumerate().flat_map(of).collect()
    }

    fn variant(&self, at: usize) -> Option<Variant> {
        let (table, column) = self.places[at];
        self.tables[table as usize].variant(column as usize)
    }
}

impl Table for SideBySide {
    fn rows(&self) -> usize {
        self.tables[0].rows()
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
            Column::Whole(_) if !self.take.contains(&u32::MAX) => {
                column.view().gather(&self.take, &[])
            }
            Column::Genotypes(x) => {
                let taken = self.take.iter().map(|row| from(row).and_then(|row| copies(x, row)));
                let taken = GenotypeData::of(taken).expect("copies are 0, 1 or 2");
                ColumnData::Genotypes(taken)
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

impl Schema for Reordered {
    fn columns(&self) -> &[ColumnInfo] {
        self.table.columns()
    }

    fn fingerprint(&self) -> u64 {
        fingerprint(std::slice::from_ref(&self.table), 3)
    }

    fn labels(&self) -> Vec<usize> {
        self.table.labels()
    }

    fn variant(&self, at: usize) -> Option<Variant> {
        self.table.variant(at)
    }

    fn unnamed(&self) -> bool {
        self.table.unnamed()
    }
}

impl Table for Reordered {
    fn rows(&self) -> usize {
        self.take.len()
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
        Ok(crate::input::join::reorder(self.table.series(at)?, &self.take))
    }

    fn column_bytes(&self) -> u64 {
        8 * self.take.len() as u64
    }

    fn scan_bytes(&self) -> u64 {
        self.table.scan_bytes()
    }
}
