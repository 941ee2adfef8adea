//! What a checkpoint belongs to: the version, the data, the problem, and every setting that a digit
//! of the result depends on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use keepnet::registry::MethodSpec;
use keepnet::run::snapshot::Identity;
use keepnet::{Order, Problem, RowMap, RowProblem, Target, Value};

use crate::request::Asked;

/// The identity of a run on data and a problem with these fingerprints; `method` has its settings
/// in force, `more` what only one stream or runner has.
pub(crate) fn identity(
    asked: &Asked<'_>,
    (data, problem): (u64, u64),
    method: &BTreeMap<String, String>,
    more: &str,
) -> Identity {
    let mut settings = settings(asked, method);
    if !asked.always.is_empty() {
        let always: BTreeSet<&str> = asked.always.iter().map(String::as_str).collect();
        let _ = write!(settings, " always={}", always.into_iter().collect::<Vec<_>>().join(","));
    }
    settings += more;
    Identity { version: env!("CARGO_PKG_VERSION").into(), data, problem, settings }
}

/// What a digit depends on beside the data, the problem and the pinned features.
pub(crate) fn settings(asked: &Asked<'_>, method: &BTreeMap<String, String>) -> String {
    let (request, spec) = (asked.request, &asked.spec);
    let mut settings = format!("method={} seed={}", asked.method.name, spec.seed);
    let mut add = |name: &str, value: &dyn std::fmt::Display| {
        let _ = write!(settings, " {name}={value}");
    };
    for (name, value) in method {
        add(name, value);
    }
    add("missing", &request.missing());
    if let Some(memory) = request.run.memory {
        add("memory", &memory);
    }
    if let (Some(spec), Some(groups)) = (&request.method.groups, &asked.groups) {
        let text = spec.text().map_or("pairs", String::as_str);
        add("groups", &format!("{text}:{:x}", groups.fingerprint()));
    }
    if let Some(way) = request.input.categorical {
        add("categorical", &format!("{way:?}").to_lowercase());
    }
    settings
}

/// The method's settings as they are in force: a default may come from the machine, such as the
/// number of workers from that of its cores, and is as good as one that was asked for.
pub(crate) fn in_force(
    spec: &MethodSpec,
    params: Vec<(&'static str, Value)>,
) -> BTreeMap<String, String> {
    let asked = spec.settings.iter().map(|(name, value)| (name.clone(), value.to_string()));
    let mut all: BTreeMap<String, String> = asked.collect();
    all.extend(spec.loss.map(|loss| ("loss".into(), loss.name().into())));
    all.extend(params.into_iter().map(|(name, value)| (name.into(), value.to_string())));
    all.extend(spec.k.map(|k| ("k".into(), k.to_string())));
    all
}

/// What only a run on features has.
pub(crate) fn of_columns(asked: &Asked<'_>, options: &keepnet::RunOptions) -> String {
    let order = match &options.order {
        Order::Given => "given".to_string(),
        Order::Shuffled => "shuffled".to_string(),
        Order::Fixed(list) => format!("{:x}", text_hash(&format!("{list:?}"))),
    };
    let (scans, width) = (options.scans, options.width);
    format!(" scans={scans} order={order} width={width}{}", limits(asked))
}

/// What only a run of several targets has: the settings in force of each.
pub(crate) fn of_targets<'a>(
    params: &[Vec<(&'static str, Value)>],
    names: impl Iterator<Item = &'a str>,
) -> String {
    let mut out = String::new();
    for (params, name) in params.iter().zip(names).filter(|_| params.len() > 1) {
        let _ = write!(out, " target={name:?}");
        params.iter().for_each(|(name, value)| {
            let _ = write!(out, " {name}={value}");
        });
    }
    out
}

/// Which columns are fit to be offered.
pub(crate) fn limits(asked: &Asked<'_>) -> String {
    let method = &asked.request.method;
    let mut out = format!(" min-count={}", method.min_count.unwrap_or(1));
    for (name, value) in [("maf", method.maf), ("mac", method.mac.map(|mac| mac as f64))] {
        let _ = value.map(|value| write!(out, " {name}={value}"));
    }
    if let Some(share) = method.max_missing {
        let _ = write!(out, " max-missing={share}");
    }
    out
}

/// What only a run on rows has: values that flow past are no part of the problem, so the words
/// that name them are.
pub(crate) fn of_rows(asked: &Asked<'_>) -> String {
    let (problem, input) = (&asked.problem, &asked.open);
    let words = [
        ("target", &Some(problem.target.0.join(" "))),
        ("weight", &problem.weight),
        ("offset", &problem.offset),
        ("covar", &problem.covar),
        ("class-weight", &problem.balanced.then(|| "balanced".to_string())),
    ];
    let mut out = String::new();
    for (name, value) in words {
        let _ = write!(out, " {name}={value:?}");
    }
    let lists = [("key", &input.key), ("columns", &input.columns), ("exclude", &input.exclude)];
    for (name, list) in lists {
        let _ = write!(out, " {name}={list:?}");
    }
    let _ = write!(out, " format={:?}", input.format);
    out
}

/// A 64-bit hash of what is known of a stream of rows before it flows.
pub(crate) fn row_problem_hash(problem: &RowProblem) -> u64 {
    let (names, classes, target) = (&problem.names, &problem.classes, &problem.target);
    text_hash(&format!("{names:?}{classes:?}{target:?}{:?}", problem.task()))
}

/// A 64-bit hash of which rows of the input count.
pub(crate) fn rows_hash(rows: &RowMap) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.rows(rows);
    hash.0
}

/// A 64-bit hash of the values that a problem has, wherever their rows stand in the input.
pub(crate) fn values_hash(problem: &Problem) -> u64 {
    problem_hash(&Problem { rows: RowMap::All(problem.n()), ..problem.clone() })
}

/// A 64-bit hash of everything that a problem says of its rows: FNV-1a over the bits.
pub(crate) fn problem_hash(problem: &Problem) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    match &problem.target {
        Target::Numbers(y) => hash.numbers(y),
        Target::Classes { names, codes } => {
            names.iter().for_each(|name| hash.bytes(name.as_bytes()));
            codes.iter().for_each(|code| hash.bytes(&code.to_le_bytes()));
        }
    }
    for part in [&problem.weight, &problem.offset] {
        hash.bytes(&[u8::from(part.is_some())]);
        part.iter().for_each(|values| hash.numbers(values));
    }
    for covariate in &problem.covariates {
        hash.bytes(covariate.name.as_bytes());
        hash.numbers(&covariate.values);
    }
    hash.rows(&problem.rows);
    hash.0
}

