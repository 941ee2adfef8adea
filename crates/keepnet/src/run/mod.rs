//! What runs a method: the drivers, what they record, and what is saved of them.

pub mod budget;
pub mod driver;
mod lane;
pub(crate) mod log;
mod observer;
mod pins;
mod pushed;
mod quick;
mod record;
pub mod row_driver;
pub mod row_filter;
pub mod snapshot;
mod trace;
pub mod verdict;

pub use budget::Budget;
pub use driver::{Driver, RunOptions, RunReport};
pub use lane::{Lane, LaneReport};
pub use log::Dropped;
pub use observer::{Decision, Flow, Observer, Progress, Quiet};
pub use pushed::Pushed;
pub use quick::quick_bytes;
pub use row_driver::{RowDriver, RowObserver, RowOptions, RowReport};
pub use row_filter::{RowCounts, RowFilter, RowMissing};
pub use snapshot::Snapshot;
pub use trace::TracePoint;
