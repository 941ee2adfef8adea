//! A figure as a picture: lines where it has an axis, else our numbers beside the published.

use keepnet::Result;
use keepnet_eval::report::chart::{Axes, Series, plot};
use keepnet_eval::report::picture::{Estimate, estimates, standalone};

use super::bench::{Published, Row};

/// Numbers that a table has and a picture does not.
const LEFT_OUT: [&str; 6] =
    ["won", "tied", "lost", "p-value", "critical difference", "average rank"];

/// Charts of all rows, a chart for each part and metric.
pub fn draw(title: &str, rows: &[Row]) -> Result<String> {
    let mut parts: Vec<(&str, &str)> = Vec::new();
    for row in rows.iter().filter(|row| row.ours.is_some() && !LEFT_OUT.contains(&row.metric)) {
        let part = (row.panel.as_str(), row.metric);
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let mut charts = Vec::new();
    for (panel, metric) in parts {
        let of = |row: &&Row| row.panel == panel && row.metric == metric && row.ours.is_some();
        let rows: Vec<&Row> = rows.iter().filter(of).collect();
        let mut name = match panel {
            "" => format!("{title}: {metric}"),
            _ => format!("{title}, {panel}: {metric}"),
        };
        if let Some(Published::Axis(low, high)) = rows.first().map(|row| row.published) {
            name += &format!(" (published axis {low} to {high})");
        }
        charts.push((name, chart(metric, &rows)?));
    }
    Ok(standalone(&charts))
}

/// The name and number of `workers = 5`.
fn place(at: &str) -> Option<(&str, f64)> {
    let (name, value) = at.split_once(" = ")?;
    Some((name, value.parse().ok()?))
}

/// Whether numbers span more than two powers of ten.
fn wide(values: impl Iterator<Item = f64> + Clone) -> bool {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    least > 0.0 && values.fold(0.0, f64::max) > 100.0 * least
}

fn chart(metric: &str, rows: &[&Row]) -> Result<String> {
    let mean = |row: &&Row| row.ours.map_or(f64::NAN, |ours| ours.mean);
    let log = wide(rows.iter().map(mean));
    let mut places: Vec<f64> = rows.iter().filter_map(|row| Some(place(&row.at)?.1)).collect();
    let on_axis = places.len() == rows.len();
    places.dedup();
    if on_axis && places.len() > 2 {
        let axis = rows.first().and_then(|row| place(&row.at)).map_or("", |(name, _)| name);
        return lines((axis, metric), rows, log);
    }
    let one = |row: &&Row| Estimate {
        label: format!("{}, {}", row.at, short(&row.method)),
        theirs: row.published.value(),
        ours: (mean(row), row.error().unwrap_or(0.0)),
    };
    let published = rows.iter().filter_map(|row| row.published.value());
    let log = log || wide(rows.iter().map(mean).chain(published));
    estimates(metric, &rows.iter().map(one).collect::<Vec<_>>(), log)
}

/// A method without its settings.
fn short(method: &str) -> &str {
    method.split(" [").next().unwrap_or(method)
}

fn lines((axis, metric): (&str, &str), rows: &[&Row], log: bool) -> Result<String> {
    let mut series: Vec<Series> = Vec::new();
    for row in rows {
        let (Some((_, x)), Some(ours)) = (place(&row.at), row.ours) else { continue };
        let y = if log { ours.mean.log10() } else { ours.mean };
        let name = short(&row.method);
        match series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push((x, y)),
            None => series.push(Series::line(name, vec![(x, y)])),
        }
    }
    let unit = if log { format!("{metric}, log10") } else { metric.into() };
    plot(&Axes::new(axis, &unit), &series)
}

#[cfg(test)]
mod tests {
    use super::*;
    use keepnet_papers::Mean;

    #[test]
    fn an_axis_gives_lines_and_data_sets_give_marks() {
        let row = |at: &str, metric, mean| Row {
            panel: "left".into(),
            at: at.into(),
            method: "OS [eta=1]".into(),
            metric,
            published: Published::Number(0.5),
            ours: Some(Mean { mean, sd: 0.1, count: 4 }),
            why: String::new(),
        };
        let axis =
            [row("p = 1", "recall", 0.1), row("p = 2", "recall", 0.2), row("p = 3", "recall", 0.3)];
        let svg = draw("one", &axis).unwrap();
        assert!(svg.contains("<polyline") && svg.contains("one, left: recall"), "{svg}");
        let sets = [row("colon", "accuracy", 0.6), row("colon", "won", 3.0)];
        let svg = draw("two", &sets).unwrap();
        assert!(svg.contains("colon, OS") && svg.contains("published") && !svg.contains("won"));
    }
}
