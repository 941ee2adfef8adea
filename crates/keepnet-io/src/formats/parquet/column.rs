//! One column chunk of a Parquet file into the buffer of its column.

use std::sync::Arc;

use keepnet::{ColumnBlock, ColumnData, Numbers, Result};
use parquet::basic::Type;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;

use crate::formats::growing::{finish, push_integers};
use crate::formats::parquet::kind::unsigned;
use crate::formats::parquet::page::each_page;
use crate::formats::parquet::table::Window;

type Parquet<T> = std::result::Result<T, ParquetError>;

/// The values of a column so far, NaN where one is missing.
pub(crate) struct Output {
    values: Numbers,
    unsigned: bool,
    whole: bool,
}

impl Output {
    pub(crate) fn new(column: &ColumnDescriptor, spare: &mut ColumnBlock) -> Self {
        let values = match column.physical_type() {
            Type::DOUBLE => Numbers::F64(spare.buffer64()),
            _ => Numbers::F32(spare.buffer32()),
        };
        let whole = !matches!(column.physical_type(), Type::FLOAT | Type::DOUBLE);
        Self { values, unsigned: unsigned(column), whole }
    }

    /// The column; an error where it does not have `rows` values.
    pub(crate) fn finish(self, rows: usize) -> Result<ColumnData> {
        finish(self.values, self.whole, rows)
    }
}

/// Buffers of one thread, reused from chunk to chunk.
#[derive(Default)]
pub(crate) struct Scratch {
    levels: Vec<i16>,
    int32: Vec<i32>,
    int64: Vec<i64>,
    bools: Vec<bool>,
    floats: Vec<f64>,
}

/// Checks the pages of a chunk; what decoding one of them takes at most.
fn checked(window: &Window, chunk: &ColumnChunkMetaData, rows: usize) -> Parquet<u64> {
    let (mut dictionary, mut data) = (0, 0);
    each_page(
        chunk,
        rows,
        |at, length| Ok(window.get_bytes(at, length)?.to_vec()),
        |page| match page.is_dictionary() {
            // As it stands and as values.
            true => dictionary = 3 * page.unpacked,
            false => data = data.max(page.unpacked),
        },
    )?;
    Ok(dictionary + data)
}

/// Decodes a chunk into `values`, missing values left out; their levels into `levels`.
fn decode<T: DataType>(
    window: &Arc<Window>,
    chunk: &ColumnChunkMetaData,
    rows: usize,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> Parquet<()> {
    levels.clear();
    let work = checked(window, chunk, rows)?;
    let _work = window.meter.take(work, "the pages of a column").map_err(budget)?;
    let column = chunk.column_descr_ptr();
    let pages = SerializedPageReader::new(Arc::clone(window), chunk, rows, None)?;
    let mut reader = ColumnReaderImpl::<T>::new(column, Box::new(pages));
    let optional = chunk.column_descr().max_def_level() > 0;
    let mut left = rows;
    while left > 0 {
        let (got, _, _) = reader.read_records(left, optional.then_some(levels), None, values)?;
        if got == 0 {
            return Err(ParquetError::EOF(format!("{left} of {rows} rows are not there")));
        }
        left -= got;
    }
    Ok(())
}

/// Moves the values after `before` apart, so that rows without a value get `missing`.
fn spread<T: Copy>(values: &mut Vec<T>, before: usize, levels: &[i16], missing: T) {
    let mut from = values.len();
    if levels.is_empty() || from - before == levels.len() {
        return;
    }
    values.resize(before + levels.len(), missing);
    for (row, level) in levels.iter().enumerate().rev() {
        values[before + row] = if *level > 0 {
            from -= 1;
            values[from]
        } else {
            missing
        };
    }
}

/// Appends a chunk of numbers to its column.
pub(crate) fn append(
    window: &Arc<Window>,
    chunk: &ColumnChunkMetaData,
    rows: usize,
    output: &mut Output,
    scratch: &mut Scratch,
) -> Parquet<()> {
    let Scratch { levels, int32, int64, bools, floats } = scratch;
    match (chunk.column_type(), &mut output.values) {
        (Type::FLOAT, Numbers::F32(values)) => {
            let before = values.len();
            values.reserve(rows);
            decode::<FloatType>(window, chunk, rows, levels, values)?;
            spread(values, before, levels, f32::NAN);
        }
        (Type::DOUBLE, Numbers::F64(values)) => {
            let before = values.len();
            values.reserve(rows);
            decode::<DoubleType>(window, chunk, rows, levels, values)?;
            spread(values, before, levels, f64::NAN);
        }
        (Type::INT32, _) => {
            int32.clear();
            decode::<Int32Type>(window, chunk, rows, levels, int32)?;
            let unsigned = output.unsigned;
            let wide = |v: i32| if unsigned { f64::from(v as u32) } else { f64::from(v) };
            integers(int32, levels, floats, output, wide);
        }
        (Type::INT64, _) => {
            int64.clear();
            decode::<Int64Type>(window, chunk, rows, levels, int64)?;
            let unsigned = output.unsigned;
            let wide = |v: i64| if unsigned { v as u64 as f64 } else { v as f64 };
            integers(int64, levels, floats, output, wide);
        }
        (Type::BOOLEAN, _) => {
            bools.clear();
            decode::<BoolType>(window, chunk, rows, levels, bools)?;
            integers(bools, levels, floats, output, |v: bool| f64::from(u8::from(v)));
        }
        (other, _) => return Err(ParquetError::General(format!("{other} is not a number"))),
    }
    Ok(())
}

fn integers<T: Copy>(
    values: &[T],
    levels: &[i16],
    floats: &mut Vec<f64>,
    output: &mut Output,
    wide: impl Fn(T) -> f64,
) {
    if levels.is_empty() || values.len() == levels.len() {
        return push_integers(&mut output.values, values, wide);
    }
    floats.clear();
    floats.extend(values.iter().map(|v| wide(*v)));
    spread(floats, 0, levels, f64::NAN);
    push_integers(&mut output.values, floats, |v| v);
}

/// Appends a chunk of text to its column.
pub(crate) fn append_text(
    window: &Arc<Window>,
    chunk: &ColumnChunkMetaData,
    rows: usize,
    out: &mut Vec<Option<String>>,
) -> Parquet<()> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    decode::<ByteArrayType>(window, chunk, rows, &mut levels, &mut values)?;
    let mut held = window.meter.take(0, "").map_err(budget)?;
    let mut values = values.iter().map(|v| {
        held.grow(48 + v.len() as u64, "a column of text").map_err(budget)?;
        Ok(String::from_utf8_lossy(v.data()).into_owned())
    });
    if levels.is_empty() {
        values.try_for_each(|value: Parquet<String>| {
            out.push(Some(value?));
            Ok(())
        })
    } else {
        levels.iter().try_for_each(|level| {
            out.push(if *level > 0 { values.next().transpose()? } else { None });
            Ok(())
        })
    }
}

fn budget(error: keepnet::Error) -> ParquetError {
    ParquetError::General(error.to_string())
}
