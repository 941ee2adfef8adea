//! (a) `os` with fixed steps against the plain recurrence, two matrix-vector products an arrival.
//!
//! Both sides hold the same f32 columns and use the engine's own kernels; the plain side takes
//! `X_S w` by `combine` and `[X_S, x]'g` by `cross`, one arrival after the other. Both end with the
//! refit; `os` checks its columns on top. The kept sets must be the same.
//!
//! Usage: os_blocked [n] [p] [k] [rounds] [scans] [loss=NAME]; the defaults are 20,000, 1,500,
//! 100, 3, 2 and every loss.

use std::sync::Arc;

use keepnet::bench::{combine, cross, refit};
use keepnet::{Column, LossKind, MethodSpec, Problem, RunOptions};
use keepnet_bench::{
    Args, Seconds, Wide, load, mib, peak_bytes, pool, reset_peak, resident, select, thread_counts,
    timed,
};

/// Algorithm 1 as it is written: the kept features and how many entered once the set was full.
fn plain(
    x: &[f32],
    problem: &Problem,
    (kind, eta, m): (LossKind, f64, f64),
    (k, scans): (usize, usize),
) -> keepnet::Result<(Vec<u64>, u64)> {
    let n = problem.n();
    let loss = kind.make(&problem.target, None)?;
    let y = problem.target.outputs().remove(0);
    let column = |j: u64| Column::F32(&x[j as usize * n..(j as usize + 1) * n]);
    let (mut ids, mut w): (Vec<u64>, Vec<f64>) = (Vec::new(), Vec::new());
    let (mut u, mut g) = (vec![0.0; n], vec![0.0; n]);
    let (mut columns, mut slopes) = (Vec::new(), vec![0.0; k + 1]);
    let mut entered = 0;
    for j in (0..scans).flat_map(|_| 0..(x.len() / n) as u64) {
        if ids.contains(&j) {
            continue;
        }
        columns.clear();
        columns.extend(ids.iter().map(|id| column(*id)));
        u.fill(0.0);
        combine(&columns, &w, &mut u);
        loss.slopes(&u, &y, None, &mut g);
        columns.push(column(j));
        let slopes = &mut slopes[..columns.len()];
        cross(&columns, &[&g], slopes);
        slopes.iter_mut().for_each(|s| *s /= n as f64);
        w.iter_mut().zip(&*slopes).for_each(|(w, s)| *w -= eta / m * s);
        let newcomer = -eta * slopes[ids.len()];
        if ids.len() < k {
            ids.push(j);
            w.push(newcomer);
            continue;
        }
        let least = (0..k).min_by(|a, b| w[*a].abs().total_cmp(&w[*b].abs())).expect("k > 0");
        if newcomer.abs() > w[least].abs() {
            (ids[least], w[least]) = (j, newcomer);
            entered += 1;
        }
    }
    refit(problem, kind, &ids.iter().map(|id| column(*id)).collect::<Vec<_>>())?;
    ids.sort_unstable();
    Ok((ids, entered))
}

fn main() -> keepnet::Result<()> {
    let mut args = Args::parse("os_blocked [n] [p] [k] [rounds] [scans] [loss=NAME]");
    let (n, p, k) = (args.at(0, 20_000), args.at(1, 1500), args.at(2, 100));
    let (rounds, scans) = (args.at(3, 3), args.at(4, 2));
    println!("os_blocked: n = {n}, p = {p}, k = {k}, {scans} scan(s), load {}", load());
    let wide = Wide::new(n, p, k, 0.1, 0);
    let labels: Vec<f64> = wide.y.iter().map(|y| y.signum()).collect();
    let x = Arc::new(wide.x);
    // Steps under which each loss converges on these columns, whose Gram is near the identity.
    let losses = [
        (LossKind::Squared, 0.5, 1.0),
        (LossKind::SquaredHinge, 1.0, 2.0),
        (LossKind::Logistic, 4.0, 2.0),
    ];
    let only = args.take("loss").map(|name| LossKind::parse(&name)).transpose()?;
    for (kind, eta, m) in losses {
        if only.is_some_and(|only| only != kind) {
            continue;
        }
        let problem = match kind {
            LossKind::Squared => Problem::regression(wide.y.clone()),
            _ => Problem::binary(&labels),
        };
        let mut spec = MethodSpec::k(k).set("eta", eta).set("m", m).set("intercept", false);
        spec.loss = Some(kind);
        for threads in thread_counts() {
            let pool = pool(threads);
            let (mut best_plain, mut best_os) = (Seconds::NONE, Seconds::NONE);
            let mut entered = 0;
            for _ in 0..rounds {
                let (time, want) =
                    pool.install(|| timed(|| plain(&x, &problem, (kind, eta, m), (k, scans))));
                best_plain = best_plain.best(time);
                let options = RunOptions { scans: scans as u32, ..RunOptions::default() };
                let mut source = resident(n, &x)?;
                reset_peak();
                let (time, selection) = pool.install(|| {
                    timed(|| select(&mut source, problem.clone(), "os", &spec, options))
                });
                best_os = best_os.best(time);
                let (selection, want) = (selection?, want?);
                let mut got = selection.indices();
                got.sort_unstable();
                assert_eq!(got, want.0, "{}: the recurrence keeps another set", kind.name());
                assert_eq!(selection.substitutions, want.1, "substitutions");
                entered = want.1;
            }
            println!(
                "  {:<13} {threads} thread(s): plain {:.3} s, os {:.3} s: {:.2} times faster \
                 (processor time {:.2} times); same set, {entered} substitutions",
                kind.name(),
                best_plain.wall,
                best_os.wall,
                best_plain.wall / best_os.wall,
                best_plain.cpu / best_os.cpu,
            );
        }
    }
    if let Some(peak) = peak_bytes() {
        println!("  peak {:.0} MiB, of which the matrix {:.0}", mib(peak), mib((4 * n * p) as u64));
    }
    Ok(())
}
