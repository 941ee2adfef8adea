//! Group-SAOLA by Algorithm 2, written out, against the method; groups in shuffled orders.

use keepnet::{
    Budget, Driver, Groups, Lane, MethodSpec, Order, Problem, Quiet, RunOptions, registry,
};

use crate::data::{Data, STORAGES, Storage, listed, random, run, source};
use crate::naive::{Measure, above, constant};

fn brute(data: &Data, m: Measure, size: usize, alpha: f64) -> Vec<usize> {
    let score = |j: usize| m.strength(&data.x[j], &data.y);
    let redundant =
        |a: usize, b: usize| m.reaches(m.strength(&data.x[a], &data.x[b]), score(a).min(score(b)));
    let relevant = |j: usize| !constant(&data.x[j]) && m.relevant(score(j), data.y.len(), alpha);
    let mut kept: Vec<Vec<usize>> = Vec::new();
    let all: Vec<usize> = (0..data.x.len()).collect();
    for group in all.chunks(size) {
        let mut group: Vec<usize> = group.iter().copied().filter(|j| relevant(*j)).collect();
        for j in group.clone() {
            if !group.contains(&j) {
                continue;
            }
            let others: Vec<usize> = group.iter().copied().filter(|y| *y != j).collect();
            if others.iter().any(|y| above(score(*y), score(j)) && redundant(*y, j)) {
                group.retain(|y| *y != j);
            } else {
                group.retain(|y| *y == j || !(above(score(j), score(*y)) && redundant(j, *y)));
            }
        }
        for m in &mut kept {
            for f in m.clone() {
                for i in group.clone() {
                    if above(score(i), score(f)) && redundant(i, f) {
                        m.retain(|g| *g != f);
                        break;
                    }
                    if above(score(f), score(i)) && redundant(f, i) {
                        group.retain(|g| *g != i);
                    }
                }
            }
            if group.is_empty() {
                break;
            }
        }
        kept.push(group);
        kept.retain(|m| !m.is_empty());
    }
    kept.concat()
}

#[test]
fn the_selection_is_that_of_algorithm_2_in_every_storage() {
    let mut several = 0;
    for seed in 0..2000 {
        let data = random(seed);
        let size = 1 + seed as usize % 5;
        for m in [Measure::Su, Measure::Mi, Measure::Z] {
            let want = brute(&data, m, size, 0.3);
            let mut spec = MethodSpec::default().set("measure", m.name());
            if m == Measure::Z {
                spec = spec.set("alpha", 0.3);
            }
            let storage = STORAGES[seed as usize % 6];
            let problem = Problem::binary(&data.y);
            let got = run(&data, storage, "group-saola", &spec, problem, Some(size as u64));
            assert_eq!(listed(&got), want, "seed {seed} {m:?} {storage:?}");
            several += u32::from(want.len() > 1);
        }
    }
    assert!(several > 1000);
}

#[test]
fn groups_stay_whole_in_a_shuffled_order_and_blocks_do_not_matter() {
    for seed in 0..50 {
        let data = random(seed);
        let mut first: Option<Vec<usize>> = None;
        for width in [1, 2, 7, 100] {
            let problem = Problem::binary(&data.y);
            let info = registry::find("group-saola").unwrap();
            let spec = MethodSpec::default().set("measure", "su");
            let selector = registry::make(info, &spec, &problem, Budget::unlimited()).unwrap();
            let mut source = source(&data, Storage::Mixed);
            let options = RunOptions { scans: 1, width, order: Order::Shuffled, seed };
            let lanes = vec![Lane::new(problem, selector)];
            let driver = Driver::new(&mut source, lanes, options).unwrap();
            let driver = driver.with_groups(Groups::block(3).unwrap());
            // A group in pieces would be an error.
            let report = driver.run(&mut Quiet).unwrap();
            let list = listed(&report.lanes[0].selection);
            assert_eq!(first.get_or_insert_with(|| list.clone()), &list);
        }
    }
}

#[test]
fn a_group_in_pieces_and_a_missing_group_are_refused() {
    let data = random(3);
    let attempt = |groups: Option<Groups>| {
        let problem = Problem::binary(&data.y);
        let info = registry::find("group-saola").unwrap();
        let spec = MethodSpec::default().set("measure", "su");
        let selector = registry::make(info, &spec, &problem, Budget::unlimited()).unwrap();
        let mut source = source(&data, Storage::Mixed);
        let options = RunOptions { scans: 1, ..RunOptions::default() };
        let driver = Driver::new(&mut source, vec![Lane::new(problem, selector)], options).unwrap();
        let driver = match groups {
            Some(groups) => driver.with_groups(groups),
            None => driver,
        };
        driver.run(&mut Quiet).unwrap_err().to_string()
    };
    let pairs = (0..data.x.len()).map(|j| (format!("f{j}"), format!("g{}", j % 2)));
    assert!(attempt(Some(Groups::table(pairs).unwrap())).contains("comes in pieces"));
    let one = [("f0".to_string(), "g".to_string())];
    assert!(attempt(Some(Groups::table(one).unwrap())).contains("\"f1\" has no group"));
    assert!(attempt(None).contains("groups is not given"));
}
