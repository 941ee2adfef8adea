//! Alpha-investing: a stream of tests that earns the right to more tests.
//!
//! ```text
//! W = 0.5, payout = 0.5; for the i-th feature tested, i = 1, 2, ...
//! bid    a_i = W / (2 i)
//! test   p-value of the newcomer's coefficient in the least-squares model
//! p < a_i    accept, W += payout - a_i
//! otherwise  W -= a_i
//! ```
//!
//! Zhou, Foster, Stine, Ungar, JMLR 7 (2006). The p-value is that of a two-sided t-test on the
//! new coefficient, with intercept. The columns of the model are held as they are stored; of
//! standardised columns only the Cholesky factor `L` of the correlations is kept, so that
//!
//! ```text
//! c = correlations with the model     d^2 = 1 - |L^-1 c|^2     u = x'r / |x|
//! gain = u^2 / d^2                    t^2 = gain (n - m - 2) / (RSS - gain)
//! ```
//!
//! An offer costs O(n m), or a sparse column's non-zeros times m. Memory: the kept columns, one
//! residual, m^2 / 2 numbers. A column that is a combination of the model's is rejected; a pinned
//! one takes the place of the accepted column that makes it one, which changes no prediction.
//! `rules=lofs` takes the library's likelihood ratio `exp(-gain n / (2 RSS))` for the p-value
//! and counts every column of the input, from 2.
//!
//! With losses of the full bid on a failure this follows Zhou et al.; the bound on the marginal
//! false discovery rate (Foster and Stine, JRSS-B 70, 2008) is stated for a loss of
//! `a / (1 - a)`: `E[false] / (E[accepted] + eta) <= payout` with `eta = W_0 / payout`.

mod settings;

use super::rules::Rules;
use super::shelf::Shelf;
use crate::data::check::{CheckedBlock, Feature, offset};
use crate::data::column::ColumnData;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::fisher_z::Sums;
use crate::measure::special::student_two_sided;
use crate::measure::{Evidence, FisherZ, Measure, Side, numeric_target};
use crate::numeric::inner_product::centre;
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot, ensure, is_lower};
use crate::select::{ColumnSelector, Holds, Memory, Outcome, Reason, Status, Verdict};
use crate::selection::{Selection, Value};

pub use settings::ALPHA_INVESTING;

/// Share of a column's variance below which it is a combination of the model's columns.
const COLLINEAR: f64 = 1e-10;
/// Share of the target's sum of squares below which the model has explained it.
const EXPLAINED: f64 = 1e-14;

/// Settings of [`AlphaInvesting`].
#[derive(Clone, Copy, Debug)]
pub struct AlphaInvestingParams {
    /// Most features to accept; `None` is no limit.
    pub k: Option<usize>,
    /// Wealth at the start, positive.
    pub wealth: f64,
    /// What an acceptance earns, positive.
    pub payout: f64,
    /// Whose p-values and numbering.
    pub rules: Rules,
}

impl Default for AlphaInvestingParams {
    fn default() -> Self {
        Self { k: None, wealth: 0.5, payout: 0.5, rules: Rules::Paper }
    }
}

/// Alpha-investing on a least-squares model.
pub struct AlphaInvesting {
    params: AlphaInvestingParams,
    z: FisherZ,
    weight: Option<Vec<f64>>,
    rows: f64,
    covariates: Vec<(ColumnData, Sums)>,
    shelf: Shelf<Sums>,
    // Rows of the Cholesky factor of the correlations of covariates and kept columns.
    factor: Vec<Vec<f64>>,
    residual: Vec<f64>,
    // Sample weights times residual: what columns are multiplied with.
    slope: Vec<f64>,
    rss: f64,
    // Residual sum of squares below which the model explains everything but rounding.
    nothing: f64,
    wealth: f64,
    tests: u64,
    ended: bool,
}

/// What a candidate would do for the model.
struct Candidate {
    // L^-1 c, and what is left of the column's variance.
    solved: Vec<f64>,
    left: f64,
    product: f64,
    gain: f64,
}

