//! From what the user wrote to files: paths, globs, standard input, and `FILE:COLUMN`.

use std::path::{Path, PathBuf};

use keepnet::{Error, Result};

use crate::formats::bed::Names;
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
    let mut files: Vec<InputFile> = Vec::new();
    for input in inputs {
        let is_glob = input.contains(['*', '?', '[']) && !Path::new(input).exists();
        if !is_glob {
            files.push(file(input.clone(), options)?);
            continue;
        }
        let before = files.len();
        let found = glob::glob(input).map_err(|e| {
            Error::param("input", format!("{input:?} ({})", e.msg), "a path or glob")
        })?;
        for path in found {
            let path = path.map_err(|e| Error::io(e.path().display().to_string(), e.into()))?;
            let found = file(path.to_string_lossy().into_owned(), options)?;
            // The three files of genotypes are one input.
            if found.format != Format::Bed || !files[before..].iter().any(|f| f.path == found.path)
            {
                files.push(found);
            }
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

fn file(mut path: String, options: &OpenOptions) -> Result<InputFile> {
    let piped = path == "-";
    if let Some(bed) = genotypes(&path) {
        path = bed;
    }
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

/// Whether an input is of genotypes, by its name alone.
#[must_use]
pub fn has_genotypes(inputs: &[String], format: Option<Format>) -> bool {
    let by_name = |input: &String| {
        genotypes(input).is_some() || matches!(Format::from_path(input), Ok(Format::Bed))
    };
    format.map_or_else(|| inputs.iter().any(by_name), |format| format == Format::Bed)
}

/// The `.bed` of a prefix, or of one of the files beside it.
fn genotypes(path: &str) -> Option<String> {
    let prefix = !Path::new(path).is_file();
    let beside = path.ends_with(".bim") || path.ends_with(".fam");
    let bed = (prefix || beside).then(|| Names::of(path).bed).filter(|bed| bed.is_file())?;
    Some(bed.to_string_lossy().into_owned())
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
    let beside = genotypes(spec).or_else(|| spec.ends_with(".bed").then(|| spec.into()));
    let beside = beside.map(|bed| Names::of(&bed)).into_iter();
    let beside = beside.flat_map(|names| [names.bed, names.bim, names.fam]);
    let matched = glob::glob(spec).into_iter().flatten().filter_map(Result::ok);
    itself
        .chain(beside.filter(|path| path.is_file()))
        .chain(matched)
        .collect::<Vec<_>>()
        .into_iter()
}
