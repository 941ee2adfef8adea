//! What is written where.

use std::path::{Path, PathBuf};

use keepnet::{Error, Result};
use keepnet_io::Format;
use serde::Deserialize;

use crate::outputs::atomic;

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "terminal", derive(clap::ValueEnum))]
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
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "terminal", derive(clap::Args), command(next_help_heading = "Output"))]
pub struct OutputRequest {
    /// The result, .json or .csv, .score of variants, or DIR/ for a .json of each target; - is JSON on standard output [default: a table only] [example: result.json]
    #[cfg_attr(feature = "terminal", arg(long, short, value_name = "FILE"))]
    pub output: Option<PathBuf>,
    /// The chosen columns and the target, in the format of the extension [default: none] [example: small.parquet]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "FILE"))]
    pub reduced: Option<PathBuf>,
    /// A page with tables and charts that needs no network [default: none] [example: report.html]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "FILE"))]
    pub report: Option<PathBuf>,
    /// Every decision, a row an event, .csv or .parquet [default: none] [example: decisions.csv]
    #[cfg_attr(
        feature = "terminal",
        arg(long, value_name = "FILE", conflicts_with = "checkpoint")
    )]
    pub decisions: Option<PathBuf>,
    /// Rows only: a selection every N rows, as JSON lines on standard output [default: none] [example: 10000]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "N"))]
    pub every: Option<u64>,
    /// Rows only: the running averages, for `keepnet merge` and `keepnet extract` [default: none] [example: stats.kn]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "FILE"))]
    pub averages: Option<PathBuf>,
    /// Progress on standard error: auto, bar, json or none [default: auto, a bar on a terminal]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "KIND", value_enum))]
    #[cfg_attr(feature = "terminal", arg(default_value_t, hide_default_value = true))]
    pub progress: ProgressKind,
    /// No table and no bar; errors and warnings only
    #[cfg_attr(feature = "terminal", arg(long, short))]
    pub quiet: bool,
    /// Say what would be read and how much memory it takes, and stop
    #[cfg_attr(feature = "terminal", arg(long))]
    pub dry_run: bool,
}

impl OutputRequest {
    /// Whether the result goes to standard output.
    #[must_use]
    pub fn to_stdout(&self) -> bool {
        self.output.as_ref().is_some_and(|path| path.as_os_str() == "-")
    }

    /// The folder of the result, where each target has a file of its own: a path that ends as one,
    /// or that is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        let path = self.output.as_deref()?;
        let text = path.as_os_str().as_encoded_bytes();
        (text.ends_with(b"/") || path.is_dir()).then_some(path)
    }

    /// Extensions that say nothing are found before the run.
    pub fn check(&self) -> Result<()> {
        if self.quiet && self.progress == ProgressKind::Bar {
            return Err(Error::param("progress", "bar with --quiet", "json, or no --quiet"));
        }
        let whole = |_: &&PathBuf| !self.to_stdout() && self.folder().is_none();
        if let Some(path) = self.output.as_ref().filter(whole) {
            let want = ".json, .csv, .score, DIR/ or -";
            need_extension("output", path, &["json", "csv", "score"], want)?;
        }
        if let Some(path) = &self.report {
            need_extension("report", path, &["html", "htm"], ".html")?;
        }
        if let Some(path) = &self.decisions {
            need_extension("decisions", path, &["csv", "parquet"], ".csv or .parquet")?;
        }
        if let Some(path) = &self.reduced {
            plain_format("reduced", path)?;
        }
        Ok(())
    }
}

/// The format that an output's extension stands for; nothing is compressed on the way out.
pub(super) fn plain_format(name: &'static str, path: &Path) -> Result<Format> {
    let text = path.to_string_lossy();
    let format = Format::from_path(&text)?;
    match text.ends_with(".gz") || text.ends_with(".zst") {
        true => Err(Error::param(name, text, "an extension without .gz or .zst")),
        false => Ok(format),
    }
}

/// The name of a path's extension in lower case.
#[must_use]
pub fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Refuses a path whose extension says nothing of what is written; a device needs none.
pub fn need_extension(
    name: &'static str,
    path: &Path,
    known: &[&str],
    want: &'static str,
) -> Result<()> {
    let device = atomic::is_device(path);
    match device || known.contains(&extension(path).as_str()) {
        true => Ok(()),
        false => Err(Error::param(name, path.display(), want)),
    }
}
