//! `.bed` by rows, for methods on samples: some people at a time, a short read of every variant.

use std::collections::HashMap;

use keepnet::{Genotypes, Result};

use super::table::Bed;
use super::{PEOPLE, Variant};
use crate::formats::chunk::{Chunk, ChunkReader, ChunkValues};
use crate::formats::table::{Schema, Table};
use crate::input::schema::ColumnInfo;
use crate::input::series::SeriesValues;
use crate::memory::Charge;
use crate::store::Place;

/// People whose genotypes are a page of the file.
const MOST: usize = 16_384;

struct Strips {
    bed: Bed,
    people: Vec<SeriesValues>,
    at: usize,
    step: usize,
    place: Place,
    _described: Charge,
}

pub(crate) fn open(path: &str, place: &Place) -> Result<Box<dyn ChunkReader>> {
    let bed = Bed::open(path, place)?;
    let people = (0..PEOPLE.len()).map(|c| bed.series(c)).collect::<Result<_>>()?;
    let _described = place.row_columns(bed.columns().len() as u64)?;
    let step = (place.chunk() / (8 * bed.columns().len())).clamp(4, MOST) / 4 * 4;
    Ok(Box::new(Strips { bed, people, at: 0, step, place: place.clone(), _described }))
}

impl Schema for Strips {
    fn columns(&self) -> &[ColumnInfo] {
        self.bed.columns()
    }

    fn fingerprint(&self) -> u64 {
        self.bed.fingerprint()
    }

    fn labels(&self) -> Vec<usize> {
        self.bed.labels()
    }

    fn variant(&self, at: usize) -> Option<Variant> {
        self.bed.variant(at)
    }
}

impl ChunkReader for Strips {
    fn next(&mut self) -> Result<Option<Chunk>> {
        let (first, p) = (self.at, self.columns().len());
        let rows = self.step.min(self.bed.rows() - first);
        if rows == 0 {
            return Ok(None);
        }
        self.place.go_on()?;
        let (mut values, mut texts) = (vec![0.0_f64; rows * p], vec![Vec::new(); p]);
        for (c, series) in self.people.iter().enumerate() {
            match series {
                SeriesValues::Numbers { values: of, .. } => {
                    (0..rows).for_each(|i| values[i * p + c] = of[first + i]);
                }
                SeriesValues::Text(of) => {
                    let mut codes = HashMap::new();
                    for (i, text) in of[first..first + rows].iter().enumerate() {
                        let text = text.as_deref().unwrap_or_default();
                        let next = texts[c].len();
                        let code = *codes.entry(text).or_insert_with(|| {
                            texts[c].push(text.into());
                            next
                        });
                        values[i * p + c] = code as f64;
                    }
                }
            }
        }
        let mut strip = vec![0; rows.div_ceil(4)];
        for c in PEOPLE.len()..p {
            self.bed.copy(c - PEOPLE.len(), first, &mut strip)?;
            let genotypes = Genotypes::new(rows, &strip, f64::NAN);
            let levels = genotypes.levels();
            for i in 0..rows {
                values[i * p + c] = levels[usize::from(genotypes.code(i))];
            }
        }
        self.at += rows;
        Ok(Some(Chunk { rows, values: ChunkValues::F64(values), texts }))
    }

    fn rows(&self) -> Option<u64> {
        Some(self.bed.rows() as u64)
    }

    fn bytes(&self) -> u64 {
        8 * (self.step * self.columns().len()) as u64
    }

    fn rewind(&mut self) -> bool {
        self.at = 0;
        true
    }
}
