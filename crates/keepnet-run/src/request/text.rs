//! Small languages of a request: sizes, times, lists, pairs.

use std::collections::BTreeMap;
use std::time::Duration;

use keepnet::{Error, LossKind, Result, Value};
use keepnet_io::{Categorical, Format, Stack};
use serde::{Deserialize, Deserializer, de};

use crate::result::saved;

/// A value that the user writes as text.
pub trait FromText: Sized {
    /// Reads it; [`Error::Param`] says what is accepted.
    fn from_text(text: &str) -> Result<Self>;
}

/// Reads a value, as a function for the flags.
pub fn read<T: FromText>(text: &str) -> Result<T> {
    T::from_text(text)
}

/// Reads a value from JSON text, or none from null.
pub(crate) fn optional<'de, D, T>(json: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromText,
{
    let text = Option::<String>::deserialize(json)?;
    text.map(|text| T::from_text(&text).map_err(de::Error::custom)).transpose()
}

/// Reads a value from JSON text, or its default from null.
pub(crate) fn or_default<'de, D, T>(json: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromText + Default,
{
    optional(json).map(Option::unwrap_or_default)
}

/// Settings from a JSON object.
pub(crate) fn settings<'de, D>(json: D) -> Result<Vec<(String, Value)>, D::Error>
where
    D: Deserializer<'de>,
{
    Ok(BTreeMap::<String, Value>::deserialize(json)?.into_iter().collect())
}

/// What other crates read from text by a function `parse`.
macro_rules! parsed {
    ($($kind:ty),*) => {$(
        impl FromText for $kind {
            fn from_text(text: &str) -> Result<Self> {
                Self::parse(text)
            }
        }
    )*};
}
parsed!(Format, Stack, Categorical, LossKind);

/// Names of columns as one use of a flag gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Names {
    /// A list with commas between, or `@FILE` with a name a line.
    Listed(String),
    /// One name, whatever stands in it.
    Exact(String),
}

impl FromText for Names {
    fn from_text(text: &str) -> Result<Self> {
        Ok(Self::Listed(text.into()))
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        String::deserialize(json).map(Self::Exact)
    }
}

impl Names {
    /// The file of `@FILE`.
    pub(crate) fn file(&self) -> Option<&str> {
        match self {
            Self::Listed(text) => text.strip_prefix('@'),
            Self::Exact(_) => None,
        }
    }
}

/// The most memory of a run.
pub fn memory(text: &str) -> Result<u64> {
    bytes("memory", text)
}

/// The longest line.
pub fn max_line(text: &str) -> Result<u64> {
    bytes("max-line", text)
}

/// `KEY=VALUE`.
pub fn pair(text: &str) -> Result<(String, String)> {
    let pair = text.split_once('=').filter(|(key, _)| !key.trim().is_empty());
    pair.map(|(key, value)| (key.trim().to_string(), value.trim().to_string()))
        .ok_or_else(|| Error::param("--set", text, "KEY=VALUE"))
}

/// `KEY=VALUE` of a setting; the method reads the value by the setting's kind.
pub fn setting(text: &str) -> Result<(String, Value)> {
    pair(text).map(|(key, value)| (key, value.into()))
}

/// Values by name; a key given twice is an error.
pub fn by_key<V: Clone>(pairs: &[(String, V)]) -> Result<BTreeMap<String, V>> {
    let mut out = BTreeMap::new();
    for (key, value) in pairs {
        if out.insert(key.clone(), value.clone()).is_some() {
            return Err(Error::param("--set", format!("{key} given twice"), "each key once"));
        }
    }
    Ok(out)
}

/// A size: plain bytes, K M G T and KiB... in powers of 1024, KB... in powers of 1000.
pub fn bytes(name: &'static str, text: &str) -> Result<u64> {
    let wrong = || Error::param(name, text, "a size such as 300MB or 2GiB");
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..split].parse().map_err(|_| wrong())?;
    let unit = text[split..].trim().to_ascii_lowercase();
    let power = match unit.chars().next() {
        None | Some('b') => 0,
        Some('k') => 1,
        Some('m') => 2,
        Some('g') => 3,
        Some('t') => 4,
        Some(_) => return Err(wrong()),
    };
    let base: f64 = match (power, unit.get(1..).unwrap_or("")) {
        (0, "") => 1.0,
        (1.., "" | "ib") => 1024.0,
        (1.., "b") => 1000.0,
        _ => return Err(wrong()),
    };
    let value = number * base.powi(power);
    if (1.0..1e18).contains(&value) { Ok(value as u64) } else { Err(wrong()) }
}

