//! The sparse group lasso: a penalty on groups and on their members, over all features at once.
//!
//! ```text
//! minimise over w, b   L(X w + b) / W + mix lambda sum_j |w_j| + (1 - mix) lambda sum_g sqrt(p_g) |w_g|
//! ```
//!
//! `p_g` is the number of features of group `g` that are neither constant nor pinned. The first
//! penalty leaves features out of a group, the second whole groups. `mix=1` is the lasso, `mix=0`
//! the group lasso. With `lambda=auto` lambda falls from the largest useful one, at which
//! `|S(X_g'r / W, mix lambda)| = (1 - mix) lambda sqrt(p_g)` for some group, until at least `k`
//! coefficients are not 0, as in `lasso`. Or `lambda1` and `lambda2` are the two penalties themselves.
//! With `ratio=true` each is a share of the least number that leaves no feature: that of `lambda2`
//! beside `lambda1`, as SLEP has it.
//!
//! Copies of a column share its coefficient. The one with the largest part stands for all, or the
//! first that could have that part at the same cost. Groups need not be of neighbouring columns.
//!
//! Cost: block descent on a working set of groups, one pass over all columns for each check; memory:
//! every column. Source: Friedman, Hastie, Tibshirani, arXiv:1001.0736 (2010); Simon, Friedman,
//! Hastie, Tibshirani, JCGS 22 (2013).

use std::collections::{BTreeMap, HashSet};

use super::batch::{Answer, Batch, Solver};
use super::copies::{CopyOf, copies};
use super::group_penalty::{GroupPenalty, Partition};
use super::settings::{EPSILON, INTERCEPT, LAMBDA, STANDARDISE};
use super::working_set::{Family, Violation, in_order, solve_whole};
use super::{Columns, L1Params, Point, norm};
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::registry::setting::Bounds;
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::selection::Value;

/// Parts of a coefficient within this share of each other are equal.
const SAME: f64 = 1e-5;

/// Share of the penalty that is on single features.
const MIX: Setting = Setting::number(
    "mix",
    Bounds::from_to(0.0, 1.0),
    0.95,
    "share of lambda on single features; the rest is on groups",
);

/// The penalty on single features.
const LAMBDA1: Setting = Setting::number(
    "lambda1",
    Bounds::at_least(0.0),
    0.0,
    "weight of the penalty on single features, with lambda2 in place of lambda and mix",
)
.derived("mix lambda");

/// The penalty on groups.
const LAMBDA2: Setting = Setting::number(
    "lambda2",
    Bounds::at_least(0.0),
    0.0,
    "weight of the penalty on groups, times the root of their size; goes with lambda1",
)
.derived("(1 - mix) lambda");

/// Whether penalties are shares.
const RATIO: Setting = Setting::flag(
    "ratio",
    false,
    "true reads lambda, or lambda1 and lambda2, as shares of the least that leaves no feature",
);

/// Which penalties were asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asked {
    /// Those that leave `k` features.
    Auto,
    /// This lambda.
    Lambda(f64),
    /// These on single features and on groups.
    Pair(f64, f64),
}

/// Settings of `sparse-group-lasso`.
#[derive(Clone, Debug)]
struct SparseGroupLasso {
    params: L1Params,
    mix: f64,
    asked: Asked,
    ratio: bool,
}

impl SparseGroupLasso {
    fn read(spec: &MethodSpec) -> Result<Self> {
        let mut params = L1Params::read(spec)?;
        params.loss = params.loss.or(Some(LossKind::Squared));
        let (mix, ratio) = (spec.number(&MIX)?, spec.flag(&RATIO)?);
        let pair = (spec.optional_number(&LAMBDA1)?, spec.optional_number(&LAMBDA2)?);
        let asked = match (params.lambda, pair) {
            (None, (None, None)) => Asked::Auto,
            (Some(lambda), (None, None)) => Asked::Lambda(lambda),
            (None, (Some(one), Some(two))) => Asked::Pair(one, two),
            (None, (one, _)) => {
                let missing = if one.is_some() { LAMBDA2.name } else { LAMBDA1.name };
                let want = "a number: `lambda1` and `lambda2` go together";
                return Err(Error::param(missing, "not given", want));
            }
            (Some(lambda), _) => {
                let want = "no `lambda` beside `lambda1` and `lambda2`";
                return Err(Error::param(LAMBDA.name, lambda, want));
            }
        };
        let this = Self { params, mix, asked, ratio };
        this.check(spec)?;
        Ok(Self { params: L1Params { lambda: this.some_lambda(), ..this.params }, ..this })
    }

