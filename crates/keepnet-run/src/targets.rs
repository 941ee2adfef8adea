//! Several targets of one read: what they allow, their lanes, and their files.

use std::path::{Path, PathBuf};

use keepnet::{Error, Result};

use crate::input::Columns;
use crate::lanes::{self, Arrangement};
use crate::outputs::{self, inputs::Inputs};
use crate::request::Request;
use crate::runner::Runner;

/// Refuses what has one target only.
pub(crate) fn check(request: &Request, runner: &dyn Runner, count: usize) -> Result<()> {
    if count == 1 {
        return Ok(());
    }
    let got = || format!("given with {count} targets");
    if request.run.state.is_some() {
        let want = "one target: a state is of one kept set; a run of its own for each target";
        return Err(Error::param("state", got(), want));
    }
    if request.output.reduced.is_some() {
        let want = "one target, as each has features and rows of its own; `keepnet apply` writes \
                    the columns of each from the result";
        return Err(Error::param("reduced", got(), want));
    }
    if !runner.several() {
        return Err(Error::param("target", format!("{count} targets"), "one over MPI ranks"));
    }
    Ok(())
}

/// The arrangement of each target, side by side.
pub(crate) fn arrange(request: &Request, opened: &Columns) -> Result<Vec<Box<dyn Arrangement>>> {
    let features = keepnet::FeatureSource::features(&opened.source);
    let one = |target: &crate::input::Aim| {
        let made = lanes::arrange(request, &target.whole, features);
        made.map_err(|error| opened.named(target, error))
    };
    opened.targets.iter().map(one).collect()
}

/// The lane of each target that decides, with the target's name where there are several; the other
/// lanes of an arrangement serve to judge it.
pub(crate) fn deciding(
    opened: &Columns,
    arrangements: &[Box<dyn Arrangement>],
) -> Vec<(usize, Option<String>)> {
    let several = opened.targets.len() > 1;
    let firsts = arrangements.iter().scan(0, |next, arrangement| {
        let first = *next;
        *next += arrangement.asks().len();
        Some(first)
    });
    let named = |(first, target): (usize, &crate::input::Aim)| {
        (first, several.then(|| target.name.clone()))
    };
    firsts.zip(&opened.targets).map(named).collect()
}

/// The file of each target in a folder: its name, without what a path cannot have.
pub(crate) fn files<'a>(
    folder: &Path,
    names: impl Iterator<Item = &'a str>,
) -> Result<Vec<PathBuf>> {
    let mut files: Vec<(&str, PathBuf)> = Vec::new();
    for name in names {
        let plain = |c: char| if c.is_alphanumeric() || "._-+=@".contains(c) { c } else { '_' };
        let mut file: String = name.chars().map(plain).collect();
        if file.is_empty() || file.starts_with('.') {
            file.insert(0, '_');
        }
        let file = folder.join(file + ".json");
        if let Some((other, _)) = files.iter().find(|(_, known)| *known == file) {
            let got = format!("{}, where {other:?} and {name:?} have one file", folder.display());
            return Err(Error::param("output", got, "a .json file for all of them"));
        }
        files.push((name, file));
    }
    Ok(files.into_iter().map(|(_, file)| file).collect())
}

/// The folder of `--output DIR/`, made where it is not there; one that stays empty goes again.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder that was asked for, and finds out whether the files of these targets can be
    /// written there; none of them may be one of the `inputs`.
    pub(crate) fn ready<'a>(
        request: &Request,
        inputs: &Inputs,
        names: impl Iterator<Item = &'a str>,
    ) -> Result<Option<Self>> {
        let Some(path) = request.output.folder() else { return Ok(None) };
        let made = (!path.is_dir()).then(|| std::fs::create_dir(path)).transpose();
        let new = made.map_err(|e| Error::io(format!("cannot make {}", path.display()), e))?;
        let folder = new.map(|()| Self(path.to_path_buf()));
        let files = files(path, names)?;
        let outputs: Vec<_> = files.iter().map(|file| ("output", file.as_path())).collect();
        outputs::ready(&outputs, inputs)?;
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It fails where there is anything in it, as it should.
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_a_file_of_its_name_and_no_two_have_one() {
        let of = |names: &[&str]| {
            files(Path::new("out"), names.iter().copied()).map(|files| {
                files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>()
            })
        };
        let names = of(&["Y1", "a/b", "..", "", "H\u{f6}he (cm)"]).unwrap();
        assert_eq!(
            names,
            [
                "out/Y1.json",
                "out/a_b.json",
                "out/_...json",
                "out/_.json",
                "out/H\u{f6}he__cm_.json"
            ]
        );
        let error = of(&["a b", "a/b"]).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("\"a b\" and \"a/b\""), "{error}");
    }
}
