//! Figures 1 to 3 of the paper of online substitution (Yang et al., KDD 2016).
//!
//! The curves have no numbers in the text; what is known of them are the ranges of their axes,
//! and those stand as published.

use keepnet::Result;
use keepnet_papers::Mean;
use keepnet_papers::columns::{Data, Drawn, method};

use super::Figure;
use super::bench::{Bench, Published, Row};

/// Figure 1.
pub const FIGURE_1: Figure = Figure {
    name: "os-1",
    what: "figure 1 of online substitution: regression by features, scans and workers",
    repeats: 5,
    settings: &["noise", "p"],
    time: "the default takes 1.5 to 4 minutes, the paper's 30 repeats at nine sizes (--repeats 30 --set p=all) about 40",
    remark: "Noise is matched (0.1 sqrt(n)) unless --set noise=stated (0.1, as the text says): only the first gives \
        the published ranges. Grafting and L1 CD take the lambda of LASSO, as in the paper.",
    run: regression,
};

/// Figure 2.
pub const FIGURE_2: Figure = Figure {
    name: "os-2",
    what: "figure 2 of online substitution: classification by features, scans and workers",
    repeats: 3,
    settings: &["p"],
    time: "the default takes 2 to 8 minutes, the paper's 30 repeats at nine sizes (--repeats 30 --set p=all) about 3 hours",
    remark: "Squared hinge; the error is that of a refit on fresh rows.",
    run: classification,
};

/// Figure 3.
pub const FIGURE_3: Figure = Figure {
    name: "os-3",
    what: "figure 3 of online substitution: time of asynchronous workers, n 1000, p 8192",
    repeats: 3,
    settings: &[],
    time: "the default takes about ten seconds, the paper's 10 repeats about half a minute",
    remark: "Threads of this machine, the speed-up against one worker of Asy-OS; beyond the cores workers are simulated \
        and have no time of their own. The paper ran ten workers on six machines.",
    run: workers_time,
};

/// A panel: which methods, on which data, at which place of the axis.
struct Panel<'a> {
    name: &'a str,
    at: String,
    data: &'a Data,
    scans: u32,
    methods: &'a [(&'static str, String)],
    axes: [(f64, f64); 2],
    error: &'static str,
}

fn show(bench: &mut Bench, panel: &Panel<'_>) -> Result<()> {
    let cell = format!("{}, {}", panel.name, panel.at);
    let repeats = bench.repeats;
    let means = bench.over_seeds(&cell, repeats, |seed| {
        let drawn = Drawn::new(panel.data, seed)?;
        let mut values = Vec::new();
        for (_, text) in panel.methods {
            let score = drawn.score(&method(text), panel.scans)?;
            values.extend([score.recall, score.error]);
        }
        Ok(values)
    })?;
    for (place, (label, text)) in panel.methods.iter().enumerate() {
        for (at, metric) in ["recall", panel.error].into_iter().enumerate() {
            let axis = panel.axes[at];
            bench.rows.push(Row {
                panel: panel.name.into(),
                at: panel.at.clone(),
                method: format!("{label} [{text}]"),
                metric,
                published: Published::Axis(axis.0, axis.1),
                ours: Some(means[2 * place + at]),
                why: String::new(),
            });
        }
    }
    Ok(())
}

fn sizes(bench: &Bench, first: u64, coarse: u64) -> Result<Vec<u64>> {
    match bench.set("p", "few").as_str() {
        "few" => Ok((0..=4000 / coarse).map(|step| first + coarse * step).collect()),
        "all" => Ok((0..9).map(|step| first + 500 * step).collect()),
        one => {
            Ok(vec![one.parse().map_err(|_| {
                keepnet::Error::param("p", one, "few, all or a number of features")
            })?])
        }
    }
}

fn named(all: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    all.iter().map(|(label, text)| (*label, text.to_string())).collect()
}

fn regression(bench: &mut Bench) -> Result<()> {
    let noise = bench.set("noise", "matched");
    let data =
        |p: u64| -> Data { ("regression", vec![("p", p.to_string()), ("noise", noise.clone())]) };
    let methods = named(&[
        ("OS", "os eta=1 m=10"),
        ("Proj-GD", "proj-gd standardise=false"),
        ("LASSO", "lasso standardise=false"),
        ("Grafting", "grafting standardise=false lambda=lasso"),
        ("L1 CD", "l1-cd standardise=false lambda=lasso"),
        ("L0 CD", "l0-cd standardise=false"),
        ("ours", "os-plus"),
    ]);
    let error = "recovery error";
    for p in sizes(bench, 2000, 1000)? {
        let axes = [(0.64, 0.80), (0.20, 0.30)];
        let (name, at) = ("left", format!("p = {p}"));
        let panel = Panel { name, at, data: &data(p), scans: 2, methods: &methods, axes, error };
        show(bench, &panel)?;
    }
    let os = named(&[("OS", "os eta=1/L m=1")]);
    for scans in 1..=5 {
        let axes = [(0.62, 0.76), (0.22, 0.32)];
        let (name, at) = ("middle, p = 2000", format!("scans = {scans}"));
        show(bench, &Panel { name, at, data: &data(2000), scans, methods: &os, axes, error })?;
    }
    for workers in [1, 2, 5, 10, 20] {
        let axes = [(0.67, 0.77), (0.21, 0.28)];
        let (name, at) = ("right, p = 2000", format!("workers = {workers}"));
        let methods = vec![("Asy-OS", asynchronous(workers, "eta=1/L m=1"))];
        show(
            bench,
            &Panel { name, at, data: &data(2000), scans: 2, methods: &methods, axes, error },
        )?;
    }
    Ok(())
}

