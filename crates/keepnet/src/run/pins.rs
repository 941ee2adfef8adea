//! Features that are kept whatever happens, and which of them cannot be.
//!
//! A pinned feature that is a linear combination of the covariates and of those pinned before it
//! has no coefficient and no partial correlation of its own. It is left out here, in one place
//! for every method, by name and with the reason, and the run goes on without it; so is one that
//! the check dropped. Each pinned column is made orthogonal to a basis of those before it:
//!
//! ```text
//! x <- sqrt(v) (x - mean(x))      e = x - sum_q q q'x, twice      left = |e|^2 / |x|^2
//! left < COLLINEAR: left out      else  q = e / |e| joins the basis
//! ```
//!
//! Twice is enough: Giraud, Langou, Rozložník, van den Eshof, Numer. Math. 101 (2005). Cost: `8 n m`
//! flops for each of `m` pinned features, once; memory: a vector of n each.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::data::block::FeatureId;
use crate::data::check::{CheckedBlock, Feature};
use crate::data::name::Name;
use crate::data::target::Problem;
use crate::numeric::kernel;
use crate::select::Reason;
use crate::selection::Selection;

/// Share of a column's variance that must be left of it. Twice what the least squares of the
/// methods need, so that what passes here passes there, whatever their rounding.
const COLLINEAR: f64 = 2e-8;
/// Share of a combination's length above which a column is named as part of it.
const PART: f64 = 1e-6;
/// Most columns named in a warning.
const NAMED: usize = 4;

/// The pinned features of one lane; part of a checkpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Pins {
    held: Vec<Pin>,
    left_out: Vec<LeftOut>,
}

/// A covariate, which has no id, or a pinned feature that is in.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pin {
    id: Option<FeatureId>,
    name: String,
    /// Its direction beside those before it, of length 1.
    direction: Vec<f64>,
    /// Its products with the directions before it, then with its own.
    along: Vec<f64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct LeftOut {
    id: FeatureId,
    name: String,
    reason: Reason,
    why: String,
}

/// How many there were at some time.
#[derive(Clone, Copy)]
pub(super) struct Mark(usize, usize);

impl Pins {
    pub(super) fn mark(&self) -> Mark {
        Mark(self.held.len(), self.left_out.len())
    }

    /// Forgets what came after a mark.
    pub(super) fn back_to(&mut self, Mark(held, left_out): Mark) {
        self.held.truncate(held);
        self.left_out.truncate(left_out);
    }

    /// Takes the pinned features of a block in, and those that cannot be kept out of it.
    ///
    /// `pinned` says by name which are, `centred` whether the model has an intercept.
    pub(super) fn admit(
        &mut self,
        block: &mut CheckedBlock<'_>,
        pinned: impl Fn(&Name) -> bool,
        problem: &Problem,
        centred: bool,
    ) {
        for (id, name, _, reason) in &block.dropped {
            if pinned(name) {
                let name = name.text();
                self.leave_out(*id, &name, *reason, || lost(&name, *reason));
            }
        }
        let mut at = 0;
        while at < block.features.len() {
            let feature = &mut block.features[at];
            feature.pinned = pinned(&feature.name);
            match feature.pinned.then(|| self.judge(feature, problem, centred)).flatten() {
                None => at += 1,
                Some(reason) => {
                    let gone = block.features.remove(at);
                    block.dropped.push((gone.id, gone.name, gone.arrival, reason));
                }
            }
        }
        block.dropped.sort_by_key(|dropped| dropped.2);
    }

    /// A line for each pinned name that is not in the selection.
    pub(super) fn warnings(&self, pinned: &HashSet<String>, selection: &Selection) -> Vec<String> {
        let mut out: Vec<String> = self.left_out.iter().map(|gone| gone.why.clone()).collect();
        let found: HashSet<&str> = selection.pinned.iter().map(|f| f.name.as_str()).collect();
        let known = |name: &str| self.left_out.iter().any(|gone| gone.name == name);
        let mut lost: Vec<_> =
            pinned.iter().filter(|name| !found.contains(name.as_str()) && !known(name)).collect();
        lost.sort_unstable();
        for name in lost {
            let why = match self.held.iter().any(|pin| pin.id.is_some() && pin.name == *name) {
                true => "says nothing beside the others and is left out",
                false => "has not come",
            };
            out.push(format!("{name:?} is always kept, but {why}"));
        }
        out
    }

    fn leave_out(
        &mut self,
        id: FeatureId,
        name: &str,
        reason: Reason,
        why: impl FnOnce() -> String,
    ) {
        if self.left_out.iter().all(|gone| gone.id != id) {
            self.left_out.push(LeftOut { id, name: name.into(), reason, why: why() });
        }
    }

