//! The data of `keepnet compare`: files, external selections, the truth.

use std::collections::HashMap;
use std::path::Path;

use keepnet::selection::{Selected, Selection};
use keepnet::{ColumnBlock, Error, FeatureId, FeatureSource, Result};
use keepnet_eval::Found;
use keepnet_eval::splits::Split;
use keepnet_io::{OpenOptions, ProblemSpec};
use keepnet_run::request::text;

use crate::flags::CompareArgs;

/// One data set as the user named it.
pub struct Named {
    pub name: String,
    pub inputs: Vec<String>,
    pub target: String,
}

/// The data sets, each with its files and target.
pub fn datasets(args: &CompareArgs) -> Result<Vec<Named>> {
    if args.dataset.is_empty() {
        let inputs = args.input.0.inputs.clone();
        let stem = Path::new(&inputs[0]).file_stem().map(|s| s.to_string_lossy().into_owned());
        let name = stem.unwrap_or_else(|| "data".into());
        return Ok(vec![Named { name, inputs, target: args.target.clone().unwrap_or_default() }]);
    }
    let mut out: Vec<Named> = Vec::new();
    for (name, rest) in CompareArgs::named("dataset", &args.dataset)? {
        if out.iter().any(|other| other.name == name) {
            let got = format!("{name} twice");
            return Err(Error::param("dataset", got, "a name of its own for each"));
        }
        // The path ends at the first colon after which it names a file.
        let ends = rest.match_indices(':').map(|(at, _)| at);
        let end = ends.into_iter().find(|at| Path::new(&rest[..*at]).exists());
        let (path, target) = match end {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => rest.rsplit_once(':').unwrap_or((&rest, "")),
        };
        out.push(Named { name, inputs: vec![path.into()], target: target.into() });
    }
    Ok(out)
}

/// What is asked of the rows, for columns and for rows.
pub fn specs(args: &CompareArgs, target: &str) -> (ProblemSpec, ProblemSpec) {
    let task = args.task.0;
    let key = text::list(&args.input.0.key);
    let weight = args.sample_weight.clone();
    // Classes are balanced in the training rows of each split, not here.
    let columns = ProblemSpec {
        target: target.into(),
        task,
        key,
        weight: weight.clone(),
        ..ProblemSpec::default()
    };
    let rows = ProblemSpec { target: target.into(), task, weight, ..ProblemSpec::default() };
    (columns, rows)
}

/// The place of each feature by name, and the name of each: one pass over the source.
pub struct Names {
    ids: HashMap<String, FeatureId>,
    names: HashMap<u64, String>,
}

impl Names {
    /// Reads the names of all features.
    pub fn read(source: &mut dyn FeatureSource) -> Result<Self> {
        let (mut ids, mut names) = (HashMap::new(), HashMap::new());
        let mut block = ColumnBlock::new(128);
        source.rewind()?;
        while source.next_block(&mut block)? {
            for column in block.columns() {
                ids.insert(column.name.to_string(), column.id);
                names.entry(column.id.index).or_insert_with(|| column.name.to_string());
            }
            block.reset(128);
        }
        source.rewind()?;
        Ok(Self { ids, names })
    }

    fn find(&self, text: &str, by_index: bool) -> Result<(FeatureId, String)> {
        let none = || Error::Data(format!("there is no feature {text:?}"));
        if by_index {
            let index: u64 = text.parse().map_err(|_| none())?;
            let name = self.names.get(&index).ok_or_else(none)?;
            return Ok((FeatureId::new(index), name.clone()));
        }
        Ok((*self.ids.get(text).ok_or_else(none)?, text.into()))
    }
}

fn table(path: &str) -> Result<(Vec<String>, Vec<csv::StringRecord>)> {
    let failed = |error: csv::Error| Error::Data(format!("cannot be read ({error})")).at(path);
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).from_path(path).map_err(failed)?;
    let header = reader.headers().map_err(failed)?.iter().map(str::to_lowercase).collect();
    let records = reader.records().collect::<Result<_, _>>().map_err(failed)?;
    Ok((header, records))
}

