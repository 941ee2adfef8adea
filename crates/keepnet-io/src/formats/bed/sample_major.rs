//! A `.bed` of mode 00, person after person, turned into variant after variant in a temporary file.
//!
//! Some variants at a time: their bits of each person are read and put in their places. So a pass
//! reads a strip of the file, and memory holds those variants only.

use std::fs::File;

use keepnet::{Error, Result};

use super::table::HEAD;
use crate::mapped::Contents;
use crate::store::{Place, Spill};

/// The turned file and its length.
pub(super) fn turn(from: &Contents, n: usize, p: usize, place: &Place) -> Result<(File, u64)> {
    let (person, variant) = (p.div_ceil(4), n.div_ceil(4));
    let together = (place.chunk() / (4 * variant)).clamp(1, person);
    let mut out = Spill::new(place)?;
    let mut strip = vec![0; together];
    for first in (0..person).step_by(together) {
        place.go_on()?;
        let strip = &mut strip[..together.min(person - first)];
        let mut turned = vec![0; 4 * strip.len() * variant];
        for i in 0..n {
            from.copy((HEAD + i * person + first) as u64, strip)?;
            for (at, byte) in strip.iter().enumerate() {
                for j in 0..4 {
                    turned[(4 * at + j) * variant + i / 4] |=
                        (byte >> (2 * j) & 3) << (2 * (i % 4));
                }
            }
        }
        // The last byte of a person may have room for variants that there are not.
        turned.truncate((p - 4 * first).min(4 * strip.len()) * variant);
        out.append(&turned)?;
    }
    let file = out.file().try_clone().map_err(|e| Error::io("a temporary file", e))?;
    Ok((file, out.len()))
}
