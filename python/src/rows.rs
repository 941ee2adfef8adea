//! Rows in Python's memory as a stream of samples: a matrix or CSR.

use std::sync::Arc;

use keepnet::{Error, Numbers, Result, Row, RowBlock, SampleSource};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::columns::Csc;
use crate::memory::Array;

/// Rows as Python hands them over.
pub enum Samples {
    /// A matrix of rows by features.
    Matrix(Array),
    /// Compressed sparse rows.
    Csr { features: usize, rows: Csc },
}

impl Samples {
    /// `("dense", X)` or `("csr", features, indptr, indices, data)`.
    pub fn new(x: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let form: String = x.get_item(0)?.extract()?;
        match form.as_str() {
            "dense" => return Ok(Self::Matrix(Array::matrix(&x.get_item(1)?)?)),
            "csr" => (),
            other => return Err(PyValueError::new_err(format!("rows cannot come as {other:?}"))),
        }
        let (start, index, value) = (x.get_item(2)?, x.get_item(3)?, x.get_item(4)?);
        let features: usize = x.get_item(1)?.extract()?;
        Ok(Self::Csr { features, rows: Csc::new(features, [&start, &index, &value])? })
    }

    fn rows(&self) -> usize {
        match self {
            Self::Matrix(x) => x.shape[0],
            Self::Csr { rows, .. } => rows.lines(),
        }
    }

    fn features(&self) -> usize {
        match self {
            Self::Matrix(x) => x.shape[1],
            Self::Csr { features, .. } => *features,
        }
    }

    /// Appends row `i` to a block.
    fn push(&self, i: usize, y: f64, weight: f64, out: &mut RowBlock) -> Result<()> {
        match self {
            Self::Matrix(x) => {
                let line = x.row(i);
                if let Some(row) = line.slice32() {
                    return out.push(Row::F32(row), y, weight);
                }
                if let Some(row) = line.slice64() {
                    return out.push(Row::F64(row), y, weight);
                }
                let mut values = line.kind().numbers(line.len());
                line.gather(0, line.len(), &mut values);
                match &values {
                    Numbers::F32(row) => out.push(Row::F32(row), y, weight),
                    Numbers::F64(row) => out.push(Row::F64(row), y, weight),
                }
            }
            Self::Csr { rows, .. } => {
                let (index, value) = rows.line(i)?;
                let value = match value {
                    Numbers::F64(value) => value,
                    Numbers::F32(value) => value.into_iter().map(f64::from).collect(),
                };
                out.push(Row::Sparse { index: &index, value: &value }, y, weight)
            }
        }
    }
}

/// Rows in memory as a stream.
pub struct RowSource {
    samples: Samples,
    names: Arc<Vec<String>>,
    y: Vec<f64>,
    weight: Option<Vec<f64>>,
    // Which row comes at each step; else each once, as they are.
    order: Option<Vec<usize>>,
    at: usize,
}

impl RowSource {
    /// Rows with their targets and weights, or with those of each step of an order; lengths and
    /// places are checked here.
    pub fn new(
        samples: Samples,
        names: Arc<Vec<String>>,
        y: Vec<f64>,
        weight: Option<Vec<f64>>,
        order: Option<Vec<usize>>,
    ) -> PyResult<Self> {
        let rows = samples.rows();
        if order.iter().flatten().any(|row| *row >= rows) {
            return Err(PyValueError::new_err(format!("the order has a row beyond {rows}")));
        }
        let rows = order.as_ref().map_or(rows, Vec::len);
        if samples.features() != names.len() {
            let (got, want) = (samples.features(), names.len());
            return Err(PyValueError::new_err(format!("X has {got} features, expected {want}")));
        }
        let lengths = [Some(y.len()), weight.as_ref().map(Vec::len)];
        if lengths.into_iter().flatten().any(|length| length != rows) {
            return Err(PyValueError::new_err("X, y and sample_weight differ in length"));
        }
        Ok(Self { samples, names, y, weight, order, at: 0 })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.y.len()
    }
}

impl SampleSource for RowSource {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn rows(&self) -> Option<u64> {
        Some(self.y.len() as u64)
    }

    fn fingerprint(&self) -> u64 {
        0
    }

    fn next_block(&mut self, out: &mut RowBlock) -> Result<bool> {
        while out.room() > 0 && self.at < self.y.len() {
            let weight = self.weight.as_ref().map_or(1.0, |w| w[self.at]);
            if !weight.is_finite() || weight < 0.0 {
                let text = format!("the sample weight at row {} is {weight}", self.at);
                return Err(Error::Data(format!("{text}; give a finite number of at least 0")));
            }
            // A row without weight is as good as absent.
            if weight > 0.0 {
                let row = self.order.as_ref().map_or(self.at, |order| order[self.at]);
                self.samples.push(row, self.y[self.at], weight, out)?;
            }
            self.at += 1;
        }
        Ok(self.at < self.y.len())
    }
}
