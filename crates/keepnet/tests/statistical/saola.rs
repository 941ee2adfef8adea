//! SAOLA and SAOLA-max by Algorithm 1, written out, against the method.

use keepnet::{MethodSpec, Problem};

use crate::data::{Data, STORAGES, Storage, listed, random, run};
use crate::naive::{Measure, above, constant};

/// Algorithm 1 on plain vectors, and for each drop by redundancy the feature that did it.
fn brute(data: &Data, m: Measure, max: bool, alpha: f64, k: Option<usize>) -> Vec<usize> {
    let score = |j: usize| m.strength(&data.x[j], &data.y);
    let mut list: Vec<usize> = Vec::new();
    'newcomers: for i in 0..data.x.len() {
        if constant(&data.x[i]) || !m.relevant(score(i), data.y.len(), alpha) {
            continue;
        }
        let mut at = 0;
        while at < list.len() {
            let f = list[at];
            let (si, sf) = (score(i), score(f));
            let t = m.strength(&data.x[i], &data.x[f]);
            let bound = if max { si.max(sf) } else { si.min(sf) };
            if above(sf, si) && m.reaches(t, bound) {
                continue 'newcomers;
            }
            if above(si, sf) && m.reaches(t, bound) {
                list.remove(at);
            } else {
                at += 1;
            }
        }
        list.push(i);
        if k.is_some_and(|k| list.len() > k) {
            let least = list.iter().map(|f| score(*f)).fold(f64::INFINITY, f64::min);
            let last = list.iter().rposition(|f| !above(score(*f), least)).unwrap();
            list.remove(last);
        }
    }
    list
}

#[test]
fn the_selection_is_that_of_algorithm_1_in_every_storage() {
    let (mut several, mut evicting) = (0, 0);
    for seed in 0..2500 {
        let data = random(seed);
        let alpha = [0.01, 0.3][seed as usize % 2];
        let k = [None, None, Some(2)][seed as usize % 3];
        for m in [Measure::Su, Measure::Mi, Measure::Z] {
            for max in [false, true] {
                let want = brute(&data, m, max, alpha, k);
                let mut spec = MethodSpec { k, ..MethodSpec::default() }.set("measure", m.name());
                if m == Measure::Z {
                    spec = spec.set("alpha", alpha);
                }
                let name = if max { "saola-max" } else { "saola" };
                // Every storage on every third data set, one in turn on the others.
                let all = &STORAGES[..];
                let turn = &all[seed as usize % 6..][..1];
                for storage in if seed % 3 == 0 { all } else { turn } {
                    let problem = Problem::binary(&data.y);
                    let got = run(&data, *storage, name, &spec, problem, None);
                    assert_eq!(listed(&got), want, "seed {seed} {m:?} {name} {storage:?}");
                    evicting += u32::from(got.substitutions > 0);
                }
                several += u32::from(want.len() > 1);
            }
        }
    }
    assert!(several > 3000 && evicting > 1000, "the data must exercise the rules");
}

#[test]
fn of_identical_columns_the_paper_keeps_both_and_the_library_by_its_rules() {
    // SEMANTICS.md section 6: saola_mi keeps both, saola_z_test the first.
    let y = vec![0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0];
    let x = vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0];
    let data = Data { x: vec![x.clone(), x], y };
    for (measure, rules, want) in [
        ("su", "paper", vec![0, 1]),
        ("fisher-z", "paper", vec![0, 1]),
        ("su", "lofs", vec![0, 1]),
        ("fisher-z", "lofs", vec![0]),
    ] {
        let spec = MethodSpec::default().set("measure", measure).set("rules", rules);
        let got = run(&data, Storage::Dense64, "saola", &spec, Problem::binary(&data.y), None);
        assert_eq!(listed(&got), want, "{measure} {rules}");
    }
}

#[test]
fn sparse_columns_that_share_no_row_change_nothing_but_the_work() {
    // Rare words: most pairs share no row, and are answered in closed form.
    let mut closed = 0;
    for seed in 0..300 {
        let mut data = random(seed);
        let n = data.y.len();
        for (j, x) in data.x.iter_mut().enumerate() {
            let keep = |i: usize| (i * 31 + j * 17 + seed as usize) % 7 < 2;
            (0..n).filter(|i| !keep(*i)).for_each(|i| x[i] = 0.0);
        }
        for m in [Measure::Su, Measure::Z] {
            let want = brute(&data, m, false, 0.4, None);
            let mut spec = MethodSpec::default().set("measure", m.name());
            if m == Measure::Z {
                spec = spec.set("alpha", 0.4);
            }
            let problem = Problem::binary(&data.y);
            let got = run(&data, Storage::Sparse, "saola", &spec, problem, None);
            assert_eq!(listed(&got), want, "seed {seed} {m:?}");
            let count = got.metrics.iter().find(|(name, _)| *name == "pairs_closed_form");
            closed += u32::from(count.unwrap().1 != keepnet::Value::Int(0));
        }
    }
    assert!(closed > 50, "{closed}");
}

#[test]
fn class_weights_act_as_copies_of_rows() {
    // Weight 2 on a row is the row twice: the same strengths, so the same selection by su.
    for seed in 0..200 {
        let data = random(seed);
        let n = data.y.len();
        let twice = |x: &[f64]| -> Vec<f64> {
            let copies = (0..n).filter(|i| i % 3 == 0).map(|i| x[i]);
            x.iter().copied().chain(copies).collect()
        };
        let doubled = Data { x: data.x.iter().map(|x| twice(x)).collect(), y: twice(&data.y) };
        let spec = MethodSpec::default().set("measure", "su");
        let mut problem = Problem::binary(&data.y);
        problem.weight = Some((0..n).map(|i| if i % 3 == 0 { 2.0 } else { 1.0 }).collect());
        let weighted = run(&data, Storage::Mixed, "saola", &spec, problem, None);
        let copied =
            run(&doubled, Storage::Mixed, "saola", &spec, Problem::binary(&doubled.y), None);
        assert_eq!(listed(&weighted), listed(&copied), "seed {seed}");
    }
}

#[test]
fn three_classes_and_numbers_as_targets_follow_the_same_rules() {
    use keepnet::Target;
    for seed in 0..600 {
        let mut data = random(seed);
        let moved = |i: usize| (i * 7 + seed as usize).is_multiple_of(5);
        let third = |(i, y): (usize, &f64)| if moved(i) { 2.0 } else { *y };
        data.y = data.y.iter().enumerate().map(third).collect();
        (data.y[0], data.y[1], data.y[2]) = (0.0, 1.0, 2.0);
        for m in [Measure::Su, Measure::Mi, Measure::Z] {
            let want = brute(&data, m, false, 0.3, None);
            let mut spec = MethodSpec::default().set("measure", m.name());
            if m == Measure::Z {
                spec = spec.set("alpha", 0.3);
            }
            let storage = STORAGES[seed as usize % 6];
            let names = ["0", "1", "2"].map(String::from).to_vec();
            let codes = data.y.iter().map(|y| *y as u32).collect();
            let classes = Problem::new(Target::Classes { names, codes });
            for problem in [classes, Problem::regression(data.y.clone())] {
                let got = run(&data, storage, "saola", &spec, problem, None);
                assert_eq!(listed(&got), want, "seed {seed} {m:?} {storage:?}");
            }
        }
    }
}
