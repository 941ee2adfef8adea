//! OGFS: online group feature selection by class scatter and a lasso between groups.
//!
//! ```text
//! of one feature    b = sum_c n_c (mu_c - mu)^2,  w = sum_c n_c sigma_c^2,  score = b / w
//! of a set U        F(U) = sum b / sum w                            the trace ratio
//! within a group    accept f if F(U + f) - F(U) > epsilon, or if score(f) is above the mean
//!                   of the accepted scores of the group by a one-sided t-test at `level`
//! between groups    min |y - X b|^2 / (2 n) + lambda |b|_1 over kept and accepted features,
//!                   columns and target standardised; features with b = 0 go
//! ```
//!
//! Wang, Zhao, Hu, Cheung, Wang, Wu, IJCAI 2013. `epsilon = 0.001` and the regularisation
//! `0.001` are the defaults of the authors' released code (`epsilon`, `gamma` in `OGFS.m`);
//! 0.05 is the paper's level. With more than two classes the lasso is solved for each class
//! against the rest, and a feature stays if any of them uses it. The first feature of a group is
//! compared with `F = 0`.
//!
//! Cost: one pass per feature. Between groups: a product for each pair of kept and newly accepted
//! columns, then coordinate descent on the correlations. Memory: the kept columns, one group,
//! and the square of the number of kept columns.

mod settings;

use super::group_saola::group_metrics;
use super::kept_list::KeptList;
use crate::FeatureId;
use crate::data::check::{CheckedBlock, Feature};
use crate::data::target::{Problem, Target};
use crate::error::{Error, Result};
use crate::measure::fisher_z::Sums;
use crate::measure::{Evidence, FisherZ, Measure, Side};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot, ensure, is_lower};
use crate::select::{
    ColumnSelector, GroupSelector, Holds, Memory, Outcome, Reason, Status, Verdict, offer_groups,
};
use crate::selection::Selection;
use crate::tails::{f_tail, student_two_sided};

use settings::{EPSILON, LAMBDA, LEVEL};

pub use settings::OGFS;

/// Most sweeps of coordinate descent.
const SWEEPS: usize = 1000;
/// Step below which the descent stops; a smaller coefficient is 0.
const STILL: f64 = 1e-9;

/// Settings of [`Ogfs`].
#[derive(Clone, Copy, Debug)]
pub struct OgfsParams {
    /// Most features to keep; `None` is no limit.
    pub k: Option<usize>,
    /// Least gain of the trace ratio.
    pub epsilon: f64,
    /// Level of the t-test on a feature's own score.
    pub level: f64,
    /// L1 penalty between groups.
    pub lambda: f64,
}

impl Default for OgfsParams {
    fn default() -> Self {
        Self {
            k: None,
            epsilon: const { EPSILON.usual_number() },
            level: const { LEVEL.usual_number() },
            lambda: const { LAMBDA.usual_number() },
        }
    }
}

/// Online group feature selection.
pub struct Ogfs {
    params: OgfsParams,
    z: FisherZ,
    // Centred targets of unit length, one per output, times the sample weights.
    outputs: Vec<Vec<f64>>,
    class: Vec<u32>,
    weight: Option<Vec<f64>>,
    class_mass: Vec<f64>,
    list: KeptList<Sums>,
    // Correlations of the kept columns with each other (rows of the lower triangle) and with
    // the outputs.
    gram: Vec<Vec<f64>>,
    with_outputs: Vec<Vec<f64>>,
    groups_seen: u64,
    evictions: u64,
    ended: bool,
}

/// Scatter between and within classes.
#[derive(Clone, Copy, Default)]
struct Scatter {
    between: f64,
    within: f64,
}

impl Scatter {
    fn ratio(self) -> f64 {
        self.between / self.within.max(1e-6 * self.between).max(f64::MIN_POSITIVE)
    }

    fn plus(self, other: Self) -> Self {
        Self { between: self.between + other.between, within: self.within + other.within }
    }
}

