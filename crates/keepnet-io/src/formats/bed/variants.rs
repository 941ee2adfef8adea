//! `.bim`: a line a variant, of chromosome, id, centimorgans, position, A1 and A2.
//!
//! The text is held and a line is read again when a variant is asked for: a result names few of many.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use keepnet::{Error, Result};

use super::{PEOPLE, bad_line, read};
use crate::memory::Charge;
use crate::store::Place;

/// A variant as its file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its chromosome, as text.
    pub chromosome: String,
    /// Its position.
    pub position: i64,
    /// The allele that is counted.
    pub a1: String,
    /// The other one.
    pub a2: String,
}

/// The variants of a file.
pub(super) struct Variants {
    path: PathBuf,
    text: String,
    // Where the line of each variant starts, and its number in the file.
    lines: Vec<(usize, u32)>,
    /// Lines of the file.
    pub(super) all: usize,
    _charge: Charge,
}

impl Variants {
    pub(super) fn read(path: &Path, place: &Place) -> Result<Self> {
        let (text, charge) = read(path, place)?;
        let (mut lines, mut start, mut all) = (Vec::new(), 0, 0);
        for line in text.split_inclusive('\n') {
            let at = start;
            start += line.len();
            if line.trim().is_empty() {
                continue;
            }
            let fields = fields(line).map_err(|what| bad_line(path, all + 1, what))?;
            // PLINK leaves variants of a negative position out.
            if fields.1 >= 0 {
                lines.push((at, all as u32));
            }
            all += 1;
        }
        if lines.is_empty() {
            let what =
                if all == 0 { "the file has no variant" } else { "every position is negative" };
            return Err(Error::Data(what.into()).at(path.display()));
        }
        Ok(Self { path: path.into(), text, lines, all, _charge: charge })
    }

    /// What the user should know of variants that are left out.
    pub(super) fn note(&self) -> Option<String> {
        let gone = self.all - self.lines.len();
        let path = self.path.display();
        (gone > 0)
            .then(|| format!("{gone} variants of {path} have a negative position and are left out"))
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Place in the file of a variant.
    pub(super) fn place(&self, at: usize) -> usize {
        self.lines[at].1 as usize
    }

    /// A variant of those that were not left out.
    pub(super) fn get(&self, at: usize) -> Variant {
        let ([chromosome, _, a1, a2], position) = self.fields(at);
        let [chromosome, a1, a2] = [chromosome, a1, a2].map(String::from);
        Variant { chromosome, position, a1, a2 }
    }

    fn fields(&self, at: usize) -> ([&str; 4], i64) {
        let line = self.text[self.lines[at].0..].lines().next().unwrap_or_default();
        fields(line).expect("the line was read before")
    }

    /// The name of each variant: its id where that is one of its own, else what tells it apart.
    pub(super) fn names(&self) -> Result<Vec<String>> {
        let ids = || (0..self.len()).map(|at| self.fields(at).0[1]);
        let mut count: HashMap<&str, bool> = HashMap::with_capacity(self.len());
        PEOPLE.iter().for_each(|name| _ = count.insert(name, true));
        ids().for_each(|id| _ = count.entry(id).and_modify(|twice| *twice = true).or_insert(false));
        let name = |(at, id): (usize, &str)| match id == "." || count[id] {
            false => id.to_string(),
            true => {
                let ([chromosome, _, a1, a2], position) = self.fields(at);
                format!("{chromosome}:{position}:{a1}:{a2}")
            }
        };
        let names: Vec<String> = ids().enumerate().map(name).collect();
        let mut seen: HashMap<&str, usize> = HashMap::with_capacity(names.len());
        for (at, name) in names.iter().enumerate() {
            if let Some(first) = seen.insert(name, at) {
                let lines = (self.place(first) + 1, self.place(at) + 1);
                return Err(Error::Data(format!(
                    "lines {} and {} are both called {name:?}; give one of them another id",
                    lines.0, lines.1
                ))
                .at(self.path.display()));
            }
        }
        Ok(names)
    }
}

/// Chromosome, id, A1 and A2 of a line, and its position.
fn fields(line: &str) -> Result<([&str; 4], i64), String> {
    let fields: Vec<&str> = line.split_ascii_whitespace().take(7).collect();
    let [chromosome, id, _, position, a1, a2] = fields[..] else {
        let more = if fields.len() > 6 { "more than 6".into() } else { fields.len().to_string() };
        return Err(format!("has {more} fields, expected 6: chromosome, id, cM, position, A1, A2"));
    };
    let position = position
        .parse()
        .map_err(|_| format!("has the position {position:?}, expected a whole number"))?;
    Ok(([chromosome, id, a1, a2], position))
}
