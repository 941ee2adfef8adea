//! The `keepnet-mpi` program: the flags and results of `keepnet`, over MPI ranks.

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use keepnet_cli::output::say::say;
use keepnet_cli::wording::with_flags;
use keepnet_cli::{FAILED, commands, complain, flags, status, usage};
use keepnet_mpi::ranks::Ranks;
use keepnet_mpi::wire;
use mpi::Threading;
use mpi::traits::*;

/// How long a rank waits with its own error: one that all have is told by the first alone.
const GRACE: Duration = Duration::from_millis(500);

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
    let cli = match flags::Cli::try_parse() {
        Ok(cli) => cli,
        // Every rank has the same command line and comes to the same end.
        Err(_) if rank > 0 => return ExitCode::SUCCESS,
        Err(error) => return usage(&error),
    };
    if rank > 0 && !matches!(cli.command, flags::Command::Select(_)) {
        return ExitCode::SUCCESS;
    }
    let Err(error) = commands::dispatch(cli.command, &Ranks::new()) else {
        return ExitCode::SUCCESS;
    };
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
