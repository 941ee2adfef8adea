//! Features out of a table: which columns, in which order, and text as numbers.

use std::sync::Arc;

use keepnet::{
    ColumnBlock, ColumnData, Cursor, Error, FeatureId, FeatureSource, Name, RawColumn, Result,
    RowIds,
};
use serde::{Deserialize, Serialize};

use crate::Categorical;
use crate::formats::bed::Variant;
use crate::formats::table::{Fingerprint, Table};
use crate::input::category::{Category, Coded};
use crate::input::chromosomes::Chromosomes;
use crate::input::dataset::Dataset;
use crate::input::features::{check_covariates, choose, no_feature};
use crate::input::schema::{ColumnKind, Way};
use crate::input::series::SeriesValues;

/// One feature: a column of numbers, a coded column of text, or one of its levels.
#[derive(Clone, Copy)]
struct Item {
    column: u32,
    index: u32,
    // Place among the levels, where it is one of them.
    level: Option<u32>,
    // Place in the categories, or `u32::MAX` for a column of numbers.
    category: u32,
}

impl Item {
    fn id(&self) -> FeatureId {
        let index = u64::from(self.index);
        self.level.map_or(FeatureId::new(index), |level| FeatureId::level(index, level))
    }
}

/// What all shards of a source share.
struct Shared {
    table: Arc<dyn Table>,
    files: Vec<String>,
    ids: Option<RowIds>,
    items: Vec<Item>,
    categories: Vec<Category>,
    fingerprint: u64,
    integral: bool,
}

/// The features of a [`Dataset`], with random access.
pub struct TableSource {
    shared: Arc<Shared>,
    cursor: Cursor,
    // The last text column read: its levels come one after the other.
    coded: Option<Coded>,
}

impl TableSource {
    pub(crate) fn new(
        dataset: Dataset,
        not_features: &[String],
        ids: Option<RowIds>,
    ) -> Result<Self> {
        let Dataset { table, files, options, side_covariates, weight, .. } = dataset;
        let labels = table.labels();
        let columns = table.columns();
        let taken = |at: usize| labels.contains(&at) || not_features.contains(&columns[at].name);
        let chromosomes = Chromosomes::new(&options.chromosomes)?;
        let elsewhere = |at: usize| {
            let variant = (!chromosomes.is_empty()).then(|| table.variant(at)).flatten();
            variant.is_some_and(|variant| !chromosomes.contain(&variant.chromosome))
        };
        let taken = |at: usize| taken(at) || elsewhere(at);
        let chosen = choose(columns, &files, &options, taken, Way::Columns)?;
        let names = chosen.iter().map(|at| columns[*at].name.as_str());
        check_covariates(side_covariates.iter().map(String::as_str), names)?;
        let (mut items, mut categories) = (Vec::with_capacity(chosen.len()), Vec::new());
        let (mut print, mut integral) = (Fingerprint::new(), true);
        print.number(table.fingerprint());
        for (index, column) in chosen.into_iter().enumerate() {
            let info = &table.columns()[column];
            let column = column as u32;
            print.number(u64::from(column));
            integral &= info.kind != ColumnKind::Float;
            let item = Item { column, index: index as u32, level: None, category: u32::MAX };
            if info.kind != ColumnKind::Text {
                items.push(item);
                continue;
            }
            let file = &files[info.file as usize];
            let category = Category::new(&*table, column as usize, weight.as_deref());
            let category = category.map_err(|e| e.at(file))?;
            let item = Item { category: categories.len() as u32, ..item };
            match options.categorical {
                Categorical::OneHot => {
                    let levels = category.indicated();
                    items.extend(levels.map(|level| Item { level: Some(level), ..item }));
                }
                _ => items.push(item),
            }
            categories.push(category);
        }
        if items.is_empty() {
            return Err(no_feature(&files));
        }
        let fingerprint = print.finish();
        let shared = Shared { table, files, ids, items, categories, fingerprint, integral };
        Ok(Self { shared: Arc::new(shared), cursor: Cursor::default(), coded: None })
    }

    /// The variant that a feature is, where it is one.
    #[must_use]
    pub fn variant(&self, id: FeatureId) -> Option<Variant> {
        let at = self.shared.items.binary_search_by_key(&id.base(), Item::id).ok()?;
        self.shared.table.variant(self.shared.items[at].column as usize)
    }

    /// FID, IID and sex (1, 2, or 0 where it is not known) of the people of an input of genotypes.
    pub fn people(&self) -> Result<Vec<(String, String, u8)>> {
        let table = &self.shared.table;
        let column = |name: &str| {
            let at = table.columns().iter().position(|column| column.name == name);
            let at = at.ok_or_else(|| Error::Data(format!("the input has no column {name:?}")))?;
            table.series(at)
        };
        let text = |name: &str| match column(name)? {
            SeriesValues::Text(ids) => Ok(ids.into_iter().map(Option::unwrap_or_default)),
            SeriesValues::Numbers { .. } => Err(Error::Data(format!("{name} is no text"))),
        };
        let sex = match column("SEX")? {
            SeriesValues::Numbers { values, .. } => values,
            SeriesValues::Text(_) => return Err(Error::Data("SEX is text".into())),
        };
        // Unknown is NaN, which becomes 0.
        let people = text("FID")?.zip(text("IID")?).zip(sex);
        Ok(people.map(|((fid, iid), sex)| (fid, iid, sex as u8)).collect())
    }