impl AlphaInvesting {
    /// A model of intercept and covariates.
    pub fn new(params: AlphaInvestingParams, problem: &Problem, budget: Budget) -> Result<Self> {
        for (name, value) in [("wealth", params.wealth), ("payout", params.payout)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(Error::param(name, value, "between 0 and 1"));
            }
        }
        let n = problem.n();
        let mut y = numeric_target(&problem.target)?;
        if let Some(offset) = &problem.offset {
            y.iter_mut().zip(offset).for_each(|(y, offset)| *y -= offset);
        }
        let weight = problem.weight.clone();
        let total = problem.weight_sum();
        centre(&mut y, weight.as_deref(), total);
        let residual = y;
        let mut method = Self {
            params,
            // The level is not used; correlations between columns are.
            z: FisherZ::new(problem, 0.5)?,
            rows: n as f64,
            covariates: Vec::new(),
            shelf: Shelf::new(n, budget),
            factor: Vec::new(),
            slope: Vec::new(),
            rss: 0.0,
            nothing: 0.0,
            wealth: params.wealth,
            tests: 0,
            ended: false,
            residual,
            weight,
        };
        method.settle();
        method.nothing = EXPLAINED * method.rss;
        for covariate in &problem.covariates {
            method.cover(&covariate.values, total);
        }
        Ok(method)
    }

    fn cover(&mut self, values: &[f64], total: f64) {
        let (data, stats) = offset::column(values, self.weight.as_deref(), total, true);
        let (sums, _) = self.z.describe(data.view(), &stats);
        let candidate = self.candidate(Side { x: data.view(), facts: &sums });
        if candidate.left > COLLINEAR {
            self.accept(Side { x: data.view(), facts: &sums }, candidate);
            self.covariates.push((data, sums));
        }
    }

    /// Derives slope and residual sum of squares from the residual.
    fn settle(&mut self) {
        self.slope.clone_from(&self.residual);
        if let Some(weight) = &self.weight {
            crate::numeric::kernel::scale_by(&mut self.slope, weight);
        }
        self.rss = crate::numeric::kernel::dot(&self.residual, &self.slope);
    }

    fn sides(&self) -> impl Iterator<Item = Side<'_, Sums>> {
        let covariates = self.covariates.iter();
        let covariates = covariates.map(|(data, facts)| Side { x: data.view(), facts });
        covariates.chain((0..self.shelf.len()).map(|at| self.shelf.side(at)))
    }

    fn norm(&self, sums: &Sums) -> f64 {
        (sums.spread / self.z.total()).sqrt()
    }

    fn candidate(&mut self, x: Side<'_, Sums>) -> Candidate {
        self.z.load(x);
        let mut solved: Vec<f64> = Vec::with_capacity(self.factor.len());
        for (other, row) in self.sides().zip(&self.factor) {
            let known: f64 = solved.iter().zip(row).map(|(s, l)| s * l).sum();
            let pivot = row[row.len() - 1];
            solved.push((self.z.signed(x, other) - known) / pivot);
        }
        let left = 1.0 - solved.iter().map(|s| s * s).sum::<f64>();
        let product = self.centred_product(x) / self.norm(x.facts);
        let gain = if left > COLLINEAR { product * product / left } else { 0.0 };
        Candidate { solved, left, product, gain }
    }

    fn centred_product(&self, x: Side<'_, Sums>) -> f64 {
        // The slope sums to zero, so the column need not be centred.
        x.x.dot(&self.slope)
    }

    /// p-value of the candidate's coefficient.
    fn p_value(&self, candidate: &Candidate) -> f64 {
        if candidate.left <= COLLINEAR || self.rss <= self.nothing {
            return 1.0;
        }
        if self.params.rules == Rules::Lofs {
            return (-candidate.gain * self.rows / (2.0 * self.rss)).exp();
        }
        let df = self.z.total() - self.factor.len() as f64 - 2.0;
        let rest = self.rss - candidate.gain;
        if df <= 0.0 {
            1.0
        } else if rest <= self.nothing {
            0.0
        } else {
            student_two_sided((candidate.gain * df / rest).sqrt(), df)
        }
    }

    /// Coefficients of the model's columns in a candidate: L^-T (L^-1 c).
    fn back(&self, candidate: &Candidate) -> Vec<f64> {
        let mut back = candidate.solved.clone();
        for i in (0..back.len()).rev() {
            back[i] /= self.factor[i][i];
            for j in 0..i {
                back[j] -= self.factor[i][j] * back[i];
            }
        }
        back
    }

    /// Puts a pinned column that the model spans in the place of an accepted one.
    ///
    /// With `x = sum b_j z_j` and `b_m` not 0 the model spans the same without `z_m` and with `x`,
    /// so the residual stays; of the factor only the correlations in it are needed.
    fn replace(
        &mut self,
        feature: &Feature<'_>,
        sums: Sums,
        candidate: &Candidate,
    ) -> Result<Outcome> {
        let back = self.back(candidate);
        let first = self.covariates.len();
        let free = (0..self.shelf.len()).filter(|at| !self.shelf.kept(*at).pinned);
        let best = free.max_by(|a, b| back[first + a].abs().total_cmp(&back[first + b].abs()));
        let spanned = Reason::Redundant { by: best.map(|at| self.shelf.id(at)) };
        let Some(at) = best else { return Ok(Outcome::dropped(spanned)) };
        let Some(factor) = self.without(first + at, candidate) else {
            return Ok(Outcome::dropped(spanned));
        };
        let (strength, p_value) = (self.shelf.note(at).score, self.shelf.note(at).p_value);
        let evidence = Evidence { strength, relevant: true, p_value };
        let evicted = self.shelf.exchange(&[at], feature, None, sums, evidence)?;
        self.factor = factor;
        Ok(Outcome { evicted, score: p_value, ..Outcome::new(Verdict::Kept) })
    }

    /// The factor without one column and with the candidate at the end; `None` where these are
    /// collinear too.
    fn without(&self, gone: usize, candidate: &Candidate) -> Option<Vec<Vec<f64>>> {
        let rows = || self.factor.iter().enumerate().filter(|(at, _)| *at != gone);
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut correlations: Vec<Vec<f64>> = rows()
            .map(|(at, row)| {
                rows().take_while(|(j, _)| *j < at).map(|(_, other)| product(row, other)).collect()
            })
            .collect();
        correlations.push(rows().map(|(_, row)| product(row, &candidate.solved)).collect());
        let mut factor: Vec<Vec<f64>> = Vec::with_capacity(correlations.len());
        for c in correlations {
            let mut solved: Vec<f64> = Vec::with_capacity(c.len() + 1);
            for (c, row) in c.iter().zip(&factor) {
                solved.push((c - product(&solved, row)) / row[row.len() - 1]);
            }
            let left = 1.0 - product(&solved, &solved);
            if left <= COLLINEAR {
                return None;
            }
            solved.push(left.sqrt());
            factor.push(solved);
        }
        Some(factor)
    }

    /// Puts a column into the model: residual and factor.
    fn accept(&mut self, x: Side<'_, Sums>, candidate: Candidate) {
        let back = self.back(&candidate);
        let Candidate { solved, left, product, .. } = candidate;
        let step = product / left;
        let mut shift = 0.0;
        let mut change = vec![0.0; self.residual.len()];
        let mut add = |side: Side<'_, Sums>, scale: f64| {
            side.x.axpy(scale, &mut change);
            shift += scale * side.facts.real_mean();
        };
        add(x, -step / self.norm(x.facts));
        for (side, back) in self.sides().zip(&back) {
            add(side, step * back / self.norm(side.facts));
        }
        self.residual.iter_mut().zip(&change).for_each(|(r, change)| *r += change - shift);
        self.settle();
        let mut row = solved;
        row.push(left.sqrt());
        self.factor.push(row);
    }

    fn bid(&self, arrival: u64) -> f64 {
        match self.params.rules {
            Rules::Paper => self.wealth / (2.0 * (self.tests + 1) as f64),
            Rules::Lofs => self.wealth / (2.0 * (arrival + 2) as f64),
        }
    }

    /// A failed test, also of a column that is constant under the library's rules.
    fn lose(&mut self, arrival: u64) {
        self.wealth -= self.bid(arrival);
        self.tests += 1;
    }

    fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
        if self.shelf.holds(feature.id) {
            return Ok(Outcome::new(Verdict::Held));
        }
        let full = self.params.k.is_some_and(|k| self.shelf.free() >= k);
        if self.ended || (full && !feature.pinned) {
            return Ok(Outcome::dropped(Reason::Weak));
        }
        let (sums, r) = self.z.describe(feature.column(), &feature.stats);
        let x = Side { x: feature.column(), facts: &sums };
        let candidate = self.candidate(x);
        if feature.pinned && candidate.left <= COLLINEAR {
            let outcome = self.replace(feature, sums, &candidate)?;
            return Ok(Outcome { marginal: Some(r.abs()), ..outcome });
        }
        let p = self.p_value(&candidate);
        let (bid, marginal) = (self.bid(feature.arrival), Some(r.abs()));
        // A NaN is no success.
        let wins = p < bid || feature.pinned;
        if !wins {
            self.lose(feature.arrival);
            return Ok(Outcome { marginal, score: Some(p), ..Outcome::dropped(Reason::Weak) });
        }
        let gain = (candidate.gain / self.rss.max(f64::MIN_POSITIVE)).min(1.0);
        let evidence = Evidence { strength: gain, relevant: true, p_value: Some(p) };
        let before = (self.residual.clone(), self.rss);
        // The model is updated first, while the newcomer is not among its columns.
        self.accept(x, candidate);
        if let Err(error) = self.shelf.exchange(&[], feature, None, sums, evidence) {
            self.factor.pop();
            self.residual = before.0;
            self.settle();
            return Err(error);
        }
        if !feature.pinned {
            self.wealth += self.params.payout - bid;
            self.tests += 1;
        }
        Ok(Outcome { marginal, score: Some(p), ..Outcome::new(Verdict::Kept) })
    }
}