impl Ogfs {
    /// An empty selection; the target must have classes.
    pub fn new(params: OgfsParams, problem: &Problem, budget: Budget) -> Result<Self> {
        if params.k == Some(0) {
            return Err(Error::param("k", 0, "at least 1"));
        }
        EPSILON.check(params.epsilon)?;
        LEVEL.check(params.level)?;
        LAMBDA.check(params.lambda)?;
        let Target::Classes { codes, names } = &problem.target else {
            return Err(Error::Data(
                "ogfs compares classes and needs a classification target; try group-saola".into(),
            ));
        };
        let numbers: Vec<f64> = codes.iter().map(|c| f64::from(*c)).collect();
        let mut numeric = Problem::regression(numbers);
        numeric.weight.clone_from(&problem.weight);
        let weight = problem.weight.clone();
        let one = |i: usize| weight.as_ref().map_or(1.0, |v| v[i]);
        let mut class_mass = vec![0.0; names.len()];
        codes.iter().enumerate().for_each(|(i, c)| class_mass[*c as usize] += one(i));
        let total = problem.weight_sum();
        let unit = |y: &Vec<f64>| -> Vec<f64> {
            let mean = y.iter().enumerate().map(|(i, y)| one(i) * y).sum::<f64>() / total;
            let square = |(i, y): (usize, &f64)| one(i) * (y - mean) * (y - mean);
            let length = y.iter().enumerate().map(square).sum::<f64>().sqrt();
            y.iter().enumerate().map(|(i, y)| one(i) * (y - mean) / length).collect()
        };
        let outputs = problem.target.outputs().iter().map(unit).collect();
        Ok(Self {
            params,
            z: FisherZ::new(&numeric, 0.5)?,
            outputs,
            class: codes.clone(),
            weight,
            class_mass,
            list: KeptList::new(problem.n(), budget),
            gram: Vec::new(),
            with_outputs: Vec::new(),
            groups_seen: 0,
            evictions: 0,
            ended: false,
        })
    }

    fn scatter(&self, feature: &Feature<'_>) -> Scatter {
        let mut sums = vec![0.0; self.class_mass.len()];
        let mean = feature.stats.mean;
        let one = |i: usize| self.weight.as_ref().map_or(1.0, |v| v[i]);
        let dense = feature.column().is_dense();
        // Dense columns are centred here; the others skip their zeros.
        let shift = if dense { mean } else { 0.0 };
        feature.column().each(|i, x| sums[self.class[i] as usize] += one(i) * (x - shift));
        let between: f64 = sums
            .iter()
            .zip(&self.class_mass)
            .filter(|(_, mass)| **mass > 0.0)
            .map(|(sum, mass)| mass * (sum / mass - (mean - shift)).powi(2))
            .sum();
        let total = feature.stats.variance * self.z.total();
        Scatter { between, within: (total - between).max(0.0) }
    }

