//! One size, or the choice of one: `-k 5,10,20`, `--choose`, `--holdout`.
//!
//! ```text
//! lanes        one for each size on all rows; under cv also one for each size and fold
//! cv_mean(k)   mean over folds of the loss on the fold's rows, of a lane on the others
//! cv_se(k)     standard deviation of the same (divisor F - 1) / sqrt(F)
//! cv           the smallest k with cv_mean(k) <= cv_mean(best) + cv_se(best)
//! ```
//!
//! The lane of the chosen size on all rows is the result. Rows of `--holdout` are set aside first
//! and have no part in it; the result's model is judged on them once.

use std::sync::Arc;

use keepnet::registry::Setting;
use keepnet::selection::Selection;
use keepnet::{Error, Lane, LossKind, Problem, Result, Target, Value};
use keepnet_eval::splits::{Split, hold_out, k_fold};

use super::ebic::{ebic, gaussian};
use super::found::{Found, Holdout, PathPoint};
use super::null;
use super::unseen::{Judged, Model, Unseen, loss_of, no_model};
use super::{Arrangement, Ask, Concluded, Ended, Whole};
use crate::request::{Choose, Request, Size};

/// `--set gamma` of the criterion.
pub(crate) const GAMMA: Setting = Setting::number(
    "gamma",
    keepnet::registry::setting::Bounds::from_to(0.0, 1.0),
    1.0,
    "weight of the number of choices in ebic",
);

/// Rows that a model is not fitted on.
struct Aside {
    rows: Vec<u32>,
    problem: Problem,
}

/// The lanes of one size or several.
pub(super) struct Sizes {
    whole: Whole,
    sizes: Vec<usize>,
    choose: Option<Choose>,
    gamma: Option<f64>,
    folds: Vec<Aside>,
    holdout: Option<Aside>,
    // Sizes on all rows, then those of each fold.
    asks: Vec<Ask>,
    warnings: Vec<String>,
}

impl Sizes {
    pub(super) fn new(request: &Request, whole: &Whole, features: Option<u64>) -> Result<Self> {
        let (trust, seed) = (&request.trust, request.run.seed);
        let (rows, holdout) = match trust.holdout {
            None => (None, None),
            Some(share) => {
                let Split { train, test, .. } =
                    hold_out(&whole.problem.target, 1, share, seed)?.swap_remove(0);
                if train.is_empty() || test.is_empty() {
                    let want = "a share that leaves rows on both sides";
                    return Err(Error::param("holdout", share, want));
                }
                let problem = whole.part(&test)?;
                (Some(train), Some(Aside { rows: test, problem }))
            }
        };
        let all = Arc::new(match &rows {
            None => whole.all()?,
            Some(rows) => whole.part(rows)?,
        });
        let mut out = Self {
            whole: whole.clone(),
            sizes: Vec::new(),
            choose: None,
            gamma: None,
            folds: Vec::new(),
            holdout,
            asks: Vec::new(),
            warnings: Vec::new(),
        };
        match &request.method.k {
            Some(size) if size.chosen() => out.choose_from(request, size, &all, rows, features)?,
            _ => {
                out.asks = null::asks(&all, whole.balanced, trust.null.unwrap_or(0), seed);
                out.asks.insert(0, Ask { problem: all, k: None });
            }
        }
        Ok(out)
    }

    fn choose_from(
        &mut self,
        request: &Request,
        size: &Size,
        all: &Arc<Problem>,
        rows: Option<Vec<u32>>,
        features: Option<u64>,
    ) -> Result<()> {
        let (trust, seed) = (&request.trust, request.run.seed);
        let choose = trust.choose.unwrap_or_default();
        self.choose = Some(choose);
        self.gamma = request.method.gamma()?;
        let mut parts = Vec::new();
        let mut fewest = all.n();
        if choose != Choose::Ebic {
            enough(&all.target, trust.folds())?;
            let place = |at: &u32| rows.as_ref().map_or(*at, |rows| rows[*at as usize]);
            for Split { train, test, .. } in k_fold(&all.target, trust.folds(), 1, seed)? {
                let train: Vec<u32> = train.iter().map(place).collect();
                let test: Vec<u32> = test.iter().map(place).collect();
                fewest = fewest.min(train.len());
                parts.push(Arc::new(self.whole.part(&train)?));
                let problem = self.whole.part(&test)?;
                self.folds.push(Aside { rows: test, problem });
            }
        }
        for k in size.sizes(all.n(), features) {
            match k < fewest {
                true => self.sizes.push(k),
                false => self.warnings.push(format!(
                    "k = {k} is left out: it is not below the {fewest} rows that a lane learns from"
                )),
            }
        }
        if self.sizes.is_empty() {
            let want = format!("a size below the {fewest} rows that a lane learns from");
            return Err(Error::Data(format!("no size of `k` can be used; expected {want}")));
        }
        for part in std::iter::once(all).chain(&parts) {
            let ask = |k: &usize| Ask { problem: Arc::clone(part), k: Some(*k) };
            self.asks.extend(self.sizes.iter().map(ask));
        }
        Ok(())
    }

