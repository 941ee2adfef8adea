//! What every figure shares: repeats over seeds, a journal of finished cells, rows of results.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use keepnet::experiment::Mean;
use keepnet::{Error, Result};

/// What a paper gives for a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Published {
    /// A number of a table.
    Number(f64),
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

    fn text(self) -> String {
        match self {
            Self::Number(value) => short(value),
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
            true => what.to_string(),
            false => format!("{what}: {}", self.why),
        };
        match self.published {
            Published::Number(value) if self.metric == "seconds" => {
                format!("{:.1} times the published speed", value / ours.mean.max(1e-9))
            }
            Published::Number(value) => {
                // Three standard errors of ours, and what a rounded number cannot say.
                let room = 3.0 * ours.se() + 0.02 * value.abs();
                let off = (ours.mean - value).abs();
                if off > room { said("differs") } else { String::new() }
            }
            Published::Axis(low, high) if ours.mean < low || ours.mean > high => {
                said("outside the figure's axis")
            }
            _ => String::new(),
        }
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
            match &self.ours {
                Some(mean) if mean.count > 1 => short(mean.se()),
                _ => "-".into(),
            },
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

/// Finished cells on disk, so that a long figure can be taken up again.
pub struct Journal {
    known: HashMap<String, Vec<f64>>,
    file: Option<(File, PathBuf)>,
}

impl Journal {
    /// Opens the journal beside an output, or none; one of something else is refused.
    pub fn open(output: Option<&Path>, identity: &str) -> Result<Self> {
        let Some(output) = output else { return Ok(Self { known: HashMap::new(), file: None }) };
        let mut path = output.as_os_str().to_os_string();
        path.push(".journal");
        let path = PathBuf::from(path);
        let failed = |error| Error::io(format!("cannot use the journal {}", path.display()), error);
        let mut known = HashMap::new();
        let fresh = !path.exists();
        if !fresh {
            let mut lines = BufReader::new(File::open(&path).map_err(failed)?).lines();
            let head = lines.next().transpose().map_err(failed)?.unwrap_or_default();
            if head != identity {
                return Err(Error::Data(format!(
                    "the journal {} is of another figure or settings ({head}); remove it",
                    path.display()
                )));
            }
            for line in lines {
                // The last line of a killed run may be torn: that cell is run again.
                let line = line.map_err(failed)?;
                if let Ok((key, values)) = serde_json::from_str::<(String, Vec<Option<f64>>)>(&line)
                {
                    let values = values.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect();
                    known.insert(key, values);
                }
            }
        }
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        if fresh {
            writeln!(file, "{identity}").map_err(failed)?;
        } else {
            // A torn line must not swallow the next one.
            writeln!(file).map_err(failed)?;
        }
        Ok(Self { known, file: Some((file, path)) })
    }

    fn write(&mut self, key: &str, values: &[f64]) -> Result<()> {
        let Some((file, path)) = &mut self.file else { return Ok(()) };
        let line = serde_json::to_string(&(key, values)).unwrap_or_default();
        writeln!(file, "{line}")
            .map_err(|error| Error::io(format!("cannot write {}", path.display()), error))
    }

    /// The figure is done and written.
    pub fn remove(self) {
        if let Some((file, path)) = self.file {
            drop(file);
            // A journal that stays behind costs nothing but its place.
            let _ = std::fs::remove_file(path);
        }
    }
}

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
    journal: Journal,
    start: Instant,
    quiet: bool,
}

impl Bench {
    /// A figure with nothing found yet.
    pub fn new(
        repeats: u64,
        data: Option<PathBuf>,
        settings: BTreeMap<String, String>,
        journal: Journal,
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
        let mut all: Vec<Vec<f64>> = Vec::new();
        for seed in 0..repeats {
            let key = format!("{cell}, seed {seed}");
            let values = match self.journal.known.get(&key) {
                Some(values) => values.clone(),
                None => {
                    self.tell(&format!("{cell}, repeat {} of {repeats}", seed + 1));
                    let values = work(seed)?;
                    self.journal.write(&key, &values)?;
                    values
                }
            };
            all.push(values);
        }
        let width = all.first().map_or(0, Vec::len);
        Ok((0..width).map(|at| Mean::of(all.iter().map(|values| values[at]))).collect())
    }

    fn tell(&self, what: &str) {
        let seconds = self.seconds();
        if self.quiet {
        } else if std::io::stderr().is_terminal() {
            eprint!("\r\x1b[2K{what} ({seconds:.0} s so far)");
        } else {
            eprintln!("{what} ({seconds:.0} s so far)");
        }
    }

    /// Ends the progress line.
    pub fn done(&self) {
        if !self.quiet && std::io::stderr().is_terminal() {
            eprint!("\r\x1b[2K");
        }
    }

    /// Gives the journal back.
    pub fn into_journal(self) -> Journal {
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
            let journal = Journal::open(Some(&output), identity)?;
            Ok::<_, Error>(Bench::new(3, None, BTreeMap::new(), journal, true))
        };
        let mut first = bench("a").unwrap();
        let mut means = first.over_seeds("x", 2, |seed| Ok(vec![seed as f64])).unwrap();
        assert_eq!((means[0].mean, means[0].count), (0.5, 2));
        drop(first);
        // The seeds that were run are not run again; a torn line is.
        let torn = output.with_extension("csv.journal");
        OpenOptions::new().append(true).open(&torn).unwrap().write_all(b"[\"x, se").unwrap();
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
        assert_eq!(row(Published::Axis(0.1, 0.5), mean(0.3)).word(), "");
        assert!(row(Published::Axis(0.1, 0.5), mean(0.6)).word().starts_with("outside"));
        assert_eq!(row(Published::None, None).word(), "another step");
    }
}
