//! What the tests share.
#![allow(dead_code)]

pub mod write;

use keepnet::{ColumnBlock, FeatureSource, RowBlock, SampleSource};
use keepnet_io::{OpenOptions, ProblemSpec, open_rows};

/// A directory that disappears at the end of the test.
pub struct Dir(tempfile::TempDir);

impl Dir {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().into()
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.path().join(name), contents).unwrap();
        self.path(name)
    }
}

pub fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| s.to_string()).collect()
}

/// Index, name and values of every feature, read in blocks of three.
pub fn columns(mut source: impl FeatureSource) -> Vec<(u64, String, Vec<f64>)> {
    columns_by(&mut source, 3)
}

pub fn columns_by(source: &mut dyn FeatureSource, width: usize) -> Vec<(u64, String, Vec<f64>)> {
    let mut all = Vec::new();
    let mut block = ColumnBlock::new(width);
    loop {
        block.reset(width);
        while block.room() > 0 && source.next_block(&mut block).unwrap() {}
        if block.is_empty() {
            return all;
        }
        for column in block.columns() {
            let mut values = vec![0.0; source.rows()];
            column.data.view().fill(&mut values);
            all.push((column.id.index, column.name.to_string(), values));
        }
    }
}

/// Every value of a stream of rows, or why it cannot be read.
pub fn rows(
    paths: &[String],
    spec: &ProblemSpec,
    options: &OpenOptions,
) -> keepnet::Result<Vec<Vec<f64>>> {
    let mut source = open_rows(paths, spec, options)?;
    let p = source.names().len();
    let (mut rows, mut block) = (Vec::new(), RowBlock::new(p, 1));
    loop {
        block.reset(64);
        let more = source.next_block(&mut block)?;
        rows.extend(block.rows().map(|row| (0..p).map(|j| row.get(j)).collect::<Vec<_>>()));
        if !more {
            return Ok(rows);
        }
    }
}
