//! Tables that the benchmarks write to files: a workload, or a matrix in memory.

use std::ops::Range;

use keepnet::{ColumnBlock, ColumnData, Error, FeatureSource, Generated, Result, Target};
use keepnet_io::sink::{Cells, Columns, Field, FieldKind, rows_of};
use keepnet_papers::Workload;

/// Columns made at a time.
const WIDTH: usize = 256;

/// The columns of a workload and then its target, -1 and 1 for classes.
pub struct WorkloadColumns {
    source: Generated,
    rows: usize,
    target: ColumnData,
    fields: Vec<Field>,
    entries: Option<u64>,
    block: ColumnBlock,
    slice: Range<usize>,
    at: usize,
    in_block: usize,
}

impl WorkloadColumns {
    /// The first `rows` rows; goes over the columns once to count the entries of sparse ones.
    pub fn new(workload: &Workload, rows: usize) -> Result<Self> {
        let target = match workload.target() {
            Target::Numbers(y) => y,
            classes @ Target::Classes { .. } => classes.outputs().remove(0),
        };
        let fields = fields(workload.features() as usize);
        let (source, block) = (workload.source(), ColumnBlock::new(WIDTH));
        let (target, entries) = (ColumnData::dense(target), None);
        let mut new =
            Self { source, rows, target, fields, entries, block, slice: 0..0, at: 0, in_block: 0 };
        new.entries = new.count()?;
        Ok(new)
    }

    fn count(&mut self) -> Result<Option<u64>> {
        let mut entries = 0;
        self.block.reset(WIDTH);
        while self.source.next_block(&mut self.block)? {
            for column in self.block.columns() {
                let ColumnData::Sparse { index, .. } = &column.data else { return Ok(None) };
                entries += index.len() as u64;
            }
            self.block.reset(WIDTH);
        }
        Ok(Some(entries))
    }
}

fn fields(features: usize) -> Vec<Field> {
    let field = |name, kind| Field { name, kind };
    let mut fields: Vec<Field> =
        (0..features).map(|j| field(format!("f{j}"), FieldKind::F32)).collect();
    fields.push(field("target".into(), FieldKind::F64));
    fields
}

impl Columns for WorkloadColumns {
    fn rows(&self) -> usize {
        self.rows
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn entries(&self) -> Option<u64> {
        self.entries
    }

    fn start(&mut self, rows: Range<usize>) -> Result<()> {
        (self.slice, self.at, self.in_block) = (rows, 0, 0);
        self.block.reset(WIDTH);
        self.source.rewind()
    }

    fn next(&mut self) -> Result<Cells> {
        if self.at + 1 == self.fields.len() {
            return Ok(Cells::Numbers(rows_of(&self.target, &self.slice)));
        }
        if self.in_block == self.block.len() {
            self.block.reset(WIDTH);
            if !self.source.next_block(&mut self.block)? {
                return Err(Error::Data("a column too many was asked for".into()));
            }
            self.in_block = 0;
        }
        let column = &self.block.columns()[self.in_block];
        (self.at, self.in_block) = (self.at + 1, self.in_block + 1);
        Ok(Cells::Numbers(rows_of(&column.data, &self.slice)))
    }
}

/// The columns of a feature-major matrix in memory, without a target.
pub struct MatrixColumns<'a> {
    n: usize,
    x: &'a [f32],
    fields: Vec<Field>,
    slice: Range<usize>,
    at: usize,
}

impl<'a> MatrixColumns<'a> {
    /// Over `x`, `n` values a column.
    #[must_use]
    pub fn new(n: usize, x: &'a [f32]) -> Self {
        let mut fields = fields(x.len() / n);
        fields.pop();
        Self { n, x, fields, slice: 0..0, at: 0 }
    }
}

impl Columns for MatrixColumns<'_> {
    fn rows(&self) -> usize {
        self.n
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn start(&mut self, rows: Range<usize>) -> Result<()> {
        (self.slice, self.at) = (rows, 0);
        Ok(())
    }

    fn next(&mut self) -> Result<Cells> {
        let start = self.at * self.n;
        self.at += 1;
        let rows = start + self.slice.start..start + self.slice.end;
        Ok(Cells::Numbers(ColumnData::f32(self.x[rows].to_vec())))
    }
}
