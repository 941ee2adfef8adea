//! The `keepnet-mpi` program: the flags and results of `keepnet select`, over MPI ranks.

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use keepnet_mpi::ranks::Ranks;
use keepnet_mpi::wire;
use keepnet_run::Request;
use keepnet_run::terminal::say::say;
use keepnet_run::terminal::{self, FAILED, USAGE, complain, status, usage, watch_maps};
use keepnet_run::wording::with_flags;
use mpi::Threading;
use mpi::traits::*;

/// How long a rank waits with its own error: one that all have is told by the first alone.
const GRACE: Duration = Duration::from_millis(500);

/// The program.
#[derive(Parser)]
#[command(name = "keepnet-mpi", version, about = "keepnet select over MPI ranks")]
#[command(after_help = "The program keepnet has the other commands.")]
struct Cli {
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Subcommand)]
enum Command {
    /// Select k features from files over the ranks
    Select(Box<Request>),
    /// Any other command of keepnet.
    #[command(external_subcommand)]
    Other(Vec<String>),
}

fn main() -> ExitCode {
    // Work runs on a thread pool, so MPI is called from another thread than this one.
    let Some((universe, threading)) = mpi::initialize_with_threading(Threading::Serialized) else {
        say("MPI cannot be started; run this program under mpirun");
        return ExitCode::from(FAILED);
    };
    if threading < Threading::Serialized {
        say("this MPI library allows calls from its first thread only");
        return ExitCode::from(FAILED);
    }
    let rank = universe.world().rank();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // Every rank has the same command line and comes to the same end.
        Err(_) if rank > 0 => return ExitCode::SUCCESS,
        Err(error) => return ExitCode::from(usage(&error)),
    };
    let done = match cli.command {
        Command::Select(request) => {
            watch_maps().and_then(|()| terminal::run(&request, &Ranks::new()))
        }
        Command::Other(_) if rank > 0 => return ExitCode::SUCCESS,
        Command::Other(words) => {
            let name = words.first().map_or("", String::as_str);
            say(&format!("{name} needs no ranks: use the program keepnet, as in keepnet {name}"));
            return ExitCode::from(USAGE);
        }
    };
    let Err(error) = done else { return ExitCode::SUCCESS };
    match rank {
        0 => complain(&error),
        _ => {
            std::thread::sleep(GRACE);
            say(&with_flags(&format!("rank {rank}: {error}")));
        }
    }
    // The others may be waiting for this rank: nobody stays behind.
    wire::world().abort(i32::from(status(&error)))
}
