//! Inference on rows that did not choose: `--inference split[:SHARE]`.
//!
//! The method selects on one part of the rows. On the other part the selected columns, those of
//! `--always` and the covariates are fitted without a penalty, and every coefficient is tested
//! (`keepnet_eval::trust::fits`). The selection is fixed before these rows are looked at, so the
//! p-values and intervals mean what they say, about the model of the selected features.

use std::sync::Arc;

use keepnet::{Error, Problem, Result, Target};
use keepnet_eval::splits::hold_out;
use keepnet_eval::trust::correction::Correction;
use keepnet_eval::trust::fits::{Estimate, Named, least_squares, logistic};

use super::found::{Found, Inference};
use super::unseen::Unseen;
use super::{Arrangement, Ask, Concluded, Ended, Whole};
use crate::request::Request;

/// Fewest rows left beside the coefficients, and rows of the rarer class a coefficient.
const LEFT: usize = 10;
const CLASS: usize = 5;

/// One lane on the rows that choose, and the rows that test.
pub(super) struct Split {
    whole: Whole,
    asks: [Ask; 1],
    rows: Vec<u32>,
    problem: Problem,
    correction: Correction,
    level: f64,
}

impl Split {
    pub(super) fn new(request: &Request, whole: &Whole, share: f64) -> Result<Self> {
        if whole.problem.weight.is_some() || whole.balanced {
            let want = "no weights: its standard errors are those of rows that count alike";
            return Err(Error::param("inference", "split with sample or class weights", want));
        }
        let split = hold_out(&whole.problem.target, 1, share, request.run.seed)?.swap_remove(0);
        if split.train.is_empty() || split.test.is_empty() {
            let want = "a share that leaves rows on both sides";
            return Err(Error::param("inference", share, want));
        }
        let problem = whole.part(&split.test)?;
        let asks = [Ask { problem: Arc::new(whole.part(&split.train)?), k: None }];
        let (correction, level) = (request.trust.correction.unwrap_or_default(), request.level());
        Ok(Self { whole: whole.clone(), asks, rows: split.test, problem, correction, level })
    }

    /// Refuses too few rows for `d` coefficients.
    fn enough(&self, d: usize) -> Result<()> {
        let n = self.rows.len();
        if n < d + LEFT {
            return Err(Error::Data(format!(
                "{n} rows for inference are too few for {d} coefficients, which need {}; lower \
                 `k`, or set aside more rows",
                d + LEFT
            )));
        }
        let Target::Classes { names, .. } = &self.problem.target else { return Ok(()) };
        for (name, count) in names.iter().zip(self.problem.target.class_counts()) {
            // Against the rest: the rarer of the class and all others.
            let fewer = count.min(n - count);
            if fewer < CLASS * d {
                return Err(Error::Data(format!(
                    "{fewer} rows for inference tell class {name:?} from the rest, too few for {d} \
                     coefficients, which need {}; lower `k`, or set aside more rows",
                    CLASS * d
                )));
            }
        }
        Ok(())
    }

    /// The fit of every output, and the degrees of freedom where it has them.
    fn fit(&self, columns: &[Named]) -> Result<(Vec<Vec<Estimate>>, Option<f64>)> {
        let offset = self.problem.offset.as_deref();
        match &self.problem.target {
            Target::Numbers(y) => {
                let less = |(i, y): (usize, &f64)| y - offset.map_or(0.0, |o| o[i]);
                let y: Vec<f64> = y.iter().enumerate().map(less).collect();
                let (fit, df) = least_squares(columns, &y, self.level)?;
                Ok((vec![fit], Some(df)))
            }
            Target::Classes { .. } => {
                let outputs = self.problem.target.outputs();
                let one = |y: &Vec<f64>| logistic(columns, y, offset, self.level);
                Ok((outputs.iter().map(one).collect::<Result<_>>()?, None))
            }
        }
    }
}

impl Arrangement for Split {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn purpose(&self) -> Option<String> {
        let (choose, test) = (self.asks[0].problem.n(), self.rows.len());
        Some(format!("1: {choose} rows choose, {test} test what was chosen"))
    }

    fn conclude(&self, mut ended: Ended, unseen: &mut Unseen<'_>) -> Result<Concluded> {
        let mut lane = ended.lanes.swap_remove(0);
        let selection = &lane.selection;
        let features: Vec<_> = selection.pinned.iter().chain(&selection.selected).collect();
        let (pinned, covariates) = (selection.pinned.len(), self.problem.covariates.len());
        self.enough(1 + covariates + features.len())?;
        let mut columns: Vec<Named> = Vec::new();
        for covariate in &self.problem.covariates {
            let (name, values) = (covariate.name.clone(), covariate.values.clone());
            columns.push(Named { name, values });
        }
        let values = unseen.columns(&self.whole.problem, &features, &self.rows)?;
        let named = features.iter().zip(values);
        columns.extend(named.map(|(f, values)| Named { name: f.name.clone(), values }));
        let (fits, df) = self.fit(&columns)?;
        // Covariates and pinned features were not selected, so they are not among the tests.
        let first = covariates + pinned;
        let tests: Vec<f64> =
            fits.iter().flat_map(|fit| fit[first..].iter().map(|one| one.p_value)).collect();
        let adjusted = self.correction.adjust(&tests);
        let k = features.len() - pinned;
        let mut found = Found::default();
        for (at, feature) in features.iter().enumerate() {
            let one = |pick: fn(&Estimate) -> f64| {
                fits.iter().map(|fit| pick(&fit[covariates + at])).collect::<Vec<f64>>()
            };
            let evidence = found.features.entry(feature.id).or_default();
            evidence.estimate = one(|fit| fit.value);
            evidence.std_error = one(|fit| fit.std_error);
            evidence.ci_low = one(|fit| fit.interval[0]);
            evidence.ci_high = one(|fit| fit.interval[1]);
            evidence.p_value = one(|fit| fit.p_value);
            if let Some(at) = at.checked_sub(pinned) {
                evidence.p_adjusted = (0..fits.len()).map(|c| adjusted[c * k + at]).collect();
            }
        }
        found.inference = Some(Inference {
            kind: "split",
            rows_selection: self.asks[0].problem.n(),
            rows_inference: self.rows.len(),
            level: self.level,
            correction: Some(self.correction.name()),
            df,
            ..Inference::default()
        });
        lane.selection.p_value_kind = Some("split");
        let problem = Arc::clone(&self.asks[0].problem);
        Ok(Concluded { lane, problem, k: unseen.spec().k, found })
    }
}
