//! (e) A libsvm text file to 100 features by `os-plus` with the logistic loss, against
//! LIBLINEAR's L1 logistic regression (`train -s 6`) on the same file in the same run.
//!
//! The data: sparse columns with a power law of counts, 100 informative ones through a logistic
//! model. Both sides go from the file to their model; the AUC is on other rows of the same truth.
//! Bounds: at most half of LIBLINEAR's time, an AUC no more than 0.003 below its.
//!
//! Usage: svm [n] [p] [rounds] [per-row=400] [KEY=VALUE...]; the defaults are 10,000, 500,000
//! and 1. `dir=PATH` keeps the files there for another run.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use keepnet::{
    ColumnBlock, Error, FeatureSource, LossKind, MethodSpec, Result, RunOptions, Selection,
};
use keepnet_bench::{Args, Seconds, auc, child_seconds, load, mib, peak_bytes, pool, reset_peak};
use keepnet_bench::{WorkloadColumns, select, thread_counts, timed};
use keepnet_io::{Format, OpenOptions, ProblemSpec, build_problem, open, sink};
use keepnet_papers::Workload;
use keepnet_run::plan::Plan;

/// The names under which distributions and the source package install LIBLINEAR.
const TRAINERS: [&str; 2] = ["liblinear-train", "train"];

fn main() -> Result<()> {
    let mut args = Args::parse("svm [n] [p] [rounds] [per-row=400] [KEY=VALUE...]");
    let (n, p, rounds) = (args.at(0, 10_000), args.at(1, 500_000), args.at(2, 1));
    let per_row = args.take("per-row").unwrap_or_else(|| "400".into());
    let kept = args.take("dir").map(PathBuf::from);
    let temporary = tempfile::tempdir().map_err(|e| Error::io("a temporary directory", e))?;
    let dir = kept.unwrap_or_else(|| temporary.path().to_path_buf());
    println!("svm: n = {n}, p = {p}, {per_row} values a row, 100 informative, load {}", load());
    let train = file(&dir, "train", (n, n, p), &per_row, 0)?;
    let test = file(&dir, "test", (n / 2, n, p), &per_row, 1)?;
    let bytes = std::fs::metadata(&train).map_err(|e| Error::io("the file", e))?.len();
    parse_rate(&train)?;
    let mut spec = MethodSpec::k(100);
    spec.loss = Some(LossKind::Logistic);
    let spec = args.apply(spec);
    let theirs = liblinear(&train, &dir, rounds)?;
    let mut scores = None;
    for threads in thread_counts() {
        let pool = pool(threads);
        let (mut best, mut last, mut read) = (Seconds::NONE, None, Seconds::NONE);
        reset_peak();
        for _ in 0..rounds {
            let (time, out) = pool.install(|| timed(|| ours(&train, &spec)));
            let (reading, selection) = out?;
            (best, read) = (best.best(time), read.best(reading));
            last = Some(selection);
        }
        let selection = last.ok_or_else(|| Error::param("rounds", 0, "at least 1"))?;
        println!(
            "  os-plus, {threads} thread(s): {:.2} s (processor {:.2} s), of which reading and \
             transposing {:.2} s ({:.0} MB/s; {:.0} MB a processor second); {} substitutions, {:?}",
            best.wall,
            best.cpu,
            read.wall,
            bytes as f64 / 1e6 / read.wall,
            bytes as f64 / 1e6 / read.cpu,
            selection.substitutions,
            selection.metrics
        );
        if let Some((time, _)) = &theirs {
            println!(
                "    {:.3} of LIBLINEAR's time (processor {:.3}); the bound is 0.5",
                best.wall / time.wall,
                best.cpu / time.cpu
            );
        }
        if let Some(peak) = peak_bytes() {
            println!("    peak {:.0} MiB; the file has {:.0}", mib(peak), mib(bytes));
        }
        scores.get_or_insert(ours_auc(&selection, &test)?);
    }
    let ours = scores.unwrap_or(f64::NAN);
    match theirs {
        Some((_, model)) => {
            let auc = margins_auc(&model, &test)?;
            println!(
                "  held-out AUC: os-plus with 100 features {ours:.4}, LIBLINEAR with {} \
                      features {auc:.4}: {:+.4}; the bound is -0.003",
                model.len(),
                ours - auc
            );
        }
        None => println!("  held-out AUC: os-plus with 100 features {ours:.4}"),
    }
    Ok(())
}

/// Writes the first `rows` rows of a sample of `n`, unless the file is there already.
///
/// The truth depends on `n`, so held-out rows are some of a sample of the same size.
fn file(
    dir: &Path,
    name: &str,
    (rows, n, p): (usize, usize, usize),
    per_row: &str,
    sample: u64,
) -> Result<PathBuf> {
    let path = dir.join(format!("{name}-{rows}-{p}-{per_row}.svm"));
    if path.exists() {
        return Ok(path);
    }
    let settings: BTreeMap<String, String> = [
        ("n", n.to_string()),
        ("p", p.to_string()),
        ("per-row", per_row.to_string()),
        ("sample", sample.to_string()),
    ]
    .map(|(key, value)| (key.to_string(), value))
    .into();
    let workload = Workload::parse("sparse", &settings)?;
    let out = File::create(&path).map_err(|e| Error::io(path.display().to_string(), e))?;
    let mut columns = WorkloadColumns::new(&workload, rows)?;
    sink::write(Format::Svm, Box::new(BufWriter::new(out)), &mut columns, 1 << 30)?;
    Ok(path)
}

