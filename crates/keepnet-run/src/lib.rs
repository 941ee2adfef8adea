//! A selection from request to result, for programs, for Python, and for Rust.
//!
//! [`select()`] takes a [`Request`] and gives an [`Outcome`]: it opens the files, joins the target,
//! decides on memory, makes the method, drives it over the stream, and writes what was asked
//! for. Methods on features and methods on rows take the same path.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`request`] | what the user asked, typed; the flags of the command line and the JSON of Python |
//! | [`lanes`] | what works around a method by several lanes of one read |
//! | [`plan`] | memory, decided before the run |
//! | [`watch`] | the observer of every run |
//! | [`checkpoint`], [`lock`] | the saved state of a run, and who may use it |
//! | `state`, `today` | a stream that goes on over days |
//! | `targets` | several targets of one read |
//! | [`runner`], [`share`] | where a run takes place: in this process, or over ranks |
//! | [`shard`] | one part of a run over a cluster, and the driver of its parts |
//! | [`host`] | the program around a run |
//! | [`result`] | the result as JSON, as CSV and as a short table |
//! | [`outputs`] | files that appear whole or not at all |
//! | [`apply`], [`model`] | a result on other data: its columns, its predictions |
//! | [`averages`] | running averages without the data |
//! | [`wording`] | arguments in texts as flags |
//! | `terminal` | what programs on a terminal share (feature `terminal`) |
//!
//! ```
//! use keepnet_run::request::{MethodRequest, ProblemRequest};
//! use keepnet_run::{Done, Here, InputRequest, Request, Silent, select};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("x.csv");
//! std::fs::write(&path, "a,b,y\n1,3,2\n2,1,4\n3,4,6\n4,1,8\n5,5,10\n6,9,12\n")?;
//! let request = Request {
//!     input: InputRequest { inputs: vec![path.display().to_string()], ..Default::default() },
//!     problem: ProblemRequest { target: Some("y".into()), ..Default::default() },
//!     method: MethodRequest { k: Some(1.into()), ..Default::default() },
//!     ..Default::default()
//! };
//! let Done::Selected(outcomes) = select(&request, &Here, &mut Silent)? else { unreachable!() };
//! assert_eq!(outcomes[0].selection.selected[0].name, "a");
//! assert!(String::from_utf8(outcomes[0].json()?)?.contains("\"method\": \"os-plus\""));
//! # Ok(())
//! # }
//! ```

pub mod apply;
pub mod averages;
pub mod checkpoint;
pub mod columns;
pub mod host;
mod identity;
mod input;
pub mod lanes;
pub mod lock;
pub mod model;
mod order;
pub mod outputs;
pub mod plan;
mod preview;
pub mod request;
pub mod result;
pub mod rows;
pub mod runner;
mod select;
pub mod shard;
pub mod share;
mod state;
pub mod system;
mod targets;
#[cfg(feature = "terminal")]
pub mod terminal;
pub mod text;
mod today;
pub mod watch;
pub mod wording;

pub use host::{Host, Seen, Silent};
pub use preview::Preview;
pub use request::{InputRequest, Request};
pub use result::Outcome;
pub use runner::{Here, Runner};
pub use select::{Done, select};
