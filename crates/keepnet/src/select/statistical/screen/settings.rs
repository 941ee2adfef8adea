//! Settings of `screen` and its entry in the registry.

use super::Screen;
use super::correction::AtEnd;
use super::online::OnArrival;
use super::rows::{Rows, Y};
use super::test::Test;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::registry::setting::{Bounds, Given};
use crate::registry::{Maker, MethodInfo, MethodSpec, Promises, Setting, Stream};
use crate::run::budget::Budget;
use crate::select::ColumnSelector;
use crate::select::statistical::rules;
use crate::selection::Value;

/// What controls the error rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// At the end of the scan, over all features tested.
    AtEnd(AtEnd),
    /// Feature by feature, for streams without end.
    OnArrival(OnArrival),
}

impl Procedure {
    /// All of them, the default first.
    pub const ALL: [Self; 10] = [
        Self::AtEnd(AtEnd::By),
        Self::AtEnd(AtEnd::Bh),
        Self::AtEnd(AtEnd::Holm),
        Self::AtEnd(AtEnd::Bonferroni),
        Self::OnArrival(OnArrival::Lond),
        Self::OnArrival(OnArrival::LondDep),
        Self::OnArrival(OnArrival::Lord),
        Self::OnArrival(OnArrival::Saffron),
        Self::OnArrival(OnArrival::Addis),
        Self::OnArrival(OnArrival::ELond),
    ];

    /// The name in settings and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AtEnd(AtEnd::By) => "by",
            Self::AtEnd(AtEnd::Bh) => "bh",
            Self::AtEnd(AtEnd::Holm) => "holm",
            Self::AtEnd(AtEnd::Bonferroni) => "bonferroni",
            Self::OnArrival(OnArrival::Lond) => "lond",
            Self::OnArrival(OnArrival::LondDep) => "lond-dep",
            Self::OnArrival(OnArrival::Lord) => "lord",
            Self::OnArrival(OnArrival::Saffron) => "saffron",
            Self::OnArrival(OnArrival::Addis) => "addis",
            Self::OnArrival(OnArrival::ELond) => "e-lond",
        }
    }

    /// The error rate that it keeps: the false discovery rate, or that of one false feature at all.
    #[must_use]
    pub const fn rate(self) -> &'static str {
        match self {
            Self::AtEnd(AtEnd::Holm | AtEnd::Bonferroni) => "fwer",
            _ => "fdr",
        }
    }

    /// What that rests on.
    #[must_use]
    pub const fn assumes(self) -> &'static str {
        match self {
            Self::AtEnd(AtEnd::By | AtEnd::Holm | AtEnd::Bonferroni)
            | Self::OnArrival(OnArrival::LondDep | OnArrival::ELond) => {
                "valid p-values, any dependence"
            }
            Self::AtEnd(AtEnd::Bh) => "valid p-values, independent or of positive dependence",
            Self::OnArrival(OnArrival::Lond) => "valid p-values that are independent",
            Self::OnArrival(_) => {
                "valid p-values that are independent where the feature is not related"
            }
        }
    }
}

/// Settings of [`Screen`].
#[derive(Clone, Copy, Debug)]
pub struct ScreenParams {
    /// Most features to keep of those selected; `None` is all.
    pub k: Option<usize>,
    /// The test; `None` is by the kinds of target and feature.
    pub test: Option<Test>,
    /// What controls the error rate.
    pub procedure: Procedure,
    /// Its level, between 0 and 1.
    pub level: f64,
    /// Classes that must reject, where each is a question of its own.
    pub classes: usize,
    /// Whether the classes make one question, by Bonferroni.
    pub combine: bool,
}

impl Default for ScreenParams {
    fn default() -> Self {
        let (level, classes) = const { (LEVEL.usual_number(), CLASSES.usual_whole()) };
        let procedure = Procedure::AtEnd(AtEnd::By);
        Self { k: None, test: None, procedure, level, classes, combine: false }
    }
}

const TESTS: [&str; 12] = {
    let mut names = ["auto"; 12];
    let mut at = 0;
    while at < Test::ALL.len() {
        names[at + 1] = Test::ALL[at].name();
        at += 1;
    }
    names
};
const PROCEDURES: [&str; 10] = {
    let mut names = [""; 10];
    let mut at = 0;
    while at < names.len() {
        names[at] = Procedure::ALL[at].name();
        at += 1;
    }
    names
};

const TEST: Setting = Setting::choice(
    "test",
    &TESTS,
    "test of a feature; auto goes by the kinds of target and feature",
);
const PROCEDURE: Setting = Setting::choice(
    "procedure",
    &PROCEDURES,
    "what controls the error rate: by, bh, holm, bonferroni at the end, the others on arrival",
);
const LEVEL: Setting = Setting::number(
    "level",
    Bounds::between(0.0, 1.0),
    0.05,
    "level of the false discovery rate; with holm and bonferroni of any false feature",
);
const CLASSES: Setting = Setting::whole(
    "classes",
    (1, u64::MAX),
    1,
    "of more than two classes, how many must reject, each against the rest",
);
const COMBINE: Setting = Setting::choice(
    "combine",
    &["each", "bonferroni"],
    "more than two classes: each has its own correction, or bonferroni makes one p-value",
);

