//! Arrow IPC, files and streams.
//!
//! Where the file is mapped and its buffers are not compressed the arrays point into the map: they
//! are made once, and a column of one batch without missing values is handed on without a copy.
//! Otherwise batches are decoded anew for the columns of each read. Standard input goes to a
//! temporary file first.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use keepnet::{ColumnBlock, ColumnData, Error, Result};

use crate::Reading;
use crate::formats::arrow::column::{as_text, blank, kind, widened};
use crate::formats::arrow::file::Batches;
use crate::formats::table::{Fingerprint, Schema, Table, numbers};
use crate::guard::guarded;
use crate::input::names::check_unique;
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::input::series::SeriesValues;
use crate::mapped::Contents;
use crate::memory::Charge;
use crate::store::{Place, Spill};

/// Arrays kept ready at most; a file with more is decoded for each read.
const READY: usize = 4 << 20;
/// What an array that is kept ready takes.
const ARRAY: u64 = 256;

/// Opens an Arrow file or stream.
pub(crate) fn open(path: &str, place: &Place) -> Result<Arc<dyn Table>> {
    let mut print = Fingerprint::new();
    if path == "-" {
        let contents = standard_input(place, &mut print)?;
        return open_contents(contents, print, place);
    }
    let file = File::open(path).map_err(|e| Error::io(path, e))?;
    let meta = file.metadata().map_err(|e| Error::io(path, e))?;
    if meta.len() == 0 {
        return Err(Error::Data("the file is empty".into()));
    }
    print.file(&meta);
    let contents =
        Contents::new(file, meta.len(), place.reading).map_err(|e| Error::io(path, e))?;
    open_contents(contents, print, place)
}

/// Standard input, in a temporary file that nobody else can shorten.
fn standard_input(place: &Place, print: &mut Fingerprint) -> Result<Contents> {
    let failed = |e| Error::io("standard input", e);
    let (mut input, mut spill) = (std::io::stdin().lock(), Spill::new(place)?);
    let mut bytes = Vec::new();
    loop {
        place.go_on()?;
        bytes.clear();
        input.by_ref().take(1 << 20).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.is_empty() {
            break;
        }
        print.bytes(&bytes);
        spill.append(&bytes)?;
    }
    if spill.len() == 0 {
        return Err(Error::Data("standard input is empty".into()));
    }
    let file = spill.file().try_clone().map_err(failed)?;
    Contents::new(file, spill.len(), Reading::Mapped).map_err(failed)
}

fn open_contents(
    contents: Contents,
    mut print: Fingerprint,
    place: &Place,
) -> Result<Arc<dyn Table>> {
    let bytes = contents.len();
    let batches = Batches::new(contents, place.meter.clone())?;
    let fields = batches.schema.fields();
    let described = place.columns(fields.len() as u64)?;
    let columns: Vec<ColumnInfo> = fields
        .iter()
        .map(|f| ColumnInfo { name: f.name().clone(), kind: kind(f.data_type()), file: 0 })
        .collect();
    check_unique(columns.iter().map(|c| c.name.as_str()))?;
    columns.iter().for_each(|c| print.bytes(c.name.as_bytes()));
    let rows = batches.rows;
    if rows == 0 || columns.is_empty() {
        return Err(Error::Data("the file has no rows".into()));
    }
    let ready = Ready::new(&batches, place)?;
    let fingerprint = print.finish();
    Ok(Arc::new(Arrow { batches, ready, columns, rows, bytes, fingerprint, _described: described }))
}

/// The arrays of every batch, which point into the map.
struct Ready {
    // The columns that are there, ascending.
    columns: Vec<usize>,
    batches: Vec<RecordBatch>,
    _arrays: Charge,
}

impl Ready {
    fn new(batches: &Batches, place: &Place) -> Result<Option<Self>> {
        let columns = batches.known();
        let arrays = columns.len().saturating_mul(batches.len());
        if !batches.in_place || arrays > READY {
            return Ok(None);
        }
        let Ok(charge) = place.meter.take(arrays as u64 * ARRAY, "arrays") else {
            return Ok(None);
        };
        let batches = batches.decode(&columns)?;
        Ok(Some(Self { columns, batches, _arrays: charge }))
    }
}

struct Arrow {
    batches: Batches,
    ready: Option<Ready>,
    columns: Vec<ColumnInfo>,
    rows: usize,
    bytes: u64,
    fingerprint: u64,
    _described: Charge,
}

impl Arrow {
    /// Calls `f` with each of the columns `at`, as its arrays in every batch.
    fn each(
        &self,
        at: &[usize],
        mut f: impl FnMut(usize, &[&dyn arrow_array::Array]) -> Result<()>,
    ) -> Result<()> {
        let (mut order, decoded);
        let (columns, batches) = match &self.ready {
            Some(ready) => (&ready.columns, &ready.batches),
            None => {
                order = at.to_vec();
                order.sort_unstable();
                order.dedup();
                decoded = self.batches.decode(&order)?;
                (&order, &decoded)
            }
        };
        for c in at {
            let place = columns.binary_search(c).map_err(|_| {
                Error::Unsupported("a column of that type cannot be read".into())
                    .at(&self.columns[*c].name)
            })?;
            let parts: Vec<_> = batches.iter().map(|b| b.column(place).as_ref()).collect();
            f(*c, &parts)?;
        }
        Ok(())
    }
}

impl Schema for Arrow {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn blank(&self, at: usize) -> bool {
        blank(self.batches.schema.field(at).data_type())
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

impl Table for Arrow {
    fn rows(&self) -> usize {
        self.rows
    }

    fn read(&self, at: &[usize], spare: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        let map = self.batches.contents.map();
        if let Some(map) = map {
            map.release(0, map.bytes().len());
        }
        self.each(at, |c, parts| {
            if let (Some(map), [part]) = (map, parts)
                && let Some((start, kind)) =
                    crate::formats::arrow::column::place(*part, map.bytes())
            {
                let (bytes, rows) = (map.share(), self.rows);
                out.push(ColumnData::Shared { bytes, start, rows, kind });
                return Ok(());
            }
            let name = &self.columns[c].name;
            out.push(widened(parts, self.rows, spare).map_err(|e| e.at(name))?);
            Ok(())
        })
    }

    fn series(&self, at: usize) -> Result<SeriesValues> {
        if self.columns[at].kind != ColumnKind::Text {
            return numbers(self, at);
        }
        let (mut values, mut held) = (Vec::new(), self.batches.meter.take(0, "")?);
        self.each(&[at], |_, parts| {
            guarded(|| parts.iter().try_for_each(|part| as_text(*part, &mut values, &mut held)))
        })?;
        Ok(SeriesValues::Text(values))
    }

    fn column_bytes(&self) -> u64 {
        let narrow = |t: &DataType| {
            use DataType::{Boolean, Float32, Int8, Int16, Null, UInt8, UInt16};
            matches!(t, Null | Boolean | Float32 | Int8 | Int16 | UInt8 | UInt16)
        };
        let all = self.batches.schema.fields().iter().all(|f| narrow(f.data_type()));
        self.rows as u64 * if all { 4 } else { 8 }
    }

    fn scan_bytes(&self) -> u64 {
        self.bytes
    }
}
