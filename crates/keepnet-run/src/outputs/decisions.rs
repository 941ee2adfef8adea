//! `--decisions`: a row an event, as they happen.

use std::collections::HashMap;
use std::path::Path;

use keepnet::run::Decision;
use keepnet::{FeatureId, Reason, Result, Verdict};
use keepnet_io::sink::events::{Event, EventSink};

use super::atomic::Pending;

/// Decisions under way to a file.
pub struct Decisions {
    pending: Pending,
    sink: EventSink,
}

/// Names of what is held, for the events of those that are driven out.
#[derive(Default)]
pub struct Held(HashMap<FeatureId, String>);

impl Held {
    /// With what is held from before.
    #[must_use]
    pub fn new(names: HashMap<FeatureId, String>) -> Self {
        Self(names)
    }

    /// The names.
    #[must_use]
    pub fn names(&self) -> &HashMap<FeatureId, String> {
        &self.0
    }

    /// Takes in a decision; the features that it drove out, with their names.
    pub fn take(&mut self, decision: &Decision<'_>) -> Vec<(FeatureId, String)> {
        if matches!(decision.outcome.verdict, Verdict::Kept | Verdict::Reserved) {
            self.0.insert(decision.id, decision.name.text().into_owned());
        }
        let evicted = decision.outcome.evicted.iter();
        evicted.map(|id| (*id, self.0.remove(id).unwrap_or_default())).collect()
    }
}

impl Decisions {
    /// Starts a file, CSV or Parquet by its extension.
    pub fn new(path: &Path) -> Result<Self> {
        let pending = Pending::new(path)?;
        let out = Box::new(pending.writer()?);
        let parquet = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet"));
        let sink = if parquet { EventSink::parquet(out) } else { EventSink::csv(out) };
        Ok(Self { sink: sink.map_err(|e| pending.failed(e))?, pending })
    }

    /// Starts a file with the events of `earlier`, another such file; CSV.
    pub fn going_on(path: &Path, earlier: &[u8]) -> Result<Self> {
        let pending = Pending::new(path)?;
        let sink = EventSink::csv_after(Box::new(pending.writer()?), earlier);
        Ok(Self { sink: sink.map_err(|e| pending.failed(e))?, pending })
    }

    /// Adds what became of one feature and of those that it drove out.
    /// Lanes beside the first only serve to judge it.
    pub fn record(
        &mut self,
        decision: &Decision<'_>,
        evicted: &[(FeatureId, String)],
    ) -> Result<()> {
        if decision.lane > 0 {
            return Ok(());
        }
        let outcome = decision.outcome;
        let (event, reason, by) = match outcome.verdict {
            Verdict::Kept => ("kept", None, None),
            Verdict::Reserved => ("reserved", None, None),
            Verdict::Held => ("held", None, None),
            Verdict::Dropped(reason) => {
                let by = match reason {
                    Reason::Redundant { by } => by.map(|by| by.index),
                    _ => None,
                };
                ("dropped", Some(reason.word()), by)
            }
        };
        let scan = decision.scan + 1;
        let (marginal, score) = (outcome.marginal, outcome.score);
        let (index, name) = (decision.id.index, &*decision.name.text());
        let row = Event { scan, index, name, event, reason, by, marginal, score };
        self.sink.write(&row).map_err(|error| self.pending.failed(error))?;
        for (gone, name) in evicted {
            let row = Event {
                scan,
                index: gone.index,
                name,
                event: "evicted",
                reason: None,
                by: Some(index),
                marginal: None,
                score: None,
            };
            self.sink.write(&row).map_err(|error| self.pending.failed(error))?;
        }
        Ok(())
    }

    /// Writes the rest; the file still waits for its name.
    pub fn finish(self) -> Result<Pending> {
        let Self { pending, sink, .. } = self;
        sink.finish().map_err(|error| pending.failed(error))?;
        Ok(pending)
    }
}
