//! The record of a run: everything but where its columns come from.
//!
//! [`super::Driver`] is a record and a source to ask, [`super::Pushed`] a record and the columns
//! that wait for the rest of their group.
//!
//! A lane for which another scan would change nothing rests while others go on, so that its result
//! is that of a run with this lane alone.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::driver::{RunOptions, RunReport};
use super::lane::{Lane, Offered};
use super::log::Log;
use super::observer::{Observer, Progress};
use super::quick::Quick;
use super::snapshot;
use crate::data::block::ColumnBlock;
use crate::data::check::{Wants, check_block_for};
use crate::data::groups::{Groups, WholeGroups};
use crate::data::pool::Pool;
use crate::error::{Error, Result};

/// The position in the stream; part of a checkpoint.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Position {
    pub(super) scan: u32,
    pub(super) in_scan: u64,
    arrived: u64,
    seen: u64,
}

/// A run under way, without its columns.
pub(super) struct Record {
    lanes: Vec<Lane>,
    // Places of the lanes that share a check, and the columns that these keep.
    sharing: Vec<(Vec<usize>, Pool)>,
    // Where all lanes are brief and differ in their rows.
    quick: Option<Quick>,
    pub(super) options: RunOptions,
    pub(super) position: Position,
    pub(super) groups: Option<Groups>,
    pub(super) whole: WholeGroups,
    pub(super) read: Duration,
    select: Duration,
    checked: u64,
}

impl Record {
    /// A run from the start of a stream of columns of `rows` values, where that is known; problems
    /// are checked here.
    pub(super) fn new(lanes: Vec<Lane>, options: RunOptions, rows: Option<usize>) -> Result<Self> {
        let mut sharing: Vec<(Vec<usize>, Pool)> = Vec::new();
        for (at, lane) in lanes.iter().enumerate() {
            match sharing.iter_mut().find(|(same, _)| lane.checks_as(&lanes[same[0]])) {
                Some((same, _)) => same.push(at),
                None => sharing.push((vec![at], Pool::default())),
            }
            lane.problem.check()?;
            let (got, want) = (lane.problem.rows.input(), rows);
            if let Some(want) = want.filter(|want| got != *want) {
                return Err(Error::Rows { what: "the target".into(), got, want });
            }
        }
        let quick = match sharing.iter().all(|(same, _)| same.len() == 1) {
            true => Quick::new(&lanes),
            false => None,
        };
        Ok(Self {
            lanes,
            sharing,
            quick,
            options,
            position: Position::default(),
            groups: None,
            whole: WholeGroups::default(),
            read: Duration::ZERO,
            select: Duration::ZERO,
            checked: 0,
        })
    }

    /// The groups, where a method wants them whole.
    pub(super) fn whole_groups(&mut self) -> Option<(Option<&mut Groups>, &mut WholeGroups)> {
        let whole = self.lanes.iter().any(|lane| lane.selector.whole_groups());
        whole.then_some((self.groups.as_mut(), &mut self.whole))
    }

    /// Rows of the input that the problems are about; `None` without lanes.
    pub(super) fn rows(&self) -> Option<usize> {
        self.lanes.first().map(|lane| lane.problem.rows.input())
    }

    /// Forgets what the last scan counted, unless a scan is under way.
    pub(super) fn begin_scan(&mut self) {
        if self.position.in_scan == 0 {
            self.whole.restore(HashSet::new());
            if self.lanes.iter().all(Lane::rests) {
                // The whole run was at its end, and goes on.
                self.wake();
            }
            self.lanes.iter_mut().filter(|l| !l.rests()).for_each(|lane| lane.log.begin_scan());
        }
    }

    /// Every lane takes part again.
    fn wake(&mut self) {
        self.lanes.iter_mut().for_each(|lane| lane.log.rests = None);
    }

    /// Checks a block, once for all lanes that share the check, and offers it to every lane.
    pub(super) fn offer(&mut self, block: &ColumnBlock, observer: &mut dyn Observer) -> Result<()> {
        let start = Instant::now();
        if self.lanes.iter().all(Lane::rests) {
            self.wake();
        }
        let Position { scan, in_scan: first, .. } = self.position;
        let added = block.len() as u64;
        let arrived = self.position.arrived + added;
        if let (Some(quick), None) = (&mut self.quick, &self.groups) {
            quick.offer(block.columns(), first, &mut self.lanes)?;
            self.checked += added;
            self.pass(added, start);
            return Ok(());
        }
        let offered = Offered { block, first, scan, arrived };
        // One check at a time: its copies of a block are let go before the next is made.
        for (same, pool) in &self.sharing {
            if same.iter().all(|at| self.lanes[*at].rests()) {
                continue;
            }
            let lane = &self.lanes[same[0]];
            // A lane of its own has its glances in the same pass as the check.
            let glances = lane.selector.glances().filter(|_| same.len() == 1);
            let wants = Wants { glances, ..lane.wants() };
            let checked = check_block_for(block, first, &lane.problem, &lane.policy, wants)?;
            self.checked += added;
            if let [at] = same[..] {
                self.lanes[at].offer(at, offered, checked, self.groups.as_mut(), observer)?;
                continue;
            }
            for at in same {
                let lane = &mut self.lanes[*at];
                if lane.rests() {
                    continue;
                }
                let own = checked.share(lane.selector.glances(), pool);
                lane.offer(*at, offered, own, self.groups.as_mut(), observer)?;
            }
        }
        self.pass(added, start);
        Ok(())
    }

