//! Column names: uniqueness, globs, and names that were nearly right.

use std::collections::HashSet;

use glob::Pattern;
use keepnet::near::hint;
use keepnet::{Error, Result};

/// Refuses a name that occurs twice.
pub(crate) fn check_unique<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Error::Duplicate { name: name.into() });
        }
    }
    Ok(())
}

/// A set of columns given by names, globs and `@FILE` lists.
pub(crate) struct NameSet {
    exact: HashSet<String>,
    globs: Vec<Pattern>,
    // What the user wrote, to report what matched nothing.
    entries: Vec<String>,
}

impl NameSet {
    /// Reads the lists; `flag` is named in errors.
    pub(crate) fn new(given: &[String], flag: &'static str) -> Result<Self> {
        let mut entries = Vec::new();
        for entry in given {
            match entry.strip_prefix('@') {
                None => entries.push(entry.clone()),
                Some(path) => {
                    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
                    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                    entries.extend(lines.map(String::from));
                }
            }
        }
        let mut globs = Vec::new();
        for entry in entries.iter().filter(|entry| is_glob(entry)) {
            let pattern = Pattern::new(entry)
                .map_err(|e| Error::param(flag, entry, "names or globs").at(e.msg))?;
            globs.push(pattern);
        }
        Ok(Self { exact: entries.iter().cloned().collect(), globs, entries })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.exact.contains(name) || self.globs.iter().any(|glob| glob.matches(name))
    }

    /// An error for the first entry that names no column, or is a glob that matches none.
    pub(crate) fn check_known(&self, names: &HashSet<&str>) -> Result<()> {
        for entry in self.entries.iter().filter(|entry| !names.contains(entry.as_str())) {
            if !is_glob(entry) {
                return Err(unknown(entry, names.iter().copied()));
            }
            let glob = self.globs.iter().find(|glob| glob.as_str() == entry);
            if !glob.is_some_and(|glob| names.iter().any(|name| glob.matches(name))) {
                return Err(Error::Data(format!("no column matches {entry:?}")));
            }
        }
        Ok(())
    }
}

fn is_glob(entry: &str) -> bool {
    entry.contains(['*', '?', '['])
}

/// The error for a column that is not there, with names that look like it.
pub(crate) fn unknown<'a>(name: &str, columns: impl Iterator<Item = &'a str>) -> Error {
    Error::Data(format!("there is no column {name:?}{}", near(name, columns)))
}

/// The error for what is neither a column nor a file.
pub(crate) fn no_column_or_file<'a>(name: &str, columns: impl Iterator<Item = &'a str>) -> Error {
    let near = near(name, columns);
    Error::Data(format!("{name:?} is neither a column of the input nor a file{near}"))
}

/// The columns that look most like `name`, for the end of an error.
fn near<'a>(name: &str, columns: impl Iterator<Item = &'a str>) -> String {
    let near = keepnet::near::near(name, columns.take(200_000));
    let quoted: Vec<String> = near.iter().map(|column| format!("{column:?}")).collect();
    hint(&quoted.iter().map(String::as_str).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_offered() {
        let columns = ["price", "prices", "weight", "PRICE_2"];
        let error = unknown("prise", columns.iter().copied()).to_string();
        assert_eq!(error, "there is no column \"prise\"; did you mean \"price\", \"prices\"?");
        let none = unknown("zzz", columns.iter().copied()).to_string();
        assert_eq!(none, "there is no column \"zzz\"");
    }

    #[test]
    fn globs_and_names_are_one_set() {
        let set = NameSet::new(&["a*".into(), "x".into()], "columns").unwrap();
        assert!(set.contains("abc") && set.contains("x") && !set.contains("xy"));
        assert!(set.check_known(&HashSet::from(["y"])).is_err());
        assert!(set.check_known(&HashSet::from(["x", "ab"])).is_ok());
        let none = set.check_known(&HashSet::from(["x"])).unwrap_err().to_string();
        assert_eq!(none, "no column matches \"a*\"");
        // A column may have a glob's letters in its name.
        let odd = NameSet::new(&["x[1]".into()], "columns").unwrap();
        assert!(odd.contains("x[1]") && odd.check_known(&HashSet::from(["x[1]"])).is_ok());
    }
}
