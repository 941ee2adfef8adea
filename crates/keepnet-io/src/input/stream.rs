//! One stream of rows out of one or several files, or standard input.

use keepnet::{Error, Result, Row, RowBlock, RowProblem, SampleSource};

use crate::formats::chunk::{Chunk, ChunkReader, ChunkValues};
use crate::formats::table::Fingerprint;
use crate::input::asked::{
    Extra, NumberAt, RowSpec, TargetAt, all_columns, described, features, find_target, settle,
};
use crate::input::dataset::ColumnKind;
use crate::input::keys::SeenKeys;
use crate::input::rows::{open_one, stacks};
use crate::input::side_file::{Beside, Covariates, KeyColumns, covariates};
use crate::store::Place;
use crate::{Format, OpenOptions};

/// A stream of rows: a [`SampleSource`] with its problem.
pub struct RowStream {
    pub(super) files: Vec<(String, Format)>,
    pub(super) file: usize,
    pub(super) reader: Box<dyn ChunkReader>,
    pub(super) columns: Vec<(String, ColumnKind)>,
    /// Columns whose kind the head of the first file could not say.
    pub(super) blank: Vec<bool>,
    pub(super) chunk: Option<Chunk>,
    pub(super) at: usize,
    pub(super) row: u64,
    pub(super) target: TargetAt,
    pub(super) weight: Option<Extra>,
    pub(super) offset: Option<Extra>,
    /// What a row of each class weighs; empty where every row weighs the same.
    pub(super) balance: Vec<f64>,
    /// Columns of the features, then of the covariates.
    pub(super) features: Vec<usize>,
    /// Whether these are all columns in order.
    pub(super) whole: bool,
    /// For sparse rows the place of each feature of the file at hand, `u32::MAX` for one left out;
    /// empty where they are all, in order.
    pub(super) places: Vec<u32>,
    pub(super) beside: Option<Beside>,
    pub(super) key: KeyColumns,
    /// Keys of the rows given out.
    seen: Option<SeenKeys>,
    pub(super) matched_by: String,
    /// Rows given out whose key has no match.
    pub(super) unmatched: u64,
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
        let mut columns = all_columns(reader.columns(), &files, &place)?;
        let blank = settle(&mut columns, reader.as_ref(), &files, &place)?;
        let target = find_target(spec, &columns, *format, options)?;
        let sparse = *format == Format::Svm;
        // Columns that may be something else than a feature; those of svm text cannot.
        let known = if sparse { &[][..] } else { &columns[..] };
        let extra = |asked: &Option<String>, what| {
            Extra::find(asked.as_deref(), what, &spec.key, known, options)
        };
        let weight = extra(&spec.weight, "the sample weight")?;
        let offset = extra(&spec.offset, "the offset")?;
        let covariates = covariates(spec.covar.as_deref(), &files, known, &spec.key, options)?;
        let (inside, beside) = match covariates {
            Covariates::None => (Vec::new(), None),
            Covariates::Inside(columns) => (columns, None),
            Covariates::Beside(beside) => (Vec::new(), Some(beside)),
        };
        if sparse && !spec.key.is_empty() {
            return Err(Error::Unsupported(
                "svm text has no column of keys; leave --key out to match rows by position".into(),
            ));
        }
        let key = KeyColumns::new(&spec.key, &columns)?;
        let taken = |c: usize| {
            [&weight, &offset].iter().any(|e| e.as_ref().and_then(Extra::column) == Some(c))
                || inside.contains(&c)
                || match target {
                    TargetAt::Column(t) => t == c,
                    TargetAt::Label | TargetAt::Aside(_) => sparse && c == 0,
                }
        };
        let mut features = features(&columns, taken, &files, options)?;
        features.extend(&inside);
        let mut names: Vec<String> = features.iter().map(|c| columns[*c].0.clone()).collect();
        names.extend(beside.iter().flat_map(|beside| beside.names.iter().cloned()));
        let covariates = inside.len() + beside.as_ref().map_or(0, |beside| beside.names.len());
        let asides = [
            match &target {
                TargetAt::Aside(aside) => Some(aside),
                TargetAt::Column(_) | TargetAt::Label => None,
            },
            weight.as_ref().and_then(Extra::aside),
            offset.as_ref().and_then(Extra::aside),
            beside.as_ref(),
        ];
        let mut print = Fingerprint::new();
        print.number(reader.fingerprint());
        asides.into_iter().flatten().for_each(|file| print.number(file.fingerprint));
        for (path, _) in &files[1..] {
            // The others are opened at their turn; one that is gone is told of then.
            std::fs::metadata(path).iter().for_each(|meta| print.file(meta));
        }
        let fingerprint = print.finish();
        let width = columns.len();
        let target_name = described(&target, &columns, spec, (&weight, &offset));
        let mut stream = Self {
            files,
            file: 0,
            blank,
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
            places: Vec::new(),
            beside,
            key,
            seen: SeenKeys::new(&spec.key, &place.meter)?,
            matched_by: match spec.key.is_empty() {
                true => "position".into(),
                false => format!("key {}", spec.key.join(",")),
            },
            unmatched: 0,
            problem: RowProblem { names, covariates, target: target_name, ..RowProblem::default() },
            task_reason: String::new(),
            fingerprint,
            place,
        };
        stream.place_sparse();
        stream.decide(spec)?;
        if stream.offset.is_some() && !stream.problem.classes.is_empty() {
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
            let same = stacks(&self.columns, &self.blank, reader.as_ref());
            if !same && (*format != Format::Svm || self.files[0].1 != Format::Svm) {
                let first = &self.files[0].0;
                return Err(Error::Data(format!(
                    "{first} and {path} have other columns; a row stream stacks files with the same"
                )));
            }
            self.reader = reader;
            self.file += 1;
            self.place_sparse();
        }
    }

    /// Says where each feature of the svm file at hand belongs; other formats have no need of it.
    fn place_sparse(&mut self) {
        self.places.clear();
        let here = self.reader.columns();
        if self.files[self.file].1 != Format::Svm
            || (here == self.columns && self.features.iter().copied().eq(1..self.columns.len()))
        {
            return;
        }
        // Features of svm text are called by their number, so files differ by where they begin.
        let mut wanted = vec![u32::MAX; self.columns.len()];
        self.features.iter().zip(0..).for_each(|(c, place)| wanted[*c] = place);
        let first = |columns: &[(String, ColumnKind)]| {
            columns.get(1).and_then(|c| c.0.parse::<usize>().ok()).unwrap_or(0)
        };
        let shift = first(here) - first(&self.columns).min(first(here));
        let place = |c: usize| wanted.get(c + shift).copied().unwrap_or(u32::MAX);
        self.places = (1..here.len()).map(place).collect();
    }

    pub(super) fn here(&self, error: Error) -> Error {
        let path = &self.files[self.file].0;
        error.at(if path == "-" { "standard input" } else { path })
    }

    /// Gives out the row at hand.
    fn give(&mut self, chunk: &Chunk, out: &mut RowBlock) -> Result<()> {
        if let Some(seen) = &mut self.seen
            && let Some(key) = self.key.of(chunk, self.at, self.row)?
        {
            seen.add(key, self.row)?;
        }
        self.unmatched += u64::from(!self.matched(chunk, self.at, self.row)?);
        let label = self.label(chunk, self.at, self.row)?;
        let y = self.coded(label, self.row)?;
        self.push(chunk, self.at, out, y)
    }

    /// Whether every file that is matched by key has this row.
    pub(super) fn matched(&self, chunk: &Chunk, at: usize, row: u64) -> Result<bool> {
        for aside in self.asides().filter(|aside| aside.matching.keyed()) {
            if aside.matching.place(&self.key, (chunk, at), row)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The files beside the stream.
    fn asides(&self) -> impl Iterator<Item = &Beside> {
        let target = match &self.target {
            TargetAt::Aside(aside) => Some(aside),
            TargetAt::Column(_) | TargetAt::Label => None,
        };
        let extras = [&self.weight, &self.offset].into_iter().flatten();
        target.into_iter().chain(extras.filter_map(Extra::aside)).chain(&self.beside)
    }

    /// The weight or offset of a row.
    fn extra(&self, extra: &Extra, chunk: &Chunk, at: usize) -> Result<f64> {
        let value = match &extra.at {
            NumberAt::Column(c) => chunk.number(at, *c, self.columns.len()),
            NumberAt::Aside(beside) => {
                let place = beside.matching.place(&self.key, (chunk, at), self.row)?;
                beside.numbers(place).next().unwrap_or(f64::NAN)
            }
        };
        match value.is_finite() {
            true => Ok(value),
            false => Err(extra.missing(self.row)),
        }
    }

    /// Target and weight of a row that has a target.
    fn weighed(&self, chunk: &Chunk, at: usize, y: f64) -> Result<(f64, f64)> {
        let row = self.row;
        if y.is_infinite() {
            return Err(Error::Data(format!("the target is not a finite number at row {row}")));
        }
        let mut weight = match self.problem.classes.is_empty() {
            true => 1.0,
            false => self.balance.get(y as usize).copied().unwrap_or(1.0),
        };
        if let Some(extra) = &self.weight {
            let given = self.extra(extra, chunk, at)?;
            if given <= 0.0 {
                return Err(Error::Data(format!("the sample weight at row {row} is not positive")));
            }
            weight *= given;
        }
        let offset = self.offset.as_ref().map(|extra| self.extra(extra, chunk, at)).transpose()?;
        Ok((y - offset.unwrap_or(0.0), weight))
    }

    /// Gives out one row; a row without a target is counted and not learnt from.
    pub(super) fn push(&self, chunk: &Chunk, at: usize, out: &mut RowBlock, y: f64) -> Result<()> {
        let (y, weight) = match y.is_nan() {
            true => (f64::NAN, 1.0),
            false => self.weighed(chunk, at, y)?,
        };
        let width = self.columns.len();
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
                let (index, value) = (&index[from..ends[at]], &value[from..ends[at]]);
                if more.is_empty() && self.places.is_empty() {
                    return out.push(Row::Sparse { index, value }, y, weight);
                }
                let place = |j: &u32| self.places.get(*j as usize).copied().unwrap_or(*j);
                let kept = index.iter().map(place).zip(value.iter().copied());
                let kept = kept.filter(|(place, _)| *place != u32::MAX);
                let first = self.features.len() as u32;
                let pairs = kept.chain((first..).zip(more.iter().copied()));
                let (index, value): (Vec<u32>, Vec<f64>) = pairs.unzip();
                self.check_covariates(y, |c| more[c - self.features.len()])?;
                out.push(Row::Sparse { index: &index, value: &value }, y, weight)
            }
            ChunkValues::F32(v) => {
                let line = &v[at * width..(at + 1) * width];
                if self.whole && more.is_empty() {
                    return out.push(Row::F32(line), y, weight);
                }
                if more.is_empty() {
                    let row: Vec<f32> = self.features.iter().map(|c| line[*c]).collect();
                    self.check_covariates(y, |c| f64::from(row[c]))?;
                    return out.push(Row::F32(&row), y, weight);
                }
                let row = self.features.iter().map(|c| f64::from(line[*c]));
                self.push_wide(row.chain(more).collect(), out, y, weight)
            }
            ChunkValues::F64(v) => {
                let line = &v[at * width..(at + 1) * width];
                let row = self.features.iter().map(|c| line[*c]);
                self.push_wide(row.chain(more).collect(), out, y, weight)
            }
        }
    }

    fn push_wide(&self, row: Vec<f64>, out: &mut RowBlock, y: f64, weight: f64) -> Result<()> {
        self.check_covariates(y, |c| row[c])?;
        out.push(Row::F64(&row), y, weight)
    }

    /// Refuses a covariate that is missing, whatever is done about missing features.
    fn check_covariates(&self, y: f64, value: impl Fn(usize) -> f64) -> Result<()> {
        let hole = |c: &usize| !y.is_nan() && !value(*c).is_finite();
        match (self.problem.candidates()..self.problem.features()).find(hole) {
            None => Ok(()),
            Some(c) => {
                let (name, row) = (&self.problem.names[c], self.row);
                let what =
                    format!("covariate {name:?} has a missing or infinite value at row {row}");
                Err(Error::Data(what))
            }
        }
    }

    /// Refuses files beside the stream that go on after its end.
    fn ended(&self) -> Result<()> {
        self.asides().try_for_each(|aside| aside.matching.ended(self.row))
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
                failed = self.give(&chunk, out).err();
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
        (self.file, self.chunk, self.at, self.row, self.unmatched) = (0, None, 0, 0, 0);
        self.seen.iter_mut().for_each(SeenKeys::clear);
        self.place_sparse();
        Ok(())
    }
}
