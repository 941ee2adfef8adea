//! What the methods that look for a Markov blanket share: held columns with the tests given them,
//! the order of links, and settings.

use super::hold::{HOLD, Hold, SLOT};
use super::pool::{Candidate, sound};
use super::rank::{Rank, evidence};
use crate::data::block::FeatureId;
use crate::data::check::ColumnStats;
use crate::data::column::Column;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::measure::newcomer::{Link, Newcomer, Node, PartialZ, Strata};
use crate::measure::{self, ALPHA, BINS, Bins, MeasureKind, Side};
use crate::registry::effect::without_effect;
use crate::registry::setting::Given;
use crate::registry::{MethodSpec, Setting};
use crate::run::budget::Budget;
use crate::run::snapshot::ensure;
use crate::select::statistical::rules;
use crate::select::{ColumnSelector, Memory};
use crate::selection::Value;

/// Measures with conditional tests.
pub(crate) const MEASURE: Setting = Setting::choice(
    "measure",
    &measure::choices::<{ 1 + measure::able(true) }>(true),
    "fisher-z or g2; auto is g2 where every column is an integer, bool or code",
);
pub(crate) const RULES: Setting = Setting::choice(
    "rules",
    &["paper", "bnlearn"],
    "paper, or bnlearn for what that package does: every test is made, the first of equal p-values",
);
pub(crate) const STRONGEST: Setting = Setting::choice(
    "strongest",
    &["p", "statistic"],
    "what makes a link the strongest: the least p-value, or the largest statistic",
);
pub(crate) const FEW_ROWS: Setting = Setting::whole(
    "few-rows",
    (0, 1_000_000),
    5,
    "g2: rows a degree of freedom below which a test is not made; 0 makes every test",
);

/// What makes a link the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The least p-value, then the larger statistic, then the earlier feature.
    P,
    /// The largest statistic, then the earlier feature.
    Statistic,
    /// The least p-value as a number of 8 bytes, then the earlier feature.
    FirstP,
}

impl Order {
    /// The place of a feature with this link; one that could not be tested is last.
    pub(crate) fn rank(self, link: Option<Link>, alpha: f64, id: FeatureId) -> Rank {
        let link = link.unwrap_or(Link::NONE);
        let (ln_p, statistic) = (evidence(-link.ln_p), evidence(link.statistic));
        match self {
            Self::P => Rank::pair(ln_p, statistic, id),
            // What the test finds independent comes after all else.
            Self::Statistic if !link.holds(alpha) => Rank::pair(-1.0, 0.0, id),
            Self::Statistic => Rank::pair(statistic, 0.0, id),
            Self::FirstP if link.ln_p.exp() == 0.0 => Rank::pair(f64::INFINITY, 0.0, id),
            Self::FirstP => Rank::pair(ln_p, 0.0, id),
        }
    }
}

/// What the methods are asked.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) k: Option<usize>,
    pub(crate) alpha: f64,
    pub(crate) order: Order,
    /// Whether a package's rules decide, and not the paper's.
    pub(crate) bnlearn: bool,
    pub(crate) hold: Hold,
    pub(crate) kind: MeasureKind,
    /// Fewest rows a degree of freedom.
    pub(crate) few: f64,
    bins: Option<Bins>,
}

impl Asked {
    pub(crate) fn of(spec: &MethodSpec, few: &Setting) -> Result<Self> {
        let kind = rules::measure_kind(spec, &MEASURE, MeasureKind::G2)?;
        let bnlearn = matches!(spec.value(&RULES)?, Some(Given::Word("bnlearn")));
        let order = match spec.value(&STRONGEST)? {
            _ if bnlearn => Order::FirstP,
            Some(Given::Word("statistic")) => Order::Statistic,
            _ => Order::P,
        };
        let given = |setting: &Setting| spec.settings.contains_key(setting.name);
        if bnlearn && given(&STRONGEST) {
            return Err(without_effect(STRONGEST.name, "`rules=paper` with it"));
        }
        if given(few) && (bnlearn || kind != MeasureKind::G2) {
            return Err(without_effect(few.name, "`measure=g2` and `rules=paper` with it"));
        }
        // A word stands for the usual number, read in another way.
        let rows = spec.optional_whole(few)?.unwrap_or(const { FEW_ROWS.usual_whole() });
        Ok(Self {
            k: rules::some_k(spec)?,
            alpha: spec.number(&ALPHA)?,
            order,
            bnlearn,
            hold: Hold::of(spec)?,
            kind,
            few: if bnlearn { 0.0 } else { rows as f64 },
            bins: Bins::of(spec)?,
        })
    }

