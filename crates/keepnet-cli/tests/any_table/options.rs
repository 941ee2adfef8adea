//! Settings and flags beyond the defaults, at random.

use keepnet::registry::MethodInfo;

use crate::case::by_rows;
use crate::random::Random;

/// Settings under which a method keeps every relation.
const ANYWHERE: [(&str, &[&str]); 12] = [
    ("hold", &["1", "3", "all"]),
    ("reserve", &["2"]),
    ("theta", &["0", "1"]),
    ("tau", &["1", "3"]),
    ("alpha", &["0.05", "0.2"]),
    ("max-condition", &["1"]),
    ("wealth", &["0.1"]),
    ("drop", &["0.3"]),
    ("cool", &["0.5"]),
    ("iterations", &["300"]),
    ("mu", &["3"]),
    ("solver", &["cd"]),
];

/// Settings under which it gives the same digits for the same rows and columns in their order,
/// though units, or the place of a row, may matter.
const IN_PLACE: [(&str, &[&str]); 12] = [
    ("active", &["3", "8"]),
    ("forget", &["0.02"]),
    ("storage", &["f32"]),
    ("choose", &["ebic", "holdout"]),
    ("intercept", &["false"]),
    ("standardise", &["false"]),
    ("rules", &["lofs"]),
    ("bins", &["3"]),
    ("eta", &["0.5/L"]),
    ("average", &["true"]),
    ("preset", &["published"]),
    ("regret", &["true"]),
];

fn set(random: &mut Random, method: &MethodInfo, from: &[(&str, &[&str])]) -> Vec<String> {
    // Of a measure that is chosen by the types of the columns either alpha or delta has an effect.
    let idle = |name: &str| name == "alpha" && method.has("delta");
    let has = |name: &str| method.has(name) && !idle(name);
    let there: Vec<_> = from.iter().filter(|(name, _)| has(name)).collect();
    if there.is_empty() {
        return Vec::new();
    }
    let (name, values) = *random.pick(&there);
    vec!["--set".into(), format!("{name}={}", random.pick(values))]
}

/// Flags for all relations of a case; most cases have none.
pub fn anywhere(random: &mut Random, method: &MethodInfo) -> Vec<String> {
    match random.between(0, 5) {
        0 => set(random, method, &ANYWHERE),
        1 if method.scans > 1 => vec!["--scans".into(), random.pick(&["1", "3"]).to_string()],
        _ => Vec::new(),
    }
}

/// Further flags for relations that change neither rows nor columns nor the target.
pub fn in_place(random: &mut Random, method: &MethodInfo, classes: usize) -> Vec<String> {
    let words = |words: [&str; 2]| words.map(String::from).to_vec();
    match random.between(0, 5) {
        0 | 1 => set(random, method, &IN_PLACE),
        2 if classes > 0 => words(["--class-weight", "balanced"]),
        3 if classes == 2 && by_rows(method) && method.has_loss => words(["--loss", "logistic"]),
        4 if !by_rows(method) => words(["--order", "shuffled"]),
        _ => Vec::new(),
    }
}
