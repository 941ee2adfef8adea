//! `--state`: a stream of features that goes on over days.
//!
//! The state is that of one scan which has not ended: each run offers the columns of the day as
//! further columns of that scan, saves the state before the scan ends, and then ends it for the
//! result. So two days give what one scan over both days' columns gives, digit for digit. The
//! state holds the kept columns; earlier files need not be there. What it knows of every feature
//! that ever came is a hash of its name and its place, so that one that comes again is noticed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use keepnet::run::snapshot::{self, Identity};
use keepnet::{Error, FeatureId, Groups, Lane, Problem, Result, RowIds, RunOptions, RunReport};
use keepnet_io::{InputSource, Origin};
use serde::{Deserialize, Serialize};

use crate::identity::{bytes_hash, rows_hash, values_hash};
use crate::outputs::atomic::Pending;
use crate::request::{OrderSpec, Request, Scans, extension};
use crate::today::Today;
use crate::watch::Watch;

/// The first word of a state's settings, which tells it from a checkpoint.
const WORD: &str = "state";

/// What a state holds beside its settings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Past {
    /// Runs so far.
    days: u64,
    /// Rows that count.
    rows: u64,
    /// Their keys in order; empty where rows match by position.
    keys: Vec<String>,
    /// Which rows of the input count, where they match by position.
    used: u64,
    /// Target, weights, offset and covariates.
    problem: u64,
    /// Hash of the name, index and part of every feature that came.
    pub(crate) features: Vec<(u64, u64, u32)>,
    /// Places taken by feature columns.
    pub(crate) columns: u64,
    /// The files that features came from.
    pub(crate) sources: Vec<String>,
    /// Names of features that are kept whatever happens.
    always: BTreeSet<String>,
    /// How held features come out of their columns, as JSON.
    origins: Vec<(FeatureId, String)>,
    /// Names of what is held.
    held: Vec<(FeatureId, String)>,
    /// Length and hash of the decisions, where the last run wrote them.
    decisions: Option<(u64, u64)>,
    /// The run.
    run: Vec<u8>,
}

/// A stream that goes on.
pub(crate) struct Days {
    path: PathBuf,
    identity: Identity,
    past: Past,
    again: bool,
    resumed: bool,
    // The state after this run, once it is complete.
    next: Option<Vec<u8>>,
    // The place in today's source of a feature that came before.
    local: HashMap<FeatureId, FeatureId>,
    first: u64,
}

/// Refuses what a stream over days cannot give; `batch` is a method that holds every
/// column, or goes through all of them until it is done.
pub(crate) fn refuse(request: &Request, batch: bool) -> Result<()> {
    let Request { run, output, .. } = request;
    if run.state.is_none() {
        return match run.again {
            true => Err(Error::param("again", "given", "--state FILE with it")),
            false => Ok(()),
        };
    }
    let given = [
        ("state", batch, "a method on the stream: this one needs every column at once"),
        (
            "scans",
            run.scans.is_some_and(|scans| scans != Scans::Number(1)),
            "no such flag with --state: the days are one scan, and --again begins another",
        ),
        ("order", run.order != OrderSpec::Given, "no such flag with --state"),
        (
            "checkpoint",
            run.checkpoint.is_some(),
            "no such flag with --state: a run that broke leaves the state as it was",
        ),
        (
            "decisions",
            output.decisions.as_ref().is_some_and(|path| extension(path) == "parquet"),
            "a .csv with --state, to which later days can add",
        ),
        (
            "reduced",
            output.reduced.is_some(),
            "no such flag with --state, as earlier files are not read again; `keepnet apply` \
             writes the columns of a result",
        ),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        Some((name, _, want)) => Err(Error::param(name, "given", want)),
        None => Ok(()),
    }
}