    /// The members that the criteria within a group accept, with their scores.
    fn within(&self, members: &[Feature<'_>], out: &mut [Outcome]) -> Vec<(usize, f64)> {
        let mut set = Scatter::default();
        let mut accepted: Vec<(usize, f64)> = Vec::new();
        for (place, feature) in members.iter().enumerate() {
            let scatter = self.scatter(feature);
            let score = scatter.ratio();
            out[place].marginal = Some(score);
            let before = if accepted.is_empty() { 0.0 } else { set.ratio() };
            let gains = set.plus(scatter).ratio() - before > self.params.epsilon;
            if gains || self.stands_out(&accepted, score) || feature.pinned {
                set = set.plus(scatter);
                accepted.push((place, score));
            }
        }
        accepted
    }

    /// Whether a score is significantly above the mean of the accepted ones.
    fn stands_out(&self, accepted: &[(usize, f64)], score: f64) -> bool {
        let m = accepted.len() as f64;
        let mean = accepted.iter().map(|(_, s)| s).sum::<f64>() / m;
        let variance = accepted.iter().map(|(_, s)| (s - mean).powi(2)).sum::<f64>() / (m - 1.0);
        if m < 2.0 || score <= mean || variance <= 0.0 {
            return false;
        }
        let t = (score - mean) / (variance / m).sqrt();
        0.5 * student_two_sided(t, m - 1.0) < self.params.level
    }

    fn p_value(&self, score: f64) -> f64 {
        let classes = self.class_mass.iter().filter(|m| **m > 0.0).count() as f64;
        let rest = self.z.total() - classes;
        if rest <= 0.0 { 1.0 } else { f_tail(score * rest / (classes - 1.0), classes - 1.0, rest) }
    }

    /// The largest absolute lasso coefficient of each column over the outputs.
    fn lasso(&self, gram: &[Vec<f64>], with_outputs: &[Vec<f64>]) -> Vec<f64> {
        let p = gram.len();
        let mut largest = vec![0.0f64; p];
        let at = |i: usize, j: usize| if i >= j { gram[i][j] } else { gram[j][i] };
        for (output, _) in self.outputs.iter().enumerate() {
            let mut b = vec![0.0f64; p];
            // Correlation of each column with the residual.
            let mut slope: Vec<f64> = with_outputs.iter().map(|c| c[output]).collect();
            for _ in 0..SWEEPS {
                let mut moved = 0.0f64;
                for j in 0..p {
                    let raw = slope[j] + b[j];
                    // A copy of a column in the model is within rounding of lambda.
                    let beyond = raw.abs() - self.params.lambda;
                    let next = if beyond > STILL { raw.signum() * beyond } else { 0.0 };
                    let step = next - b[j];
                    if step != 0.0 {
                        (0..p).for_each(|i| slope[i] -= step * at(i, j));
                        b[j] = next;
                        moved = moved.max(step.abs());
                    }
                }
                if moved < STILL {
                    break;
                }
            }
            largest.iter_mut().zip(&b).for_each(|(l, b)| *l = l.max(b.abs()));
        }
        largest
    }

    /// Correlations of the kept and the newly accepted columns.
    fn extended(&mut self, sides: &[Side<'_, Sums>]) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let (mut gram, mut with_outputs) = (self.gram.clone(), self.with_outputs.clone());
        for (at, side) in sides.iter().enumerate() {
            self.z.load(*side);
            let kept =
                (0..self.list.len()).map(|f| self.z.signed_correlation(*side, self.list.side(f)));
            let mut row: Vec<f64> = kept.collect();
            row.extend(sides[..at].iter().map(|other| self.z.signed_correlation(*side, *other)));
            row.push(1.0);
            gram.push(row);
            let length = (side.facts.spread / self.z.total()).sqrt();
            with_outputs.push(self.outputs.iter().map(|y| side.x.dot(y) / length).collect());
        }
        (gram, with_outputs)
    }

    fn commit(&mut self, accepted: Vec<Accepted<'_>>, out: &mut [Outcome]) -> Result<()> {
        let sides: Vec<Side<'_, Sums>> = accepted.iter().map(Accepted::side).collect();
        let (mut gram, mut with_outputs) = self.extended(&sides);
        let largest = self.lasso(&gram, &with_outputs);
        let kept = self.list.len();
        let before = self.list.clone();
        let stays = |at: usize, pinned: bool| pinned || largest[at] > 0.0;
        for Accepted { place, feature, sums, evidence } in &accepted {
            if let Err(error) = self.list.exchange(&[], feature, None, *sums, *evidence) {
                self.list = before;
                return Err(error);
            }
            out[*place].verdict = Verdict::Kept;
        }
        let pinned = |list: &KeptList<Sums>, at: usize| list.kept(at).pinned;
        let mut removed: Vec<usize> =
            (0..gram.len()).filter(|at| !stays(*at, pinned(&self.list, *at))).collect();
        if let Some(k) = self.params.k {
            let mut free: Vec<usize> = (0..gram.len())
                .filter(|at| !pinned(&self.list, *at) && !removed.contains(at))
                .collect();
            // Strongest first, ties to the earlier.
            free.sort_by(|a, b| largest[*b].total_cmp(&largest[*a]));
            removed.extend(free.into_iter().skip(k));
            removed.sort_unstable();
        }
        let strongest = (0..gram.len()).max_by(|a, b| largest[*a].total_cmp(&largest[*b]));
        let by = strongest.map(|at| self.list.id(at)).unwrap_or_default();
        for at in removed.iter().rev() {
            let id = self.list.remove(*at);
            remove_symmetric(&mut gram, *at);
            with_outputs.remove(*at);
            self.report(*at, kept, id, by, &accepted, out);
        }
        (self.gram, self.with_outputs) = (gram, with_outputs);
        Ok(())
    }

    fn report(
        &mut self,
        at: usize,
        kept: usize,
        id: FeatureId,
        by: FeatureId,
        accepted: &[Accepted<'_>],
        out: &mut [Outcome],
    ) {
        if at >= kept {
            let place = accepted[at - kept].place;
            out[place].verdict = Verdict::Dropped(Reason::Redundant { by: Some(by) });
        } else if let Some(first) = accepted.first() {
            out[first.place].evicted.push(id);
            self.evictions += 1;
        }
    }
}

fn remove_symmetric(gram: &mut Vec<Vec<f64>>, at: usize) {
    gram.remove(at);
    for row in &mut gram[at..] {
        row.remove(at);
    }
}

struct Accepted<'a> {
    place: usize,
    feature: &'a Feature<'a>,
    sums: Sums,
    evidence: Evidence,
}

impl Accepted<'_> {
    fn side(&self) -> Side<'_, Sums> {
        Side { x: self.feature.column(), facts: &self.sums }
    }
}

