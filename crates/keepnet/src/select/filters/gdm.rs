//! GDM: the feature generating machine with a limit on the correlation of what it selects.
//!
//! ```text
//! alpha = 1/n;  sets = {}
//! round: c_j = |sum_i alpha_i y_i x_ij|;  go down c, ties to the earlier, and take j if |r(j, f)|
//!          <= rho for every f of the sets and of this round, else note j as affiliated to the
//!          nearest f; stop at B taken
//!        alpha: the largest over the simplex, with mu the least over the simplex, of
//!          -1/2 sum_t mu_t |sum_i alpha_i y_i x_i,t|^2 - |alpha|^2 / (2 C)
//! until k features, or no c_j above 1.001 times the largest of the sets
//! ```
//!
//! After Zhai, Tan, Ong, Tsang, ICML 2012, and the feature generating machine of Tan, Wang, Tsang,
//! ICML 2010. `C`, `rho`, the end of the rounds and that the limit holds over all of them are ours.
//! Columns are centred and of unit length. Two classes are -1 and 1. More are one against the rest
//! each, in the same rounds: the first of each class, then the second, until there are k different
//! ones. Violations within 1e-12 are equal. Pinned features are a set of their own before all others.
//!
//! Out of core: a scan a round computes `c_j` of every feature and holds the first of them, which
//! the walk then goes down; where they do not suffice for B, another scan goes on from there. Where
//! all are held one scan is enough. Cost: a product a feature, class and round, and the model: two
//! products a row and selected feature each iteration. Memory: `hold` columns a class, and the
//! selected ones in double precision.

mod machine;
mod model;

use self::machine::{Machine, Member, Members, Params, violation};
use super::hold::{HOLD, Hold};
use super::pool::{Candidate, Offered, Pool};
use super::rank::Rank;
use crate::data::block::FeatureId;
use crate::data::check::{CheckedBlock, Feature};
use crate::data::target::{Problem, Target};
use crate::error::{Error, Result};
use crate::numeric::products::cross;
use crate::registry::setting::Bounds;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot};
use crate::select::statistical::rules;
use crate::select::{ColumnSelector, Memory, Outcome, Reason, Status, Verdict};
use crate::selection::{Affiliated, Selection, Value};

const COST: Setting = Setting::number(
    "cost",
    Bounds::above(0.0),
    1.0,
    "C: cost of a row within the margin, as in a support vector machine",
);
const RHO: Setting = Setting::number(
    "rho",
    Bounds::from_to(0.0, 1.0),
    0.9,
    "most correlation of two selected features; others are affiliated to the nearest",
);
const PER_ROUND: Setting =
    Setting::whole("per-round", (1, 1 << 20), 10, "B: features taken a round, for each class");

/// GDM on a stream.
struct Gdm {
    params: Params,
    hold: Hold,
    settings: Vec<(&'static str, Value)>,
    rows: usize,
    budget: Budget,
    members: Members,
    machines: Vec<Machine>,
    // Members in the order of their selection.
    order: Vec<usize>,
    done: bool,
}

impl Gdm {
    fn offer(&mut self, feature: &Feature<'_>, products: &[f64]) -> Result<Outcome> {
        let id = feature.id;
        let member = feature.pinned || self.members.at(id).is_some();
        let (marginal, held) = self.look(feature, products)?;
        let outcome = match held {
            Some(mut evicted) => {
                evicted.retain(|id| !self.holds(*id));
                let verdict = if member { Verdict::Held } else { Verdict::Reserved };
                Outcome { evicted, ..Outcome::new(verdict) }
            }
            None if member => Outcome::new(Verdict::Held),
            None => {
                let of = self.machines.iter().find_map(|machine| machine.follows(id));
                let by = of.map(|at| self.members.list[at].chosen.id());
                Outcome::dropped(by.map_or(Reason::Weak, |by| Reason::Redundant { by: Some(by) }))
            }
        };
        Ok(Outcome { marginal, ..outcome })
    }

    /// Whether a feature was taken by a machine, or waits in one.
    fn holds(&self, id: FeatureId) -> bool {
        let waits = |machine: &Machine| machine.pool.iter().any(|(rank, _)| rank.id() == id);
        self.members.at(id).is_some() || self.machines.iter().any(waits)
    }

