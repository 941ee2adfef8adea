//! OGFS written out: scatter by its definition, the lasso on standardised columns and residuals.

use keepnet::{MethodSpec, Problem};

use crate::data::{Data, STORAGES, listed, random, run};
use crate::naive::{constant, student_two_sided};

const LAMBDA: f64 = 0.07;

/// Scatter between and within the classes.
fn scatter(x: &[f64], y: &[f64]) -> (f64, f64) {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let all = mean(x);
    let (mut between, mut within) = (0.0, 0.0);
    for class in [0.0, 1.0] {
        let rows: Vec<f64> =
            x.iter().zip(y).filter(|(_, y)| **y == class).map(|(x, _)| *x).collect();
        let own = mean(&rows);
        between += rows.len() as f64 * (own - all).powi(2);
        within += rows.iter().map(|x| (x - own).powi(2)).sum::<f64>();
    }
    (between, within)
}

fn ratio((between, within): (f64, f64)) -> f64 {
    between / within.max(1e-6 * between).max(f64::MIN_POSITIVE)
}

fn standard(x: &[f64]) -> Vec<f64> {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let deviation = (x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
    x.iter().map(|v| (v - mean) / deviation).collect()
}

/// Coordinate descent from zero, in the order of the list.
fn lasso(columns: &[Vec<f64>], y: &[f64]) -> Vec<f64> {
    let n = y.len() as f64;
    let (mut b, mut residual) = (vec![0.0; columns.len()], y.to_vec());
    for _ in 0..5000 {
        let mut moved = 0.0f64;
        for (x, b) in columns.iter().zip(&mut b) {
            let raw: f64 = x.iter().zip(&residual).map(|(x, r)| x * r).sum::<f64>() / n + *b;
            let next = raw.signum() * (raw.abs() - LAMBDA).max(0.0);
            residual.iter_mut().zip(x).for_each(|(r, x)| *r -= (next - *b) * x);
            moved = moved.max((next - *b).abs());
            *b = next;
        }
        if moved < 1e-9 {
            break;
        }
    }
    b
}

fn stands_out(scores: &[f64], score: f64) -> bool {
    let m = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / m;
    let variance = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (m - 1.0);
    m >= 2.0
        && score > mean
        && variance > 0.0
        && 0.5 * student_two_sided((score - mean) / (variance / m).sqrt(), m - 1.0) < 0.05
}

fn brute(data: &Data, size: usize) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    let all: Vec<usize> = (0..data.x.len()).collect();
    let y = standard(&data.y);
    for group in all.chunks(size) {
        let (mut set, mut scores) = ((0.0, 0.0), Vec::new());
        let before = kept.len();
        for j in group.iter().copied().filter(|j| !constant(&data.x[*j])) {
            let own = scatter(&data.x[j], &data.y);
            let with = (set.0 + own.0, set.1 + own.1);
            let old = if scores.is_empty() { 0.0 } else { ratio(set) };
            if ratio(with) - old > 0.001 || stands_out(&scores, ratio(own)) {
                set = with;
                scores.push(ratio(own));
                kept.push(j);
            }
        }
        if kept.len() > before {
            let columns: Vec<Vec<f64>> = kept.iter().map(|j| standard(&data.x[*j])).collect();
            let b = lasso(&columns, &y);
            let mut at = 0;
            kept.retain(|_| {
                at += 1;
                b[at - 1] != 0.0
            });
        }
    }
    kept
}

/// Whether no column seen before is a multiple of this one, up to a constant.
fn first_of_its_kind(x: &[f64], seen: &mut Vec<Vec<f64>>) -> bool {
    let unit = standard(x);
    let same = |other: &Vec<f64>| {
        let r: f64 = other.iter().zip(&unit).map(|(a, b)| a * b).sum();
        r.abs() > (1.0 - 1e-9) * unit.len() as f64
    };
    let first = !seen.iter().any(same);
    seen.push(unit);
    first
}

#[test]
fn the_selection_is_that_of_scatter_and_lasso_written_out() {
    let mut several = 0;
    for seed in 0..600 {
        let mut data = random(seed);
        // Copies make the lasso's solution a matter of rounding; one of each is left.
        let mut seen: Vec<Vec<f64>> = Vec::new();
        data.x.retain(|x| constant(x) || first_of_its_kind(x, &mut seen));
        let size = 1 + seed as usize % 4;
        let want = brute(&data, size);
        let spec = MethodSpec::default().set("lambda", LAMBDA);
        let storage = STORAGES[seed as usize % 6];
        let problem = Problem::binary(&data.y);
        let got = run(&data, storage, "ogfs", &spec, problem, Some(size as u64));
        assert_eq!(listed(&got), want, "seed {seed} {storage:?}");
        several += u32::from(want.len() > 1);
    }
    assert!(several > 100, "{several}");
}
