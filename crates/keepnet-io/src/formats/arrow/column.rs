//! Arrow arrays as columns of numbers and as text.

use arrow_array::cast::AsArray;
use arrow_array::types as t;
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::DataType;
use keepnet::{ColumnBlock, ColumnData, Error, NumberKind, Numbers, Result};

use crate::formats::growing::{finish, push_integers};
use crate::input::schema::ColumnKind;
use crate::memory::Charge;

/// What an Arrow type holds.
pub(crate) fn kind(data_type: &DataType) -> ColumnKind {
    use DataType::{
        Boolean, Dictionary, Float32, Float64, Int8, Int16, Int32, Int64, LargeUtf8, Null, UInt8,
        UInt16, UInt32, UInt64, Utf8, Utf8View,
    };
    match data_type {
        Boolean => ColumnKind::Bool,
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 => ColumnKind::Int,
        Float32 | Float64 | Null => ColumnKind::Float,
        Utf8 | LargeUtf8 | Utf8View => ColumnKind::Text,
        // A dictionary is another way to write its values, as in Parquet, where it leaves no trace.
        Dictionary(_, values) if !matches!(**values, Dictionary(..)) => kind(values),
        other => ColumnKind::Other(other.to_string().to_lowercase()),
    }
}

/// Whether a type says that there are no values.
pub(crate) fn blank(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null => true,
        DataType::Dictionary(_, values) => **values == DataType::Null,
        _ => false,
    }
}

/// Offset in `bytes` and type of numbers without missing values that lie there.
pub(crate) fn place(array: &dyn Array, bytes: &[u8]) -> Option<(usize, NumberKind)> {
    if array.null_count() > 0 {
        return None;
    }
    fn start<T: ArrowPrimitiveType>(array: &dyn Array) -> usize {
        array.as_primitive::<T>().values().as_ptr() as usize
    }
    let (start, kind) = match array.data_type() {
        DataType::Float32 => (start::<t::Float32Type>(array), NumberKind::F32),
        DataType::Float64 => (start::<t::Float64Type>(array), NumberKind::F64),
        DataType::UInt8 => (start::<t::UInt8Type>(array), NumberKind::U8),
        DataType::Int8 => (start::<t::Int8Type>(array), NumberKind::I8),
        DataType::UInt16 => (start::<t::UInt16Type>(array), NumberKind::U16),
        DataType::Int16 => (start::<t::Int16Type>(array), NumberKind::I16),
        DataType::Int32 => (start::<t::Int32Type>(array), NumberKind::I32),
        _ => return None,
    };
    let from = start.checked_sub(bytes.as_ptr() as usize)?;
    let end = from + array.len() * kind.size();
    (end <= bytes.len()).then_some((from, kind))
}

/// One column out of its arrays; NaN is missing.
pub(crate) fn widened(
    parts: &[&dyn Array],
    rows: usize,
    spare: &mut ColumnBlock,
) -> Result<ColumnData> {
    let held = parts.first().map(|part| match part.data_type() {
        DataType::Dictionary(_, values) => values,
        plain => plain,
    });
    let wide = held == Some(&DataType::Float64);
    let whole = held.is_some_and(|held| matches!(kind(held), ColumnKind::Int | ColumnKind::Bool));
    let mut values = match wide {
        true => Numbers::F64(spare.buffer64()),
        false => Numbers::F32(spare.buffer32()),
    };
    parts.iter().try_for_each(|part| append(*part, &mut values))?;
    finish(values, whole, rows)
}

