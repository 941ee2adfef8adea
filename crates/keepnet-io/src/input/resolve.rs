//! From what the user wrote to files: paths, globs, standard input, and `FILE:COLUMN`.

use std::path::{Path, PathBuf};

use keepnet::{Error, Result};

use crate::{Format, OpenOptions};

/// A file of the input, or standard input as `-`.
#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    pub(crate) path: String,
    pub(crate) format: Format,
}

/// The files with their formats; a glob stands for the sorted files that it matches.
///
/// A path that exists is a file before it is a glob. A missing file is reported here, before
/// anything is read.
pub(crate) fn resolve(inputs: &[String], options: &OpenOptions) -> Result<Vec<InputFile>> {
    let mut files = Vec::new();
    for input in inputs {
        let is_glob = input.contains(['*', '?', '[']) && !Path::new(input).exists();
        if !is_glob {
            files.push(file(input.clone(), options)?);
            continue;
        }
        let found = glob::glob(input).map_err(|e| {
            Error::param("input", format!("{input:?} ({})", e.msg), "a path or glob")
        })?;
        let before = files.len();
        for path in found {
            let path = path.map_err(|e| Error::io(e.path().display().to_string(), e.into()))?;
            files.push(file(path.to_string_lossy().into_owned(), options)?);
        }
        if files.len() == before {
            return Err(Error::Data(format!("no file matches {input:?}")));
        }
    }
    if files.is_empty() {
        return Err(Error::param("input", "empty", "at least one file"));
    }
    if files.iter().filter(|file| file.path == "-").count() > 1 {
        return Err(Error::param("input", "- twice", "- once: standard input can be read once"));
    }
    Ok(files)
}

fn file(path: String, options: &OpenOptions) -> Result<InputFile> {
    let piped = path == "-";
    if !piped {
        // A missing file is a better message than an unknown extension.
        std::fs::metadata(&path).map_err(|e| Error::io(&path, e))?;
    }
    let format = match options.format {
        Some(format) => format,
        None if piped => return Err(Error::param("format", "not given", "--format NAME with -")),
        None => Format::from_path(&path)?,
    };
    if piped && !format.info().piped {
        let name = format.name();
        return Err(Error::Unsupported(format!(
            "{name} is read in no fixed order and cannot come from standard input; give a file"
        )));
    }
    Ok(InputFile { path, format })
}

/// A path that exists and, after the first `:` that follows such a path, columns.
pub(crate) fn split(spec: &str) -> Option<(&str, Option<&str>)> {
    if spec.is_empty() {
        return None;
    }
    if Path::new(spec).is_file() {
        return Some((spec, None));
    }
    let colons = spec.match_indices(':').map(|(at, _)| at);
    let mut found = colons.filter(|at| Path::new(&spec[..*at]).is_file());
    found.next().map(|at| (&spec[..at], Some(&spec[at + 1..])))
}

/// Every file that a text may stand for where it is an input or a column: itself, what it matches
/// as a glob, or what comes before a `:`. For those who must not touch a file that is read.
pub fn named_files(spec: &str) -> impl Iterator<Item = PathBuf> {
    let colons = spec.match_indices(':').map(|(at, _)| &spec[..at]);
    let itself = colons.chain([spec]).map(PathBuf::from).filter(|path| path.is_file());
    let matched = glob::glob(spec).into_iter().flatten().filter_map(Result::ok);
    itself.chain(matched).collect::<Vec<_>>().into_iter()
}
