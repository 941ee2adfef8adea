//! The columns of a day, as further ones of a stream: places, files and names go on.

use std::collections::HashMap;

use keepnet::{ColumnBlock, Error, FeatureId, FeatureSource, Name, Result};
use keepnet_io::InputSource;

use crate::identity::text_hash;
use crate::state::Past;

/// A source whose features come after those of earlier days.
pub(crate) struct Today<'a> {
    source: &'a mut InputSource,
    past: &'a mut Past,
    again: bool,
    // Features that came before, by the hash of their names.
    known: HashMap<u64, FeatureId>,
    // Places of today's files among those of all days.
    sources: Vec<u32>,
    // Where a feature that came before is today.
    local: HashMap<FeatureId, FeatureId>,
    first: u64,
}

impl<'a> Today<'a> {
    /// With `again` features that came before may come, as those that they were.
    pub(crate) fn new(source: &'a mut InputSource, past: &'a mut Past, again: bool) -> Self {
        let id = |(hash, index, part): &(u64, u64, u32)| {
            (*hash, FeatureId { index: *index, part: *part })
        };
        let known = past.features.iter().map(id).collect();
        let mut place = |file: &String| {
            let found = past.sources.iter().position(|other| other == file);
            found.unwrap_or_else(|| {
                past.sources.push(file.clone());
                past.sources.len() - 1
            }) as u32
        };
        let sources = source.sources().iter().map(&mut place).collect();
        let (local, first) = (HashMap::new(), past.columns);
        Self { source, past, again, known, sources, local, first }
    }

    /// Where features that came before were today.
    pub(crate) fn finish(self) -> HashMap<FeatureId, FeatureId> {
        self.local
    }

    /// The feature of the stream that today's feature `id` is.
    fn id(&mut self, id: FeatureId, name: &Name, file: u32) -> Result<FeatureId> {
        let hash = name.with(text_hash);
        if let Some(before) = self.known.get(&hash) {
            if !self.again {
                let file = &self.source.sources()[file as usize];
                return Err(Error::Data(format!(
                    "feature {name:?} came before in this stream; leave it out with --exclude, or \
                     offer columns once more with --again",
                    name = name.text()
                ))
                .at(file));
            }
            self.local.insert(*before, id);
            return Ok(*before);
        }
        let new = FeatureId { index: self.first + id.index, ..id };
        self.past.features.push((hash, new.index, new.part));
        self.past.columns = self.past.columns.max(new.index + 1);
        Ok(new)
    }
}

impl FeatureSource for Today<'_> {
    fn rows(&self) -> usize {
        self.source.rows()
    }

    fn features(&self) -> Option<u64> {
        self.source.features()
    }

    fn sources(&self) -> &[String] {
        &self.past.sources
    }

    fn column_bytes(&self) -> Option<u64> {
        self.source.column_bytes()
    }

    fn scan_bytes(&self) -> Option<u64> {
        self.source.scan_bytes()
    }

    fn integral(&self) -> bool {
        self.source.integral()
    }

    fn fingerprint(&self) -> u64 {
        self.source.fingerprint()
    }

    fn next_block(&mut self, out: &mut ColumnBlock) -> Result<bool> {
        let before = out.len();
        let more = self.source.next_block(out)?;
        // Made up names go on counting.
        let renamed = self.source.unnamed() && !self.again;
        for column in &mut out.columns_mut()[before..] {
            if renamed {
                column.name = Name::Numbered("f", self.first + column.id.index);
            }
            column.id = self.id(column.id, &column.name, column.source)?;
            column.source = self.sources[column.source as usize];
        }
        Ok(more)
    }

    fn rewind(&mut self) -> Result<()> {
        Err(Error::Unsupported("the columns of a day come once".into()))
    }
}
