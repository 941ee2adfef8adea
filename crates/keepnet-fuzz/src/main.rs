//! Fuzzing of every reader and of saved states, on stable Rust.
//!
//! ```text
//! keepnet-fuzz run --seconds 60 [--target NAME] [--seed N] [--inputs N] [--keep DIR]
//! ```
//!
//! A worker process a target runs the program on one mutated input after the other, under a limit
//! on its address space. An error in one line is the right answer to nonsense; a panic, a signal,
//! an allocation beyond the limit or half a minute without an end is a failure. It is shrunk and
//! kept with its seed, and the worker goes on behind it.

#![forbid(unsafe_code)]

mod cases;
mod mutate;
mod parent;
mod random;
mod readers;
mod shrink;
mod states;
mod worker;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};

use parent::{Plan, Target};

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Try mutated inputs of every target
    Run(RunArgs),
    /// Try inputs of one target in this process
    #[command(hide = true)]
    Work { target: String, seed: u64, first: u64, most: u64, folder: PathBuf },
    /// Try the input that stands in a folder
    Again { folder: PathBuf },
}

#[derive(Args)]
struct RunArgs {
    /// How long
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Inputs a target, at most
    #[arg(long, default_value_t = u64::MAX)]
    inputs: u64,
    /// One target instead of all; `all` is all
    #[arg(long, default_value = "all")]
    target: String,
    /// Seed of the inputs
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Where failing inputs go
    #[arg(long, default_value = "target/fuzz")]
    keep: PathBuf,
    /// Workers at a time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Work { target, seed, first, most, folder } => {
            worker::work(&target, &folder, seed, first, most)
        }
        Command::Again { folder } => worker::again(&folder),
        Command::Run(args) => match fuzz(&args) {
            Ok(0) => ExitCode::SUCCESS,
            Ok(_) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("keepnet-fuzz: {error}");
                ExitCode::from(2)
            }
        },
    }
}

/// Every target for its share of the time, `jobs` at once; the number of failures.
fn fuzz(args: &RunArgs) -> Result<usize, String> {
    let names: Vec<&str> = match args.target.as_str() {
        "all" => cases::names(),
        one => vec![one],
    };
    if let Some(unknown) = names.iter().find(|name| !cases::names().contains(name)) {
        return Err(format!("there is no target {unknown:?}; {}", cases::names().join(", ")));
    }
    // Where files live in memory, thousands a second are no burden on a disk.
    let memory = PathBuf::from("/dev/shm");
    let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let plan = Plan { seed: args.seed, most: args.inputs, keep: args.keep.clone(), place };
    let jobs = args.jobs.clamp(1, names.len());
    let rounds = names.len().div_ceil(jobs) as f64;
    let share = Duration::from_secs_f64(args.seconds as f64 / rounds);
    let mut waiting: VecDeque<&str> = names.into();
    let mut running: Vec<Target> = Vec::new();
    let (mut tried, mut failed) = (0, 0);
    let said = |error: std::io::Error| error.to_string();
    while !waiting.is_empty() || !running.is_empty() {
        while running.len() < jobs
            && let Some(name) = waiting.pop_front()
        {
            running.push(Target::start(name, &plan).map_err(said)?);
        }
        std::thread::sleep(Duration::from_millis(50));
        let mut still = Vec::with_capacity(jobs);
        for mut target in running {
            let done = target.look(&plan).map_err(said)?;
            if !done && !target.had(share) {
                still.push(target);
                continue;
            }
            target.end();
            let Target { name, tried: inputs, accepted, failures, .. } = &target;
            println!("{name}: {inputs} inputs, {accepted} taken, {} failures", failures.len());
            tried += inputs;
            failed += failures.len();
        }
        running = still;
    }
    println!("{tried} inputs, {failed} failures, seed {}", args.seed);
    Ok(failed)
}
