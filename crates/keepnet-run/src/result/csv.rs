//! The result as CSV: a line a selected feature, best first, then those always kept; of several
//! targets one after the other, with the target in the first column.

use keepnet::selection::Selected;
use keepnet::{Error, Result};
use keepnet_io::Origin;

use super::Outcome;

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Data(format!("cannot make the result: {error}"))
}

/// The columns that not every result has.
struct Columns {
    several: bool,
    // Those of the coefficients, of all targets.
    weights: Vec<String>,
    variants: bool,
}

impl Columns {
    fn of(outcomes: &[Outcome]) -> Self {
        let mut weights: Vec<String> = Vec::new();
        for name in outcomes.iter().flat_map(coefficients) {
            if !weights.contains(&name) {
                weights.push(name);
            }
        }
        let variants = outcomes.iter().any(|outcome| !outcome.variants.is_empty());
        Self { several: outcomes.len() > 1, weights, variants }
    }

    fn header(&self) -> Vec<String> {
        let mut header: Vec<String> = Vec::new();
        let mut add = |names: &[&str]| header.extend(names.iter().map(|name| (*name).to_string()));
        if self.several {
            add(&["target"]);
        }
        add(&["index", "name", "arrival", "order", "source", "group", "always"]);
        add(&self.weights.iter().map(String::as_str).collect::<Vec<_>>());
        add(&["score", "p_value", "mean", "missing", "column"]);
        if self.variants {
            add(&["chromosome", "position", "a1", "a2"]);
        }
        add(&["log_p", "q_value", "level", "statistic", "test"]);
        let standardised = |name: &String| name.replacen("coefficient", "standardised", 1);
        header.extend(self.weights.iter().map(standardised));
        header
    }
}

/// The names of the coefficients' columns.
fn coefficients(outcome: &Outcome) -> Vec<String> {
    match outcome.classes.as_ref().filter(|_| outcome.many()) {
        Some(classes) => classes.iter().map(|class| format!("coefficient:{class}")).collect(),
        None => vec!["coefficient".to_string()],
    }
}

/// The CSV text.
pub fn csv(outcomes: &[Outcome]) -> Result<Vec<u8>> {
    let mut out = ::csv::Writer::from_writer(Vec::new());
    let columns = Columns::of(outcomes);
    out.write_record(columns.header()).map_err(failed)?;
    for outcome in outcomes {
        let own = coefficients(outcome);
        let place = |name: &String| own.iter().position(|other| other == name);
        let places: Vec<Option<usize>> = columns.weights.iter().map(place).collect();
        let selection = &outcome.selection;
        let selected = selection.selected.iter().map(|feature| (feature, false));
        for (feature, always) in selected.chain(selection.pinned.iter().map(|f| (f, true))) {
            let record = record(outcome, feature, always, (&columns, &places));
            out.write_record(&record).map_err(failed)?;
        }
    }
    out.into_inner().map_err(failed)
}

fn record(
    outcome: &Outcome,
    feature: &Selected,
    always: bool,
    (columns, places): (&Columns, &[Option<usize>]),
) -> Vec<String> {
    let optional = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let mut record = Vec::new();
    if columns.several {
        record.push(outcome.target_name().to_string());
    }
    record.extend([
        feature.id.index.to_string(),
        feature.name.clone(),
        feature.arrival.to_string(),
        feature.order.to_string(),
        outcome.source(feature).to_string(),
        outcome.group(feature).unwrap_or_default(),
        always.to_string(),
    ]);
    let coefficient = |at: &Option<usize>| feature.coefficient.get((*at)?).copied();
    record.extend(places.iter().map(|at| optional(coefficient(at))));
    record.push(feature.score.to_string());
    record.push(optional(feature.p_value));
    record.push(feature.mean.to_string());
    record.push(feature.missing.map_or(String::new(), |count| count.to_string()));
    let origin = outcome.origins.get(&feature.id);
    record.push(origin.map_or(&*feature.name, Origin::column).to_string());
    if let Some(v) = outcome.variants.get(&feature.id) {
        record.extend([v.chromosome.clone(), v.position.to_string(), v.a1.clone(), v.a2.clone()]);
    } else if columns.variants {
        record.extend([const { String::new() }; 4]);
    }
    let tested = feature.tested.as_ref();
    record.push(optional(tested.map(|t| t.log_p)));
    record.push(optional(tested.and_then(|t| t.q_value)));
    record.push(optional(tested.and_then(|t| t.level)));
    record.push(optional(tested.and_then(|t| t.statistic)));
    record.push(tested.map_or(String::new(), |t| t.test.to_string()));
    let standardised = feature.standardised();
    let standardised = |at: &Option<usize>| standardised.get((*at)?).copied();
    record.extend(places.iter().map(|at| optional(standardised(at))));
    record
}
