//! Progress on standard error: a bar, JSON lines, or silence.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use keepnet::Status;
use serde::Serialize;
use serde_json::json;

use super::say::aside;
use crate::host::Seen;
use crate::request::ProgressKind;

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

    /// Shows where a run stands, at most a few times a second.
    pub fn show(&mut self, seen: &Seen) {
        if !self.shows() {
            return;
        }
        let (arrived, total) = (seen.arrived, seen.total);
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
            aside(&format!("{}\n", line(seen, pace)));
        }
        if let Some(bar) = &self.bar {
            bar.set_length(total.unwrap_or(arrived));
            bar.set_message(message(seen, pace));
            bar.set_position(arrived);
        }
    }

    /// Whether anything is shown.
    pub fn shows(&self) -> bool {
        self.bar.is_some() || self.json
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

/// One JSON line of a run on features.
#[derive(Serialize)]
struct Line {
    scan: u32,
    scans: Option<u32>,
    arrived: u64,
    features: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    targets: Option<usize>,
    kept: usize,
    loss: Option<f64>,
    substitutions: u64,
    bytes: u64,
    seconds: f64,
    features_per_second: Option<f64>,
    seconds_left: Option<f64>,
}

/// One JSON line.
fn line(seen: &Seen, pace: Pace) -> String {
    let &Seen { scans, arrived, total, features, used, .. } = seen;
    let (Status { kept, loss, substitutions, bytes }, seconds) = (seen.status, round(pace.seconds));
    let (speed, seconds_left) = (pace.speed.map(f64::round), pace.left.map(round));
    if seen.rows {
        let line = json!({
            "rows": arrived, "of": total, "used": used, "kept": kept, "loss": loss, "bytes": bytes,
            "seconds": seconds, "rows_per_second": speed, "seconds_left": seconds_left,
        });
        return line.to_string();
    }
    let (scan, features_per_second) = (seen.scan + 1, speed);
    let targets = Some(seen.targets).filter(|targets| *targets > 1);
    let scans = Some(scans).filter(|scans| *scans > 0);
    #[rustfmt::skip]
    let line = Line {
        scan, scans, arrived, features, targets, kept, loss, substitutions, bytes, seconds,
        features_per_second, seconds_left,
    };
    serde_json::to_string(&line).unwrap_or_default()
}

fn round(seconds: f64) -> f64 {
    (1000.0 * seconds).round() / 1000.0
}

fn message(seen: &Seen, pace: Pace) -> String {
    let mut loss = seen.status.loss.map_or(String::new(), |loss| format!(", loss {loss:.4}"));
    if seen.targets > 1 {
        loss += &format!(" (first of {} targets)", seen.targets);
    }
    let left = pace.left.map_or(String::new(), |left| format!(", {} left", clock(left)));
    let (what, place) = match seen.rows {
        true => ("rows", format!("{} rows", seen.arrived)),
        false => {
            let (scan, kept) = (seen.scan + 1, seen.status.kept);
            let of = match seen.scans {
                0 => String::new(),
                scans => format!("/{scans}"),
            };
            ("features", format!("scan {scan}{of}, kept {kept}"))
        }
    };
    let speed = pace.speed.map_or(String::new(), |speed| format!(", {} {what}/s", short(speed)));
    format!("{place}{loss}{speed}{left}")
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
