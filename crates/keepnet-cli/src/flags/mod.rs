//! The flags of every command but those of `select`, which are its request; help texts give the
//! default and an example.

mod compare;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use keepnet::Value;
use keepnet_run::Request;
use keepnet_run::request::text::{self, Names};
use keepnet_run::request::{ApplyRequest, MethodRequest, OutputRequest, ProgressKind};

pub use compare::{CompareArgs, CompareInput};

/// The program.
#[derive(Parser)]
#[command(name = "keepnet", version, about = "Feature selection from data too large to hold")]
#[command(after_help = "Exit status: 0 done (also when a signal or --time ended the run early), \
    1 the run failed, 2 the call was wrong.\n\nExample: keepnet select x.parquet --target y -k 50 --output result.json")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Select k features from files, a column at a time
    Select(Box<Request>),
    /// Compare methods on held-out rows of one or several data sets
    Compare(Box<CompareArgs>),
    /// Write the kept columns of other data, as a result has them
    Apply(ApplyRequest),
    /// Write what the model of a result predicts of other data
    Predict(ApplyRequest),
    /// Add up running averages that were accumulated apart
    Merge(MergeArgs),
    /// Select from running averages, without the data
    Extract(Box<ExtractArgs>),
    /// List every method, or show one with its settings
    Methods(MethodsArgs),
    /// Run a figure or table of the papers: published and ours side by side
    Reproduce(ReproduceArgs),
    /// Write the papers' synthetic data, by seed
    Generate(GenerateArgs),
    /// Select from 100,000 features generated on the fly; no files needed
    Demo(DemoArgs),
    /// Print shell completions
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the man page, in roff
    Man {
        /// Write a page for each command into this directory instead
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
}

/// Flags of `merge`.
#[derive(Args)]
pub struct MergeArgs {
    /// Files that `select --averages` wrote, of the same columns
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// File for the sum [example: all.kn]
    #[arg(long, short, value_name = "FILE")]
    pub output: PathBuf,
}

/// Flags of `extract`.
#[derive(Args, Clone)]
pub struct ExtractArgs {
    /// A file that `select --averages` or `merge` wrote
    #[arg(value_name = "STATS")]
    pub stats: PathBuf,
    /// Number of features to keep [default: chosen by --set choose]
    #[arg(short = 'k', value_name = "K")]
    pub k: Option<usize>,
    /// Method on running averages [default: annealed-ridge]
    #[arg(long, value_name = "NAME", default_value = "annealed-ridge", hide_default_value = true)]
    pub method: String,
    /// A setting of the method; may be repeated [example: --set gamma=10]
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = text::setting)]
    pub settings: Vec<(String, Value)>,
    /// Features kept whatever happens, not counted in k: names or @FILE [default: none] [example: age,sex]
    #[arg(long, value_name = "NAMES", value_parser = text::read::<Names>)]
    pub always: Vec<Names>,
    /// The result, .json or .csv; - is JSON on standard output [default: a table only]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// No table; errors and warnings only
    #[arg(long, short)]
    pub quiet: bool,
}

impl ExtractArgs {
    /// The same as a request.
    #[must_use]
    pub fn request(&self) -> Request {
        let Self { k, settings, always, .. } = self.clone();
        let (method, output) = (Some(self.method.clone()), self.output.clone());
        Request {
            method: MethodRequest {
                k: k.map(Into::into),
                method,
                settings,
                always,
                ..MethodRequest::default()
            },
            output: OutputRequest { output, quiet: self.quiet, ..OutputRequest::default() },
            ..Request::default()
        }
    }
}

/// Flags of `methods`.
#[derive(Args)]
pub struct MethodsArgs {
    /// Show this method with its settings
    pub name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Print what each method promises of its answers, as a Markdown table with the reasons
    #[arg(long, conflicts_with = "json")]
    pub promises: bool,
}

/// Flags of `reproduce`.
#[derive(Args)]
pub struct ReproduceArgs {
    /// Which figure; --list shows them all
    #[arg(required_unless_present = "list")]
    pub figure: Option<String>,
    /// List the figures, how long each takes, and those that are not there
    #[arg(long)]
    pub list: bool,
    /// Directory of data sets, NAME.parquet with the class in y [example: --data data]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Repeats over seeds [default: by figure]
    #[arg(long, value_name = "N")]
    pub repeats: Option<u64>,
    /// A setting of the figure; may be repeated [example: --set noise=stated]
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = text::pair)]
    pub settings: Vec<(String, String)>,
    /// The table as CSV; finished cells wait beside it in FILE.journal and are not run again
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The figure as a picture that follows light and dark mode [example: --picture os-1.svg]
    #[arg(long, value_name = "FILE.svg")]
    pub picture: Option<PathBuf>,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// No progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// Flags of `generate`.
#[derive(Args)]
pub struct GenerateArgs {
    /// Which data; --list shows them all
    #[arg(required_unless_present = "list")]
    pub workload: Option<String>,
    /// List the workloads with their settings
    #[arg(long)]
    pub list: bool,
    /// File for the features and, as last column, the target [example: x.npy]
    ///
    /// The extension chooses the format: parquet, arrow, csv, tsv, npy, svm or jsonl; bed for
    /// genotypes.
    #[arg(long, short, value_name = "FILE", required_unless_present = "list")]
    pub output: Option<PathBuf>,
    /// Write the target to this file and not into --output [example: y.csv]
    #[arg(long, value_name = "FILE")]
    pub target: Option<PathBuf>,
    /// Write the informative features and their weights here, as CSV [example: truth.csv]
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
    /// A setting of the workload; may be repeated [example: --set p=6000]
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = text::pair)]
    pub settings: Vec<(String, String)>,
    /// Seed of everything random [default: 0]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_name = "N")]
    pub seed: u64,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Most memory for formats that hold rows [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = text::memory)]
    pub memory: Option<u64>,
}

/// Flags of `demo`.
#[derive(Args)]
pub struct DemoArgs {
    /// Method [default: the first of `keepnet methods`]
    #[arg(long, value_name = "NAME")]
    pub method: Option<String>,
    /// Size of the data: p features, n samples, s of them informative [example: --set p=1000000]
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = text::pair)]
    pub settings: Vec<(String, String)>,
    /// Scans [default: 2]
    #[arg(long, value_name = "N", default_value_t = 2, hide_default_value = true)]
    pub scans: u32,
    /// Seed of the data [default: 0]
    #[arg(long, default_value_t = 0, hide_default_value = true, value_name = "N")]
    pub seed: u64,
    /// Threads [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Progress: auto, bar, json or none [default: auto]
    #[arg(long, value_name = "KIND", value_enum, default_value_t, hide_default_value = true)]
    pub progress: ProgressKind,
}
