//! A setting in words, for errors and tables, and as JSON, for programs.

use std::fmt;
use std::ops::Bound;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Bounds, Given, Kind, Setting, Usual};
use crate::selection::Value;

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(value) => write!(f, "{value}"),
            Self::Whole(value) => write!(f, "{value}"),
            Self::Number(value) if *value != 0.0 && value.abs() < 1e-4 => write!(f, "{value:e}"),
            Self::Number(value) => write!(f, "{value}"),
            Self::Over(c, over) => write!(f, "{c}/{over}"),
            Self::Word(word) => write!(f, "{word}"),
        }
    }
}

impl From<Given> for Value {
    fn from(given: Given) -> Self {
        match given {
            Given::Flag(value) => Self::Bool(value),
            Given::Whole(value) => Self::Int(value),
            Given::Number(value) => Self::Float(value),
            over @ Given::Over(..) => Self::Text(over.to_string()),
            Given::Word(word) => Self::Text(word.into()),
        }
    }
}

/// `a, b or c`.
pub(crate) fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Bound::{Excluded, Included, Unbounded};
        match (self.low, self.high) {
            (Excluded(a), Excluded(f64::INFINITY) | Included(f64::INFINITY) | Unbounded) => {
                write!(f, "a number above {a}")
            }
            (Included(a), Excluded(f64::INFINITY) | Included(f64::INFINITY) | Unbounded) => {
                write!(f, "a number of at least {a}")
            }
            (Excluded(a), Excluded(b)) => write!(f, "a number between {a} and {b}"),
            (Excluded(a), Included(b)) => write!(f, "a number above {a} and at most {b}"),
            (Included(a), Excluded(b)) => write!(f, "a number from {a} to below {b}"),
            (Included(a), Included(b)) => write!(f, "a number from {a} to {b}"),
            (Unbounded, Excluded(b)) => write!(f, "a number below {b}"),
            (Unbounded, Included(b)) => write!(f, "a number of at most {b}"),
            (Unbounded, Unbounded) => write!(f, "a number"),
        }
    }
}

impl Setting {
    /// What it takes, in words.
    #[must_use]
    pub fn wanted(&self) -> String {
        let mut parts: Vec<String> = self.words.iter().map(ToString::to_string).collect();
        match self.kind {
            Kind::Flag => parts.extend(["true".into(), "false".into()]),
            Kind::Whole { least: 0, most: u64::MAX } => parts.push("a whole number".into()),
            Kind::Whole { least, most: u64::MAX } => {
                parts.push(format!("a whole number of at least {least}"));
            }
            Kind::Whole { least: 0, most } => parts.push(format!("a whole number, at most {most}")),
            Kind::Whole { least, most } => {
                parts.push(format!("a whole number from {least} to {most}"));
            }
            Kind::Number(bounds) => parts.push(bounds.to_string()),
            Kind::Step(over) => {
                parts.push(Bounds::above(0.0).to_string());
                parts.extend(over.iter().map(|over| format!("c/{over}")));
            }
            Kind::Choice => {}
        }
        listed(&parts)
    }

    /// Its default as the user would write it, or in words where it is worked out.
    #[must_use]
    pub fn default(&self) -> String {
        match self.usual {
            Usual::Value(given) => given.to_string(),
            Usual::Preset { tuned, .. } => Given::Number(tuned).to_string(),
            Usual::Derived(words) => words.into(),
        }
    }

    fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Flag => "flag",
            Kind::Whole { .. } => "whole",
            Kind::Number(_) => "number",
            Kind::Step(_) => "step",
            Kind::Choice => "choice",
        }
    }
}

/// `name`, `default` as text, `help`, `kind`; `value`, the default as a value where there is one;
/// the bounds `least` or `above`, `most` or `below`; the words as `choices`; and of a step what a
/// number may be `over`.
impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name)?;
        map.serialize_entry("default", &self.default())?;
        map.serialize_entry("help", self.help)?;
        map.serialize_entry("kind", self.kind_name())?;
        let value = match self.usual {
            Usual::Value(Given::Number(value)) if value.is_infinite() => None,
            Usual::Value(given) => Some(Value::from(given)),
            Usual::Preset { .. } | Usual::Derived(_) => None,
        };
        map.serialize_entry("value", &value)?;
        match self.kind {
            Kind::Whole { least, most } => {
                map.serialize_entry("least", &least)?;
                if most < u64::MAX {
                    map.serialize_entry("most", &most)?;
                }
            }
            Kind::Number(Bounds { low, high }) => {
                for (end, closed, open) in [(low, "least", "above"), (high, "most", "below")] {
                    match end {
                        Bound::Included(at) if at.is_finite() => {
                            map.serialize_entry(closed, &at)?
                        }
                        Bound::Excluded(at) if at.is_finite() => map.serialize_entry(open, &at)?,
                        _ => {}
                    }
                }
            }
            Kind::Step(over) => {
                map.serialize_entry("above", &0.0)?;
                map.serialize_entry("over", over)?;
            }
            Kind::Flag | Kind::Choice => {}
        }
        if !self.words.is_empty() {
            map.serialize_entry("choices", self.words)?;
        }
        map.end()
    }
}
