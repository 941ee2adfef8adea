//! What is written where.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use keepnet::{Error, Result};

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ProgressKind {
    /// A bar on a terminal, else nothing
    #[default]
    Auto,
    /// A bar
    Bar,
    /// JSON lines
    Json,
    /// Nothing
    None,
}

/// What to write.
#[derive(Args)]
#[command(next_help_heading = "Output")]
pub struct OutputFlags {
    /// The result, .json or .csv; - is JSON on standard output [default: a table only] [example: result.json]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The chosen columns and the target, in the format of the extension [default: none] [example: small.parquet]
    #[arg(long, value_name = "FILE")]
    pub reduced: Option<PathBuf>,
    /// A page with tables and charts that needs no network [default: none] [example: report.html]
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Every decision, a row an event, .csv or .parquet [default: none] [example: decisions.csv]
    #[arg(long, value_name = "FILE", conflicts_with = "checkpoint")]
    pub decisions: Option<PathBuf>,
    /// Rows only: a selection every N rows, as JSON lines on standard output [default: none] [example: 10000]
    #[arg(long, value_name = "N")]
    pub every: Option<u64>,
    /// Rows only: the running averages, for `keepnet merge` and `keepnet extract` [default: none] [example: stats.kn]
    #[arg(long, value_name = "FILE")]
    pub averages: Option<PathBuf>,
    /// Progress on standard error: auto, bar, json or none [default: auto, a bar on a terminal]
    #[arg(long, value_name = "KIND", value_enum, default_value_t, hide_default_value = true)]
    pub progress: ProgressKind,
    /// No table and no bar; errors and warnings only
    #[arg(long, short)]
    pub quiet: bool,
    /// Say what would be read and how much memory it takes, and stop
    #[arg(long)]
    pub dry_run: bool,
}

impl OutputFlags {
    /// Whether the result goes to standard output.
    pub fn to_stdout(&self) -> bool {
        self.output.as_ref().is_some_and(|path| path.as_os_str() == "-")
    }

    /// Refuses what only a stream of rows can give.
    pub fn features_only(&self) -> Result<()> {
        if self.every.is_some() {
            return Err(Error::param("every", "given", "a method on rows; see `keepnet methods`"));
        }
        if self.averages.is_some() {
            return Err(Error::param("averages", "given", "a method on running averages"));
        }
        Ok(())
    }

    /// Extensions that say nothing are found before the run.
    pub fn check(&self) -> Result<()> {
        if let Some(path) = self.output.as_ref().filter(|_| !self.to_stdout()) {
            extension("output", path, &["json", "csv"], ".json, .csv or -")?;
        }
        if let Some(path) = &self.report {
            extension("report", path, &["html", "htm"], ".html")?;
        }
        if let Some(path) = &self.decisions {
            extension("decisions", path, &["csv", "parquet"], ".csv or .parquet")?;
        }
        if let Some(path) = &self.reduced {
            let text = path.to_string_lossy();
            keepnet_io::Format::from_path(&text)?;
            if text.ends_with(".gz") || text.ends_with(".zst") {
                return Err(Error::param("reduced", text, "an extension without .gz or .zst"));
            }
        }
        Ok(())
    }
}

/// A path whose extension says nothing of what is written.
pub fn extension(
    name: &'static str,
    path: &std::path::Path,
    known: &[&str],
    want: &'static str,
) -> Result<()> {
    let device = path.exists() && !path.is_file();
    let found = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase());
    if device || found.is_some_and(|e| known.contains(&e.as_str())) {
        return Ok(());
    }
    Err(Error::param(name, path.display(), want))
}
