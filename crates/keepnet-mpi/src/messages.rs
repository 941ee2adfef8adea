//! A worker's way to the centre by messages: the portable default.
//!
//! ```text
//! worker                         centre (rank 0)
//! READ                  ----->
//!                       <-----   REPLY: updates, tau, stop, epoch, u
//! DELTA: seen, delta    ----->   u += delta
//! ```
//!
//! A delta is on its way as soon as it is known and needs no answer; a read is one round trip.
//! Messages between two ranks keep their order, so a worker always reads its own deltas.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use keepnet::select::substitution::asy_os::{Centre, Seen};
use mpi::traits::*;

use crate::wire::{self, DELTA, Patience, READ, REPLY};

/// Numbers before the prediction in a reply: updates, tau, stop, epoch.
pub const HEAD: usize = 4;

/// What the centre asks of a worker, learnt with every read.
#[derive(Debug, Default)]
pub struct Wishes {
    stop: AtomicBool,
    epoch: AtomicU64,
}

impl Wishes {
    /// Takes the head of a reply.
    pub fn set(&self, stop: f64, epoch: f64) {
        self.stop.store(stop > 0.0, Ordering::Relaxed);
        self.epoch.store(epoch as u64, Ordering::Relaxed);
    }

    /// Whether the run is to end.
    pub fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How many checkpoints were asked for so far.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Relaxed)
    }
}

/// The centre as a worker sees it.
pub struct Messages {
    reply: Vec<f64>,
    delta: Vec<f64>,
    wishes: Arc<Wishes>,
}

impl Messages {
    /// A way to a prediction of `length` values.
    #[must_use]
    pub fn new(length: usize, wishes: Arc<Wishes>) -> Self {
        Self { reply: vec![0.0; HEAD + length], delta: vec![0.0; 1 + length], wishes }
    }
}

impl Centre for Messages {
    fn read(&mut self, u: &mut [f64]) -> Seen {
        let world = wire::world();
        let centre = world.process_at_rank(0);
        centre.send_with_tag(&[0u8; 0][..], READ);
        let mut patience = Patience::default();
        let message = loop {
            match centre.immediate_matched_probe_with_tag(REPLY) {
                Some((message, _)) => break message,
                None => patience.wait(),
            }
        };
        message.matched_receive_into(&mut self.reply[..]);
        u.copy_from_slice(&self.reply[HEAD..]);
        self.wishes.set(self.reply[2], self.reply[3]);
        let tau = Some(self.reply[1]).filter(|tau| *tau > 0.0).map(|tau| tau as u64);
        Seen { updates: self.reply[0] as u64, tau }
    }

    fn add(&mut self, delta: &[f64], seen: u64) {
        self.delta[0] = seen as f64;
        self.delta[1..].copy_from_slice(delta);
        wire::world().process_at_rank(0).send_with_tag(&self.delta[..], DELTA);
    }
}