    /// The loss of every size and fold on the fold's rows, fold by fold.
    fn validate(&self, selections: &[&Selection], unseen: &mut Unseen<'_>) -> Result<Vec<Judged>> {
        let count = self.sizes.len();
        let model = |at: usize| {
            let (aside, ask) = (&self.folds[at / count], &self.asks[count + at]);
            Model {
                selection: selections[count + at],
                learnt: &ask.problem,
                rows: &aside.rows,
                problem: &aside.problem,
            }
        };
        let models: Vec<Model<'_>> = (0..count * self.folds.len()).map(model).collect();
        unseen.judge(&self.whole.problem, &models)
    }

    fn path(
        &self,
        selections: &[&Selection],
        seen: u64,
        unseen: &mut Unseen<'_>,
    ) -> Result<Vec<PathPoint>> {
        let judged = self.validate(selections, unseen)?;
        let folds = self.folds.len();
        let over_folds = |at: usize, number: &dyn Fn(&Judged) -> Option<f64>| {
            let values = (0..folds).map(|f| number(&judged[f * self.sizes.len() + at]));
            values.collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty())
        };
        let n = self.asks[0].problem.n() as f64;
        let point = |(at, k): (usize, &usize)| {
            let losses = over_folds(at, &|judged| Some(judged.loss));
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            let cv_mean = losses.as_deref().map(mean);
            let cv_se = losses.as_deref().map(standard_error);
            let cv_error = over_folds(at, &|judged| judged.error).as_deref().map(mean);
            let in_sample = selections[at].loss;
            let kept = selections[at].selected.len() as f64;
            let p = seen as f64;
            let fit = in_sample.and_then(|loss| likelihood(selections[at], &self.asks[0], loss));
            let gamma = self.gamma.unwrap_or(if p > n { 1.0 } else { 0.5 });
            let ebic = fit.map(|fit| ebic(fit, n, kept, p, gamma));
            PathPoint { k: *k, cv_mean, cv_se, cv_error, in_sample, ebic, chosen: false }
        };
        let mut path: Vec<PathPoint> = self.sizes.iter().enumerate().map(point).collect();
        let chosen = choice(&path, self.choose.unwrap_or_default()).ok_or_else(no_model)?;
        path[chosen].chosen = true;
        Ok(path)
    }
}

impl Arrangement for Sizes {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn fits(&self, lanes: &[Lane]) -> Result<()> {
        if self.asks.len() == 1 && self.holdout.is_none() {
            return Ok(());
        }
        let (mut model, selector) = (false, &lanes[0].selector);
        selector.fitted(&mut |_| {
            model = true;
            Ok(())
        })?;
        let selection = selector.selection()?;
        match loss_of(&selection) {
            Some(kind) if model => match self.choose {
                Some(Choose::Ebic) => likely(kind, &self.asks[0].problem.target),
                _ => Ok(()),
            },
            _ => Err(no_model()),
        }
    }

    fn purpose(&self) -> Option<String> {
        let (lanes, sizes) = (self.asks.len(), self.sizes.len());
        if self.choose.is_none() && lanes > 1 {
            return Some(format!("{lanes}: the target, and {} permuted ones", lanes - 1));
        }
        self.choose.map(|choose| match self.folds.len() {
            0 => format!("{lanes}: {sizes} sizes, to choose by {}", choose.name()),
            folds => format!(
                "{lanes}: {sizes} sizes on all rows and in {folds} folds, to choose by {}",
                choose.name()
            ),
        })
    }

    fn conclude(&self, mut ended: Ended, unseen: &mut Unseen<'_>) -> Result<Concluded> {
        let mut found = Found { warnings: self.warnings.clone(), ..Found::default() };
        let mut at = 0;
        if self.choose.is_some() {
            let selections: Vec<&Selection> =
                ended.lanes.iter().map(|lane| &lane.selection).collect();
            let path = self.path(&selections, ended.features_seen, unseen)?;
            at = path.iter().position(|point| point.chosen).unwrap_or(0);
            let edge = (path.len() > 1).then_some(path.len() - 1).filter(|last| *last == at);
            if let Some(last) = edge {
                let k = path[last].k;
                let text = format!("the largest size, {k}, was chosen; a larger one may do better");
                found.warnings.push(text);
            }
            found.path = Some(path);
        }
        if self.choose.is_none() {
            null::compare(&ended.lanes, &mut found);
        }
        let lane = ended.lanes.swap_remove(at);
        let ask = &self.asks[at];
        if let Some(aside) = &self.holdout {
            let model = Model {
                selection: &lane.selection,
                learnt: &ask.problem,
                rows: &aside.rows,
                problem: &aside.problem,
            };
            let judged = unseen.judge(&self.whole.problem, &[model])?[0];
            let (rows, Judged { loss, error }) = (aside.rows.len(), judged);
            found.holdout = Some(Holdout { rows, loss, error });
        }
        let k = ask.k.or(unseen.spec().k);
        Ok(Concluded { lane, problem: Arc::clone(&ask.problem), k, found })
    }
}

