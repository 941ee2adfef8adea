//! The flags of `compare`, and the small language of its methods.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use keepnet::registry::{self, Stream};
use keepnet::{Error, LossKind, MethodSpec, Result};
use keepnet_eval::Entrant;

use keepnet_run::request::text::{self, Names, pair};
use keepnet_run::request::{Balanced, GroupSpec, InputRequest, ProgressKind, TaskChoice};

/// Flags of `compare`.
#[derive(Args)]
pub struct CompareArgs {
    /// What to read.
    #[command(flatten)]
    pub input: CompareInput,
    /// What to predict: a column, a file, or FILE:COLUMN; a svm file carries its own [example: y]
    #[arg(long, value_name = "SPEC", help_heading = "Rows")]
    pub target: Option<String>,
    /// auto, regression or classification [default: auto, by the target]
    #[arg(long, value_name = "NAME", value_parser = text::read::<TaskChoice>)]
    #[arg(default_value = "auto", hide_default_value = true, help_heading = "Rows")]
    pub task: TaskChoice,
    /// Weight of each row in the selections, given as --target is [default: 1 each] [example: w]
    #[arg(long, value_name = "SPEC", help_heading = "Rows")]
    pub sample_weight: Option<String>,
    /// balanced: every class weighs the same in the training rows [default: every row weighs the same]
    #[arg(long, value_name = "balanced", value_parser = text::read::<Balanced>)]
    #[arg(help_heading = "Rows")]
    pub class_weight: Option<Balanced>,
    /// A data set in place of INPUT and --target; may be repeated [example: colon=colon.parquet:y]
    #[arg(long, value_name = "NAME=PATH:TARGET", help_heading = "Input")]
    #[arg(conflicts_with_all = ["inputs", "target"])]
    pub dataset: Vec<String>,
    /// Methods with their settings, separated by commas [example: 'saola:alpha=.05,os-plus:reserve=0']
    ///
    /// A setting is one of `keepnet methods NAME`, or k, loss or scans of this method alone.
    #[arg(long, value_name = "LIST", required = true, help_heading = "Method")]
    pub methods: Vec<String>,
    /// Most features to keep, for every method that takes a size and has no k or lambda of its own [example: -k 20]
    #[arg(short = 'k', value_name = "K", help_heading = "Method")]
    pub k: Option<usize>,
    /// Groups of features: a file of feature,group lines, prefix:SEP or block:N [default: none]
    #[arg(long, value_name = "SPEC", value_parser = text::read::<GroupSpec>)]
    #[arg(help_heading = "Method")]
    pub groups: Option<GroupSpec>,
    /// Missing values: error, drop-feature, mean, zero or indicator [default: error]
    #[arg(long, value_name = "WAY", default_value = "error", hide_default_value = true)]
    #[arg(help_heading = "Method")]
    pub missing: String,
    /// Folds (5), repeated folds (5x30), holdout:R or holdout:R:SHARE, or a CSV file with a column a split [default: 5]
    #[arg(long, value_name = "SPEC", default_value = "5", hide_default_value = true)]
    #[arg(help_heading = "Judging")]
    pub splits: String,
    /// Orders of the features: the given one and R - 1 random ones [default: 1]
    #[arg(long, value_name = "R", default_value_t = 1, hide_default_value = true)]
    #[arg(help_heading = "Judging")]
    pub orders: usize,
    /// Judges: 1nn, svm, tree, own, and linear for numbers [default: all that fit the task]
    #[arg(long, value_name = "LIST", value_parser = text::read::<Names>)]
    #[arg(help_heading = "Judging")]
    pub classifiers: Vec<Names>,
    /// Selections made elsewhere, CSV with a column feature or index, and split, order, dataset where they differ
    #[arg(long, value_name = "NAME=FILE", help_heading = "Judging")]
    pub external: Vec<String>,
    /// True features and weights, as `keepnet generate --truth` writes them [default: not known]
    #[arg(long, value_name = "FILE", help_heading = "Judging")]
    pub truth: Option<PathBuf>,
    /// Seed of splits, orders and methods [default: 0]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    #[arg(help_heading = "Run")]
    pub seed: u64,
    /// Threads; no result depends on them [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Run")]
    pub threads: Option<usize>,
    /// Selections that are done, so that a comparison that was ended goes on [default: none] [example: c.journal]
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub checkpoint: Option<PathBuf>,
    /// Most memory for what the methods hold and for judging [default: no limit] [example: 2GiB]
    #[arg(long, value_name = "SIZE", value_parser = text::memory, help_heading = "Run")]
    pub memory: Option<u64>,
    /// Every number as tidy CSV; - is standard output [default: a table only] [example: tidy.csv]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// A page with tables and charts that needs no network [default: none] [example: report.html]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Progress on standard error: auto, bar, json or none [default: auto, a bar on a terminal]
    #[arg(long, value_name = "KIND", value_enum, default_value_t, hide_default_value = true)]
    #[arg(help_heading = "Output")]
    pub progress: ProgressKind,
    /// No table and no bar; errors and warnings only
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// The input flags of `select`, with `--dataset` in place of INPUT where that is given.
pub struct CompareInput(pub InputRequest);

impl Args for CompareInput {
    fn augment_args(command: Command) -> Command {
        InputRequest::augment_args(command)
            .mut_arg("inputs", |arg| arg.required(false).required_unless_present("dataset"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CompareInput {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        InputRequest::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl CompareArgs {
    /// The methods with their settings, in the order given.
    pub fn entrants(&self) -> Result<Vec<Entrant>> {
        let mut written: Vec<Vec<String>> = Vec::new();
        for item in self.methods.iter().flat_map(|list| list.split(',')).map(str::trim) {
            match (item.split_once(':'), item.contains('='), written.last_mut()) {
                // `a:x=1,y=2`: a setting without a method belongs to the one before it.
                (None, true, Some(last)) => last.push(item.into()),
                (None, true, None) => {
                    return Err(Error::param("methods", item, "METHOD:SETTING=VALUE,METHOD"));
                }
                (Some((name, setting)), _, _) => written.push(vec![name.into(), setting.into()]),
                (None, false, _) if item.is_empty() => {}
                (None, false, _) => written.push(vec![item.into()]),
            }
        }
        let entrants: Vec<Entrant> =
            written.iter().map(|parts| self.entrant(parts)).collect::<Result<_>>()?;
        for (at, entrant) in entrants.iter().enumerate() {
            if entrants[..at].iter().any(|other| other.label == entrant.label) {
                let got = format!("{} twice", entrant.label);
                return Err(Error::param("methods", got, "different methods or settings"));
            }
        }
        match entrants.is_empty() {
            true => Err(Error::param("methods", "empty", "at least one method")),
            false => Ok(entrants),
        }
    }

    fn entrant(&self, parts: &[String]) -> Result<Entrant> {
        let (name, settings) = (&parts[0], &parts[1..]);
        let info = registry::find(name)?;
        let settings: Vec<_> = settings.iter().map(|text| pair(text)).collect::<Result<_>>()?;
        let mut settings = text::by_key(&settings)?;
        let mut number = |key: &'static str| match settings.remove(key) {
            None => Ok(None),
            Some(text) => text
                .parse::<usize>()
                .ok()
                .filter(|n| *n > 0)
                .map(Some)
                .ok_or_else(|| Error::param(key, &text, "a whole number, at least 1").at(name)),
        };
        let (k, scans) = (number("k")?, number("scans")?);
        let loss = settings.remove("loss");
        let loss = loss.as_deref().map(LossKind::parse).transpose().map_err(|e| e.at(name))?;
        if loss.is_some() && !info.has_loss {
            let got = format!("given, but {name} has no loss");
            return Err(Error::param("loss", got, "no loss with this method"));
        }
        if info.stream == Stream::Groups && self.groups.is_none() {
            let want = "--groups FILE, prefix:SEP or block:N with this method";
            return Err(Error::param("groups", "not given", want).at(name));
        }
        for key in settings.keys() {
            if !info.has(key) {
                let known: Vec<_> = info.settings.iter().map(|setting| setting.name).collect();
                let got = format!("{key} ({name} knows {})", known.join(", "));
                return Err(Error::param("methods", got, "a setting of the method"));
            }
        }
        // A penalty that is written for a method takes the place of its size.
        let penalised = settings.keys().any(|key| key.starts_with("lambda"));
        let k = k.or(self.k.filter(|_| info.takes_k() && (info.needs_k || !penalised)));
        let settings = settings.into_iter().map(|(name, text)| (name, text.into())).collect();
        let spec = MethodSpec { k, loss, seed: self.seed, settings, ..MethodSpec::default() };
        if info.needs_k {
            spec.need_k().map_err(|error| error.at(name))?;
        }
        let label = match parts.len() {
            1 => name.clone(),
            _ => format!("{name}:{}", parts[1..].join(",")),
        };
        let scans = scans.map_or(info.scans, |scans| scans as u32);
        Ok(Entrant { label, info, spec, scans })
    }

    /// `NAME=VALUE` of each use of a flag.
    pub fn named(name: &'static str, flags: &[String]) -> Result<Vec<(String, String)>> {
        let split = |flag: &String| {
            let pair = flag.split_once('=').filter(|(a, b)| !a.is_empty() && !b.is_empty());
            let pair = pair.map(|(a, b)| (a.to_string(), b.to_string()));
            pair.ok_or_else(|| Error::param(name, flag, "NAME=FILE"))
        };
        flags.iter().map(split).collect()
    }
}
