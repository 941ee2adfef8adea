//! Which group a feature belongs to.
//!
//! Groups come from a table of names, from what a name has before a separator, from blocks of
//! neighbouring columns, or from the source itself. A group method sees whole groups: the driver cuts its blocks where
//! groups end, and a shuffled order shuffles groups, whose members stay together in the order
//! of the input.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use rand::seq::SliceRandom;

use super::block::{ColumnBlock, RawColumn};
use super::check::CheckedBlock;
use super::order::generator;
use super::source::FeatureSource;
use crate::error::{Error, Result};

/// How a feature's group is found.
#[derive(Clone, Debug)]
enum Rule {
    Table(HashMap<String, u32>),
    Prefix(String),
    Block(u64),
    Told(GroupNames),
}

/// The groups that a source tells, shared with it: eight bytes and a number a feature.
#[derive(Clone, Debug, Default)]
pub struct GroupNames(Arc<Mutex<Told>>);

#[derive(Debug, Default)]
struct Told {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, u32>,
    // By a hash of the feature's name.
    of: HashMap<u64, u32>,
}

impl GroupNames {
    /// Says which group a feature belongs to, before the feature comes.
    pub fn tell(&self, feature: &str, group: &str) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = match told.numbers.get(group) {
            Some(number) => *number,
            None => {
                let (name, number) = (Arc::<str>::from(group), told.names.len() as u32);
                told.names.push(Arc::clone(&name));
                told.numbers.insert(name, number);
                number
            }
        };
        told.of.insert(hash(feature), number);
    }

    fn group(&self, feature: &str) -> Option<Arc<str>> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.of.get(&hash(feature)).map(|number| Arc::clone(&told.names[*number as usize]))
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Groups by number, with their names.
#[derive(Clone, Debug)]
pub struct Groups {
    rule: Rule,
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Groups {
    fn with(rule: Rule) -> Self {
        Self { rule, names: Vec::new(), numbers: HashMap::new() }
    }

    /// Blocks of `size` neighbouring columns of the input, the last possibly shorter.
    pub fn block(size: u64) -> Result<Self> {
        match size {
            0 => Err(Error::param("groups", "block:0", "block:N with N at least 1")),
            _ => Ok(Self::with(Rule::Block(size))),
        }
    }

    /// What a feature's name has before the first `separator`; the whole name where it has none.
    pub fn prefix(separator: &str) -> Result<Self> {
        match separator {
            "" => Err(Error::param("groups", "prefix:", "prefix:SEP with a separator")),
            _ => Ok(Self::with(Rule::Prefix(separator.into()))),
        }
    }

    /// Groups that the source tells as its features come; see [`Groups::teller`].
    #[must_use]
    pub fn told() -> Self {
        Self::with(Rule::Told(GroupNames::default()))
    }

    /// Where the source tells the groups, where it is the source that does.
    #[must_use]
    pub fn teller(&self) -> Option<GroupNames> {
        match &self.rule {
            Rule::Told(told) => Some(told.clone()),
            _ => None,
        }
    }

    /// Pairs of a feature's name and its group's name.
    pub fn table(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self> {
        let mut groups = Self::with(Rule::Block(1));
        let mut table = HashMap::new();
        for (feature, group) in pairs {
            let number = groups.number(group);
            if table.insert(feature.clone(), number).is_some() {
                return Err(Error::Data(format!("feature {feature:?} is in the groups twice")));
            }
        }
        groups.rule = Rule::Table(table);
        Ok(groups)
    }

    fn number(&mut self, name: String) -> u32 {
        let next = self.names.len() as u32;
        *self.numbers.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        })
    }

    /// The group of a feature by its index and name.
    pub fn of(&mut self, index: u64, name: &str) -> Result<u32> {
        match &self.rule {
            Rule::Block(size) => Ok((index / size) as u32),
            Rule::Prefix(separator) => {
                let prefix = name.split(separator.as_str()).next().unwrap_or(name);
                Ok(match self.numbers.get(prefix) {
                    Some(number) => *number,
                    None => self.number(prefix.into()),
                })
            }
            Rule::Told(told) => {
                let none = || Error::Data(format!("feature {name:?} has no group"));
                let group = told.group(name).ok_or_else(none)?;
                Ok(match self.numbers.get(&*group) {
                    Some(number) => *number,
                    None => self.number(group.to_string()),
                })
            }
            Rule::Table(table) => table.get(name).copied().ok_or_else(|| {
                Error::Data(format!("feature {name:?} has no group; add a line to the groups file"))
            }),
        }
    }

