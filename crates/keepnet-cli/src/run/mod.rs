//! What surrounds a run: signals, checkpoints, memory, progress.

pub mod checkpoint;
pub mod order;
pub mod plan;
pub mod progress;
pub mod runner;
pub mod share;
pub mod signals;
pub mod steps;
pub mod system;
pub mod watch;
