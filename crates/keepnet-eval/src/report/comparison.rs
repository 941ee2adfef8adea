//! The report of a comparison.

use super::chart::{Axes, Series, bars, critical_difference, plot};
use super::{Page, Section, Table};
use crate::comparison::Comparison;
use crate::stats::mean_sd;
use keepnet::Result;

fn show(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.4}"))
}

/// The mean of a metric over everything that one method did.
fn overall(all: &Comparison, method: &str, judge: &str, metric: &str) -> Option<f64> {
    let values: Vec<f64> = all
        .datasets
        .iter()
        .filter_map(|d| Some(all.summary(d, method, judge, metric)?.0))
        .collect();
    (!values.is_empty()).then(|| mean_sd(&values).0)
}

/// The page of a comparison.
pub fn page(all: &Comparison, summary: Table, command: &str) -> Result<Page> {
    let mut sections = vec![Section::table(
        "Methods side by side",
        "Means over splits and orders; seconds are without reading, memory is what the method holds.",
        summary,
    )];
    sections.extend(size(all)?);
    sections.push(time(all)?);
    sections.extend(stability(all)?);
    for ranking in all.rankings() {
        let mut table = Table::new(&["method", "average rank"]);
        for (method, rank) in ranking.methods.iter().zip(&ranking.friedman.ranks) {
            table.push(vec![method.clone(), format!("{rank:.3}")]);
        }
        let note = format!(
            "Ranks over {} {}, 1 is best. Friedman: chi-squared {:.3}, p = {:.4}. Bars join methods that \
             Nemenyi's test at 95 % does not tell apart.{}",
            ranking.friedman.n,
            ranking.over,
            ranking.friedman.chi2,
            ranking.friedman.p,
            if ranking.over == "splits" {
                " Splits share rows: a description, no proof."
            } else {
                ""
            }
        );
        let title = format!("Critical difference: {} of {}", ranking.metric, ranking.judge);
        sections.push(Section::chart(&title, &note, critical_difference(&ranking)?, table));
    }
    let facts = vec![
        ("data sets".to_string(), all.datasets.join(", ")),
        ("methods".to_string(), all.methods.join(", ")),
        ("judges".to_string(), all.judges.join(", ")),
    ];
    let title = format!("keepnet compare: {}", all.datasets.join(", "));
    Ok(Page { title, facts, warnings: Vec::new(), sections, command: command.into() })
}

/// Accuracy against size, a chart a judge.
fn size(all: &Comparison) -> Result<Vec<Section>> {
    let loss = all.loss();
    let mut out = Vec::new();
    for judge in &all.judges {
        let mut table = Table::new(&["method", "data set", "kept", loss, "standard deviation"]);
        let mut series = Vec::new();
        for method in &all.methods {
            let (mut points, mut spread) = (Vec::new(), Vec::new());
            for dataset in &all.datasets {
                let kept = all.summary(dataset, method, "", "kept").map(|s| s.0);
                let value = all.summary(dataset, method, judge, loss);
                if let (Some(kept), Some((value, sd))) = (kept, value) {
                    points.push((kept, value));
                    spread.push(sd);
                    let row = [method.clone(), dataset.clone(), format!("{kept:.1}")];
                    let both = [format!("{value:.4}"), format!("{sd:.4}")];
                    table.push(row.into_iter().chain(both).collect());
                }
            }
            series.push(Series::dots(method, points).with_spread(spread));
        }
        if table.rows.is_empty() {
            continue;
        }
        let svg = plot(&Axes::new("features kept", &format!("held-out {loss}")), &series)?;
        let title = format!("Accuracy against size: {judge}");
        out.push(Section::chart(&title, "A dot a data set; lower is better. Bars are a standard deviation over splits and orders, \
                    up and down.", svg, table));
    }
    Ok(out)
}

fn time(all: &Comparison) -> Result<Section> {
    let mut table = Table::new(&["method", "seconds a selection", "MiB held"]);
    let mut values = Vec::new();
    for method in &all.methods {
        let Some(seconds) = overall(all, method, "", "seconds") else { continue };
        let bytes = overall(all, method, "", "held_bytes").map(|b| b / f64::from(1 << 20));
        table.push(vec![method.clone(), format!("{seconds:.4}"), show(bytes)]);
        values.push((method.clone(), seconds));
    }
    let svg = bars("seconds a selection, reading not counted", &values)?;
    Ok(Section::chart("Time and memory", "Means over data sets, splits and orders.", svg, table))
}

fn stability(all: &Comparison) -> Result<Option<Section>> {
    let mut table = Table::new(&["method", "matching", "Kuncheva's index"]);
    let mut values = Vec::new();
    for method in &all.methods {
        let Some(stability) = overall(all, method, "", "stability") else { continue };
        let kuncheva = overall(all, method, "", "kuncheva");
        table.push(vec![method.clone(), format!("{stability:.4}"), show(kuncheva)]);
        values.push((method.clone(), stability));
    }
    if values.is_empty() {
        return Ok(None);
    }
    let svg = bars("similarity of the selections, 1 is always the same", &values)?;
    let note = "Maximum-weight matching of the selected sets by symmetrical uncertainty.";
    Ok(Some(Section::chart("Stability", note, svg, table)))
}
