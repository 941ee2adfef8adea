//! The files that a call reads, so that no output takes the place of one of them.

use std::path::{Path, PathBuf};

use keepnet::{Error, Result};
use keepnet_io::platform::identity;

use crate::request::text::Names;

/// Files that are read, each with the flag that names it.
#[derive(Default)]
pub struct Inputs(Vec<(&'static str, PathBuf)>);

impl Inputs {
    /// Adds files, globs, `-`, or `FILE:COLUMN`; what names no file adds none.
    #[must_use]
    pub fn with<'a>(
        mut self,
        flag: &'static str,
        texts: impl IntoIterator<Item = &'a String>,
    ) -> Self {
        for text in texts {
            match text.as_str() {
                "-" => self.0.push((flag, PathBuf::from("/dev/stdin"))),
                text => self.0.extend(keepnet_io::named_files(text).map(|path| (flag, path))),
            }
        }
        self
    }

    /// Adds the files of `@FILE` in lists of names.
    #[must_use]
    pub fn lists(mut self, flag: &'static str, lists: &[Names]) -> Self {
        let files = lists.iter().filter_map(Names::file);
        self.0.extend(files.map(|path| (flag, PathBuf::from(path))));
        self
    }

    /// Adds files by their paths.
    #[must_use]
    pub fn files<'a>(
        mut self,
        flag: &'static str,
        paths: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Self {
        self.0.extend(paths.into_iter().map(|path| (flag, path.clone())));
        self
    }

    /// Refuses an output that is one of these files, by whatever path or link.
    pub fn refuse(&self, outputs: &[(&'static str, &Path)]) -> Result<()> {
        for (flag, output) in outputs {
            let Some(place) = identity(output) else { continue };
            let same = self.0.iter().find(|(_, path)| identity(path) == Some(place));
            if let Some((by, input)) = same {
                let (output, input) = (output.display(), input.display());
                let got = format!("{output}, which is read as {input} ({by})");
                return Err(Error::param(flag, got, "a file that is not read"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn one_file_is_known_by_every_path_and_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("x.csv"), "a\n").unwrap();
        std::fs::write(at("other.csv"), "a\n").unwrap();
        std::fs::hard_link(at("x.csv"), at("hard.csv")).unwrap();
        std::os::unix::fs::symlink(at("x.csv"), at("soft.csv")).unwrap();
        let spec = format!("{}:col", at("x.csv").display());
        let glob = at("x.*").display().to_string();
        for input in [spec, glob] {
            let inputs = Inputs::default().with("--target", [&input]);
            for name in ["x.csv", "hard.csv", "soft.csv", "./x.csv"] {
                let error = inputs.refuse(&[("output", &at(name))]).unwrap_err();
                assert!(error.is_usage() && error.to_string().contains("--target"), "{error}");
            }
            inputs.refuse(&[("output", &at("other.csv")), ("report", &at("new.html"))]).unwrap();
        }
    }
}
