//! One stream of rows out of one or several files, or standard input.

use keepnet::{Error, Result, Row, RowBlock, RowProblem, SampleSource};

use super::asked::{RowSpec, TargetAt, features, find_target};
use super::beside::{Beside, Covariates, KeyColumns, covariates};
use super::{Chunk, ChunkReader, ChunkValues, open_one};
use crate::dataset::ColumnKind;
use crate::names::no_column_or_file;
use crate::store::Place;
use crate::table::Fingerprint;
use crate::{Format, OpenOptions};

/// A stream of rows: a [`SampleSource`] with its problem.
pub struct RowStream {
    pub(super) files: Vec<(String, Format)>,
    pub(super) file: usize,
    pub(super) reader: Box<dyn ChunkReader>,
    pub(super) columns: Vec<(String, ColumnKind)>,
    pub(super) chunk: Option<Chunk>,
    pub(super) at: usize,
    pub(super) row: u64,
    pub(super) target: TargetAt,
    pub(super) weight: Option<usize>,
    pub(super) offset: Option<usize>,
    /// What a row of each class weighs; empty where every row weighs the same.
    pub(super) balance: Vec<f64>,
    /// Columns of the features, then of the covariates.
    pub(super) features: Vec<usize>,
    /// Whether these are all columns in order.
    pub(super) whole: bool,
    pub(super) beside: Option<Beside>,
    pub(super) key: KeyColumns,
    pub(super) matched_by: String,
    pub(super) problem: RowProblem,
    pub(super) task_reason: String,
    pub(super) fingerprint: u64,
    pub(super) place: Place,
}

impl RowStream {
    pub(crate) fn open(
        files: Vec<(String, Format)>,
        spec: &RowSpec,
        options: &OpenOptions,
    ) -> Result<Self> {
        let (path, format) = files
            .first()
            .ok_or_else(|| Error::param("input", "nothing", "files, or - for standard input"))?;
        let place = Place::new(options);
        let reader = open_one(path, *format, &place)?;
        let columns = reader.columns().to_vec();
        let target = find_target(spec, &columns, *format, options)?;
        let column = |name: &str, what: &str| {
            columns.iter().position(|c| c.0 == name).ok_or_else(|| {
                no_column_or_file(name, columns.iter().map(|c| c.0.as_str())).at(what)
            })
        };
        let weight = spec.weight.as_deref().map(|w| column(w, "--sample-weight")).transpose()?;
        let offset = spec.offset.as_deref().map(|o| column(o, "--offset")).transpose()?;
        let covariates = covariates(spec.covar.as_deref(), &files, &columns, &spec.key, options)?;
        let (inside, beside) = match covariates {
            Covariates::None => (Vec::new(), None),
            Covariates::Inside(columns) => (columns, None),
            Covariates::Beside(beside) => (Vec::new(), Some(beside)),
        };
        let key = KeyColumns::new(&spec.key, &columns)?;
        let taken = |c: usize| {
            [weight, offset].contains(&Some(c))
                || inside.contains(&c)
                || matches!(target, TargetAt::Column(t) if t == c)
        };
        let sparse = *format == Format::Svm;
        let mut features = match sparse {
            true if weight.or(offset).is_some() || !inside.is_empty() || !spec.key.is_empty() => {
                let what = "svm text has no column of weights, offsets, covariates or keys";
                return Err(Error::Unsupported(what.into()));
            }
            true => (0..columns.len() - 1).collect(),
            false => features(&columns, taken, options)?,
        };
        features.extend(&inside);
        let label = usize::from(sparse);
        let mut names: Vec<String> =
            features.iter().map(|c| columns[c + label].0.clone()).collect();
        names.extend(beside.iter().flat_map(|beside| beside.names.iter().cloned()));
        let covariates = inside.len() + beside.as_ref().map_or(0, |beside| beside.names.len());
        let aside = match &target {
            TargetAt::Aside(aside) => Some(aside),
            TargetAt::Column(_) | TargetAt::Label => None,
        };
        let mut print = Fingerprint::new();
        print.number(reader.fingerprint());
        aside.into_iter().chain(&beside).for_each(|file| print.number(file.fingerprint));
        for (path, _) in &files[1..] {
            // The others are opened at their turn; one that is gone is told of then.
            std::fs::metadata(path).iter().for_each(|meta| print.file(meta));
        }
        let fingerprint = print.finish();
        let width = columns.len();
        let mut stream = Self {
            files,
            file: 0,
            reader,
            columns,
            chunk: None,
            at: 0,
            row: 0,
            target,
            weight,
            offset,
            balance: Vec::new(),
            whole: features.iter().copied().eq(0..width),
            features,
            beside,
            key,
            matched_by: match spec.key.is_empty() {
                true => "position".into(),
                false => format!("key {}", spec.key.join(",")),
            },
            problem: RowProblem { names, covariates, ..RowProblem::default() },
            task_reason: String::new(),
            fingerprint,
            place,
        };
        stream.decide(spec)?;
        if stream.offset.is_some() && !stream.problem.classes.is_empty() {
            return Err(Error::Unsupported(
                "an offset of rows is taken from the target, which classes do not allow; leave \
                 --offset out or choose --task regression"
                    .into(),
            ));
        }
        if spec.balanced {
            stream.balance()?;
        }
        Ok(stream)
    }

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

