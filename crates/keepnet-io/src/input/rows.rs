//! Files and standard input as streams of rows.
//!
//! [`open_rows`] reads the heads of the files, finds target and weight, decides the task, and
//! yields a [`RowStream`]: a [`keepnet::SampleSource`] that holds one chunk at a time.
//!
//! Files are read twice where the target's classes must be known beforehand; on standard input
//! the classes are those of the first chunk, and a later one that is new is an error.

use std::collections::HashSet;

use keepnet::{Error, Result, Row, RowBlock, RowProblem, SampleSource};

use crate::OpenOptions;
use crate::formats::chunk::{Chunk, ChunkValues};
use crate::formats::table::{Fingerprint, Schema};
use crate::input::features::{check_always, check_covariates, choose};
use crate::input::join::SeenKeys;
use crate::input::resolve::resolve;
use crate::input::row_files::RowFiles;
use crate::input::schema::Way;
use crate::input::series::SeriesValues;
use crate::input::side_file::KeyColumns;
use crate::input::target::{Asked, Found, Location, ProblemSpec};
use crate::input::task::TaskReason;

/// A stream of rows: a [`SampleSource`] with its problem.
pub struct RowStream {
    pub(super) files: RowFiles,
    pub(super) chunk: Option<Chunk>,
    pub(super) at: usize,
    pub(super) row: u64,
    pub(super) asked: Asked,
    /// What a row of each class weighs; empty where every row weighs the same.
    pub(super) balance: Vec<f64>,
    // Columns of the features, then of the covariates.
    features: Vec<usize>,
    // Whether these are all columns in order.
    whole: bool,
    // For sparse rows the place of each feature, `u32::MAX` for one left out; empty where they
    // are all, in order.
    places: Vec<u32>,
    key: KeyColumns,
    // Keys of the rows given out.
    seen: Option<SeenKeys>,
    matched_by: String,
    // Rows given out whose key has no match, and those with a match in each side file.
    unmatched: u64,
    matched: Vec<usize>,
    ended: bool,
    pub(super) problem: RowProblem,
    pub(super) task_reason: TaskReason,
    fingerprint: u64,
}

/// A row at hand, and its row in each side file.
pub(super) struct Here<'a> {
    chunk: &'a Chunk,
    at: usize,
    row: u64,
    sides: Vec<usize>,
    /// Whether every side file has the row.
    pub(super) matched: bool,
}

/// Opens files with the same columns, or standard input, as one stream of rows.
pub fn open_rows(
    inputs: &[String],
    spec: &ProblemSpec,
    options: &OpenOptions,
) -> Result<RowStream> {
    let files = RowFiles::open(resolve(inputs, options)?, options)?;
    let schema = files.schema();
    let asked = Asked::find(schema, &files.paths, spec, options)?;
    if !asked.more.is_empty() {
        let got = format!("{} columns", asked.targets().count());
        let want = "one target with a method on rows: run it once for each, or choose a method on \
                    features";
        return Err(Error::param("target", got, want));
    }
    let (columns, labels, taken) = (files.columns(), schema.labels(), asked.taken());
    let taken = |at: usize| labels.contains(&at) || taken.contains(&at);
    let mut features = choose(columns, &files.paths, options, taken, Way::Rows)?;
    let name = |c: &usize| columns[*c].name.as_str();
    check_covariates(asked.side_covariates(), features.iter().map(name))?;
    let inside = |found: &Found| match found.at {
        Location::Column(c) => Some(c),
        Location::SideFile { .. } => None,
    };
    features.extend(asked.covariates.iter().filter_map(inside));
    let names =
        features.iter().map(name).chain(asked.side_covariates()).map(String::from).collect();
    let problem = RowProblem {
        names,
        covariates: asked.covariates.len(),
        target: asked.described(spec.balanced),
        ..RowProblem::default()
    };
    let key = asked.key(&spec.key);
    let mut print = Fingerprint::new();
    files.fingerprint(&mut print);
    asked.fingerprint(&mut print);
    let mut stream = RowStream {
        chunk: None,
        at: 0,
        row: 0,
        balance: Vec::new(),
        whole: features.iter().copied().eq(0..columns.len()),
        places: places(&features, schema),
        features,
        key: KeyColumns::new(&key, columns)?,
        seen: SeenKeys::new(&key, &files.place.meter)?,
        matched_by: asked.matched_by(&spec.key),
        unmatched: 0,
        matched: vec![0; asked.sides.len()],
        ended: false,
        problem,
        task_reason: TaskReason::Asked,
        fingerprint: print.finish(),
        files,
        asked,
    };
    stream.decide(spec)?;
    if stream.asked.offset.is_some() && !stream.problem.classes.is_empty() {
        return Err(Error::Unsupported(
            "an offset of rows is taken from the target, which classes do not allow; leave \
             --offset out or choose --task regression"
                .into(),
        ));
    }
    if spec.balanced {
        stream.balance(spec.drop_row)?;
    }
    Ok(stream)
}

