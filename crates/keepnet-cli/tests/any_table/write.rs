//! A table in every format that can hold it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, RecordBatch, StringArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use crate::table::{Column, Kind, Table};

/// A format, and the way in which it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    Parquet,
    Arrow,
    ArrowStream,
    Feather,
    Csv,
    Tsv,
    CsvGz,
    CsvZst,
    Jsonl,
    NpyC,
    NpyF,
    Svm,
}

impl Form {
    pub const ALL: [Self; 12] = [
        Self::Parquet,
        Self::Arrow,
        Self::ArrowStream,
        Self::Feather,
        Self::Csv,
        Self::Tsv,
        Self::CsvGz,
        Self::CsvZst,
        Self::Jsonl,
        Self::NpyC,
        Self::NpyF,
        Self::Svm,
    ];

    fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::ArrowStream => "arrows",
            Self::Feather => "feather",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::CsvGz => "csv.gz",
            Self::CsvZst => "csv.zst",
            Self::Jsonl => "jsonl",
            Self::NpyC => "c.npy",
            Self::NpyF => "f.npy",
            Self::Svm => "svm",
        }
    }

    /// Whether it holds numbers alone, under names of its own.
    pub fn bare(self) -> bool {
        matches!(self, Self::NpyC | Self::NpyF | Self::Svm)
    }
}

/// What becomes of text columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    Skip,
    Codes,
    OneHot,
}

impl Text {
    pub fn name(self) -> &'static str {
        match self {
            Self::Skip => "skip",
            Self::Codes => "codes",
            Self::OneHot => "onehot",
        }
    }
}

/// Which part of a table goes into a file.
#[derive(Clone, Debug)]
pub struct Part {
    pub rows: std::ops::Range<usize>,
    pub columns: std::ops::Range<usize>,
    /// Whether target and weight stand in this file, where the form has room for them.
    pub carries: bool,
}

impl Part {
    pub fn whole(table: &Table) -> Self {
        Self { rows: 0..table.rows(), columns: 0..table.columns.len(), carries: true }
    }
}

/// Where target and weight of a table in a form are.
pub struct Places {
    /// The value of `--target`, `None` for the label of svm text.
    pub target: Option<String>,
    pub weight: Option<String>,
}

/// The codes of a text column: places among the levels that it has, as by hand.
pub fn codes(column: &Column) -> Vec<f64> {
    let mut there = vec![false; column.levels.len()];
    column.values.iter().filter(|v| !v.is_nan()).for_each(|v| there[*v as usize] = true);
    let place = |v: &f64| match v.is_nan() {
        true => f64::NAN,
        false => there[..*v as usize].iter().filter(|t| **t).count() as f64,
    };
    column.values.iter().map(place).collect()
}

/// The number type of an npy file: the narrowest that holds a table of one kind.
fn npy_type(table: &Table) -> &'static str {
    let all = |kind: Kind| table.columns.iter().all(|c| c.kind == kind);
    let small = |v: &f64| v.abs() < 2e9;
    let whole = !table.has_missing() && table.weight.is_none();
    if all(Kind::F32) {
        "<f4"
    } else if whole && all(Kind::Bool) {
        "|b1"
    } else if whole && all(Kind::Int) && table.columns.iter().all(|c| c.values.iter().all(small)) {
        "<i4"
    } else {
        "<f8"
    }
}

/// The columns of a bare form: text as its codes, or left out.
fn bare_columns(table: &Table, text: Text, columns: std::ops::Range<usize>) -> Vec<Vec<f64>> {
    let kept = |c: &&Column| !(c.kind.is_text() && text == Text::Skip);
    let values = |c: &Column| if c.kind.is_text() { codes(c) } else { c.values.clone() };
    table.columns[columns].iter().filter(kept).map(values).collect()
}

/// Whether svm text has the target as its label.
fn labelled(table: &Table) -> bool {
    table.target.classes.iter().all(|name| name.parse::<f64>().is_ok())
        && table.target.values.iter().all(|v| !v.is_nan())
}

