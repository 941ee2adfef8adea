//! `.bed` by columns: a variant is a run of the file, handed on without a copy where it is mapped.

use std::fs::File;

use keepnet::{ColumnBlock, ColumnData, Error, GenotypeData, Numbers, Result};

use super::people::People;
use super::variants::{Variant, Variants};
use super::{Names, PEOPLE, sample_major};
use crate::formats::table::{Fingerprint, Schema, Table};
use crate::input::schema::{ColumnInfo, ColumnKind};
use crate::input::series::SeriesValues;
use crate::mapped::Contents;
use crate::memory::Charge;
use crate::store::Place;

/// Magic and mode.
pub(super) const HEAD: usize = 3;
/// The first two bytes of every file.
const MAGIC: [u8; 2] = [0x6c, 0x1b];

/// A `.bed` with its variants and people.
pub(crate) struct Bed {
    contents: Contents,
    // Where the first variant starts.
    start: usize,
    people: People,
    variants: Variants,
    columns: Vec<ColumnInfo>,
    fingerprint: u64,
    _described: Charge,
}

impl Bed {
    /// Opens the three files; errors name the one that they speak of.
    pub(crate) fn open(path: &str, place: &Place) -> Result<Self> {
        let names = Names::of(path);
        let bed = names.bed.display().to_string();
        let file = File::open(&names.bed).map_err(|e| Error::io(&bed, e))?;
        let meta = file.metadata().map_err(|e| Error::io(&bed, e))?;
        let by_variant = by_variant(&file).map_err(|e| e.at(&bed))?;
        let people = People::read(&names.fam, place)?;
        let variants = Variants::read(&names.bim, place)?;
        let mut print = Fingerprint::new();
        print.file(&meta);
        for path in [&names.bim, &names.fam] {
            let meta = std::fs::metadata(path);
            print.file(&meta.map_err(|e| Error::io(path.display().to_string(), e))?);
        }
        let (n, p) = (people.len() as u64, variants.all as u64);
        let (width, count) = if by_variant { (n, p) } else { (p, n) };
        let want = HEAD as u64 + width.div_ceil(4) * count;
        if meta.len() != want {
            let how = if meta.len() < want { "truncated" } else { "too long" };
            return Err(Error::Data(format!(
                "the file is {how}: it has {} bytes, and {p} variants of {} with {n} people of {} \
                 take {want}",
                meta.len(),
                names.bim.display(),
                names.fam.display()
            ))
            .at(&bed));
        }
        let contents = |file, length| Contents::new(file, length, place.reading);
        let opened = contents(file, want).map_err(|e| Error::io(&bed, e))?;
        let (contents, start) = match by_variant {
            true => (opened, HEAD),
            false => {
                let (turned, length) = sample_major::turn(&opened, n as usize, p as usize, place)?;
                (contents(turned, length).map_err(|e| Error::io(&bed, e))?, 0)
            }
        };
        let described = place.columns(variants.len() as u64)?;
        let ids = PEOPLE.iter().map(|name| (*name).to_string());
        // A missing genotype is filled with a mean: variants are numbers, not codes.
        let kind = |c: usize| if c < 2 { ColumnKind::Text } else { ColumnKind::Float };
        let columns = ids.chain(variants.names()?).enumerate();
        let columns: Vec<ColumnInfo> =
            columns.map(|(c, name)| ColumnInfo { name, kind: kind(c), file: 0 }).collect();
        let fingerprint = print.finish();
        Ok(Self { contents, start, people, variants, columns, fingerprint, _described: described })
    }

    /// Bytes of a variant.
    fn width(&self) -> usize {
        self.people.len().div_ceil(4)
    }

    /// Where the bytes of a variant are.
    fn place(&self, at: usize) -> usize {
        self.start + self.variants.place(at) * self.width()
    }

    /// Copies bytes of a variant, from that of row `first` on, which is a multiple of four.
    pub(super) fn copy(&self, variant: usize, first: usize, to: &mut [u8]) -> Result<()> {
        self.contents.copy((self.place(variant) + first / 4) as u64, to)
    }

    fn genotypes(&self, at: usize) -> Result<GenotypeData> {
        let (rows, start) = (self.people.len(), self.place(at));
        let genotypes = match self.contents.map() {
            Some(map) => GenotypeData::lent(rows, map.share(), start),
            None => {
                let mut bytes = vec![0; self.width()];
                self.contents.copy(start as u64, &mut bytes)?;
                GenotypeData::owned(rows, bytes, f64::NAN)
            }
        };
        genotypes.ok_or_else(|| Error::Data("the file became shorter".into()))
    }

    /// Lets the last read's pages go and asks for those of these variants.
    fn page(&self, at: &[usize]) {
        let Some(map) = self.contents.map() else { return };
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for c in at.iter().filter_map(|c| c.checked_sub(PEOPLE.len())) {
            let start = self.place(c);
            match runs.last_mut() {
                Some((_, end)) if *end == start => *end += self.width(),
                _ => runs.push((start, start + self.width())),
            }
        }
        map.turn_to(runs);
    }
}

/// Whether the file holds variant after variant, by its first bytes.
fn by_variant(file: &File) -> Result<bool> {
    use std::io::Read;
    let (mut head, mut file) = (Vec::new(), file);
    file.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(|e| Error::io("reading", e))?;
    match head[..] {
        [a, b, 1] if [a, b] == MAGIC => Ok(true),
        [a, b, 0] if [a, b] == MAGIC => Ok(false),
        [] => Err(Error::Data("not a PLINK 1 .bed file: it is empty".into())),
        _ => {
            let head: Vec<String> = head.iter().map(|byte| format!("{byte:02x}")).collect();
            let want = "a .bed file starts with 6c 1b 01, or 6c 1b 00 by person";
            Err(Error::Data(format!(
                "not a PLINK 1 .bed file (starts with {}; {want})",
                head.join(" ")
            )))
        }
    }
}

impl Schema for Bed {
    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The phenotype is the target where none is named.
    fn labels(&self) -> Vec<usize> {
        vec![3, 0, 1, 2]
    }

    fn note(&self) -> Option<String> {
        self.variants.note()
    }

    fn variant(&self, at: usize) -> Option<Variant> {
        Some(self.variants.get(at.checked_sub(PEOPLE.len())?))
    }
}

impl Table for Bed {
    fn rows(&self) -> usize {
        self.people.len()
    }

    fn read(&self, at: &[usize], _: &mut ColumnBlock, out: &mut Vec<ColumnData>) -> Result<()> {
        self.page(at);
        for c in at {
            out.push(match c.checked_sub(PEOPLE.len()) {
                Some(variant) => ColumnData::Genotypes(self.genotypes(variant)?),
                None => match self.people.series(*c)? {
                    SeriesValues::Numbers { values, .. } => ColumnData::Dense(Numbers::F64(values)),
                    SeriesValues::Text(_) => return Err(Error::Data("an id is no number".into())),
                },
            });
        }
        Ok(())
    }

    fn series(&self, at: usize) -> Result<SeriesValues> {
        match at < PEOPLE.len() {
            true => self.people.series(at),
            false => crate::formats::table::numbers(self, at),
        }
    }

    fn column_bytes(&self) -> u64 {
        self.width() as u64
    }

    fn scan_bytes(&self) -> u64 {
        (self.width() * self.variants.len()) as u64
    }
}