    fn check(&self, spec: &MethodSpec) -> Result<()> {
        let at_most_1 = |name, value: f64| match self.ratio && value > 1.0 {
            true => Err(Error::param(name, value, "at most 1 with `ratio=true`")),
            false => Ok(()),
        };
        match self.asked {
            Asked::Auto if self.ratio => {
                Err(Error::param(RATIO.name, true, "`lambda`, or `lambda1` and `lambda2`, with it"))
            }
            Asked::Auto => Ok(()),
            Asked::Lambda(lambda) => at_most_1(LAMBDA.name, lambda),
            Asked::Pair(..) if spec.given(&MIX)?.is_some() => {
                let want = "no `mix` beside `lambda1` and `lambda2`";
                Err(Error::param(MIX.name, self.mix, want))
            }
            Asked::Pair(0.0, 0.0) => {
                Err(Error::param(LAMBDA1.name, 0, "above 0 unless `lambda2` is"))
            }
            Asked::Pair(one, two) => {
                at_most_1(LAMBDA1.name, one)?;
                at_most_1(LAMBDA2.name, two)
            }
        }
    }

    /// A number where a lambda was asked for in some way, so that `k` may be left out.
    fn some_lambda(&self) -> Option<f64> {
        match self.asked {
            Asked::Auto => None,
            Asked::Lambda(lambda) => Some(lambda),
            Asked::Pair(one, two) => Some(one + two),
        }
    }
}

impl Solver for SparseGroupLasso {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn grouped(&self) -> bool {
        true
    }

    fn walked(&self, k: Option<usize>, n: usize) -> usize {
        k.map_or(n, |k| k.saturating_add(50)).saturating_mul(3)
    }

    fn params(&self, columns: &Columns) -> Vec<(&'static str, Value)> {
        let mut shown = self.params.shown(columns.outputs.kind);
        let own: Vec<(&'static str, Value)> = match self.asked {
            Asked::Auto | Asked::Lambda(_) => vec![("mix", self.mix.into())],
            Asked::Pair(one, two) => {
                shown.retain(|(name, _)| *name != LAMBDA.name);
                vec![("lambda1", one.into()), ("lambda2", two.into())]
            }
        };
        shown.extend(own);
        shown.push(("ratio", self.ratio.into()));
        shown
    }

    fn solve(&self, columns: &Columns) -> Result<Answer> {
        let slots = in_order(columns);
        let partition = Partition::new(columns, &slots);
        let (groups, copies) = (partition.members.len(), copies(columns, &slots));
        let (mix, asked, ratio) = (self.mix, self.asked, self.ratio);
        let classes = classes(columns, &slots, &copies);
        let family = Grouped { partition, copies, classes, mix, asked, ratio };
        let mut answer = solve_whole(columns, &self.params, family, slots)?;
        let kept = answer.model.iter().map(|slot| &columns.kept.slots()[*slot]);
        let kept: HashSet<_> = kept.filter(|kept| !kept.pinned).map(|kept| kept.group).collect();
        answer.metrics.extend([("groups_seen", groups.into()), ("groups_kept", kept.len().into())]);
        Ok(answer)
    }
}

/// The penalties along lambda.
struct Grouped {
    partition: Partition,
    copies: Vec<CopyOf>,
    /// Slots that are copies of one another, and not pinned.
    classes: Vec<Vec<usize>>,
    mix: f64,
    asked: Asked,
    ratio: bool,
}

impl Family for Grouped {
    type At<'a> = GroupPenalty<'a>;
    const NAME: &'static str = "the sparse group lasso";

