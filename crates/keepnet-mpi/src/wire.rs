//! Tags, and bytes of any length between two ranks.

use std::time::Duration;

use keepnet::{Error, Result};
use mpi::Tag;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// A worker asks for the prediction.
pub const READ: Tag = 1;
/// A worker adds a delta.
pub const DELTA: Tag = 2;
/// The prediction.
pub const REPLY: Tag = 3;
/// A worker's state, for a checkpoint.
pub const STATE: Tag = 4;
/// A worker's last word.
pub const REPORT: Tag = 5;
/// The state that a worker starts from; empty for a fresh start.
pub const START: Tag = 6;
/// What a restored worker holds of the prediction.
pub const PART: Tag = 7;

/// Bytes in one message: the count of MPI is a signed 32-bit number.
const CHUNK: usize = 1 << 30;

/// Looks for a message before a rank leaves the core to others, and for how long.
const SPINS: u32 = 300;
const PAUSE: Duration = Duration::from_micros(20);

/// Waiting that is short where the answer is near and costs no core where it is not.
///
/// A blocking receive of MPI looks for its message all the time; with more ranks than cores
/// that keeps the rank waiting that it waits for.
#[derive(Default)]
pub struct Patience(u32);

impl Patience {
    /// Waits a little, longer after many times in a row.
    pub fn wait(&mut self) {
        self.0 = self.0.saturating_add(1);
        if self.0 > SPINS { std::thread::sleep(PAUSE) } else { std::hint::spin_loop() }
    }

    /// Something came.
    pub fn over(&mut self) {
        self.0 = 0;
    }
}

/// All ranks.
#[must_use]
pub fn world() -> SimpleCommunicator {
    SimpleCommunicator::world()
}

/// Sends bytes: their number, then as many messages as it takes.
pub fn send(to: i32, tag: Tag, bytes: &[u8]) {
    let world = world();
    let process = world.process_at_rank(to);
    process.send_with_tag(&[bytes.len() as u64][..], tag);
    for chunk in bytes.chunks(CHUNK) {
        process.send_with_tag(chunk, tag);
    }
}

/// Receives what [`send`] sent.
pub fn receive(from: i32, tag: Tag) -> Result<Vec<u8>> {
    let world = world();
    let process = world.process_at_rank(from);
    let mut length = [0u64];
    process.receive_into_with_tag(&mut length[..], tag);
    rest(from, tag, length[0])
}

/// Receives the bytes after their number.
pub fn rest(from: i32, tag: Tag, length: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    bytes.try_reserve_exact(length).map_err(|_| {
        Error::Data(format!("rank {from} sends {length} bytes, more than fit in memory here"))
    })?;
    bytes.resize(length, 0u8);
    let world = world();
    for chunk in bytes.chunks_mut(CHUNK) {
        world.process_at_rank(from).receive_into_with_tag(chunk, tag);
    }
    Ok(bytes)
}
