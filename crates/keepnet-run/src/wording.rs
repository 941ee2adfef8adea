//! Arguments as flags: the engine names settings, the command line writes them as it takes them.
//!
//! The engine marks an argument in a text with backquotes: `` `memory` `` or `` `ridge=0.01` ``.

use keepnet::registry;

/// Arguments that have a flag of their own; other settings are written with `--set`.
const FLAGS: [&str; 19] = [
    "always",
    "choose",
    "covar",
    "folds",
    "groups",
    "holdout",
    "inference",
    "level",
    "loss",
    "measure",
    "memory",
    "method",
    "missing",
    "on-full",
    "order",
    "scans",
    "task",
    "stability",
    "threads",
];

/// A text of the engine with its arguments as flags; other words in backquotes stay.
#[must_use]
pub fn with_flags(text: &str) -> String {
    let mut parts = text.split('`');
    let mut out = String::from(parts.next().unwrap_or_default());
    while let Some(marked) = parts.next() {
        match (flag(marked), parts.next()) {
            (Some(flag), Some(after)) => out.extend([&flag, after]),
            (None, Some(after)) => out.extend(["`", marked, "`", after]),
            (_, None) => out.extend(["`", marked]),
        }
    }
    out
}

fn flag(marked: &str) -> Option<String> {
    let (name, value) = match marked.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (marked, None),
    };
    let dashes = if name == "k" { "-" } else { "--" };
    if name == "k" || FLAGS.contains(&name) {
        let value = value.map(|value| format!(" {value}")).unwrap_or_default();
        return Some(format!("{dashes}{name}{value}"));
    }
    registry::methods().iter().any(|method| method.has(name)).then(|| format!("--set {marked}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_flags_and_other_words_stay() {
        for (said, shown) in [
            ("raise `memory`, or lower k", "raise --memory, or lower k"),
            ("expected `k=K`, or `lambda=NUMBER`", "expected -k K, or --set lambda=NUMBER"),
            ("no `k`: it decides", "no -k: it decides"),
            ("choose `missing=mean` or zero", "choose --missing mean or zero"),
            ("choose `measure=su` or `bins=N`", "choose --measure su or --set bins=N"),
            ("with another `standardise`", "with another --set standardise"),
            ("resume with `workers=2` `tau=3`", "resume with --set workers=2 --set tau=3"),
            ("a name from `keepnet methods`", "a name from `keepnet methods`"),
            ("an odd ` stays, so does `memory", "an odd ` stays, so does `memory"),
            ("`speed` is nothing", "`speed` is nothing"),
            ("", ""),
        ] {
            assert_eq!(with_flags(said), shown);
        }
    }
}
