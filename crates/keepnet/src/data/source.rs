//! Where features come from.

use std::sync::Arc;

use rayon::prelude::*;

use super::block::{ColumnBlock, FeatureId, RawColumn};
use super::column::{ColumnData, NumberKind, SharedBytes, SparseEntries};
use super::name::Name;
use crate::error::{Error, Result};

/// Row keys, by which target, weights, covariates and files are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowIds(pub Vec<String>);

/// Yields features in a fixed order, a block at a time, into a buffer that the caller owns.
pub trait FeatureSource: Send {
    /// Rows of every column.
    fn rows(&self) -> usize;

    /// Keys of the rows, where the input has them.
    fn row_ids(&self) -> Option<&RowIds> {
        None
    }

    /// How many features one scan yields; `None` where only the end of the stream tells.
    fn features(&self) -> Option<u64>;

    /// Names of the files or generators that features come from.
    fn sources(&self) -> &[String];

    /// Most bytes that one column takes in memory, where that is known before the stream.
    fn column_bytes(&self) -> Option<u64> {
        None
    }

    /// Bytes that one scan reads, where that is known.
    fn scan_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether the schema says that every column holds integers, booleans or codes.
    fn integral(&self) -> bool {
        false
    }

    /// A number that changes when the data do: size, time and header, never a full read.
    fn fingerprint(&self) -> u64;

    /// Appends columns up to the block's limit; `false` when the stream has ended.
    ///
    /// A source may stop short of the limit; the caller asks again until the block is full or
    /// the stream ends, so where a source's own pages end never shows.
    fn next_block(&mut self, out: &mut ColumnBlock) -> Result<bool>;

    /// Starts another scan; an error where the stream cannot be read again.
    fn rewind(&mut self) -> Result<()>;

    /// Passes over the next `features` features, as when a run resumes.
    fn skip(&mut self, features: u64) -> Result<()> {
        let mut left = features;
        let mut block = ColumnBlock::new(1);
        while left > 0 {
            block.reset(left.min(256) as usize);
            if !self.next_block(&mut block)? {
                return Err(Error::Snapshot("the stream is shorter than it was".into()));
            }
            left -= block.len() as u64;
        }
        Ok(())
    }

    /// Where in the given order a feature comes, or the one that an indicator speaks of.
    ///
    /// `None` where the source yields no such feature.
    fn place(&self, id: FeatureId) -> Option<u64> {
        (id.base().part == 0).then_some(id.index)
    }

    /// The index of the feature at a place of the given order: the levels of a text column have
    /// places of their own and one index.
    fn index(&self, place: u64) -> u64 {
        place
    }

    /// From the next [`FeatureSource::rewind`] on, yields the features in this order of places.
    ///
    /// An error where the source has no random access.
    fn reorder(&mut self, order: Arc<[u32]>) -> Result<()> {
        let _ = order;
        Err(Error::Unsupported(
            "this source has no random access, so its features come in the given order only".into(),
        ))
    }

    /// The share `i` of `of` of the features, for a worker of its own.
    fn shard(&self, i: usize, of: usize) -> Result<Box<dyn FeatureSource>> {
        let _ = (i, of);
        Err(Error::Unsupported("this source cannot be divided between workers".into()))
    }
}

/// Makes one column of a [`Generated`] source, given its index.
pub type MakeColumn = Arc<dyn Fn(u64) -> Result<ColumnData> + Send + Sync>;