/// Where each feature of sparse rows belongs; nothing where rows hold the features as they are.
fn places(features: &[usize], schema: &dyn Schema) -> Vec<u32> {
    let columns = schema.columns().len();
    if !schema.open_ended() || features.iter().copied().eq(1..columns) {
        return Vec::new();
    }
    let mut places = vec![u32::MAX; columns - 1];
    for (place, c) in (0..).zip(features) {
        places[*c - 1] = place;
    }
    places
}

impl RowStream {
    /// Features and classes.
    #[must_use]
    pub fn problem(&self) -> &RowProblem {
        &self.problem
    }

    /// How rows of other files were matched: `position`, or `key COL`.
    #[must_use]
    pub fn matched_by(&self) -> &str {
        &self.matched_by
    }

    /// Rows given out whose key has no match; their target is missing.
    #[must_use]
    pub fn unmatched(&self) -> u64 {
        self.unmatched
    }

    /// What else the user should know; what came of joins only once all rows were given out.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let sides = self.asked.sides.iter().zip(&self.matched).filter(|_| self.ended);
        let sides = sides.filter_map(|(side, matched)| side.note(*matched));
        self.task_reason.warning().into_iter().chain(sides).collect()
    }

    /// Why it is this task.
    #[must_use]
    pub fn task_reason(&self) -> TaskReason {
        self.task_reason
    }

    /// Bytes that reading takes at most, beside what it holds already.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.files.bytes()
    }

    /// The files that are read.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.paths.iter().map(String::as_str)
    }

    /// Every name of `--always` is a feature.
    pub fn knows(&self, always: &HashSet<String>) -> Result<()> {
        let features = &self.problem.names[..self.problem.candidates()];
        check_always(always, features.iter().map(String::as_str))
    }

    /// Reads the next chunk; `false` at the end.
    pub(super) fn turn(&mut self) -> Result<bool> {
        self.chunk = self.files.next()?;
        self.at = 0;
        Ok(self.chunk.is_some())
    }

    /// Row `row` of the stream, which is row `at` of the chunk.
    pub(super) fn row_at<'a>(&self, chunk: &'a Chunk, at: usize, row: u64) -> Result<Here<'a>> {
        let sides = &self.asked.sides;
        let mut here =
            Here { chunk, at, row, sides: Vec::with_capacity(sides.len()), matched: true };
        let key = match sides.iter().any(|side| side.keyed()) {
            true => self.key.of(chunk, at, row).map_err(|e| self.files.here(e))?,
            false => None,
        };
        for side in sides {
            let found = side.row(key.as_deref(), row)?;
            here.matched &= found.is_some();
            here.sides.push(found.unwrap_or(usize::MAX));
        }
        Ok(here)
    }

    /// Gives out the row at hand.
    fn give(&mut self, chunk: &Chunk, out: &mut RowBlock) -> Result<()> {
        let here = self.row_at(chunk, self.at, self.row)?;
        if let Some(seen) = &mut self.seen {
            let key = self.key.of(chunk, self.at, self.row);
            let added = key.and_then(|key| key.map_or(Ok(()), |key| seen.add(key, self.row)));
            added.map_err(|e| self.files.here(e))?;
        }
        self.unmatched += u64::from(!here.matched);
        for (count, row) in self.matched.iter_mut().zip(&here.sides) {
            *count += usize::from(*row != usize::MAX);
        }
        let y = self.coded(self.label(&here)?, self.row)?;
        self.push(&here, out, y)
    }

    /// The number that a row has for what was found; NaN where it is missing.
    pub(super) fn number(&self, found: &Found, here: &Here<'_>) -> f64 {
        match found.at {
            Location::Column(c) => here.chunk.number(here.at, c, self.files.columns().len()),
            Location::SideFile { file, column } => match self.asked.sides[file].values(column) {
                SeriesValues::Numbers { values, .. } => {
                    values.get(here.sides[file]).copied().unwrap_or(f64::NAN)
                }
                SeriesValues::Text(_) => f64::NAN,
            },
        }
    }

    /// The text that a row has for what was found, where it is text.
    pub(super) fn text<'a>(&'a self, found: &Found, here: &Here<'a>) -> Result<Option<&'a str>> {
        match found.at {
            Location::Column(c) => {
                let v = self.number(found, here);
                let text = (!v.is_nan()).then(|| here.chunk.text(c, v, here.row)).transpose();
                text.map_err(|e| self.files.here(e.at(found.what)))
            }
            Location::SideFile { file, column } => {
                Ok(match self.asked.sides[file].values(column) {
                    SeriesValues::Text(texts) => {
                        texts.get(here.sides[file]).and_then(Option::as_deref)
                    }
                    SeriesValues::Numbers { .. } => None,
                })
            }
        }
    }

    /// The number of a row that must have one.
    fn finite(&self, found: &Found, here: &Here<'_>) -> Result<f64> {
        let value = self.number(found, here);
        if value.is_finite() { Ok(value) } else { Err(found.missing(here.row)) }
    }

    /// Target and weight of a row that has a target.
    fn weighed(&self, here: &Here<'_>, y: f64) -> Result<(f64, f64)> {
        let row = here.row;
        if y.is_infinite() {
            return Err(Error::Data(format!("the target is not a finite number at row {row}")));
        }
        let mut weight = match self.problem.classes.is_empty() {
            true => 1.0,
            false => self.balance.get(y as usize).copied().unwrap_or(1.0),
        };
        if let Some(found) = &self.asked.weight {
            let given = self.finite(found, here)?;
            if given <= 0.0 {
                return Err(Error::Data(format!("the sample weight at row {row} is not positive")));
            }
            weight *= given;
        }
        let offset =
            self.asked.offset.as_ref().map(|found| self.finite(found, here)).transpose()?;
        Ok((y - offset.unwrap_or(0.0), weight))
    }

    /// Gives out one row; a row without a target is counted and not learnt from.
    pub(super) fn push(&self, here: &Here<'_>, out: &mut RowBlock, y: f64) -> Result<()> {
        let covariates = &self.asked.covariates;
        let (y, weight) = match y.is_nan() {
            true => (f64::NAN, 1.0),
            false => {
                let weighed = self.weighed(here, y)?;
                covariates.iter().try_for_each(|found| self.finite(found, here).map(drop))?;
                weighed
            }
        };
        let side = covariates.iter().filter(|f| matches!(f.at, Location::SideFile { .. }));
        let more: Vec<f64> = side.map(|found| self.number(found, here)).collect();
        let (width, at) = (self.files.columns().len(), here.at);
        match &here.chunk.values {
            ChunkValues::Sparse { ends, index, value, .. } => {
                let from = if at == 0 { 0 } else { ends[at - 1] };
                let (index, value) = (&index[from..ends[at]], &value[from..ends[at]]);
                if more.is_empty() && self.places.is_empty() {
                    return out.push(Row::Sparse { index, value }, y, weight);
                }
                let place = |j: &u32| self.places.get(*j as usize).copied().unwrap_or(*j);
                let kept = index.iter().map(place).zip(value.iter().copied());
                let mut pairs: Vec<(u32, f64)> = kept.filter(|(j, _)| *j != u32::MAX).collect();
                pairs.extend((self.features.len() as u32..).zip(more));
                // Covariates of the input come after the features.
                pairs.sort_by_key(|(j, _)| *j);
                let (index, value): (Vec<u32>, Vec<f64>) = pairs.into_iter().unzip();
                out.push(Row::Sparse { index: &index, value: &value }, y, weight)
            }
            ChunkValues::F32(v) => {
                let line = &v[at * width..(at + 1) * width];
                if self.whole && more.is_empty() {
                    return out.push(Row::F32(line), y, weight);
                }
                if more.is_empty() {
                    let row: Vec<f32> = self.features.iter().map(|c| line[*c]).collect();
                    return out.push(Row::F32(&row), y, weight);
                }
                let row = self.features.iter().map(|c| f64::from(line[*c]));
                out.push(Row::F64(&row.chain(more).collect::<Vec<_>>()), y, weight)
            }
            ChunkValues::F64(v) => {
                let line = &v[at * width..(at + 1) * width];
                let row = self.features.iter().map(|c| line[*c]);
                out.push(Row::F64(&row.chain(more).collect::<Vec<_>>()), y, weight)
            }
        }
    }
}