/// The place of the size that a rule chooses; `None` where no size has the numbers for it.
fn choice(path: &[PathPoint], choose: Choose) -> Option<usize> {
    let least = |number: &dyn Fn(&PathPoint) -> Option<f64>| {
        let numbers = path.iter().enumerate().filter_map(|(at, point)| Some((at, number(point)?)));
        numbers.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    match choose {
        Choose::Ebic => least(&|point| point.ebic).map(|(at, _)| at),
        Choose::CvMin => least(&|point| point.cv_mean).map(|(at, _)| at),
        Choose::Cv => {
            let (at, mean) = least(&|point| point.cv_mean)?;
            let bound = mean + path[at].cv_se?;
            path.iter().position(|point| point.cv_mean.is_some_and(|mean| mean <= bound))
        }
    }
}

/// The standard error of a mean of folds.
fn standard_error(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (square / (count - 1.0) / count).sqrt()
}

/// Refuses classes of which a fold would have fewer than two rows.
fn enough(target: &Target, folds: usize) -> Result<()> {
    let Target::Classes { names, .. } = target else { return Ok(()) };
    let counts = target.class_counts();
    match counts.iter().position(|count| *count < 2 * folds) {
        None => Ok(()),
        Some(class) => Err(Error::Data(format!(
            "class {:?} has {} rows, fewer than 2 for each of {folds} folds; lower `folds`, or \
             choose by ebic",
            names[class], counts[class]
        ))),
    }
}

/// Refuses a loss that is no likelihood.
fn likely(kind: LossKind, target: &Target) -> Result<()> {
    let several = target.outputs().len() > 1;
    match kind {
        LossKind::Squared | LossKind::Logistic if !several => Ok(()),
        _ => {
            let what = match several {
                true => "one class against the rest".to_string(),
                false => format!("the {} loss", kind.name()),
            };
            Err(Error::param("choose", "ebic", format!("cv or cv-min: {what} is no likelihood")))
        }
    }
}

/// Twice the negative log-likelihood of a fit with this loss, up to a constant.
fn likelihood(selection: &Selection, ask: &Ask, loss: f64) -> Option<f64> {
    let kind = loss_of(selection)?;
    likely(kind, &ask.problem.target).ok()?;
    let n = ask.problem.n() as f64;
    Some(match kind {
        // The squared loss is half a square.
        LossKind::Squared => gaussian(n, 2.0 * loss * n),
        _ => 2.0 * n * loss,
    })
}

/// Reads `--set gamma`, a setting of the criterion and not of the method.
pub(crate) fn gamma(value: &Value) -> Result<f64> {
    match GAMMA.read(value)? {
        keepnet::registry::setting::Given::Number(gamma) => Ok(gamma),
        other => Err(Error::param("gamma", other.to_string(), "a number from 0 to 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(numbers: &[(usize, f64, f64)]) -> Vec<PathPoint> {
        let point = |(k, mean, se): &(usize, f64, f64)| PathPoint {
            k: *k,
            cv_mean: Some(*mean),
            cv_se: Some(*se),
            cv_error: None,
            in_sample: None,
            ebic: Some(*mean),
            chosen: false,
        };
        numbers.iter().map(point).collect()
    }

    #[test]
    fn one_standard_error_chooses_the_smallest_size_that_is_near_enough() {
        let path = path(&[(1, 3.0, 0.9), (2, 1.5, 0.1), (5, 1.2, 0.3), (10, 1.25, 0.01)]);
        assert_eq!(choice(&path, Choose::Cv), Some(1));
        assert_eq!(choice(&path, Choose::CvMin), Some(2));
        assert_eq!(choice(&path, Choose::Ebic), Some(2));
    }

    /// 1, 2, 3, 4, 5: deviation sqrt(2.5), over sqrt(5).
    #[test]
    fn the_standard_error_has_the_divisor_of_a_sample() {
        let se = standard_error(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((se - 0.5f64.sqrt()).abs() < 1e-15);
    }
}
