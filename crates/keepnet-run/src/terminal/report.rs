//! `--report` of a selection: what was chosen and why, and how the run went.

mod trust;
mod variants;

use keepnet::run::TracePoint;
use keepnet::{Bytes, Result, Task};
use keepnet_eval::report::chart::{Axes, Series, bars, plot};
use keepnet_eval::report::{Page, Section, Table};

use crate::result::{Outcome, table::short};

/// Most features in the chart of scores.
const SHOWN: usize = 30;

/// The page as HTML.
pub fn html(outcomes: &[Outcome]) -> Result<Vec<u8>> {
    let first = match outcomes {
        [one] => return single(one),
        [first, ..] => first,
        [] => return Err(keepnet::Error::Defect("a report without a result".into())),
    };
    let mut out = vec![targets(outcomes)];
    for outcome in outcomes {
        let mut of = sections(outcome)?;
        let name = outcome.target_name();
        of.iter_mut().for_each(|section| section.title = format!("{name}: {}", section.title));
        out.extend(of);
    }
    out.push(cost(first, "features")?);
    let title = format!("keepnet: {} targets by {}", outcomes.len(), first.selection.method);
    let warnings = super::warnings(outcomes);
    let own = ["task", "rows", "in-sample loss", "progressive loss", "loss"];
    let mut facts = facts(first);
    facts.retain(|(name, _)| !own.contains(&name.as_str()));
    let command = first.run.command.clone();
    Page { title, facts, warnings, sections: out, command }.html().map(String::into_bytes)
}

/// A line a target.
fn targets(outcomes: &[Outcome]) -> Section {
    let mut table = Table::new(&["target", "task", "rows", "kept", "loss", "substitutions"]);
    for outcome in outcomes {
        let selection = &outcome.selection;
        let (rows, task) = (&outcome.rows, task(outcome));
        table.push(vec![
            outcome.target_name().into(),
            task,
            format!("{} of {}", rows.used, rows.input),
            selection.selected.len().to_string(),
            selection.loss.map_or("-".into(), short),
            selection.substitutions.to_string(),
        ]);
    }
    let different = crate::result::distinct_kept(outcomes);
    let note = format!("From one read of the features; {different} different ones are kept.");
    Section::table("Targets", &note, table)
}

/// The page of one target.
fn single(outcome: &Outcome) -> Result<Vec<u8>> {
    let selection = &outcome.selection;
    let mut sections = sections(outcome)?;
    sections.push(cost(outcome, stream(outcome))?);
    let title = format!("keepnet: {} features by {}", selection.selected.len(), selection.method);
    let command = outcome.run.command.clone();
    let warnings = outcome.warnings.clone();
    let page = Page { title, facts: facts(outcome), warnings, sections, command };
    page.html().map(String::into_bytes)
}

fn stream(outcome: &Outcome) -> &'static str {
    if outcome.of_rows() { "rows" } else { "features" }
}

/// What was chosen, how far to trust it, and how the run went.
fn sections(outcome: &Outcome) -> Result<Vec<Section>> {
    let trace = outcome.trace.as_deref().unwrap_or_default();
    let stream = stream(outcome);
    let mut sections = vec![selected(outcome)?];
    sections.extend(variants::positions(outcome)?);
    let arrived = format!("{stream} that had arrived");
    let begins = |scan: u32| f64::from(scan) * outcome.features_seen as f64;
    let scans: Vec<(f64, String)> = match outcome.of_rows() {
        true => Vec::new(),
        false => {
            (1..outcome.scans).map(|scan| (begins(scan), format!("scan {}", scan + 1))).collect()
        }
    };
    let along = |title: &str, note: &str, y: &str, value: &dyn Fn(&TracePoint) -> Option<f64>| {
        let points: Vec<(f64, f64)> =
            trace.iter().filter_map(|p| Some((p.arrived as f64, value(p)?))).collect();
        // A line that stays where it is says nothing.
        if points.iter().all(|point| point.1 == points[0].1) {
            return Ok(None);
        }
        let mut table = Table::new(&[&arrived, y]);
        points.iter().for_each(|(x, y)| table.push(vec![x.to_string(), short(*y)]));
        let axes = Axes::new(&arrived, y).marked(scans.clone());
        let svg = plot(&axes, &[Series::line(y, points)])?;
        Ok::<_, keepnet::Error>(Some(Section::chart(title, note, svg, table)))
    };
    sections.extend(trust::sections(outcome)?);
    let note = "In-sample loss of the model, while the stream went past.";
    sections.extend(along("Loss along the stream", note, "loss", &|p| p.loss)?);
    let note = "Features in the model.";
    sections.extend(along("Kept set along the stream", note, "kept", &|p| Some(p.kept as f64))?);
    let note = "Features that replaced another, added up.";
    let swaps = |p: &TracePoint| Some(p.substitutions as f64);
    sections.extend(along("Substitutions over time", note, "substitutions", &swaps)?);
    if stream == "features" {
        sections.push(fates(outcome)?);
    }
    Ok(sections)
}

