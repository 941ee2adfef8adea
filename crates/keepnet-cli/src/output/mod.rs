//! What a run writes: result, reduced table, decisions, the table at the end.

pub mod atomic;
pub mod csv;
pub mod decisions;
pub mod inputs;
pub mod journal;
pub mod leftover;
pub mod reduced;
pub mod report;
pub mod say;
pub mod table;

pub use say::print;
