//! What the statistical methods share: rules, settings, and measures by name.

use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::lofs::{LofsFisherZ, LofsSu};
use crate::measure::{self, ALPHA, Bins, DELTA, Measure, MeasureKind, Thresholds, WithMeasure};
use crate::registry::effect::without_effect;
use crate::registry::setting::Given;
use crate::registry::{MethodSpec, Setting};
use crate::select::ColumnSelector;
use crate::selection::Value;

/// Whose rules decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The paper's algorithms.
    Paper,
    /// The LOFS library's, with its arithmetic.
    Lofs,
}

impl Rules {
    /// The name in settings and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Lofs => "lofs",
        }
    }

    /// The setting `rules`.
    pub fn of(spec: &MethodSpec) -> Result<Self> {
        spec.choice(&RULES, &[Self::Paper, Self::Lofs], Self::name)
    }
}

/// Strengths closer than this are equal by the paper's rules: rounding must not decide a tie.
pub(crate) const TIE: f64 = 1e-12;

/// When a strength between two features makes one of them redundant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairwise {
    max: bool,
    // `t = bound` is enough.
    equal_strength: bool,
    // A newcomer with the score of a kept feature can be dropped for it.
    equal_score: bool,
    tie: f64,
}

impl Pairwise {
    pub(crate) fn new<M: Measure>(rules: Rules, max: bool, measure: &M) -> Self {
        let lofs = rules == Rules::Lofs;
        Self {
            max,
            equal_strength: measure.ties_count() && !lofs,
            equal_score: lofs && M::KIND.info().numbers,
            tie: if lofs { 0.0 } else { TIE },
        }
    }

    /// Whether score `a` is above score `b`.
    pub(crate) fn above(&self, a: f64, b: f64) -> bool {
        a > b + self.tie
    }

    /// Whether a strength between the two could remove the newcomer.
    pub(crate) fn newcomer_loses(&self, newcomer: f64, kept: f64) -> bool {
        self.above(kept, newcomer) || (self.equal_score && newcomer == kept)
    }

    /// Whether any strength could decide between these scores.
    pub(crate) fn open(&self, newcomer: f64, kept: f64) -> bool {
        self.above(newcomer, kept) || self.newcomer_loses(newcomer, kept)
    }

    pub(crate) fn bound(&self, a: f64, b: f64) -> f64 {
        if self.max { a.max(b) } else { a.min(b) }
    }

    pub(crate) fn reaches(&self, t: f64, bound: f64) -> bool {
        if self.equal_strength { t >= bound - self.tie } else { t > bound + self.tie }
    }
}

/// What happens when the kept set reaches its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnFull {
    /// The run ends with an error.
    Error,
    /// The weakest feature is let go.
    Evict,
}

impl OnFull {
    /// The setting `on-full`.
    pub fn of(spec: &MethodSpec) -> Result<Self> {
        spec.choice(&ON_FULL, &[Self::Error, Self::Evict], Self::name)
    }

    /// The name in settings and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Evict => "evict",
        }
    }
}

/// Whose rules decide.
pub(crate) const RULES: Setting = Setting::choice(
    "rules",
    &[Rules::Paper.name(), Rules::Lofs.name()],
    "paper, or lofs for the rules and arithmetic of the authors' library",
);
/// Measures of pairs.
pub(crate) const MEASURE: Setting = Setting::choice(
    "measure",
    &measure::choices::<{ 1 + measure::able(false) }>(false),
    "su, mi or fisher-z; auto is su where every column is an integer, bool or code",
);
/// What happens at the budget.
pub(crate) const ON_FULL: Setting = Setting::choice(
    "on-full",
    &[OnFull::Error.name(), OnFull::Evict.name()],
    "at the memory budget: error, or evict to let the weakest feature go",
);

/// The measure that `setting` asks for; under `auto` `discrete` for codes, else Fisher's Z.
pub(crate) fn measure_kind(
    spec: &MethodSpec,
    setting: &Setting,
    discrete: MeasureKind,
) -> Result<MeasureKind> {
    let Some(Given::Word(name)) = spec.value(setting)? else { return Ok(MeasureKind::FisherZ) };
    let codes = spec.integral || Bins::of(spec)?.is_some();
    let auto = if codes { discrete } else { MeasureKind::FisherZ };
    Ok(MeasureKind::named(name).unwrap_or(auto))
}

