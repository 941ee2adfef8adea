//! The bytes of a file, mapped or read into memory of our own.
//!
//! Mapped pages count as resident memory, so each read lets go of the pages of the one before.
//! The kernel is asked for the pages of a read at once, not a fault at a time, and for as many
//! again ahead of it.
//!
//! A mapped file that another process shortens raises SIGBUS. Where that must not be, the file is
//! read with positioned reads into memory of our own, and a short read is an error.

use std::fs::File;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use arrow_buffer::Buffer;
use keepnet::{Error, Result, SharedBytes};
use memmap2::{Mmap, MmapMut};

use crate::{Reading, platform};

/// A read-only map of a file.
pub(crate) struct Mapped {
    map: Arc<Mmap>,
    // Ranges of bytes that the last read touched.
    last: Mutex<Vec<(usize, usize)>>,
}

impl Mapped {
    pub(crate) fn new(file: &File) -> std::io::Result<Self> {
        // SAFETY: the map is read only. A file that another process shortens meanwhile raises
        // SIGBUS, which the program answers; who cannot answer it asks for `Reading::Copied`.
        let map = unsafe { Mmap::map(file) }?;
        Ok(Self { map: Arc::new(map), last: Mutex::new(Vec::new()) })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// The whole map, for columns that share it.
    pub(crate) fn share(&self) -> SharedBytes {
        Arc::clone(&self.map) as SharedBytes
    }

    /// Lets the pages of the last ranges go and asks for those of `runs`.
    pub(crate) fn turn_to(&self, runs: Vec<(usize, usize)>) {
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (start, end) in last.drain(..) {
            self.release(start, end);
        }
        platform::ask_for(&self.map, &runs);
        *last = runs;
    }

    /// Lets pages go that were read.
    pub(crate) fn release(&self, start: usize, end: usize) {
        platform::release(&self.map, start, end);
    }
}

/// Keeps a map alive as plain bytes.
struct Owner(Arc<Mmap>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Memory of our own that is zero, and takes no room, where nothing was written.
struct Own(MmapMut);

impl AsRef<[u8]> for Own {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// The bytes of a file.
pub(crate) enum Contents {
    Mapped(Mapped),
    File(File, u64),
}

impl Contents {
    /// `length` is that of the file, which is not empty.
    pub(crate) fn new(file: File, length: u64, reading: Reading) -> std::io::Result<Self> {
        Ok(match reading {
            Reading::Mapped => Self::Mapped(Mapped::new(&file)?),
            Reading::Copied => Self::File(file, length),
        })
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Mapped(map) => map.bytes().len() as u64,
            Self::File(_, length) => *length,
        }
    }

    pub(crate) fn map(&self) -> Option<&Mapped> {
        match self {
            Self::Mapped(map) => Some(map),
            Self::File(..) => None,
        }
    }

    /// Copies the bytes from `start` on.
    pub(crate) fn copy(&self, start: u64, to: &mut [u8]) -> Result<()> {
        let end = start.checked_add(to.len() as u64).filter(|end| *end <= self.len());
        if end.is_none() {
            return Err(Error::Data(format!(
                "the file is truncated or damaged: {} bytes at {start} lie past its end at {}",
                to.len(),
                self.len()
            )));
        }
        match self {
            Self::Mapped(map) => to.copy_from_slice(&map.bytes()[start as usize..][..to.len()]),
            Self::File(file, _) => platform::read_exact_at(file, to, start).map_err(short)?,
        }
        Ok(())
    }

    /// The bytes of a range as a buffer. Those outside `parts`, which are ranges within it, may
    /// be zero: only what is asked for is read where the file is not mapped.
    pub(crate) fn buffer(&self, range: Range<u64>, parts: &[Range<u64>]) -> Result<Buffer> {
        let length = (range.end - range.start) as usize;
        if range.end > self.len() {
            return Err(Error::Data("the file is truncated: a part lies past its end".into()));
        }
        match self {
            Self::Mapped(map) => {
                let all = Buffer::from(bytes::Bytes::from_owner(Owner(Arc::clone(&map.map))));
                Ok(all.slice_with_length(range.start as usize, length))
            }
            Self::File(..) if length == 0 => Ok(Buffer::from_vec(Vec::<u8>::new())),
            Self::File(file, _) => {
                let mut own = MmapMut::map_anon(length)
                    .map_err(|e| Error::io(format!("no room for {length} bytes"), e))?;
                for part in parts {
                    let to = &mut own[part.start as usize..part.end as usize];
                    platform::read_exact_at(file, to, range.start + part.start).map_err(short)?;
                }
                Ok(Buffer::from(bytes::Bytes::from_owner(Own(own))))
            }
        }
    }
}

/// A read that ended early: the file was as long as this when it was opened.
fn short(error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            Error::Data("the file became shorter while it was read".into())
        }
        _ => Error::io("reading", error),
    }
}
