//! Which Parquet types are numbers, which are text, and which are neither.

use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::schema::types::ColumnDescriptor;

use crate::input::schema::ColumnKind;

/// What a flat column holds.
pub(crate) fn kind(column: &ColumnDescriptor) -> ColumnKind {
    if let Some(other) = annotation(column) {
        return ColumnKind::Other(other.into());
    }
    match column.physical_type() {
        _ if blank(column) => ColumnKind::Float,
        Type::BOOLEAN => ColumnKind::Bool,
        Type::INT32 | Type::INT64 => ColumnKind::Int,
        Type::FLOAT | Type::DOUBLE => ColumnKind::Float,
        Type::INT96 => ColumnKind::Other("timestamp".into()),
        Type::BYTE_ARRAY if is_text(column) => ColumnKind::Text,
        Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => ColumnKind::Other("binary".into()),
    }
}

/// Whether its type says that it has no values; what it is stored as means nothing then.
pub(crate) fn blank(column: &ColumnDescriptor) -> bool {
    matches!(column.logical_type_ref(), Some(LogicalType::Unknown))
}

fn is_text(column: &ColumnDescriptor) -> bool {
    matches!(
        column.logical_type_ref(),
        Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)
    ) || matches!(
        column.converted_type(),
        ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON
    )
}

/// A meaning that makes the stored integers or bytes something else than a number.
fn annotation(column: &ColumnDescriptor) -> Option<&'static str> {
    match column.logical_type_ref() {
        Some(LogicalType::Date) => return Some("date"),
        Some(LogicalType::Time(_)) => return Some("time"),
        Some(LogicalType::Timestamp(_)) => return Some("timestamp"),
        Some(LogicalType::Decimal(_)) => return Some("decimal"),
        Some(LogicalType::Float16) => return Some("float16"),
        Some(LogicalType::Uuid) => return Some("uuid"),
        _ => {}
    }
    match column.converted_type() {
        ConvertedType::DATE => Some("date"),
        ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS => Some("time"),
        ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIMESTAMP_MICROS => Some("timestamp"),
        ConvertedType::DECIMAL => Some("decimal"),
        ConvertedType::INTERVAL => Some("interval"),
        _ => None,
    }
}

/// Whether the stored integers are unsigned.
pub(crate) fn unsigned(column: &ColumnDescriptor) -> bool {
    use ConvertedType::{UINT_8, UINT_16, UINT_32, UINT_64};
    matches!(column.converted_type(), UINT_8 | UINT_16 | UINT_32 | UINT_64)
        || matches!(column.logical_type_ref(), Some(LogicalType::Integer(int)) if !int.is_signed)
}
