//! The tables of online substitution beside those of the reference prototypes.
//!
//! `cargo run --release -p keepnet-papers --example os_tables [SEEDS] [PART...]` runs every cell over
//! SEEDS seeds (10 by default) and prints ours, the reference and
//! `z = (ours - reference) / sqrt(se^2 + se_reference^2)`. Parts: matched, scans, stated, classes,
//! correlated, theta, workers, rivals, rival-classes; all by default.
//!
//! Protocol: a fresh random order each scan, no intercept, a refit before scoring. The standard
//! error of a reference recall is 0.015 (0.012 in the theta table, of 40 seeds). For an error it
//! is the spread that we see over seeds, over the root of the reference's number of seeds: 5
//! for regression and 3 for classification, as the digits of its recalls show. Judgement: at
//! most one cell in twenty beyond 2, none beyond 3.5.

use keepnet::Result;
use keepnet_papers::Mean;
use keepnet_papers::columns::{Data, Drawn, Score, method};

/// Recall, and the error where the reference has one.
type Reference = (f64, Option<f64>);

struct Judge {
    seeds: u64,
    z: Vec<f64>,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seeds = args.iter().find_map(|a| a.parse().ok()).unwrap_or(10);
    let parts: Vec<&String> = args.iter().filter(|a| a.parse::<u64>().is_err()).collect();
    let mut judge = Judge { seeds, z: Vec::new() };
    type Part = fn(&mut Judge) -> Result<()>;
    let all: [(&str, Part); 9] = [
        ("matched", matched),
        ("scans", scans),
        ("stated", stated),
        ("classes", classes),
        ("correlated", correlated),
        ("theta", theta),
        ("workers", workers),
        ("rivals", rivals),
        ("rival-classes", rival_classes),
    ];
    println!("{seeds} seeds; each cell: ours (standard error), reference, z\n");
    for (name, part) in all {
        if parts.is_empty() || parts.iter().any(|wanted| *wanted == name) {
            part(&mut judge)?;
            println!();
        }
    }
    let beyond = judge.z.iter().filter(|z| z.abs() > 2.0).count();
    let largest = judge.z.iter().fold(0.0, |most: f64, z| most.max(z.abs()));
    let allowed = (judge.z.len() / 20).max(1);
    let agrees = beyond <= allowed && largest <= 3.5;
    println!(
        "{} cells: {beyond} beyond 2 ({allowed} allowed), the largest {largest:.2} (3.5 allowed): {}",
        judge.z.len(),
        if agrees { "agrees" } else { "DOES NOT AGREE" }
    );
    Ok(())
}

