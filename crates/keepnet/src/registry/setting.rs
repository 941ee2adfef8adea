//! A setting of a method, declared once: its name, what it takes, its default and what it does.
//!
//! Everything else follows from the declaration: reading text, checking a typed value, the text of
//! the error, the default of a method, the tables of the program and the signatures in Python.

mod describe;
#[cfg(test)]
mod tests;

pub(crate) use describe::listed;

use std::ops::{Bound, RangeBounds};

use crate::error::{Error, Result};
use crate::selection::Value;

/// Which numbers a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The lower end.
    pub low: Bound<f64>,
    /// The upper end; open at infinity means any finite number.
    pub high: Bound<f64>,
}

impl Bounds {
    /// Finite numbers above `low`.
    #[must_use]
    pub const fn above(low: f64) -> Self {
        Self { low: Bound::Excluded(low), high: Bound::Excluded(f64::INFINITY) }
    }

    /// Finite numbers of at least `low`.
    #[must_use]
    pub const fn at_least(low: f64) -> Self {
        Self { low: Bound::Included(low), ..Self::above(low) }
    }

    /// Numbers between the two, without them.
    #[must_use]
    pub const fn between(low: f64, high: f64) -> Self {
        Self { high: Bound::Excluded(high), ..Self::above(low) }
    }

    /// Numbers from `low` to `high`, with both.
    #[must_use]
    pub const fn from_to(low: f64, high: f64) -> Self {
        Self { high: Bound::Included(high), ..Self::at_least(low) }
    }

    /// Numbers from `low` to below `high`.
    #[must_use]
    pub const fn from_below(low: f64, high: f64) -> Self {
        Self { low: Bound::Included(low), ..Self::between(low, high) }
    }

    /// The same with infinity.
    #[must_use]
    pub const fn or_infinity(self) -> Self {
        Self { high: Bound::Included(f64::INFINITY), ..self }
    }

    /// Refuses a number out of these bounds, under the name of its setting.
    pub fn check(&self, name: &'static str, value: f64) -> Result<()> {
        match self.contain(value) {
            true => Ok(()),
            false => Err(Error::param(name, value, self.to_string())),
        }
    }

    fn contain(&self, value: f64) -> bool {
        (self.low, self.high).contains(&value)
    }
}

/// What a setting takes besides its [words](Setting::words).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// True or false.
    Flag,
    /// A whole number from `least` to `most`.
    Whole {
        /// The smallest.
        least: u64,
        /// The largest; `u64::MAX` is no limit.
        most: u64,
    },
    /// A number.
    Number(Bounds),
    /// A number above 0, or `c/NAME`, which is `c` over something that the method computes.
    Step(&'static [&'static str]),
    /// One of its words alone.
    Choice,
}

/// A value that has been read and is allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
    /// `c/NAME` of a [`Kind::Step`].
    Over(f64, &'static str),
    /// One of the words.
    Word(&'static str),
}

/// What holds where a setting is not given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Usual {
    /// This value.
    Value(Given),
    /// By the setting `preset` of the method.
    Preset {
        /// Under `preset=tuned`, which is the default.
        tuned: f64,
        /// Under `preset=published`.
        published: f64,
    },
    /// Worked out from the data or the machine; told in words.
    Derived(&'static str),
}

/// One setting of a method.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// What it takes besides its words.
    pub kind: Kind,
    /// Words that it takes, such as `auto`, or the names of a choice.
    pub words: &'static [&'static str],
    /// Its default.
    pub usual: Usual,
    /// What it does.
    pub help: &'static str,
}

impl Setting {
    const fn new(name: &'static str, kind: Kind, usual: Usual, help: &'static str) -> Self {
        Self { name, kind, words: &[], usual, help }
    }

    /// True or false.
    #[must_use]
    pub const fn flag(name: &'static str, default: bool, help: &'static str) -> Self {
        Self::new(name, Kind::Flag, Usual::Value(Given::Flag(default)), help)
    }

    /// A whole number from `least` to `most`.
    #[must_use]
    pub const fn whole(
        name: &'static str,
        (least, most): (u64, u64),
        default: u64,
        help: &'static str,
    ) -> Self {
        let usual = Usual::Value(Given::Whole(default));
        Self::new(name, Kind::Whole { least, most }, usual, help)
    }

