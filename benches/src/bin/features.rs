//! (c) What a feature costs that is let go: sparse columns of 0, 5 and 50 values and the shape of
//! webspam through the driver, against the same measure on bare arrays in the same process.
//!
//! Bare arrays are read once: sums, product with the target, comparison with a bound. The driver
//! adds names, checks, decisions and the record of them.
//!
//! Usage: features [p] [n] [rounds] [width=2048]; the defaults are 4,000,000 features of 350,000
//! rows, 3 rounds. 16609143 is the whole of webspam.

use std::sync::Arc;

use keepnet::data::generator;
use keepnet::measure::FisherZ;
use keepnet::{
    FeatureSource, Generated, LossKind, MethodSpec, Numbers, Problem, Result, RunOptions,
    SparseEntries,
};
use keepnet_bench::{Args, Seconds, load, mib, peak_bytes, pool, select, timed};
use rand::RngExt;

const ALPHA: f64 = 1e-8;

/// Compressed sparse columns.
struct Sparse {
    starts: Vec<u64>,
    entries: Arc<SparseEntries>,
}

impl Sparse {
    /// `p` columns with as many entries each as `count` says, given a random number below 1.
    fn new(n: usize, p: usize, count: impl Fn(f64) -> f64) -> Self {
        let mut random = generator(1, 0);
        let (mut starts, mut index, mut value) = (vec![0], Vec::<u32>::new(), Vec::new());
        for _ in 0..p {
            let start = index.len();
            let wanted = count(random.random::<f64>());
            let more = f64::from(u8::from(random.random::<f64>() < wanted.fract()));
            let count = ((wanted.floor() + more) as usize).min(n / 10);
            index.extend((0..count).map(|_| random.random_range(0..n as u32)));
            index[start..].sort_unstable();
            let mut end = start;
            for at in start..index.len() {
                if end == start || index[end - 1] != index[at] {
                    index[end] = index[at];
                    end += 1;
                }
            }
            index.truncate(end);
            value.extend((start..end).map(|_| 1.0 + 0.5 * random.random_range(0..4) as f32));
            starts.push(index.len() as u64);
        }
        let entries = SparseEntries::Owned { index, value: Numbers::F32(value) };
        Self { starts, entries: Arc::new(entries) }
    }

    fn source(&self, n: usize) -> Result<Generated> {
        Generated::sparse(n, self.starts.clone(), Arc::clone(&self.entries))
    }

    /// How many columns pass the test, straight from the arrays.
    fn relevant(&self, z: &FisherZ) -> usize {
        let SparseEntries::Owned { index, value: Numbers::F32(value) } = &*self.entries else {
            return 0;
        };
        let columns = self.starts.windows(2).map(|pair| pair[0] as usize..pair[1] as usize);
        let strength = |range: std::ops::Range<usize>| {
            z.weigh_sparse(&index[range.clone()], &value[range]).1.abs()
        };
        columns.filter(|range| strength(range.clone()) >= z.min_correlation()).count()
    }
}

fn main() -> Result<()> {
    let mut args = Args::parse("features [p] [n] [rounds] [width=2048]");
    // What `keepnet` takes for columns as short as these.
    let width = args.take("width").and_then(|text| text.parse().ok()).unwrap_or(2048);
    let (p, n, rounds) = (args.at(0, 4_000_000), args.at(1, 350_000), args.at(2, 3));
    println!("features: p = {p}, n = {n}, blocks of {width}, one thread, load {}", load());
    let mut random = generator(1, 1);
    let y: Vec<f64> = (0..n).map(|_| f64::from(u8::from(random.random::<bool>()))).collect();
    // Webspam: a power law with exponent 1.25 and 4.7 values a feature.
    shape("0 values", (n, p, rounds, width), &y, |_| 0.0)?;
    shape("5 values", (n, p, rounds, width), &y, |_| 5.0)?;
    shape("50 values", (n, p / 10, rounds, width), &y, |_| 50.0)?;
    shape("webspam", (n, p, rounds, width), &y, |u| 1.12 * u.max(1e-9).powf(-1.0 / 1.25))?;
    if let Some(peak) = peak_bytes() {
        println!("  peak {:.0} MiB, the arrays included", mib(peak));
    }
    Ok(())
}

fn shape(
    name: &str,
    (n, p, rounds, width): (usize, usize, usize, usize),
    y: &[f64],
    count: impl Fn(f64) -> f64,
) -> Result<()> {
    let data = Sparse::new(n, p, count);
    let problem = Problem::binary(y);
    let z = FisherZ::new(&problem, ALPHA)?;
    let fisher = MethodSpec::default().set("alpha", ALPHA).set("measure", "fisher-z");
    let mut logistic = MethodSpec::k(10);
    logistic.loss = Some(LossKind::Logistic);
    let (mut bare, mut relevant) = (Seconds::NONE, 0);
    let mut runs =
        [("saola, fisher-z", "saola", fisher), ("os-plus, logistic", "os-plus", logistic)]
            .map(|(label, method, spec)| (label, method, spec, Seconds::NONE, 0));
    for _ in 0..rounds {
        let (time, found) = timed(|| data.relevant(&z));
        (bare, relevant) = (bare.best(time), found);
        for (_, method, spec, best, kept) in &mut runs {
            let mut source = data.source(n)?;
            assert_eq!(source.features(), Some(p as u64));
            let options = RunOptions { scans: 1, width, ..RunOptions::default() };
            let (time, out) = pool(1)
                .install(|| timed(|| select(&mut source, problem.clone(), method, spec, options)));
            (*best, *kept) = (best.best(time), out?.selected.len());
        }
    }
    let each = |time: Seconds| 1e9 * time.cpu / p as f64;
    println!(
        "  {name}: {p} features, {:.1} values each; bare arrays {:.1} ns a feature, {relevant} \
         relevant",
        data.entries.len() as f64 / p as f64,
        each(bare)
    );
    for (label, _, _, best, kept) in runs {
        println!("    {label}: {:.1} ns a feature through the driver, {kept} kept", each(best));
    }
    Ok(())
}