impl ScreenParams {
    pub(super) fn check(&self) -> Result<()> {
        if self.k == Some(0) {
            return Err(Error::param("k", 0, "at least 1"));
        }
        CLASSES.check(self.classes)?;
        LEVEL.check(self.level)
    }

    /// Corrections that are made apart.
    pub(super) fn questions(&self, rows: &Rows) -> usize {
        let joined = matches!(self.test, Some(Test::Anova | Test::Chi2 | Test::G2));
        if self.combine || joined { 1 } else { rows.questions() }
    }

    /// What results show.
    pub(super) fn shown(&self) -> Vec<(&'static str, Value)> {
        let mut shown: Vec<(&'static str, Value)> = vec![
            ("test", self.test.map_or("auto", Test::name).into()),
            ("procedure", self.procedure.name().into()),
            ("level", self.level.into()),
            ("classes", self.classes.into()),
            ("combine", if self.combine { "bonferroni" } else { "each" }.into()),
        ];
        shown.extend(self.k.map(|k| ("k", k.into())));
        shown
    }

    /// What the user should know of a selection of `rejected` features.
    pub(super) fn warnings(&self, rows: &Rows, rejected: u64, thin: u64) -> Vec<String> {
        let mut out = Vec::new();
        if let Some(k) = self.k.filter(|k| (*k as u64) < rejected) {
            out.push(format!(
                "the level holds for the {rejected} features that were selected, not for the {k} of \
                 the least p-values"
            ));
        }
        let questions = self.questions(rows);
        if questions > 1 && self.classes == 1 {
            out.push(format!(
                "each of {questions} classes has its own correction, so that over all of them the \
                 rate is held at no better than {questions} x {}; `combine=bonferroni` keeps {}",
                self.level, self.level
            ));
        }
        if matches!(self.procedure, Procedure::OnArrival(_)) {
            let name = self.procedure.name();
            out.push(format!(
                "{name} decides on arrival, so another order of the features gives another selection"
            ));
        }
        if thin > 0 {
            out.push(format!(
                "{thin} features have expected counts below 5 in more than a fifth of their cells: \
                 their p-values are rough"
            ));
        }
        out
    }
}

/// Refuses a test that does not fit the target, or has too few rows.
pub(super) fn enough_rows(params: &ScreenParams, rows: &Rows) -> Result<()> {
    let classes = match &rows.y {
        Y::Classes(classes) => Some(classes),
        Y::Numbers(_) => None,
    };
    if let Some(test) = params.test.filter(|test| !test.fits(classes.is_some())) {
        let want = match classes {
            Some(_) => {
                "a test for classes: auto, fisher, mann-whitney, ks, welch, anova, pearson, \
                        fisher-z, chi2 or g2"
            }
            None => "a test for numbers: auto, kendall, ks, pearson, fisher-z, spearman or welch",
        };
        return Err(Error::param("test", test.name(), want));
    }
    let least = match (params.test, classes) {
        (Some(Test::FisherZ), _) => 4,
        (Some(Test::Pearson), _) | (_, None) => 3,
        (Some(Test::Anova), Some(classes)) => classes.totals.len() as u64 + 1,
        _ => 2,
    };
    if rows.n < least {
        return Err(Error::Data(format!("the test needs {least} rows, and there are {}", rows.n)));
    }
    let alone = classes.filter(|classes| classes.totals.iter().any(|total| *total < 2));
    match (params.test, alone) {
        (Some(Test::Welch), Some(_)) => {
            Err(Error::Data("welch needs two rows of each class; choose `test=auto`".into()))
        }
        _ => Ok(()),
    }
}

fn make(spec: &MethodSpec, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
    let test = match spec.value(&TEST)? {
        Some(Given::Word(name)) => Test::ALL.into_iter().find(|test| test.name() == name),
        _ => None,
    };
    let params = ScreenParams {
        k: rules::some_k(spec)?,
        test,
        procedure: spec.choice(&PROCEDURE, &Procedure::ALL, Procedure::name)?,
        level: spec.number(&LEVEL)?,
        classes: spec.whole(&CLASSES)?,
        combine: spec.choice(&COMBINE, &[false, true], |joined| {
            if joined { "bonferroni" } else { "each" }
        })?,
    };
    Ok(Box::new(Screen::new(params, problem, budget)?))
}

/// The registry's entry.
pub const SCREEN: MethodInfo = MethodInfo {
    name: "screen",
    stream: Stream::Features,
    summary: "one test a feature, with a false discovery rate over the whole stream",
    tasks: "both",
    cost: "a sort a feature; a sparse one its non-zeros; none of codes",
    memory: "no column; what is known of features with p at most the level",
    paper: "Christ, Braun, Neuffer, Kempa-Liehr, Neurocomputing 307 (2018)",
    scans: 1,
    needs_k: false,
    has_loss: false,
    settings: &[TEST, PROCEDURE, LEVEL, CLASSES, COMBINE],
    promises: Promises::STATISTICAL,
    make: Maker::Columns(make),
};
