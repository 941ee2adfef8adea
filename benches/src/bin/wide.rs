//! (b) `os-plus` with its defaults over a resident f32 matrix, against summing it once.
//!
//! Usage: wide [n] [p] [rounds] [k=100] [true=100] [loss=NAME] [key=value...]; the defaults are
//! 20,000 x 50,000 and 3 rounds. With a larger `k` most of the time goes to full tests: see the
//! nanoseconds for one test, one kept column and one row. A loss of classes, such as
//! `loss=logistic`, takes the sign of the target.

use std::sync::Arc;

use keepnet::{
    Budget, Driver, Generated, Lane, LossKind, MethodSpec, NumberKind, Problem, Quiet, RunOptions,
    Task, Value, registry,
};
use keepnet_bench::{Args, Seconds, Wide, mib, peak_bytes, sum_once, timed};

fn main() -> keepnet::Result<()> {
    let mut args =
        Args::parse("wide [n] [p] [rounds] [k=100] [true=100] [loss=NAME] [key=value...]");
    let (n, p, rounds) = (args.at(0, 20_000), args.at(1, 50_000), args.at(2, 3));
    let loss = args.take("loss").map(|name| LossKind::parse(&name)).transpose()?;
    let mut whole = |name: &str| {
        args.take(name).map_or(100, |text| {
            text.parse().unwrap_or_else(|_| panic!("{name}={text} is no whole number"))
        })
    };
    let (k, truth) = (whole("k"), whole("true"));
    let mut spec = args.apply(MethodSpec::k(k));
    spec.loss = loss;
    println!("wide: n = {n}, p = {p}, {truth} true features, noise 0.1 sd of the signal, k = {k}");
    let wide = Wide::new(n, p, truth, 0.1, 0);
    let (truth, y) = (wide.truth.clone(), wide.y.clone());
    let shared: Arc<Vec<f32>> = Arc::new(wide.x);
    let threads = rayon::current_num_threads();
    for threads in if threads > 1 { vec![1, threads] } else { vec![1] } {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let (mut best_sum, mut best_run) = (Seconds::NONE, Seconds::NONE);
        let (mut line, mut tests) = (String::new(), 0);
        for _ in 0..rounds {
            let (sum, total) = pool.install(|| timed(|| sum_once(&shared)));
            assert!(total.is_finite());
            best_sum = best_sum.best(sum);
            let classes = loss.and_then(LossKind::task) == Some(Task::Classification);
            let problem = match classes {
                true => Problem::binary(&y.iter().map(|y| y.signum()).collect::<Vec<_>>()),
                false => Problem::regression(y.clone()),
            };
            let mut source =
                Generated::matrix(n, Arc::new(Floats(Arc::clone(&shared))), NumberKind::F32)?;
            let method = registry::find("os-plus")?;
            let selector = registry::make(method, &spec, &problem, Budget::unlimited())?;
            let lanes = vec![Lane::new(problem, selector)];
            let driver = Driver::new(&mut source, lanes, RunOptions::default())?;
            let (run, report) = pool.install(|| timed(|| driver.run(&mut Quiet)));
            let report = report?;
            best_run = best_run.best(run);
            let selection = &report.lanes[0].selection;
            let found = selection.indices();
            let hits = truth.iter().filter(|j| found.contains(j)).count();
            let full = selection.metrics.iter().find(|(name, _)| *name == "full_tests");
            tests =
                full.map_or(0, |(_, value)| if let Value::Int(tests) = value { *tests } else { 0 });
            line = format!(
                "recall {:.2}, {} substitutions, {:?}",
                hits as f64 / truth.len() as f64,
                selection.substitutions,
                selection.metrics
            );
        }
        println!(
            "  {threads} thread(s): {tests} full tests, {:.3} s of processor time, {:.4} ns a test, \
             kept column and row",
            best_run.cpu,
            1e9 * best_run.cpu / (tests as f64 * k as f64 * n as f64),
        );
        println!(
            "  {threads} thread(s): one read {:.3} s ({:.1} GB/s), two scans {:.3} s: {:.2} times \
             one read (processor time {:.2} times); {line}",
            best_sum.wall,
            4.0 * (n * p) as f64 / best_sum.wall / 1e9,
            best_run.wall,
            best_run.wall / best_sum.wall,
            best_run.cpu / best_sum.cpu,
        );
    }
    if let Some(peak) = peak_bytes() {
        println!("  peak {:.0} MiB, of which the matrix {:.0}", mib(peak), mib((4 * n * p) as u64));
    }
    Ok(())
}

/// The floats as the bytes that a source shares.
struct Floats(Arc<Vec<f32>>);

impl AsRef<[u8]> for Floats {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}
