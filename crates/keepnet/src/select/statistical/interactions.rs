//! What the two methods on interactions share: settings, and the measure by name.

use super::rules::measure_kind;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::interaction::{Correlation, Information, Interaction};
use crate::measure::mi::MiKind;
use crate::measure::su::SuKind;
use crate::measure::{Bins, MeasureKind};
use crate::registry::setting::Bounds;
use crate::registry::{MethodSpec, Setting};
use crate::select::ColumnSelector;
use crate::selection::Value;

/// Level of the tests; neither paper states one.
pub(super) const ALPHA: Setting = Setting::number(
    "alpha",
    Bounds::between(0.0, 1.0),
    0.05,
    "fisher-z: level of the tests, between 0 and 1",
);

/// Measures that have a conditional form, and the one that the authors' program compares in.
pub(super) const MEASURE: Setting = Setting::choice(
    "measure",
    &["auto", MeasureKind::Su.name(), MeasureKind::Mi.name(), MeasureKind::FisherZ.name()],
    "mi or fisher-z, su with rules=authors; auto is mi where every column is an integer, bool or code",
);

/// Whose rules decide.
pub(super) const RULES: Setting = Setting::choice(
    "rules",
    &["paper", "authors"],
    "paper, or authors for what their program does: see the documentation of the method",
);

fn rules_name(authors: bool) -> &'static str {
    if authors { "authors" } else { "paper" }
}

/// Settings of the methods on interactions.
#[derive(Clone, Copy, Debug)]
pub(super) struct InteractionSettings {
    pub(super) authors: bool,
    kind: MeasureKind,
    alpha: f64,
    bins: Option<Bins>,
}

/// Makes a method with whatever measure was asked for.
pub(super) trait WithInteraction {
    fn with<M: Interaction + 'static>(self, measure: M) -> Result<Box<dyn ColumnSelector>>;
}

impl InteractionSettings {
    pub(super) fn parse(spec: &MethodSpec) -> Result<Self> {
        let authors = spec.choice(&RULES, &[false, true], rules_name)?;
        // The authors' program has strengths in [0, 1] and conditional ones in bits.
        let codes = if authors { MeasureKind::Su } else { MeasureKind::Mi };
        let kind = measure_kind(spec, &MEASURE, codes)?;
        if kind == MeasureKind::Su && !authors {
            let want = "mi or fisher-z; su with rules=authors, which mixes its unit with bits";
            return Err(Error::param("measure", "su", want));
        }
        let (alpha, bins) = (spec.number(&ALPHA)?, Bins::of(spec)?);
        Ok(Self { authors, kind, alpha, bins })
    }

    /// What results show: measure and rules, what is the method's own, and the rest.
    pub(super) fn shown(&self, own: Vec<(&'static str, Value)>) -> Vec<(&'static str, Value)> {
        let rules = rules_name(self.authors);
        let mut shown = vec![("measure", Value::from(self.kind.name())), ("rules", rules.into())];
        shown.extend(own);
        if self.kind.info().tested {
            shown.push((ALPHA.name, self.alpha.into()));
        }
        shown.extend(self.bins.map(|bins| ("bins", bins.into())));
        shown
    }

    /// The method with its measure.
    pub(super) fn build(
        &self,
        problem: &Problem,
        method: impl WithInteraction,
    ) -> Result<Box<dyn ColumnSelector>> {
        match self.kind {
            MeasureKind::Mi => method.with(Information::<MiKind>::new(problem, self.bins)?),
            MeasureKind::Su => method.with(Information::<SuKind>::new(problem, self.bins)?),
            _ => method.with(Correlation::new(problem, self.alpha)?),
        }
    }
}
