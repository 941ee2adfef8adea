//! One whole column in memory: a target, a weight, a key or a covariate.

/// One whole column.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the file.
    pub name: String,
    /// Its values, one a row.
    pub values: SeriesValues,
}

/// The values of a [`Series`].
#[derive(Clone, Debug)]
pub enum SeriesValues {
    /// Numbers; NaN is missing.
    Numbers {
        /// A number a row.
        values: Vec<f64>,
        /// Whether all of them are integers.
        integral: bool,
        /// Whether the file holds them as booleans.
        boolean: bool,
    },
    /// Text; `None` is missing.
    Text(Vec<Option<String>>),
}

impl Series {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        match &self.values {
            SeriesValues::Numbers { values, .. } => values.len(),
            SeriesValues::Text(values) => values.len(),
        }
    }

    /// Whether the value at `row` is missing.
    #[must_use]
    pub fn is_missing(&self, row: usize) -> bool {
        match &self.values {
            SeriesValues::Numbers { values, .. } => values[row].is_nan(),
            SeriesValues::Text(values) => values[row].is_none(),
        }
    }
}
