//! How many features to keep: a number, several to choose from, or a choice over all sizes.

use keepnet::{Error, Result};
use serde::Deserialize;

use super::text::FromText;

/// What `-k` says.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "SizeJson")]
pub enum Size {
    /// This many.
    One(usize),
    /// One of these, ascending.
    List(Vec<usize>),
    /// One of 1, 2, 5, 10, ...
    Auto,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum SizeJson {
    One(usize),
    List(Vec<usize>),
    Text(String),
}

impl TryFrom<SizeJson> for Size {
    type Error = Error;

    fn try_from(json: SizeJson) -> Result<Self> {
        match json {
            SizeJson::One(k) => Ok(Self::One(k)),
            SizeJson::List(sizes) => Self::listed(sizes),
            SizeJson::Text(text) => Self::from_text(&text),
        }
    }
}

impl From<usize> for Size {
    fn from(k: usize) -> Self {
        Self::One(k)
    }
}

impl FromText for Size {
    fn from_text(text: &str) -> Result<Self> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let wrong = |_| Error::param("k", text, "a number, a list such as 5,10,20, or auto");
        if !text.contains(',') {
            return text.trim().parse().map(Self::One).map_err(wrong);
        }
        let sizes = text.split(',').map(|size| size.trim().parse().map_err(wrong));
        Self::listed(sizes.collect::<Result<_>>()?)
    }
}

impl Size {
    fn listed(mut sizes: Vec<usize>) -> Result<Self> {
        sizes.sort_unstable();
        sizes.dedup();
        if sizes.first().is_none_or(|least| *least == 0) {
            return Err(Error::param(
                "k",
                "a list with 0 or without a size",
                "sizes of at least 1",
            ));
        }
        Ok(Self::List(sizes))
    }

    /// The number, where it is one.
    #[must_use]
    pub fn one(&self) -> Option<usize> {
        match self {
            Self::One(k) => Some(*k),
            _ => None,
        }
    }

    /// Whether the size is to be chosen.
    #[must_use]
    pub fn chosen(&self) -> bool {
        self.one().is_none()
    }

    /// The sizes to choose from with `n` rows and `p` features, where their number is known.
    #[must_use]
    pub fn sizes(&self, n: usize, p: Option<u64>) -> Vec<usize> {
        match self {
            Self::One(k) => vec![*k],
            Self::List(sizes) => sizes.clone(),
            Self::Auto => {
                let most = (n / 5).min(500).min(p.map_or(usize::MAX, |p| p as usize)).max(1);
                let decades = (0..4).map(|power| 10usize.pow(power));
                decades.flat_map(|one| [one, 2 * one, 5 * one]).filter(|k| *k <= most).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_every_form() {
        let read = |text| Size::from_text(text).unwrap();
        assert_eq!(read("7"), Size::One(7));
        assert_eq!(read("20,5, 10,5"), Size::List(vec![5, 10, 20]));
        assert_eq!(read("auto"), Size::Auto);
        assert_eq!(serde_json::from_str::<Size>("[3, 1]").unwrap(), Size::List(vec![1, 3]));
        assert_eq!(serde_json::from_str::<Size>("\"auto\"").unwrap(), Size::Auto);
        for wrong in ["", "five", "5,x", "0,5", "-3"] {
            assert!(Size::from_text(wrong).is_err(), "{wrong}");
        }
    }

    /// Up to a fifth of the rows, the features and 500.
    #[test]
    fn the_sizes_of_auto_are_bounded() {
        assert_eq!(Size::Auto.sizes(200, Some(1000)), [1, 2, 5, 10, 20]);
        assert_eq!(Size::Auto.sizes(400, Some(6)), [1, 2, 5]);
        assert_eq!(Size::Auto.sizes(100_000, None).last(), Some(&500));
        assert_eq!(Size::Auto.sizes(3, Some(9)), [1]);
    }
}
