//! Alpha-investing: tests pay from a wealth, and accepted features add to it.
//!
//! ```text
//! W = W_0; for the i-th feature tested, i = 1, 2, ...
//! bid    a_i = W / (2 i)
//! test   p-value of the newcomer's coefficient in the least-squares model
//! p < a_i    accept, W += payout - a_i
//! otherwise  W -= a_i
//! ```
//!
//! Zhou, Foster, Stine, Ungar, JMLR 7 (2006). The p-value is that of a two-sided t-test on the
//! new coefficient, with intercept. The columns of the model are held as they are stored. Of the
//! standardised columns only the Cholesky factor `L` of their correlations is kept, so that
//!
//! ```text
//! c = correlations with the model     d^2 = 1 - |L^-1 c|^2     u = x'r / |x|
//! gain = u^2 / d^2                    t^2 = gain (n - m - 2) / (RSS - gain)
//! ```
//!
//! An offer costs O(n m), or a sparse column's non-zeros times m. Memory: the kept columns, one
//! residual, m^2 / 2 numbers. A column that is a combination of the model's columns is rejected. A
//! pinned one takes the place of an accepted column of that combination, which changes no
//! prediction. `rules=lofs` takes the library's likelihood ratio `exp(-gain n / (2 RSS))` as the
//! p-value and counts every column of the input, from 2.
//!
//! Paying the bid on either outcome and earning the payout is a generalised alpha-investing rule
//! with `phi = a`, `psi = payout` (Aharoni and Rosset, JRSS-B 76, 2014): with `eta = W_0 / payout`,
//! `E[false] <= payout (E[accepted] + eta)` where each test is valid given the past. `level` sets
//! `W_0 = payout`: 0.1 by default, and with `rules=lofs` the 0.5 of the library.

mod settings;

use self::settings::{PAYOUT, USUAL, WEALTH};
use super::kept_list::KeptList;
use super::rules::Rules;
use crate::data::check::{CheckedBlock, Feature, offset};
use crate::data::column::ColumnData;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::fisher_z::Sums;
use crate::measure::{Evidence, FisherZ, Measure, Side, numeric_target};
use crate::numeric::inner_product::centre;
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Snapshot, ensure, is_lower};
use crate::select::{ColumnSelector, Holds, Memory, Outcome, Reason, Status, Verdict};
use crate::selection::{Selection, Value};
use crate::tails::student_two_sided;

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
    /// The paper's p-values and numbering or the library's.
    pub rules: Rules,
}

impl Default for AlphaInvestingParams {
    fn default() -> Self {
        Self { k: None, wealth: USUAL, payout: USUAL, rules: Rules::Paper }
    }
}

/// Alpha-investing on a least-squares model.
pub struct AlphaInvesting {
    params: AlphaInvestingParams,
    z: FisherZ,
    weight: Option<Vec<f64>>,
    rows: f64,
    covariates: Vec<(ColumnData, Sums)>,
    list: KeptList<Sums>,
    // Cholesky factor of the correlations of covariates and kept columns, row by row.
    factor: Vec<Vec<f64>>,
    residual: Vec<f64>,
    // Sample weights times residual.
    slope: Vec<f64>,
    rss: f64,
    // Residual sum of squares below which only rounding is left of the target.
    explained_rss: f64,
    wealth: f64,
    tests: u64,
    ended: bool,
}

/// A column that may join the model.
struct Candidate {
    // L^-1 c, and the share of the column's variance that the model does not explain.
    solved: Vec<f64>,
    unexplained: f64,
    product: f64,
    gain: f64,
}