    /// Why a pinned feature is left out, where it is.
    fn judge(&mut self, feature: &Feature<'_>, problem: &Problem, centred: bool) -> Option<Reason> {
        if self.held.is_empty() {
            for covariate in &problem.covariates {
                let x = direction(covariate.values.clone(), problem, centred);
                // One that the others span changes no model.
                if let Ok(pin) = self.beside(None, &covariate.name, x) {
                    self.held.push(pin);
                }
            }
        }
        if self.held.iter().any(|pin| pin.id == Some(feature.id)) {
            return None;
        }
        if let Some(gone) = self.left_out.iter().find(|gone| gone.id == feature.id) {
            return Some(gone.reason);
        }
        let mut values = vec![0.0; feature.column().rows()];
        feature.column().each(|i, x| values[i] = x);
        match self.beside(
            Some(feature.id),
            &feature.name.text(),
            direction(values, problem, centred),
        ) {
            Ok(pin) => {
                self.held.push(pin);
                None
            }
            Err(of) => {
                let by = of.iter().find_map(|at| self.held[*at].id);
                let reason = Reason::Redundant { by };
                let names: Vec<&str> = of.iter().map(|at| self.held[*at].name.as_str()).collect();
                let why = spanned(&feature.name.text(), &names);
                self.leave_out(feature.id, &feature.name.text(), reason, || why);
                Some(reason)
            }
        }
    }

    /// A column with its direction beside those held; or, where there is none, those that it is a
    /// combination of, the greatest part first.
    fn beside(
        &self,
        id: Option<FeatureId>,
        name: &str,
        mut x: Vec<f64>,
    ) -> Result<Pin, Vec<usize>> {
        let whole = kernel::dot(&x, &x);
        let mut along = vec![0.0; self.held.len()];
        for _ in 0..2 {
            for (pin, along) in self.held.iter().zip(&mut along) {
                let product = kernel::dot(&pin.direction, &x);
                kernel::axpy(-product, &pin.direction, &mut x);
                *along += product;
            }
        }
        let left = kernel::dot(&x, &x);
        // A column without length is spanned by nothing: it is 0.
        if left > COLLINEAR * whole {
            let length = left.sqrt();
            x.iter_mut().for_each(|x| *x /= length);
            along.push(length);
            return Ok(Pin { id, name: name.into(), direction: x, along });
        }
        Err(self.parts(along))
    }

    /// The held columns in `sum_q along_q q`, by the length of their parts: back substitution in
    /// the triangle of their own products.
    fn parts(&self, mut along: Vec<f64>) -> Vec<usize> {
        let mut parts = Vec::new();
        for at in (0..self.held.len()).rev() {
            let own = &self.held[at].along;
            let weight = along[at] / own[at];
            along.iter_mut().zip(own).for_each(|(a, own)| *a -= weight * own);
            parts.push((weight.abs() * kernel::dot(own, own).sqrt(), at));
        }
        parts.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let most = parts.first().map_or(0.0, |part| part.0);
        parts.into_iter().filter(|part| part.0 > PART * most).map(|part| part.1).collect()
    }
}

/// A column as the inner product sees it: centred, scaled by the roots of the weights, and by its
/// largest value so that no square overflows.
fn direction(mut x: Vec<f64>, problem: &Problem, centred: bool) -> Vec<f64> {
    let weight = problem.weight.as_deref();
    if centred {
        // Twice, so that the rounding of a large mean is taken off as well.
        for _ in 0..2 {
            let mean = match weight {
                Some(weight) => kernel::dot(weight, &x) / problem.weight_sum(),
                None => kernel::sum(&x) / x.len() as f64,
            };
            x.iter_mut().for_each(|x| *x -= mean);
        }
    }
    let largest = x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if largest > 0.0 {
        x.iter_mut().for_each(|x| *x /= largest);
    }
    if let Some(weight) = weight {
        x.iter_mut().zip(weight).for_each(|(x, weight)| *x *= weight.sqrt());
    }
    x
}

fn lost(name: &str, reason: Reason) -> String {
    let why = match reason {
        Reason::Constant => "does not vary enough in the rows that count",
        Reason::Missing => "has missing values",
        Reason::Maf => "has an allele that is too rare",
        Reason::Weak | Reason::Redundant { .. } => "was dropped",
    };
    format!("{name:?} is always kept, but {why} and is left out")
}

fn spanned(name: &str, of: &[&str]) -> String {
    let mut names: Vec<String> = of.iter().take(NAMED).map(|name| format!("{name:?}")).collect();
    if of.len() > NAMED {
        names.push(format!("{} others", of.len() - NAMED));
    }
    let what = match (names.pop(), names.is_empty()) {
        (None, _) => "is 0 in the rows that count".to_string(),
        (Some(one), true) => format!("says the same as {one}, of which it is a multiple,"),
        (Some(last), false) => {
            format!("is a linear combination of {} and {last}", names.join(", "))
        }
    };
    format!("{name:?} is always kept, but {what} and is left out")
}
