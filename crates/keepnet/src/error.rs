//! The one error type of the engine.
//!
//! Messages are lower case, name the datum that is wrong and say what to do. The engine does
//! not know files: the edge adds the path and the feature with [`Error::at`]. Nor does it know flags:
//! an argument is marked as `` `memory` `` or `` `ridge=0.01` ``, which Python shows as it is and the
//! program turns into its flags.

use std::borrow::Cow;
use std::fmt;

/// A `Result` with keepnet's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong, with the datum that shows it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A column, target or weight vector of the wrong length.
    #[error("{what} has {got} rows, expected {want}")]
    Rows {
        /// What was measured, for example "the target".
        what: String,
        /// Its length.
        got: usize,
        /// The length that the rest of the data has.
        want: usize,
    },
    /// A setting out of range.
    #[error("{name} is {got}, expected {want}")]
    Param {
        /// The setting's name.
        name: &'static str,
        /// What was given.
        got: String,
        /// What is accepted.
        want: Cow<'static, str>,
    },
    /// A missing or infinite value under the policy that refuses them.
    #[error(
        "feature {name:?} has a missing or infinite value at row {row}; \
         choose `missing=drop-feature`, mean, zero or indicator"
    )]
    Missing {
        /// The feature's name.
        name: String,
        /// The zero-based input row.
        row: usize,
    },
    /// More memory than the budget allows.
    #[error("{what} needs {need} but the budget is {have}; {advice}")]
    Budget {
        /// What asked for memory.
        what: String,
        /// Bytes wanted.
        need: Bytes,
        /// Bytes allowed.
        have: Bytes,
        /// What the user can change.
        advice: &'static str,
    },
    /// A feature name that occurs twice.
    #[error("feature name {name:?} occurs more than once; rename one of the columns")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A checkpoint or saved state that must not be used.
    #[error("the saved state cannot be used: {0}")]
    Snapshot(String),
    /// The data or the combination of settings has no answer.
    #[error("{0}")]
    Data(String),
    /// A result that contradicts itself: never the user's fault.
    #[error(
        "{0}: this is a defect of keepnet, and no answer is given; please report it with the \
         command, the settings and, if you can, the data"
    )]
    Defect(String),
    /// What was asked is not possible with this source or method.
    #[error("{0}")]
    Unsupported(String),
    /// Reading or writing failed.
    #[error("{context}: {source}")]
    Io {
        /// The file and what was being done to it.
        context: String,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// An error with the place where it happened.
    #[error("{place}: {source}")]
    At {
        /// A file or a feature.
        place: String,
        /// What happened there.
        source: Box<Error>,
    },
}

impl Error {
    /// Adds the place, a file or a feature, in front of the message.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> Self {
        Self::At { place: place.to_string(), source: Box::new(self) }
    }

    /// A setting out of range.
    pub fn param(
        name: &'static str,
        got: impl fmt::Display,
        want: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::Param { name, got: got.to_string(), want: want.into() }
    }

    /// Numbers that left the range of f64 on the way to an answer.
    pub(crate) fn overflow(what: &str) -> Self {
        Self::Data(format!(
            "{what} are no finite numbers any more; scale the columns and the target to deviations \
             nearer to 1"
        ))
    }

    /// A failed read or write, with what was being done.
    pub fn io(context: impl fmt::Display, source: std::io::Error) -> Self {
        Self::Io { context: context.to_string(), source }
    }

    /// The innermost error, past every [`Error::At`].
    #[must_use]
    pub fn root(&self) -> &Self {
        match self {
            Self::At { source, .. } => source.root(),
            other => other,
        }
    }

    /// Whether the call was wrong (exit status 2) and not the run (exit status 1).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self.root(), Self::Param { .. })
    }
}

/// A number of bytes, shown in binary units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["KiB", "MiB", "GiB", "TiB"];
        let mut value = self.0 as f64;
        let mut unit = "bytes";
        for next in units {
            if value < 1024.0 {
                break;
            }
            value /= 1024.0;
            unit = next;
        }
        if unit == "bytes" { write!(f, "{} bytes", self.0) } else { write!(f, "{value:.1} {unit}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_in_binary_units() {
        assert_eq!(Bytes(12).to_string(), "12 bytes");
        assert_eq!(Bytes(1536).to_string(), "1.5 KiB");
        assert_eq!(Bytes(300 << 20).to_string(), "300.0 MiB");
    }

    #[test]
    fn places_stack_in_front_of_the_message() {
        let error = Error::param("k", 0, "at least 1").at("x.npy");
        assert_eq!(error.to_string(), "x.npy: k is 0, expected at least 1");
        assert!(error.is_usage());
    }
}
