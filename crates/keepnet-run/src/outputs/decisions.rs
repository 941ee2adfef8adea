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
    // Names of what is held, for the events of those that are driven out.
    held: HashMap<FeatureId, String>,
}

impl Decisions {
    /// Starts a file, CSV or Parquet by its extension.
    pub fn new(path: &Path) -> Result<Self> {
        let pending = Pending::new(path)?;
        let out = Box::new(pending.writer()?);
        let parquet = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet"));
        let sink = if parquet { EventSink::parquet(out) } else { EventSink::csv(out) };
        Ok(Self { sink: sink.map_err(|e| pending.failed(e))?, pending, held: HashMap::new() })
    }

    /// Adds what became of one feature and of those that it drove out.
    pub fn record(&mut self, decision: &Decision<'_>) -> Result<()> {
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
        let (index, name) = (decision.id.index, decision.name);
        let row = Event { scan, index, name, event, reason, by, marginal, score };
        self.sink.write(&row).map_err(|error| self.pending.failed(error))?;
        if event == "kept" || event == "reserved" {
            self.held.insert(decision.id, name.to_string());
        }
        for gone in &outcome.evicted {
            let name = self.held.remove(gone).unwrap_or_default();
            let row = Event {
                scan,
                index: gone.index,
                name: &name,
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