impl Judge {
    /// Every seed of one data set, through each of `jobs` (a method and its scans).
    fn scores(&self, data: &Data, jobs: &[(&'static str, u32)]) -> Result<Vec<Vec<Score>>> {
        let mut scores = vec![Vec::new(); jobs.len()];
        for seed in 0..self.seeds {
            let drawn = Drawn::new(data, seed)?;
            for ((name, scans), scores) in jobs.iter().zip(&mut scores) {
                scores.push(drawn.score(&method(name), *scans)?);
            }
        }
        Ok(scores)
    }

    fn cell(&mut self, scores: &[Score], reference: Reference, se: (f64, f64)) -> String {
        let recall = Mean::of(scores.iter().map(|s| s.recall));
        let z = recall.z(reference.0, se.0);
        self.z.push(z);
        let mut text = format!("{recall} {:.3} {z:+.1}", reference.0);
        if let Some(want) = reference.1 {
            let error = Mean::of(scores.iter().map(|s| s.error));
            let z = error.z(want, error.sd / se.1.sqrt());
            self.z.push(z);
            text += &format!(" / {error} {want:.3} {z:+.1}");
        }
        text
    }

    /// A table with a row a method and a column a data set.
    fn table(
        &mut self,
        title: &str,
        data: &[(String, Data)],
        rows: &[(&'static str, u32, &[Reference])],
        se: (f64, f64),
    ) -> Result<()> {
        let jobs: Vec<_> = rows.iter().map(|(name, scans, _)| (*name, *scans)).collect();
        let mut cells = vec![Vec::new(); rows.len()];
        for (at, (_, data)) in data.iter().enumerate() {
            for ((scores, row), cells) in self.scores(data, &jobs)?.iter().zip(rows).zip(&mut cells)
            {
                cells.push(self.cell(scores, row.2[at], se));
            }
        }
        let heads: Vec<_> = data.iter().map(|(head, _)| head.as_str()).collect();
        println!("| {title} | {} |\n|{}", heads.join(" | "), " --- |".repeat(heads.len() + 1));
        for ((name, scans, _), cells) in rows.iter().zip(cells) {
            println!("| {name}, {scans} scan{} | {} |", plural(*scans), cells.join(" | "));
        }
        Ok(())
    }
}

fn plural(count: u32) -> &'static str {
    if count == 1 { "" } else { "s" }
}

fn sized(workload: &'static str, p: &[u64], more: &[(&'static str, &str)]) -> Vec<(String, Data)> {
    let one = |p: &u64| {
        let mut settings = vec![("p", p.to_string())];
        settings.extend(more.iter().map(|(key, value)| (*key, value.to_string())));
        (format!("p = {p}"), (workload, settings))
    };
    p.iter().map(one).collect()
}

const fn both(recall: f64, error: f64) -> Reference {
    (recall, Some(error))
}

const fn only(recall: f64) -> Reference {
    (recall, None)
}

fn matched(judge: &mut Judge) -> Result<()> {
    let rows: [(_, _, &[Reference]); 5] = [
        ("os eta=.5/L m=1", 2, &[both(0.684, 0.242), both(0.648, 0.271), both(0.622, 0.280)]),
        ("os eta=1/L m=1", 2, &[both(0.738, 0.219), both(0.730, 0.236), both(0.710, 0.237)]),
        ("os eta=1 m=10", 2, &[both(0.768, 0.209), both(0.758, 0.232), both(0.720, 0.246)]),
        ("os-plus reserve=0", 2, &[both(0.758, 0.218), both(0.762, 0.233), both(0.730, 0.247)]),
        ("os-plus reserve=100", 2, &[both(0.776, 0.213), both(0.774, 0.232), both(0.736, 0.248)]),
    ];
    let data = sized("regression", &[2000, 4000, 6000], &[("noise", "matched")]);
    judge.table("matched noise: recall / recovery error", &data, &rows, (0.015, 5.0))
}

fn scans(judge: &mut Judge) -> Result<()> {
    let name = "os eta=1/L m=1";
    let want = [[only(0.602)], [only(0.738)], [only(0.740)], [only(0.740)], [only(0.740)]];
    let rows: Vec<_> = (1..).zip(&want).map(|(scans, want)| (name, scans, &want[..])).collect();
    let data = sized("regression", &[2000], &[("noise", "matched")]);
    judge.table("matched noise, by scan: recall", &data, &rows, (0.015, 5.0))
}

fn stated(judge: &mut Judge) -> Result<()> {
    let os = [[only(0.696)], [only(0.942)], [only(0.998)]];
    let plus = [[only(0.740)], [only(0.968)], [only(0.998)]];
    let mut rows: Vec<(_, _, &[Reference])> = Vec::new();
    for (name, want) in [("os eta=1 m=10", &os), ("os-plus reserve=100", &plus)] {
        rows.extend((1..).zip(want).map(|(scans, want)| (name, scans, &want[..])));
    }
    let data = sized("regression", &[2000], &[("noise", "stated")]);
    judge.table("stated noise, by scan: recall", &data, &rows, (0.015, 5.0))
}

fn classes(judge: &mut Judge) -> Result<()> {
    let os = "os eta=2 m=100 loss=squared-hinge";
    let rows: [(_, _, &[Reference]); 3] = [
        (os, 2, &[both(0.637, 0.109), both(0.577, 0.144), both(0.497, 0.170)]),
        (
            "os-plus reserve=0 loss=squared-hinge",
            2,
            &[both(0.667, 0.104), both(0.637, 0.132), both(0.620, 0.127)],
        ),
        (
            "os-plus reserve=0 loss=logistic",
            2,
            &[both(0.677, 0.102), both(0.663, 0.119), both(0.607, 0.130)],
        ),
    ];
    let data = sized("classification", &[1000, 3000, 5000], &[]);
    judge.table("classification: recall / test error", &data, &rows, (0.015, 3.0))
}

fn correlated(judge: &mut Judge) -> Result<()> {
    let data = [("toeplitz .9", "toeplitz"), ("equicorrelated .5", "equicorrelated")];
    let data = data.map(|(head, name)| (head.to_string(), (name, Vec::new())));
    let rows: [(_, _, &[Reference]); 2] = [
        ("os-plus reserve=0", 2, &[only(0.60), only(0.73)]),
        ("os eta=1 m=30", 2, &[only(0.25), only(0.65)]),
    ];
    judge.table("correlated designs: recall", &data, &rows, (0.015, 5.0))
}

/// Simulated `asy-os`, the staleness equal to the number of workers.
fn workers(judge: &mut Judge) -> Result<()> {
    let rows: [(_, _, &[Reference]); 5] = [
        ("asy-os eta=1/L m=1 centre=simulated workers=1", 2, &[only(0.738), only(0.710)]),
        ("asy-os eta=1/L m=1 centre=simulated workers=2", 2, &[only(0.730), only(0.700)]),
        ("asy-os eta=1/L m=1 centre=simulated workers=5", 2, &[only(0.720), only(0.684)]),
        ("asy-os eta=1/L m=1 centre=simulated workers=10", 2, &[only(0.716), only(0.662)]),
        ("asy-os eta=1/L m=1 centre=simulated workers=20", 2, &[only(0.686), only(0.628)]),
    ];
    let data = sized("regression", &[2000, 6000], &[("noise", "matched")]);
    judge.table("matched noise, simulated workers: recall", &data, &rows, (0.015, 5.0))
}

fn theta(judge: &mut Judge) -> Result<()> {
    let names = ["toeplitz", "equicorrelated", "iid"];
    // Recall, and full tests a run, for each of the three designs.
    let rows: [(&'static str, [f64; 3], [f64; 3]); 5] = [
        ("os-plus reserve=0 theta=.05", [0.647, 0.734, 0.763], [1110.0, 1026.0, 1270.0]),
        ("os-plus reserve=0 theta=.1", [0.633, 0.734, 0.763], [837.0, 728.0, 1019.0]),
        ("os-plus reserve=0 theta=.5", [0.458, 0.742, 0.763], [227.0, 176.0, 358.0]),
        ("os-plus reserve=0 theta=1", [0.312, 0.708, 0.763], [118.0, 112.0, 177.0]),
        ("os-plus reserve=0 theta=auto", [0.637, 0.734, 0.763], [901.0, 612.0, 662.0]),
    ];
    println!("| theta: recall; full tests a run, reference | {} |", names.join(" | "));
    println!("|{}", " --- |".repeat(4));
    let jobs: Vec<_> = rows.iter().map(|row| (row.0, 2)).collect();
    let mut cells = vec![Vec::new(); rows.len()];
    for (at, name) in names.into_iter().enumerate() {
        for ((scores, row), cells) in
            judge.scores(&(name, Vec::new()), &jobs)?.iter().zip(&rows).zip(&mut cells)
        {
            let tests = Mean::of(scores.iter().map(|s| s.full_tests)).mean;
            let cell = judge.cell(scores, only(row.1[at]), (0.012, 40.0));
            cells.push(format!("{cell}; {tests:.0} {:.0}", row.2[at]));
        }
    }
    for (row, cells) in rows.iter().zip(cells) {
        println!("| {} | {} |", row.0, cells.join(" | "));
    }
    Ok(())
}

/// The rivals on the regression data. `lambda=lasso` is the lambda of the batch lasso on the same
/// data, as the paper has it; `lambda=auto`, ours, is judged against the same numbers. The reference does
/// not state its step for `l0-cd`: 1/L of the kept set, 0.62 here, gives its numbers.
fn rivals(judge: &mut Judge) -> Result<()> {
    let rows: [(_, _, &[Reference]); 6] = [
        (
            "proj-gd standardise=false",
            1,
            &[both(0.766, 0.204), both(0.768, 0.220), both(0.718, 0.245)],
        ),
        (
            "lasso standardise=false",
            1,
            &[both(0.746, 0.204), both(0.712, 0.230), both(0.710, 0.231)],
        ),
        (
            "grafting standardise=false lambda=lasso",
            2,
            &[both(0.746, 0.203), both(0.712, 0.231), both(0.712, 0.228)],
        ),
        ("grafting", 2, &[both(0.746, 0.203), both(0.712, 0.231), both(0.712, 0.228)]),
        (
            "l1-cd standardise=false lambda=lasso",
            2,
            &[both(0.698, 0.223), both(0.660, 0.258), both(0.664, 0.254)],
        ),
        (
            "l0-cd eta=.62 standardise=false",
            2,
            &[both(0.634, 0.266), both(0.602, 0.288), both(0.578, 0.300)],
        ),
    ];
    let data = sized("regression", &[2000, 4000, 6000], &[("noise", "matched")]);
    judge.table("rivals, matched noise: recall / recovery error", &data, &rows, (0.015, 5.0))
}

fn rival_classes(judge: &mut Judge) -> Result<()> {
    let hinge = [both(0.650, 0.090), both(0.610, 0.122), both(0.553, 0.128)];
    let rows: [(_, _, &[Reference]); 4] = [
        (
            "proj-gd eta=.6 standardise=false loss=squared-hinge",
            1,
            &[both(0.673, 0.099), both(0.607, 0.120), both(0.590, 0.117)],
        ),
        (
            "l1-hinge standardise=false",
            1,
            &[both(0.650, 0.090), both(0.613, 0.120), both(0.557, 0.128)],
        ),
        ("grafting standardise=false lambda=l1-hinge", 2, &hinge),
        ("grafting", 2, &hinge),
    ];
    let data = sized("classification", &[1000, 3000, 5000], &[]);
    judge.table("rivals, classification: recall / test error", &data, &rows, (0.015, 3.0))
}
