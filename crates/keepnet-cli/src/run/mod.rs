//! What surrounds a run: signals, checkpoints, memory, progress.

pub mod checkpoint;
pub mod lock;
pub mod opening;
pub mod order;
pub mod progress;
pub mod runner;
pub mod share;
pub mod signals;
pub mod steps;
pub mod watch;

pub use keepnet_io::{plan, system};
