//! What every figure shares: repeats over seeds, a journal of finished cells, rows of results.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Instant;

use keepnet::Result;
use keepnet_papers::Mean;

use keepnet_run::outputs::journal::Journal;
use keepnet_run::terminal::say::aside;
use keepnet_run::text::visible;

/// What a paper gives for a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Published {
    /// A number of a table.
    Number(f64),
    /// A number of one run of the paper: ours is judged by the spread of single runs.
    Run(f64),
    /// A number that was found on other data: shown, and not judged.
    Apart(f64),
    /// The axis of a figure whose curves have no numbers.
    Axis(f64, f64),
    /// Nothing.
    None,
}

impl Published {
    /// A number, or nothing where it is NaN.
    pub fn number(value: f64) -> Self {
        if value.is_nan() { Self::None } else { Self::Number(value) }
    }

    /// The number itself, where there is one.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Number(value) | Self::Run(value) | Self::Apart(value) => Some(value),
            Self::Axis(..) | Self::None => None,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Number(value) | Self::Run(value) | Self::Apart(value) => short(value),
            Self::Axis(low, high) => format!("{low} to {high}"),
            Self::None => "-".into(),
        }
    }
}

/// One line of a result.
#[derive(Clone, Debug)]
pub struct Row {
    /// Part of the figure.
    pub panel: String,
    /// Where on its axis, or which data set.
    pub at: String,
    /// The method as the paper calls it.
    pub method: String,
    /// What was measured.
    pub metric: &'static str,
    /// The paper's number.
    pub published: Published,
    /// Ours, where it was run.
    pub ours: Option<Mean>,
    /// Why it was not run, or why it differs where it does.
    pub why: String,
}

impl Row {
    /// A word where ours is not the published number.
    fn word(&self) -> String {
        let Some(ours) = &self.ours else { return self.why.clone() };
        let said = |what: &str| match self.why.is_empty() {
            true => format!("{what}, the reason is not known"),
            false => format!("{what}: {}", self.why),
        };
        match self.published {
            Published::Number(value) | Published::Run(value) if self.metric == "seconds" => {
                format!("{:.1} times the published speed", value / ours.mean.max(1e-9))
            }
            Published::Apart(_) => self.why.clone(),
            Published::Run(value) => {
                // Two deviations of a run, and what a rounded number cannot say.
                let room = 2.0 * ours.sd + 0.02 * value.abs();
                if (ours.mean - value).abs() > room { said("differs") } else { String::new() }
            }
            Published::Number(value) => {
                // Three standard errors of ours, and what a rounded number cannot say.
                let room = 3.0 * ours.se() + 0.02 * value.abs();
                let off = (ours.mean - value).abs();
                if off > room { said("differs") } else { String::new() }
            }
            Published::Axis(low, high) => {
                // As for a number: an axis has no error of its own, ours has.
                let room = 3.0 * ours.se();
                let inside = ours.mean >= low - room && ours.mean <= high + room;
                if inside { String::new() } else { said("outside the figure's axis") }
            }
            _ => String::new(),
        }
    }

    /// The standard error of ours, where there are repeats and it is a mean.
    pub fn error(&self) -> Option<f64> {
        let is_mean = !self.metric.starts_with("best") && self.metric != "deviation";
        self.ours.filter(|ours| is_mean && ours.count > 1).map(|mean| mean.se())
    }

    fn cells(&self) -> Vec<String> {
        let ours =
            |pick: fn(&Mean) -> f64| self.ours.as_ref().map_or("-".into(), |m| short(pick(m)));
        vec![
            self.panel.clone(),
            self.at.clone(),
            self.method.clone(),
            self.metric.into(),
            self.published.text(),
            ours(|m| m.mean),
            self.error().map_or("-".into(), short),
            self.ours.as_ref().map_or(0, |m| m.count).to_string(),
            self.word(),
        ]
    }
}

fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// Finished cells by name; JSON has no NaN, so a number may be none.
pub type Cells = Journal<Vec<Option<f64>>>;

/// One figure under way.
pub struct Bench {
    /// Repeats over seeds.
    pub repeats: u64,
    /// Where data sets lie.
    pub data: Option<PathBuf>,
    /// `--set` pairs.
    pub settings: BTreeMap<String, String>,
    /// What was found.
    pub rows: Vec<Row>,
    journal: Cells,
    start: Instant,
    quiet: bool,
}

