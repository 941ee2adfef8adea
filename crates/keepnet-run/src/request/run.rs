//! How to go through the data: scans, order, threads, memory, checkpoint, time.

use std::path::PathBuf;
use std::time::Duration;

use keepnet::{Error, Order, Result};
use serde::Deserialize;

use super::text::{self, FromText, duration};

/// How to run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "terminal", derive(clap::Args), command(next_help_heading = "Run"))]
pub struct RunRequest {
    /// Times to go through the features, or rest: with os-plus until a scan that tests every feature exactly makes no exchange [default: the method's own, 2 for most]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "N|rest", value_parser = text::read::<Scans>))]
    pub scans: Option<Scans>,
    /// Seed of everything random [default: 0]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "terminal", arg(default_value_t = 0, hide_default_value = true))]
    pub seed: u64,
    /// Order of the features: given, shuffled (a new order each scan), or a file of names or indices [default: given]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "ORDER", value_parser = text::read::<OrderSpec>))]
    #[cfg_attr(feature = "terminal", arg(default_value = "given", hide_default_value = true))]
    pub order: OrderSpec,
    /// Threads; no result depends on them, except that of asy-os, whose workers they are [default: all cores]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "N"))]
    pub threads: Option<usize>,
    /// Most memory; a run that cannot fit says so before it starts [default: no limit] [example: 300MB or 2GiB]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "SIZE", value_parser = text::memory))]
    pub memory: Option<u64>,
    /// Save the state here now and then; the same command resumes from it [default: none] [example: run.kn]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "FILE"))]
    pub checkpoint: Option<PathBuf>,
    /// Features only: a stream over days: go on from this state if it is there, offer the columns, save it [default: none] [example: stream.kn]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "FILE"))]
    pub state: Option<PathBuf>,
    /// With --state: columns that came before may come once more, in another scan
    #[cfg_attr(feature = "terminal", arg(long))]
    pub again: bool,
    /// Seconds between checkpoints, or blocks as in 10b [default: 30]
    #[serde(deserialize_with = "text::or_default")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "N", value_parser = text::read::<Every>))]
    #[cfg_attr(
        feature = "terminal",
        arg(default_value = "30", hide = true, requires = "checkpoint")
    )]
    pub checkpoint_every: Every,
    /// End after this time with the whole current result [default: no limit] [example: 2h]
    #[serde(deserialize_with = "text::optional")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "TIME", value_parser = text::read::<Time>))]
    pub time: Option<Time>,
}

/// How often to go through the features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "ScansJson")]
pub enum Scans {
    /// So many times.
    Number(u32),
    /// Until no exchange is left.
    Rest,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ScansJson {
    Number(u32),
    Text(String),
}

impl TryFrom<ScansJson> for Scans {
    type Error = Error;

    fn try_from(json: ScansJson) -> Result<Self> {
        match json {
            ScansJson::Number(scans) => Ok(Self::Number(scans)),
            ScansJson::Text(text) => Self::from_text(&text),
        }
    }
}

impl FromText for Scans {
    fn from_text(text: &str) -> Result<Self> {
        match text.parse() {
            Ok(scans) => Ok(Self::Number(scans)),
            Err(_) if text == "rest" => Ok(Self::Rest),
            Err(_) => Err(Error::param("scans", text, "a number of at least 1, or rest")),
        }
    }
}

/// How long a run may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Time(pub Duration);

impl FromText for Time {
    fn from_text(text: &str) -> Result<Self> {
        duration("time", text).map(Self)
    }
}

/// How often a checkpoint is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// After this time.
    Time(Duration),
    /// After this many blocks.
    Blocks(u64),
}

impl Default for Every {
    fn default() -> Self {
        Self::Time(Duration::from_secs(30))
    }
}

impl FromText for Every {
    fn from_text(text: &str) -> Result<Self> {
        if let Some(blocks) = text.strip_suffix('b') {
            let blocks: u64 = blocks.parse().unwrap_or(0);
            let wrong = || Error::param("checkpoint-every", text, "seconds, or blocks as in 10b");
            return if blocks > 0 { Ok(Self::Blocks(blocks)) } else { Err(wrong()) };
        }
        duration("checkpoint-every", text).map(Self::Time)
    }
}

/// In which order features are offered.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "OrderJson")]
pub enum OrderSpec {
    /// As they stand in the files.
    #[default]
    Given,
    /// A new order each scan.
    Shuffled,
    /// A file with a name or an index a line.
    File(String),
    /// The features at these places.
    Places(Vec<u32>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OrderJson {
    Text(String),
    Places(Vec<u32>),
}

impl From<OrderJson> for OrderSpec {
    fn from(json: OrderJson) -> Self {
        match json {
            OrderJson::Text(text) => Self::named(&text),
            OrderJson::Places(places) => Self::Places(places),
        }
    }
}

impl OrderSpec {
    /// The order of features that are in memory, where a file names none of them.
    pub fn in_memory(&self) -> Result<Order> {
        match self {
            Self::Given => Ok(Order::Given),
            Self::Shuffled => Ok(Order::Shuffled),
            Self::Places(places) => Ok(Order::Fixed(places.as_slice().into())),
            Self::File(path) => {
                Err(Error::param("order", path, "given, shuffled or feature indices"))
            }
        }
    }

    fn named(text: &str) -> Self {
        match text {
            "given" => Self::Given,
            "shuffled" => Self::Shuffled,
            file => Self::File(file.into()),
        }
    }
}

impl FromText for OrderSpec {
    fn from_text(text: &str) -> Result<Self> {
        Ok(Self::named(text))
    }
}
