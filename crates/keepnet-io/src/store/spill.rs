//! Where a transposed table goes: memory up to a limit, then a temporary file that disappears
//! with the process. All files of an input share both.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use keepnet::{Error, Result};

use crate::input::options::{Check, MAX_LINE};
use crate::memory::{self, Charge, Meter};
use crate::{OpenOptions, Reading, platform};

/// What a column takes beside its values: its name, its kind, its place in lists.
const COLUMN: u64 = 160;

/// How much may stay in memory, and where the rest goes.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Most bytes of transposed tables in memory.
    pub(crate) memory: u64,
    /// Those that are there.
    tables: Meter,
    /// What else grows with the input.
    pub(crate) meter: Meter,
    /// Longest line of text.
    pub(crate) max_line: u64,
    pub(crate) reading: Reading,
    check: Option<Check>,
    directory: PathBuf,
    lasting: Arc<Mutex<Option<Spill>>>,
}

impl Place {
    pub(crate) fn new(options: &OpenOptions) -> Self {
        // Half of a limit is for the table, the rest for the chunks under way and for the
        // run that the table is read for.
        let memory = options.memory.map_or_else(memory::default_limit, |memory| memory / 2);
        Self {
            memory,
            tables: Meter::of(memory),
            meter: Meter::new(options.memory),
            max_line: options.max_line.unwrap_or(MAX_LINE),
            reading: options.reading,
            check: options.check.clone(),
            directory: options.temporary.clone().unwrap_or_else(std::env::temp_dir),
            lasting: Arc::default(),
        }
    }

    /// Bytes of input to work on at once, so that one a thread stays well within the limit.
    pub(crate) fn chunk(&self) -> usize {
        // A byte of text becomes eleven at most: a number in two bytes, and its transposed copy.
        let threads = rayon::current_num_threads() as u64;
        (self.memory / (8 * threads).max(64)).clamp(1 << 12, 8 << 20) as usize
    }

    /// Room for the `bytes` that a text becomes, where it is longer than a chunk.
    pub(crate) fn long(
        &self,
        text: &[u8],
        bytes: impl FnOnce() -> u64,
        what: &str,
    ) -> Result<Charge> {
        let bytes = if text.len() > 2 * self.chunk() { bytes() } else { 0 };
        self.meter.take(bytes, what)
    }

    /// Whether reading may go on.
    pub(crate) fn go_on(&self) -> Result<()> {
        self.check.as_ref().map_or(Ok(()), Check::ask)
    }

    /// Room for the description of `columns` columns.
    pub(crate) fn columns(&self, columns: u64) -> Result<Charge> {
        self.described(columns, 1)
    }

    /// The same for a stream of rows, which holds it twice: the file's and that of its features.
    pub(crate) fn row_columns(&self, columns: u64) -> Result<Charge> {
        self.described(columns, 2)
    }

    fn described(&self, columns: u64, times: u64) -> Result<Charge> {
        let what = format!("the names and places of {columns} columns");
        self.meter.take(columns.saturating_mul(times * COLUMN), &what)
    }

    /// Whether a part of a table of `more` bytes fits beside all tables in memory; it then is held.
    pub(super) fn hold(&self, held: &mut Option<Charge>, more: u64) -> bool {
        if let Some(held) = held {
            return held.grow(more, "a table").is_ok();
        }
        *held = self.tables.take(more, "a table").ok();
        held.is_some()
    }

    /// The temporary file that holds what lasts as long as the input.
    pub(super) fn lasting(&self) -> Result<Spill> {
        let mut lasting = self.lasting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(spill) = &*lasting {
            return Ok(spill.clone());
        }
        let spill = Spill::new(self)?;
        Ok(lasting.insert(spill).clone())
    }
}

/// A temporary file that grows at its end and is read anywhere.
#[derive(Clone, Debug)]
pub(crate) struct Spill {
    file: Arc<File>,
    // Where the file ends; shared by all parts of it.
    end: Arc<AtomicU64>,
    // Where this part starts.
    base: u64,
    directory: PathBuf,
}

impl Spill {
    pub(crate) fn new(place: &Place) -> Result<Self> {
        let directory = place.directory.clone();
        let file = tempfile::tempfile_in(&directory).map_err(|e| failed(&directory, e))?;
        Ok(Self { file: Arc::new(file), end: Arc::default(), base: 0, directory })
    }

    /// A part of `bytes` bytes at the end, to be written anywhere.
    pub(crate) fn part(&self, bytes: u64) -> Self {
        let base = self.end.fetch_add(bytes, Ordering::Relaxed);
        Self { base, ..self.clone() }
    }

    /// Adds bytes at the end and says where they start.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let start = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed) - self.base;
        self.write(start, bytes)?;
        Ok(start)
    }

    /// Fills `bytes` from `start` on.
    pub(crate) fn read(&self, start: u64, bytes: &mut [u8]) -> Result<()> {
        let read = platform::read_exact_at(&self.file, bytes, self.base + start);
        read.map_err(|e| failed(&self.directory, e))
    }

    /// Overwrites bytes from `start` on.
    pub(crate) fn write(&self, start: u64, bytes: &[u8]) -> Result<()> {
        let written = platform::write_all_at(&self.file, bytes, self.base + start);
        written.map_err(|e| failed(&self.directory, e))
    }

    /// The file itself.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Bytes written so far.
    pub(crate) fn len(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }
}

fn failed(directory: &Path, error: std::io::Error) -> Error {
    let place = directory.display();
    Error::io(format!("temporary file in {place} (TMPDIR chooses another place)"), error)
}