fn task(outcome: &Outcome) -> String {
    match outcome.task {
        Task::Regression => "regression".to_string(),
        Task::Classification => {
            format!("classification: {}", outcome.classes.as_deref().unwrap_or_default().join(", "))
        }
    }
}

fn facts(outcome: &Outcome) -> Vec<(String, String)> {
    let selection = &outcome.selection;
    let task = task(outcome);
    let params: Vec<String> = selection
        .params
        .iter()
        .map(|(name, value)| {
            let text = serde_json::to_string(value).unwrap_or_default();
            format!("{name}={}", text.trim_matches('"'))
        })
        .collect();
    let complete = if outcome.complete { "" } else { ", ended early" };
    let rows = &outcome.rows;
    [
        ("files", outcome.sources.join(", ")),
        ("method", format!("{} ({})", selection.method, params.join(" "))),
        ("task", task),
        ("rows", format!("{} of {}, matched by {}", rows.used, rows.input, rows.matched_by)),
        (
            "features seen",
            format!("{} in {} scans{complete}", outcome.features_seen, outcome.scans),
        ),
        (
            outcome.loss_kind().map_or("loss", |kind| match kind {
                "in-sample" => "in-sample loss",
                _ => "progressive loss",
            }),
            selection.loss.map_or("none".into(), short),
        ),
        ("seed", outcome.seed.to_string()),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .into()
}

fn selected(outcome: &Outcome) -> Result<Section> {
    let selection = &outcome.selection;
    let mut table = Table::new(&[
        "feature",
        "index",
        "coefficient",
        "standardised",
        "score",
        "p-value",
        "arrival",
        "place kept",
        "chosen by",
    ]);
    let all = selection.selected.iter().map(|f| (f, false));
    for (feature, always) in all.chain(selection.pinned.iter().map(|f| (f, true))) {
        let list = |values: &[f64]| match values {
            [] => "-".to_string(),
            values => values.iter().map(|value| short(*value)).collect::<Vec<_>>().join(" "),
        };
        let by = if always { "--always" } else { selection.method };
        table.push(vec![
            feature.name.clone(),
            feature.id.index.to_string(),
            list(&feature.coefficient),
            list(&feature.standardised()),
            short(feature.score),
            feature.p_value.map_or("-".into(), short),
            feature.arrival.to_string(),
            feature.order.to_string(),
            by.into(),
        ]);
    }
    let top: Vec<(String, f64)> =
        selection.selected.iter().take(SHOWN).map(|f| (f.name.clone(), f.score)).collect();
    let svg = bars(&format!("score: {}", selection.score_kind), &top)?;
    let note = match selection.selected.len() > SHOWN {
        true => format!("The best {SHOWN} of {}; the table has all.", selection.selected.len()),
        false => "Best first.".into(),
    };
    let mut section = Section::chart("Selected features", &note, svg, table);
    section.open = true;
    Ok(section)
}

fn fates(outcome: &Outcome) -> Result<Section> {
    let dropped = outcome.dropped;
    let rows = [
        ("weak", dropped.weak, "too little to do with the target"),
        ("redundant", dropped.redundant, "said better by another feature"),
        ("constant", dropped.constant, "one value only, or too rare"),
        ("missing", dropped.missing, "missing values"),
        ("evicted", dropped.evicted, "kept for a while, then driven out"),
    ];
    let mut table = Table::new(&["fate", "features", "meaning"]);
    for (name, count, meaning) in rows {
        let Some(count) = count else { continue };
        table.push(vec![name.into(), count.to_string(), meaning.into()]);
    }
    let values: Vec<(String, f64)> = rows
        .iter()
        .filter_map(|(name, count, _)| Some(((*name).to_string(), (*count)? as f64)))
        .collect();
    let svg = bars("features, by their fate in the last scan", &values)?;
    Ok(Section::chart("What became of the rest", "Why features were let go.", svg, table))
}

fn cost(outcome: &Outcome, stream: &str) -> Result<Section> {
    let run = &outcome.run;
    let seconds = run.seconds;
    let other = (seconds.total - seconds.read - seconds.select).max(0.0);
    let bars_ = [("reading", seconds.read), ("selecting", seconds.select), ("the rest", other)];
    let values: Vec<(String, f64)> =
        bars_.iter().map(|(name, value)| ((*name).to_string(), *value)).collect();
    let seen = match stream {
        "rows" => outcome.rows.input as f64,
        _ => outcome.features_seen as f64 * f64::from(outcome.scans.max(1)),
    };
    let mut table = Table::new(&["what", "value"]);
    for (name, value) in &values {
        table.push(vec![format!("{name}, seconds"), format!("{value:.3}")]);
    }
    let speed = seen / (seconds.read + seconds.select).max(1e-9);
    table.push(vec![format!("{stream} a second"), format!("{speed:.0}")]);
    let peak = run.peak_bytes.map_or("not known".into(), |bytes| Bytes(bytes).to_string());
    table.push(vec!["most memory".into(), peak]);
    table.push(vec!["threads".into(), run.threads.to_string()]);
    let svg = bars("seconds", &values)?;
    Ok(Section::chart("Memory and speed", "Of this run, on this machine.", svg, table))
}
