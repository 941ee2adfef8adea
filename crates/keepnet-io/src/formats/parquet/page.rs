//! The headers of Parquet pages, checked before a page is decoded.
//!
//! A column chunk is pages one after the other, each with a header in Thrift's compact protocol:
//!
//! ```text
//! 1 type  2 unpacked size  3 packed size  5 data {1 values}  7 dictionary {1 values}
//! 8 data, version 2 {1 values, 2 nulls, 3 rows, 5 and 6 bytes of levels}
//! ```
//!
//! The decoder reserves what a header claims. A page must lie in its chunk, unpack to a size that
//! its codec can reach, and hold the values of its rows and no others.
//!
//! Source: Apache Parquet, parquet.thrift; Apache Thrift, "Thrift compact protocol".

use parquet::basic::{Compression, Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;

/// What a header says of its page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    kind: Kind,
    /// Bytes of the header.
    pub(crate) head: u64,
    pub(crate) packed: u64,
    pub(crate) unpacked: u64,
    values: u64,
    nulls: u64,
    rows: Option<u64>,
    levels: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    Data,
    Index,
    Dictionary,
    DataV2,
    #[default]
    Unknown,
}

impl Page {
    /// Whether it holds the dictionary.
    pub(crate) fn is_dictionary(&self) -> bool {
        self.kind == Kind::Dictionary
    }
}

type Checked<T> = std::result::Result<T, ParquetError>;

fn bad(what: impl Into<String>) -> ParquetError {
    ParquetError::General(what.into())
}

/// Most bytes that a byte of a codec unpacks to.
fn ratio(codec: Compression) -> u64 {
    match codec {
        Compression::UNCOMPRESSED => 1,
        // A copy of 64 bytes takes three.
        Compression::SNAPPY => 64,
        Compression::GZIP(_) => 1040,
        Compression::LZ4 | Compression::LZ4_RAW => 256,
        // A block of 128 KiB takes four.
        Compression::ZSTD(_) => 1 << 15,
        // A copy of 16 MiB takes a few.
        _ => 1 << 24,
    }
}

/// Goes through the pages of a chunk and checks each. `read` gives the bytes from a place on: as
/// many as asked for, or as there are.
pub(crate) fn each_page(
    chunk: &ColumnChunkMetaData,
    rows: usize,
    mut read: impl FnMut(u64, usize) -> Checked<Vec<u8>>,
    mut each: impl FnMut(&Page),
) -> Checked<()> {
    let (mut at, size) = chunk.byte_range();
    let (end, flat) = (at.saturating_add(size), chunk.column_descr().max_rep_level() == 0);
    let mut left = rows as u64;
    while at < end {
        if flat && left == 0 {
            // Readers stop when the rows are there; what follows is padding.
            return Ok(());
        }
        let page = header(at, end, &mut read)?;
        check(chunk, &page, end - at)?;
        if flat && matches!(page.kind, Kind::Data | Kind::DataV2) {
            left = left.checked_sub(page.values).ok_or_else(|| {
                bad(format!("a page claims {} values where {left} rows are left", page.values))
            })?;
        }
        each(&page);
        at += page.head + page.packed;
    }
    match flat && left > 0 {
        true => Err(bad(format!("{left} of {rows} rows are not there"))),
        false => Ok(()),
    }
}

/// The header at a place; statistics may make it long.
fn header(
    at: u64,
    end: u64,
    read: &mut impl FnMut(u64, usize) -> Checked<Vec<u8>>,
) -> Checked<Page> {
    let mut want = 512_u64;
    loop {
        let bytes = read(at, want.min(end - at) as usize)?;
        let mut thrift = Thrift { bytes: &bytes, at: 0 };
        if let Some(page) = thrift.page() {
            return Ok(Page { head: thrift.at as u64, ..page });
        }
        if want >= end - at || want > 16 << 20 {
            return Err(bad(format!("the page at byte {at} has no valid header")));
        }
        want *= 8;
    }
}

fn check(chunk: &ColumnChunkMetaData, page: &Page, room: u64) -> Checked<()> {
    let codec = chunk.compression();
    if page.head.saturating_add(page.packed) > room {
        return Err(bad("a page lies past the end of its column"));
    }
    if page.unpacked > page.packed.saturating_mul(ratio(codec)).saturating_add(64) {
        let (packed, unpacked) = (page.packed, page.unpacked);
        return Err(bad(format!("a page of {packed} bytes claims to unpack to {unpacked}")));
    }
    if page.nulls > page.values || page.rows.is_some_and(|rows| rows > page.values) {
        return Err(bad("a page has more rows or missing values than values"));
    }
    if page.levels > page.unpacked || page.levels > page.packed {
        return Err(bad("the levels of a page are longer than the page"));
    }
    let width = match chunk.column_type() {
        Type::BOOLEAN => 0,
        Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
        Type::INT64 | Type::DOUBLE => 8,
        Type::INT96 => 12,
        Type::FIXED_LEN_BYTE_ARRAY => {
            u64::try_from(chunk.column_descr().type_length()).unwrap_or(1)
        }
    };
    match page.kind {
        Kind::Unknown => Err(bad("a page is of an unknown kind")),
        Kind::Dictionary if page.values.saturating_mul(width) > page.unpacked => {
            Err(bad("a dictionary claims more values than it has bytes"))
        }
        _ => Ok(()),
    }
}

