//! Progress on standard error: a bar, JSON lines, or silence.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keepnet::run::RowCounts;
use keepnet::{Progress, Status};
use serde::Serialize;

use crate::flags::ProgressKind;
use crate::output::say::aside;

/// Shortest time between two JSON lines, and between two updates of the bar.
const PAUSE: [Duration; 2] = [Duration::from_millis(250), Duration::from_millis(80)];

/// Shows where a run stands.
pub struct Reporter {
    bar: Option<ProgressBar>,
    json: bool,
    start: Instant,
    last: Option<Instant>,
    // Place and time of the first report: speed and time left speak of this run, also where it
    // resumes another.
    first: Option<(u64, Instant)>,
}

impl Reporter {
    /// A reporter of this kind; `quiet` silences a bar that nobody asked for.
    pub fn new(kind: ProgressKind, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = match kind {
            ProgressKind::Bar => true,
            ProgressKind::Auto => terminal && !quiet,
            ProgressKind::Json | ProgressKind::None => false,
        };
        let json = kind == ProgressKind::Json;
        let bar = bar.then(|| {
            let target = match terminal {
                true => ProgressDrawTarget::stderr(),
                false => ProgressDrawTarget::term_like(Box::new(Plain)),
            };
            let bar = ProgressBar::with_draw_target(None, target);
            let template = "{percent:>3}% [{wide_bar}] {msg}";
            bar.set_style(
                ProgressStyle::with_template(template)
                    .unwrap_or_else(|_| ProgressStyle::default_bar())
                    .progress_chars("=> "),
            );
            bar
        });
        Self { bar, json, start: Instant::now(), last: None, first: None }
    }

    /// Shows progress, at most a few times a second.
    pub fn show(&mut self, progress: &Progress) {
        let total = progress.features.map(|features| features * u64::from(progress.scans));
        self.update((progress.arrived, total), &|pace| line(progress, pace), &|pace| {
            message(progress, pace)
        });
    }

    /// Shows how far a run on rows is; `total` is the rows of the stream, where known.
    pub fn show_rows(&mut self, counts: &RowCounts, total: Option<u64>, status: &Status) {
        self.update(
            (counts.input, total),
            &|pace| rows_line(counts, total, status, pace),
            &|pace| rows_message(counts, status, pace),
        );
    }

    /// Whether anything is shown.
    pub fn shows(&self) -> bool {
        self.bar.is_some() || self.json
    }

    /// The last line of a run on rows, which knows its rows now, and no bar any more.
    pub fn end_rows(&mut self, counts: &RowCounts, status: &Status) {
        self.show_rows(counts, Some(counts.input), status);
        self.clear();
    }

    fn update(
        &mut self,
        (arrived, total): (u64, Option<u64>),
        line: &dyn Fn(Pace) -> String,
        message: &dyn Fn(Pace) -> String,
    ) {
        if !self.shows() {
            return;
        }
        let (first, since) = *self.first.get_or_insert((arrived, Instant::now()));
        let done = total.is_some_and(|total| arrived >= total);
        let pause = PAUSE[usize::from(!self.json)];
        if !done && self.last.is_some_and(|last| last.elapsed() < pause) {
            return;
        }
        self.last = Some(Instant::now());
        let seconds = self.start.elapsed().as_secs_f64();
        let speed = (arrived > first)
            .then(|| (arrived - first) as f64 / since.elapsed().as_secs_f64().max(1e-9));
        let left =
            total.zip(speed).map(|(total, speed)| total.saturating_sub(arrived) as f64 / speed);
        let pace = Pace { seconds, speed, left };
        if self.json {
            aside(&format!("{}\n", line(pace)));
        }
        if let Some(bar) = &self.bar {
            bar.set_length(total.unwrap_or(arrived));
            bar.set_message(message(pace));
            bar.set_position(arrived);
        }
    }

