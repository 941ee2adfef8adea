//! Columns in Python's memory as a source of features: a matrix, a list of columns, or CSC.
//!
//! Columns whose values lie side by side, floats or integers of at most four bytes, are shared,
//! never copied. The others are gathered for one block at a time, a tile of rows after the other, so that a line of the cache
//! serves every column of the block that lies in it.

use std::sync::Arc;

use keepnet::{
    ColumnBlock, ColumnData, Cursor, Error, FeatureId, FeatureSource, Name, Numbers, RawColumn,
    Result, SparseEntries,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rayon::prelude::*;

use crate::memory::{Array, Kind};

/// Rows gathered from each column before the next one's turn.
const TILE: usize = 64;
/// Columns that one thread gathers together.
const TOGETHER: usize = 16;

/// Columns as Python hands them over.
#[derive(Clone)]
pub enum Columns {
    /// A matrix of rows by features.
    Matrix(Array),
    /// One array a feature.
    List { rows: usize, columns: Arc<Vec<Array>> },
    /// Compressed sparse columns.
    Csc(Arc<Csc>),
}

/// Compressed sparse columns: starts, rows, values.
pub struct Csc {
    rows: usize,
    start: Vec<usize>,
    index: Array,
    value: Array,
    // The same arrays as the engine reads them in place, where it can.
    entries: Option<Arc<SparseEntries>>,
}

impl Csc {
    /// Starts of the lines, places and values; a place is below `across`.
    pub fn new(across: usize, parts: [&Bound<'_, PyAny>; 3]) -> PyResult<Self> {
        let damaged =
            |what: &str| PyValueError::new_err(format!("the sparse matrix is damaged: {what}"));
        let [start, index, value] = parts;
        let start = Array::vector(start, "indptr of the sparse matrix")?;
        let index = Array::vector(index, "indices of the sparse matrix")?;
        let value = Array::vector(value, "data of the sparse matrix")?;
        if [start.kind, index.kind].iter().any(|kind| !matches!(kind, Kind::Int(4 | 8))) {
            return Err(damaged("indptr and indices are to be int32 or int64"));
        }
        if u32::try_from(across).is_err() {
            return Err(PyValueError::new_err(format!("a line of {across} places is too long")));
        }
        let line = start.column(0);
        let start: Option<Vec<usize>> = (0..line.len()).map(|i| line.index(i)).collect();
        let start = start.ok_or_else(|| damaged("indptr is negative"))?;
        if start.first() != Some(&0) || !start.is_sorted() {
            return Err(damaged("indptr does not ascend from 0"));
        }
        if start[start.len() - 1] > index.shape[0].min(value.shape[0]) {
            return Err(damaged("indptr ends beyond indices or data"));
        }
        let entries = match (index.kind, value.kind) {
            (Kind::Int(4), Kind::F32 | Kind::F64) => index
                .column(0)
                .bytes(start[start.len() - 1])
                .zip(value.column(0).bytes(start[start.len() - 1]))
                .and_then(|(index, data)| SparseEntries::lent(index, data, value.kind == Kind::F64))
                .map(Arc::new),
            _ => None,
        };
        Ok(Self { rows: across, start, index, value, entries })
    }

    /// Lines: columns of CSC, rows of CSR.
    pub fn lines(&self) -> usize {
        self.start.len() - 1
    }

    /// Indices and values of a line; an error where indices do not ascend within bounds.
    pub fn line(&self, j: usize) -> Result<(Vec<u32>, Numbers)> {
        let (from, to) = (self.start[j], self.start[j + 1]);
        let places = self.index.column(0);
        let index: Option<Vec<u32>> = (from..to)
            .map(|at| places.index(at).filter(|i| *i < self.rows)?.try_into().ok())
            .collect();
        let index =
            index.filter(|i| i.windows(2).all(|w| w[0] < w[1])).ok_or_else(|| self.unordered(j))?;
        let values = self.value.column(0);
        let mut out = values.kind().numbers(index.len());
        values.gather(from, to, &mut out);
        Ok((index, out))
    }

    /// A column; in the arrays' own memory where the engine can read that.
    fn column(&self, j: usize) -> Result<ColumnData> {
        let rows = self.rows;
        let Some(entries) = &self.entries else {
            let (index, value) = self.line(j)?;
            return Ok(ColumnData::Sparse { rows, index, value });
        };
        let range = self.start[j]..self.start[j + 1];
        let (index, _) = entries.get(range.clone());
        // An index below 0 is a large one here.
        let most = rows.min(1 << 31);
        let inside = index.last().is_none_or(|last| (*last as usize) < most);
        if !inside || !index.windows(2).all(|pair| pair[0] < pair[1]) {
            return Err(self.unordered(j));
        }
        Ok(ColumnData::SharedSparse { rows, entries: Arc::clone(entries), range })
    }

    #[cold]
    fn unordered(&self, j: usize) -> Error {
        let rows = self.rows;
        Error::Data(format!("line {j} of the sparse matrix has no ascending indices below {rows}"))
    }
}

impl Columns {
    /// `("dense", X)`, `("columns", rows, [x, ...])` or `("csc", rows, indptr, indices, data)`.
    pub fn new(x: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let form: String = x.get_item(0)?.extract()?;
        match form.as_str() {
            "dense" => Ok(Self::Matrix(Array::matrix(&x.get_item(1)?)?)),
            "columns" => {
                let rows: usize = x.get_item(1)?.extract()?;
                let list = x.get_item(2)?;
                let one = |(j, column): (usize, PyResult<Bound<'_, PyAny>>)| {
                    Array::vector(&column?, &format!("column {j}"))
                };
                let columns: Vec<Array> =
                    list.try_iter()?.enumerate().map(one).collect::<PyResult<_>>()?;
                if let Some(bad) = columns.iter().position(|column| column.shape[0] != rows) {
                    let got = columns[bad].shape[0];
                    let text = format!("column {bad} has {got} rows, expected {rows}");
                    return Err(PyValueError::new_err(text));
                }
                Ok(Self::List { rows, columns: Arc::new(columns) })
            }
            "csc" => {
                let (start, index, value) = (x.get_item(2)?, x.get_item(3)?, x.get_item(4)?);
                let rows = x.get_item(1)?.extract()?;
                Ok(Self::Csc(Arc::new(Csc::new(rows, [&start, &index, &value])?)))
            }
            other => Err(PyValueError::new_err(format!("columns cannot come as {other:?}"))),
        }
    }

    /// Rows of every column.
    pub fn rows(&self) -> usize {
        match self {
            Self::Matrix(x) => x.shape[0],
            Self::List { rows, .. } => *rows,
            Self::Csc(x) => x.rows,
        }
    }

    /// Number of columns.
    pub fn features(&self) -> usize {
        match self {
            Self::Matrix(x) => x.shape[1],
            Self::List { columns, .. } => columns.len(),
            Self::Csc(x) => x.lines(),
        }
    }

    /// Whether the types say that every column holds whole numbers.
    pub fn integral(&self) -> bool {
        match self {
            Self::Matrix(x) => x.kind.integral(),
            Self::List { columns, .. } => columns.iter().all(|x| x.kind.integral()),
            Self::Csc(x) => x.value.kind.integral(),
        }
    }

    /// Most bytes of one column.
    pub fn column_bytes(&self) -> u64 {
        match self {
            Self::Csc(x) => {
                let most = x.start.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
                12 * most as u64
            }
            Self::Matrix(x) if x.kind.fits32() => 4 * x.shape[0] as u64,
            _ => 8 * self.rows() as u64,
        }
    }

    /// Bytes of all columns, where most may be far shorter than the longest.
    pub fn scan_bytes(&self) -> Option<u64> {
        match self {
            Self::Csc(x) => Some(12 * x.start[x.start.len() - 1] as u64),
            _ => None,
        }
    }

    fn array(&self, j: usize) -> Option<(&Array, usize)> {
        match self {
            Self::Matrix(x) => Some((x, j)),
            Self::List { columns, .. } => Some((&columns[j], 0)),
            Self::Csc(_) => None,
        }
    }

    /// Reads the columns at these places.
    pub fn read(&self, at: &[usize]) -> Result<Vec<ColumnData>> {
        if let Self::Csc(x) = self {
            return at.iter().map(|j| x.column(*j)).collect();
        }
        let shared: Option<Vec<ColumnData>> = at
            .iter()
            .map(|j| self.array(*j).and_then(|(array, j)| array.column(j).shared()))
            .collect();
        match shared {
            Some(shared) => Ok(shared),
            None => Ok(at.par_chunks(TOGETHER).flat_map_iter(|at| self.gather(at)).collect()),
        }
    }

    /// Copies a few dense columns, tile by tile.
    fn gather(&self, at: &[usize]) -> Vec<ColumnData> {
        let rows = self.rows();
        let lines: Vec<_> =
            at.iter().filter_map(|j| self.array(*j)).map(|(array, j)| array.column(j)).collect();
        let mut out: Vec<Numbers> = lines.iter().map(|line| line.kind().numbers(rows)).collect();
        for from in (0..rows).step_by(TILE) {
            let to = (from + TILE).min(rows);
            lines.iter().zip(&mut out).for_each(|(line, out)| line.gather(from, to, out));
        }
        let held = |(line, numbers): (&crate::memory::Strided<'_>, Numbers)| match line
            .kind()
            .integral()
        {
            true => ColumnData::integers(numbers),
            false => ColumnData::Dense(numbers),
        };
        lines.iter().zip(out).map(held).collect()
    }
}

/// Names of features: given, or `x` and the index.
#[derive(Clone, Debug, Default)]
pub struct Names(pub Option<Arc<Vec<String>>>);

impl Names {
    /// The name of feature `j`.
    pub fn get(&self, j: usize) -> Name {
        let given = self.0.as_ref().and_then(|names| names.get(j));
        given.map_or(Name::Numbered("x", j as u64), |name| name.as_str().into())
    }
}

/// Columns in memory as a source.
#[derive(Clone)]
pub struct ArraySource {
    columns: Columns,
    names: Names,
    label: [String; 1],
    cursor: Cursor,
}

impl ArraySource {
    /// A source of these columns, with a name for each where there are names.
    pub fn new(columns: Columns, names: Option<Vec<String>>) -> PyResult<Self> {
        let features = columns.features();
        if let Some(names) = names.as_ref().filter(|names| names.len() != features) {
            let text = format!("{features} columns came with {} names", names.len());
            return Err(PyValueError::new_err(text));
        }
        let names = Names(names.map(Arc::new));
        Ok(Self { columns, names, label: ["memory".into()], cursor: Cursor::default() })
    }
}

impl FeatureSource for ArraySource {
    fn rows(&self) -> usize {
        self.columns.rows()
    }

    fn features(&self) -> Option<u64> {
        Some(self.cursor.len(self.columns.features() as u64))
    }

    fn sources(&self) -> &[String] {
        &self.label
    }

    fn column_bytes(&self) -> Option<u64> {
        Some(self.columns.column_bytes())
    }

    fn scan_bytes(&self) -> Option<u64> {
        self.columns.scan_bytes()
    }

    fn integral(&self) -> bool {
        self.columns.integral()
    }

    fn fingerprint(&self) -> u64 {
        0
    }

    fn next_block(&mut self, out: &mut ColumnBlock) -> Result<bool> {
        let all = self.columns.features() as u64;
        let at: Vec<usize> =
            (0..out.room()).map_while(|_| self.cursor.next(all)).map(|j| j as usize).collect();
        for (j, data) in at.iter().zip(self.columns.read(&at)?) {
            let id = FeatureId::new(*j as u64);
            out.push(RawColumn { id, name: self.names.get(*j), source: 0, data });
        }
        Ok(!at.is_empty())
    }

    fn rewind(&mut self) -> Result<()> {
        self.cursor.rewind();
        Ok(())
    }

    fn skip(&mut self, features: u64) -> Result<()> {
        self.cursor.skip(features);
        Ok(())
    }

    fn reorder(&mut self, order: Arc<[u32]>) -> Result<()> {
        let features = self.columns.features();
        if let Some(bad) = order.iter().find(|at| **at as usize >= features) {
            return Err(Error::Data(format!("the order has feature {bad} of {features}")));
        }
        self.cursor.reorder(order);
        Ok(())
    }

    fn shard(&self, i: usize, of: usize) -> Result<Box<dyn FeatureSource>> {
        let mut share = self.clone();
        share.cursor = self.cursor.shard(i, of);
        Ok(Box::new(share))
    }
}
