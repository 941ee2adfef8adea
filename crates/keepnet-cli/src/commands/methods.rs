//! `keepnet methods`: the table of the registry, one method, or JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use keepnet::Result;
use keepnet::registry::{self, MethodInfo, Relation};

use crate::flags::MethodsArgs;
use keepnet_run::result::{stream, table};
use keepnet_run::terminal::say::print;

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
        let all: Vec<_> = methods.iter().map(|method| json(method)).collect();
        let text = match args.name.is_some() {
            true => serde_json::to_string_pretty(&all[0]),
            false => serde_json::to_string_pretty(&all),
        };
        let text = text.unwrap_or_default();
        return print(&format!("{text}\n"));
    }
    match args.name.is_some() {
        true => print(&details(methods[0])),
        false => print(&list(&methods)),
    }
}

fn list(methods: &[&MethodInfo]) -> String {
    let mut rows = vec![["name", "stream", "tasks", "what it is"].map(String::from).to_vec()];
    for (at, method) in methods.iter().enumerate() {
        let default = if at == 0 { " (default)" } else { "" };
        rows.push(vec![
            format!("{}{default}", method.name),
            stream(method.stream).into(),
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
        ("stream", stream(method.stream)),
        ("tasks", method.tasks),
        ("-k", k),
        ("--loss", if method.has_loss { "as chosen" } else { "none" }),
        ("cost", method.cost),
        ("memory", method.memory),
        ("source", method.paper),
    ] {
        let _ = writeln!(out, "  {what:<8}{text}");
    }
    let _ = writeln!(out, "  {:<8}{} unless --scans says otherwise", "scans", method.scans);
    if !method.settings.is_empty() {
        out += "\n";
        let mut rows = vec![["--set", "default", "meaning"].map(String::from).to_vec()];
        let row = |s: &registry::SettingInfo| [s.name, s.default, s.help].map(String::from);
        rows.extend(method.settings.iter().map(|setting| row(setting).to_vec()));
        out += &table::aligned(&rows);
    }
    let (kept, with) = (kept(method), with(method));
    let _ = writeln!(out, "\npromises: {}{with}", kept.join(", "));
    for (relation, why) in method.promises.except {
        let _ = writeln!(out, "  not {}: {why}", relation.name());
    }
    out
}

/// The relations that a method promises.
fn kept(method: &MethodInfo) -> Vec<&'static str> {
    let kept = Relation::ALL.iter().filter(|r| method.promises.why_not(**r).is_none());
    kept.map(|relation| relation.name()).collect()
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

fn json(method: &MethodInfo) -> serde_json::Value {
    let setting = |s: &registry::SettingInfo| serde_json::json!({"name": s.name, "default": s.default, "help": s.help});
    let except = method.promises.except.iter().map(|(relation, why)| (relation.name(), *why));
    serde_json::json!({
        "name": method.name,
        "stream": stream(method.stream),
        "summary": method.summary,
        "tasks": method.tasks,
        "cost": method.cost,
        "memory": method.memory,
        "paper": method.paper,
        "scans": method.scans,
        "needs_k": method.needs_k,
        "has_loss": method.has_loss,
        "settings": method.settings.iter().map(setting).collect::<Vec<_>>(),
        "promises": {
            "kept": kept(method),
            "with": method.promises.with.iter().copied().collect::<BTreeMap<_, _>>(),
            "except": except.collect::<BTreeMap<_, _>>(),
        },
    })
}