impl Bench {
    /// A figure with nothing found yet.
    pub fn new(
        repeats: u64,
        data: Option<PathBuf>,
        settings: BTreeMap<String, String>,
        journal: Cells,
        quiet: bool,
    ) -> Self {
        let (rows, start) = (Vec::new(), Instant::now());
        Self { repeats, data, settings, rows, journal, start, quiet }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// A setting, or its default.
    pub fn set(&self, name: &str, default: &str) -> String {
        self.settings.get(name).cloned().unwrap_or_else(|| default.into())
    }

    /// Runs `work` for each seed, or takes what the journal has; a mean for each value.
    pub fn over_seeds(
        &mut self,
        cell: &str,
        repeats: u64,
        work: impl Fn(u64) -> Result<Vec<f64>>,
    ) -> Result<Vec<Mean>> {
        let all = self.runs(cell, repeats, work)?;
        let width = all.first().map_or(0, Vec::len);
        Ok((0..width).map(|at| Mean::of(all.iter().map(|values| values[at]))).collect())
    }

    /// The values of each seed, run or taken from the journal.
    pub fn runs(
        &mut self,
        cell: &str,
        repeats: u64,
        work: impl Fn(u64) -> Result<Vec<f64>>,
    ) -> Result<Vec<Vec<f64>>> {
        let mut all: Vec<Vec<f64>> = Vec::new();
        for seed in 0..repeats {
            let key = format!("{cell}, seed {seed}");
            let values = match self.journal.get(&key) {
                Some(values) => values.iter().map(|v| v.unwrap_or(f64::NAN)).collect(),
                None => {
                    self.tell(&format!("{cell}, repeat {} of {repeats}", seed + 1));
                    let values = work(seed)?;
                    let cell = values.iter().map(|v| Some(*v).filter(|v| v.is_finite()));
                    self.journal.write(&key, cell.collect())?;
                    values
                }
            };
            all.push(values);
        }
        Ok(all)
    }

    fn tell(&self, what: &str) {
        let seconds = self.seconds();
        if self.quiet {
        } else if std::io::stderr().is_terminal() {
            aside(&format!("\r\x1b[2K{} ({seconds:.0} s so far)", visible(what)));
        } else {
            aside(&format!("{} ({seconds:.0} s so far)\n", visible(what)));
        }
    }

    /// Ends the progress line.
    pub fn done(&self) {
        if !self.quiet && std::io::stderr().is_terminal() {
            aside("\r\x1b[2K");
        }
    }

    /// Gives the journal back.
    pub fn into_journal(self) -> Cells {
        self.journal
    }

    /// Every row as text, with a heading.
    pub fn cells(&self) -> Vec<Vec<String>> {
        let head =
            ["panel", "at", "method", "metric", "published", "ours", "se", "repeats", "note"];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(self.rows.iter().map(Row::cells));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_resumes_and_refuses_another_figure() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("f.csv");
        let bench = |identity: &str| {
            let journal = Journal::beside(Some(&output), identity)?;
            Ok::<_, keepnet::Error>(Bench::new(3, None, BTreeMap::new(), journal, true))
        };
        let mut first = bench("a").unwrap();
        let mut means = first.over_seeds("x", 2, |seed| Ok(vec![seed as f64])).unwrap();
        assert_eq!((means[0].mean, means[0].count), (0.5, 2));
        drop(first);
        // The seeds that were run are not run again; a torn line is.
        let torn = output.with_extension("csv.journal");
        let mut text = std::fs::read(&torn).unwrap();
        text.extend(b"[\"x, se");
        std::fs::write(&torn, text).unwrap();
        let mut second = bench("a").unwrap();
        means = second.over_seeds("x", 3, |seed| Ok(vec![10.0 * seed as f64])).unwrap();
        assert_eq!(means[0].mean, 7.0);
        assert!(bench("b").err().unwrap().to_string().contains("another figure"));
        second.into_journal().remove();
        assert!(!torn.exists());
    }

    #[test]
    fn a_row_says_where_it_differs() {
        let mean = |mean| Some(Mean { mean, sd: 0.1, count: 4 });
        let row = |published, ours| Row {
            panel: String::new(),
            at: String::new(),
            method: String::new(),
            metric: "recall",
            published,
            ours,
            why: "another step".into(),
        };
        assert_eq!(row(Published::Number(0.7), mean(0.75)).word(), "");
        assert_eq!(row(Published::Number(0.7), mean(0.9)).word(), "differs: another step");
        // One run of theirs against runs of ours that spread by 0.1.
        assert_eq!(row(Published::Run(0.7), mean(0.9)).word(), "");
        assert_eq!(row(Published::Run(0.7), mean(0.95)).word(), "differs: another step");
        assert_eq!(row(Published::Apart(7.0), mean(0.9)).word(), "another step");
        assert_eq!(row(Published::Axis(0.1, 0.5), mean(0.3)).word(), "");
        assert_eq!(row(Published::Axis(0.1, 0.5), mean(0.6)).word(), "");
        assert!(row(Published::Axis(0.1, 0.5), mean(0.7)).word().starts_with("outside"));
        assert_eq!(row(Published::None, None).word(), "another step");
    }
}
