//! Which columns are features: the same choice, with the same messages, for columns and for rows.

use std::collections::HashSet;

use keepnet::{Error, Result};

use crate::input::names::NameSet;
use crate::input::schema::{ColumnInfo, ColumnKind, Way};
use crate::{Categorical, OpenOptions};

/// The places of the columns that are features; an error for one that cannot be. Columns that are
/// `taken` are something else: a label, a key, the target, a weight, an offset or a covariate.
pub(crate) fn choose(
    columns: &[ColumnInfo],
    files: &[String],
    options: &OpenOptions,
    taken: impl Fn(usize) -> bool,
    way: Way,
) -> Result<Vec<usize>> {
    let wanted = NameSet::new(&options.columns, "columns")?;
    let unwanted = NameSet::new(&options.exclude, "exclude")?;
    if !wanted.is_empty() || !unwanted.is_empty() {
        let known = columns.iter().map(|c| c.name.as_str()).collect();
        wanted.check_known(&known).map_err(|e| e.at("--columns"))?;
        unwanted.check_known(&known).map_err(|e| e.at("--exclude"))?;
    }
    let mut chosen = Vec::with_capacity(columns.len());
    for (at, column) in columns.iter().enumerate() {
        let name = &column.name;
        let left_out = taken(at)
            || (wanted.is_empty() && is_pandas_index(name))
            || options.key.contains(name)
            || (!wanted.is_empty() && !wanted.contains(name))
            || (!unwanted.is_empty() && unwanted.contains(name));
        if !left_out
            && is_feature(column, options.categorical, way)
                .map_err(|e| e.at(&files[column.file as usize]))?
        {
            chosen.push(at);
        }
    }
    if chosen.is_empty() {
        return Err(no_feature(files));
    }
    Ok(chosen)
}

/// Whether a column is the index that pandas writes beside the columns; it numbers the rows.
fn is_pandas_index(name: &str) -> bool {
    let level = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    level.is_some_and(|level| !level.is_empty() && level.bytes().all(|b| b.is_ascii_digit()))
}

/// The error for an input without a feature.
pub(crate) fn no_feature(files: &[String]) -> Error {
    Error::Data("no column of the input is a feature".into()).at(files.join(", "))
}

/// Whether a column that may be a feature is one; an error where the user has to decide.
fn is_feature(column: &ColumnInfo, categorical: Categorical, way: Way) -> Result<bool> {
    let name = &column.name;
    match (&column.kind, categorical) {
        (ColumnKind::Text | ColumnKind::Other(_), Categorical::Skip) => Ok(false),
        (ColumnKind::Text, Categorical::Refuse) => {
            let ways = match way {
                Way::Columns => "skip, codes or onehot",
                Way::Rows => "skip",
            };
            Err(Error::Data(format!(
                "column {name:?} is text and no feature as it stands; choose --categorical {ways}, \
                 or --exclude {name:?}"
            )))
        }
        (ColumnKind::Text, _) if way == Way::Rows => Err(Error::Data(format!(
            "column {name:?} is text, whose levels are not known while rows come; choose \
             --categorical skip or --exclude {name:?}, or a method on features"
        ))),
        (ColumnKind::Other(kind), _) => Err(Error::Data(format!(
            "column {name:?} is of type {kind} and no feature; leave it out with --exclude \
             {name:?} or --categorical skip"
        ))),
        _ => Ok(true),
    }
}

/// Every name of `--always` is a feature; a level of a category goes by its column's name.
pub(crate) fn check_always<'a>(
    always: &HashSet<String>,
    features: impl Iterator<Item = &'a str>,
) -> Result<()> {
    if always.is_empty() {
        return Ok(());
    }
    let features: HashSet<&str> = features.collect();
    let known = |name: &str| features.contains(name);
    let part = |name: &str| {
        let level = name.split_once('=').is_some_and(|(column, _)| known(column));
        level || name.strip_suffix(":missing").is_some_and(known)
    };
    match always.iter().filter(|name| !known(name) && !part(name)).min() {
        None => Ok(()),
        Some(name) => Err(Error::Data(format!("there is no feature {name:?}")).at("--always")),
    }
}

/// A covariate must not have the name of a feature.
pub(crate) fn check_covariates<'a>(
    covariates: impl Iterator<Item = &'a str>,
    mut features: impl Iterator<Item = &'a str>,
) -> Result<()> {
    let covariates: HashSet<&str> = covariates.collect();
    match features.find(|name| covariates.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Error::Data(format!(
            "{name:?} is a feature and a covariate of another file; leave the feature out with \
             --exclude {name:?}, or rename one of them"
        ))
        .at("--covar")),
    }
}
