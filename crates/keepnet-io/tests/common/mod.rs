//! What the tests share.
#![allow(dead_code)]

pub mod write;

use keepnet::{ColumnBlock, FeatureSource};

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
            all.push((column.id.index, column.name.clone(), values));
        }
    }
}