fn append(array: &dyn Array, to: &mut Numbers) -> Result<()> {
    match array.data_type() {
        DataType::Float32 => push::<t::Float32Type>(array, to, f64::from),
        DataType::Float64 => push::<t::Float64Type>(array, to, |v| v),
        DataType::Int8 => push::<t::Int8Type>(array, to, f64::from),
        DataType::Int16 => push::<t::Int16Type>(array, to, f64::from),
        DataType::Int32 => push::<t::Int32Type>(array, to, f64::from),
        DataType::Int64 => push::<t::Int64Type>(array, to, |v| v as f64),
        DataType::UInt8 => push::<t::UInt8Type>(array, to, f64::from),
        DataType::UInt16 => push::<t::UInt16Type>(array, to, f64::from),
        DataType::UInt32 => push::<t::UInt32Type>(array, to, f64::from),
        DataType::UInt64 => push::<t::UInt64Type>(array, to, |v| v as f64),
        DataType::Boolean => {
            let number = |v: Option<bool>| v.map_or(f64::NAN, |v| f64::from(u8::from(v)));
            let values: Vec<f64> = array.as_boolean().iter().map(number).collect();
            push_integers(to, &values, |v| v);
        }
        _ if blank(array.data_type()) => push_integers(to, &vec![f64::NAN; array.len()], |v| v),
        DataType::Dictionary(..) => {
            let coded = array.as_any_dictionary();
            let mut levels = Numbers::F64(Vec::new());
            append(coded.values().as_ref(), &mut levels)?;
            let Numbers::F64(levels) = levels else {
                return Err(Error::Data("the levels of a dictionary are no numbers".into()));
            };
            let values: Vec<f64> = match levels.is_empty() {
                // Keys cannot be asked for where there is nothing that they could name.
                true => vec![f64::NAN; array.len()],
                false => {
                    let value = |(row, key): (usize, usize)| {
                        let level = levels.get(key).filter(|_| coded.keys().is_valid(row));
                        level.copied().unwrap_or(f64::NAN)
                    };
                    coded.normalized_keys().into_iter().enumerate().map(value).collect()
                }
            };
            push_integers(to, &values, |v| v);
        }
        other => return Err(Error::Data(format!("an array of {other} is no column of numbers"))),
    }
    Ok(())
}

fn push<T: ArrowPrimitiveType>(
    array: &dyn Array,
    to: &mut Numbers,
    wide: impl Fn(T::Native) -> f64,
) {
    let array = array.as_primitive::<T>();
    if array.null_count() == 0 {
        push_integers(to, array.values(), wide);
    } else {
        let values: Vec<f64> = array.iter().map(|v| v.map_or(f64::NAN, &wide)).collect();
        push_integers(to, &values, |v| v);
    }
}

/// Appends an array of text; what that takes is added to `held`, as few bytes of a file may stand
/// for many texts.
pub(crate) fn as_text(
    array: &dyn Array,
    out: &mut Vec<Option<String>>,
    held: &mut Charge,
) -> Result<()> {
    fn extend<'a>(
        texts: impl Iterator<Item = Option<&'a str>>,
        out: &mut Vec<Option<String>>,
        held: &mut Charge,
    ) -> Result<()> {
        for text in texts {
            held.grow(48 + text.map_or(0, str::len) as u64, "a column of text")?;
            out.push(text.map(String::from));
        }
        Ok(())
    }
    match array.data_type() {
        DataType::Utf8 => extend(array.as_string::<i32>().iter(), out, held),
        DataType::LargeUtf8 => extend(array.as_string::<i64>().iter(), out, held),
        DataType::Utf8View => extend(array.as_string_view().iter(), out, held),
        DataType::Dictionary(..) => {
            let coded = array.as_any_dictionary();
            // Where every value is missing there need be no level, and keys cannot be asked for.
            if coded.values().is_empty() {
                return extend(std::iter::repeat_n(None, array.len()), out, held);
            }
            let mut levels = Vec::new();
            as_text(coded.values().as_ref(), &mut levels, held)?;
            let keys = coded.normalized_keys();
            let text = |(row, key): (usize, usize)| {
                let there = coded.keys().is_valid(row);
                levels.get(key).filter(|_| there).and_then(|level| level.as_deref())
            };
            extend(keys.into_iter().enumerate().map(text), out, held)
        }
        other => Err(Error::Data(format!("an array of {other} is no column of text"))),
    }
}
