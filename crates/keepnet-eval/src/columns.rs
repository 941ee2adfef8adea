//! The columns that some method selected, read once more for the judges.

use std::collections::BTreeMap;
use std::sync::Arc;

use keepnet::selection::{Selected, Selection};
use keepnet::{
    Bytes, ColumnBlock, Error, FeatureId, FeatureSource, Missing, Problem, RawColumn, Result,
};

/// Values of features, one for each row that counts; NaN is missing.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    values: BTreeMap<FeatureId, (String, Vec<f64>)>,
}

impl Columns {
    /// Reads the columns that are wanted, within `limit` bytes; those that do not come are absent.
    pub fn read(
        source: &mut dyn FeatureSource,
        wanted: &[FeatureId],
        problem: &Problem,
        limit: Option<u64>,
    ) -> Result<Self> {
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let need = 8 * (wanted.len() * problem.n()) as u64;
        if let Some(limit) = limit.filter(|limit| need > *limit) {
            let what = "judging the selected columns".into();
            let advice = "raise --memory, or lower k";
            return Err(Error::Budget { what, need: Bytes(need), have: Bytes(limit), advice });
        }
        let places = wanted.iter().filter_map(|id| source.place(*id));
        let mut places: Vec<u32> = places.map(|place| place as u32).collect();
        places.dedup();
        // Without random access the whole stream comes again.
        match source.reorder(places.into_iter().collect::<Arc<[u32]>>()) {
            Err(Error::Unsupported(_)) | Ok(()) => {}
            Err(other) => return Err(other),
        }
        source.rewind()?;
        let mut columns = Self::default();
        let mut block = ColumnBlock::new(128);
        let mut more = !wanted.is_empty();
        while more && columns.values.len() < wanted.len() {
            block.reset(128);
            more = source.next_block(&mut block)?;
            for raw in block.columns() {
                columns.take(raw, &wanted, problem);
            }
        }
        Ok(columns)
    }

    /// Whether this feature came.
    #[must_use]
    pub fn has(&self, id: FeatureId) -> bool {
        self.values.contains_key(&id)
    }

    fn take(&mut self, raw: &RawColumn, wanted: &[FeatureId], problem: &Problem) {
        let mut whole = vec![0.0; raw.data.view().rows()];
        let has = |id: &FeatureId| wanted.binary_search(id).is_ok();
        let indicator = Some(raw.id.indicator()).filter(has);
        if !has(&raw.id) && indicator.is_none() {
            return;
        }
        raw.data.view().fill(&mut whole);
        let value = |row: usize| whole[problem.rows.source_row(row)];
        let values: Vec<f64> = (0..problem.n()).map(value).collect();
        if let Some(id) = indicator {
            let missing = values.iter().map(|v| f64::from(u8::from(!v.is_finite()))).collect();
            self.values.insert(id, (format!("{}:missing", raw.name), missing));
        }
        if has(&raw.id) {
            self.values.insert(raw.id, (raw.name.to_string(), values));
        }
    }

    /// The values of a selected feature with missing ones filled as in its training rows: zero,
    /// or the mean that the selection knows, or the mean over `train`.
    pub fn of(
        &self,
        feature: &Selected,
        missing: Missing,
        problem: &Problem,
        train: &[u32],
    ) -> Result<Vec<f64>> {
        let name = &feature.name;
        let lost = || Error::Data(format!("feature {name:?} did not come again"));
        let (found, values) = self.values.get(&feature.id).ok_or_else(lost)?;
        if found != name {
            return Err(Error::Data(format!(
                "feature {} is {found:?} by columns and {name:?} by rows; \
                 compare methods on rows with files that both read alike",
                feature.id.index
            )));
        }
        let fill = match missing {
            Missing::Zero => 0.0,
            _ if feature.mean.is_finite() => feature.mean,
            _ => {
                let known = || train.iter().map(|r| values[*r as usize]).filter(|v| v.is_finite());
                known().sum::<f64>() / known().count().max(1) as f64
            }
        };
        let hole = values.iter().position(|v| !v.is_finite());
        if let (Some(row), Missing::Error) = (hole, missing) {
            let row = problem.rows.source_row(row);
            return Err(Error::Missing { name: name.clone(), row });
        }
        Ok(values.iter().map(|v| if v.is_finite() { *v } else { fill }).collect())
    }

    /// The values of every selected feature, by descending score; those always kept last.
    pub fn table(
        &self,
        selection: &Selection,
        missing: Missing,
        problem: &Problem,
        train: &[u32],
    ) -> Result<Vec<Vec<f64>>> {
        let all = selection.selected.iter().chain(&selection.pinned);
        all.map(|feature| self.of(feature, missing, problem, train)).collect()
    }

    /// Mean and number of missing values of a feature over all rows, missing ones taken as they are
    /// filled; `None` where it did not come or has no value at all.
    #[must_use]
    pub fn stated(&self, id: FeatureId, missing: Missing, problem: &Problem) -> Option<(f64, u32)> {
        let (_, values) = self.values.get(&id)?;
        let weight = |i: usize| problem.weight.as_ref().map_or(1.0, |v| v[i]);
        // About one of the values nothing is lost of a column that is far from zero.
        let first = values.iter().copied().find(|v| v.is_finite())?;
        let (mut sum, mut total, mut holes) = (0.0, 0.0, 0);
        for (i, value) in values.iter().enumerate() {
            let known = value.is_finite();
            holes += u32::from(!known);
            if known || missing == Missing::Zero {
                sum += weight(i) * (if known { *value } else { 0.0 } - first);
                total += weight(i);
            }
        }
        Some((first + sum / total, holes))
    }

    /// Each feature by a number, with its raw values, for [`crate::stability`].
    pub fn iter(&self) -> impl Iterator<Item = (FeatureId, &[f64])> {
        self.values.iter().map(|(id, (_, values))| (*id, values.as_slice()))
    }
}
