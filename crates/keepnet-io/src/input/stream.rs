//! The features of an input, whatever they come from: a table, or a stream that comes once.

use std::sync::Arc;

use keepnet::{ColumnBlock, Error, FeatureId, FeatureSource, Result, RowIds};

use crate::formats::arrow::columns::{FeatureStream, no_table};
use crate::formats::bed::Variant;
use crate::formats::shown;
use crate::formats::table::{Fingerprint, Schema, Table};
use crate::input::dataset::Dataset;
use crate::input::resolve::resolve;
use crate::input::schema::ColumnInfo;
use crate::input::source::Origin;
use crate::{Format, OpenOptions, TableSource};

/// The features of an input.
pub enum InputSource {
    /// Of a table, which can be read again.
    Table(TableSource),
    /// Of a stream, which comes once.
    Stream(Box<FeatureStream>),
}

/// Opens the input where each of its rows is a feature; `None` where it is a table.
///
/// The table that comes with it has the rows and no column: target, weights and covariates are
/// in files of their own, whose rows match by position.
pub fn open_features(
    inputs: &[String],
    options: &OpenOptions,
) -> Result<Option<(Dataset, FeatureStream)>> {
    let files = resolve(inputs, options)?;
    let Some(file) = files.iter().find(|file| file.format == Format::ArrowColumns) else {
        return Ok(None);
    };
    let path = shown(&file.path);
    if files.len() > 1 {
        return Err(no_table().at(path));
    }
    if !options.key.is_empty() {
        let text = "the rows of a stream of features match by position; leave --key out";
        return Err(Error::Unsupported(text.into()).at(path));
    }
    let stream = FeatureStream::open(&file.path, options).map_err(|e| e.at(path))?;
    let (table, options) = (Arc::new(NoColumns(stream.rows())), options.clone());
    let (files, unmatched, side_covariates) = (vec![file.path.clone()], Vec::new(), Vec::new());
    let (weight, notes) = (None, Vec::new());
    Ok(Some((Dataset { table, files, options, unmatched, notes, side_covariates, weight }, stream)))
}

/// A table of so many rows and no columns.
struct NoColumns(usize);

impl Schema for NoColumns {
    fn columns(&self) -> &[ColumnInfo] {
        &[]
    }

    fn fingerprint(&self) -> u64 {
        Fingerprint::new().finish()
    }
}

impl Table for NoColumns {
    fn rows(&self) -> usize {
        self.0
    }

    fn read(
        &self,
        _: &[usize],
        _: &mut ColumnBlock,
        _: &mut Vec<keepnet::ColumnData>,
    ) -> Result<()> {
        Err(no_table())
    }

    fn column_bytes(&self) -> u64 {
        8 * self.0 as u64
    }

    fn scan_bytes(&self) -> u64 {
        0
    }
}

impl InputSource {
    /// Whether the features come once, so that no other scan can follow.
    #[must_use]
    pub fn comes_once(&self) -> bool {
        matches!(self, Self::Stream(_))
    }

    /// How a feature comes out of its column; `None` where it is the column itself.
    #[must_use]
    pub fn origin(&self, id: FeatureId) -> Option<Origin> {
        match self {
            Self::Table(table) => table.origin(id),
            Self::Stream(_) => None,
        }
    }

    /// The variant that a feature is, where it is one.
    #[must_use]
    pub fn variant(&self, id: FeatureId) -> Option<Variant> {
        match self {
            Self::Table(table) => table.variant(id),
            Self::Stream(_) => None,
        }
    }

    /// FID, IID and sex of the people of an input of genotypes.
    pub fn people(&self) -> Result<Vec<(String, String, u8)>> {
        match self {
            Self::Table(table) => table.people(),
            Self::Stream(_) => Ok(Vec::new()),
        }
    }

    /// Whether names were made up because the files have none.
    #[must_use]
    pub fn unnamed(&self) -> bool {
        match self {
            Self::Table(table) => table.unnamed(),
            Self::Stream(_) => false,
        }
    }

    fn any(&self) -> &dyn FeatureSource {
        match self {
            Self::Table(table) => table,
            Self::Stream(stream) => &**stream,
        }
    }

    fn any_mut(&mut self) -> &mut dyn FeatureSource {
        match self {
            Self::Table(table) => table,
            Self::Stream(stream) => &mut **stream,
        }
    }
}

impl FeatureSource for InputSource {
    fn rows(&self) -> usize {
        self.any().rows()
    }

    fn row_ids(&self) -> Option<&RowIds> {
        self.any().row_ids()
    }

    fn features(&self) -> Option<u64> {
        self.any().features()
    }

    fn sources(&self) -> &[String] {
        self.any().sources()
    }

    fn column_bytes(&self) -> Option<u64> {
        self.any().column_bytes()
    }

    fn scan_bytes(&self) -> Option<u64> {
        self.any().scan_bytes()
    }

    fn integral(&self) -> bool {
        self.any().integral()
    }

    fn fingerprint(&self) -> u64 {
        self.any().fingerprint()
    }

    fn next_block(&mut self, out: &mut ColumnBlock) -> Result<bool> {
        self.any_mut().next_block(out)
    }

    fn rewind(&mut self) -> Result<()> {
        self.any_mut().rewind()
    }

    fn skip(&mut self, features: u64) -> Result<()> {
        self.any_mut().skip(features)
    }

    fn place(&self, id: FeatureId) -> Option<u64> {
        self.any().place(id)
    }

    fn index(&self, place: u64) -> u64 {
        self.any().index(place)
    }

    fn reorder(&mut self, order: Arc<[u32]>) -> Result<()> {
        self.any_mut().reorder(order)
    }

    fn shard(&self, i: usize, of: usize) -> Result<Box<dyn FeatureSource>> {
        self.any().shard(i, of)
    }
}
