//! Small languages of the flags: sizes, times, lists, pairs.

use std::collections::BTreeMap;
use std::time::Duration;

use keepnet::{Error, Result};

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

/// Items separated by commas, over all uses of a flag; `@FILE` stays as it is.
pub fn list(flags: &[String]) -> Vec<String> {
    let split = |flag: &String| match flag.starts_with('@') {
        true => vec![flag.clone()],
        false => flag.split(',').map(|item| item.trim().to_string()).collect(),
    };
    flags.iter().flat_map(split).filter(|item| !item.is_empty()).collect()
}

/// As [`list`], with the lines of each `@FILE` in its place.
pub fn names(flags: &[String]) -> Result<Vec<String>> {
    let mut out = Vec::new();
    for item in list(flags) {
        match item.strip_prefix('@') {
            None => out.push(item),
            Some(path) => out.extend(lines(path)?),
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

/// `KEY=VALUE` pairs; a key given twice is an error.
pub fn pairs(flags: &[String]) -> Result<BTreeMap<String, String>> {
    let mut out = BTreeMap::new();
    for flag in flags {
        let pair = flag.split_once('=').filter(|(key, _)| !key.trim().is_empty());
        let Some((key, value)) = pair else {
            return Err(Error::param("--set", flag, "KEY=VALUE"));
        };
        if out.insert(key.trim().to_string(), value.trim().to_string()).is_some() {
            return Err(Error::param("--set", format!("{key} given twice"), "each key once"));
        }
    }
    Ok(out)
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
        let flags = |items: &[&str]| items.iter().map(|i| (*i).to_string()).collect::<Vec<_>>();
        assert_eq!(list(&flags(&["a,b", "c", "@x,y"])), ["a", "b", "c", "@x,y"]);
        assert_eq!(pairs(&flags(&["a=1", "b=x=y"])).unwrap()["b"], "x=y");
        assert!(pairs(&flags(&["a"])).unwrap_err().is_usage());
        assert!(pairs(&flags(&["a=1", "a=2"])).is_err());
    }
}