/// The parser by itself on one core.
fn parse_rate(path: &Path) -> Result<()> {
    let text = std::fs::read(path).map_err(|e| Error::io(path.display().to_string(), e))?;
    // In pieces of the reader's size, cut at line ends.
    let mut pieces = Vec::new();
    let mut from = 0;
    while from < text.len() {
        let want = (from + (8 << 20)).min(text.len());
        let end =
            text[from..want].iter().rposition(|b| *b == b'\n').map_or(want, |at| from + at + 1);
        pieces.push(from..end);
        from = end;
    }
    let mut best = Seconds::NONE;
    for _ in 0..3 {
        let (time, rows) = timed(|| {
            pieces.iter().map(|piece| keepnet_io::speed::svm(&text[piece.clone()])).sum::<usize>()
        });
        assert!(rows > 0);
        best = best.best(time);
    }
    println!(
        "  {:.1} MB of text; parser alone, one core: {:.0} MB/s ({:.0} MB a processor second); \
         the bound is 500",
        text.len() as f64 / 1e6,
        text.len() as f64 / 1e6 / best.wall,
        text.len() as f64 / 1e6 / best.cpu
    );
    Ok(())
}

/// From the file to the selection, and how long opening and transposing took.
fn ours(path: &Path, spec: &MethodSpec) -> Result<(Seconds, Selection)> {
    let options = OpenOptions::default();
    let (time, opened) = timed(|| {
        let mut dataset = open(&[path.display().to_string()], &options)?;
        let asked = ProblemSpec { loss: spec.loss, ..ProblemSpec::default() };
        let joined = build_problem(&mut dataset, &asked, &options)?;
        let source = dataset.source(&joined.not_features)?;
        Ok::<_, Error>((joined.problem, source))
    });
    let (problem, mut source) = opened?;
    let width = Plan::new(None, &source).width;
    let options = RunOptions { width, ..RunOptions::default() };
    let selection = select(&mut source, problem, "os-plus", spec, options)?;
    Ok((time, selection))
}

fn ours_auc(selection: &Selection, test: &Path) -> Result<f64> {
    let weight = |s: &keepnet::Selected| (s.name.clone(), s.coefficient[0]);
    margins_auc(&selection.selected.iter().map(weight).collect(), test)
}

/// AUC of `x'w` on the rows of a file; columns go by their names, which are indices.
fn margins_auc(model: &HashMap<String, f64>, path: &Path) -> Result<f64> {
    let options = OpenOptions::default();
    let mut dataset = open(&[path.display().to_string()], &options)?;
    let asked = ProblemSpec { loss: Some(LossKind::Logistic), ..ProblemSpec::default() };
    let joined = build_problem(&mut dataset, &asked, &options)?;
    let y = joined.problem.target.outputs().remove(0);
    let mut source = dataset.source(&joined.not_features)?;
    let (mut u, mut block) = (vec![0.0; y.len()], ColumnBlock::new(256));
    while source.next_block(&mut block)? {
        for column in block.columns() {
            if let Some(w) = model.get(&*column.name.text()) {
                column.data.view().axpy(*w, &mut u);
            }
        }
        block.reset(256);
    }
    Ok(auc(&u, &y))
}

type Trained = (Seconds, HashMap<String, f64>);

/// LIBLINEAR's time and its non-zero weights, positive class first; `None` where it is absent.
fn liblinear(path: &Path, dir: &Path, rounds: usize) -> Result<Option<Trained>> {
    let known = |name: &&&str| {
        let run = Command::new(name).stdout(Stdio::null()).stderr(Stdio::null()).status();
        run.is_ok()
    };
    let Some(program) = TRAINERS.iter().find(known) else {
        println!(
            "  LIBLINEAR is absent, so there is nothing to compare with; Debian and Ubuntu have \
             it as liblinear-tools"
        );
        return Ok(None);
    };
    let model = dir.join("liblinear.model");
    let mut best = Seconds::NONE;
    for _ in 0..rounds {
        let before = child_seconds();
        let (time, status) =
            timed(|| Command::new(program).args(["-q", "-s", "6"]).args([path, &model]).status());
        let status = status.map_err(|e| Error::io(*program, e))?;
        if !status.success() {
            return Err(Error::Data(format!("{program} ended with {status}")));
        }
        best = best.best(Seconds { wall: time.wall, cpu: child_seconds() - before });
    }
    let text = std::fs::read_to_string(&model).map_err(|e| Error::io("the model", e))?;
    let mut weights = HashMap::new();
    let (mut sign, mut at) = (1.0, None);
    for line in text.lines() {
        match (at, line) {
            (Some(index), line) => {
                let w: f64 = line.trim().parse().unwrap_or(f64::NAN);
                if w != 0.0 {
                    weights.insert(format!("{index}"), sign * w);
                }
                at = Some(index + 1);
            }
            (None, "w") => at = Some(1_usize),
            // Weights are for the class that is named first.
            (None, line) if line.starts_with("label -1") => sign = -1.0,
            _ => {}
        }
    }
    println!("  {program} -s 6: {:.2} s (processor {:.2} s)", best.wall, best.cpu);
    Ok(Some((best, weights)))
}
