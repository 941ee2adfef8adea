//! What the penalised extraction methods share: solvers, a given lambda, the path to `k`.

pub(crate) mod descent;
mod ista;
mod lars;
pub(crate) mod penalty;

use self::descent::{Descent, LOOSE, TIGHT, entry_order, path_to_size};
use self::ista::Ista;
use self::lars::Lars;
use self::penalty::Penalty;
use super::extract::Extract;
use super::gram::Gram;
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

/// The value of lambda that a result shows.
pub(crate) fn lambda_value(lambda: Option<f64>) -> Value {
    lambda.map_or(Value::from("by k"), Value::from)
}

/// An error for the published iteration with a given lambda: it only follows the path to `k`.
pub(crate) fn check_solver(solver: Solver, lambda: Option<f64>) -> Result<()> {
    if solver == Solver::Ista && lambda.is_some() {
        let want = "lars or cd where lambda is given: ista walks to k";
        return Err(Error::param("solver", solver.name(), want));
    }
    Ok(())
}

/// An error for the published iteration without a given `k`.
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
    /// Least angle regression, for the lasso only: the exact path.
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

/// What an extraction by a penalty depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PenalisedProblem {
    pub(crate) name: &'static str,
    pub(crate) penalty: Penalty,
    pub(crate) solver: Solver,
    /// A penalty that fixes the size of the model; `None` asks for `k`.
    pub(crate) lambda: Option<f64>,
}

impl PenalisedProblem {
    /// The standardised coefficients at `lambda`, in units of the target, before any refit.
    pub(crate) fn coefficients(&self, gram: &Gram, factor: Vec<f64>, lambda: f64) -> Vec<f64> {
        if self.solver == Solver::Lars {
            return Lars::new(gram).at_lambda(lambda);
        }
        let mut descent = Descent::new(gram, self.penalty, factor);
        descent.solve(lambda / gram.sd_y(), TIGHT);
        descent.coefficients()
    }
}

/// A method that minimises a penalised problem; its extraction follows from that.
pub(crate) trait Penalised: Send {
    /// The problem.
    fn problem(&self) -> PenalisedProblem;

    /// The method's own settings with their values, without lambda.
    fn own_params(&self) -> Vec<(&'static str, Value)>;

    /// The factor on lambda of each feature, for coordinate descent; empty means 1.
    fn factor(&self, gram: &Gram) -> Result<Vec<f64>> {
        let _ = gram;
        Ok(Vec::new())
    }
}

impl<T: Penalised> Extract for T {
    fn name(&self) -> &'static str {
        self.problem().name
    }

    fn choose(&self, gram: &Gram, k: usize) -> Result<Vec<usize>> {
        let PenalisedProblem { penalty, solver, .. } = self.problem();
        Ok(match solver {
            Solver::Lars => Lars::new(gram).at_size(k),
            Solver::Cd => {
                let descent = Descent::new(gram, penalty, self.factor(gram)?);
                let lambda_max = descent.lambda_max();
                path_to_size(descent, lambda_max, k, |d, lambda| d.solve(lambda, LOOSE), |d| &d.b)
            }
            Solver::Ista => {
                let ista = Ista::new(gram, penalty.shape);
                let lambda_max = ista.lambda_max();
                path_to_size(ista, lambda_max, k, |s, lambda| s.solve(lambda, LOOSE), |s| &s.b)
            }
        })
    }

    fn rank(&self, gram: &Gram, most: usize) -> Result<Vec<usize>> {
        let PenalisedProblem { penalty, solver, .. } = self.problem();
        match solver {
            Solver::Lars => Ok(Lars::new(gram).order(most)),
            Solver::Cd => Ok(entry_order(Descent::new(gram, penalty, self.factor(gram)?), most)),
            Solver::Ista => check_size(solver, None).map(|()| Vec::new()),
        }
    }

    fn params(&self) -> Vec<(&'static str, Value)> {
        let mut params = self.own_params();
        params.push(("lambda", lambda_value(self.problem().lambda)));
        params
    }

    fn fixed(&self, gram: &Gram) -> Option<Result<Vec<usize>>> {
        let problem = self.problem();
        let lambda = problem.lambda?;
        Some(self.factor(gram).map(|factor| {
            let b = problem.coefficients(gram, factor, lambda);
            (0..b.len()).filter(|j| b[*j] != 0.0).collect()
        }))
    }
}