/// Settings of the methods that compare features in pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairSettings {
    pub(crate) rules: Rules,
    pub(crate) kind: MeasureKind,
    thresholds: Thresholds,
}

impl PairSettings {
    pub(crate) fn parse(spec: &MethodSpec) -> Result<Self> {
        Ok(Self {
            rules: Rules::of(spec)?,
            kind: measure_kind(spec, &MEASURE, MeasureKind::Su)?,
            thresholds: Thresholds {
                alpha: spec.number(&ALPHA)?,
                bins: Bins::of(spec)?,
                delta: spec.number(&DELTA)?,
            },
        })
    }

    /// Refuses the threshold that the measure of these settings does not have.
    pub(crate) fn check_threshold(spec: &MethodSpec) -> Result<()> {
        let tested = measure_kind(spec, &MEASURE, MeasureKind::Su)?.info().tested;
        let idle = if tested { &DELTA } else { &ALPHA };
        if !spec.settings.contains_key(idle.name) {
            return Ok(());
        }
        Err(without_effect(
            idle.name,
            match tested {
                true => "`measure=su` or mi with it; tests take `alpha`",
                false => "`measure=fisher-z` with it; strengths take `delta`",
            },
        ))
    }

    /// What results show: measure and rules, what is the method's own, and the threshold.
    pub(crate) fn shown(&self, own: Vec<(&'static str, Value)>) -> Vec<(&'static str, Value)> {
        let Thresholds { alpha, delta, bins } = self.thresholds;
        let mut shown =
            vec![("measure", Value::from(self.kind.name())), ("rules", self.rules.name().into())];
        shown.extend(own);
        shown.push(match self.kind.info().tested {
            true => (ALPHA.name, alpha.into()),
            false => (DELTA.name, delta.into()),
        });
        shown.extend(bins.map(|bins| ("bins", bins.into())));
        shown
    }

    /// The method with its measure.
    pub(crate) fn build(
        &self,
        problem: &Problem,
        method: impl WithMeasure<Made = Box<dyn ColumnSelector>>,
    ) -> Result<Box<dyn ColumnSelector>> {
        let Thresholds { alpha, delta, .. } = self.thresholds;
        let made = match (self.rules, self.kind) {
            (Rules::Paper, kind) => kind.pairwise(problem, self.thresholds, method),
            (Rules::Lofs, MeasureKind::Su) => Some(method.with(LofsSu::new(problem, delta)?)),
            (Rules::Lofs, MeasureKind::FisherZ) => {
                Some(method.with(LofsFisherZ::new(problem, alpha)?))
            }
            (Rules::Lofs, _) => None,
        };
        made.unwrap_or_else(|| {
            let want = "su or fisher-z with rules=lofs, or a measure of pairs with rules=paper";
            Err(Error::param("measure", self.kind.name(), want))
        })
    }
}

/// What the p-values of a pairwise method are, where it has any.
pub(crate) fn p_value_kind<M: Measure>() -> Option<&'static str> {
    M::P_VALUES.then_some("marginal")
}

/// The most features to keep, where a limit was given.
pub(crate) fn some_k(spec: &MethodSpec) -> Result<Option<usize>> {
    match spec.k {
        Some(0) => Err(Error::param("k", 0, "at least 1")),
        k => Ok(k),
    }
}

/// Refuses what a method without a linear model cannot take into account.
pub(crate) fn no_model(problem: &Problem, method: &str) -> Result<()> {
    let what = match problem {
        Problem { offset: Some(_), .. } => "an offset",
        Problem { covariates, .. } if !covariates.is_empty() => "covariates",
        _ => return Ok(()),
    };
    Err(Error::Unsupported(format!(
        "{method} compares features with the target and has no model to put {what} in; \
         use os-plus or alpha-investing, or leave it out"
    )))
}