impl Table {
    /// Whether a form can hold the table for a method on rows, or on features.
    pub fn fits(&self, form: Form, text: Text, by_rows: bool) -> bool {
        let coded = !(form.bare() && text == Text::OneHot && self.has_text());
        // An array in Fortran order holds columns; svm text ends with the last column that is not
        // all zeros, and settings by the number of features, as the burn-in of tsgd, go with it.
        let ends = |c: &Vec<f64>| c.iter().any(|v| *v != 0.0);
        let holds = match form {
            Form::NpyF => !by_rows,
            Form::Svm => bare_columns(self, text, 0..self.columns.len()).last().is_some_and(ends),
            _ => true,
        };
        coded && holds
    }

    /// Names that features have in a bare form, by their place, as names of the table.
    pub fn bare_name(&self, form: Form, text: Text, name: &str) -> String {
        if !form.bare() {
            return name.to_string();
        }
        let (stem, rest) = name.split_once(':').map_or((name, ""), |(stem, rest)| (stem, rest));
        let digits = stem.strip_prefix('f').unwrap_or(stem);
        let place: usize = digits.parse().unwrap_or(usize::MAX);
        let place = if form == Form::Svm { place.wrapping_sub(1) } else { place };
        let kept = |c: &&Column| !(c.kind.is_text() && text == Text::Skip);
        let named = self.columns.iter().filter(kept).nth(place);
        let named = named.map_or_else(|| format!("?{name}"), |c| c.name.clone());
        if rest.is_empty() { named } else { format!("{named}:{rest}") }
    }

    /// The name that a feature of the table has in a form.
    pub fn name_in(&self, form: Form, text: Text, name: &str) -> String {
        if !form.bare() {
            return name.to_string();
        }
        let kept = |c: &&Column| !(c.kind.is_text() && text == Text::Skip);
        let place = self.columns.iter().filter(kept).position(|c| c.name == name);
        let place = place.expect("a feature of the table");
        if form == Form::Svm { (place + 1).to_string() } else { format!("f{place}") }
    }

    /// Writes a part; the first call for a folder also writes the files beside it.
    pub fn write(
        &self,
        folder: &Path,
        stem: &str,
        form: Form,
        text: Text,
        part: &Part,
    ) -> (PathBuf, Places) {
        let path = folder.join(format!("{stem}.{}", form.extension()));
        let rows = part.rows.clone();
        let places = self.places(folder, form, text);
        match form {
            Form::NpyC | Form::NpyF => {
                let bytes = self.npy(form == Form::NpyF, text, part, &places);
                std::fs::write(&path, bytes).unwrap();
            }
            Form::Svm => std::fs::write(&path, self.svm(text, part)).unwrap(),
            Form::Csv | Form::Tsv | Form::CsvGz | Form::CsvZst => {
                let separator = if form == Form::Tsv { "\t" } else { "," };
                let lines = separated(&self.with_target(part), rows, separator);
                let bytes = match form {
                    Form::CsvGz => gz(lines.as_bytes()),
                    Form::CsvZst => zstd::encode_all(lines.as_bytes(), 1).unwrap(),
                    _ => lines.into_bytes(),
                };
                std::fs::write(&path, bytes).unwrap();
            }
            Form::Jsonl => std::fs::write(&path, json(&self.with_target(part), rows)).unwrap(),
            Form::Parquet | Form::Arrow | Form::ArrowStream | Form::Feather => {
                arrow(&path, form, &self.with_target(part), rows);
            }
        }
        (path, places)
    }

