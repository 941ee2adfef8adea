//! `--reduced`: the chosen columns and the target, from another pass over the source.
//!
//! Columns are written as the method saw them: rows that count, missing values filled. They
//! are held in memory, as the kept set was during the run.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use keepnet::data::check_block;
use keepnet::selection::Selection;
use keepnet::{
    CheckPolicy, Column, ColumnBlock, ColumnData, Error, FeatureId, FeatureSource, NumbersRef,
    Problem, Result, Target, WholeRef,
};
use keepnet_io::Format;
use keepnet_io::sink::{self, Cells, Columns, Field, FieldKind};

use super::atomic::Pending;

/// Bytes that a format which holds rows may take for a slice of them.
const MEMORY: u64 = 32 << 20;

/// A table in memory.
pub struct Table {
    fields: Vec<Field>,
    columns: Vec<Cells>,
    rows: usize,
    slice: Range<usize>,
    at: usize,
}

impl Table {
    /// Named columns of `rows` values, and the target as the last one.
    pub fn new(columns: Vec<(String, Cells)>, target: Cells, rows: usize) -> Self {
        let mut fields = Vec::with_capacity(columns.len() + 1);
        let mut cells = Vec::with_capacity(columns.len() + 1);
        for (name, column) in columns {
            fields.push(Field { name, kind: kind(&column) });
            cells.push(column);
        }
        fields.push(Field { name: free_name(&fields), kind: kind(&target) });
        cells.push(target);
        Self { fields, columns: cells, rows, slice: 0..0, at: 0 }
    }
}

/// Writes a table; the file still waits for its name.
pub fn save(path: &Path, mut table: Table) -> Result<Pending> {
    let format = Format::from_path(&path.to_string_lossy())?;
    let pending = Pending::new(path)?;
    let out = Box::new(pending.writer()?);
    sink::write(format, out, &mut table, MEMORY).map_err(|error| pending.failed(error))?;
    Ok(pending)
}

impl Columns for Table {
    fn rows(&self) -> usize {
        self.rows
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn start(&mut self, rows: Range<usize>) -> Result<()> {
        (self.slice, self.at) = (rows, 0);
        Ok(())
    }

    fn next(&mut self) -> Result<Cells> {
        self.at += 1;
        Ok(match &self.columns[self.at - 1] {
            Cells::Numbers(data) => Cells::Numbers(sink::rows_of(data, &self.slice)),
            Cells::Text(text) => Cells::Text(text[self.slice.clone()].to_vec()),
        })
    }
}

/// The target as a column: numbers where every class name is one, else text.
pub fn target_cells(target: &Target) -> Cells {
    match target {
        Target::Numbers(y) => Cells::Numbers(ColumnData::dense(y.clone())),
        Target::Classes { names, codes } => {
            let numbers: Option<Vec<f64>> = names.iter().map(|name| name.parse().ok()).collect();
            match numbers {
                Some(numbers) => {
                    let values = codes.iter().map(|code| numbers[*code as usize]).collect();
                    Cells::Numbers(ColumnData::dense(values))
                }
                None => {
                    Cells::Text(codes.iter().map(|code| names[*code as usize].clone()).collect())
                }
            }
        }
    }
}

/// How a column is stored.
pub fn kind(cells: &Cells) -> FieldKind {
    match cells {
        Cells::Text(_) => FieldKind::Text,
        Cells::Numbers(data) => match data.view() {
            Column::Whole(WholeRef::I32(v))
                if v.iter().any(|v| f64::from(*v as f32) != f64::from(*v)) =>
            {
                FieldKind::F64
            }
            Column::F64(_) | Column::Sparse { value: NumbersRef::F64(_), .. } => FieldKind::F64,
            Column::Codes { levels, .. }
                if levels.iter().any(|level| f64::from(*level as f32) != *level) =>
            {
                FieldKind::F64
            }
            _ => FieldKind::F32,
        },
    }
}

/// Reads the chosen columns again and writes them; the file still waits for its name.
pub fn write(
    path: &Path,
    source: &mut dyn FeatureSource,
    selection: &Selection,
    problem: &Problem,
    policy: &CheckPolicy,
    width: usize,
) -> Result<Pending> {
    let columns = columns(source, selection, problem, policy, width)?;
    save(path, Table::new(columns, target_cells(&problem.target), problem.n()))
}

/// The chosen columns by name, those always kept first.
pub(super) fn columns(
    source: &mut dyn FeatureSource,
    selection: &Selection,
    problem: &Problem,
    policy: &CheckPolicy,
    width: usize,
) -> Result<Vec<(String, Cells)>> {
    let wanted: Vec<_> = selection.pinned.iter().chain(&selection.selected).collect();
    let mut place: HashMap<FeatureId, usize> =
        wanted.iter().enumerate().map(|(at, feature)| (feature.id, at)).collect();
    // Random access reads the chosen columns only. Without it the stream comes again as it did
    // in the last scan.
    let order: Option<Vec<u32>> =
        wanted.iter().map(|feature| source.place(feature.id).map(|place| place as u32)).collect();
    if let Some(mut order) = order {
        order.sort_unstable();
        order.dedup();
        match source.reorder(order.into_iter().collect::<Arc<[u32]>>()) {
            Err(Error::Unsupported(_)) | Ok(()) => {}
            Err(other) => return Err(other),
        }
    }
    source.rewind()?;
    let mut columns: Vec<Option<ColumnData>> = vec![None; wanted.len()];
    let mut block = ColumnBlock::new(width);
    while !place.is_empty() && source.next_block(&mut block)? {
        for feature in check_block(&block, 0, problem, policy)?.features {
            if let Some(at) = place.remove(&feature.id) {
                columns[at] = Some(feature.column().to_data());
            }
        }
        block.reset(width);
    }
    let mut cells = Vec::with_capacity(wanted.len());
    for (feature, column) in wanted.iter().zip(columns) {
        let lost = || Error::Data(format!("feature {:?} did not come again", feature.name));
        cells.push((feature.name.clone(), Cells::Numbers(column.ok_or_else(lost)?)));
    }
    Ok(cells)
}

/// `target`, with underscores after it while a feature has that name.
fn free_name(fields: &[Field]) -> String {
    let mut name = "target".to_string();
    while fields.iter().any(|field| field.name == name) {
        name.push('_');
    }
    name
}