    /// Counts a block that was offered.
    fn pass(&mut self, added: u64, start: Instant) {
        let Position { scan, in_scan, arrived, seen } = self.position;
        let in_scan = in_scan + added;
        self.position =
            Position { scan, in_scan, arrived: arrived + added, seen: seen.max(in_scan) };
        self.select += start.elapsed();
    }

    /// Takes in the outcomes that come late, and waits for those under way.
    pub(super) fn settle(&mut self, observer: &mut dyn Observer) -> Result<()> {
        let (start, scan) = (Instant::now(), self.position.scan);
        for (at, lane) in self.lanes.iter_mut().enumerate().filter(|(_, lane)| !lane.rests()) {
            lane.settle(at, scan, true, observer)?;
        }
        self.select += start.elapsed();
        Ok(())
    }

    /// Ends a scan; `true` when another would change nothing.
    pub(super) fn end_scan(&mut self, observer: &mut dyn Observer) -> Result<bool> {
        self.settle(observer)?;
        let mut ended = vec![false; self.lanes.len()];
        for (lane, ended) in self.lanes.iter_mut().zip(&mut ended).filter(|(l, _)| !l.rests()) {
            *ended = lane.selector.end_scan()?;
        }
        // The end of a scan may decide on features that waited for it.
        self.settle(observer)?;
        self.position.scan += 1;
        for (lane, _) in self.lanes.iter_mut().zip(ended).filter(|(_, ended)| *ended) {
            lane.log.rests = Some(self.position.scan);
        }
        let converged = self.lanes.iter().all(Lane::rests);
        self.position.in_scan = 0;
        self.whole.restore(HashSet::new());
        Ok(converged)
    }

    /// Whether every method has its answer.
    pub(super) fn whole(&self) -> bool {
        !self.lanes.iter().any(|lane| lane.selector.unfinished())
    }

    /// Opens the scan that ended last for further features, behind all that came.
    pub(super) fn reopen(&mut self) -> u64 {
        self.wake();
        let Position { scan, in_scan, seen, .. } = &mut self.position;
        if *in_scan == 0 {
            (*scan, *in_scan) = (scan.saturating_sub(1), *seen);
        }
        *in_scan
    }

    /// The error of a source that cannot be read again, with what to do about it.
    pub(super) fn needs_scans(&self, error: Error) -> Error {
        let unfinished = self.lanes.iter().find(|lane| lane.selector.unfinished());
        let holds =
            |s: &crate::selection::Selection| s.params.iter().any(|(name, _)| *name == "hold");
        match unfinished.and_then(|lane| lane.selector.selection().ok()).filter(holds) {
            None => error,
            Some(selection) => Error::Unsupported(format!(
                "{} makes several scans, and {error}; with `hold=all` it makes one",
                selection.method
            )),
        }
    }

    /// Where the run stands; `features` is how many a scan has.
    pub(super) fn progress(&self, features: Option<u64>) -> Progress {
        Progress {
            scan: self.position.scan,
            scans: self.options.scans,
            arrived: self.position.arrived,
            features,
            status: self.lanes.first().map(|lane| lane.selector.status()).unwrap_or_default(),
        }
    }

    /// Refits and gives the result.
    pub(super) fn finish(&mut self, complete: bool) -> Result<RunReport> {
        let start = Instant::now();
        for lane in &mut self.lanes {
            lane.selector.finish()?;
        }
        self.select += start.elapsed();
        self.report(complete)
    }

    /// The result as it stands.
    pub(super) fn report(&self, complete: bool) -> Result<RunReport> {
        let scans = self.position.scan + u32::from(self.position.in_scan > 0);
        let several = self.lanes.len() > 1;
        let report = |lane: &Lane| lane.report(scans, complete || several && lane.rests());
        Ok(RunReport {
            lanes: self.lanes.iter().map(report).collect::<Result<_>>()?,
            features_seen: self.position.seen,
            groups: self.groups.clone(),
            scans,
            complete,
            read: self.read,
            select: self.select,
            cut_short: self.position.in_scan > 0,
            scan_bytes: None,
            checked: self.checked,
        })
    }

    /// The state between two blocks.
    pub(super) fn save(&self) -> Result<Vec<u8>> {
        let lanes: Vec<(&Log, Vec<u8>)> = self
            .lanes
            .iter()
            .map(|lane| Ok((&lane.log, lane.selector.save()?)))
            .collect::<Result<_>>()?;
        let names = self.groups.as_ref().map_or(&[][..], Groups::names);
        snapshot::encode(&(self.position, lanes, names, self.whole.past()))
    }

    /// Takes up a state of a stream of `features`; every later digit is that of an unbroken run.
    pub(super) fn restore(&mut self, state: &[u8], features: Option<u64>) -> Result<()> {
        type State = (Position, Vec<(Log, Vec<u8>)>, Vec<String>, HashSet<u32>);
        let (position, lanes, names, past): State = snapshot::decode(state)?;
        if lanes.len() != self.lanes.len() {
            return Err(Error::Snapshot("it has another number of selectors".into()));
        }
        let features = features.unwrap_or(u64::MAX);
        let scans = match self.options.scans {
            0 => u32::MAX,
            scans => scans,
        };
        let inside = position.scan <= scans && position.in_scan <= features;
        snapshot::ensure(inside, "it is past the end of the stream")?;
        for (lane, (log, state)) in self.lanes.iter_mut().zip(lanes) {
            lane.selector.restore(&state)?;
            lane.log = log;
        }
        if let Some(groups) = &mut self.groups {
            groups.restore(names);
        }
        self.position = position;
        self.quick.iter_mut().for_each(Quick::forget);
        self.whole.restore(past);
        Ok(())
    }
}