/// A time: seconds, or numbers with s, m, h or d as in 1h30m.
pub fn duration(name: &'static str, text: &str) -> Result<Duration> {
    let wrong = || Error::param(name, text, "a time such as 90s, 30m, 2h or 1h30m");
    let mut seconds = 0.0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let split = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..split].parse().map_err(|_| wrong())?;
        let unit = rest[split..].chars().next();
        seconds += number
            * match unit {
                None | Some('s') => 1.0,
                Some('m') => 60.0,
                Some('h') => 3600.0,
                Some('d') => 86400.0,
                Some(_) => return Err(wrong()),
            };
        rest = &rest[split + unit.map_or(0, char::len_utf8)..];
    }
    let valid = seconds > 0.0 && seconds < 1e10;
    if valid { Ok(Duration::from_secs_f64(seconds)) } else { Err(wrong()) }
}

/// The items of all uses of a flag, in order; `@FILE` stays as it is.
pub fn list(flags: &[Names]) -> Vec<String> {
    let split = |flag: &Names| match flag {
        Names::Listed(text) if !text.starts_with('@') => commas(text),
        Names::Listed(text) | Names::Exact(text) => vec![text.clone()],
    };
    flags.iter().flat_map(split).collect()
}

/// The items of a list with commas between.
pub fn commas(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(String::from).collect()
}

/// As [`list`], with the lines of each `@FILE` in its place, or the names of its features where it
/// is a result.
pub fn names(flags: &[Names]) -> Result<Vec<String>> {
    let mut out = Vec::new();
    for flag in flags {
        match flag.file() {
            None => out.extend(list(std::slice::from_ref(flag))),
            Some(path) => match saved::listed(path)? {
                Some(features) => out.extend(features.into_iter().map(|feature| feature.name)),
                None => out.extend(lines(path)?),
            },
        }
    }
    Ok(out)
}

/// As [`list`], with the columns of a result in the place of each `@FILE` that is one.
pub fn columns(flags: &[Names]) -> Result<Vec<String>> {
    let mut out = Vec::new();
    for flag in flags {
        match flag.file().map(saved::listed).transpose()?.flatten() {
            Some(features) => out.extend(features.into_iter().map(|feature| feature.column)),
            None => out.extend(list(std::slice::from_ref(flag))),
        }
    }
    Ok(out)
}

/// The lines of a file that are not empty.
pub fn lines(path: &str) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::io(format!("cannot read {path}"), error))?;
    Ok(text.lines().map(|line| line.trim().to_string()).filter(|line| !line.is_empty()).collect())
}

/// The two columns of a file, separated by tabs in a `.tsv` and by commas otherwise; a first
/// line `feature,group` is a heading.
pub fn table(path: &str) -> Result<Vec<(String, String)>> {
    let tabs = path.to_ascii_lowercase().ends_with(".tsv");
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(if tabs { b'\t' } else { b',' })
        .trim(csv::Trim::All)
        .flexible(true)
        .from_path(path)
        .map_err(|error| Error::Data(format!("cannot be read ({error})")).at(path))?;
    let mut pairs = Vec::new();
    for (at, record) in reader.records().enumerate() {
        let line = format!("{path}, line {}", at + 1);
        let record =
            record.map_err(|error| Error::Data(format!("cannot be read ({error})")).at(&line))?;
        if record.len() != 2 {
            let text = format!("has {} columns, expected feature and group", record.len());
            return Err(Error::Data(text).at(line));
        }
        let heading = record[0].eq_ignore_ascii_case("feature");
        if !(at == 0 && heading && record[1].eq_ignore_ascii_case("group")) {
            pairs.push((record[0].to_string(), record[1].to_string()));
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        let size = |text| bytes("memory", text).ok();
        assert_eq!(size("300MB"), Some(300_000_000));
        assert_eq!(size("2GiB"), Some(2 << 30));
        assert_eq!(size("1.5k"), Some(1536));
        assert_eq!(size("4096"), Some(4096));
        assert_eq!(size("12b"), Some(12));
        for wrong in ["", "MB", "3 apples", "-1", "0", "1e", "5MBB", "5bb"] {
            assert_eq!(size(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn times_add_up() {
        let time = |text| duration("time", text).ok().map(|d| d.as_secs_f64());
        assert_eq!(time("90"), Some(90.0));
        assert_eq!(time("1h30m"), Some(5400.0));
        assert_eq!(time("0.5s"), Some(0.5));
        for wrong in ["", "h", "2x", "0", "-2h"] {
            assert_eq!(time(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn lists_and_pairs_are_split() {
        let flags = ["a,b", "c", "@x,y"].map(|text| Names::Listed(text.into()));
        assert_eq!(list(&flags), ["a", "b", "c", "@x,y"]);
        assert_eq!(list(&[Names::Exact("a,b".into())]), ["a,b"]);
        let pairs = |items: &[&str]| -> Result<BTreeMap<String, String>> {
            by_key(&items.iter().map(|item| pair(item)).collect::<Result<Vec<_>>>()?)
        };
        assert_eq!(pairs(&["a=1", "b=x=y"]).unwrap()["b"], "x=y");
        assert!(pairs(&["a"]).unwrap_err().is_usage());
        assert!(pairs(&["a=1", "a=2"]).is_err());
    }
}
