//! The head of a file of separated values: the names of its columns.

use keepnet::{Error, Result};

use crate::formats::csv::parse::{Kind, Shape};
use crate::formats::text::count_lines;
use crate::input::names::check_unique;
use crate::memory::Charge;

/// What the first line said.
pub(crate) struct Head {
    pub(crate) names: Vec<String>,
    /// Whether the first line holds numbers, so that the names are made up.
    pub(crate) unnamed: bool,
    /// What stands between values.
    pub(crate) separator: u8,
    /// The line at which the rows begin, from 1.
    pub(crate) line: u64,
    /// What the names take.
    pub(crate) described: Charge,
}

impl Head {
    /// Takes the head off a text; `describe` makes room for so many columns.
    pub(crate) fn take(
        text: &mut Vec<u8>,
        separator: u8,
        describe: impl FnOnce(u64) -> Result<Charge>,
    ) -> Result<Self> {
        let blank = text.iter().take_while(|b| matches!(b, b'\n' | b'\r')).count();
        let mut line = 1 + count_lines(&text[..blank]);
        text.drain(..blank);
        if text.is_empty() {
            return Err(no_rows());
        }
        let separator = recognise(text, separator);
        let shape = Shape { separator, kinds: &[], names: &[] };
        let described = describe(shape.width(text))?;
        let (fields, used) = shape.fields(text);
        let kinds: Vec<_> = fields.iter().map(|field| Kind::of(field)).collect();
        let unnamed = kinds.contains(&Some(Kind::Number))
            && kinds.iter().all(|kind| matches!(kind, None | Some(Kind::Number)));
        let name = |(j, field): (usize, String)| match (unnamed, field.is_empty()) {
            (true, _) => format!("f{j}"),
            (false, true) => format!("column{j}"),
            (false, false) => field,
        };
        let names: Vec<String> = fields.into_iter().enumerate().map(name).collect();
        if !unnamed {
            line += count_lines(&text[..used]);
            text.drain(..used);
        }
        check_unique(names.iter().map(String::as_str))?;
        Ok(Self { names, unnamed, line, separator, described })
    }
}

/// The separator of a text whose first line has none of the expected kind: another one that its
/// first two lines have, as in `a;b` under the name of CSV.
fn recognise(text: &[u8], expected: u8) -> u8 {
    let mut lines = text.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let (Some(first), second) = (lines.next(), lines.next()) else { return expected };
    if outside_quotes(first, expected) > 0 {
        return expected;
    }
    let fits = |separator: &u8| {
        let there = |line: &[u8]| outside_quotes(line, *separator) > 0;
        there(first) && second.is_none_or(there)
    };
    [b',', b';', b'\t'].into_iter().find(fits).unwrap_or(expected)
}

/// How often a byte stands in a line outside quotes.
fn outside_quotes(line: &[u8], byte: u8) -> usize {
    let mut quoted = false;
    let counts = |b: &&u8| {
        quoted ^= **b == b'"';
        !quoted && **b == byte
    };
    line.iter().filter(counts).count()
}

/// A file without a line after its head.
pub(crate) fn no_rows() -> Error {
    Error::Data("the file has no rows".into())
}