    fn category(&mut self, item: Item) -> Result<RawColumn> {
        let shared = &self.shared;
        let category = &shared.categories[item.category as usize];
        let info = &shared.table.columns()[item.column as usize];
        if self.coded.as_ref().is_none_or(|coded| coded.column != item.column) {
            let file = &shared.files[info.file as usize];
            let coded = category.code(&*shared.table, item.column).map_err(|e| e.at(file))?;
            self.coded = Some(coded);
        }
        let coded = self.coded.as_ref().expect("it was just read");
        let (name, data) = match item.level {
            None => (info.name.clone(), coded.numbers()),
            Some(level) => {
                (format!("{}={}", info.name, category.level(level)), coded.indicator(level))
            }
        };
        Ok(RawColumn { id: item.id(), name: name.into(), source: info.file, data })
    }
}

/// How a feature comes out of a column of the input, where it is not the column itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Origin {
    /// 1 where the column has this level.
    Level {
        /// The column.
        column: String,
        /// The level.
        level: String,
    },
    /// The place of the column's text among these levels.
    Codes {
        /// The column.
        column: String,
        /// The levels in the order of their codes.
        levels: Vec<String>,
    },
    /// 1 where the column has no value.
    Missing {
        /// The column.
        column: String,
        /// Always true.
        missing: bool,
    },
}

impl Origin {
    /// The column of the input.
    #[must_use]
    pub fn column(&self) -> &str {
        match self {
            Self::Level { column, .. }
            | Self::Codes { column, .. }
            | Self::Missing { column, .. } => column,
        }
    }
}

impl TableSource {
    /// Whether names were made up, as `f` and the place of the column, because the files have none.
    #[must_use]
    pub fn unnamed(&self) -> bool {
        self.shared.table.unnamed()
    }

    /// How a feature comes out of its column; `None` where it is the column itself.
    #[must_use]
    pub fn origin(&self, id: FeatureId) -> Option<Origin> {
        let shared = &self.shared;
        let item = shared.items[self.place(id)? as usize];
        let column = shared.table.columns()[item.column as usize].name.clone();
        if id != id.base() {
            return Some(Origin::Missing { column, missing: true });
        }
        let category = shared.categories.get(item.category as usize)?;
        Some(match item.level {
            Some(level) => Origin::Level { column, level: category.level(level).into() },
            None => Origin::Codes { column, levels: category.levels().to_vec() },
        })
    }
}

impl FeatureSource for TableSource {
    fn rows(&self) -> usize {
        self.shared.table.rows()
    }

    fn row_ids(&self) -> Option<&RowIds> {
        self.shared.ids.as_ref()
    }

    fn features(&self) -> Option<u64> {
        Some(self.cursor.len(self.shared.items.len() as u64))
    }

    fn sources(&self) -> &[String] {
        &self.shared.files
    }

    fn column_bytes(&self) -> Option<u64> {
        Some(self.shared.table.column_bytes())
    }

    fn scan_bytes(&self) -> Option<u64> {
        Some(self.shared.table.scan_bytes())
    }

    fn integral(&self) -> bool {
        self.shared.integral
    }

    fn fingerprint(&self) -> u64 {
        self.shared.fingerprint
    }

    fn next_block(&mut self, out: &mut ColumnBlock) -> Result<bool> {
        let shared = Arc::clone(&self.shared);
        let (before, room) = (out.len(), out.room());
        let all = shared.items.len() as u64;
        let mut items = Vec::with_capacity(room.min(shared.items.len()));
        while items.len() < room
            && let Some(at) = self.cursor.next(all)
        {
            items.push(shared.items[at as usize]);
        }
        let numbers = items.iter().filter(|item| item.category == u32::MAX);
        let at: Vec<usize> = numbers.map(|item| item.column as usize).collect();
        let mut read: Vec<ColumnData> = Vec::with_capacity(at.len());
        shared.table.read(&at, out, &mut read).map_err(|e| match &shared.files[..] {
            [file] => e.at(file),
            _ => e,
        })?;
        let mut read = read.into_iter();
        for item in items {
            if item.category != u32::MAX {
                out.push(self.category(item)?);
                continue;
            }
            let info = &shared.table.columns()[item.column as usize];
            let name = match shared.table.number(item.column as usize) {
                Some(number) => Name::Numbered("", number),
                None => out.name(&info.name),
            };
            out.push(RawColumn {
                id: item.id(),
                name,
                source: info.file,
                data: read.next().expect("a column was read for each item"),
            });
        }
        Ok(out.len() > before)
    }

    fn rewind(&mut self) -> Result<()> {
        self.cursor.rewind();
        Ok(())
    }

    fn skip(&mut self, features: u64) -> Result<()> {
        self.cursor.skip(features);
        Ok(())
    }

    fn place(&self, id: FeatureId) -> Option<u64> {
        let found = self.shared.items.binary_search_by_key(&id.base(), Item::id);
        found.ok().map(|place| place as u64)
    }

    fn index(&self, place: u64) -> u64 {
        self.shared.items.get(place as usize).map_or(place, |item| u64::from(item.index))
    }

    fn reorder(&mut self, order: Arc<[u32]>) -> Result<()> {
        let features = self.shared.items.len();
        if let Some(bad) = order.iter().find(|at| **at as usize >= features) {
            return Err(Error::Data(format!("the order has feature {bad} of {features}")));
        }
        self.cursor.reorder(order);
        Ok(())
    }

    fn shard(&self, i: usize, of: usize) -> Result<Box<dyn FeatureSource>> {
        let (shared, cursor) = (Arc::clone(&self.shared), self.cursor.shard(i, of));
        Ok(Box::new(Self { shared, cursor, coded: None }))
    }
}
