//! The tables of running averages (Sun, Barbu): detection, RMSE, AUC and time.

use keepnet::{Error, Result};
use keepnet_papers::design::P;
use keepnet_papers::published::{
    CLASSIFICATION as CLASS_METHODS, CLASSIFICATION_LINES, Line, NOT_REPRODUCIBLE,
    REGRESSION as METHODS, REGRESSION_LINES,
};
use keepnet_papers::rows::{Setting, run};

use super::Figure;
use super::bench::{Bench, Published, Row};

const REMARK: &str = "Every tenth feature is true, one common factor. sgd, opg and rda have tuned steps, the \
    published ones had not; RMSE is exact, AUC is on 4,000 fresh rows.";

/// Regression.
pub const REGRESSION: Figure = Figure {
    name: "ra-regression",
    what: "running averages, regression: detection and RMSE, p 1000",
    repeats: 3,
    settings: &["max-n"],
    time: "the default (n to 10,000) takes 3 to 6 minutes; --set max-n=100000 --repeats 10 about an hour",
    remark: REMARK,
    run: |bench| tables(bench, false),
};

/// Classification.
pub const CLASSIFICATION: Figure = Figure {
    name: "ra-classification",
    what: "running averages, classification: detection and AUC, p 1000",
    repeats: 3,
    settings: &["max-n"],
    time: "the default (n to 10,000) takes 1 to 3 minutes; --set max-n=100000 --repeats 10 about an hour",
    remark: REMARK,
    run: |bench| tables(bench, true),
};

/// Computation times.
pub const TIME: Figure = Figure {
    name: "ra-time",
    what: "running averages, regression: seconds of the averages and of each extraction, p 1000",
    repeats: 1,
    settings: &["max-n"],
    time: "the default (n to 10,000) takes 1 to 2 minutes, --set max-n=100000 about 3",
    remark: "Published seconds are of another machine, and ours of whatever else runs on this one. Lasso there is a batch program; here it is olasso, on the averages. \
        A streaming method's seconds are of its whole pass.",
    run: times,
};

/// p = 10,000.
pub const LARGE: Figure = Figure {
    name: "ra-large",
    what: "running averages, regression, p 10,000, n 10,000: detection, RMSE and seconds",
    repeats: 1,
    settings: &["beta"],
    time: "the default (beta 0.1) takes 5 to 10 minutes and about 3 GB, the three rows of the paper three times that",
    remark: "One repeat; --set beta=1 and --set beta=0.01 are the other rows. OFSA has 3,000 iterations.",
    run: large,
};

fn most(bench: &Bench) -> Result<usize> {
    let text = bench.set("max-n", "10000");
    text.parse().map_err(|_| Error::param("max-n", &text, "a number of rows"))
}

fn why(name: &str) -> String {
    let short = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let known = NOT_REPRODUCIBLE
        .iter()
        .find(|line| line.starts_with(short) || short == "rda" && line.starts_with("opg"));
    known.map_or(String::new(), |line| line.split_once("): ").map_or("", |(_, why)| why).into())
}

fn tables(bench: &mut Bench, classes: bool) -> Result<()> {
    let (methods, lines): (&[&str; 10], &[Line]) = match classes {
        true => (&CLASS_METHODS, &CLASSIFICATION_LINES),
        false => (&METHODS, &REGRESSION_LINES),
    };
    let most = most(bench)?;
    for line in lines.iter().filter(|line| line.n <= most) {
        let setting = Setting { p: P, n: line.n, beta: line.beta, classes };
        let (at, repeats) = (format!("n = {}, beta = {}", line.n, line.beta), bench.repeats);
        let means = bench.over_seeds(&at, repeats, |seed| {
            let (scores, _) = run(methods, setting, seed)?;
            Ok(scores.iter().flat_map(|s| [s.detection, s.error]).collect())
        })?;
        for (m, name) in methods.iter().enumerate() {
            let error = if classes { "AUC" } else { "RMSE" };
            let cells = [("detection %", line.detection[m].0), (error, line.error[m].0)];
            for (which, (metric, published)) in cells.into_iter().enumerate() {
                bench.rows.push(Row {
                    panel: String::new(),
                    at: at.clone(),
                    method: name.to_string(),
                    metric,
                    published: Published::number(published),
                    ours: Some(means[2 * m + which]),
                    why: why(name),
                });
            }
        }
    }
    Ok(())
}

const N: f64 = f64::NAN;
const TIMED: [&str; 8] =
    ["olasso", "sgd", "siht", "olsth", "ofsa3000", "oalasso", "oelnet", "omcp3"];