impl SampleSource for RowStream {
    fn names(&self) -> &[String] {
        &self.problem.names
    }

    fn rows(&self) -> Option<u64> {
        self.files.rows()
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn next_block(&mut self, out: &mut RowBlock) -> Result<bool> {
        while out.room() > 0 {
            let Some(chunk) = self.chunk.take() else {
                if !self.turn()? {
                    self.ended = true;
                    let rows = self.row as usize;
                    self.asked.sides.iter().try_for_each(|side| side.check_rows(rows))?;
                    return Ok(false);
                }
                if self.chunk.as_ref().is_some_and(|chunk| chunk.rows == 0) {
                    // A pipe has nothing just now: the caller may look at the clock.
                    self.chunk = None;
                    return Ok(true);
                }
                continue;
            };
            while self.at < chunk.rows && out.room() > 0 {
                self.give(&chunk, out)?;
                self.at += 1;
                self.row += 1;
            }
            if self.at < chunk.rows {
                self.chunk = Some(chunk);
            }
        }
        Ok(true)
    }

    fn rewind(&mut self) -> Result<()> {
        self.files.rewind()?;
        (self.chunk, self.at, self.row, self.unmatched, self.ended) = (None, 0, 0, 0, false);
        self.matched.fill(0);
        self.seen.iter_mut().for_each(SeenKeys::clear);
        Ok(())
    }
}
