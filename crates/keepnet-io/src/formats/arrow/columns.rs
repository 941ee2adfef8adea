//! Arrow IPC in which each row is a feature: its name, its values, and its group where there are
//! groups. A program can push features as it makes them; one batch is held at a time.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field};
use keepnet::{ColumnBlock, Error, FeatureId, FeatureSource, GroupNames, RawColumn, Result};

use crate::formats::arrow::column::{as_text, kind, widened};
use crate::formats::arrow::rows::Ipc;
use crate::guard::guarded;
use crate::input::names::NameSet;
use crate::input::schema::ColumnKind;
use crate::memory::Charge;
use crate::store::Place;
use crate::{Format, OpenOptions};

/// Features that come one after the other, once.
pub struct FeatureStream {
    ipc: Mutex<Ipc>,
    sources: [String; 1],
    rows: usize,
    batch: Option<Batch>,
    next: u64,
    wanted: NameSet,
    unwanted: NameSet,
    // Hashes of the names that came, under a key of this process.
    seen: HashSet<u64>,
    hash: RandomState,
    held: Charge,
    groups: Option<GroupNames>,
    integral: bool,
}

/// A batch of features, and the one that comes next.
struct Batch {
    names: Vec<Option<String>>,
    values: ArrayRef,
    groups: Option<Vec<Option<String>>>,
    at: usize,
    _held: [Charge; 2],
}

/// What the fields of such a stream are.
fn wanted(field: &Field) -> Result<bool> {
    let list = |item: &Field| {
        matches!(kind(item.data_type()), ColumnKind::Float | ColumnKind::Int | ColumnKind::Bool)
    };
    let fits = match (field.name().as_str(), field.data_type()) {
        ("name" | "group", other) => kind(other) == ColumnKind::Text,
        (
            "values",
            DataType::FixedSizeList(item, _) | DataType::List(item) | DataType::LargeList(item),
        ) => list(item),
        ("values", _) => false,
        _ => return Ok(false),
    };
    match fits {
        true => Ok(true),
        false => Err(Error::Data(format!(
            "the field {:?} is of type {}; a stream of features has name: utf8, values: list of \
             numbers, and group: utf8 where there are groups",
            field.name(),
            field.data_type()
        ))),
    }
}

impl FeatureStream {
    /// Opens a file or `-`; the first feature says how many rows there are.
    pub(crate) fn open(path: &str, options: &OpenOptions) -> Result<Self> {
        let place = Place::new(options);
        let ipc = Ipc::open(path, &place, wanted)?;
        for name in ["name", "values"] {
            if ipc.fields().field_with_name(name).is_err() {
                return Err(Error::Data(format!(
                    "there is no field {name:?}; a stream of features has name: utf8, values: \
                     list of numbers, and group: utf8 where there are groups"
                )));
            }
        }
        let mut stream = Self {
            held: place.meter.take(0, "")?,
            ipc: Mutex::new(ipc),
            sources: [path.to_string()],
            rows: 0,
            batch: None,
            next: 0,
            wanted: NameSet::new(&options.columns, "columns")?,
            unwanted: NameSet::new(&options.exclude, "exclude")?,
            seen: HashSet::new(),
            hash: RandomState::new(),
            groups: None,
            integral: false,
        };
        if !stream.turn()? {
            return Err(Error::Data("no feature came".into()));
        }
        stream.rows = stream.batch.as_ref().map_or(0, |batch| values(&batch.values, 0).len());
        stream.integral = stream.whole();
        match stream.rows {
            0 => Err(Error::Data("the first feature has no value".into())),
            _ => Ok(stream),
        }
    }

    /// Whether the values are whole numbers by their type.
    fn whole(&self) -> bool {
        let lists = self.batch.as_ref().map(|batch| batch.values.data_type());
        let item = lists.and_then(|lists| match lists {
            DataType::FixedSizeList(item, _) | DataType::List(item) | DataType::LargeList(item) => {
                Some(kind(item.data_type()))
            }
            _ => None,
        });
        matches!(item, Some(ColumnKind::Int | ColumnKind::Bool))
    }

    /// Tells the groups of features here, in the order of their places.
    pub fn tell(&mut self, groups: GroupNames) -> Result<()> {
        if self.batch.as_ref().is_some_and(|batch| batch.groups.is_none()) {
            return Err(Error::Data("there is no field \"group\"".into()).at(&self.sources[0]));
        }
        self.groups = Some(groups);
        Ok(())
    }

