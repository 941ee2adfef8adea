//! A mapped file that is read once along its length.
//!
//! Mapped pages count as resident memory, so each read lets go of the pages of the one before.
//! The kernel is asked for the pages of a read at once, not a fault at a time, and for as many
//! again ahead of it.

use std::fs::File;
use std::sync::{Arc, Mutex};

use keepnet::SharedBytes;
use memmap2::{Advice, Mmap, UncheckedAdvice};

/// A read-only map of a file.
pub(crate) struct Mapped {
    map: Arc<Mmap>,
    // Ranges of bytes that the last read touched.
    last: Mutex<Vec<(usize, usize)>>,
}

impl Mapped {
    pub(crate) fn new(file: &File) -> std::io::Result<Self> {
        // SAFETY: the map is read only. A file that another process shortens meanwhile ends
        // this one with SIGBUS, which every program that maps files accepts.
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

    /// The map for those who own it as bytes.
    pub(crate) fn owner(&self) -> Owner {
        Owner(Arc::clone(&self.map))
    }

    /// Lets the pages of the last ranges go and asks for those of `runs`.
    pub(crate) fn turn_to(&self, runs: Vec<(usize, usize)>) {
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (start, end) in last.drain(..) {
            self.release(start, end);
        }
        // All of this is advice: where the kernel refuses it, pages come a fault at a time.
        if let [(start, end)] = runs[..] {
            let ahead = (end - start).min(self.map.len() - end);
            let _ = self.map.advise_range(Advice::WillNeed, end, ahead);
        }
        #[cfg(target_os = "linux")]
        for (start, end) in &runs {
            let _ = self.map.advise_range(Advice::PopulateRead, *start, end - start);
        }
        *last = runs;
    }

    /// Lets pages go that were read.
    pub(crate) fn release(&self, start: usize, end: usize) {
        let advice = UncheckedAdvice::DontNeed;
        // SAFETY: a shared read-only map of a file: pages that are dropped are read again when
        // they are touched again, with the same contents.
        let _ = unsafe { self.map.unchecked_advise_range(advice, start, end - start) };
    }
}

/// Keeps a map alive as plain bytes.
pub(crate) struct Owner(Arc<Mmap>);

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
