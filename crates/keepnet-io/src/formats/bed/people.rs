//! `.fam`: a line a person, of FID, IID, father, mother, sex and phenotype.

use std::path::{Path, PathBuf};

use keepnet::{Error, Result};

use super::{bad_line, read};
use crate::input::series::SeriesValues;
use crate::memory::Charge;
use crate::store::Place;

/// The people of a file.
pub(super) struct People {
    path: PathBuf,
    text: String,
    // Where the line of each person starts.
    lines: Vec<usize>,
    _charge: Charge,
}

impl People {
    pub(super) fn read(path: &Path, place: &Place) -> Result<Self> {
        let (text, charge) = read(path, place)?;
        let (mut lines, mut start) = (Vec::new(), 0);
        for line in text.split_inclusive('\n') {
            let at = start;
            start += line.len();
            let count = line.split_ascii_whitespace().take(7).count();
            if count == 0 {
                continue;
            }
            if count != 6 {
                let more = if count > 6 { "more than 6".into() } else { count.to_string() };
                let want = "expected 6: FID, IID, father, mother, sex, phenotype";
                return Err(bad_line(path, lines.len() + 1, format!("has {more} fields, {want}")));
            }
            lines.push(at);
        }
        if lines.is_empty() {
            return Err(Error::Data("the file has no person".into()).at(path.display()));
        }
        Ok(Self { path: path.into(), text, lines, _charge: charge })
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// A column by its place in [`super::PEOPLE`].
    pub(super) fn series(&self, column: usize) -> Result<SeriesValues> {
        match column {
            0 | 1 => {
                Ok(SeriesValues::Text(self.fields(column).map(|id| Some(id.into())).collect()))
            }
            2 => Ok(numbers(self.sexes())),
            _ => Ok(numbers(self.phenotypes()?)),
        }
    }

    fn fields(&self, field: usize) -> impl Iterator<Item = &str> {
        let line = |at: &usize| self.text[*at..].lines().next().unwrap_or_default();
        self.lines.iter().map(move |at| line(at).split_ascii_whitespace().nth(field).unwrap_or(""))
    }

    /// 1 and 2; anything else is unknown.
    fn sexes(&self) -> Vec<f64> {
        let sex = |text: &str| match text {
            "1" => 1.0,
            "2" => 2.0,
            _ => f64::NAN,
        };
        self.fields(4).map(sex).collect()
    }

    /// Phenotypes. Where all are -9, 0, 1 or 2 they are controls and cases, and 0 is missing too.
    fn phenotypes(&self) -> Result<Vec<f64>> {
        let mut values = Vec::with_capacity(self.len());
        for (row, text) in self.fields(5).enumerate() {
            values.push(phenotype(text).ok_or_else(|| {
                bad_line(
                    &self.path,
                    row + 1,
                    format!("has the phenotype {text:?}, expected a number"),
                )
            })?);
        }
        if values.iter().all(|v| v.is_nan() || [0.0, 1.0, 2.0].contains(v)) {
            values.iter_mut().filter(|v| **v == 0.0).for_each(|v| *v = f64::NAN);
        }
        Ok(values)
    }
}

/// A phenotype, NaN where it is missing; `None` for what is no number.
pub(crate) fn phenotype(text: &str) -> Option<f64> {
    if text == "NA" || text.eq_ignore_ascii_case("nan") || text == "." {
        return Some(f64::NAN);
    }
    let value: f64 = text.parse().ok()?;
    Some(if value == -9.0 { f64::NAN } else { value })
}

/// Numbers as a series.
fn numbers(values: Vec<f64>) -> SeriesValues {
    let integral = values.iter().all(|v| v.is_nan() || v.trunc() == *v);
    SeriesValues::Numbers { values, integral, boolean: false }
}
