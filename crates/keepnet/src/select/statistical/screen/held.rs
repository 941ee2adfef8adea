//! What is known of a feature whose p-value may still count, and the selection out of these.

use serde::{Deserialize, Serialize};

use super::Screen;
use super::correction::AtEnd;
use super::settings::Procedure;
use super::test::{Found, Test};
use crate::data::block::FeatureId;
use crate::data::check::Feature;
use crate::select::{Late, Outcome, Reason, Verdict};
use crate::selection::{ErrorControl, Selected, Selection, Tested};

/// A tested feature, without its values.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Held {
    pub(super) id: FeatureId,
    level: Option<f64>,
    name: String,
    source: u32,
    arrival: u64,
    group: Option<u32>,
    mean: f64,
    missing: u32,
    test: Test,
    statistic: Option<f64>,
    log_p: Vec<f64>,
}

/// Bytes of a name of usual length.
const NAME: u64 = 32;

impl Held {
    pub(super) fn new(feature: &Feature<'_>, found: Found) -> Self {
        let Found { test, statistic, log_p, .. } = found;
        Self {
            id: feature.id,
            level: None,
            name: feature.name.text().into_owned(),
            source: feature.source,
            arrival: feature.arrival,
            group: feature.group,
            mean: feature.stats.original_mean(),
            missing: feature.stats.missing,
            test,
            statistic,
            log_p: log_p.to_vec(),
        }
    }

    /// The same with the level that it was rejected at.
    pub(super) fn at_level(self, level: Option<f64>) -> Self {
        Self { level, ..self }
    }

    pub(super) fn bytes(&self) -> u64 {
        let more = 8 * self.log_p.len();
        (size_of::<Self>() + self.name.len() + more) as u64
    }

    /// What one takes at most, its place in lists that grow by doubling included.
    pub(super) fn most_bytes(questions: usize) -> u64 {
        let more = 8 * questions as u64;
        3 * size_of::<Self>() as u64 + NAME + more + size_of::<Selected>() as u64 + NAME
    }

    /// Whether one that was read back can be one.
    pub(super) fn sound(&self, questions: usize) -> bool {
        let p = |p: &f64| *p <= 0.0 && *p > f64::NEG_INFINITY;
        let finite = self.mean.is_finite()
            && self.level.is_none_or(f64::is_finite)
            && self.statistic.is_none_or(f64::is_finite);
        finite && (1..=questions).contains(&self.log_p.len()) && self.log_p.iter().all(p)
    }

    fn least(&self) -> f64 {
        self.log_p.iter().copied().fold(0.0, f64::min)
    }

    /// What became of it at the end of the scan.
    pub(super) fn fate(&self, kept: bool) -> Late {
        let verdict = if kept { Verdict::Kept } else { Verdict::Dropped(Reason::Weak) };
        let (marginal, score) = (Some(self.least()), Some(self.least().exp()));
        let outcome = Outcome { marginal, score, ..Outcome::new(verdict) };
        Late { id: self.id, name: self.name.as_str().into(), outcome }
    }

    fn selected(&self, order: usize, q_value: Option<f64>) -> Selected {
        let log_p = self.least();
        Selected {
            id: self.id,
            name: self.name.clone(),
            source: self.source,
            arrival: self.arrival,
            order,
            group: self.group,
            coefficient: Vec::new(),
            score: -log_p / std::f64::consts::LN_10 + 0.0,
            p_value: Some(log_p.exp()),
            tested: Some(Tested {
                test: self.test.name(),
                statistic: self.statistic,
                log_p,
                q_value,
                level: self.level,
            }),
            mean: self.mean,
            deviation: None,
            missing: Some(self.missing),
        }
    }
}

/// For each held feature the adjusted value that decides: that of the class with the `classes`-th
/// least.
fn adjusted(screen: &Screen, procedure: AtEnd) -> Vec<f64> {
    let questions = screen.params.questions(&screen.rows);
    let held = &screen.held;
    let mut all = vec![Vec::with_capacity(questions); held.len()];
    let open = screen.params.level.ln();
    for question in 0..questions {
        let of = |held: &Held| held.log_p.get(question).or(held.log_p.last()).copied();
        let mut some: Vec<(f64, usize)> = held
            .iter()
            .enumerate()
            .filter_map(|(at, held)| Some((of(held).filter(|p| *p <= open)?, at)))
            .collect();
        some.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let log_p: Vec<f64> = some.iter().map(|(p, _)| *p).collect();
        let values = procedure.adjusted(&log_p, screen.tested);
        some.iter().zip(values).for_each(|((_, at), value)| all[*at].push(value));
    }
    let decisive = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(screen.params.classes - 1).copied().unwrap_or(1.0)
    };
    all.into_iter().map(decisive).collect()
}

/// What is selected as things stand.
pub(super) fn selection(screen: &Screen) -> Selection {
    let Screen { params, held, .. } = screen;
    let listed = |(order, (held, q)): (usize, (&Held, Option<f64>))| held.selected(order, q);
    let (selected, count): (Vec<Selected>, _) = match params.procedure {
        Procedure::AtEnd(procedure) => {
            let values = adjusted(screen, procedure);
            let some = held.iter().zip(values).filter(|(_, q)| *q <= params.level);
            let some = some.map(|(held, q)| (held, Some(q))).enumerate();
            (some.map(listed).collect(), Some(held.len() as u64))
        }
        Procedure::OnArrival(_) => {
            (held.iter().map(|held| (held, None)).enumerate().map(listed).collect(), None)
        }
    };
    let rejected = selected.len() as u64;
    let mut selection = Selection {
        method: "screen",
        params: params.shown(),
        pinned: screen.pinned.iter().map(|held| (held, None)).enumerate().map(listed).collect(),
        selected,
        score_kind: "-log10 p",
        p_value_kind: Some("marginal"),
        error_control: Some(control(screen, count, rejected)),
        warnings: params.warnings(&screen.rows, rejected, screen.thin),
        ..Selection::default()
    };
    selection.sort();
    selection.selected.truncate(params.k.unwrap_or(usize::MAX));
    selection
}

fn control(screen: &Screen, held: Option<u64>, rejected: u64) -> ErrorControl {
    let params = &screen.params;
    let (name, rate) = (params.procedure.name(), params.procedure.rate());
    let mut assumes = params.procedure.assumes().to_string();
    let questions = params.questions(&screen.rows);
    if questions > 1 {
        assumes += &format!("; for each of {questions} classes apart");
    }
    let (level, tested) = (params.level, screen.tested);
    let waited = held.map_or(String::new(), |held| format!(", {held} held to the end"));
    let line = format!(
        "{name}: {} at most {level}: {rejected} of {tested} features tested are selected{waited}; \
         assumes {assumes}",
        rate.to_uppercase()
    );
    ErrorControl { procedure: name, rate, level, tested, held, rejected, assumes, line }
}