    /// The group of a column.
    pub(crate) fn of_column(&mut self, column: &RawColumn) -> Result<u32> {
        let index = column.id.index;
        match self.rule {
            Rule::Block(_) => self.of(index, ""),
            _ => column.name.with(|name| self.of(index, name)),
        }
    }

    /// Whether two columns are of one group.
    pub(crate) fn same(&mut self, a: &RawColumn, b: &RawColumn) -> Result<bool> {
        Ok(self.of_column(a)? == self.of_column(b)?)
    }

    /// Groups written as `prefix:SEP` or `block:N`; `None` where the text is neither.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        if let Some(separator) = text.strip_prefix("prefix:") {
            return Self::prefix(separator).map(Some);
        }
        let Some(size) = text.strip_prefix("block:") else { return Ok(None) };
        let size = size
            .parse()
            .map_err(|_| Error::param("groups", text, "block:N with a whole number, at least 1"))?;
        Self::block(size).map(Some)
    }

    /// Tells the features of a checked block their groups; `first` is the place of the block's
    /// first column in the scan.
    pub fn assign(
        &mut self,
        checked: &mut CheckedBlock<'_>,
        block: &ColumnBlock,
        first: u64,
    ) -> Result<()> {
        for feature in &mut checked.features {
            // By the column's own name: a missing indicator belongs to its column's group.
            let column = &block.columns()[(feature.arrival - first) as usize];
            feature.group = Some(self.of_column(column)?);
        }
        Ok(())
    }

    /// The name of a group; of a block its number.
    #[must_use]
    pub fn name(&self, group: u32) -> String {
        self.names.get(group as usize).cloned().unwrap_or_else(|| group.to_string())
    }

    /// Names by number, as far as they are known; part of a checkpoint.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// A number that changes with the rule and with the table.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let text = match &self.rule {
            Rule::Block(size) => format!("block {size}"),
            Rule::Prefix(separator) => format!("prefix {separator}"),
            Rule::Told(_) => "told".into(),
            Rule::Table(table) => {
                let mut lines: Vec<_> =
                    table.iter().map(|(name, group)| format!("{name}\t{group}")).collect();
                lines.sort_unstable();
                lines.join("\n")
            }
        };
        u64::from(crc32fast::hash(text.as_bytes()))
    }

    /// Takes up the names of a checkpoint, so that groups keep their numbers.
    pub fn restore(&mut self, names: Vec<String>) {
        if matches!(self.rule, Rule::Prefix(_) | Rule::Told(_)) {
            for name in names {
                self.number(name);
            }
        }
    }

    /// An order in which whole groups are shuffled.
    ///
    /// Blocks are known by index; for the others one pass over the source reads the names.
    pub fn shuffled(
        &mut self,
        source: &mut dyn FeatureSource,
        seed: u64,
        scan: u32,
    ) -> Result<Arc<[u32]>> {
        let features = source.features().ok_or_else(|| {
            Error::Unsupported("a shuffled order needs a source that knows its features".into())
        })?;
        let of: Vec<u32> = match self.rule {
            Rule::Block(size) => {
                (0..features).map(|place| (source.index(place) / size) as u32).collect()
            }
            _ => self.read(source, features)?,
        };
        let count = of.iter().max().map_or(0, |most| *most as usize + 1);
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
        of.iter().enumerate().for_each(|(i, group)| members[*group as usize].push(i as u32));
        members.shuffle(&mut generator(seed, u64::from(scan)));
        Ok(members.into_iter().flatten().collect())
    }

    fn read(&mut self, source: &mut dyn FeatureSource, features: u64) -> Result<Vec<u32>> {
        let mut of = Vec::with_capacity(features as usize);
        let mut block = ColumnBlock::new(256);
        source.reorder((0..features as u32).collect())?;
        source.rewind()?;
        loop {
            block.reset(256);
            if !source.next_block(&mut block)? {
                return Ok(of);
            }
            for column in block.columns() {
                of.push(self.of_column(column)?);
            }
        }
    }
}

/// Cuts a stream of columns into blocks that end where a group ends.
#[derive(Default)]
pub(crate) struct WholeGroups {
    // Groups that have gone by in this scan.
    past: HashSet<u32>,
    // Columns that were read past the end of the last block.
    next: Vec<RawColumn>,
}

impl WholeGroups {
    /// Groups that have gone by; part of a checkpoint.
    pub(crate) fn past(&self) -> &HashSet<u32> {
        &self.past
    }

    /// Starts a scan at a place where these groups have gone by.
    pub(crate) fn restore(&mut self, past: HashSet<u32>) {
        self.past = past;
        self.next.clear();
    }

