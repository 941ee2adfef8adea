//! A list of chromosomes: names, and ranges of numbers such as `1-22`.

use keepnet::{Error, Result};

/// What is asked for.
pub(crate) struct Chromosomes(Vec<Asked>);

enum Asked {
    Name(String),
    Range(u32, u32),
}

impl Chromosomes {
    pub(crate) fn new(list: &[String]) -> Result<Self> {
        list.iter().map(|text| Asked::new(text.trim())).collect::<Result<_>>().map(Self)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a chromosome is among them; `chr1` is `1`.
    pub(crate) fn contain(&self, chromosome: &str) -> bool {
        let name = plain(chromosome);
        self.0.iter().any(|asked| match asked {
            Asked::Name(asked) => asked.eq_ignore_ascii_case(name),
            Asked::Range(low, high) => name.parse().is_ok_and(|n: u32| (*low..=*high).contains(&n)),
        })
    }
}

impl Asked {
    fn new(text: &str) -> Result<Self> {
        let Some((low, high)) = text.split_once('-') else {
            return Ok(Self::Name(plain(text).into()));
        };
        match (plain(low).parse(), plain(high).parse()) {
            (Ok(low), Ok(high)) if low <= high => Ok(Self::Range(low, high)),
            _ => Err(Error::param("chr", text, "chromosomes and ranges, as in 1-22,X")),
        }
    }
}

fn plain(name: &str) -> &str {
    match name.get(..3) {
        Some(start) if start.eq_ignore_ascii_case("chr") => &name[3..],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_ranges_are_one_list() {
        let list = |text: &str| Chromosomes::new(&[text.into(), "X".into()]);
        let some = list("chr2-4").unwrap();
        let found = |name: &&str| some.contain(name);
        let all = ["1", "2", "chr3", "04", "5", "x", "MT"];
        assert_eq!(
            all.into_iter().filter(|name| found(name)).collect::<Vec<_>>(),
            ["2", "chr3", "04", "x"]
        );
        for bad in ["4-2", "1-", "a-b"] {
            assert!(list(bad).is_err(), "{bad}");
        }
    }
}