    /// Where target and weight are; writes them to files of their own where they must be.
    fn places(&self, folder: &Path, form: Form, text: Text) -> Places {
        let beside = |name: &str, column: Column| {
            let path = folder.join(format!("{name}.beside.csv"));
            let rows = 0..self.rows();
            std::fs::write(&path, separated(&[column], rows, ",")).unwrap();
            path.to_str().unwrap().to_string()
        };
        let weight = || self.weight.is_some();
        if !form.bare() {
            let weight = weight().then(|| "weight".to_string());
            return Places { target: Some("target".into()), weight };
        }
        let columns = bare_columns(self, text, 0..self.columns.len()).len();
        if form == Form::Svm {
            let target = (!labelled(self)).then(|| beside("target", self.target_column()));
            let weight = self.weight_column().map(|column| beside("weight", column));
            return Places { target, weight };
        }
        let inside = npy_type(self) == "<f8" && self.target.classes.is_empty();
        let target = match inside {
            true => format!("f{columns}"),
            false => beside("target", self.target_column()),
        };
        let weight = weight().then(|| format!("f{}", columns + usize::from(inside)));
        Places { target: Some(target), weight }
    }

    fn target_column(&self) -> Column {
        let numbers = self.target.classes.iter().all(|name| name.parse::<f64>().is_ok());
        let kind = match (self.target.classes.is_empty(), numbers) {
            (true, _) => Kind::F64,
            (false, true) => Kind::Int,
            (false, false) => Kind::Text,
        };
        let levels = if kind == Kind::Text { self.target.classes.clone() } else { Vec::new() };
        Column { name: "target".into(), kind, values: self.target.values.clone(), levels }
    }

    fn weight_column(&self) -> Option<Column> {
        let values = self.weight.clone()?;
        Some(Column { name: "weight".into(), kind: Kind::F64, values, levels: Vec::new() })
    }

    /// The columns of a named form; the target stands first, the weight last.
    fn with_target(&self, part: &Part) -> Vec<Column> {
        let mut columns = self.columns[part.columns.clone()].to_vec();
        if part.carries {
            columns.insert(0, self.target_column());
            columns.extend(self.weight_column());
        }
        columns
    }

    fn npy(&self, fortran: bool, text: Text, part: &Part, places: &Places) -> Vec<u8> {
        let mut columns = bare_columns(self, text, part.columns.clone());
        if part.carries {
            if places.target.as_deref().is_some_and(|t| !t.ends_with(".csv")) {
                columns.push(self.target.values.clone());
            }
            columns.extend(self.weight.clone());
        }
        let kind = npy_type(self);
        let rows = part.rows.clone();
        let order = if fortran { "True" } else { "False" };
        let shape = format!("({}, {})", rows.len(), columns.len());
        let mut header =
            format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        let mut put = |v: f64| match kind {
            "<f4" => bytes.extend((v as f32).to_le_bytes()),
            "<i4" => bytes.extend((v as i32).to_le_bytes()),
            "|b1" => bytes.push(v as u8),
            _ => bytes.extend(v.to_le_bytes()),
        };
        match fortran {
            true => columns.iter().for_each(|c| rows.clone().for_each(|r| put(c[r]))),
            false => rows.for_each(|r| columns.iter().for_each(|c| put(c[r]))),
        }
        bytes
    }

    fn svm(&self, text: Text, part: &Part) -> String {
        let columns = bare_columns(self, text, part.columns.clone());
        let labelled = labelled(self);
        let mut out = String::new();
        for row in part.rows.clone() {
            out += &match labelled {
                true if self.target.classes.is_empty() => self.target.values[row].to_string(),
                true => self.target.classes[self.target.values[row] as usize].clone(),
                false => "0".into(),
            };
            for (j, column) in columns.iter().enumerate().filter(|(_, c)| c[row] != 0.0) {
                out += &format!(" {}:{:?}", j + 1, column[row]);
            }
            out.push('\n');
        }
        out
    }
}

/// One value as text; `None` where it is missing.
fn cell(column: &Column, row: usize) -> Option<String> {
    let v = column.values[row];
    (!v.is_nan()).then(|| match column.kind {
        Kind::Bool => (v == 1.0).to_string(),
        Kind::Int => (v as i64).to_string(),
        Kind::Dictionary | Kind::Text => column.levels[v as usize].clone(),
        Kind::F32 | Kind::F64 => format!("{v:?}"),
    })
}

