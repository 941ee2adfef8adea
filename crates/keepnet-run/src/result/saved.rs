//! A result read back from its file, to be used on other data.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use keepnet::{Error, Result};
use keepnet_io::Origin;
use serde::Deserialize;

/// A result, as `--output result.json` wrote it.
#[derive(Clone, Debug, Deserialize)]
pub struct Saved {
    version: u32,
    /// The method.
    pub method: String,
    /// Every setting with the value that was used.
    pub params: BTreeMap<String, serde_json::Value>,
    /// Names of the classes.
    pub classes: Option<Vec<String>>,
    /// Features by descending score.
    pub selected: Vec<SavedFeature>,
    /// Features that were always kept.
    #[serde(default)]
    pub always: Vec<SavedFeature>,
    /// Unpenalised covariates.
    #[serde(default)]
    pub covariates: Vec<SavedCovariate>,
    /// The constant of the model.
    pub intercept: Outputs,
    /// Where the offset of the rows came from.
    #[serde(default)]
    pub offset: Option<String>,
}

/// A result as far as it has several targets.
#[derive(Deserialize)]
struct Targets {
    targets: Option<Vec<OfTarget>>,
}

#[derive(Deserialize)]
struct OfTarget {
    target: String,
    #[serde(flatten)]
    saved: Saved,
}

/// A feature of a result.
#[derive(Clone, Debug, Deserialize)]
pub struct SavedFeature {
    /// Its name.
    pub name: String,
    /// Its coefficient.
    pub coefficient: Outputs,
    /// What a missing value is taken for.
    #[serde(default)]
    pub fill: Option<f64>,
    /// How it comes out of a column, where it is not the column itself.
    #[serde(default)]
    pub origin: Option<Origin>,
}

impl SavedFeature {
    /// The column of the input that it comes from.
    #[must_use]
    pub fn column(&self) -> &str {
        self.origin.as_ref().map_or(&self.name, Origin::column)
    }
}

/// A covariate of a result.
#[derive(Clone, Debug, Deserialize)]
pub struct SavedCovariate {
    /// Its name.
    pub name: String,
    /// Its coefficient.
    pub coefficient: Outputs,
}

/// A number an output of the model.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Outputs {
    /// One output.
    One(f64),
    /// Several.
    Many(Vec<f64>),
    /// There is no model.
    None,
}

impl Outputs {
    /// The numbers; none where there is no model.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
            Self::None => &[],
        }
    }
}

impl Saved {
    /// Reads a result; of several targets that one, which must be named.
    pub fn read(path: &Path, target: Option<&str>) -> Result<Self> {
        let mut all = Self::read_all(path)?;
        let names = all.iter().filter_map(|(name, _)| name.as_deref());
        let names = names.collect::<Vec<_>>().join(", ");
        let at = match target {
            None if all.len() == 1 => Some(0),
            // A result of one target does not name it.
            Some(_) if names.is_empty() => {
                let want = "no such flag: the result has one target";
                return Err(Error::param("target", "given", want));
            }
            wanted => {
                all.iter().position(|(name, _)| wanted.is_some() && name.as_deref() == wanted)
            }
        };
        let missing = || {
            let got = target.unwrap_or("not given");
            Error::param("target", got, format!("one of the result's targets: {names}"))
        };
        Ok(all.swap_remove(at.ok_or_else(missing)?).1)
    }

    /// Reads the result of every target, with its name where there are several.
    fn read_all(path: &Path) -> Result<Vec<(Option<String>, Self)>> {
        let text = std::fs::read(path).map_err(|e| Error::io(path.display(), e))?;
        let name = || path.display();
        let no = |why: String| Error::Data(format!("it is no result of keepnet: {why}")).at(name());
        if crate::request::extension(path) == "csv" {
            let why = "the model is in the .json result (--output result.json)";
            return Err(Error::Data(why.into()).at(name()));
        }
        let wrong = |error: serde_json::Error| no(error.to_string());
        let several: Targets = serde_json::from_slice(&text).map_err(wrong)?;
        let saved: Vec<(Option<String>, Self)> = match several.targets {
            None => vec![(None, serde_json::from_slice(&text).map_err(wrong)?)],
            Some(all) => all.into_iter().map(|one| (Some(one.target), one.saved)).collect(),
        };
        if saved.is_empty() {
            return Err(no("it has no target".into()));
        }
        if let Some((_, other)) = saved.iter().find(|(_, saved)| saved.version != 1) {
            return Err(no(format!("its version is {}, this program reads 1", other.version)));
        }
        Ok(saved)
    }

