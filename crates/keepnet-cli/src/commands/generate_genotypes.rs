//! `keepnet generate genotypes`: a triple of PLINK files, traits in a table, and the truth.

use std::io::Write;
use std::path::{Path, PathBuf};

use keepnet::{Error, Result};
use keepnet_papers::genotypes::{GenotypeSettings, Genotypes, SETTINGS};
use keepnet_run::outputs::atomic::{self, Pending};
use keepnet_run::outputs::inputs::Inputs;
use keepnet_run::outputs::{self as files};
use keepnet_run::request::extension;
use keepnet_run::request::text::by_key;
use keepnet_run::terminal::signals;

use crate::flags::GenerateArgs;

/// The workload's name.
pub(super) const NAME: &str = "genotypes";

/// Its line of `--list`.
pub(super) fn line() -> Vec<String> {
    let own = SETTINGS.map(|(name, default)| format!("{name}={default}"));
    let what = "PLINK files with linkage disequilibrium, traits in X.phe; --output X.bed";
    vec![NAME.into(), own.join(" "), what.into()]
}

/// Writes `X.bed`, `X.bim`, `X.fam`, the traits and the truth.
pub(super) fn run(args: &GenerateArgs, output: &Path) -> Result<()> {
    let settings = GenotypeSettings::parse(&by_key(&args.settings)?, args.seed)?;
    if extension(output) != "bed" {
        return Err(Error::param("output", output.display(), "a .bed"));
    }
    let paths = ["bed", "bim", "fam"].map(|extension| Some(output.with_extension(extension)));
    let traits = args.target.clone().or_else(|| Some(output.with_extension("phe")));
    let [bed, bim, fam] = &paths;
    let outputs = [
        ("output", bed),
        ("output", bim),
        ("output", fam),
        ("target", &traits),
        ("truth", &args.truth),
    ];
    signals::listen()?;
    files::ready(&files::given(outputs), &Inputs::default())?;
    let mut made = Genotypes::new(settings.clone());
    let mut all = vec![
        write(bed, |out| {
            out.write_all(&[0x6c, 0x1b, 1])?;
            let mut bytes = Vec::new();
            while made.next(&mut bytes) {
                out.write_all(&bytes)?;
            }
            Ok(())
        })?,
        write(bim, |out| {
            (0..settings.p).try_for_each(|j| {
                let chromosome = 1 + j * 22 / settings.p;
                writeln!(out, "{chromosome}\trs{j}\t0\t{}\tA\tG", 1000 * (j + 1))
            })
        })?,
    ];
    if args.truth.is_some() {
        all.push(write(&args.truth, |out| {
            writeln!(out, "trait,index,name,weight")?;
            for (t, causal) in made.truth().iter().enumerate() {
                for (j, weight) in causal {
                    writeln!(out, "Y{},{j},rs{j},{weight}", t + 1)?;
                }
            }
            Ok(())
        })?);
    }
    let values = made.traits();
    all.push(write(fam, |out| {
        let mut people = values[0].iter().enumerate();
        people.try_for_each(|(i, y)| writeln!(out, "F{i} I{i} 0 0 {} {y}", 1 + i % 2))
    })?);
    all.push(write(&traits, |out| {
        let names: String = (1..=values.len()).map(|t| format!(" Y{t}")).collect();
        writeln!(out, "FID IID{names}")?;
        (0..settings.n).try_for_each(|i| {
            let row: String = values.iter().map(|y| format!(" {}", y[i])).collect();
            writeln!(out, "F{i} I{i}{row}")
        })
    })?);
    atomic::publish(all)
}

fn write(
    path: &Option<PathBuf>,
    fill: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<Pending> {
    let path = path.as_deref().expect("every file has a name");
    let pending = Pending::new(path)?;
    let mut out = pending.writer()?;
    let filled = fill(&mut out).and_then(|()| out.flush());
    filled.map_err(|error| pending.failed(Error::io(path.display().to_string(), error)))?;
    Ok(pending)
}