impl AlphaInvesting {
    /// A model of intercept and covariates.
    pub fn new(params: AlphaInvestingParams, problem: &Problem, budget: Budget) -> Result<Self> {
        if params.k == Some(0) {
            return Err(Error::param("k", 0, "at least 1"));
        }
        WEALTH.check(params.wealth)?;
        PAYOUT.check(params.payout)?;
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
            // Only the correlations between columns are used, not the level.
            z: FisherZ::new(problem, 0.5)?,
            rows: n as f64,
            covariates: Vec::new(),
            list: KeptList::new(n, budget),
            factor: Vec::new(),
            slope: Vec::new(),
            rss: 0.0,
            explained_rss: 0.0,
            wealth: params.wealth,
            tests: 0,
            ended: false,
            residual,
            weight,
        };
        method.update_slope();
        method.explained_rss = EXPLAINED * method.rss;
        for covariate in &problem.covariates {
            method.add_covariate(&covariate.values, total);
        }
        Ok(method)
    }

    fn add_covariate(&mut self, values: &[f64], total: f64) {
        let (data, stats) = offset::column(values, self.weight.as_deref(), total, true);
        let (sums, _) = self.z.describe(data.view(), &stats);
        let candidate = self.candidate(Side { x: data.view(), facts: &sums });
        if candidate.unexplained > COLLINEAR {
            self.accept(Side { x: data.view(), facts: &sums }, candidate);
            self.covariates.push((data, sums));
        }
    }

    /// Computes slope and residual sum of squares from the residual.
    fn update_slope(&mut self) {
        self.slope.clone_from(&self.residual);
        if let Some(weight) = &self.weight {
            crate::numeric::kernel::scale_by(&mut self.slope, weight);
        }
        self.rss = crate::numeric::kernel::dot(&self.residual, &self.slope);
    }

    fn sides(&self) -> impl Iterator<Item = Side<'_, Sums>> {
        let covariates = self.covariates.iter();
        let covariates = covariates.map(|(data, facts)| Side { x: data.view(), facts });
        covariates.chain((0..self.list.len()).map(|at| self.list.side(at)))
    }

    fn norm(&self, sums: &Sums) -> f64 {
        (sums.spread / self.z.total()).sqrt()
    }

    fn candidate(&mut self, x: Side<'_, Sums>) -> Candidate {
        self.z.load(x);
        let mut solved: Vec<f64> = Vec::with_capacity(self.factor.len());
        for (other, row) in self.sides().zip(&self.factor) {
            let partial_sum: f64 = solved.iter().zip(row).map(|(s, l)| s * l).sum();
            let pivot = row[row.len() - 1];
            solved.push((self.z.signed_correlation(x, other) - partial_sum) / pivot);
        }
        let unexplained = 1.0 - solved.iter().map(|s| s * s).sum::<f64>();
        let product = self.centred_product(x) / self.norm(x.facts);
        let gain = if unexplained > COLLINEAR { product * product / unexplained } else { 0.0 };
        Candidate { solved, unexplained, product, gain }
    }

    fn centred_product(&self, x: Side<'_, Sums>) -> f64 {
        // The slope sums to zero, so the column need not be centred.
        x.x.dot(&self.slope)
    }

    /// p-value of the candidate's coefficient.
    fn p_value(&self, candidate: &Candidate) -> f64 {
        if candidate.unexplained <= COLLINEAR || self.rss <= self.explained_rss {
            return 1.0;
        }
        if self.params.rules == Rules::Lofs {
            return (-candidate.gain * self.rows / (2.0 * self.rss)).exp();
        }
        let df = self.z.total() - self.factor.len() as f64 - 2.0;
        let remaining = self.rss - candidate.gain;
        if df <= 0.0 {
            1.0
        } else if remaining <= self.explained_rss {
            0.0
        } else {
            student_two_sided((candidate.gain * df / remaining).sqrt(), df)
        }
    }

    /// Coefficients of the model's columns in a candidate: L^-T (L^-1 c).
    fn coefficients(&self, candidate: &Candidate) -> Vec<f64> {
        let mut coefficients = candidate.solved.clone();
        for i in (0..coefficients.len()).rev() {
            coefficients[i] /= self.factor[i][i];
            for j in 0..i {
                coefficients[j] -= self.factor[i][j] * coefficients[i];
            }
        }
        coefficients
    }

    /// Replaces an accepted column by a pinned one that the model spans.
    ///
    /// With `x = sum b_j z_j` and `b_m` not 0 the model spans the same space with `x` for `z_m`, so
    /// the residual stays. The new factor comes from the correlations that the old one contains.
    fn replace(
        &mut self,
        feature: &Feature<'_>,
        sums: Sums,
        candidate: &Candidate,
    ) -> Result<Outcome> {
        let coefficients = self.coefficients(candidate);
        let first = self.covariates.len();
        let free = (0..self.list.len()).filter(|at| !self.list.kept(*at).pinned);
        let best = free
            .max_by(|a, b| coefficients[first + a].abs().total_cmp(&coefficients[first + b].abs()));
        let spanned = Reason::Redundant { by: best.map(|at| self.list.id(at)) };
        let Some(at) = best else { return Ok(Outcome::dropped(spanned)) };
        let Some(factor) = self.factor_without(first + at, candidate) else {
            return Ok(Outcome::dropped(spanned));
        };
        let (strength, p_value) = (self.list.record(at).score, self.list.record(at).p_value);
        let evidence = Evidence { strength, relevant: true, p_value };
        let evicted = self.list.exchange(&[at], feature, None, sums, evidence)?;
        self.factor = factor;
        Ok(Outcome { evicted, score: p_value, ..Outcome::new(Verdict::Kept) })
    }

    /// The factor with one column removed and the candidate at the end; `None` where these are
    /// collinear too.
    fn factor_without(&self, removed: usize, candidate: &Candidate) -> Option<Vec<Vec<f64>>> {
        let rows = || self.factor.iter().enumerate().filter(|(at, _)| *at != removed);
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
            let unexplained = 1.0 - product(&solved, &solved);
            if unexplained <= COLLINEAR {
                return None;
            }
            solved.push(unexplained.sqrt());
            factor.push(solved);
        }
        Some(factor)
    }

    /// Updates residual and factor for a column that joins the model.
    fn accept(&mut self, x: Side<'_, Sums>, candidate: Candidate) {
        let coefficients = self.coefficients(&candidate);
        let Candidate { solved, unexplained, product, .. } = candidate;
        let step = product / unexplained;
        let mut shift = 0.0;
        let mut change = vec![0.0; self.residual.len()];
        let mut add = |side: Side<'_, Sums>, scale: f64| {
            side.x.axpy(scale, &mut change);
            shift += scale * side.facts.stored_mean();
        };
        add(x, -step / self.norm(x.facts));
        for (side, coefficient) in self.sides().zip(&coefficients) {
            add(side, step * coefficient / self.norm(side.facts));
        }
        self.residual.iter_mut().zip(&change).for_each(|(r, change)| *r += change - shift);
        self.update_slope();
        let mut row = solved;
        row.push(unexplained.sqrt());
        self.factor.push(row);
    }

    fn bid(&self, arrival: u64) -> f64 {
        match self.params.rules {
            Rules::Paper => self.wealth / (2.0 * (self.tests + 1) as f64),
            Rules::Lofs => self.wealth / (2.0 * (arrival + 2) as f64),
        }
    }

    /// Pays for a failed test. With the library's rules constant columns fail one too.
    fn fail_test(&mut self, arrival: u64) {
        self.wealth -= self.bid(arrival);
        self.tests += 1;
    }

    fn offer(&mut self, feature: &Feature<'_>) -> Result<Outcome> {
        if self.list.contains(feature.id) {
            return Ok(Outcome::new(Verdict::Held));
        }
        let full = self.params.k.is_some_and(|k| self.list.free() >= k);
        if self.ended || (full && !feature.pinned) {
            return Ok(Outcome::dropped(Reason::Weak));
        }
        let (sums, r) = self.z.describe(feature.column(), &feature.stats);
        let x = Side { x: feature.column(), facts: &sums };
        let candidate = self.candidate(x);
        if feature.pinned && candidate.unexplained <= COLLINEAR {
            let outcome = self.replace(feature, sums, &candidate)?;
            return Ok(Outcome { marginal: Some(r.abs()), ..outcome });
        }
        let p = self.p_value(&candidate);
        let (bid, marginal) = (self.bid(feature.arrival), Some(r.abs()));
        // A p-value of NaN fails.
        let wins = p < bid || feature.pinned;
        if !wins {
            self.fail_test(feature.arrival);
            return Ok(Outcome { marginal, score: Some(p), ..Outcome::dropped(Reason::Weak) });
        }
        let gain = (candidate.gain / self.rss.max(f64::MIN_POSITIVE)).min(1.0);
        let evidence = Evidence { strength: gain, relevant: true, p_value: Some(p) };
        let before = (self.residual.clone(), self.rss);
        // The update needs the columns of the model without the newcomer.
        self.accept(x, candidate);
        if let Err(error) = self.list.exchange(&[], feature, None, sums, evidence) {
            self.factor.pop();
            self.residual = before.0;
            self.update_slope();
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
        // With the library's rules constant columns are tested too, and fail.
        let lofs = self.params.rules == Rules::Lofs && !self.ended;
        let mut dropped = block.dropped.iter().map(|d| d.2).filter(|_| lofs).peekable();
        for feature in &block.features {
            while let Some(arrival) = dropped.next_if(|arrival| *arrival < feature.arrival) {
                self.fail_test(arrival);
            }
            out.push(self.offer(feature)?);
        }
        dropped.for_each(|arrival| self.fail_test(arrival));
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
        let most = self.explained_rss / EXPLAINED;
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
            error_control: settings::error_control(
                &self.params,
                (self.wealth, self.tests, self.list.free() as u64),
            ),
            ..Selection::default()
        };
        self.list.add_to(&mut selection);
        Ok(selection)
    }

    fn centres(&self) -> bool {
        true
    }

    fn compacts(&self) -> bool {
        true
    }

    fn status(&self) -> Status {
        let bytes = self.list.bytes() + 16 * self.residual.len() as u64;
        Status { kept: self.list.len(), loss: None, substitutions: 0, bytes }
    }

    /// The kept columns and one under test; target, residual, scratch; the factor and a copy.
    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        let holds = self.list.footprint(self.params.k, 1, 8);
        Holds { matrices: 2, covariates: self.covariates.len(), ..holds }.bytes(column, features)
    }
}

impl Snapshot for AlphaInvesting {
    fn save(&self) -> Result<Vec<u8>> {
        let Self { factor, residual, wealth, tests, ended, .. } = self;
        snapshot::encode(&(self.list.parts(), factor, residual, wealth, tests, ended))
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        let (parts, factor, residual, wealth, tests, ended) = snapshot::decode(state)?;
        let z = &self.z;
        self.list.restore(parts, |x, stats| Ok(z.describe(x, stats).0))?;
        let (factor, residual): (Vec<Vec<f64>>, Vec<f64>) = (factor, residual);
        let fits = is_lower(&factor, self.covariates.len() + self.list.len(), 1);
        ensure(fits && residual.len() == self.residual.len(), "a factor of other columns")?;
        (self.factor, self.residual) = (factor, residual);
        (self.wealth, self.tests, self.ended) = (wealth, tests, ended);
        self.update_slope();
        Ok(())
    }
}
