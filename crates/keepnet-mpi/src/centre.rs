//! Rank 0: Algorithm 2, and the books of the run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use keepnet::run::snapshot::{decode, encode};
use keepnet::{Observer, Progress, Result, Status};
use keepnet_run::watch::Watch;
use mpi::point_to_point::{Message, Status as Envelope};
use mpi::traits::*;

use crate::messages::HEAD;
use crate::reports::Report;
use crate::window::Window;
use crate::wire::{self, DELTA, PART, Patience, READ, REPLY, REPORT, START, STATE};

/// Updates between two looks at signals, time and checkpoint: about a block of features.
const LOOK: u64 = 128;

/// The prediction, and what is known of the workers.
pub struct Desk {
    workers: usize,
    /// What a reply holds: head and prediction.
    reply: Vec<f64>,
    updates: u64,
    /// Staleness of each worker's last update; 0 where it has none.
    tau: Vec<f64>,
    delta: Vec<f64>,
    stop: bool,
    epoch: u64,
    states: Vec<Option<Vec<u8>>>,
    reports: Vec<Option<Report>>,
    window: Option<Arc<Window>>,
    looked: u64,
}

impl Desk {
    /// A desk for `workers` workers and a prediction of `length` values.
    #[must_use]
    pub fn new(workers: usize, length: usize, window: Option<Arc<Window>>) -> Self {
        Self {
            workers,
            reply: vec![0.0; HEAD + length],
            updates: 0,
            tau: vec![0.0; workers],
            delta: vec![0.0; 1 + length],
            stop: false,
            epoch: 0,
            states: vec![None; workers],
            reports: (0..workers).map(|_| None).collect(),
            window,
            looked: 0,
        }
    }

    /// Gives every worker the state that it starts from and takes in what it holds already.
    pub fn start(&mut self, saved: Option<Vec<u8>>) -> Result<()> {
        let states: Vec<Vec<u8>> = match &saved {
            Some(saved) => decode(saved)?,
            None => vec![Vec::new(); self.workers],
        };
        let world = wire::world();
        for (worker, state) in states.iter().enumerate() {
            wire::send(worker as i32 + 1, START, state);
        }
        for worker in (0..self.workers).filter(|_| saved.is_some()) {
            let part = &mut self.delta[1..];
            world.process_at_rank(worker as i32 + 1).receive_into_with_tag(part, PART);
            match &self.window {
                Some(window) => window.add(HEAD, part),
                None => add(&mut self.reply[HEAD..], part),
            }
        }
        // Nobody steps before everybody's part is in.
        world.barrier();
        Ok(())
    }

    /// Serves until every worker has sent its report; they and the prediction at the end.
    pub fn serve(
        mut self,
        watch: &mut Watch<'_>,
        (features, scans): (Option<u64>, u32),
    ) -> Result<(Vec<Report>, Vec<f64>)> {
        let world = wire::world();
        let mut patience = Patience::default();
        let mut last = Instant::now();
        while self.reports.iter().any(Option::is_none) {
            match world.any_process().immediate_matched_probe() {
                Some((message, envelope)) => {
                    patience.over();
                    self.take(message, &envelope, watch)?;
                }
                // With a window nobody waits for an answer.
                None if self.window.is_some() => std::thread::sleep(Duration::from_millis(1)),
                None => patience.wait(),
            }
            let slow = last.elapsed() > Duration::from_millis(50);
            if self.updates >= self.looked + LOOK || slow {
                last = Instant::now();
                self.look(watch, features, scans)?;
            }
        }
        let u = match &self.window {
            Some(window) => {
                let mut all = vec![0.0; window.length()];
                window.get(0, &vec![0.0; window.length()], &mut all);
                all.split_off(HEAD)
            }
            None => self.reply.split_off(HEAD),
        };
        Ok((self.reports.into_iter().flatten().collect(), u))
    }

    fn take(&mut self, message: Message, envelope: &Envelope, watch: &mut Watch<'_>) -> Result<()> {
        let (rank, tag) = (envelope.source_rank(), envelope.tag());
        let worker = rank as usize - 1;
        match tag {
            READ => {
                message.matched_receive_into(&mut [0u8; 0][..]);
                self.reply[0] = self.updates as f64;
                self.reply[1] = std::mem::take(&mut self.tau[worker]);
                self.reply[2] = f64::from(u8::from(self.stop));
                self.reply[3] = self.epoch as f64;
                wire::world().process_at_rank(rank).send_with_tag(&self.reply[..], REPLY);
            }
            DELTA => {
                message.matched_receive_into(&mut self.delta[..]);
                add(&mut self.reply[HEAD..], &self.delta[1..]);
                self.updates += 1;
                self.tau[worker] = self.updates as f64 - self.delta[0];
            }
            _ => {
                let mut length = [0u64];
                message.matched_receive_into(&mut length[..]);
                let bytes = wire::rest(rank, tag, length[0])?;
                match tag {
                    STATE => self.state(worker, bytes, watch)?,
                    REPORT => self.reports[worker] = Some(decode(&bytes)?),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// One more state of the checkpoint under way; with the last one it is whole.
    fn state(&mut self, worker: usize, bytes: Vec<u8>, watch: &mut Watch<'_>) -> Result<()> {
        self.states[worker] = Some(bytes);
        if self.states.iter().all(Option::is_some) {
            let whole: Vec<Vec<u8>> = self.states.iter_mut().filter_map(Option::take).collect();
            Observer::save(watch, encode(&whole)?)?;
        }
        Ok(())
    }

    /// Progress, signals, time, and whether a checkpoint is due.
    fn look(&mut self, watch: &mut Watch<'_>, features: Option<u64>, scans: u32) -> Result<()> {
        if let Some(window) = &self.window {
            let mut head = [0.0; HEAD];
            window.get(0, &[0.0; HEAD], &mut head);
            self.updates = head[0] as u64;
        }
        self.looked = self.updates;
        let scan = features.map_or(0, |features| self.updates / features.max(1)) as u32;
        let (arrived, status) = (self.updates, Status::default());
        let scan = scan.min(scans.saturating_sub(1));
        let flow = Observer::progress(watch, &Progress { scan, scans, arrived, features, status })?;
        let ended = self.reports.iter().any(Option::is_some);
        let under_way = self.states.iter().any(Option::is_some);
        // One checkpoint at a time, and none once a worker is through: it has no state any more.
        let save = flow.save && !ended && (!under_way || flow.stop) && !self.stop;
        if save {
            self.states.fill(None);
            self.epoch += 1;
        }
        let stop = flow.stop && !self.stop;
        self.stop |= stop;
        if let Some(window) = &self.window {
            window.add(1, &[f64::from(u8::from(stop)), f64::from(u8::from(save))]);
        }
        Ok(())
    }
}

fn add(u: &mut [f64], delta: &[f64]) {
    u.iter_mut().zip(delta).for_each(|(u, d)| *u += d);
}
