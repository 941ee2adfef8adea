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
    // The lanes whose decisions are written, each with its target where there are several; other
    // lanes only serve to judge these.
    lanes: Vec<(usize, Option<String>)>,
}

/// Names of what each lane holds, for the events of those that are driven out.
#[derive(Default)]
pub struct Held(Vec<HashMap<FeatureId, String>>);

impl Held {
    /// With what the first lane holds from before.
    #[must_use]
    pub fn new(names: HashMap<FeatureId, String>) -> Self {
        Self(vec![names])
    }

    /// The names of the first lane.
    #[must_use]
    pub fn names(&self) -> HashMap<FeatureId, String> {
        self.0.first().cloned().unwrap_or_default()
    }

    /// Takes in a decision; the features that it drove out, with their names.
    pub fn take(&mut self, decision: &Decision<'_>) -> Vec<(FeatureId, String)> {
        if self.0.len() <= decision.lane {
            self.0.resize_with(decision.lane + 1, HashMap::new);
        }
        let held = &mut self.0[decision.lane];
        if matches!(decision.outcome.verdict, Verdict::Kept | Verdict::Reserved) {
            held.insert(decision.id, decision.name.text().into_owned());
        }
        let evicted = decision.outcome.evicted.iter();
        evicted.map(|id| (*id, held.remove(id).unwrap_or_default())).collect()
    }
}

impl Decisions {
    /// Starts a file, CSV or Parquet by its extension, of the decisions of these lanes.
    pub fn new(path: &Path, lanes: Vec<(usize, Option<String>)>) -> Result<Self> {
        let pending = Pending::new(path)?;
        let out = Box::new(pending.writer()?);
        let parquet = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("parquet"));
        let several = lanes.iter().any(|(_, target)| target.is_some());
        let sink = match parquet {
            true => EventSink::parquet(out, several),
            false => EventSink::csv(out, several),
        };
        Ok(Self { sink: sink.map_err(|e| pending.failed(e))?, pending, lanes })
    }

    /// Starts a file with the events of `earlier`, another such file; CSV.
    pub fn going_on(path: &Path, earlier: &[u8]) -> Result<Self> {
        let pending = Pending::new(path)?;
        let sink = EventSink::csv_after(Box::new(pending.writer()?), earlier);
        let lanes = vec![(0, None)];
        Ok(Self { sink: sink.map_err(|e| pending.failed(e))?, pending, lanes })
    }

    /// Adds what became of one feature and of those that it drove out.
    pub fn record(
        &mut self,
        decision: &Decision<'_>,
        evicted: &[(FeatureId, String)],
    ) -> Result<()> {
        let Some((_, target)) = self.lanes.iter().find(|(lane, _)| *lane == decision.lane) else {
            return Ok(());
        };
        let target = target.as_deref();
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
        let row = Event { target, scan, index, name, event, reason, by, marginal, score };
        self.sink.write(&row).map_err(|error| self.pending.failed(error))?;
        for (gone, name) in evicted {
            let row = Event {
                target,
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
