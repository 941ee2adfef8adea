//! The name of a feature, made into text when somebody asks for it.
//!
//! Most features are let go, and nobody asks for their names. Sources that number their features
//! say the number; only what is kept, reported or named in an error becomes text.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// The name of a feature: text, or a prefix and a number.
#[derive(Clone)]
pub enum Name {
    /// As the input has it.
    Text(String),
    /// What is before the number, and the number.
    Numbered(&'static str, u64),
}

/// Bytes of the longest number, and a prefix of the usual length.
const SHORT: usize = 32;

impl Name {
    /// The name as text.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Numbered(prefix, number) => Cow::Owned(format!("{prefix}{number}")),
        }
    }

    /// Calls `f` with the name as text; one that is numbered takes no memory of its own.
    pub fn with<T>(&self, f: impl FnOnce(&str) -> T) -> T {
        match self {
            Self::Text(text) => f(text),
            Self::Numbered(prefix, number) => {
                let mut short = Short { bytes: [0; SHORT], len: 0 };
                match write!(short, "{prefix}{number}") {
                    Ok(()) => f(std::str::from_utf8(&short.bytes[..short.len]).unwrap_or_default()),
                    Err(_) => f(&self.text()),
                }
            }
        }
    }

    /// Bytes of the text.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Numbered(prefix, number) => {
                prefix.len() + number.checked_ilog10().map_or(1, |digits| digits as usize + 1)
            }
        }
    }

    /// Whether the name has no letter.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A name on the stack; longer ones are an error.
struct Short {
    bytes: [u8; SHORT],
    len: usize,
}

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

impl Default for Name {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        self.with(|a| other.with(|b| a == b))
    }
}

impl Eq for Name {}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.with(|text| text == other)
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|text| fmt::Display::fmt(text, f))
    }
}

/// As that of the text: names stand in quotes in messages.
impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|text| fmt::Debug::fmt(text, f))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numbered_name_is_its_text() {
        const LONG: &str = "a prefix that does not fit the stack: ";
        for (prefix, number) in [("f", 0), ("", 7), ("x", 10), ("f", u64::MAX), (LONG, 12)] {
            let (name, text) = (Name::Numbered(prefix, number), format!("{prefix}{number}"));
            assert_eq!((name.text().as_ref(), name.len()), (text.as_str(), text.len()));
            assert_eq!(name.with(str::to_string), text);
            assert_eq!(format!("{name} {name:?}"), format!("{text} {text:?}"));
            assert!(name == Name::Text(text.clone()) && name == *text.as_str());
            assert!(name != Name::Numbered(prefix, number ^ 1));
        }
        assert!(Name::default().is_empty() && !Name::Numbered("", 0).is_empty());
    }
}
