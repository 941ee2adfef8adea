//! `--reduced F.bed`: the kept variants of the people that count, as PLINK 1 files.
//!
//! ```text
//! F.bed    the variants, at two bits a genotype as they are held; missing stays missing
//! F.bim    chromosome, name, 0, position, A1, A2
//! F.fam    FID, IID, 0, 0, sex, the target: numbers, or 1 and 2 of two classes
//! ```
//!
//! Variants come in the order of the input. Parents and genetic distances are not carried over.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use keepnet::selection::{Selected, Selection};
use keepnet::{CheckPolicy, Column, Error, Problem, Result, Target};
use keepnet_io::sink::{self, Cells};
use keepnet_io::{InputSource, Variant};

use super::atomic::Pending;
use super::reduced;

/// What a file by variant starts with.
const HEAD: [u8; 3] = [0x6c, 0x1b, 1];

/// Whether a path is that of a triple.
#[must_use]
pub fn is_triple(path: &Path) -> bool {
    crate::request::extension(path) == "bed"
}

/// Writes the three files; they still wait for their names.
pub fn write(
    path: &Path,
    source: &mut InputSource,
    selection: &Selection,
    problem: &Problem,
    policy: &CheckPolicy,
    width: usize,
) -> Result<Vec<Pending>> {
    let [bed, bim, fam] = ["bed", "bim", "fam"].map(|end| path.with_extension(end));
    let mut kept: Vec<(Selected, Variant)> = Vec::new();
    for feature in selection.pinned.iter().chain(&selection.selected) {
        let variant = source.variant(feature.id).filter(|_| feature.id == feature.id.base());
        let Some(variant) = variant else {
            let what = format!("{:?} is no variant; choose another extension", feature.name);
            return Err(Error::Unsupported(what).at(path.display()));
        };
        kept.push((feature.clone(), variant));
    }
    kept.sort_by_key(|(feature, _)| feature.id);
    let people = people(source, problem)?;
    let (selected, variants): (Vec<Selected>, Vec<Variant>) = kept.into_iter().unzip();
    let mut text = String::new();
    for (Selected { name, .. }, Variant { chromosome, position, a1, a2 }) in
        selected.iter().zip(&variants)
    {
        let _ = writeln!(text, "{chromosome}\t{name}\t0\t{position}\t{a1}\t{a2}");
    }
    let of_kept = Selection { selected, ..Selection::default() };
    let columns = reduced::columns(source, &of_kept, problem, policy, width)?;
    let pending = Pending::new(&bed)?;
    let mut out = pending.writer()?;
    let mut put =
        |bytes: &[u8]| out.write_all(bytes).map_err(|error| pending.failed(Error::io("", error)));
    put(&HEAD)?;
    for (name, cells) in &columns {
        let Cells::Numbers(data) = cells else { continue };
        let Column::Genotypes(x) = data.view() else {
            return Err(
                Error::Unsupported(format!("{name:?} holds no genotypes")).at(bed.display())
            );
        };
        let mut bytes = x.bytes().to_vec();
        if let Some(last) = bytes.last_mut().filter(|_| !x.rows().is_multiple_of(4)) {
            // Slots without a person are zero in a file.
            *last &= (1 << (2 * (x.rows() % 4))) - 1;
        }
        put(&bytes)?;
    }
    out.flush().map_err(|error| pending.failed(Error::io("", error)))?;
    Ok(vec![pending, Pending::whole(&bim, text.as_bytes())?, Pending::whole(&fam, &people)?])
}

/// The lines of the people that count.
fn people(source: &InputSource, problem: &Problem) -> Result<Vec<u8>> {
    let people = source.people()?;
    let mut out = Vec::new();
    for row in 0..problem.n() {
        let (fid, iid, sex) = &people[problem.rows.source_row(row)];
        out.extend(format!("{fid} {iid} 0 0 {sex} ").bytes());
        match &problem.target {
            Target::Numbers(y) => sink::push_number(&mut out, y[row]),
            Target::Classes { names, codes } if names.len() == 2 => {
                out.push(b'1' + codes[row] as u8);
            }
            Target::Classes { names, codes } => {
                let name = &names[codes[row] as usize];
                if name.parse::<f64>().is_err() {
                    let what = format!("class {name:?} is no number, which a .fam needs");
                    return Err(Error::Unsupported(what));
                }
                out.extend(name.bytes());
            }
        }
        out.push(b'\n');
    }
    Ok(out)
}
