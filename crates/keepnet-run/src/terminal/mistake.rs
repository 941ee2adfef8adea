//! What is wrong with a command line, in one line, and what was meant.

use std::error::Error as _;
use std::num::{ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Flags of one letter, which people write with two dashes.
const LETTERS: &str = "kqohV";

/// The first lines of clap's text as one, with a question where something near is known.
pub(super) fn line(error: &clap::Error) -> String {
    let got = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    if let (Some(flag), Some(value)) =
        (got(ContextKind::InvalidArg), got(ContextKind::InvalidValue))
        && let Some(want) = number(error)
    {
        let flag = flag.split_whitespace().next().unwrap_or(flag);
        return format!("{flag} is {value:?}, expected {want}");
    }
    let text = error.to_string();
    let ends = ["\n\nUsage:", "\n\n  tip:", "\n\nFor more"];
    let said = ends.iter().fold(text.as_str(), |said, end| said.split(end).next().unwrap_or(said));
    let said = said.strip_prefix("error: ").unwrap_or(said);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    match meant(error) {
        Some(meant) => format!("{said}; did you mean {meant}?"),
        None => said,
    }
}

/// What a value should have been, where it was read as a number.
fn number(error: &clap::Error) -> Option<&'static str> {
    let source = error.source()?;
    if source.is::<ParseIntError>() {
        return Some("a whole number");
    }
    source.is::<ParseFloatError>().then_some("a number")
}

/// The flag or the command that was meant.
fn meant(error: &clap::Error) -> Option<String> {
    let suggested = match error.kind() {
        ErrorKind::InvalidSubcommand => ContextKind::SuggestedSubcommand,
        ErrorKind::UnknownArgument => ContextKind::SuggestedArg,
        _ => return None,
    };
    if let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg)
        && let Some(letter) = flag.strip_prefix("--")
        && letter.len() == 1
        && LETTERS.contains(letter)
    {
        return Some(format!("-{letter}"));
    }
    match error.get(suggested)? {
        ContextValue::String(one) => Some(one.clone()),
        ContextValue::Strings(several) if !several.is_empty() => Some(several.join(", ")),
        _ => None,
    }
}
