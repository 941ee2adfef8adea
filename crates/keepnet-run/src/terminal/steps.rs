//! Progress of a command of several stages on standard error: a bar, JSON lines, or silence.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::say::aside;
use crate::request::ProgressKind;
use crate::text::visible;

/// Shortest time between two JSON lines.
const PAUSE: Duration = Duration::from_millis(250);
/// Places of the bar.
const PLACES: u64 = 1000;

/// Shows which data set and stage is under way, and how far it is.
pub struct Steps {
    bar: Option<ProgressBar>,
    json: bool,
    last: Option<Instant>,
    dataset: String,
    stage: String,
    at: usize,
    of: usize,
}

impl Steps {
    /// Progress of this kind; `quiet` silences a bar that nobody asked for.
    pub fn new(kind: ProgressKind, quiet: bool) -> Self {
        let bar = match kind {
            ProgressKind::Bar => true,
            ProgressKind::Auto => std::io::stderr().is_terminal() && !quiet,
            ProgressKind::Json | ProgressKind::None => false,
        };
        let bar = bar.then(|| {
            let bar = ProgressBar::new(PLACES);
            let style = ProgressStyle::with_template("{percent:>3}% [{wide_bar}] {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        let (dataset, stage) = (String::new(), String::new());
        let json = kind == ProgressKind::Json;
        Self { bar, json, last: None, dataset, stage, at: 0, of: 1 }
    }

    /// A data set begins.
    pub fn begin(&mut self, dataset: &str, at: usize, of: usize) {
        (self.dataset, self.at, self.of) = (dataset.into(), at, of);
    }

    /// A stage of the data set begins.
    pub fn stage(&mut self, stage: &str) {
        self.stage = stage.into();
        self.last = None;
        self.share(0.0);
    }

    /// How far the stage is, from 0 to 1.
    pub fn share(&mut self, share: f64) {
        if let Some(bar) = &self.bar {
            let place = format!("{} of {}", self.at + 1, self.of);
            let stage = visible(&format!("{} ({place}): {}", self.dataset, self.stage));
            bar.set_message(stage);
            bar.set_position((share * PLACES as f64) as u64);
        }
        if self.json && self.last.is_none_or(|last| last.elapsed() >= PAUSE) {
            self.last = Some(Instant::now());
            let line = serde_json::json!({
                "dataset": self.dataset, "place": self.at + 1, "datasets": self.of,
                "stage": self.stage, "share": (share * 1000.0).round() / 1000.0,
            });
            aside(&format!("{line}\n"));
        }
    }

    /// All is done.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