    /// Offers a feature to every machine; its largest violation and, where one holds it, what the
    /// machines let go for it.
    fn look(
        &mut self,
        feature: &Feature<'_>,
        products: &[f64],
    ) -> Result<(Option<f64>, Option<Vec<FeatureId>>)> {
        let (mut most, mut held) = (None, None);
        let fixed = self.fixed();
        self.budget.check(fixed, "the selected columns in double precision")?;
        let share = self.machines.len() as u64;
        let looking = self.machines.iter_mut().filter(|machine| machine.looks());
        for (machine, product) in looking.zip(products) {
            let c = violation(*product, &feature.stats, self.members.total);
            most = Some(c.max(most.unwrap_or(0.0)));
            let rank = Rank::new(c, feature.id);
            if !machine.open(rank, &self.members) {
                continue;
            }
            let mut room = self.hold.room(&self.budget, fixed);
            room.bytes /= share;
            let make = || Candidate::new(feature, None, (), (c, None));
            match machine.pool.offer(rank, room, feature.pinned, make)? {
                Offered::Held(gone) => held.get_or_insert_with(Vec::new).extend(gone),
                Offered::Refused => {}
            }
        }
        Ok((most, held))
    }

    /// Bytes held beside the pools.
    fn fixed(&self) -> u64 {
        let pools: u64 = self.machines.iter().map(|machine| machine.pool.bytes()).sum();
        self.members.bytes() + self.machines.iter().map(Machine::bytes).sum::<u64>() - pools
    }

    fn free(&self) -> usize {
        self.order.iter().filter(|at| !self.members.list[**at].chosen.pinned()).count()
    }

    /// Ends the round of all machines: what they took, in turns, is selected.
    fn finish_round(&mut self) {
        if self.order.is_empty() {
            let pinned = |at: &usize| self.members.list[*at].chosen.pinned();
            self.order = (0..self.members.list.len()).filter(pinned).collect();
            self.order.sort_by_key(|at| self.members.list[*at].chosen.id());
        }
        let longest = self.machines.iter().map(|machine| machine.round.len()).max().unwrap_or(0);
        for place in 0..longest {
            for machine in &self.machines {
                let Some(at) = machine.round.get(place) else { continue };
                if self.free() < self.params.k && !self.order.contains(at) {
                    self.order.push(*at);
                }
            }
        }
        self.done = self.free() >= self.params.k;
        if !self.done {
            for machine in self.machines.iter_mut().filter(|machine| !machine.ended) {
                machine.finish(&self.members, &self.params);
            }
            self.done = self.machines.iter().all(|machine| machine.ended);
        }
    }

    /// Features that are not selected but stand in the shadow of one that is.
    fn affiliated(&self) -> Vec<Affiliated> {
        let mut out: Vec<Affiliated> = Vec::new();
        let selected = |id| self.order.iter().any(|at| self.members.list[*at].chosen.id() == id);
        for follower in self.machines.iter().flat_map(|machine| &machine.followers) {
            let (chosen, of) = (&follower.chosen, &self.members.list[follower.of].chosen);
            if selected(chosen.id()) || !selected(of.id()) {
                continue;
            }
            if !out.iter().any(|one| one.id == chosen.id() && one.of == of.id()) {
                let (name, correlation) = (chosen.name().into(), follower.correlation);
                out.push(Affiliated { id: chosen.id(), name, of: of.id(), correlation });
            }
        }
        out
    }
}

impl ColumnSelector for Gdm {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        let looking = self.machines.iter().filter(|machine| machine.looks() && !self.done);
        let probes: Vec<Vec<f64>> = looking.map(|machine| machine.probe(&self.members)).collect();
        let columns: Vec<_> = block.features.iter().map(Feature::column).collect();
        let views: Vec<&[f64]> = probes.iter().map(Vec::as_slice).collect();
        let mut products = vec![0.0; columns.len() * views.len()];
        cross(&columns, &views, &mut products);
        for (at, feature) in block.features.iter().enumerate() {
            let own = &products[at * views.len()..(at + 1) * views.len()];
            out.push(self.offer(feature, own)?);
        }
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        while !self.done {
            for machine in self.machines.iter_mut().filter(|one| !one.ended && !one.full) {
                machine.walk(&mut self.members, &self.params);
                machine.pool = Pool::default();
            }
            if self.machines.iter().any(|machine| !machine.ended && !machine.full) {
                return Ok(false);
            }
            self.finish_round();
            if !self.machines.iter().all(|machine| machine.ended || machine.whole()) {
                return Ok(self.done);
            }
        }
        Ok(true)
    }

    fn unfinished(&self) -> bool {
        !self.done
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let mut selection = Selection {
            method: "gdm",
            params: self.settings.clone(),
            score_kind: "violation when it was selected",
            affiliated: Some(self.affiliated()),
            ..Selection::default()
        };
        for (order, at) in self.order.iter().enumerate() {
            let chosen = &self.members.list[*at].chosen;
            let list = match chosen.pinned() {
                true => &mut selection.pinned,
                false => &mut selection.selected,
            };
            list.extend(chosen.selected(order));
        }
        selection.sort();
        Ok(selection)
    }