/// Features made on demand by a function of their index: generated, or held in memory.
///
/// The function must return the same column each time it is asked for the same index; then
/// the source can be read again, in any order, and divided between workers.
///
/// ```
/// use keepnet::{ColumnBlock, ColumnData, FeatureSource, Generated};
///
/// let mut source = Generated::new("powers", 4, 3, |j| {
///     Ok(ColumnData::dense((0..4).map(|i| f64::from(i).powi(j as i32)).collect()))
/// });
/// let mut block = ColumnBlock::new(2);
/// assert!(source.next_block(&mut block)?);
/// assert_eq!(block.columns()[1].data.view().get(3), 3.0);
/// # Ok::<(), keepnet::Error>(())
/// ```
#[derive(Clone)]
pub struct Generated {
    label: [String; 1],
    rows: usize,
    features: u64,
    make: MakeColumn,
    name: Option<Arc<dyn Fn(u64) -> String + Send + Sync>>,
    // The columns are there already: handing one out is no work for another thread.
    ready: bool,
    column_bytes: Option<u64>,
    fingerprint: u64,
    cursor: Cursor,
}

impl Generated {
    /// A source of `features` columns of `rows` rows that `make` makes by index.
    pub fn new(
        label: impl Into<String>,
        rows: usize,
        features: u64,
        make: impl Fn(u64) -> Result<ColumnData> + Send + Sync + 'static,
    ) -> Self {
        let label = [label.into()];
        Self {
            fingerprint: u64::from(crc32fast::hash(label[0].as_bytes())) ^ features.rotate_left(32),
            label,
            rows,
            features,
            make: Arc::new(make),
            name: None,
            ready: false,
            column_bytes: None,
            cursor: Cursor::default(),
        }
    }

    /// A dense matrix in memory, feature by feature, shared and never copied.
    ///
    /// `bytes` holds `features * rows` values of the type `kind`.
    pub fn matrix(rows: usize, bytes: SharedBytes, kind: NumberKind) -> Result<Self> {
        let width = kind.size();
        let length = (*bytes).as_ref().len();
        if rows == 0 || !length.is_multiple_of(rows * width) {
            return Err(Error::Data(format!(
                "a matrix of {length} bytes is not a whole number of columns of {rows} rows"
            )));
        }
        let features = (length / (rows * width)) as u64;
        let make = move |j: u64| {
            let start = j as usize * rows * width;
            Ok(ColumnData::Shared { bytes: Arc::clone(&bytes), start, rows, kind })
        };
        let source = Self::new("memory", rows, features, make);
        Ok(Self { ready: true, ..source.with_column_bytes((rows * width) as u64) })
    }

    /// Compressed sparse columns in memory, shared and never copied.
    ///
    /// Column `j` has the entries from `starts[j]` to `starts[j + 1]`, with rows that ascend.
    pub fn sparse(rows: usize, starts: Vec<u64>, entries: Arc<SparseEntries>) -> Result<Self> {
        let (Some(last), true) = (starts.last(), starts.is_sorted()) else {
            return Err(Error::Data("the starts of sparse columns do not ascend".into()));
        };
        if *last > entries.len() as u64 {
            return Err(Error::Data(format!("sparse columns end at {last}, past their entries")));
        }
        let features = starts.len() as u64 - 1;
        let most = starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let make = move |j: u64| {
            let range = starts[j as usize] as usize..starts[j as usize + 1] as usize;
            let rising = |pair: &[u32]| pair[0] < pair[1];
            let (index, _) = entries.get(range.clone());
            let inside = index.last().is_none_or(|last| (*last as usize) < rows);
            if !inside || !index.windows(2).all(rising) {
                let text = format!("column {j} has no ascending rows below {rows}");
                return Err(Error::Data(text));
            }
            Ok(ColumnData::SharedSparse { rows, entries: Arc::clone(&entries), range })
        };
        let source = Self::new("memory", rows, features, make);
        Ok(Self { ready: true, ..source.with_column_bytes(12 * most) })
    }

    /// Columns in memory.
    #[must_use]
    pub fn columns(rows: usize, columns: Vec<ColumnData>) -> Self {
        let features = columns.len() as u64;
        let most = columns.iter().map(ColumnData::bytes).max().unwrap_or(0) as u64;
        let make = move |j: u64| Ok(columns[j as usize].clone());
        Self::new("memory", rows, features, make).with_column_bytes(most)
    }

