//! A limit on bytes, decided before the run and kept during it.

use crate::error::{Bytes, Error, Result};

/// Bytes in use against a limit.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    limit: Option<u64>,
    used: u64,
    peak: u64,
}

impl Budget {
    /// No limit; use is still counted.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// At most `bytes`.
    #[must_use]
    pub fn bytes(bytes: u64) -> Self {
        Self { limit: Some(bytes), ..Self::default() }
    }

    /// The limit, where there is one.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Most bytes in use so far.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.peak
    }

    /// Sets what is in use, as after a restore.
    pub fn reset(&mut self, used: u64) {
        self.used = used;
        self.peak = self.peak.max(used);
    }

    /// Takes `bytes`, or refuses and takes nothing.
    pub fn take(&mut self, bytes: u64, what: &str) -> Result<()> {
        let need = self.used.saturating_add(bytes);
        self.check(need, what)?;
        self.reset(need);
        Ok(())
    }

    /// Gives `bytes` back.
    pub fn give(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
    }

    /// Whether `need` bytes in all would fit.
    pub fn check(&self, need: u64, what: &str) -> Result<()> {
        match self.limit {
            Some(limit) if need > limit => Err(Error::Budget {
                what: what.into(),
                need: Bytes(need),
                have: Bytes(limit),
                advice: "raise `memory`, or lower k or the reserve",
            }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_request_takes_nothing() {
        let mut budget = Budget::bytes(100);
        budget.take(60, "x").unwrap();
        assert!(budget.take(50, "x").is_err());
        budget.take(40, "x").unwrap();
        budget.give(100);
        assert_eq!(budget.peak(), 100);
        budget.take(100, "x").unwrap();
    }
}