    /// Takes the bar away.
    pub fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// Seconds so far, things a second, and seconds left.
#[derive(Clone, Copy)]
struct Pace {
    seconds: f64,
    speed: Option<f64>,
    left: Option<f64>,
}

/// One JSON line of a run on rows.
fn rows_line(counts: &RowCounts, total: Option<u64>, status: &Status, pace: Pace) -> String {
    serde_json::json!({
        "rows": counts.input,
        "of": total,
        "used": counts.used,
        "kept": status.kept,
        "loss": status.loss,
        "bytes": status.bytes,
        "seconds": round(pace.seconds),
        "rows_per_second": pace.speed.map(f64::round),
        "seconds_left": pace.left.map(round),
    })
    .to_string()
}

fn rows_message(counts: &RowCounts, status: &Status, pace: Pace) -> String {
    let loss = status.loss.map_or(String::new(), |loss| format!(", loss {loss:.4}"));
    let left = pace.left.map_or(String::new(), |left| format!(", {} left", clock(left)));
    let speed = pace.speed.map_or(String::new(), |speed| format!(", {} rows/s", short(speed)));
    format!("{} rows{loss}{speed}{left}", counts.input)
}

/// One JSON line.
#[derive(Serialize)]
struct Line {
    scan: u32,
    scans: u32,
    arrived: u64,
    features: Option<u64>,
    kept: usize,
    loss: Option<f64>,
    substitutions: u64,
    bytes: u64,
    seconds: f64,
    features_per_second: Option<f64>,
    seconds_left: Option<f64>,
}

fn line(progress: &Progress, pace: Pace) -> String {
    let Pace { seconds, speed, left } = pace;
    let line = Line {
        scan: progress.scan + 1,
        scans: progress.scans,
        arrived: progress.arrived,
        features: progress.features,
        kept: progress.status.kept,
        loss: progress.status.loss,
        substitutions: progress.status.substitutions,
        bytes: progress.status.bytes,
        seconds: round(seconds),
        features_per_second: speed.map(f64::round),
        seconds_left: left.map(round),
    };
    serde_json::to_string(&line).unwrap_or_default()
}

fn round(seconds: f64) -> f64 {
    (1000.0 * seconds).round() / 1000.0
}

fn message(progress: &Progress, pace: Pace) -> String {
    let Pace { speed, left, .. } = pace;
    let loss = progress.status.loss.map_or(String::new(), |loss| format!(", loss {loss:.4}"));
    let left = left.map_or(String::new(), |left| format!(", {} left", clock(left)));
    let (scan, scans, kept) = (progress.scan + 1, progress.scans, progress.status.kept);
    let speed = speed.map_or(String::new(), |speed| format!(", {} features/s", short(speed)));
    format!("scan {scan}/{scans}, kept {kept}{loss}{speed}{left}")
}

/// Minutes and seconds, with hours where there are any.
pub fn clock(seconds: f64) -> String {
    let whole = seconds.ceil() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

fn short(speed: f64) -> String {
    match speed {
        s if s >= 1e6 => format!("{:.1}M", s / 1e6),
        s if s >= 1e4 => format!("{:.0}k", s / 1e3),
        s => format!("{s:.0}"),
    }
}

/// A bar that was asked for where there is no terminal: plain lines, nothing moves.
#[derive(Debug)]
struct Plain;

impl indicatif::TermLike for Plain {
    fn width(&self) -> u16 {
        100
    }

    fn move_cursor_up(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> std::io::Result<()> {
        Ok(())
    }

    fn write_line(&self, line: &str) -> std::io::Result<()> {
        self.write_str(&format!("{line}\n"))
    }

    fn write_str(&self, text: &str) -> std::io::Result<()> {
        aside(text);
        Ok(())
    }

    fn clear_line(&self) -> std::io::Result<()> {
        self.write_str("\r")
    }

    fn flush(&self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_enough_for_a_line() {
        assert_eq!((clock(59.2), clock(3661.0)), ("1:00".into(), "1:01:01".into()));
        assert_eq!((short(950.4), short(52_300.0), short(2.34e6)), {
            ("950".into(), "52k".into(), "2.3M".into())
        });
    }
}
