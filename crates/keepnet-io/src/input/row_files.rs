//! Several files, or standard input, as one stream of chunks of rows.

use keepnet::{Error, Result};

use crate::OpenOptions;
use crate::formats::chunk::{Chunk, ChunkReader};
use crate::formats::shown;
use crate::formats::table::{Fingerprint, Schema};
use crate::input::resolve::InputFile;
use crate::input::schema::{ColumnInfo, StackedColumns, Way, how, names};
use crate::store::Place;

/// Files with the same columns, one after the other.
pub(crate) struct RowFiles {
    files: Vec<InputFile>,
    /// Their paths.
    pub(crate) paths: Vec<String>,
    at: usize,
    reader: Box<dyn ChunkReader>,
    columns: StackedColumns,
    // Where the file at hand has its columns in another order (see `Chunk::place`).
    from: Option<Vec<usize>>,
    options: OpenOptions,
    pub(crate) place: Place,
}

impl RowFiles {
    /// Opens the first file, and the heads of the others to settle what the columns hold.
    pub(crate) fn open(files: Vec<InputFile>, options: &OpenOptions) -> Result<Self> {
        let place = Place::new(options);
        let paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
        let reader = files[0].format.open_rows(&paths[0], &place)?;
        how(&[(&paths[0], &*reader)], options, Way::Rows)?;
        let columns = StackedColumns::new(&paths[0], &*reader);
        let (options, from) = (options.clone(), None);
        let mut all = Self { files, paths, at: 0, reader, columns, from, options, place };
        for at in (1..all.files.len()).filter(|at| all.files[*at].path != "-") {
            let reader = all.open_file(at)?;
            all.columns.add(&all.paths[at], &*reader)?;
        }
        all.arrange();
        Ok(all)
    }

    /// Opens a file after the first, which must have the same columns.
    fn open_file(&self, at: usize) -> Result<Box<dyn ChunkReader>> {
        let path = self.paths[at].as_str();
        let reader = self.files[at].format.open_rows(path, &self.place)?;
        let both: [(&str, &dyn Schema); 2] = [(&self.paths[0], &self.columns), (path, &*reader)];
        how(&both, &self.options, Way::Rows)?;
        Ok(reader)
    }

    /// Every column, as all files have it.
    pub(crate) fn schema(&self) -> &StackedColumns {
        &self.columns
    }

    /// The columns of a chunk.
    pub(crate) fn columns(&self) -> &[ColumnInfo] {
        self.columns.columns()
    }

    /// The next chunk, of the next file where one ends; `None` at the end of all.
    pub(crate) fn next(&mut self) -> Result<Option<Chunk>> {
        loop {
            if let Some(mut chunk) = self.reader.next().map_err(|e| self.here(e))? {
                self.from.iter().for_each(|from| chunk.place(from));
                return Ok(Some(chunk));
            }
            if self.at + 1 == self.files.len() {
                return Ok(None);
            }
            self.reader = self.open_file(self.at + 1)?;
            self.at += 1;
            self.columns.check(&self.paths[self.at], &*self.reader)?;
            self.arrange();
        }
    }

    /// Before the first row again.
    pub(crate) fn rewind(&mut self) -> Result<()> {
        if self.piped() {
            return Err(Error::Unsupported("standard input cannot be read twice".into()));
        }
        if self.at > 0 || !self.reader.rewind() {
            self.reader = self.files[0].format.open_rows(&self.paths[0], &self.place)?;
        }
        self.at = 0;
        self.arrange();
        Ok(())
    }

    /// Sees where the file at hand has the columns.
    fn arrange(&mut self) {
        self.from = None;
        if names(&self.columns).eq(names(&*self.reader)) {
            return;
        }
        let places = self.columns.places(&*self.reader);
        self.from = Some(match self.columns.open_ended() {
            false => places.into_iter().flatten().collect(),
            // The features of the file among those of all, both without the label.
            true => {
                let mut from = vec![0; self.reader.columns().len() - 1];
                for (c, at) in places.into_iter().enumerate().skip(1) {
                    at.iter().for_each(|at| from[*at - 1] = c - 1);
                }
                from
            }
        });
    }

    /// Whether standard input is among the files.
    pub(crate) fn piped(&self) -> bool {
        self.paths.iter().any(|path| path == "-")
    }

    /// An error with the file at hand.
    pub(crate) fn here(&self, error: Error) -> Error {
        error.at(shown(&self.paths[self.at]))
    }

    /// Rows in all, where known.
    pub(crate) fn rows(&self) -> Option<u64> {
        if self.files.len() == 1 { self.reader.rows() } else { None }
    }

    /// Bytes that reading takes at most, beside what it holds already.
    pub(crate) fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    /// Mixes the first file's head, and size and time of the others, into a fingerprint.
    pub(crate) fn fingerprint(&self, print: &mut Fingerprint) {
        print.number(self.reader.fingerprint());
        for path in &self.paths[1..] {
            // A missing file is reported when it is reached.
            std::fs::metadata(path).iter().for_each(|meta| print.file(meta));
        }
    }
}
