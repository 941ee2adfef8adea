//! Screen, then knockoffs: `--inference knockoffs[:SHARE] --level Q [--repeats M]`.
//!
//! The method selects `k` features on one part of the rows; knockoffs decide among these on the
//! other, at a false discovery rate of Q (`keepnet_eval::trust::knockoffs`). The coefficients are
//! those of a refit of what is left on all rows.

use std::sync::Arc;

use keepnet::selection::{ErrorControl, Selected};
use keepnet::{Error, Problem, Result, Target};
use keepnet_eval::splits::hold_out;
use keepnet_eval::trust::fits::Named;
use keepnet_eval::trust::knockoffs::{Answers, Verdicts, knockoffs};

use super::found::{Found, Inference};
use super::unseen::Unseen;
use super::{Arrangement, Ask, Concluded, Ended, Whole};
use crate::request::Request;

/// One lane on the rows that screen, and the rows that decide.
pub(super) struct Screened {
    whole: Whole,
    all: Arc<Problem>,
    asks: [Ask; 1],
    rows: Vec<u32>,
    problem: Problem,
    level: f64,
    repeats: usize,
    seed: u64,
}

impl Screened {
    pub(super) fn new(request: &Request, whole: &Whole, share: f64) -> Result<Self> {
        let (trust, seed) = (&request.trust, request.run.seed);
        let problem = &whole.problem;
        for (name, given) in [
            ("sample-weight", problem.weight.is_some()),
            ("class-weight", whole.balanced),
            ("offset", problem.offset.is_some()),
            ("covar", !problem.covariates.is_empty()),
            ("always", !request.method.always.is_empty()),
        ] {
            if given {
                return Err(Error::param(name, "given", "no such flag with knockoffs"));
            }
        }
        if problem.target.outputs().len() > 1 {
            let want = "two classes, or numbers, with knockoffs";
            return Err(Error::param("inference", "knockoffs of more classes", want));
        }
        let (level, repeats) = (request.level(), trust.repeats.unwrap_or(1));
        let k = request.method.one_k().ok_or_else(|| {
            Error::param("k", "not given", "-k K: how many features knockoffs decide among")
        })?;
        if (k as f64) < 1.0 / level {
            let want = format!("at least {} at level {level}", (1.0 / level).ceil());
            return Err(Error::param("k", k, want));
        }
        let split = hold_out(&problem.target, 1, share, seed)?.swap_remove(0);
        if split.test.len() < k {
            return Err(Error::Data(format!(
                "{} rows for knockoffs are fewer than `k`, {k}; lower `k`, or set aside more rows",
                split.test.len()
            )));
        }
        let asks = [Ask { problem: Arc::new(whole.part(&split.train)?), k: None }];
        let aside = whole.part(&split.test)?;
        let all = Arc::new(whole.all()?);
        let (whole, rows) = (whole.clone(), split.test);
        Ok(Self { whole, all, asks, rows, problem: aside, level, repeats, seed })
    }

    fn decide(&self, columns: &[Named]) -> Result<Verdicts> {
        let outputs = self.problem.target.outputs();
        let answers = match &self.problem.target {
            Target::Numbers(_) => Answers::Numbers(&outputs[0]),
            Target::Classes { .. } => Answers::Classes(&outputs[0]),
        };
        knockoffs(columns, &self.rows, &answers, (self.level, self.repeats), self.seed)
    }
}

impl Arrangement for Screened {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn purpose(&self) -> Option<String> {
        let (choose, decide) = (self.asks[0].problem.n(), self.rows.len());
        Some(format!("1: {choose} rows screen, {decide} decide by knockoffs"))
    }

    fn conclude(&self, mut ended: Ended, unseen: &mut Unseen<'_>) -> Result<Concluded> {
        let mut lane = ended.lanes.swap_remove(0);
        let screened = lane.selection.selected.len();
        let mut found = Found::default();
        let features: Vec<&Selected> = lane.selection.selected.iter().collect();
        let rows: Vec<u32> = (0..self.whole.problem.n() as u32).collect();
        let values = unseen.columns(&self.whole.problem, &features, &rows)?;
        let named = features.iter().zip(values);
        let columns: Vec<Named> =
            named.map(|(f, values)| Named { name: f.name.clone(), values }).collect();
        let verdicts = match columns.is_empty() {
            true => Verdicts { w: vec![], e: None, threshold: None, selected: vec![] },
            false => self.decide(&columns)?,
        };
        let loss = super::unseen::loss_of(&lane.selection);
        let mut selected = Vec::new();
        for (at, feature) in std::mem::take(&mut lane.selection.selected).into_iter().enumerate() {
            if !verdicts.selected[at] {
                continue;
            }
            let evidence = found.features.entry(feature.id).or_default();
            evidence.w = Some(verdicts.w[at]);
            evidence.e_value = verdicts.e.as_ref().map(|e| e[at]);
            let (score, coefficient) = (verdicts.w[at], Vec::new());
            selected.push(Selected { score, coefficient, p_value: None, ..feature });
        }
        let selection = &mut lane.selection;
        selection.selected = selected;
        (selection.score_kind, selection.p_value_kind) = ("knockoff w", None);
        (selection.intercept, selection.loss, selection.objective) = (Vec::new(), None, None);
        selection.sort();
        unseen.restate(&self.all, selection)?;
        if let Some(kind) = loss {
            unseen.refit(&self.whole.problem, &self.all, kind, selection)?;
        }
        let rejected = selection.selected.len();
        if rejected == 0 {
            let fewest = if self.repeats > 1 { 2.0 } else { 1.0 } / self.level;
            found.warnings.push(format!(
                "knockoffs selected no feature; at level {} they select {} or more, or none",
                self.level,
                fewest.ceil()
            ));
        }
        found.inference = Some(Inference {
            kind: "knockoffs",
            rows_selection: self.asks[0].problem.n(),
            rows_inference: self.rows.len(),
            level: self.level,
            repeats: Some(self.repeats),
            screened: Some(screened),
            threshold: verdicts.threshold,
            ..Inference::default()
        });
        let procedure = if self.repeats > 1 { "e-bh of knockoffs" } else { "knockoff+" };
        let assumes = "second-order knockoffs: exact for Gaussian columns of known correlations; \
                       the null of a feature is no effect given the others that were screened";
        let level = self.level;
        found.error_control = Some(ErrorControl {
            procedure,
            rate: "fdr",
            level,
            tested: screened as u64,
            held: Some(screened as u64),
            rejected: rejected as u64,
            assumes: assumes.into(),
            line: format!(
                "{procedure}: FDR at most {level}: {rejected} of {screened} features tested are \
                 selected; assumes {assumes}"
            ),
        });
        Ok(Concluded { lane, problem: Arc::clone(&self.all), k: unseen.spec().k, found })
    }
}
