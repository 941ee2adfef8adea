//! Columns that several lanes of a run hold: one copy of each, as long as any lane has it.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustc_hash::FxHashMap;

use super::block::FeatureId;
use super::column::ColumnData;

/// Entries of columns that nobody holds any more are cleared when there are this many more than
/// at the last clearing.
const LAPSED: usize = 256;

/// Held columns by feature, for lanes that share the check of each column: there a feature has the
/// same values for all of them.
#[derive(Debug, Default)]
pub(crate) struct Pool(Mutex<Held>);

#[derive(Debug, Default)]
struct Held {
    columns: FxHashMap<FeatureId, Weak<ColumnData>>,
    clear_at: usize,
}

impl Pool {
    /// The copy that a lane holds already, or else a new one.
    pub(crate) fn held(&self, id: FeatureId, make: impl FnOnce() -> ColumnData) -> Arc<ColumnData> {
        // A panic between two lines of this function leaves nothing half done.
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(column) = held.columns.get(&id).and_then(Weak::upgrade) {
            return column;
        }
        if held.columns.len() >= held.clear_at {
            held.columns.retain(|_, column| column.strong_count() > 0);
            held.clear_at = held.columns.len() + LAPSED;
        }
        let column = Arc::new(make());
        held.columns.insert(id, Arc::downgrade(&column));
        column
    }
}

/// A column that is shared in memory, and written and read as one of its own.
pub(super) mod one {
    use super::{Arc, ColumnData};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        column: &Arc<ColumnData>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        column.as_ref().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<ColumnData>, D::Error> {
        ColumnData::deserialize(from).map(Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_made_once_while_it_is_held_and_forgotten_when_it_is_not() {
        let pool = Pool::default();
        let make = |value: f64| move || ColumnData::dense(vec![value]);
        let first = pool.held(FeatureId::new(3), make(1.0));
        assert!(Arc::ptr_eq(&first, &pool.held(FeatureId::new(3), make(2.0))));
        drop(first);
        assert_eq!(pool.held(FeatureId::new(3), make(2.0)).view().get(0), 2.0);
        for j in 0..10 * LAPSED as u64 {
            pool.held(FeatureId::new(j), make(0.0));
        }
        assert!(pool.0.lock().unwrap().columns.len() <= LAPSED + 1);
    }
}
