//! One process that tries input after input until its parent ends it, or an input does.
//!
//! What is tried is on disk before it is tried: `call` has the words, `progress` the number. A
//! panic that the user would see ends the process, with its message in `panic`.

use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use keepnet::Result;
use keepnet_cli::{commands, flags};
use keepnet_run::Here;

use crate::cases::{Case, cases};
use crate::random::Random;

/// Exit status after a panic.
const PANICKED: i32 = 101;

/// Runs the program in this process.
pub fn run(call: &[String]) -> Result<()> {
    let words = std::iter::once("keepnet".to_string()).chain(call.iter().cloned());
    match flags::Cli::try_parse_from(words) {
        Ok(cli) => commands::dispatch(cli.command, &Here),
        Err(error) => {
            let text = error.to_string();
            Err(keepnet::Error::Unsupported(text))
        }
    }
}

/// A panic whose message reaches the user ends the process, whoever would catch it.
fn listen() {
    std::panic::set_hook(Box::new(|panic| {
        let _ = std::fs::write("panic", panic.to_string());
        std::process::exit(PANICKED);
    }));
}

fn attempt(case: &Case) -> Result<()> {
    // Something is said, as the user sees it.
    run(&case.call).inspect_err(|error| {
        assert!(!error.to_string().trim().is_empty(), "an error without a word");
    })
}

/// Tries the inputs of a target from `first` on.
pub fn work(target: &str, folder: &Path, seed: u64, first: u64, most: u64) -> ExitCode {
    let begun = std::env::set_current_dir(folder).map_err(|error| error.to_string());
    listen();
    let made = match begun.and_then(|()| cases(target, folder)) {
        Ok(made) => made,
        Err(error) => {
            let _ = std::fs::write("panic", &error);
            return ExitCode::from(2);
        }
    };
    let mut accepted = 0u64;
    for number in first..most {
        let case = made.case(number, &mut Random::new(seed, number));
        let written = std::fs::write(&case.file, &case.bytes)
            .and_then(|()| std::fs::write("call", case.call.join("\n")))
            .and_then(|()| std::fs::write("progress", format!("{number} {accepted}")));
        if let Err(error) = written {
            let _ = std::fs::write("panic", error.to_string());
            return ExitCode::from(2);
        }
        accepted += u64::from(attempt(&case).is_ok());
    }
    let _ = std::fs::write("progress", format!("{most} {accepted}"));
    ExitCode::SUCCESS
}

/// Tries the input that stands in a folder once more.
pub fn again(folder: &Path) -> ExitCode {
    let called = std::env::set_current_dir(folder).and_then(|()| std::fs::read_to_string("call"));
    listen();
    let Ok(call) = called else { return ExitCode::from(2) };
    let call: Vec<String> = call.lines().map(String::from).collect();
    match run(&call) {
        Ok(()) => eprintln!("keepnet-fuzz: the call went well"),
        Err(error) => eprintln!("keepnet-fuzz: the call was refused: {error}"),
    }
    ExitCode::SUCCESS
}
