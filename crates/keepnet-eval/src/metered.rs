//! A selector that is timed and weighed while it works, so that several share one read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use keepnet::{CheckedBlock, ColumnSelector, Memory, Outcome, Result, Selection, Snapshot, Status};

/// What a selector has cost so far.
#[derive(Debug, Default)]
pub struct Meter {
    nanoseconds: AtomicU64,
    bytes: AtomicU64,
}

impl Meter {
    /// Time spent in the selector.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }

    /// Most bytes that it held.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// A selector and its meter; decides as the selector does.
pub struct Metered {
    inner: Box<dyn ColumnSelector>,
    meter: Arc<Meter>,
}

impl Metered {
    /// Wraps a selector; the meter can be read while it runs and after.
    #[must_use]
    pub fn new(inner: Box<dyn ColumnSelector>) -> (Self, Arc<Meter>) {
        let meter = Arc::new(Meter::default());
        (Self { inner, meter: Arc::clone(&meter) }, meter)
    }

    fn timed<T>(&mut self, work: impl FnOnce(&mut dyn ColumnSelector) -> T) -> T {
        let start = Instant::now();
        let result = work(self.inner.as_mut());
        let spent = start.elapsed().as_nanos() as u64;
        self.meter.nanoseconds.fetch_add(spent, Ordering::Relaxed);
        self.meter.bytes.fetch_max(self.inner.status().bytes, Ordering::Relaxed);
        result
    }
}

impl Snapshot for Metered {
    fn save(&self) -> Result<Vec<u8>> {
        self.inner.save()
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.inner.restore(state)
    }
}

impl ColumnSelector for Metered {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        self.timed(|inner| inner.offer_block(block, out))
    }

    fn end_scan(&mut self) -> Result<bool> {
        self.timed(|inner| inner.end_scan())
    }

    fn unfinished(&self) -> bool {
        self.inner.unfinished()
    }

    fn finish(&mut self) -> Result<()> {
        self.timed(|inner| inner.finish())
    }

    fn selection(&self) -> Result<Selection> {
        self.inner.selection()
    }

    fn whole_groups(&self) -> bool {
        self.inner.whole_groups()
    }

    fn compacts(&self) -> bool {
        self.inner.compacts()
    }

    fn fitted(
        &self,
        see: &mut dyn FnMut(&keepnet::run::verdict::Fitted<'_>) -> Result<()>,
    ) -> Result<()> {
        self.inner.fitted(see)
    }

    fn centres(&self) -> bool {
        self.inner.centres()
    }

    fn status(&self) -> Status {
        self.inner.status()
    }

    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        self.inner.memory(column, features)
    }
}
