//! The `keepnet` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    keepnet_cli::main()
}
