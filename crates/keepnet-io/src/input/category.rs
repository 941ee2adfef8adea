//! Text columns as numbers: a code a level, or a column of zeros and ones for each level but
//! the most frequent.

use std::collections::{BTreeMap, HashMap};

use keepnet::{ColumnData, Error, Result};

use crate::formats::table::Table;
use crate::input::series::SeriesValues;

/// Sums of weights that differ by less than this share are equal.
const SAME: f64 = 1e-9;

/// The sorted levels of a text column.
pub(crate) struct Category {
    levels: Vec<String>,
    reference: u32,
}

impl Category {
    /// Levels of all rows; how frequent they are goes by the `weight` of each row, or by rows
    /// where there is none.
    pub(crate) fn new(table: &dyn Table, column: usize, weight: Option<&[f64]>) -> Result<Self> {
        let mut counts: BTreeMap<String, f64> = BTreeMap::new();
        for (row, level) in text(table, column)?.into_iter().enumerate() {
            if let Some(level) = level {
                *counts.entry(level).or_default() += weight.map_or(1.0, |weight| weight[row]);
            }
        }
        // The first of several that are as frequent, whatever order their weights were added in.
        let most = counts.values().copied().fold(0.0, f64::max) * (1.0 - SAME);
        let reference = counts.values().position(|count| *count >= most).unwrap_or(0) as u32;
        Ok(Self { levels: counts.into_keys().collect(), reference })
    }

    /// The levels that become features: all but the most frequent, which is the reference.
    pub(crate) fn indicated(&self) -> impl Iterator<Item = u32> + use<> {
        let reference = self.reference;
        (0..self.levels.len() as u32).filter(move |level| *level != reference)
    }

    /// Every level in order.
    pub(crate) fn levels(&self) -> &[String] {
        &self.levels
    }

    pub(crate) fn level(&self, at: u32) -> &str {
        &self.levels[at as usize]
    }

    /// Reads the column as codes.
    pub(crate) fn code(&self, table: &dyn Table, column: u32) -> Result<Coded> {
        let map: HashMap<&str, u32> = self
            .levels
            .iter()
            .enumerate()
            .map(|(code, level)| (level.as_str(), code as u32))
            .collect();
        let code = |value: &Option<String>| match value {
            None => Ok(u32::MAX),
            Some(level) => map.get(level.as_str()).copied().ok_or_else(|| {
                Error::Data(format!("the level {level:?} was not there when the file was opened"))
            }),
        };
        let codes = text(table, column as usize)?.iter().map(code).collect::<Result<_>>()?;
        Ok(Coded { column, codes })
    }
}

fn text(table: &dyn Table, column: usize) -> Result<Vec<Option<String>>> {
    match table.series(column)? {
        SeriesValues::Text(values) => Ok(values),
        SeriesValues::Numbers { .. } => {
            let name = &table.columns()[column].name;
            Err(Error::Data(format!("column {name:?} is not text any more")))
        }
    }
}

/// A text column as codes; `u32::MAX` is missing.
pub(crate) struct Coded {
    pub(crate) column: u32,
    codes: Vec<u32>,
}

impl Coded {
    /// The codes as one column of numbers.
    pub(crate) fn numbers(&self) -> ColumnData {
        let number = |code: &u32| if *code == u32::MAX { f64::NAN } else { f64::from(*code) };
        ColumnData::dense(self.codes.iter().map(number).collect())
    }

    /// 1 where the column has that level; bits unless a value is missing.
    pub(crate) fn indicator(&self, level: u32) -> ColumnData {
        if self.codes.contains(&u32::MAX) {
            let number = |code: &u32| match *code {
                u32::MAX => f64::NAN,
                code => f64::from(u8::from(code == level)),
            };
            return ColumnData::dense(self.codes.iter().map(number).collect());
        }
        let rows = self.codes.len();
        let mut words = vec![0_u64; rows.div_ceil(64)];
        for (row, code) in self.codes.iter().enumerate() {
            words[row / 64] |= u64::from(*code == level) << (row % 64);
        }
        ColumnData::Bits { rows, words }
    }
}
