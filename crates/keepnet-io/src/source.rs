//! Features out of a table.

use keepnet::{ColumnBlock, Error, FeatureSource, Result};

/// The features of a [`crate::Dataset`], with random access.
pub struct TableSource {
    files: Vec<String>,
}

impl FeatureSource for TableSource {
    fn rows(&self) -> usize {
        0
    }

    fn features(&self) -> Option<u64> {
        None
    }

    fn sources(&self) -> &[String] {
        &self.files
    }

    fn fingerprint(&self) -> u64 {
        0
    }

    fn next_block(&mut self, _: &mut ColumnBlock) -> Result<bool> {
        Err(Error::Unsupported("no format is read yet".into()))
    }

    fn rewind(&mut self) -> Result<()> {
        Ok(())
    }
}