impl Days {
    /// The stream of a request that has one: from its file, or from the start.
    pub(crate) fn open(request: &Request) -> Result<Option<Self>> {
        let Some(path) = &request.run.state else { return Ok(None) };
        let version = env!("CARGO_PKG_VERSION").to_string();
        let mut stream = Self {
            path: path.clone(),
            identity: Identity { version, data: 0, problem: 0, settings: WORD.into() },
            past: Past::default(),
            again: request.run.again,
            resumed: false,
            next: None,
            local: HashMap::new(),
            first: 0,
        };
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Some(stream)),
            Err(error) => return Err(Error::io(format!("cannot read {}", path.display()), error)),
        };
        let (identity, body) = snapshot::unseal(&bytes).map_err(|e| stream.at(e))?;
        if identity.settings.split(' ').next() != Some(WORD) {
            let text = "it is a checkpoint of one run and no state; choose another name";
            return Err(stream.at(Error::Snapshot(text.into())));
        }
        stream.past = snapshot::decode(body).map_err(|e| stream.at(e))?;
        stream.first = stream.past.columns;
        (stream.identity, stream.resumed) = (identity, true);
        Ok(Some(stream))
    }

    fn at(&self, error: Error) -> Error {
        error.at(self.path.display())
    }

    fn other(&self, why: impl Into<String>) -> Error {
        self.at(Error::Data(why.into()))
    }

    /// Names of features that earlier days keep whatever happens.
    pub(crate) fn always(&self) -> impl Iterator<Item = &String> {
        self.past.always.iter()
    }

    /// The problem with its rows in the order of the state; an error where they, or the target,
    /// are not those of the state.
    pub(crate) fn settle(&mut self, problem: Problem, ids: Option<&RowIds>) -> Result<Problem> {
        let row = |row: usize| problem.rows.source_row(row);
        let keys: Vec<String> = match ids {
            Some(RowIds(ids)) => (0..problem.n()).map(|at| ids[row(at)].clone()).collect(),
            None => Vec::new(),
        };
        let (rows, used) = (problem.n() as u64, rows_hash(&problem.rows));
        if !self.resumed {
            let hash = values_hash(&problem);
            self.past = Past { rows, keys, used, problem: hash, ..Past::default() };
            return Ok(problem);
        }
        let past = &self.past;
        if past.keys.is_empty() != keys.is_empty() {
            let (then, now) = match keys.is_empty() {
                true => ("by --key", "by position"),
                false => ("by position", "by --key"),
            };
            return Err(self.other(format!("its rows match {then}, those of the input {now}")));
        }
        if past.rows != rows || (keys.is_empty() && past.used != used) {
            let some = lacking(&past.keys, &keys).map(|key| format!("{key} is in the state only"));
            let some = some.or_else(|| Some(format!("{} is new", lacking(&keys, &past.keys)?)));
            return Err(self.other(format!(
                "it has {} rows with a target, the input has {rows}{}; a stream goes on with the \
                 same rows",
                past.rows,
                some.map_or(" or others".into(), |some| format!(" ({some})")),
            )));
        }
        let problem = match keys.is_empty() {
            true => problem,
            false => {
                let place: HashMap<&str, usize> =
                    keys.iter().enumerate().map(|(at, key)| (key.as_str(), at)).collect();
                let find = |key: &String| {
                    place.get(key.as_str()).copied().ok_or_else(|| {
                        self.other(format!(
                            "its row {} is not in the input, or has no target there; a stream \
                             goes on with the same rows",
                            shown(key)
                        ))
                    })
                };
                let order = past.keys.iter().map(find).collect::<Result<Vec<usize>>>()?;
                problem.reordered(&order)?
            }
        };
        if values_hash(&problem) != past.problem {
            let text = "it belongs to another target, weights, offset or covariates; a stream \
                        goes on with the same ones";
            return Err(self.other(text));
        }
        Ok(problem)
    }

    /// Compares the settings that a digit depends on with those of the state.
    pub(crate) fn agree(&mut self, settings: &str) -> Result<()> {
        let version = env!("CARGO_PKG_VERSION").to_string();
        let settings = format!("{WORD} {settings}");
        let now = Identity { version, data: 0, problem: 0, settings };
        if self.resumed {
            now.check(&self.identity).map_err(|e| self.at(e))?;
        }
        self.identity = now;
        Ok(())
    }

    /// What the result says of it; `scans` is how often the method goes through the features by
    /// itself.
    pub(crate) fn notes(&self, method: &str, scans: u32) -> Vec<String> {
        let mut notes = Vec::new();
        if self.resumed {
            let Past { days, features, .. } = &self.past;
            notes.push(format!(
                "goes on from {}: {} features came before, in {days} runs",
                self.path.display(),
                features.len()
            ));
        }
        if scans > 1 && !self.again {
            notes.push(format!(
                "the days of a stream are one scan, where {method} by itself takes {scans}: each \
                 feature is judged once, against what was kept when it came; --again offers \
                 columns that are at hand once more"
            ));
        }
        notes
    }

    /// The decisions of earlier days, where `path` has them.
    pub(crate) fn decisions(&self, path: &Path) -> Result<Option<Vec<u8>>> {
        if !self.resumed || !path.is_file() {
            return Ok(None);
        }
        let bytes = std::fs::read(path).map_err(|e| Error::io(path.display(), e))?;
        match self.past.decisions {
            Some(last) if last == print(&bytes) => Ok(Some(bytes)),
            _ => {
                let text = "it has not the decisions of the state's last run, to which new ones \
                            could be added; choose another --decisions";
                Err(Error::Data(text.into()).at(path.display()))
            }
        }
    }

    /// Names of what is held from earlier days.
    pub(crate) fn held(&self) -> HashMap<FeatureId, String> {
        self.past.held.iter().cloned().collect()
    }

    /// The files of all days.
    pub(crate) fn sources(&self) -> &[String] {
        &self.past.sources
    }

    /// Runs the day.
    pub(crate) fn run(
        &mut self,
        source: &mut InputSource,
        lanes: Vec<Lane>,
        (options, groups): (RunOptions, Option<Groups>),
        watch: &mut Watch<'_>,
    ) -> Result<RunReport> {
        let state = self.resumed.then(|| std::mem::take(&mut self.past.run));
        let again = self.again && self.resumed;
        let mut today = Today::new(source, &mut self.past, self.again);
        let mut driver = keepnet::Driver::new(&mut today, lanes, options)?;
        if let Some(groups) = groups {
            driver = driver.with_groups(groups);
        }
        let (mut report, next) = driver.go_on(state.as_deref(), again, watch)?;
        self.local = today.finish();
        report.features_seen = self.past.features.len() as u64;
        self.next = next;
        Ok(report)
    }

    /// Where a feature is in today's source, if it is there.
    pub(crate) fn today(&self, id: FeatureId) -> Option<FeatureId> {
        let base = self.local.get(&id.base()).copied().or_else(|| {
            let index = id.index.checked_sub(self.first)?;
            Some(FeatureId { index, ..id.base() })
        })?;
        Some(FeatureId { part: base.part | id.part & 1, ..base })
    }

    /// How features come out of their columns: as earlier days knew it, or as today's source does.
    pub(crate) fn origins<'a>(
        &self,
        ids: impl Iterator<Item = &'a FeatureId>,
        source: &InputSource,
    ) -> Result<HashMap<FeatureId, Origin>> {
        let known: HashMap<_, _> = self.past.origins.iter().map(|(id, json)| (*id, json)).collect();
        let mut origins = HashMap::new();
        for id in ids {
            let today = self.today(*id);
            let found = match (known.get(id), today) {
                (Some(json), _) => {
                    let damaged = |e| Error::Snapshot(format!("it is damaged ({e})"));
                    Some(serde_json::from_str(json).map_err(|e| self.at(damaged(e)))?)
                }
                (None, Some(today)) => source.origin(today),
                (None, None) => None,
            };
            origins.extend(found.map(|origin| (*id, origin)));
        }
        Ok(origins)
    }

    /// The state after this run, which waits for its name; `None` where the run ended early.
    pub(crate) fn save(
        &mut self,
        watch: &Watch<'_>,
        source: &InputSource,
        (always, decisions): (HashSet<String>, Option<&Pending>),
    ) -> Result<Option<Pending>> {
        let Some(run) = self.next.take() else { return Ok(None) };
        let held = watch.held.names();
        let json = |(id, origin): (FeatureId, Origin)| {
            let text = serde_json::to_string(&origin).unwrap_or_default();
            (id, text)
        };
        let mut origins: Vec<_> =
            self.origins(held.keys(), source)?.into_iter().map(json).collect();
        origins.sort();
        let mut held: Vec<_> = held.iter().map(|(id, name)| (*id, name.clone())).collect();
        held.sort();
        let decisions = decisions.map(Pending::read_back).transpose()?;
        let past = std::mem::take(&mut self.past);
        let past = Past {
            days: past.days + 1,
            always: always.into_iter().collect(),
            origins,
            held,
            decisions: decisions.map(|bytes| print(&bytes)),
            run,
            ..past
        };
        let bytes = snapshot::seal(&self.identity, &snapshot::encode(&past)?)?;
        Pending::whole(&self.path, &bytes).map(Some)
    }
}

fn print(bytes: &[u8]) -> (u64, u64) {
    (bytes.len() as u64, bytes_hash(bytes))
}

/// The first of `keys` that the others lack, as it may be shown.
fn lacking(keys: &[String], others: &[String]) -> Option<String> {
    let others: HashSet<&String> = others.iter().collect();
    keys.iter().find(|key| !others.contains(key)).map(|key| format!("row {}", shown(key)))
}

fn shown(key: &str) -> String {
    format!("{:?}", key.replace('\u{1f}', ","))
}
