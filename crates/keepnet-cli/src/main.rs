//! The `keepnet` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(keepnet_cli::run(std::env::args_os().collect()))
}