    fn centres(&self) -> bool {
        true
    }

    fn status(&self) -> Status {
        let pools: u64 = self.machines.iter().map(|machine| machine.pool.bytes()).sum();
        Status { kept: self.order.len(), bytes: self.fixed() + pools, ..Status::default() }
    }

    /// The members, what a machine has a row, what the model is solved in, and held columns for
    /// every machine.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let (rows, machines) = (self.rows as u64, self.machines.len() as u64);
        let most = (self.params.k + machines as usize * self.params.per_round) as u64;
        let members = features.map_or(most, |features| most.min(features));
        let fixed = members * (8 * rows + 500) + (5 * machines + 4) * 8 * rows;
        let one = (machines * column, 400 * (machines - 1));
        self.hold.planned(&self.budget, one, features, fixed)
    }
}

impl Snapshot for Gdm {
    fn save(&self) -> Result<Vec<u8>> {
        snapshot::encode(&(&self.members.list, &self.machines, &self.order, self.done))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (list, machines, order, done): (Vec<Member>, Vec<Machine>, Vec<usize>, bool) =
            snapshot::decode(state)?;
        Members::ensure(&list, self.rows)?;
        let fits = machines.len() == self.machines.len() && order.iter().all(|at| *at < list.len());
        snapshot::ensure(fits, "a state of other classes, or of a feature that is no member")?;
        let pairs = machines.into_iter().zip(&self.machines);
        let machines = pairs.map(|(machine, start)| machine.restored(start, list.len()));
        self.machines = machines.collect::<Result<_>>()?;
        (self.members.list, self.order, self.done) = (list, order, done);
        Ok(())
    }
}

/// The rows of each class against the rest; one of two classes is enough.
fn signs(problem: &Problem) -> Result<Vec<Vec<f64>>> {
    let Target::Classes { names, codes } = &problem.target else {
        let want = "with classes as the target: `task=classification`";
        return Err(Error::param("method", "gdm", want));
    };
    let counts = |i: usize| problem.weight.as_ref().is_none_or(|weight| weight[i] > 0.0);
    let has = |class: &u32| codes.iter().enumerate().any(|(i, code)| code == class && counts(i));
    let mut classes: Vec<u32> = (0..names.len() as u32).filter(has).collect();
    if classes.len() < 2 {
        return Err(Error::Data("gdm needs two classes in the rows that count".into()));
    }
    if classes.len() == 2 {
        classes.remove(0);
    }
    let sign = |code: &u32, class: u32| if *code == class { 1.0 } else { -1.0 };
    let of = |class: u32| codes.iter().map(|code| sign(code, class)).collect();
    Ok(classes.into_iter().map(of).collect())
}

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    rules::no_model(problem, "gdm")?;
    let params = Params {
        k: spec.need_k()?,
        per_round: spec.whole(&PER_ROUND)?,
        cost: spec.number(&COST)?,
        rho: spec.number(&RHO)?,
    };
    let hold = Hold::of(spec)?;
    let weight = problem.weight.clone();
    let total = weight.as_ref().map_or(problem.n() as f64, |weight| weight.iter().sum());
    let members = Members { list: Vec::new(), weight, total };
    let signs = signs(problem)?;
    let machines = signs.into_iter().map(|sign| Machine::new(sign, &members)).collect();
    let settings = vec![
        ("k", params.k.into()),
        (COST.name, params.cost.into()),
        (RHO.name, params.rho.into()),
        (PER_ROUND.name, params.per_round.into()),
        (HOLD.name, hold.shown()),
    ];
    let (order, rows) = (Vec::new(), problem.n());
    Ok(Box::new(Gdm {
        params,
        hold,
        settings,
        rows,
        budget,
        members,
        machines,
        order,
        done: false,
    }))
}

/// The registry's entry.
pub const GDM: MethodInfo = MethodInfo {
    name: "gdm",
    stream: Stream::Features,
    summary: "the feature generating machine with a limit on correlation; exact out of core",
    tasks: "classification",
    cost: "a pass a round, a product a class and feature; the model of the selected ones",
    memory: "hold columns as stored a class, the selected ones in double precision",
    paper: "after Zhai, Tan, Ong, Tsang, ICML (2012)",
    scans: 0,
    needs_k: true,
    has_loss: false,
    settings: &[COST, RHO, PER_ROUND, HOLD],
    promises: Promises::STATISTICAL_CLASSES,
    make: Maker::Columns(make),
};