    fn at(&self, lambda: f64) -> GroupPenalty<'_> {
        let (l1, l2) = (self.mix * lambda, (1.0 - self.mix) * lambda);
        GroupPenalty { partition: &self.partition, l1, l2 }
    }

    fn begin(&mut self, slopes: &[f64]) -> (f64, Option<f64>) {
        let lambda = match self.asked {
            Asked::Auto => None,
            Asked::Lambda(lambda) if self.ratio => {
                Some(lambda * self.partition.lambda_max(slopes, self.mix))
            }
            Asked::Lambda(lambda) => Some(lambda),
            Asked::Pair(mut one, mut two) => {
                if self.ratio {
                    one *= slopes.iter().copied().fold(0.0, f64::max);
                    two *= self.partition.l2_max(slopes, one);
                }
                // Slopes of 0 leave nothing to share out.
                let sum = (one + two).max(f64::MIN_POSITIVE);
                self.mix = (one / sum).min(1.0);
                Some(sum)
            }
        };
        (self.partition.lambda_max(slopes, self.mix), lambda)
    }

    fn starts(&self, point: &Point, slot: usize) -> bool {
        let members = self.partition.group(slot);
        members.iter().any(|slot| point.size(*slot) != 0.0)
    }

    fn violating(
        &self,
        (lambda, tolerance): (f64, f64),
        point: &Point,
        slopes: &[f64],
        inside: &[bool],
    ) -> Vec<Violation> {
        let excess = self.at(lambda).excess(point, slopes);
        let over = excess.into_iter().zip(&self.partition.members);
        over.filter(|(over, members)| *over > tolerance && !inside[members[0]])
            .map(|(over, members)| (over, members.iter().copied().collect()))
            .collect()
    }

    /// Of copies one has the size of all of them together, and the others 0.
    fn sizes(&self, columns: &Columns, point: &Point) -> Vec<f64> {
        let count = columns.count();
        let mut sizes: Vec<f64> = (0..columns.kept.len())
            .map(|slot| if columns.pinned(slot) { 0.0 } else { point.size(slot) })
            .collect();
        for class in &self.classes {
            if class.iter().all(|slot| sizes[*slot] == 0.0) {
                continue;
            }
            let stands = self.stands(columns, class, &sizes);
            let mut sum = vec![0.0; count];
            for slot in class {
                let factor = self.copies[*slot].sign * length(columns, *slot);
                let w = &point.w[slot * count..(slot + 1) * count];
                sum.iter_mut().zip(w).for_each(|(sum, w)| *sum += factor * w);
            }
            class.iter().for_each(|slot| sizes[*slot] = 0.0);
            sizes[stands] = norm(&sum) / length(columns, stands);
        }
        sizes
    }

    fn metrics(&self, lambda: f64) -> Vec<(&'static str, Value)> {
        let GroupPenalty { l1, l2, .. } = self.at(lambda);
        vec![("lambda1", l1.into()), ("lambda2", l2.into())]
    }
}

impl Grouped {
    /// The copy that stands for all: the one with the largest part, or the first that could have
    /// that part at the same cost.
    fn stands(&self, columns: &Columns, class: &[usize], sizes: &[f64]) -> usize {
        let part = |slot: usize| sizes[slot] * length(columns, slot);
        let largest = class.iter().copied().reduce(|a, b| if part(b) > part(a) { b } else { a });
        let largest = largest.expect("a class has members");
        // Whether nothing but these copies has a coefficient in the group of a slot.
        let alone = |slot: usize| {
            let used = self.partition.group(slot).iter().filter(|j| sizes[**j] != 0.0);
            used.into_iter().all(|j| class.contains(j))
        };
        let cost = |slot: usize| self.partition.group(slot).len();
        let as_cheap = |slot: usize| {
            let free =
                self.mix == 1.0 || alone(slot) && alone(largest) && cost(slot) <= cost(largest);
            free && length(columns, slot) >= (1.0 - SAME) * length(columns, largest)
        };
        let enough = |slot: usize| part(slot) >= (1.0 - SAME) * part(largest) || as_cheap(slot);
        class.iter().copied().find(|slot| enough(*slot)).expect("the largest is among them")
    }
}

/// Length of the scaled column of a slot.
fn length(columns: &Columns, slot: usize) -> f64 {
    columns.length(&columns.kept.slots()[slot])
}

/// Slots of columns that come more than once and are not pinned, in the order of their features.
fn classes(columns: &Columns, slots: &[usize], copies: &[CopyOf]) -> Vec<Vec<usize>> {
    let mut classes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for slot in slots.iter().filter(|slot| !columns.pinned(**slot)) {
        classes.entry(copies[*slot].first).or_default().push(*slot);
    }
    classes.into_values().filter(|class| class.len() > 1).collect()
}

/// The registry's entry.
pub const INFO: MethodInfo = MethodInfo {
    name: "sparse-group-lasso",
    stream: Stream::Groups,
    summary: "a model penalised by groups and by features, of all features at once",
    tasks: "regression, classification (several classes one against the rest)",
    cost: "block descent on a working set of groups; a pass over all columns a check",
    memory: "every column, and O(m^2) for the m features of the groups in the model",
    paper: "Simon, Friedman, Hastie, Tibshirani, JCGS 22 (2013)",
    scans: 1,
    needs_k: false,
    has_loss: true,
    settings: &[MIX, LAMBDA, LAMBDA1, LAMBDA2, RATIO, STANDARDISE, EPSILON, INTERCEPT],
    promises: Promises::ALL,
    make: Maker::Columns(make),
};

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    let solver = SparseGroupLasso::read(spec)?;
    let params = solver.params.clone();
    Ok(Box::new(Batch::new(solver, &params, problem, budget)?))
}
