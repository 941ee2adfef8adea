//! Saved state: versioned, checksummed, and refused when it is of other data or settings.
//!
//! ```text
//! "keepnet\0" | format u32 | header length u64 | body length u64 | header | body | crc32 of all before
//! ```
//!
//! The header says what the state belongs to and is compared before the body is looked at.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::error::{Error, Result};

/// A state that can be saved and taken up again with every digit the same.
pub trait Snapshot {
    /// The whole state.
    fn save(&self) -> Result<Vec<u8>>;

    /// Takes up a state that [`Snapshot::save`] gave, on a selector made with the same settings.
    fn restore(&mut self, state: &[u8]) -> Result<()>;
}

/// Encodes one part of a state.
pub fn encode<T: Serialize>(part: &T) -> Result<Vec<u8>> {
    postcard::to_stdvec(part).map_err(|e| Error::Snapshot(format!("it cannot be written ({e})")))
}

/// Decodes one part of a state.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|e| Error::Snapshot(format!("it is damaged ({e})")))
}

/// Refuses a state whose parts do not fit together: its checksum is right, so it was not damaged
/// on the way but made by something else. Indices and lengths may be relied on after this.
pub fn ensure(fits: bool, what: &str) -> Result<()> {
    match fits {
        true => Ok(()),
        false => Err(Error::Snapshot(format!("it is no state of this run ({what})"))),
    }
}

/// Whether rows that were read back are a lower triangle of `n` columns; `own` is 1 where the
/// diagonal is among them.
#[must_use]
pub fn is_lower(rows: &[Vec<f64>], n: usize, own: usize) -> bool {
    rows.len() == n && rows.iter().enumerate().all(|(i, row)| row.len() == i + own)
}

/// What a saved state belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Version of keepnet.
    pub version: String,
    /// Fingerprint of the data: size, time, header.
    pub data: u64,
    /// Fingerprint of target, weights, offset, covariates and rows.
    pub problem: u64,
    /// Every setting, as text.
    pub settings: String,
}

impl Identity {
    /// Whether a state saved as `saved` may be used here; the reason where it may not.
    pub fn check(&self, saved: &Self) -> Result<()> {
        let reason = if saved.version != self.version {
            format!("it was written by version {}, this is {}", saved.version, self.version)
        } else if saved.data != self.data {
            "it belongs to other data (the files' size, time or header differ)".into()
        } else if saved.problem != self.problem {
            "it belongs to another target, weights or rows".into()
        } else if saved.settings != self.settings {
            let (then, now) =
                (others(&saved.settings, &self.settings), others(&self.settings, &saved.settings));
            format!("it was made with other settings ({then}, now {now})")
        } else {
            return Ok(());
        };
        Err(Error::Snapshot(format!("{reason}; remove the file to start afresh")))
    }
}

/// The words of `a` that `b` has not.
fn others(a: &str, b: &str) -> String {
    let there: Vec<&str> = b.split(' ').collect();
    let words: Vec<&str> = a.split(' ').filter(|word| !there.contains(word)).collect();
    if words.is_empty() { "nothing else".into() } else { words.join(" ") }
}

const MAGIC: &[u8; 8] = b"keepnet\0";
const FORMAT: u32 = 1;
const FIXED: usize = 8 + 4 + 8 + 8;

/// Wraps a state with its identity and checksum.
pub fn seal(identity: &Identity, body: &[u8]) -> Result<Vec<u8>> {
    let header = encode(identity)?;
    let mut out = Vec::with_capacity(FIXED + header.len() + body.len() + 4);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&FORMAT.to_le_bytes());
    out.extend_from_slice(&(header.len() as u64).to_le_bytes());
    out.extend_from_slice(&(body.len() as u64).to_le_bytes());
    out.extend_from_slice(&header);
    out.extend_from_slice(body);
    out.extend_from_slice(&crc32fast::hash(&out).to_le_bytes());
    Ok(out)
}

/// Opens a sealed state; an error where it is damaged or belongs to something else.
pub fn open<'a>(identity: &Identity, bytes: &'a [u8]) -> Result<&'a [u8]> {
    let (saved, body) = unseal(bytes)?;
    identity.check(&saved)?;
    Ok(body)
}

/// Opens a sealed state without asking what it belongs to; an error where it is damaged.
pub fn unseal(bytes: &[u8]) -> Result<(Identity, &[u8])> {
    let damaged = |why: &str| {
        Error::Snapshot(format!("it is damaged ({why}); remove the file to start afresh"))
    };
    if bytes.len() < FIXED + 4 {
        return Err(damaged("too short"));
    }
    if &bytes[..8] != MAGIC {
        return Err(Error::Snapshot("it is no keepnet checkpoint".into()));
    }
    let (rest, crc) = bytes.split_at(bytes.len() - 4);
    if crc32fast::hash(rest).to_le_bytes() != crc {
        return Err(damaged("its checksum does not match"));
    }
    let format = u32::from_le_bytes(rest[8..12].try_into().expect("four bytes"));
    if format != FORMAT {
        return Err(Error::Snapshot(format!(
            "its format is {format}, this version reads {FORMAT}"
        )));
    }
    let length = |at: usize| u64::from_le_bytes(rest[at..at + 8].try_into().expect("eight bytes"));
    let (header, body) = (length(12) as usize, length(20) as usize);
    if FIXED.checked_add(header).and_then(|n| n.checked_add(body)) != Some(rest.len()) {
        return Err(damaged("its lengths do not add up"));
    }
    Ok((decode(&rest[FIXED..FIXED + header])?, &rest[FIXED + header..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity { version: "0.1.0".into(), data: 1, problem: 2, settings: "k=3".into() }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let sealed = seal(&identity(), b"state").unwrap();
        assert_eq!(open(&identity(), &sealed).unwrap(), b"state");
        for at in 0..sealed.len() {
            for bit in 0..8 {
                let mut flipped = sealed.clone();
                flipped[at] ^= 1 << bit;
                assert!(open(&identity(), &flipped).is_err(), "byte {at} bit {bit}");
            }
            assert!(open(&identity(), &sealed[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn a_state_of_something_else_is_refused_with_the_reason() {
        let sealed = seal(&identity(), b"state").unwrap();
        let refused = |change: fn(&mut Identity)| {
            let mut other = identity();
            change(&mut other);
            open(&other, &sealed).unwrap_err().to_string()
        };
        assert!(refused(|i| i.version = "9.9.9".into()).contains("version 0.1.0"));
        assert!(refused(|i| i.data = 9).contains("other data"));
        assert!(refused(|i| i.problem = 9).contains("another target"));
        assert!(refused(|i| i.settings = "k=4".into()).contains("k=3"));
    }
}