    /// Names features by their index.
    #[must_use]
    pub fn with_names(mut self, name: impl Fn(u64) -> String + Send + Sync + 'static) -> Self {
        self.name = Some(Arc::new(name));
        self
    }

    /// Says how many bytes a column takes at most, so that a budget can be checked beforehand.
    #[must_use]
    pub fn with_column_bytes(mut self, bytes: u64) -> Self {
        self.column_bytes = Some(bytes);
        self
    }
}

impl FeatureSource for Generated {
    fn rows(&self) -> usize {
        self.rows
    }

    fn features(&self) -> Option<u64> {
        Some(self.cursor.len(self.features))
    }

    fn sources(&self) -> &[String] {
        &self.label
    }

    fn column_bytes(&self) -> Option<u64> {
        self.column_bytes
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn next_block(&mut self, out: &mut ColumnBlock) -> Result<bool> {
        let before = out.len();
        let column = |index: u64, data: ColumnData| {
            let name = match &self.name {
                Some(name) => Name::Text(name(index)),
                None => Name::Numbered("f", index),
            };
            RawColumn { id: FeatureId::new(index), name, source: 0, data }
        };
        if self.ready || rayon::current_num_threads() == 1 {
            while out.room() > 0
                && let Some(index) = self.cursor.next(self.features)
            {
                out.push(column(index, (self.make)(index)?));
            }
            return Ok(out.len() > before);
        }
        let indices: Vec<u64> =
            (0..out.room()).map_while(|_| self.cursor.next(self.features)).collect();
        // Each column is a function of its index, so they may be made side by side.
        let made: Vec<ColumnData> =
            indices.par_iter().map(|index| (self.make)(*index)).collect::<Result<_>>()?;
        indices.into_iter().zip(made).for_each(|(index, data)| out.push(column(index, data)));
        Ok(out.len() > before)
    }

    fn rewind(&mut self) -> Result<()> {
        self.cursor.rewind();
        Ok(())
    }

    fn skip(&mut self, features: u64) -> Result<()> {
        self.cursor.skip(features);
        Ok(())
    }

    fn reorder(&mut self, order: Arc<[u32]>) -> Result<()> {
        self.cursor.reorder(order);
        Ok(())
    }

    fn shard(&self, i: usize, of: usize) -> Result<Box<dyn FeatureSource>> {
        let mut share = self.clone();
        share.cursor = self.cursor.shard(i, of);
        Ok(Box::new(share))
    }
}

/// The place in a stream of features with random access: order, share and position.
///
/// A source that can read any column is this cursor and a way to read one.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    at: u64,
    order: Option<Arc<[u32]>>,
    share: Option<(u64, u64)>,
    // An order of the share's own features, by their places in it.
    within: Option<Arc<[u32]>>,
}

impl Cursor {
    /// The index of the next feature out of `features`, or `None` at the end.
    pub fn next(&mut self, features: u64) -> Option<u64> {
        let own = match &self.within {
            Some(within) => u64::from(*within.get(self.at as usize)?),
            None => self.at,
        };
        let place = self.share.map_or(own, |(i, of)| own * of + i);
        let index = match &self.order {
            Some(order) => u64::from(*order.get(place as usize)?),
            None => Some(place).filter(|place| *place < features)?,
        };
        self.at += 1;
        Some(index)
    }

    /// How many features of `features` this cursor yields in all.
    #[must_use]
    pub fn len(&self, features: u64) -> u64 {
        if let Some(within) = &self.within {
            return within.len() as u64;
        }
        let all = self.order.as_ref().map_or(features, |order| order.len() as u64);
        self.share.map_or(all, |(i, of)| all.saturating_sub(i).div_ceil(of))
    }

    /// Starts again.
    pub fn rewind(&mut self) {
        self.at = 0;
    }