    /// The features in the order of `--reduced`: those always kept, then the others, best first.
    pub fn features(&self) -> impl Iterator<Item = &SavedFeature> {
        self.always.iter().chain(&self.selected)
    }
}

/// A feature that a result names, and the column that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The feature.
    pub name: String,
    /// The column.
    pub column: String,
}

/// The features of a file that is a result, .json or .csv, each once, whichever of its targets keep
/// it; `None` of any other file.
pub fn listed(path: &str) -> Result<Option<Vec<Listed>>> {
    let file = Path::new(path);
    match crate::request::extension(file).as_str() {
        "json" => {
            let all = Saved::read_all(file)?;
            let listed = |feature: &SavedFeature| Listed {
                name: feature.name.clone(),
                column: feature.column().into(),
            };
            let features = all.iter().flat_map(|(_, saved)| saved.features());
            Ok(Some(once(features.map(listed))))
        }
        "csv" => of_csv(path),
        _ => Ok(None),
    }
}

fn once(features: impl Iterator<Item = Listed>) -> Vec<Listed> {
    let mut seen = HashSet::new();
    features.filter(|feature| seen.insert(feature.name.clone())).collect()
}

/// The features of a result as CSV; other CSV files may be lists of names.
fn of_csv(path: &str) -> Result<Option<Vec<Listed>>> {
    let wrong = |error: ::csv::Error| match error.into_kind() {
        ::csv::ErrorKind::Io(error) => Error::io(path, error),
        other => Error::Data(format!("cannot be read ({other:?})")).at(path),
    };
    let mut reader = ::csv::Reader::from_path(path).map_err(wrong)?;
    let header = reader.headers().map_err(wrong)?.clone();
    // A result of several targets has them in the first column.
    let at = usize::from(header.get(0) == Some("target"));
    if !header.iter().skip(at).take(3).eq(["index", "name", "arrival"]) {
        return Ok(None);
    }
    let name = at + 1;
    let column = header.iter().position(|name| name == "column").unwrap_or(name);
    let mut features = Vec::new();
    for record in reader.records() {
        let record = record.map_err(wrong)?;
        let cell = |at: usize| record.get(at).unwrap_or_default().to_string();
        features.push(Listed { name: cell(name), column: cell(column) });
    }
    Ok(Some(once(features.into_iter())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_name_their_features_and_other_files_are_no_results() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let pair = |name: &str, column: &str| Listed { name: name.into(), column: column.into() };
        let json = r#"{"version": 1, "method": "os", "params": {}, "classes": null, "intercept": 1,
            "selected": [{"name": "c=x", "coefficient": [1, 2],
                          "origin": {"column": "c", "level": "x"}}],
            "always": [{"name": "a,b", "coefficient": null}]}"#;
        let both = Some(vec![pair("a,b", "a,b"), pair("c=x", "c")]);
        assert_eq!(listed(&file("r.json", json)).unwrap(), both);
        let csv = "index,name,arrival,column\n3,\"a,b\",3,\"a,b\"\n5,c=x,5,c\n";
        assert_eq!(listed(&file("r.csv", csv)).unwrap(), both);
        let old = "index,name,arrival\n5,c,5\n";
        assert_eq!(listed(&file("old.csv", old)).unwrap(), Some(vec![pair("c", "c")]));
        let several = r#"{"targets": [{"target": "y", ONE}, {"target": "z", ONE}]}"#;
        let several = several.replace("ONE", json.trim_matches(['{', '}']));
        assert_eq!(listed(&file("s.json", &several)).unwrap(), both);
        let several =
            "target,index,name,arrival,column\ny,3,\"a,b\",3,\"a,b\"\ny,5,c=x,5,c\nz,5,c=x,5,c\n";
        assert_eq!(listed(&file("s.csv", several)).unwrap(), both);
        let read = |name: &str, target| Saved::read(&folder.path().join(name), target);
        assert_eq!(read("s.json", Some("z")).unwrap().selected.len(), 1);
        let error = read("s.json", None).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("y, z"), "{error}");
        assert!(read("s.json", Some("x")).is_err());
        assert!(read("r.json", Some("y")).unwrap_err().to_string().contains("one target"));
        assert_eq!(listed(&file("list.csv", "a\nb\n")).unwrap(), None);
        assert_eq!(listed(&file("list", "a\nb\n")).unwrap(), None);
        for wrong in ["", "[]", "{}", &json.replace(r#""version": 1"#, r#""version": 2"#)] {
            assert!(listed(&file("w.json", wrong)).unwrap_err().to_string().contains("no result"));
        }
    }
}
