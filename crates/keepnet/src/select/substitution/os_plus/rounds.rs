//! Scans until none makes an exchange: `--scans rest`.
//!
//! ```text
//! scans 1..s     as ever
//! each round     a scan that tests every column exactly and holds the k of largest fall;
//!                then exchanges among these and the kept set, the steepest first
//! end            a round found no column, or no exchange of those it found lowered the loss
//! ```
//!
//! What the end says (the certificate): no exchange of one kept feature for one of all features
//! lowers the loss by more than [`TOLERANCE`] of it. That is a local optimum and not the best
//! subset. Under a loss that is not squared it says so of the exchanges that the quadratic model
//! proposes. Each exchange lowers the loss, so no set comes twice; after [`MOST`] rounds the run
//! ends without a certificate. Over shards the same rounds are `keepnet.cluster` in Python.

use serde::{Deserialize, Serialize};

use super::exact_test::Best;
use super::{Exchanged, OsPlus};
use crate::data::check::Feature;
use crate::data::name::Name;
use crate::error::Result;
use crate::loss::LossKind;
use crate::select::{Late, Outcome, Reason, Verdict};
use crate::selection::Value;

/// Share of the loss that an exchange must lower it by.
pub(super) const TOLERANCE: f64 = 1e-9;
/// Rounds at most.
const MOST: u32 = 50;

/// Where the rounds stand; part of a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rounds {
    /// Scans before the first round, of which `scans` are left.
    scans: u32,
    rounds: u32,
    exchanges: u64,
    best: Best,
    certificate: Option<bool>,
    #[serde(skip)]
    late: Vec<Late>,
}

impl Rounds {
    /// Rounds after so many scans, that hold `top` columns each.
    pub(super) fn after(scans: u32, top: usize) -> Self {
        let (rounds, exchanges, certificate) = (0, 0, None);
        Self { scans, rounds, exchanges, best: Best::new(top), certificate, late: Vec::new() }
    }

    /// Whether the present scan tests every column exactly.
    pub(super) fn tests(&self) -> bool {
        self.scans == 0
    }

    pub(super) fn ended(&self) -> bool {
        self.certificate.is_some()
    }

    /// Hands over the exchanges that nobody was told of.
    pub(super) fn told(&mut self, out: &mut Vec<Late>) {
        out.append(&mut self.late);
    }

    pub(super) fn bytes(&self) -> u64 {
        self.best.bytes()
    }

    pub(super) fn sound(&self, rows: usize) -> bool {
        self.best.sound(rows) && self.rounds <= MOST
    }

    pub(super) fn metrics(&self, kind: &'static str) -> Vec<(&'static str, Value)> {
        vec![
            ("rounds", u64::from(self.rounds).into()),
            ("exchanges", self.exchanges.into()),
            ("certificate", self.certificate.unwrap_or(false).into()),
            ("certificate_kind", kind.into()),
        ]
    }

    pub(super) fn warning(&self) -> Option<String> {
        let why = match self.certificate {
            Some(true) => return None,
            Some(false) => format!("{MOST} rounds were not enough to end"),
            None => "the run ended before a round found no exchange".into(),
        };
        Some(format!("no certificate: {why}, so an exchange may still lower the loss"))
    }
}

impl OsPlus {
    /// What the certificate is about: the loss itself, or exchanges of its quadratic model.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        if self.outputs.kind == LossKind::Squared { "exact" } else { "quadratic" }
    }

    /// A block of a round: it changes nothing but the list of what the round found.
    pub(super) fn test_block(
        &mut self,
        features: &[Feature<'_>],
        out: &mut Vec<Outcome>,
    ) -> Result<()> {
        let Some(mut rounds) = self.rounds.take() else { return Ok(()) };
        let least = self.core.least_fall(TOLERANCE);
        let exchanges = match rounds.ended() {
            true => vec![None; features.len()],
            false => self.exact(features),
        };
        for (feature, exchange) in features.iter().zip(exchanges) {
            let held = self.core.kept().slot(feature.id).is_some();
            let fall = exchange.map(|exchange| exchange.fall);
            let found =
                fall.is_some_and(|fall| fall > least && rounds.best.offer(fall, None, feature));
            let mut outcome = Outcome::new(match (held, found) {
                (true, _) => Verdict::Held,
                (false, true) => Verdict::Reserved,
                (false, false) => Verdict::Dropped(Reason::Weak),
            });
            outcome.score = fall;
            out.push(outcome);
        }
        self.rounds = Some(rounds);
        Ok(())
    }

    /// Ends a scan; `true` where the run is at its end.
    pub(super) fn end_round(&mut self) -> Result<bool> {
        let Some(mut rounds) = self.rounds.take() else { return Ok(false) };
        let done = self.exchange_round(&mut rounds);
        self.rounds = Some(rounds);
        done
    }

    fn exchange_round(&mut self, rounds: &mut Rounds) -> Result<bool> {
        if rounds.ended() {
            return Ok(true);
        }
        if rounds.scans > 0 {
            rounds.scans -= 1;
            if rounds.scans == 0 {
                self.core.settle()?;
            }
            return Ok(false);
        }
        let found = rounds.best.take();
        let columns: Vec<Feature<'_>> =
            found.iter().filter_map(|found| Feature::of_kept(&found.column)).collect();
        let made = self.exchange(&columns, TOLERANCE)?;
        rounds.rounds += 1;
        rounds.exchanges += made.len() as u64;
        rounds.certificate = match made.is_empty() {
            true => Some(true),
            false => (rounds.rounds >= MOST).then_some(false),
        };
        let late = |Exchanged { entered: id, name, left: evicted, fall }| {
            let outcome = Outcome { evicted, score: Some(fall), ..Outcome::new(Verdict::Kept) };
            Late { id, name: Name::Text(name), outcome }
        };
        rounds.late.extend(made.into_iter().map(late));
        Ok(rounds.ended())
    }
}
