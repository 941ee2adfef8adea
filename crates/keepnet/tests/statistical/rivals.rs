//! OSFS, Fast-OSFS and alpha-investing, written out, against the methods.

use keepnet::{MethodSpec, Problem};

use crate::data::{Data, STORAGES, listed, random, run};
use crate::naive::{constant, independent_g2, independent_z, residual, square, student_two_sided};

type Test = fn(&[f64], &[f64], &[&[f64]], f64) -> bool;

fn subsets(from: &[usize], size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![vec![]];
    }
    (0..from.len())
        .flat_map(|i| {
            subsets(&from[i + 1..], size - 1).into_iter().map(move |mut rest| {
                rest.insert(0, from[i]);
                rest
            })
        })
        .collect()
}

fn redundant(data: &Data, test: Test, v: usize, sets: &[Vec<usize>], alpha: f64) -> bool {
    sets.iter().any(|set| {
        let given: Vec<&[f64]> = set.iter().map(|c| &data.x[*c][..]).collect();
        test(&data.x[v], &data.y, &given, alpha)
    })
}

fn brute(data: &Data, test: Test, fast: bool, alpha: f64) -> Vec<usize> {
    let up_to_3 = |q: &[usize]| (1..=3).flat_map(|size| subsets(q, size)).collect::<Vec<_>>();
    let mut list: Vec<usize> = Vec::new();
    for i in 0..data.x.len() {
        if constant(&data.x[i]) || test(&data.x[i], &data.y, &[], alpha) {
            continue;
        }
        if fast && redundant(data, test, i, &up_to_3(&list), alpha) {
            continue;
        }
        list.push(i);
        for v in list.clone() {
            let others: Vec<usize> = list.iter().copied().filter(|o| *o != v).collect();
            let mut sets = up_to_3(&others);
            if fast {
                sets.retain(|set| set.last() == others.last());
            }
            if redundant(data, test, v, &sets, alpha) {
                list.retain(|o| *o != v);
            }
        }
    }
    list
}

#[test]
fn osfs_and_fast_osfs_agree_with_every_test_written_out() {
    let (mut several, mut runs) = (0, 0);
    for seed in 0..1200 {
        let data = random(seed);
        for (name, measure, test) in [
            ("osfs", "fisher-z", independent_z as Test),
            ("fast-osfs", "fisher-z", independent_z as Test),
            ("osfs", "g2", independent_g2 as Test),
            ("fast-osfs", "g2", independent_g2 as Test),
        ] {
            let want = brute(&data, test, name == "fast-osfs", 0.3);
            let spec = MethodSpec::default().set("measure", measure).set("alpha", 0.3);
            let storage = STORAGES[seed as usize % 6];
            let got = run(&data, storage, name, &spec, Problem::binary(&data.y), None);
            assert_eq!(listed(&got), want, "seed {seed} {name} {measure} {storage:?}");
            several += u32::from(want.len() > 1);
            runs += 1;
        }
    }
    assert!(several > runs / 20, "{several} of {runs}");
}

/// Zhou et al. with a refit for every feature.
fn invest(data: &Data, level: f64) -> Vec<usize> {
    let (mut wealth, mut tests) = (level, 0);
    let mut model: Vec<usize> = Vec::new();
    let n = data.y.len() as f64;
    for i in 0..data.x.len() {
        if constant(&data.x[i]) {
            continue;
        }
        tests += 1;
        let bid = wealth / (2.0 * f64::from(tests));
        let given: Vec<&[f64]> = model.iter().map(|m| &data.x[*m][..]).collect();
        let mut with = given.clone();
        with.push(&data.x[i]);
        let (old, new) = (square(&residual(&data.y, &given)), square(&residual(&data.y, &with)));
        let df = n - model.len() as f64 - 2.0;
        let collinear = square(&residual(&data.x[i], &given)) < 1e-9;
        let all = square(&residual(&data.y, &[]));
        let p = if collinear || df <= 0.0 || old <= 1e-14 * all {
            1.0
        } else if new <= 1e-14 * all {
            0.0
        } else {
            let t = ((old - new).max(0.0) * df / new).sqrt();
            student_two_sided(t, df)
        };
        if p < bid {
            wealth += level - bid;
            model.push(i);
        } else {
            wealth -= bid;
        }
    }
    model
}

#[test]
fn alpha_investing_agrees_with_a_refit_for_every_feature() {
    let mut several = 0;
    for seed in 0..2000 {
        let mut data = random(seed);
        // A column equal to the target ends the stream at once; leave few of them.
        if seed % 4 != 0 {
            let y = data.y.clone();
            data.x.retain(|x| crate::naive::correlation(x, &y).abs() < 0.999 || constant(x));
        }
        // By default the level is 0.1.
        let level = if seed % 4 == 1 { 0.1 } else { 0.5 };
        let want = invest(&data, level);
        let storage = STORAGES[seed as usize % 6];
        let spec = match seed % 4 {
            1 => MethodSpec::default(),
            _ => MethodSpec::default().set("level", level),
        };
        let got = run(&data, storage, "alpha-investing", &spec, Problem::binary(&data.y), None);
        assert_eq!(listed(&got), want, "seed {seed} {storage:?}");
        several += u32::from(want.len() > 1);
    }
    assert!(several > 200, "{several}");
}
