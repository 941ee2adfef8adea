//! The result as CSV: a line a selected feature, best first, then those always kept.

use keepnet::selection::Selected;
use keepnet::{Error, Result};
use keepnet_io::Origin;

use super::Outcome;

fn failed(error: impl std::fmt::Display) -> Error {
    Error::Data(format!("cannot make the result: {error}"))
}

/// The CSV text.
pub fn csv(outcome: &Outcome) -> Result<Vec<u8>> {
    let mut out = ::csv::Writer::from_writer(Vec::new());
    let mut header: Vec<String> =
        ["index", "name", "arrival", "order", "source", "group", "always"]
            .into_iter()
            .map(String::from)
            .collect();
    let weights = match outcome.classes.as_ref().filter(|_| outcome.many()) {
        Some(classes) => classes.iter().map(|class| format!("coefficient:{class}")).collect(),
        None => vec!["coefficient".to_string()],
    };
    let outputs = weights.len();
    let standardised: Vec<String> =
        weights.iter().map(|name| name.replacen("coefficient", "standardised", 1)).collect();
    header.extend(weights);
    header.extend(["score", "p_value", "mean", "missing", "column"].map(String::from));
    if !outcome.variants.is_empty() {
        header.extend(["chromosome", "position", "a1", "a2"].map(String::from));
    }
    header.extend(["log_p", "q_value", "level", "statistic", "test"].map(String::from));
    header.extend(standardised);
    out.write_record(&header).map_err(failed)?;
    let selection = &outcome.selection;
    for (feature, always) in selection
        .selected
        .iter()
        .map(|feature| (feature, false))
        .chain(selection.pinned.iter().map(|feature| (feature, true)))
    {
        let record = record(outcome, feature, always, outputs);
        out.write_record(&record).map_err(failed)?;
    }
    out.into_inner().map_err(failed)
}

fn record(outcome: &Outcome, feature: &Selected, always: bool, outputs: usize) -> Vec<String> {
    let optional = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let mut record = vec![
        feature.id.index.to_string(),
        feature.name.clone(),
        feature.arrival.to_string(),
        feature.order.to_string(),
        outcome.source(feature).to_string(),
        outcome.group(feature).unwrap_or_default(),
        always.to_string(),
    ];
    record.extend((0..outputs).map(|at| optional(feature.coefficient.get(at).copied())));
    record.push(feature.score.to_string());
    record.push(optional(feature.p_value));
    record.push(feature.mean.to_string());
    record.push(feature.missing.map_or(String::new(), |count| count.to_string()));
    let origin = outcome.origins.get(&feature.id);
    record.push(origin.map_or(&*feature.name, Origin::column).to_string());
    if let Some(v) = outcome.variants.get(&feature.id) {
        record.extend([v.chromosome.clone(), v.position.to_string(), v.a1.clone(), v.a2.clone()]);
    } else if !outcome.variants.is_empty() {
        record.extend([const { String::new() }; 4]);
    }
    let tested = feature.tested.as_ref();
    record.push(optional(tested.map(|t| t.log_p)));
    record.push(optional(tested.and_then(|t| t.q_value)));
    record.push(optional(tested.and_then(|t| t.level)));
    record.push(optional(tested.and_then(|t| t.statistic)));
    record.push(tested.map_or(String::new(), |t| t.test.to_string()));
    let standardised = feature.standardised();
    record.extend((0..outputs).map(|at| optional(standardised.get(at).copied())));
    record
}