    /// Passes over `features` places.
    pub fn skip(&mut self, features: u64) {
        self.at += features;
    }

    /// Takes another order, from the start; that of a share is of the share's own features.
    pub fn reorder(&mut self, order: Arc<[u32]>) {
        match self.share {
            Some(_) => self.within = Some(order),
            None => self.order = Some(order),
        }
        self.at = 0;
    }

    /// Every `of`th place from `i` on.
    #[must_use]
    pub fn shard(&self, i: usize, of: usize) -> Self {
        let share = Some((i as u64, of as u64));
        Self { at: 0, order: self.order.clone(), share, within: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::column::Numbers;

    #[test]
    fn shares_are_disjoint_and_cover_an_order() {
        let order: Arc<[u32]> = Arc::from([4, 2, 0, 1, 3]);
        let mut cursor = Cursor::default();
        cursor.reorder(order);
        let mut seen = Vec::new();
        for i in 0..2 {
            let mut share = cursor.shard(i, 2);
            assert_eq!(share.len(5), [3, 2][i]);
            while let Some(index) = share.next(5) {
                seen.push(index);
            }
        }
        assert_eq!(seen, [4, 0, 3, 2, 1]);
    }

    #[test]
    fn a_share_in_another_order_has_the_same_features() {
        // Share 1 of 2 of seven features is 1, 3, 5; its places in the order 2, 0, 1.
        let mut share = Cursor::default().shard(1, 2);
        share.reorder(Arc::from([2, 0, 1]));
        let seen: Vec<u64> = std::iter::from_fn(|| share.next(7)).collect();
        assert_eq!((seen, share.len(7)), (vec![5, 1, 3], 3));
    }

    #[test]
    fn sparse_columns_in_memory_are_those_of_the_arrays_or_an_error() {
        let (index, value) = (vec![1u32, 4, 0, 2, 3], vec![1.0f32, 2.0, 3.0, 4.0, 5.0]);
        let lent = |index: &[u32], value: &[f32]| {
            let bytes = |bytes: &[u8]| Arc::new(bytes.to_vec()) as SharedBytes;
            let (index, value) = (bytemuck::cast_slice(index), bytemuck::cast_slice(value));
            SparseEntries::lent(bytes(index), bytes(value), false)
        };
        assert!(lent(&index, &value[1..]).is_none());
        let owned =
            SparseEntries::Owned { index: index.clone(), value: Numbers::F32(value.clone()) };
        for entries in [owned, lent(&index, &value).unwrap()].map(Arc::new) {
            let made = |starts: &[u64], rows: usize| {
                let mut block = ColumnBlock::new(8);
                let mut source = Generated::sparse(rows, starts.to_vec(), Arc::clone(&entries))?;
                source.next_block(&mut block)?;
                let values = |column: &RawColumn| {
                    let mut values = vec![0.0; rows];
                    column.data.view().each(|i, x| values[i] = x);
                    (column.name.to_string(), values)
                };
                Ok::<_, Error>(block.columns().iter().map(values).collect::<Vec<_>>())
            };
            let columns = made(&[0, 2, 2, 5], 5).unwrap();
            let want = [[0.0, 1.0, 0.0, 0.0, 2.0], [0.0; 5], [3.0, 0.0, 4.0, 5.0, 0.0]];
            for (j, (name, values)) in columns.iter().enumerate() {
                assert_eq!((name.as_str(), values.as_slice()), (&*format!("f{j}"), &want[j][..]));
            }
            assert_eq!(columns.len(), 3);
            // Rows that descend, a row past the end, starts that descend, entries that are not there.
            for (starts, rows) in [(&[0, 3][..], 5), (&[0, 2], 4), (&[2, 0], 5), (&[0, 6], 5)] {
                assert!(made(starts, rows).is_err(), "{starts:?} of {rows} rows");
            }
            assert!(made(&[], 5).is_err());
        }
    }
}
