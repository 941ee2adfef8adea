//! `keepnet generate`: the papers' synthetic data, by seed, into any format.

use std::ops::Range;
use std::path::Path;

use keepnet::{ColumnBlock, ColumnData, Error, FeatureSource, Generated, Result};
use keepnet_io::Format;
use keepnet_io::sink::{self, Cells, Columns, Field, FieldKind};
use keepnet_papers::Workload;
use keepnet_papers::workload::WORKLOADS;

use keepnet_run::outputs::atomic::{self, Pending};
use keepnet_run::outputs::inputs::Inputs;
use keepnet_run::outputs::{self as files, reduced};
use keepnet_run::request::text::by_key;
use keepnet_run::result::table;
use keepnet_run::system;
use keepnet_run::terminal::say::print;
use keepnet_run::terminal::signals;

use crate::flags::GenerateArgs;

/// Memory for formats that hold rows, unless `--memory` says otherwise.
const MEMORY: u64 = 256 << 20;
/// Columns made at a time.
const WIDTH: usize = 128;

/// Writes the data, the target and the truth.
pub fn run(args: &GenerateArgs) -> Result<()> {
    if args.list {
        return print(&list());
    }
    let (Some(name), Some(output)) = (&args.workload, &args.output) else {
        return Err(Error::param("generate", "no workload", "WORKLOAD --output FILE, or --list"));
    };
    if name == super::generate_genotypes::NAME {
        return super::generate_genotypes::run(args, output);
    }
    let mut settings = by_key(&args.settings)?;
    settings.entry("seed".into()).or_insert_with(|| args.seed.to_string());
    let workload = Workload::parse(name, &settings)?;
    for path in [Some(output), args.target.as_ref()].into_iter().flatten() {
        Format::from_path(&path.to_string_lossy())?;
    }
    signals::listen()?;
    let outputs = [("output", &args.output), ("target", &args.target), ("truth", &args.truth)];
    files::ready(&files::given(outputs), &Inputs::default())?;
    system::with_threads(args.threads, || write_all(args, output, &workload, args.memory))?;
    Ok(())
}

fn list() -> String {
    let mut rows = vec![["workload", "settings", "what it is"].map(String::from).to_vec()];
    for info in WORKLOADS {
        let own = info.settings.iter().map(|(name, default)| format!("{name}={default}"));
        let own = own.collect::<Vec<_>>().join(" ");
        rows.push(vec![info.name.into(), own, info.summary.into()]);
    }
    rows.push(super::generate_genotypes::line());
    table::aligned(&rows)
        + "\nEvery workload but genotypes takes --set n=ROWS, p=FEATURES, s=INFORMATIVE, sample=N (other rows \
           of the same truth),\nnoise=matched|stated|SD|SHARE% and task=regression|classification.\n"
}

fn write_all(
    args: &GenerateArgs,
    output: &Path,
    workload: &Workload,
    memory: Option<u64>,
) -> Result<()> {
    let target = reduced::target_cells(&workload.target());
    let memory = memory.unwrap_or(MEMORY);
    let mut pending = Vec::new();
    let apart = args.target.as_deref();
    let mut features = Features::new(workload, Some(&target).filter(|_| apart.is_none()));
    features.count()?;
    pending.push(write(output, &mut features, memory)?);
    if let Some(path) = apart {
        let mut alone = Features::new(workload, Some(&target));
        alone.fields.drain(..alone.features);
        alone.features = 0;
        pending.push(write(path, &mut alone, memory)?);
    }
    if let Some(path) = &args.truth {
        pending.push(truth(path, workload)?);
    }
    atomic::publish(pending)
}

fn write(path: &Path, columns: &mut dyn Columns, memory: u64) -> Result<Pending> {
    let pending = Pending::new(path)?;
    let format = Format::from_path(&path.to_string_lossy())?;
    let out = Box::new(pending.writer()?);
    sink::write(format, out, columns, memory).map_err(|error| pending.failed(error))?;
    Ok(pending)
}

fn truth(path: &Path, workload: &Workload) -> Result<Pending> {
    use std::io::Write;
    let pending = Pending::new(path)?;
    let mut out = pending.writer()?;
    let mut write = || -> std::io::Result<()> {
        writeln!(out, "index,name,weight")?;
        for (index, weight) in workload.truth() {
            writeln!(out, "{index},f{index},{weight}")?;
        }
        out.flush()
    };
    write().map_err(|error| pending.failed(Error::io("", error)))?;
    Ok(pending)
}

/// The columns of a workload and then its target.
struct Features<'a> {
    source: Generated,
    target: Option<&'a Cells>,
    fields: Vec<Field>,
    features: usize,
    entries: Option<u64>,
    block: ColumnBlock,
    slice: Range<usize>,
    at: usize,
    in_block: usize,
}

impl<'a> Features<'a> {
    fn new(workload: &Workload, target: Option<&'a Cells>) -> Self {
        let source = workload.source();
        let features = workload.features() as usize;
        let mut fields: Vec<Field> =
            (0..features).map(|j| Field { name: format!("f{j}"), kind: FieldKind::F32 }).collect();
        if let Some(target) = target {
            fields.push(Field { name: "target".into(), kind: reduced::kind(target) });
        }
        let block = ColumnBlock::new(WIDTH);
        let (slice, entries) = (0..0, None);
        Self { source, target, fields, features, entries, block, slice, at: 0, in_block: 0 }
    }

    /// Counts the entries of sparse columns: one pass, little next to writing them.
    fn count(&mut self) -> Result<()> {
        let mut entries = 0;
        self.block.reset(WIDTH);
        while self.source.next_block(&mut self.block)? {
            for column in self.block.columns() {
                let ColumnData::Sparse { index, .. } = &column.data else { return Ok(()) };
                entries += index.len() as u64;
            }
            self.block.reset(WIDTH);
        }
        self.entries = Some(entries);
        Ok(())
    }
}

impl Columns for Features<'_> {
    fn rows(&self) -> usize {
        self.source.rows()
    }

    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn entries(&self) -> Option<u64> {
        self.entries
    }

    fn start(&mut self, rows: Range<usize>) -> Result<()> {
        (self.slice, self.at, self.in_block) = (rows, 0, 0);
        self.block.reset(WIDTH);
        self.source.rewind()
    }

    fn next(&mut self) -> Result<Cells> {
        if self.at == self.features {
            return Ok(match self.target {
                Some(Cells::Numbers(data)) => Cells::Numbers(sink::rows_of(data, &self.slice)),
                Some(Cells::Text(text)) => Cells::Text(text[self.slice.clone()].to_vec()),
                None => return Err(Error::Data("a column too many was asked for".into())),
            });
        }
        if self.in_block == self.block.len() {
            self.block.reset(WIDTH);
            self.source.next_block(&mut self.block)?;
            self.in_block = 0;
        }
        let column = &self.block.columns()[self.in_block];
        (self.at, self.in_block) = (self.at + 1, self.in_block + 1);
        Ok(Cells::Numbers(sink::rows_of(&column.data, &self.slice)))
    }
}
