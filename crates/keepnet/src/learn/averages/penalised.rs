//! What the penalised extraction methods share: solvers, a named penalty, the walk to `k`.

use super::descent::{Descent, LOOSE, TIGHT, entry_order, walk_to};
use super::extract::Extract;
use super::gram::Gram;
use super::ista::Ista;
use super::lars::Lars;
use super::penalty::Penalty;
use crate::error::{Error, Result};
use crate::registry::Setting;
use crate::registry::setting::Bounds;
use crate::selection::Value;

/// The setting that every penalised method has.
pub(crate) const LAMBDA: Setting = Setting::number(
    "lambda",
    Bounds::above(0.0),
    1.0,
    "a penalty in units of the target that fixes the size of the model; k is then not used",
)
.derived("by k");

/// How a result shows it.
pub(crate) fn lambda_value(lambda: Option<f64>) -> Value {
    lambda.map_or(Value::from("by k"), Value::from)
}

/// The published iteration only walks to `k`: with a lambda, or a size to be chosen, it would be
/// silently another solver.
pub(crate) fn check_solver(solver: Solver, lambda: Option<f64>) -> Result<()> {
    if solver == Solver::Ista && lambda.is_some() {
        let want = "lars or cd where lambda is given: ista walks to k";
        return Err(Error::param("solver", solver.name(), want));
    }
    Ok(())
}

/// The same for `k`, which the method's settings do not know.
pub(crate) fn check_size(solver: Solver, k: Option<usize>) -> Result<()> {
    match (solver, k) {
        (Solver::Ista, None) => Err(Error::param(
            "solver",
            "ista",
            "cd or lars where `k` is not given: ista walks to k",
        )),
        _ => Ok(()),
    }
}

/// Which algorithm minimises a penalised problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// Coordinate descent: the minimum.
    #[default]
    Cd,
    /// Least angle regression, the lasso alone: the whole path exactly.
    Lars,
    /// The published gradient and threshold iteration.
    Ista,
}

impl Solver {
    /// The name in settings and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cd => "cd",
            Self::Lars => "lars",
            Self::Ista => "ista",
        }
    }
}

pub(crate) fn check_lambda(lambda: Option<f64>) -> Result<()> {
    lambda.map_or(Ok(()), |lambda| LAMBDA.check(lambda))
}

/// One penalty at one strength a feature: what an extraction by a penalty comes down to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    pub(crate) name: &'static str,
    pub(crate) penalty: Penalty,
    pub(crate) solver: Solver,
    /// A penalty that fixes the size of the model; `None` asks for `k`.
    pub(crate) lambda: Option<f64>,
}

impl Walk {
    /// The standardised weights at `lambda`, before any refit.
    pub(crate) fn weights(&self, gram: &Gram, lambda: f64) -> Vec<f64> {
        match self.solver {
            Solver::Lars => Lars::new(gram).at_lambda(lambda),
            _ => weights(gram, self.penalty, Vec::new(), lambda),
        }
    }
}

/// A method that is one walk along lambda; its extraction follows from that.
pub(crate) trait Walks: Send {
    /// The walk.
    fn walk(&self) -> Walk;

    /// The method's own settings with their values, lambda apart.
    fn shown(&self) -> Vec<(&'static str, Value)>;
}

impl<T: Walks> Extract for T {
    fn name(&self) -> &'static str {
        self.walk().name
    }

    fn choose(&self, gram: &Gram, k: usize) -> Result<Vec<usize>> {
        let walk = self.walk();
        Ok(match walk.solver {
            Solver::Lars => Lars::new(gram).at_size(k),
            Solver::Cd => choose(gram, walk.penalty, Vec::new(), k),
            Solver::Ista => choose_published(gram, walk.penalty, k),
        })
    }

    fn rank(&self, gram: &Gram, most: usize) -> Result<Vec<usize>> {
        let walk = self.walk();
        match walk.solver {
            Solver::Lars => Ok(Lars::new(gram).order(most)),
            Solver::Cd => Ok(rank(gram, walk.penalty, Vec::new(), most)),
            Solver::Ista => check_size(walk.solver, None).map(|()| Vec::new()),
        }
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        let mut shown = self.shown();
        shown.push(("lambda", lambda_value(self.walk().lambda)));
        shown
    }

    fn fixed(&self, gram: &Gram) -> Option<Result<Vec<usize>>> {
        let walk = self.walk();
        walk.lambda.map(|lambda| Ok(support(&walk.weights(gram, lambda))))
    }
}

/// `k` features by coordinate descent; `factor` multiplies lambda a feature.
pub(crate) fn choose(gram: &Gram, penalty: Penalty, factor: Vec<f64>, k: usize) -> Vec<usize> {
    let descent = Descent::new(gram, penalty, factor);
    let lambda_max = descent.lambda_max();
    walk_to(descent, lambda_max, k, |d, lambda| d.solve(lambda, LOOSE), |d| &d.b)
}

/// `k` features by the published iteration.
pub(crate) fn choose_published(gram: &Gram, penalty: Penalty, k: usize) -> Vec<usize> {
    let ista = Ista::new(gram, penalty.shape);
    let lambda_max = ista.lambda_max();
    walk_to(ista, lambda_max, k, |s, lambda| s.solve(lambda, LOOSE), |s| &s.b)
}

/// Features in order of entry along lambda.
pub(crate) fn rank(gram: &Gram, penalty: Penalty, factor: Vec<f64>, most: usize) -> Vec<usize> {
    entry_order(Descent::new(gram, penalty, factor), most)
}

/// Standardised weights at one lambda, in units of the target.
pub(crate) fn weights(gram: &Gram, penalty: Penalty, factor: Vec<f64>, lambda: f64) -> Vec<f64> {
    let mut descent = Descent::new(gram, penalty, factor);
    let unit = gram.yy[0].sqrt().max(f64::MIN_POSITIVE);
    descent.solve(lambda / unit, TIGHT);
    descent.weights()
}

/// Places of the weights that are not zero.
pub(crate) fn support(weights: &[f64]) -> Vec<usize> {
    (0..weights.len()).filter(|j| weights[*j] != 0.0).collect()
}
