//! `fcbf` and `mrmr` by their pages of pseudo-code, on whole columns, against the methods on a
//! stream with any number of columns held.

use keepnet::{Budget, Driver, Lane, MethodSpec, Problem, Quiet, RunOptions, Selection, registry};

use crate::data::{Data, STORAGES, Storage, listed, random, source};
use crate::naive::{Measure, above, at_least, constant, correlation, information};

/// A run of as many scans as it takes.
pub fn run(
    data: &Data,
    storage: Storage,
    method: &str,
    spec: &MethodSpec,
    hold: &str,
) -> Selection {
    run_on(data, storage, method, spec, hold, Problem::binary(&data.y))
}

/// The same with a target of its own.
pub fn run_on(
    data: &Data,
    storage: Storage,
    method: &str,
    spec: &MethodSpec,
    hold: &str,
    problem: Problem,
) -> Selection {
    let info = registry::find(method).unwrap();
    let spec = spec.clone().set("hold", hold);
    let selector = registry::make(info, &spec, &problem, Budget::unlimited()).unwrap();
    let mut source = source(data, storage);
    let options = RunOptions { scans: 0, width: 3, ..RunOptions::default() };
    let driver = Driver::new(&mut source, vec![Lane::new(problem, selector)], options).unwrap();
    driver.run(&mut Quiet).unwrap().lanes.remove(0).selection
}

/// The candidates in order, each against those kept before it.
fn fcbf(data: &Data, m: Measure, alpha: f64, strict: bool, k: usize) -> Vec<usize> {
    let s: Vec<f64> = data.x.iter().map(|x| m.strength(x, &data.y)).collect();
    let n = data.y.len();
    let mut order: Vec<usize> = (0..data.x.len())
        .filter(|j| !constant(&data.x[*j]) && m.relevant(s[*j], n, alpha))
        .collect();
    order.sort_by(|a, b| match (above(s[*a], s[*b]), above(s[*b], s[*a])) {
        (true, _) => std::cmp::Ordering::Less,
        (_, true) => std::cmp::Ordering::Greater,
        _ => a.cmp(b),
    });
    let mut kept: Vec<usize> = Vec::new();
    for q in order {
        let gone = kept.iter().any(|p| {
            let t = m.strength(&data.x[*p], &data.x[q]);
            if strict { above(t, s[q]) } else { at_least(t, s[q]) }
        });
        if !gone && kept.len() < k {
            kept.push(q);
        }
    }
    kept
}

#[test]
fn fcbf_is_its_pseudo_code_for_every_hold_and_storage() {
    let mut several = 0;
    for seed in 0..600 {
        let data = random(seed);
        for m in [Measure::Su, Measure::Mi, Measure::Z] {
            let (alpha, strict) = ([0.05, 0.4][seed as usize % 2], seed % 3 == 0);
            let k = [usize::MAX, 2][usize::from(seed % 4 == 0)];
            let mut spec = MethodSpec::default()
                .set("measure", m.name())
                .set("alpha", alpha)
                .set("rules", if strict { "strict" } else { "paper" });
            spec.k = (k < usize::MAX).then_some(k);
            let want = fcbf(&data, m, alpha, strict, k);
            several += u32::from(want.len() > 2);
            for (at, hold) in ["1", "2", "7", "all", "auto"].into_iter().enumerate() {
                let storage = STORAGES[(seed as usize + at) % 6];
                let got = run(&data, storage, "fcbf", &spec, hold);
                assert_eq!(listed(&got), want, "seed {seed} {m:?} {storage:?} hold={hold}");
            }
        }
    }
    assert!(several > 300, "{several}");
}

/// F by its definition: the mean square between the classes over that within.
fn f(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let mean = |of: &dyn Fn(f64) -> bool| {
        let of: Vec<f64> = x.iter().zip(y).filter(|(_, y)| of(**y)).map(|(x, _)| *x).collect();
        (of.iter().sum::<f64>() / of.len() as f64, of.len() as f64)
    };
    let (all, (zero, n0), (one, n1)) =
        (mean(&|_| true).0, mean(&|y| y == 0.0), mean(&|y| y == 1.0));
    let between = n0 * (zero - all).powi(2) + n1 * (one - all).powi(2);
    let own = |y: f64| if y == 0.0 { zero } else { one };
    let within: f64 = x.iter().zip(y).map(|(x, y)| (x - own(*y)).powi(2)).sum();
    let total = between + within;
    between * (n - 2.0) / within.max(1e-12 * total)
}

/// The order of selection; `None` where two scores are close but not equal.
fn mrmr(data: &Data, criterion: &str, package: bool, k: usize) -> Option<Vec<usize>> {
    let codes = criterion.starts_with('m');
    let red = |a: &[f64], b: &[f64]| match codes {
        true => information(a, b).0,
        false if package => correlation(a, b).abs().max(1e-3),
        false => correlation(a, b).abs(),
    };
    let rel: Vec<f64> = data
        .x
        .iter()
        .map(|x| if codes { information(x, &data.y).0 } else { f(x, &data.y) })
        .collect();
    let mut free: Vec<usize> = (0..data.x.len())
        .filter(|j| !(constant(&data.x[*j]) || package && rel[*j] <= 1e-12))
        .collect();
    let mut chosen: Vec<usize> = Vec::new();
    while chosen.len() < k && !free.is_empty() {
        let score = |j: usize| {
            if chosen.is_empty() {
                return rel[j];
            }
            let sum: f64 = chosen.iter().map(|f| red(&data.x[j], &data.x[*f])).sum();
            let mean = sum / chosen.len() as f64;
            match criterion {
                "mid" | "fcd" => rel[j] - mean,
                _ if rel[j] <= 1e-12 => 0.0,
                "miq" => rel[j] / (mean + 1e-4),
                _ if package && (mean - 1.0).abs() < 1e-12 => 0.0,
                _ if mean < 1e-12 => f64::INFINITY,
                _ => rel[j] / mean,
            }
        };
        let scores: Vec<f64> = free.iter().map(|j| score(*j)).collect();
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let gap = |s: f64| if s == best { 0.0 } else { (best - s) / best.abs().max(1.0) };
        if scores.iter().any(|s| (1e-13..1e-9).contains(&gap(*s))) {
            return None;
        }
        let at = scores.iter().position(|s| gap(*s) < 1e-13)?;
        chosen.push(free.remove(at));
    }
    Some(chosen)
}

#[test]
fn mrmr_is_its_pseudo_code_for_every_hold_and_storage() {
    let (mut compared, mut left_out) = (0, 0);
    for seed in 0..600 {
        let data = random(seed);
        if data.y.len() < 8 {
            continue;
        }
        for (criterion, package) in
            [("mid", false), ("miq", false), ("fcd", false), ("fcq", false), ("fcq", true)]
        {
            let k = [3, 6, 40][seed as usize % 3];
            let Some(want) = mrmr(&data, criterion, package, k) else {
                left_out += 1;
                continue;
            };
            compared += 1;
            let rules = if package { "mrmr-selection" } else { "paper" };
            let spec = MethodSpec::k(k).set("criterion", criterion).set("rules", rules);
            for (at, hold) in ["1", "2", "7", "all", "auto"].into_iter().enumerate() {
                let storage = STORAGES[(seed as usize + at) % 6];
                let got = run(&data, storage, "mrmr", &spec, hold);
                let what = format!("seed {seed} {criterion} {rules} {storage:?} hold={hold}");
                assert_eq!(listed(&got), want, "{what}");
            }
        }
    }
    assert!(compared > 2000 && left_out < compared / 10, "{compared} {left_out}");
}
