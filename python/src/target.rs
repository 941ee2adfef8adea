//! Target and weights from Python.

use keepnet::{Problem, Target};
use keepnet_run::lanes::Whole;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A vector of f64.
pub fn numbers(array: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let array: PyReadonlyArray1<'_, f64> = array.extract()?;
    Ok(array.as_array().iter().copied().collect())
}

/// A vector of places.
pub fn places(array: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    let array: PyReadonlyArray1<'_, i64> = array.extract()?;
    array.as_array().iter().map(|place| Ok(usize::try_from(*place)?)).collect()
}

/// The rows of a column stream: `y` holds numbers, or codes into `classes`.
fn whole(
    y: &Bound<'_, PyAny>,
    classes: Option<Vec<String>>,
    weight: Option<&Bound<'_, PyAny>>,
    balanced: bool,
) -> PyResult<Whole> {
    let y = numbers(y)?;
    let target = match classes {
        None => Target::Numbers(y),
        Some(names) => {
            let code = |y: &f64| {
                let code = *y as u32;
                (f64::from(code) == *y && (code as usize) < names.len()).then_some(code)
            };
            let codes: Option<Vec<u32>> = y.iter().map(code).collect();
            let codes = codes.ok_or_else(|| PyValueError::new_err("a class without a name"))?;
            Target::Classes { names, codes }
        }
    };
    let mut problem = Problem::new(target);
    problem.weight = weight.map(numbers).transpose()?;
    Ok(Whole { problem: problem.into(), balanced })
}

/// One target of a run.
pub struct Aim {
    /// Its name, where there are several.
    pub name: String,
    /// Its rows.
    pub whole: Whole,
}

/// A target as Python has it: its name, its values, its classes, and whether these are balanced.
pub type Told<'py> = (String, Bound<'py, PyAny>, Option<Vec<String>>, bool);

/// The targets of a run, at least one.
pub fn aims(targets: Vec<Told<'_>>, weight: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Aim>> {
    if targets.is_empty() {
        return Err(PyValueError::new_err("there is no target"));
    }
    let one = |(name, y, classes, balanced): Told<'_>| {
        Ok(Aim { name, whole: whole(&y, classes, weight, balanced)? })
    };
    targets.into_iter().map(one).collect()
}

/// The problem of all rows, where one selection is all that is asked.
pub fn problem(
    y: &Bound<'_, PyAny>,
    classes: Option<Vec<String>>,
    weight: Option<&Bound<'_, PyAny>>,
    balanced: bool,
) -> PyResult<Problem> {
    whole(y, classes, weight, balanced)?.all().map_err(|error| crate::error::raise(&error))
}