    /// Reads whole groups, about `width` columns or one group that is longer.
    pub(crate) fn fill(
        &mut self,
        groups: &mut Groups,
        source: &mut dyn FeatureSource,
        block: &mut ColumnBlock,
        width: usize,
    ) -> Result<()> {
        block.reset(width.max(self.next.len()));
        self.next.drain(..).for_each(|column| block.push(column));
        // Columns from the first on that are known to be of one group: a long group is looked
        // through once, and not anew at every widening.
        let mut known = 0;
        loop {
            while block.room() > 0 && source.next_block(block)? {}
            if block.room() > 0 {
                return self.pass(groups, block);
            }
            let columns = block.columns();
            let last = groups.of_column(&columns[columns.len() - 1])?;
            let mut cut = columns.len();
            while cut > known && groups.of_column(&columns[cut - 1])? == last {
                cut -= 1;
            }
            if cut > known || known > 0 && groups.of_column(&columns[0])? != last {
                self.next = block.split_off(cut);
                return self.pass(groups, block);
            }
            known = columns.len();
            block.widen(width);
        }
    }

    /// Notes the groups of a block; one that comes a second time is in pieces.
    pub(crate) fn pass(&mut self, groups: &mut Groups, block: &ColumnBlock) -> Result<()> {
        let mut current = None;
        for column in block.columns() {
            let group = groups.of_column(column)?;
            if current != Some(group) && !self.past.insert(group) {
                return Err(Error::Data(format!(
                    "group {:?} comes in pieces: feature {:?} is apart from its other members; \
                     put them side by side or use `order=shuffled`",
                    groups.name(group),
                    column.name
                )));
            }
            current = Some(group);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ColumnData, Generated};

    fn source(names: &'static [&'static str]) -> Generated {
        let columns = names.iter().map(|_| ColumnData::dense(vec![1.0])).collect();
        Generated::columns(1, columns).with_names(|j| names[j as usize].into())
    }

    #[test]
    fn groups_by_block_prefix_and_table() {
        let mut block = Groups::block(3).unwrap();
        assert_eq!((block.of(2, "c").unwrap(), block.of(3, "d").unwrap()), (0, 1));
        let mut prefix = Groups::prefix("_").unwrap();
        let of: Vec<u32> =
            ["a_1", "b_1", "a_2", "c"].iter().map(|n| prefix.of(0, n).unwrap()).collect();
        assert_eq!((of, prefix.name(2).as_str()), (vec![0, 1, 0, 2], "c"));
        let pairs = [("x", "g"), ("y", "h")].map(|(f, g)| (f.to_string(), g.to_string()));
        let mut table = Groups::table(pairs).unwrap();
        assert_eq!(table.of(9, "y").unwrap(), 1);
        assert!(table.of(9, "z").unwrap_err().to_string().contains("\"z\""));
    }

    #[test]
    fn blocks_end_where_groups_end_however_long_they_are() {
        // Groups of 5, 1, 7, 2, 4 and 1 columns.
        static NAMES: [&str; 20] = [
            "a", "a", "a", "a", "a", "b", "c", "c", "c", "c", "c", "c", "c", "d", "d", "e", "e",
            "e", "e", "f",
        ];
        for width in 1..25 {
            let (mut groups, mut whole) = (Groups::prefix("_").unwrap(), WholeGroups::default());
            let (mut source, mut block) = (source(&NAMES), ColumnBlock::new(width));
            let mut seen: Vec<String> = Vec::new();
            loop {
                whole.fill(&mut groups, &mut source, &mut block, width).unwrap();
                let Some(first) = block.columns().first() else { break };
                assert_ne!(seen.last(), Some(&first.name.to_string()), "width {width}");
                seen.extend(block.columns().iter().map(|column| column.name.to_string()));
            }
            assert_eq!(seen, NAMES, "width {width}");
        }
    }

    #[test]
    fn a_shuffled_order_keeps_groups_whole() {
        static NAMES: [&str; 6] = ["a.1", "b.1", "a.2", "c.1", "b.2", "a.3"];
        let mut groups = Groups::prefix(".").unwrap();
        let orders: Vec<Vec<u32>> = (0..20)
            .map(|scan| groups.shuffled(&mut source(&NAMES), 1, scan).unwrap().to_vec())
            .collect();
        for order in &orders {
            let of: Vec<char> =
                order.iter().map(|i| NAMES[*i as usize].as_bytes()[0] as char).collect();
            let runs = of.chunk_by(|a, b| a == b).count();
            assert_eq!((runs, order.len()), (3, 6));
        }
        assert!(orders.iter().any(|order| *order != orders[0]));
    }
}
