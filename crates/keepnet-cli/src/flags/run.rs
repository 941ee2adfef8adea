//! How to go through the data: scans, order, threads, memory, checkpoint, time.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use keepnet::{Error, Result};

use super::parse::{bytes, duration};

/// How to run.
#[derive(Args)]
#[command(next_help_heading = "Run")]
pub struct RunFlags {
    /// Times to go through the features [default: the method's own, 2 for most]
    #[arg(long, value_name = "N")]
    pub scans: Option<u32>,
    /// Seed of everything random [default: 0]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub seed: u64,
    /// Order of the features: given, shuffled (a new order each scan), or a file of names or indices [default: given]
    #[arg(long, value_name = "ORDER", default_value = "given", hide_default_value = true)]
    pub order: String,
    /// Threads; no result depends on them, except that of asy-os, whose workers they are [default: all cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Most memory; a run that cannot fit says so before it starts [default: no limit] [example: 300MB or 2GiB]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Save the state here now and then; the same command resumes from it [default: none] [example: run.kn]
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Seconds between checkpoints, or blocks as in 10b [default: 30]
    #[arg(long, value_name = "N", default_value = "30", hide = true)]
    pub checkpoint_every: String,
    /// End after this time with the whole current result [default: no limit] [example: 2h]
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
}

/// How often a checkpoint is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// After this time.
    Time(Duration),
    /// After this many blocks.
    Blocks(u64),
}

impl RunFlags {
    /// The memory limit in bytes.
    pub fn memory(&self) -> Result<Option<u64>> {
        self.memory.as_deref().map(|text| bytes("memory", text)).transpose()
    }

    /// The time limit.
    pub fn time(&self) -> Result<Option<Duration>> {
        self.time.as_deref().map(|text| duration("time", text)).transpose()
    }

    /// How often a checkpoint is written.
    pub fn every(&self) -> Result<Every> {
        let text = &self.checkpoint_every;
        if let Some(blocks) = text.strip_suffix('b') {
            let blocks: u64 = blocks.parse().unwrap_or(0);
            let wrong = || Error::param("checkpoint-every", text, "seconds, or blocks as in 10b");
            return if blocks > 0 { Ok(Every::Blocks(blocks)) } else { Err(wrong()) };
        }
        Ok(Every::Time(duration("checkpoint-every", text)?))
    }
}