/// A reader of Thrift's compact protocol; `None` where the bytes end or make no sense.
struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(value);
            }
            shift += 7;
            if shift > 63 {
                return None;
            }
        }
    }

    /// A number that is not negative.
    fn size(&mut self, kind: u8) -> Option<u64> {
        if !(4..=6).contains(&kind) {
            return None;
        }
        let value = self.varint()?;
        // Zigzag: odd values are negative.
        value.is_multiple_of(2).then_some(value / 2).filter(|v| *v <= i32::MAX as u64)
    }

    /// Goes through the fields of a struct.
    fn fields(&mut self, mut each: impl FnMut(&mut Self, i64, u8) -> Option<()>) -> Option<()> {
        let mut id = 0_i64;
        loop {
            let byte = self.byte()?;
            let (delta, kind) = (byte >> 4, byte & 0xf);
            if kind == 0 {
                return Some(());
            }
            id = match delta {
                0 => {
                    let value = self.varint()?;
                    (value >> 1) as i64 ^ -((value & 1) as i64)
                }
                delta => id + i64::from(delta),
            };
            each(self, id, kind)?;
        }
    }

    fn skip(&mut self, kind: u8, depth: u32) -> Option<()> {
        if depth > 16 {
            return None;
        }
        match kind {
            // A boolean field is its own header.
            1 | 2 => Some(()),
            3 => self.byte().map(|_| ()),
            4..=6 => self.varint().map(|_| ()),
            7 => self.pass(8),
            8 => {
                let length = self.varint()?;
                self.pass(usize::try_from(length).ok()?)
            }
            9 | 10 => {
                let byte = self.byte()?;
                let (short, kind) = (byte >> 4, byte & 0xf);
                let count = if short == 15 { self.varint()? } else { u64::from(short) };
                (0..count).try_for_each(|_| self.element(kind, depth))
            }
            11 => {
                let count = self.varint()?;
                if count == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.element(kinds >> 4, depth)?;
                    self.element(kinds & 0xf, depth)
                })
            }
            12 => self.fields(|thrift, _, kind| thrift.skip(kind, depth + 1)),
            _ => None,
        }
    }

    /// Passes over an element of a list, where a boolean takes a byte.
    fn element(&mut self, kind: u8, depth: u32) -> Option<()> {
        if matches!(kind, 1 | 2) { self.pass(1) } else { self.skip(kind, depth + 1) }
    }

    fn pass(&mut self, bytes: usize) -> Option<()> {
        self.at = self.at.checked_add(bytes).filter(|at| *at <= self.bytes.len())?;
        Some(())
    }

    fn page(&mut self) -> Option<Page> {
        let mut page = Page::default();
        let mut sizes = 0;
        self.fields(|thrift, id, kind| {
            match (id, kind) {
                (1, _) => {
                    page.kind = match thrift.size(kind)? {
                        0 => Kind::Data,
                        1 => Kind::Index,
                        2 => Kind::Dictionary,
                        3 => Kind::DataV2,
                        _ => Kind::Unknown,
                    };
                }
                (2, _) => {
                    page.unpacked = thrift.size(kind)?;
                    sizes |= 1;
                }
                (3, _) => {
                    page.packed = thrift.size(kind)?;
                    sizes |= 2;
                }
                (5 | 7, 12) => thrift.fields(|thrift, id, kind| match id {
                    1 => {
                        page.values = thrift.size(kind)?;
                        Some(())
                    }
                    _ => thrift.skip(kind, 0),
                })?,
                (8, 12) => thrift.fields(|thrift, id, kind| {
                    match id {
                        1 => page.values = thrift.size(kind)?,
                        2 => page.nulls = thrift.size(kind)?,
                        3 => page.rows = Some(thrift.size(kind)?),
                        5 | 6 => page.levels += thrift.size(kind)?,
                        _ => thrift.skip(kind, 0)?,
                    }
                    Some(())
                })?,
                _ => thrift.skip(kind, 0)?,
            }
            Some(())
        })?;
        (sizes == 3).then_some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data page of 300 bytes that unpack to 400, with 50 values and statistics of two bytes,
    /// written by hand from the description of the protocol.
    const HEADER: [u8; 21] = [
        0x15, 0x00, // 1: i32 0
        0x15, 0xa0, 0x06, // 2: i32 400
        0x15, 0xd8, 0x04, // 3: i32 300
        0x2c, 0x15, 0x64, 0x15, 0x00, // 5: struct, 1: i32 50, 2: i32 0
        0x3c, 0x18, 0x02, 7, 9, 0x00, // 5: struct, 1: binary of 2
        0x00, 0x00,
    ];

    #[test]
    fn a_header_is_read_field_by_field() {
        let mut thrift = Thrift { bytes: &HEADER, at: 0 };
        let page = thrift.page().unwrap();
        let want =
            Page { kind: Kind::Data, packed: 300, unpacked: 400, values: 50, ..Page::default() };
        assert_eq!((page, thrift.at), (want, HEADER.len()));
    }

    #[test]
    fn a_cut_or_negative_header_is_none() {
        for cut in 0..HEADER.len() {
            assert_eq!(Thrift { bytes: &HEADER[..cut], at: 0 }.page(), None);
        }
        let mut negative = HEADER;
        negative[3] = 0xa1;
        assert_eq!(Thrift { bytes: &negative, at: 0 }.page(), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_a_header_or_none(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80)
        ) {
            let mut thrift = Thrift { bytes: &bytes, at: 0 };
            thrift.page();
            proptest::prop_assert!(thrift.at <= bytes.len());
        }
    }
}