/// n, beta, published seconds of the methods above, and of the running averages.
#[rustfmt::skip]
const SECONDS: [(usize, f64, [f64; 8], f64); 9] = [
    (1_000, 1.0, [4.332, 0.003, 0.007, 0.052, 0.267, 7.566, 9.648, 15.66], 0.026),
    (3_000, 1.0, [N, 0.010, N, 0.051, 0.267, 2.972, 7.113, 10.21], 0.076),
    (10_000, 1.0, [47.32, 0.032, 0.065, 0.051, 0.266, 2.404, 5.885, 7.123], 0.246),
    (1_000, 0.1, [3.989, 0.003, 0.006, 0.051, 0.266, 7.258, 7.706, 16.30], 0.027),
    (3_000, 0.1, [27.82, 0.010, 0.018, 0.052, 0.266, 6.407, 6.332, 15.91], 0.076),
    (10_000, 0.1, [54.50, 0.030, 0.066, 0.051, 0.266, 2.692, 5.814, 9.843], 0.251),
    (1_000, 0.01, [5.353, 0.004, 0.006, 0.052, 0.266, 7.453, 9.741, 13.41], 0.026),
    (10_000, 0.01, [N, 0.031, N, 0.051, 0.267, 7.735, 4.961, 14.94], 0.249),
    (100_000, 0.01, [452.2, 0.315, 0.672, 0.051, 0.266, 7.657, 5.120, 17.26], 2.458),
];

fn times(bench: &mut Bench) -> Result<()> {
    let most = most(bench)?;
    for (n, beta, published, averages) in SECONDS {
        if n > most {
            continue;
        }
        let setting = Setting { p: P, n, beta, classes: false };
        let (at, repeats) = (format!("n = {n}, beta = {beta}"), bench.repeats);
        let means = bench.over_seeds(&at, repeats, |seed| {
            let (scores, pushing) = run(&TIMED, setting, seed)?;
            Ok(scores.iter().map(|s| s.seconds).chain([pushing]).collect())
        })?;
        let names = TIMED.into_iter().chain(["running averages"]);
        let published = published.into_iter().chain([averages]);
        for ((name, published), ours) in names.zip(published).zip(means) {
            bench.rows.push(Row {
                panel: String::new(),
                at: at.clone(),
                method: name.into(),
                metric: "seconds",
                published: Published::number(published),
                ours: Some(ours),
                why: String::new(),
            });
        }
    }
    Ok(())
}

/// beta, and of OLSth and OFSA at n = 10,000: detection, RMSE, seconds; seconds of the averages.
#[rustfmt::skip]
const TEN_THOUSAND: [(&str, f64, [[f64; 3]; 2], f64); 3] = [
    ("1", 1.0, [[98.09, 4.606, 18.88], [99.56, 2.415, 25.52]], 12.54),
    ("0.1", 0.1, [[14.51, 4.351, 18.89], [98.64, 1.128, 25.78]], 12.48),
    ("0.01", 0.01, [[10.07, 1.144, 18.91], [31.23, 1.076, 25.95]], 12.49),
];

fn large(bench: &mut Bench) -> Result<()> {
    let text = bench.set("beta", "0.1");
    let found = TEN_THOUSAND.iter().find(|(name, ..)| *name == text);
    let (_, beta, published, averages) =
        found.ok_or_else(|| Error::param("beta", &text, "1, 0.1 or 0.01"))?;
    let setting = Setting { p: 10_000, n: 10_000, beta: *beta, classes: false };
    let methods = ["olsth", "ofsa3000"];
    let (at, repeats) = (format!("p = n = 10000, beta = {beta}"), bench.repeats);
    let means = bench.over_seeds(&at, repeats, |seed| {
        let (scores, pushing) = run(&methods, setting, seed)?;
        let each = scores.iter().flat_map(|s| [s.detection, s.error, s.seconds]);
        Ok(each.chain([pushing]).collect())
    })?;
    let metrics = ["detection %", "RMSE", "seconds"];
    let cells = (0..2).flat_map(|m| (0..3).map(move |which| (m, which)));
    let mut rows: Vec<(&str, &'static str, f64)> =
        cells.map(|(m, which)| (methods[m], metrics[which], published[m][which])).collect();
    rows.push(("running averages", "seconds", *averages));
    for ((name, metric, published), ours) in rows.into_iter().zip(means) {
        let singular = name == "olsth" && metric != "seconds";
        let why = "the system is singular at n = p; the number depends on how it is solved";
        bench.rows.push(Row {
            panel: String::new(),
            at: at.clone(),
            method: name.into(),
            metric,
            published: Published::number(published),
            ours: Some(ours),
            why: if singular { why.into() } else { String::new() },
        });
    }
    Ok(())
}