    /// Reads batches until one has a feature; `false` at the end.
    fn turn(&mut self) -> Result<bool> {
        let ipc = self.ipc.get_mut().unwrap_or_else(PoisonError::into_inner);
        loop {
            let Some((batch, charge)) = ipc.batch()? else {
                self.batch = None;
                return Ok(false);
            };
            if batch.num_rows() > 0 {
                self.batch = Some(Batch::new(&batch, charge, ipc.empty()?)?);
                return Ok(true);
            }
        }
    }

    /// The next feature that is wanted.
    fn one(&mut self, spare: &mut ColumnBlock) -> Result<Option<RawColumn>> {
        loop {
            if self.batch.as_ref().is_none_or(|batch| batch.at == batch.names.len())
                && !self.turn()?
            {
                return Ok(None);
            }
            let Some(batch) = &mut self.batch else { return Ok(None) };
            let at = batch.at;
            batch.at += 1;
            let Some(name) = batch.names[at].take() else {
                let place = self.next;
                return Err(Error::Data(format!("the feature at place {place} has no name")));
            };
            let unwanted = !self.unwanted.is_empty() && self.unwanted.contains(&name);
            if unwanted || (!self.wanted.is_empty() && !self.wanted.contains(&name)) {
                continue;
            }
            self.held.grow(16, "the names of the features, which must differ")?;
            if !self.seen.insert(self.hash.hash_one(&name)) {
                return Err(Error::Duplicate { name });
            }
            let list = values(&batch.values, at);
            if batch.values.is_null(at) || list.len() != self.rows {
                let (what, got) = (format!("feature {name:?}"), list.len());
                return Err(Error::Rows { what, got, want: self.rows });
            }
            let data = guarded(|| widened(&[list.as_ref()], self.rows, spare))?;
            if let Some(groups) = &self.groups {
                let group = batch.groups.as_mut().and_then(|groups| groups[at].take());
                let none = || Error::Data(format!("feature {name:?} has no group"));
                groups.tell(&name, &group.ok_or_else(none)?);
            }
            let id = FeatureId::new(self.next);
            self.next += 1;
            return Ok(Some(RawColumn { id, name: name.into(), source: 0, data }));
        }
    }
}

impl Batch {
    fn new(batch: &RecordBatch, charge: Charge, mut held: Charge) -> Result<Self> {
        let mut text = |array: &ArrayRef| {
            let mut list = Vec::new();
            guarded(|| as_text(array.as_ref(), &mut list, &mut held)).map(|()| list)
        };
        let missing = || Error::Data("a batch lacks a field".into());
        let names = text(batch.column_by_name("name").ok_or_else(missing)?)?;
        let groups = batch.column_by_name("group").map(&mut text).transpose()?;
        let values = Arc::clone(batch.column_by_name("values").ok_or_else(missing)?);
        Ok(Self { names, values, groups, at: 0, _held: [charge, held] })
    }
}

/// The values of the feature at a place.
fn values(lists: &ArrayRef, at: usize) -> ArrayRef {
    match lists.data_type() {
        DataType::FixedSizeList(..) => lists.as_fixed_size_list().value(at),
        DataType::LargeList(_) => lists.as_list::<i64>().value(at),
        _ => lists.as_list::<i32>().value(at),
    }
}

impl FeatureSource for FeatureStream {
    fn rows(&self) -> usize {
        self.rows
    }

    fn features(&self) -> Option<u64> {
        None
    }

    fn sources(&self) -> &[String] {
        &self.sources
    }

    fn fingerprint(&self) -> u64 {
        0
    }

    fn integral(&self) -> bool {
        self.integral
    }

    fn next_block(&mut self, out: &mut ColumnBlock) -> Result<bool> {
        let before = out.len();
        while out.room() > 0 {
            let one = self.one(out).map_err(|e| e.at(crate::formats::shown(&self.sources[0])))?;
            match one {
                Some(column) => out.push(column),
                None => break,
            }
        }
        Ok(out.len() > before)
    }

    fn rewind(&mut self) -> Result<()> {
        Err(Error::Unsupported("a stream of features comes once".into()))
    }
}

/// The error of a format whose rows are features where columns or rows of a table are asked for.
pub(crate) fn no_table() -> Error {
    Error::Unsupported(format!(
        "{} has a feature in each row: it is the one input of `keepnet select` with a method on \
         features",
        Format::ArrowColumns.name()
    ))
}