    /// A number within bounds.
    #[must_use]
    pub const fn number(
        name: &'static str,
        bounds: Bounds,
        default: f64,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::Number(bounds), Usual::Value(Given::Number(default)), help)
    }

    /// One of the words, the first of which is the default.
    #[must_use]
    pub const fn choice(
        name: &'static str,
        words: &'static [&'static str],
        help: &'static str,
    ) -> Self {
        let usual = Usual::Value(Given::Word(words[0]));
        Self { words, ..Self::new(name, Kind::Choice, usual, help) }
    }

    /// A number above 0, or `c` over one of `over`.
    #[must_use]
    pub const fn step(
        name: &'static str,
        over: &'static [&'static str],
        default: Given,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::Step(over), Usual::Value(default), help)
    }

    /// The same that takes a word too, which is its default.
    #[must_use]
    pub const fn or(self, words: &'static [&'static str]) -> Self {
        Self { words, usual: Usual::Value(Given::Word(words[0])), ..self }
    }

    /// The same with a default that is worked out, told in words.
    #[must_use]
    pub const fn derived(self, usual: &'static str) -> Self {
        Self { usual: Usual::Derived(usual), ..self }
    }

    /// The same with another default under `preset=published`.
    #[must_use]
    pub const fn published(self, published: f64) -> Self {
        Self { usual: Usual::Preset { tuned: self.usual_number(), published }, ..self }
    }

    /// The default of a setting that is a number. To be called in a `const` block, where a setting
    /// without one does not compile.
    #[must_use]
    pub const fn usual_number(&self) -> f64 {
        match self.usual {
            Usual::Value(Given::Number(value)) => value,
            _ => panic!("its default is no number"),
        }
    }

    /// As [`Setting::usual_number`] for a whole number.
    #[must_use]
    pub const fn usual_whole(&self) -> usize {
        match self.usual {
            Usual::Value(Given::Whole(value)) => value as usize,
            _ => panic!("its default is no whole number"),
        }
    }

    /// As [`Setting::usual_number`] for a flag.
    #[must_use]
    pub const fn usual_flag(&self) -> bool {
        match self.usual {
            Usual::Value(Given::Flag(value)) => value,
            _ => panic!("its default is no flag"),
        }
    }

    /// Reads a value, typed or as text, and checks it.
    pub fn read(&self, value: &Value) -> Result<Given> {
        let read = match value {
            Value::Text(text) => self.text(text),
            typed => self.typed(typed),
        };
        read.filter(|given| self.allows(*given))
            .ok_or_else(|| Error::param(self.name, value, self.wanted()))
    }

    /// Whether a value is of the right kind and within the bounds.
    pub fn check(&self, value: impl Into<Value>) -> Result<()> {
        self.read(&value.into()).map(|_| ())
    }

    /// Text by the kind of the setting: the only place where text becomes a value.
    fn text(&self, text: &str) -> Option<Given> {
        if let Some(word) = self.words.iter().find(|word| **word == text) {
            return Some(Given::Word(word));
        }
        match self.kind {
            Kind::Flag => text.parse().ok().map(Given::Flag),
            Kind::Whole { .. } => match text.parse() {
                Ok(whole) => Some(Given::Whole(whole)),
                Err(_) => text.parse().ok().and_then(whole),
            },
            Kind::Number(_) => text.parse().ok().map(Given::Number),
            Kind::Step(over) => {
                let divided = over
                    .iter()
                    .find_map(|over| Some((text.strip_suffix(over)?.strip_suffix('/')?, *over)));
                match divided {
                    Some((c, over)) => c.trim().parse().ok().map(|c| Given::Over(c, over)),
                    None => text.trim().parse().ok().map(Given::Number),
                }
            }
            Kind::Choice => None,
        }
    }

    fn typed(&self, value: &Value) -> Option<Given> {
        match (self.kind, value) {
            (Kind::Flag, Value::Bool(flag)) => Some(Given::Flag(*flag)),
            (Kind::Whole { .. }, Value::Int(value)) => Some(Given::Whole(*value)),
            (Kind::Whole { .. }, Value::Float(value)) => whole(*value),
            (Kind::Number(_) | Kind::Step(_), Value::Float(value)) => Some(Given::Number(*value)),
            (Kind::Number(_) | Kind::Step(_), Value::Int(value)) => {
                Some(Given::Number(*value as f64))
            }
            _ => None,
        }
    }

    fn allows(&self, given: Given) -> bool {
        match (self.kind, given) {
            (Kind::Whole { least, most }, Given::Whole(value)) => (least..=most).contains(&value),
            (Kind::Number(bounds), Given::Number(value)) => bounds.contain(value),
            (Kind::Step(_), Given::Number(value) | Given::Over(value, _)) => {
                Bounds::above(0.0).contain(value)
            }
            (_, Given::Word(word)) => self.words.contains(&word),
            (Kind::Flag, Given::Flag(_)) => true,
            _ => false,
        }
    }
}

/// A number without a fraction that an `f64` holds exactly.
fn whole(value: f64) -> Option<Given> {
    let exact = value.fract() == 0.0 && (0.0..9e15).contains(&value);
    exact.then_some(Given::Whole(value as u64))
}