/// A selection of features that somebody else made.
fn outside(features: &[(FeatureId, String)]) -> Selection {
    let feature = |(order, (id, name)): (usize, &(FeatureId, String))| Selected {
        id: *id,
        name: name.clone(),
        source: 0,
        arrival: 0,
        order,
        group: None,
        coefficient: Vec::new(),
        score: 0.0,
        p_value: None,
        tested: None,
        mean: f64::NAN,
        deviation: None,
        missing: None,
    };
    let selected = features.iter().enumerate().map(feature).collect();
    Selection { method: "external", selected, ..Selection::default() }
}

/// Selections of a CSV file: a line a feature, for every split unless a column says which.
pub fn external(
    path: &str,
    entrant: usize,
    dataset: &str,
    splits: &[Split],
    names: &Names,
) -> Result<Vec<Found>> {
    let (header, records) = table(path)?;
    let column = |name: &str| header.iter().position(|column| column == name);
    let (feature, by_index) = match (column("feature").or(column("name")), column("index")) {
        (Some(at), _) => (at, false),
        (None, Some(at)) => (at, true),
        (None, None) => {
            let text = "it has no column named feature or index".to_string();
            return Err(Error::Data(text).at(path));
        }
    };
    let (of, split, order) = (column("dataset"), column("split"), column("order"));
    let mut sets: HashMap<(usize, usize), Vec<(FeatureId, String)>> = HashMap::new();
    for (at, record) in records.iter().enumerate() {
        let place = format!("{path}, line {}", at + 2);
        if of.is_some_and(|of| &record[of] != dataset) {
            continue;
        }
        let found = names.find(&record[feature], by_index).map_err(|error| error.at(&place))?;
        let wrong = |what: &str, got: &str| Error::Data(format!("there is no {what} {got:?}"));
        let order = match order {
            None => 0,
            Some(at) => {
                let text = &record[at];
                text.parse().map_err(|_| wrong("order", text).at(&place))?
            }
        };
        let these = match split {
            None => (0..splits.len()).collect(),
            Some(at) => {
                let at = splits.iter().position(|split| split.name == record[at]);
                vec![at.ok_or_else(|| wrong("split", &record[split.unwrap_or(0)]).at(&place))?]
            }
        };
        for split in these {
            sets.entry((split, order)).or_default().push(found.clone());
        }
    }
    let mut found: Vec<Found> = sets
        .into_iter()
        .map(|((split, order), features)| Found {
            entrant,
            split,
            order,
            selection: outside(&features),
            seconds: f64::NAN,
            bytes: 0,
        })
        .collect();
    found.sort_by_key(|found| (found.order, found.split));
    Ok(found)
}

/// The true features and their weights, as `generate --truth` writes them.
pub fn truth(path: &Path, names: &Names) -> Result<Vec<(u64, f64)>> {
    let text = path.to_string_lossy();
    let (header, records) = table(&text)?;
    let column = |name: &str| header.iter().position(|column| column == name);
    let weight = column("weight").or(column("coefficient"));
    let (feature, by_index) = match (column("index"), column("name").or(column("feature"))) {
        (Some(at), _) => (at, true),
        (None, Some(at)) => (at, false),
        (None, None) => {
            return Err(Error::Data("it has no column named index or name".into()).at(text));
        }
    };
    let one = |(at, record): (usize, &csv::StringRecord)| {
        let place = format!("{text}, line {}", at + 2);
        let (id, _) = names.find(&record[feature], by_index).map_err(|e| e.at(&place))?;
        let weight = match weight {
            None => 0.0,
            Some(at) => record[at]
                .parse()
                .map_err(|_| Error::Data(format!("{:?} is no weight", &record[at])).at(&place))?,
        };
        Ok((id.index, weight))
    };
    records.iter().enumerate().map(one).collect()
}

/// How files are read: the reader's share of the memory is that of `select`.
pub fn open_options(args: &CompareArgs) -> Result<OpenOptions> {
    args.input.0.options(args.memory)
}
