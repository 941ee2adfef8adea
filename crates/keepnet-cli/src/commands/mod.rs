//! The commands, one a file; `select`, `merge` and `extract` are those of `keepnet-run`.

mod compare;
mod compare_data;
mod compare_outputs;
mod compare_resume;
mod demo;
mod generate;
mod generate_genotypes;
mod methods;
mod reproduce;

use std::path::Path;

use clap::CommandFactory;
use keepnet::{Error, Result};
use keepnet_run::request::ApplyRequest;
use keepnet_run::terminal::say::{print, say};
use keepnet_run::terminal::{self, Terminal, signals};
use keepnet_run::{Runner, apply, averages};

use crate::flags::{Cli, Command, ExtractArgs, MergeArgs};

/// Runs a command.
pub fn dispatch(command: Command, runner: &dyn Runner) -> Result<()> {
    match command {
        Command::Select(request) => terminal::run(&request, runner),
        Command::Compare(args) => compare::run(&args),
        Command::Apply(request) => apply(&request, apply::apply),
        Command::Predict(request) => apply(&request, apply::predict),
        Command::Merge(args) => merge(&args),
        Command::Extract(args) => extract(&args),
        Command::Methods(args) => methods::run(&args),
        Command::Reproduce(args) => reproduce::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "keepnet", &mut text);
            print(&String::from_utf8_lossy(&text))
        }
        Command::Man { directory } => man(directory.as_deref()),
    }
}

/// Uses a result on other data.
fn apply(
    request: &ApplyRequest,
    write: impl Fn(&ApplyRequest) -> Result<apply::Written>,
) -> Result<()> {
    signals::listen()?;
    let apply::Written { rows, columns } = write(request)?;
    if !request.quiet && !request.to_stdout() {
        say(&format!("{rows} rows, {columns} columns in {}", request.output.display()));
    }
    Ok(())
}

/// Adds up running averages that were accumulated apart.
fn merge(args: &MergeArgs) -> Result<()> {
    let sum = averages::merge(&args.inputs, &args.output)?;
    let (rows, features) = (sum.averages.rows(), sum.problem.features());
    say(&format!("{rows} rows of {features} features from {} files", args.inputs.len()));
    Ok(())
}

/// A selection from running averages.
fn extract(args: &ExtractArgs) -> Result<()> {
    let request = args.request();
    averages::extract(&args.stats, &request, &mut Terminal::new(&request.output, true))?;
    Ok(())
}

fn man(directory: Option<&Path>) -> Result<()> {
    let failed = |error| Error::io("cannot write the man page", error);
    match directory {
        Some(directory) => clap_mangen::generate_to(Cli::command(), directory).map_err(failed),
        None => {
            let mut text = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut text).map_err(failed)?;
            print(&String::from_utf8_lossy(&text))
        }
    }
}
