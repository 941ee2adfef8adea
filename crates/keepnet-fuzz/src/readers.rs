//! Mutated data files of every format, through `keepnet select` by columns and by rows.

use std::io::Write;
use std::path::{Path, PathBuf};

use keepnet::registry::{self, Stream};

use crate::cases::{Case, Cases, MEMORY, words};
use crate::mutate::{Kind, mutate};
use crate::random::Random;

/// A format: its folder of seeds, its extension, what its bytes are.
pub struct Reader {
    pub name: &'static str,
    extension: &'static str,
    kind: Kind,
}

const fn reader(name: &'static str, extension: &'static str, kind: Kind) -> Reader {
    Reader { name, extension, kind }
}

/// Every format that is read.
pub const READERS: &[Reader] = &[
    reader("csv", "csv", Kind::Text),
    reader("tsv", "tsv", Kind::Text),
    reader("npy", "npy", Kind::Binary),
    reader("svm", "svm", Kind::Text),
    reader("jsonl", "jsonl", Kind::Text),
    reader("parquet", "parquet", Kind::Footer),
    reader("arrow", "arrow", Kind::Footer),
    reader("arrows", "arrows", Kind::Binary),
    reader("feather", "feather", Kind::Footer),
    reader("arrow-columns", "arrow-columns", Kind::Binary),
    reader("gz", "csv.gz", Kind::Binary),
    reader("zst", "csv.zst", Kind::Binary),
];

/// Mutated files of one format.
pub struct Files {
    reader: &'static Reader,
    seeds: Vec<Vec<u8>>,
    text: Vec<Vec<u8>>,
}

/// The folder of seeds.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The seeds of a folder, in the order of their names.
pub fn seeds(folder: &str) -> std::io::Result<Vec<Vec<u8>>> {
    let entries = std::fs::read_dir(corpus().join(folder))?;
    let mut paths: Vec<PathBuf> = entries.map(|e| Ok(e?.path())).collect::<std::io::Result<_>>()?;
    paths.sort();
    paths.iter().map(std::fs::read).collect()
}

impl Files {
    /// Reads the seeds and puts a sound table into the work folder.
    pub fn new(reader: &'static Reader, folder: &Path) -> std::io::Result<Self> {
        std::fs::copy(corpus().join("csv/mixed.csv"), folder.join("good.csv"))?;
        Ok(Self { reader, seeds: seeds(reader.name)?, text: seeds("csv")? })
    }
}

impl Cases for Files {
    fn case(&self, number: u64, random: &mut Random) -> Case {
        let file = format!("input.{}", self.reader.extension);
        // Every seed as it is, by columns and by rows, before any is changed.
        let first = (number / 2) as usize;
        if let Some(seed) = self.seeds.get(first) {
            let mut call = words("select", &file);
            call.extend(shape(number.is_multiple_of(2), self.reader.name, random, false));
            return Case { file, bytes: seed.clone(), call };
        }
        let pick =
            |seeds: &[Vec<u8>], random: &mut Random| seeds[random.below(seeds.len())].clone();
        let packed = matches!(self.reader.name, "gz" | "zst") && random.often(60);
        let bytes = if packed {
            let mut text = pick(&self.text, random);
            mutate(&mut text, &pick(&self.text, random), Kind::Text, random);
            pack(self.reader.name, &text)
        } else {
            let mut bytes = pick(&self.seeds, random);
            mutate(&mut bytes, &pick(&self.seeds, random), self.reader.kind, random);
            bytes
        };
        Case { call: call(&file, self.reader.name, random), file, bytes }
    }
}

fn pack(name: &str, text: &[u8]) -> Vec<u8> {
    if name == "zst" {
        return zstd::encode_all(text, 1).unwrap_or_default();
    }
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let _ = out.write_all(text);
    out.finish().unwrap_or_default()
}

/// A call that reads the file: mostly as the input, now and then as the target beside another.
fn call(file: &str, name: &str, random: &mut Random) -> Vec<String> {
    if random.often(8) {
        let mut call = words("select", "good.csv");
        let target = if name == "svm" { file.to_string() } else { format!("{file}:y") };
        call.extend(["--target".into(), target, "--categorical".into(), "skip".into()]);
        call.extend(method(random.often(50), random));
        return call;
    }
    let mut call = words("select", file);
    if random.often(4) {
        call.insert(2, file.into());
    }
    let columns = random.often(50);
    call.extend(shape(columns, name, random, true));
    call
}

/// Target, method and what becomes of text and missing values.
fn shape(columns: bool, name: &str, random: &mut Random, vary: bool) -> Vec<String> {
    let mut out = Vec::new();
    let mut flag = |name: &str, value: &str| out.extend([name.to_string(), value.to_string()]);
    match name {
        "svm" => {}
        // A feature a row: the target is of another file.
        "arrow-columns" => flag("--target", "good.csv:y"),
        "npy" => flag("--target", random.pick(&["f4", "f0", "f1"])),
        _ => flag("--target", if vary { random.pick(&["y", "y", "y", "a", "c"]) } else { "y" }),
    }
    let ways: &[&str] = if columns { &["skip", "codes", "onehot"] } else { &["skip"] };
    flag("--categorical", if vary { random.pick(ways) } else { "skip" });
    let ways: &[&str] =
        if columns { &["zero", "mean", "drop-feature", "indicator"] } else { &["zero", "mean"] };
    flag("--missing", if vary { random.pick(ways) } else { "zero" });
    if vary && random.often(25) {
        let (name, value) = [
            ("--key", "id"),
            ("--exclude", "id,s"),
            ("--columns", "a,b,n,u"),
            ("--columns", "f*"),
            ("--sample-weight", "u"),
            ("--offset", "n"),
            ("--covar", "good.csv:a"),
            ("--class-weight", "balanced"),
            ("--task", "classification"),
            ("--task", "regression"),
            ("--reduced", "small.csv"),
            ("--reduced", "small.parquet"),
            ("--always", "a"),
        ][random.below(13)];
        flag(name, value);
    }
    if vary && random.often(5) {
        out.push("--dry-run".into());
    }
    out.extend(if vary { method(columns, random) } else { plain(columns) });
    out
}

fn plain(columns: bool) -> Vec<String> {
    let name = if columns { "os-plus" } else { "olsth" };
    ["-k", "2", "--method", name].map(String::from).to_vec()
}

/// A method on columns or on rows, most often a common one.
fn method(columns: bool, random: &mut Random) -> Vec<String> {
    if random.often(40) {
        return plain(columns);
    }
    let fits = |method: &&&registry::MethodInfo| (method.stream == Stream::Samples) != columns;
    let methods: Vec<&registry::MethodInfo> =
        registry::methods().iter().filter(fits).copied().collect();
    let method = methods[random.below(methods.len())];
    let mut out = vec!["--method".to_string(), method.name.into()];
    if method.name != "group-saola" {
        out.extend(["-k".into(), "2".into()]);
    }
    if method.stream == Stream::Groups {
        out.extend(["--groups".into(), "block:3".into()]);
    }
    if method.has_loss && random.often(40) {
        let loss = random.pick(&["squared", "logistic", "squared-hinge"]);
        out.extend(["--loss".into(), loss.into()]);
    }
    out
}

/// Nothing but what every call has.
pub fn common() -> Vec<String> {
    ["--quiet", "--output", "out.json", "--threads", "1", "--memory", MEMORY]
        .map(String::from)
        .to_vec()
}