    /// What results show, with what is the method's own before `hold`.
    pub(crate) fn shown(&self, own: Vec<(&'static str, Value)>) -> Vec<(&'static str, Value)> {
        let mut shown: Vec<(&'static str, Value)> = vec![
            ("measure", self.kind.name().into()),
            (RULES.name, if self.bnlearn { "bnlearn" } else { "paper" }.into()),
            (ALPHA.name, self.alpha.into()),
        ];
        if !self.bnlearn {
            let order = if self.order == Order::Statistic { "statistic" } else { "p" };
            shown.push((STRONGEST.name, order.into()));
        }
        shown.extend(own);
        shown.extend(self.bins.map(|bins| (BINS.name, bins.into())));
        shown.extend(self.k.map(|k| ("k", k.into())));
        shown.push((HOLD.name, self.hold.shown()));
        shown
    }

    /// The fewest rows a degree of freedom, as results show them.
    pub(crate) fn shown_few(&self, few: &Setting) -> Option<(&'static str, Value)> {
        let shown = self.kind == MeasureKind::G2 && !self.bnlearn;
        shown.then(|| (few.name, (self.few as usize).into()))
    }

    /// The bytes of a method that keeps at most `most` columns beside those that it holds.
    pub(crate) fn memory(
        &self,
        budget: &Budget,
        rows: usize,
        (column, features): (u64, Option<u64>),
        most: Option<usize>,
    ) -> Memory {
        let n = rows as u64;
        let facts = 20 * n.min(256);
        let slot = column.saturating_add(SLOT + facts);
        let held = self.hold.planned(budget, (column, facts), features, 8 * 8 * n);
        match most.map(|most| (most as u64).min(features.unwrap_or(u64::MAX))) {
            Some(most) => {
                let pairs = most.saturating_mul(most).saturating_mul(8);
                let bytes = held.bytes.saturating_add(most.saturating_mul(slot));
                Memory { bytes: bytes.saturating_add(pairs), each: 0 }
            }
            None => Memory { bytes: held.bytes, each: slot },
        }
    }

    /// The method with its tests.
    pub(crate) fn make(
        &self,
        problem: &Problem,
        method: impl WithTests,
    ) -> Result<Box<dyn ColumnSelector>> {
        let advised = |error: Error| match error {
            Error::Data(text) => Error::Data(text.replace("measure=su", "measure=g2")),
            error => error,
        };
        match self.kind {
            MeasureKind::G2 => {
                ALPHA.check(self.alpha)?;
                Ok(method.with(Strata::new(problem, self.bins, self.few)?))
            }
            _ => Ok(method.with(PartialZ::new(problem, self.alpha).map_err(advised)?)),
        }
    }
}

/// Refuses what tests of independence cannot take into account.
pub(crate) fn no_offset(problem: &Problem, method: &str) -> Result<()> {
    // Covariates are conditions of every test.
    let bare = Problem { covariates: Vec::new(), ..problem.clone() };
    rules::no_model(&bare, method)
}

/// What is said where tests were not made for want of rows.
pub(crate) fn few_rows_warning(tests: u64, few: f64, independent: bool) -> Option<String> {
    let read = if independent { "counted as independence" } else { "proved nothing" };
    (tests > 0).then(|| match few > 0.0 {
        true => format!(
            "{tests} tests had fewer than {few} rows a degree of freedom and {read}; lower \
             few-rows or the number of levels"
        ),
        false => format!("{tests} tests had too few rows and {read}"),
    })
}

/// Makes a method of whatever tests were asked for.
pub(crate) trait WithTests {
    fn with<T: Newcomer + 'static>(self, tests: T) -> Box<dyn ColumnSelector>;
}

/// The columns that tests are given, with the tests.
pub(crate) struct Held<T: Newcomer> {
    pub(crate) tests: T,
    list: Vec<Candidate<T::Facts>>,
    bytes: u64,
}

impl<T: Newcomer> Held<T> {
    pub(crate) fn new(tests: T) -> Self {
        Self { tests, list: Vec::new(), bytes: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Bytes of the columns, and of what is known of each pair.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes + 4 * (self.list.len() * self.list.len()) as u64
    }

    pub(crate) fn list(&self) -> &[Candidate<T::Facts>] {
        &self.list
    }

    /// The place of a feature.
    pub(crate) fn place(&self, id: FeatureId) -> Option<usize> {
        self.list.iter().position(|held| held.id() == id)
    }

    /// Adds a column, with its marginal p-value. The condition is then to be prepared again.
    pub(crate) fn push(&mut self, mut candidate: Candidate<T::Facts>) {
        self.tests.condition(&[], Node::Target, &[], true);
        let met = self.tests.meet(&[], candidate.side(), |_| false);
        let marginal = self.tests.test(candidate.side(), &met);
        candidate.p_value = marginal.map(|link| link.ln_p.exp());
        if candidate.kept.pinned {
            // No step selected it.
            candidate.strength = marginal.unwrap_or(Link::NONE).statistic;
        }
        self.bytes += candidate.bytes();
        self.list.push(candidate);
        let sides: Vec<_> = self.list.iter().map(Candidate::side).collect();
        self.tests.hold(&sides);
    }

    /// Takes a column out. The condition is then to be prepared again.
    pub(crate) fn remove(&mut self, at: usize) -> Candidate<T::Facts> {
        self.tests.let_go(at);
        let gone = self.list.remove(at);
        self.bytes -= gone.bytes();
        gone
    }

    /// Puts pinned columns first, in the order of the table.
    pub(crate) fn sort_pins(&mut self) {
        let mut all = Vec::new();
        while !self.list.is_empty() {
            all.push(self.remove(self.list.len() - 1));
        }
        all.reverse();
        all.sort_by_key(|held| (!held.kept.pinned, held.kept.pinned.then(|| held.id())));
        all.into_iter().for_each(|held| self.push(held));
    }

    /// Prepares the tests with `target` given a set.
    pub(crate) fn condition(&mut self, target: Node, set: &[Node]) {
        let sides: Vec<_> = self.list.iter().map(Candidate::side).collect();
        self.tests.condition(&sides, target, set, false);
    }

    /// What the tests of a newcomer share.
    pub(crate) fn meet(&mut self, x: Side<'_, T::Facts>, wanted: impl Fn(usize) -> bool) -> T::Met {
        let sides: Vec<_> = self.list.iter().map(Candidate::side).collect();
        self.tests.meet(&sides, x, wanted)
    }

    /// The link of a node under the condition.
    pub(crate) fn test_node(&mut self, node: Node) -> Option<Link> {
        let sides: Vec<_> = self.list.iter().map(Candidate::side).collect();
        self.tests.test_node(&sides, node)
    }

    /// Takes up columns that were read back, and refuses what is none.
    pub(crate) fn restore(&mut self, list: Vec<Candidate<T::Facts>>, rows: usize) -> Result<()> {
        while !self.list.is_empty() {
            self.remove(self.list.len() - 1);
        }
        for candidate in list {
            let tests = &mut self.tests;
            let mut facts = |x: Column<'_>, stats: &ColumnStats| tests.facts(x, stats);
            sound(&candidate, rows, &mut facts)?;
            ensure(self.place(candidate.id()).is_none(), "a column is held twice")?;
            self.push(candidate);
        }
        Ok(())
    }
}