fn separated(columns: &[Column], rows: std::ops::Range<usize>, separator: &str) -> String {
    let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
    let mut out = names.join(separator) + "\n";
    for row in rows {
        // Of one column an empty line would be no row.
        let none = if columns.len() == 1 { "NA" } else { "" };
        let cells: Vec<_> =
            columns.iter().map(|c| cell(c, row).unwrap_or_else(|| none.into())).collect();
        out += &(cells.join(separator) + "\n");
    }
    out
}

fn json(columns: &[Column], rows: std::ops::Range<usize>) -> String {
    let mut out = String::new();
    for row in rows {
        let entry = |c: &Column| {
            let value = cell(c, row).map_or("null".into(), |text| match c.kind.is_text() {
                true => format!("{text:?}"),
                false => text,
            });
            format!("{:?}:{value}", c.name)
        };
        let entries: Vec<String> = columns.iter().map(entry).collect();
        out += &format!("{{{}}}\n", entries.join(","));
    }
    out
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

fn array(column: &Column, rows: std::ops::Range<usize>) -> ArrayRef {
    let values = column.values[rows].iter().map(|v| (!v.is_nan()).then_some(*v));
    let largest =
        column.values.iter().filter(|v| !v.is_nan()).fold(0.0, |m: f64, v| m.max(v.abs()));
    let text = |v: Option<f64>| v.map(|v| column.levels[v as usize].as_str());
    match column.kind {
        Kind::Bool => Arc::new(values.map(|v| v.map(|v| v == 1.0)).collect::<BooleanArray>()),
        Kind::F32 => Arc::new(values.map(|v| v.map(|v| v as f32)).collect::<Float32Array>()),
        Kind::F64 => Arc::new(values.collect::<Float64Array>()),
        Kind::Text => Arc::new(values.map(text).collect::<StringArray>()),
        Kind::Dictionary => Arc::new(values.map(text).collect::<DictionaryArray<Int32Type>>()),
        Kind::Int if largest < 120.0 => {
            Arc::new(values.map(|v| v.map(|v| v as i8)).collect::<Int8Array>())
        }
        Kind::Int if largest < 3e4 => {
            Arc::new(values.map(|v| v.map(|v| v as i16)).collect::<Int16Array>())
        }
        Kind::Int if largest < 2e9 => {
            Arc::new(values.map(|v| v.map(|v| v as i32)).collect::<Int32Array>())
        }
        Kind::Int => Arc::new(values.map(|v| v.map(|v| v as i64)).collect::<Int64Array>()),
    }
}

fn arrow(path: &Path, form: Form, columns: &[Column], rows: std::ops::Range<usize>) {
    let arrays: Vec<ArrayRef> = columns.iter().map(|c| array(c, rows.clone())).collect();
    let field = |(c, a): (&Column, &ArrayRef)| Field::new(&c.name, a.data_type().clone(), true);
    let fields: Vec<Field> = columns.iter().zip(&arrays).map(field).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).unwrap();
    let file = std::fs::File::create(path).unwrap();
    // Dictionaries of an Arrow file cannot change between batches, and here they do not.
    let step = rows.len().div_ceil(2).max(1);
    let parts = (0..rows.len()).step_by(step).map(|at| batch.slice(at, step.min(rows.len() - at)));
    match form {
        Form::Parquet => {
            let group = Some(rows.len().div_ceil(3).max(1));
            let properties = WriterProperties::builder().set_max_row_group_row_count(group).build();
            let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
        }
        Form::ArrowStream => {
            let mut writer = StreamWriter::try_new(file, &schema).unwrap();
            parts.for_each(|part| writer.write(&part).unwrap());
            writer.finish().unwrap();
        }
        _ => {
            let packed = (form == Form::Feather).then_some(CompressionType::LZ4_FRAME);
            let options = IpcWriteOptions::default().try_with_compression(packed).unwrap();
            let mut writer = FileWriter::try_new_with_options(file, &schema, options).unwrap();
            parts.for_each(|part| writer.write(&part).unwrap());
            writer.finish().unwrap();
        }
    }
}
