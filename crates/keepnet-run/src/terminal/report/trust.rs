//! The part of a report that says how far the selection can be trusted.

use keepnet::Result;
use keepnet_eval::report::chart::{Axes, Series, bars, plot};
use keepnet_eval::report::{Section, Table};

use crate::lanes::{Holdout, PathPoint};
use crate::result::Outcome;
use crate::result::table::{path_cells, short, tests};

/// A section for each thing that was asked for.
pub(super) fn sections(outcome: &Outcome) -> Result<Vec<Section>> {
    let found = &outcome.found;
    let mut out = Vec::new();
    if let Some(points) = &found.path {
        out.push(path(points, found.holdout.as_ref())?);
    }
    if found.stability.is_some() {
        out.push(frequencies(outcome)?);
    }
    if found.inference.as_ref().is_some_and(|one| one.kind == "split") {
        out.push(intervals(outcome)?);
    }
    Ok(out)
}

/// How often halves of the rows selected each feature.
fn frequencies(outcome: &Outcome) -> Result<Section> {
    let found = &outcome.found;
    let mut table = Table::new(&["feature", "frequency"]);
    let mut values = Vec::new();
    for feature in &outcome.selection.selected {
        let frequency = found.features.get(&feature.id).and_then(|one| one.frequency);
        table.push(vec![feature.name.clone(), frequency.map_or("-".into(), short)]);
        values.push((feature.name.clone(), frequency.unwrap_or(0.0)));
    }
    values.truncate(super::SHOWN);
    let svg = bars("share of the halves", &values)?;
    let note = found.stability.as_ref().map_or(String::new(), |one| {
        let bounds = one.expected_false;
        let [mb, unimodal, concave] = [bounds.mb, bounds.unimodal, bounds.r_concave]
            .map(|bound| bound.map_or("none".into(), short));
        format!(
            "Selected by a share of at least {} of {} halves, {} features a half. Expected false \
             features, estimated: at most {mb} for any shape of the frequencies, {unimodal} if \
             unimodal, {concave} if r-concave.",
            one.share,
            2 * one.pairs,
            short(one.mean_size)
        )
    });
    Ok(Section::chart("Selection frequencies", &note, svg, table))
}

/// Estimates with intervals from rows that did not choose.
fn intervals(outcome: &Outcome) -> Result<Section> {
    let found = &outcome.found;
    let mut table = Table::new(&["feature", "estimate", "interval", "p", "adjusted p"]);
    let mut values = Vec::new();
    for feature in &outcome.selection.selected {
        let Some(evidence) = found.features.get(&feature.id) else { continue };
        let cells = tests(evidence);
        table.push([feature.name.clone()].into_iter().chain(cells).collect());
        values.extend(evidence.estimate.first().map(|one| (feature.name.clone(), *one)));
    }
    values.truncate(super::SHOWN);
    let svg = bars("estimate", &values)?;
    let note = found.inference.as_ref().map_or(String::new(), |one| {
        format!(
            "Fitted on {} rows that had no part in the selection. Intervals are at {} each, not \
             adjusted for their number; the p-values are, by {}.",
            one.rows_inference,
            1.0 - one.level,
            one.correction.unwrap_or("none")
        )
    });
    Ok(Section::chart("Estimates and intervals", &note, svg, table))
}

/// The loss over the sizes.
fn path(points: &[PathPoint], holdout: Option<&Holdout>) -> Result<Section> {
    let mut rows = path_cells(points).into_iter();
    let heading = rows.next().unwrap_or_default();
    let mut table = Table::new(&heading.iter().map(String::as_str).collect::<Vec<_>>());
    rows.for_each(|row| table.push(row));
    let line = |number: &dyn Fn(&PathPoint) -> Option<f64>| -> Vec<(f64, f64)> {
        points.iter().filter_map(|point| Some((point.k as f64, number(point)?))).collect()
    };
    let (cv, own) = (line(&|point| point.cv_mean), line(&|point| point.in_sample));
    let ebic = line(&|point| point.ebic);
    let (y, series) = match cv.is_empty() {
        true => ("ebic", vec![Series::line("ebic", ebic)]),
        false => {
            let series = [("cross-validated", cv), ("in-sample", own)];
            ("loss", series.map(|(name, points)| Series::line(name, points)).into())
        }
    };
    let svg = plot(&Axes::new("k", y), &series)?;
    let k = points.iter().find(|point| point.chosen).map_or(0, |point| point.k);
    let aside = holdout.map_or(String::new(), |Holdout { rows, loss, .. }| {
        format!(" The loss on {rows} rows that were set aside is {}.", short(*loss))
    });
    let note = format!(
        "k = {k} was chosen. The least cross-validated loss was chosen too, so it is not the loss \
         to expect.{aside}"
    );
    Ok(Section::chart("The choice of k", &note, svg, table))
}