impl ColumnSelector for AlphaInvesting {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        // The library bids on constant columns too, and loses.
        let lofs = self.params.rules == Rules::Lofs && !self.ended;
        let mut dropped = block.dropped.iter().map(|d| d.2).filter(|_| lofs).peekable();
        for feature in &block.features {
            while let Some(arrival) = dropped.next_if(|arrival| *arrival < feature.arrival) {
                self.lose(arrival);
            }
            out.push(self.offer(feature)?);
        }
        dropped.for_each(|arrival| self.lose(arrival));
        Ok(())
    }

    fn end_scan(&mut self) -> Result<bool> {
        self.ended = true;
        Ok(true)
    }

    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    fn selection(&self) -> Result<Selection> {
        let most = self.nothing / EXPLAINED;
        let learnt = self.rss <= most * (1.0 + 1e-6);
        if !learnt {
            return Err(Error::Defect(format!(
                "the accepted features leave a sum of squares of {}, above the {most} of none",
                self.rss
            )));
        }
        let AlphaInvestingParams { k, wealth, payout, rules } = self.params;
        let mut params: Vec<(&'static str, Value)> = vec![
            ("wealth", wealth.into()),
            ("payout", payout.into()),
            ("rules", rules.name().into()),
        ];
        params.extend(k.map(|k| ("k", k.into())));
        let mut selection = Selection {
            method: "alpha-investing",
            params,
            score_kind: "share of the residual explained when accepted",
            p_value_kind: Some("bid"),
            loss: Some(0.5 * self.rss / self.z.total()),
            metrics: vec![
                ("wealth", self.wealth.into()),
                ("tests", self.tests.into()),
                ("mfdr_level", payout.into()),
                ("mfdr_eta", (wealth / payout).into()),
            ],
            ..Selection::default()
        };
        self.shelf.fill(&mut selection);
        Ok(selection)
    }

    fn centres(&self) -> bool {
        true
    }

    fn compacts(&self) -> bool {
        true
    }

    fn status(&self) -> Status {
        let bytes = self.shelf.bytes() + 16 * self.residual.len() as u64;
        Status { kept: self.shelf.len(), loss: None, substitutions: 0, bytes }
    }

    /// The kept columns and one under test; target, residual, scratch; the factor and a copy.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let holds = self.shelf.footprint(self.params.k, 1, 8);
        Holds { matrices: 2, covariates: self.covariates.len(), ..holds }.bytes(column, features)
    }
}

impl Snapshot for AlphaInvesting {
    fn save(&self) -> Result<Vec<u8>> {
        let Self { factor, residual, wealth, tests, ended, .. } = self;
        snapshot::encode(&(self.shelf.parts(), factor, residual, wealth, tests, ended))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (parts, factor, residual, wealth, tests, ended) = snapshot::decode(state)?;
        let z = &self.z;
        self.shelf.restore(parts, |x, stats| Ok(z.describe(x, stats).0))?;
        let (factor, residual): (Vec<Vec<f64>>, Vec<f64>) = (factor, residual);
        let fits = is_lower(&factor, self.covariates.len() + self.shelf.len(), 1);
        ensure(fits && residual.len() == self.residual.len(), "a factor of other columns")?;
        (self.factor, self.residual) = (factor, residual);
        (self.wealth, self.tests, self.ended) = (wealth, tests, ended);
        self.settle();
        Ok(())
    }
}