/// A 64-bit hash of the problems of all targets; of one it is that problem's.
pub(crate) fn problems_hash<'a>(problems: impl Iterator<Item = &'a Problem>) -> u64 {
    let hashes: Vec<u64> = problems.map(problem_hash).collect();
    match hashes[..] {
        [one] => one,
        _ => bytes_hash(&hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect::<Vec<_>>()),
    }
}

/// A 64-bit hash of text.
pub(crate) fn text_hash(text: &str) -> u64 {
    bytes_hash(text.as_bytes())
}

/// A 64-bit hash of bytes.
pub(crate) fn bytes_hash(bytes: &[u8]) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    hash.bytes(bytes);
    hash.0
}

struct Fnv(u64);

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn rows(&mut self, rows: &RowMap) {
        self.bytes(&(rows.input() as u64).to_le_bytes());
        if let RowMap::Some { take, .. } = rows {
            take.iter().for_each(|row| self.bytes(&row.to_le_bytes()));
        }
    }

    fn numbers(&mut self, values: &[f64]) {
        values.iter().for_each(|value| self.bytes(&value.to_bits().to_le_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv_is_the_published_one() {
        // Test vectors of the FNV authors: "" and "a", 64-bit FNV-1a.
        assert_eq!(text_hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(text_hash("a"), 0xaf63_dc4c_8601_ec8c);
    }

    #[test]
    fn every_part_of_a_problem_counts() {
        let base = Problem::regression(vec![1.0, 2.0, 3.0]);
        let mut others = vec![Problem::regression(vec![1.0, 2.0, 3.5]); 4];
        others[1] = Problem { weight: Some(vec![1.0; 3]), ..base.clone() };
        others[2] = Problem { offset: Some(vec![1.0; 3]), ..base.clone() };
        others[3] = Problem { rows: RowMap::new(3, vec![2, 1, 0]).unwrap(), ..base.clone() };
        let mut hashes: Vec<u64> = others.iter().chain([&base]).map(problem_hash).collect();
        assert_eq!(problem_hash(&base), problem_hash(&base.clone()));
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 5);
    }
}