    /// Why it is this task.
    #[must_use]
    pub fn task_reason(&self) -> &str {
        &self.task_reason
    }

    /// Bytes that reading takes at most, beside what it holds already.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    /// The files that are read.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(path, _)| path.as_str())
    }

    pub(super) fn piped(&self) -> bool {
        self.files.iter().any(|(path, _)| path == "-")
    }

    /// Reads the next chunk, of the next file where one ends; `false` at the end of all.
    pub(super) fn turn(&mut self) -> Result<bool> {
        loop {
            if let Some(chunk) = self.reader.next().map_err(|e| self.here(e))? {
                self.chunk = Some(chunk);
                self.at = 0;
                return Ok(true);
            }
            let Some((path, format)) = self.files.get(self.file + 1) else { return Ok(false) };
            let reader = open_one(path, *format, &self.place)?;
            if reader.columns() != self.columns {
                let first = &self.files[0].0;
                return Err(Error::Data(format!(
                    "{first} and {path} have other columns; a row stream stacks files with the same"
                )));
            }
            self.reader = reader;
            self.file += 1;
        }
    }

    fn here(&self, error: Error) -> Error {
        let path = &self.files[self.file].0;
        error.at(if path == "-" { "standard input" } else { path })
    }

    fn push(&self, chunk: &Chunk, at: usize, out: &mut RowBlock, y: f64) -> Result<()> {
        let width = self.columns.len();
        let class = self.balance.get(y as usize).copied().unwrap_or(1.0);
        let more: Vec<f64> = match &self.beside {
            None => Vec::new(),
            Some(beside) => {
                let place = beside.matching.place(&self.key, (chunk, at), self.row)?;
                beside.numbers(place).collect()
            }
        };
        match &chunk.values {
            ChunkValues::Sparse { ends, index, value, .. } => {
                let from = if at == 0 { 0 } else { ends[at - 1] };
                let part = from..ends[at];
                if more.is_empty() {
                    let row = Row::Sparse { index: &index[part.clone()], value: &value[part] };
                    return out.push(row, y, class);
                }
                let first = self.features.len() as u32;
                let (mut index, mut value) = (index[part.clone()].to_vec(), value[part].to_vec());
                index.extend(first..first + more.len() as u32);
                value.extend(&more);
                out.push(Row::Sparse { index: &index, value: &value }, y, class)
            }
            ChunkValues::F32(v) => {
                let line = &v[at * width..(at + 1) * width];
                let weight = class * self.weight.map_or(1.0, |c| f64::from(line[c]));
                let y = y - self.offset.map_or(0.0, |c| f64::from(line[c]));
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
                let weight = class * self.weight.map_or(1.0, |c| line[c]);
                let y = y - self.offset.map_or(0.0, |c| line[c]);
                let row = self.features.iter().map(|c| line[*c]);
                out.push(Row::F64(&row.chain(more).collect::<Vec<_>>()), y, weight)
            }
        }
    }

    /// Refuses files beside the stream that go on after its end.
    fn ended(&self) -> Result<()> {
        if let TargetAt::Aside(beside) = &self.target {
            beside.matching.ended(self.row)?;
        }
        self.beside.as_ref().map_or(Ok(()), |beside| beside.matching.ended(self.row))
    }
}

impl SampleSource for RowStream {
    fn names(&self) -> &[String] {
        &self.problem.names
    }

    fn rows(&self) -> Option<u64> {
        if self.files.len() == 1 { self.reader.rows() } else { None }
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn next_block(&mut self, out: &mut RowBlock) -> Result<bool> {
        while out.room() > 0 {
            let Some(chunk) = self.chunk.take() else {
                if !self.turn()? {
                    self.ended()?;
                    return Ok(false);
                }
                if self.chunk.as_ref().is_some_and(|chunk| chunk.rows == 0) {
                    // A pipe has nothing just now: the caller may look at the clock.
                    self.chunk = None;
                    return Ok(true);
                }
                continue;
            };
            let mut failed = None;
            while self.at < chunk.rows && out.room() > 0 && failed.is_none() {
                let y = self.label(&chunk, self.at, self.row);
                let pushed = y
                    .and_then(|label| self.coded(label, self.row))
                    .and_then(|y| self.push(&chunk, self.at, out, y));
                failed = pushed.err();
                self.at += 1;
                self.row += 1;
            }
            if let Some(error) = failed {
                return Err(self.here(error));
            }
            if self.at < chunk.rows {
                self.chunk = Some(chunk);
            }
        }
        Ok(true)
    }

    fn rewind(&mut self) -> Result<()> {
        if self.piped() {
            return Err(Error::Unsupported("standard input cannot be read twice".into()));
        }
        if self.file > 0 || !self.reader.rewind() {
            let (path, format) = &self.files[0];
            self.reader = open_one(path, *format, &self.place)?;
        }
        (self.file, self.chunk, self.at, self.row) = (0, None, 0, 0);
        Ok(())
    }
}
