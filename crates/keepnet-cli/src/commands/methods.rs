//! `keepnet methods`: the table of the registry, one method, or JSON.

use std::fmt::Write;

use keepnet::registry::{self, MethodInfo, Relation};
use keepnet::{Error, Result};
use keepnet_run::result::table;
use keepnet_run::terminal::say::print;
use keepnet_run::wording::with_flags;

use crate::flags::MethodsArgs;

/// Prints the methods.
pub fn run(args: &MethodsArgs) -> Result<()> {
    let methods = match &args.name {
        Some(name) => vec![registry::find(name)?],
        None => registry::methods().to_vec(),
    };
    if args.promises {
        return print(&promises(&methods));
    }
    if args.json {
        // By way of a value, which puts the keys into order.
        let value = match args.name.is_some() {
            true => serde_json::to_value(methods[0]),
            false => serde_json::to_value(&methods),
        };
        let text = value.and_then(|value| serde_json::to_string_pretty(&value));
        let text = text.map_err(|error| Error::Data(format!("cannot make the table: {error}")))?;
        return print(&with_flags(&format!("{text}\n")));
    }
    match args.name.is_some() {
        true => print(&with_flags(&details(methods[0]))),
        false => print(&list(&methods)),
    }
}

fn list(methods: &[&MethodInfo]) -> String {
    let mut rows = vec![["name", "stream", "tasks", "what it is"].map(String::from).to_vec()];
    for (at, method) in methods.iter().enumerate() {
        let default = if at == 0 { " (default)" } else { "" };
        rows.push(vec![
            format!("{}{default}", method.name),
            method.stream.name().into(),
            method.tasks.into(),
            method.summary.into(),
        ]);
    }
    table::aligned(&rows) + "\n`keepnet methods NAME` shows settings, cost and source.\n"
}

fn details(method: &MethodInfo) -> String {
    let mut out = format!("{}: {}\n\n", method.name, method.summary);
    let k = if method.needs_k { "required" } else { "not required" };
    for (what, text) in [
        ("stream", method.stream.name()),
        ("tasks", method.tasks),
        ("-k", k),
        ("--loss", if method.has_loss { "as chosen" } else { "none" }),
        ("cost", method.cost),
        ("memory", method.memory),
        ("source", method.paper),
    ] {
        let _ = writeln!(out, "  {what:<8}{text}");
    }
    let scans = match method.scans {
        0 => "as many as it takes, at most --scans".into(),
        1 => "1".into(),
        scans => format!("{scans} unless --scans says otherwise"),
    };
    let _ = writeln!(out, "  {:<8}{scans}", "scans");
    if !method.settings.is_empty() {
        out += "\n";
        let mut rows = vec![["--set", "default", "meaning"].map(String::from).to_vec()];
        rows.extend(
            method.settings.iter().map(|s| vec![s.name.into(), s.default(), s.help.into()]),
        );
        out += &table::aligned(&rows);
    }
    let (kept, with) = (method.promises.kept(), with(method));
    let _ = writeln!(out, "\npromises: {}{with}", kept.join(", "));
    for (relation, why) in method.promises.except {
        let _ = writeln!(out, "  not {}: {why}", relation.name());
    }
    out
}

/// The settings under which the promises hold.
fn with(method: &MethodInfo) -> String {
    let with = method.promises.with.iter();
    with.map(|(name, value)| format!(" (with {name}={value})")).collect()
}

/// The promises of the methods in Markdown: a table, then the reasons by number.
fn promises(methods: &[&MethodInfo]) -> String {
    let mut out = String::new();
    for relation in Relation::ALL {
        let _ = writeln!(out, "- **{}**: {}", relation.name(), relation.help());
    }
    let names = Relation::ALL.map(Relation::name).join(" | ");
    let _ = writeln!(out, "\n| method | {names} | with |");
    let _ = writeln!(out, "|{}", " --- |".repeat(Relation::ALL.len() + 2));
    let mut reasons: Vec<&str> = Vec::new();
    for method in methods {
        let mut cell = |relation: Relation| match method.promises.why_not(relation) {
            None => "yes".to_string(),
            Some(why) => {
                let known = reasons.iter().position(|reason| *reason == why);
                let at = known.unwrap_or_else(|| {
                    reasons.push(why);
                    reasons.len() - 1
                });
                format!("no ({})", at + 1)
            }
        };
        let cells = Relation::ALL.map(&mut cell).join(" | ");
        let with = method.promises.with.iter().map(|(name, value)| format!("`{name}={value}`"));
        let with = with.collect::<Vec<_>>().join(", ");
        let _ = writeln!(out, "| `{}` | {cells} | {with} |", method.name);
    }
    if !reasons.is_empty() {
        out += "\nWhy not:\n\n";
    }
    for (at, why) in reasons.iter().enumerate() {
        let _ = writeln!(out, "{}. {why}", at + 1);
    }
    out
}