impl GroupSelector for Ogfs {
    fn offer_group(&mut self, members: &[Feature<'_>], out: &mut Vec<Outcome>) -> Result<()> {
        let start = out.len();
        out.extend(members.iter().map(|_| Outcome::dropped(Reason::Weak)));
        let out = &mut out[start..];
        if self.ended {
            let held = members.iter().zip(out).filter(|(m, _)| self.list.contains(m.id));
            held.for_each(|(_, outcome)| outcome.verdict = Verdict::Held);
            return Ok(());
        }
        let accepted = self.within(members, out);
        let accepted: Vec<Accepted<'_>> = accepted
            .into_iter()
            .map(|(place, score)| {
                let feature = &members[place];
                let (sums, _) = self.z.describe(feature.column(), &feature.stats);
                let p_value = Some(self.p_value(score));
                let evidence = Evidence { strength: score, relevant: true, p_value };
                Accepted { place, feature, sums, evidence }
            })
            .collect();
        if !accepted.is_empty() {
            self.commit(accepted, out)?;
        }
        self.groups_seen += 1;
        Ok(())
    }
}

impl ColumnSelector for Ogfs {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        offer_groups(self, block, out)
    }

    fn end_scan(&mut self) -> Result<bool> {
        self.ended = true;
        Ok(true)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let OgfsParams { k, epsilon, level, lambda } = self.params;
        let mut params =
            vec![("epsilon", epsilon.into()), ("level", level.into()), ("lambda", lambda.into())];
        params.extend(k.map(|k| ("k", k.into())));
        let mut selection = Selection {
            method: "ogfs",
            params,
            score_kind: "scatter between classes over scatter within",
            p_value_kind: Some("marginal"),
            substitutions: self.evictions,
            metrics: group_metrics(&self.list, self.groups_seen),
            ..Selection::default()
        };
        self.list.add_to(&mut selection);
        Ok(selection)
    }

    fn whole_groups(&self) -> bool {
        true
    }

    fn centres(&self) -> bool {
        true
    }

    fn compacts(&self) -> bool {
        true
    }

    fn status(&self) -> Status {
        let square = 8 * self.gram.iter().map(Vec::len).sum::<usize>() as u64;
        let (kept, bytes) = (self.list.len(), self.list.bytes() + square);
        Status { kept, loss: None, substitutions: self.evictions, bytes }
    }

    /// The kept columns, twice while a group joins them; a target an output, and what a column is
    /// judged in; correlations of the kept columns.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let vectors = 6 + 2 * self.outputs.len();
        let memory = Holds { matrices: 2, ..self.list.footprint(self.params.k, 1, vectors) }
            .bytes(column, features);
        let twice = column.saturating_mul(self.params.k.unwrap_or(0) as u64);
        let each = if self.params.k.is_none() { memory.each.saturating_add(column) } else { 0 };
        Memory { bytes: memory.bytes.saturating_add(twice), each }
    }
}

impl Snapshot for Ogfs {
    fn save(&self) -> Result<Vec<u8>> {
        let Self { gram, with_outputs, groups_seen, evictions, ended, .. } = self;
        let counts = (groups_seen, evictions, ended);
        snapshot::encode(&(self.list.parts(), gram, with_outputs, counts))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (parts, gram, with_outputs, counts) = snapshot::decode(state)?;
        let z = &self.z;
        self.list.restore(parts, |x, stats| Ok(z.describe(x, stats).0))?;
        let (gram, with_outputs): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (gram, with_outputs);
        let held = self.list.len();
        let outputs = with_outputs.iter().all(|row| row.len() == self.outputs.len());
        let fits = is_lower(&gram, held, 1) && with_outputs.len() == held && outputs;
        ensure(fits, "correlations of other columns")?;
        (self.gram, self.with_outputs) = (gram, with_outputs);
        (self.groups_seen, self.evictions, self.ended) = counts;
        Ok(())
    }
}
