//! What programs on a terminal share: progress, signals, what is printed, the HTML report.

mod mistake;
pub mod progress;
mod report;
pub mod say;
pub mod signals;
pub mod steps;

use std::error::Error as _;
use std::io::IsTerminal;

use keepnet::{Error, Result};

pub use signals::watch_maps;

use crate::host::{Host, Seen};
use crate::request::{OutputRequest, Request};
use crate::result::{self, Outcome, table};
use crate::runner::Runner;
use crate::select::{Done, select};
use crate::system;
use crate::wording::with_flags;
use progress::Reporter;
use say::{aside, nobody_reads, print, say, warn};

/// Exit status of a call that was wrong.
pub const USAGE: u8 = 2;
/// Exit status of a run that failed.
pub const FAILED: u8 = 1;

/// A terminal around a run.
pub struct Terminal<'a> {
    reporter: Reporter,
    output: &'a OutputRequest,
}

impl<'a> Terminal<'a> {
    /// Shows what was asked for; only the process that `leads` shows a bar.
    #[must_use]
    pub fn new(output: &'a OutputRequest, leads: bool) -> Self {
        Self { reporter: Reporter::new(output.progress, output.quiet || !leads), output }
    }
}

impl Host for Terminal<'_> {
    fn begin(&mut self) -> Result<()> {
        signals::listen()
    }

    fn wording(&self, text: &str) -> String {
        with_flags(text)
    }

    fn shows(&self) -> bool {
        self.reporter.shows()
    }

    fn progress(&mut self, seen: &Seen) {
        self.reporter.show(seen);
    }

    fn end(&mut self, seen: Option<&Seen>) {
        seen.into_iter().for_each(|seen| self.reporter.show(seen));
        self.reporter.clear();
    }

    fn stop(&mut self) -> Option<&'static str> {
        signals::stop_asked().then_some("a signal")
    }

    fn every(&mut self, line: &str) -> Result<()> {
        print(&format!("{line}\n"))
    }

    fn page(&mut self, outcomes: &[Outcome]) -> Result<Vec<u8>> {
        report::html(outcomes)
    }

    fn finished(&mut self, outcomes: &[Outcome]) -> Result<()> {
        let (output, to_stdout) = (self.output, self.output.to_stdout());
        if to_stdout {
            print(&String::from_utf8_lossy(&result::json(outcomes)?))?;
        }
        // Lines of `--every` own the standard output.
        match (output.quiet, to_stdout || output.every.is_some()) {
            (true, _) => {}
            (false, true) => aside(&table::table(outcomes)),
            (false, false) => print(&table::table(outcomes))?,
        }
        warnings(outcomes).iter().for_each(|warning| warn(warning));
        if let Some(why) = outcomes.iter().find_map(|outcome| outcome.stopped) {
            say(&format!("ended early by {why}; the result so far is whole but not complete"));
        }
        Ok(())
    }
}

/// What the user should know: once where it is so of every target, else with the target's name.
fn warnings(outcomes: &[Outcome]) -> Vec<String> {
    let all = |warning: &String| outcomes.iter().all(|other| other.warnings.contains(warning));
    let (mut common, mut own) = (Vec::new(), Vec::new());
    for (at, outcome) in outcomes.iter().enumerate() {
        for warning in &outcome.warnings {
            match all(warning) {
                true if at == 0 => common.push(warning.clone()),
                true => {}
                false => own.push(format!("{}: {warning}", outcome.target_name())),
            }
        }
    }
    common.extend(own);
    common
}

/// `select` of the programs: runs a request and shows its result.
pub fn run(request: &Request, runner: &dyn Runner) -> Result<()> {
    let mut terminal = Terminal::new(&request.output, runner.leads());
    let done = system::with_threads(request.run.threads, || select(request, runner, &mut terminal));
    match done? {
        Done::Previewed(preview) => print(&preview.to_string()),
        Done::Selected(_) | Done::Elsewhere => Ok(()),
    }
}

/// The exit status of an error.
#[must_use]
pub fn status(error: &Error) -> u8 {
    if error.is_usage() { USAGE } else { FAILED }
}

/// The error as one line on standard error.
pub fn complain(error: &Error) {
    if !nobody_reads(error) {
        say(&with_flags(&error.to_string()));
    }
}

/// Help and version go to standard output as they are; everything else becomes one line. Gives the
/// exit status.
#[must_use]
pub fn usage(error: &clap::Error) -> u8 {
    use clap::error::ErrorKind;
    if let Some(own) = error.source().and_then(|source| source.downcast_ref::<Error>()) {
        complain(own);
        return status(own);
    }
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let shown = match std::io::stdout().is_terminal() {
                true => error.render().ansi().to_string(),
                false => error.render().to_string(),
            };
            match print(&shown) {
                Ok(()) => 0,
                Err(error) => {
                    complain(&error);
                    FAILED
                }
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            say("what to do? `keepnet --help` lists the commands");
            USAGE
        }
        _ => {
            say(&format!("{}; --help says more", mistake::line(error)));
            USAGE
        }
    }
}