fn asynchronous(workers: u32, step: &str) -> String {
    format!("asy-os centre=simulated workers={workers} tau={workers} {step}")
}

fn classification(bench: &mut Bench) -> Result<()> {
    let data = |p: u64| -> Data { ("classification", vec![("p", p.to_string())]) };
    let hinge = "loss=squared-hinge";
    let methods = named(&[
        ("OS", "os eta=2 m=100 loss=squared-hinge"),
        ("Proj-GD", "proj-gd eta=.6 standardise=false loss=squared-hinge"),
        ("L1 hinge", "l1-hinge standardise=false"),
        ("Grafting", "grafting standardise=false lambda=l1-hinge"),
        ("L1 CD", "l1-cd standardise=false lambda=l1-hinge"),
        ("L0 CD", "l0-cd standardise=false"),
        ("ours", "os-plus reserve=0 loss=logistic"),
    ]);
    let error = "test error";
    for p in sizes(bench, 1000, 2000)? {
        let axes = [(0.40, 0.65), (0.12, 0.24)];
        let (name, at) = ("left", format!("p = {p}"));
        show(bench, &Panel { name, at, data: &data(p), scans: 2, methods: &methods, axes, error })?;
    }
    let os = vec![("OS", format!("os eta=2 m=100 {hinge}"))];
    for scans in 1..=5 {
        let axes = [(0.35, 0.65), (0.12, 0.22)];
        let (name, at) = ("middle, p = 1000", format!("scans = {scans}"));
        show(bench, &Panel { name, at, data: &data(1000), scans, methods: &os, axes, error })?;
    }
    for workers in [1, 2, 5, 10, 20] {
        let axes = [(0.46, 0.64), (0.12, 0.17)];
        let (name, at) = ("right, p = 1000", format!("workers = {workers}"));
        let methods = vec![("Asy-OS", asynchronous(workers, &format!("eta=2 m=100 {hinge}")))];
        show(
            bench,
            &Panel { name, at, data: &data(1000), scans: 2, methods: &methods, axes, error },
        )?;
    }
    Ok(())
}

fn workers_time(bench: &mut Bench) -> Result<()> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    let size =
        |s: &str| vec![("p", "8192".to_string()), ("n", "1000".to_string()), ("s", s.to_string())];
    let regression: Data = ("regression", size("64"));
    let classes: Data = ("classification", size("32"));
    for (name, data, step) in [
        ("regression, s = 64", regression, "eta=1/L m=1"),
        ("classification, s = 32", classes, "eta=2 m=32 loss=squared-hinge"),
    ] {
        timed(bench, (name, "alone"), &data, ("OS", &format!("os {step}")), true)?;
        let mut alone = None;
        for workers in [1, 2, 4, 6, 8, 10] {
            let real = workers <= cores;
            let text = match real {
                true => format!("asy-os centre=threads workers={workers} {step}"),
                false => asynchronous(workers, step),
            };
            let at = format!("workers = {workers}");
            let seconds = timed(bench, (name, &at), &data, ("Asy-OS", &text), real)?;
            let one = *alone.get_or_insert(seconds);
            if real && workers > 1 {
                let ours = Some(Mean { mean: one / seconds, sd: 0.0, count: 1 });
                let (panel, method) = (name.to_string(), format!("Asy-OS [{text}]"));
                let published = Published::Axis(5.0, 35.0);
                let why =
                    "threads of one machine, the axis is of up to ten processes on six".into();
                bench.rows.push(Row {
                    panel,
                    at,
                    method,
                    metric: "speed-up",
                    published,
                    ours,
                    why,
                });
            }
        }
    }
    Ok(())
}

/// Recall, and seconds where the workers are real; gives the mean seconds.
fn timed(
    bench: &mut Bench,
    (panel, at): (&str, &str),
    data: &Data,
    (label, text): (&str, &str),
    real: bool,
) -> Result<f64> {
    let (cell, repeats) = (format!("{panel}, {label}, {at}"), bench.repeats);
    let means = bench.over_seeds(&cell, repeats, |seed| {
        let score = Drawn::new(data, seed)?.score(&method(text), 2)?;
        Ok(vec![score.recall, score.seconds])
    })?;
    let beyond = if real { "" } else { "beyond the cores of this machine" };
    for (metric, ours, why) in [
        ("recall", Some(means[0]), ""),
        ("elapsed seconds", Some(means[1]).filter(|_| real), beyond),
    ] {
        let (panel, at, method) = (panel.into(), at.into(), format!("{label} [{text}]"));
        let (published, why) = (Published::None, why.into());
        bench.rows.push(Row { panel, at, method, metric, published, ours, why });
    }
    Ok(means[1].mean)
}
