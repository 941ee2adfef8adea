//! How much memory reading may take, and how much it takes.
//!
//! What grows with the input is taken from a [`Meter`] before it is allocated, and given back when
//! its [`Charge`] goes. One meter is shared by all files of an input.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use keepnet::{Bytes, Error, Result};

use crate::platform;

/// Where neither the kernel nor the user says, a table of up to this size stays in memory.
const UNKNOWN: u64 = 16 << 30;

/// A few small files can be described under any limit.
const FLOOR: u64 = 4 << 20;

/// A quarter of the machine's memory, or of the control group's or process's limit where that is
/// less.
pub(crate) fn default_limit() -> u64 {
    machine() / 4
}

fn machine() -> u64 {
    let limits = [platform::machine_bytes(), platform::address_space()];
    limits.into_iter().flatten().min().unwrap_or(UNKNOWN)
}

/// Bytes in use by the readers of one input, against their limit.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    limit: u64,
    used: Arc<AtomicU64>,
}

impl Meter {
    /// `memory` is that of the options.
    pub(crate) fn new(memory: Option<u64>) -> Self {
        Self::of(match memory {
            Some(memory) => memory.saturating_mul(2).max(FLOOR),
            None => machine() / 4 * 3,
        })
    }

    /// At most `limit` bytes.
    pub(crate) fn of(limit: u64) -> Self {
        Self { limit, used: Arc::default() }
    }

    /// Most bytes that one thing could still take.
    pub(crate) fn room(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    /// Takes `bytes` for `what`, or refuses and takes nothing.
    pub(crate) fn take(&self, bytes: u64, what: &str) -> Result<Charge> {
        let mut charge = Charge { meter: self.clone(), bytes: 0 };
        charge.grow(bytes, what)?;
        Ok(charge)
    }
}

/// Bytes taken from a [`Meter`]; they go back when this goes.
#[derive(Debug)]
pub(crate) struct Charge {
    meter: Meter,
    bytes: u64,
}

impl Charge {
    /// Takes `more` bytes, or refuses and takes nothing.
    pub(crate) fn grow(&mut self, more: u64, what: &str) -> Result<()> {
        let before = self.meter.used.fetch_add(more, Ordering::Relaxed);
        let need = before.saturating_add(more);
        if need > self.meter.limit || before > u64::MAX - more {
            self.meter.used.fetch_sub(more, Ordering::Relaxed);
            return Err(Error::Budget {
                what: format!("reading: {what}"),
                need: Bytes(need),
                have: Bytes(self.meter.limit),
                advice: "raise --memory, half of which is for reading",
            });
        }
        self.bytes += more;
        Ok(())
    }

    /// Gives back all but `bytes`.
    pub(crate) fn shrink(&mut self, bytes: u64) {
        let less = self.bytes.saturating_sub(bytes);
        self.meter.used.fetch_sub(less, Ordering::Relaxed);
        self.bytes -= less;
    }

    /// Takes as much more as makes it `bytes`; never gives back.
    pub(crate) fn reach(&mut self, bytes: u64, what: &str) -> Result<()> {
        self.grow(bytes.saturating_sub(self.bytes), what)
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.shrink(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_goes_back_and_what_is_refused_takes_nothing() {
        let meter = Meter::new(Some(4 << 20));
        let mut held = meter.take(6 << 20, "names").unwrap();
        assert_eq!(meter.room(), 2 << 20);
        let refused = held.grow(u64::MAX, "texts").unwrap_err().to_string();
        assert!(refused.starts_with("reading: texts needs"), "{refused}");
        assert!(meter.clone().take(3 << 20, "more").is_err());
        held.reach(7 << 20, "names").unwrap();
        drop(held);
        meter.take(8 << 20, "all of it").unwrap();
    }
}
