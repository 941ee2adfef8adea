//! Saved state, budgets, pinned features and second scans of every statistical method.

use keepnet::data::check_block;
use keepnet::{
    Budget, ColumnBlock, ColumnSelector, Driver, FeatureSource, Groups, Lane, MethodSpec, Problem,
    Quiet, RunOptions, Selection, registry,
};

use crate::data::{Data, Storage, listed, random, run, source};

const METHODS: [(&str, &[(&str, &str)]); 10] = [
    ("saola", &[("measure", "su")]),
    ("saola", &[("measure", "fisher-z"), ("alpha", "0.3")]),
    ("saola", &[("measure", "su"), ("rules", "lofs")]),
    ("saola-max", &[("measure", "mi")]),
    ("group-saola", &[("measure", "su")]),
    ("alpha-investing", &[]),
    ("osfs", &[("measure", "fisher-z"), ("alpha", "0.3")]),
    ("fast-osfs", &[("measure", "g2"), ("alpha", "0.3")]),
    ("fast-osfs", &[("measure", "fisher-z"), ("rules", "lofs"), ("alpha", "0.3")]),
    ("ogfs", &[("lambda", "0.05")]),
];

fn spec(settings: &[(&str, &str)]) -> MethodSpec {
    settings.iter().fold(MethodSpec::default(), |spec, (name, value)| spec.set(name, *value))
}

fn make(name: &str, spec: &MethodSpec, data: &Data, budget: Budget) -> Box<dyn ColumnSelector> {
    let problem = Problem::binary(&data.y);
    registry::make(registry::find(name).unwrap(), spec, &problem, budget).unwrap()
}

/// Offers features `from..to`, a block each of `width`, without a driver.
fn offer(selector: &mut dyn ColumnSelector, data: &Data, from: usize, to: usize) {
    let problem = Problem::binary(&data.y);
    let mut source = source(data, Storage::Mixed);
    source.skip(from as u64).unwrap();
    let mut block = ColumnBlock::new(to - from);
    source.next_block(&mut block).unwrap();
    let mut checked = check_block(&block, from as u64, &problem, &Default::default()).unwrap();
    checked.features.iter_mut().for_each(|f| f.group = Some(f.id.index as u32 / 2));
    let mut out = Vec::new();
    selector.offer_block(&checked, &mut out).unwrap();
    assert_eq!(out.len(), checked.features.len());
}

fn same(a: &Selection, b: &Selection) {
    assert_eq!(a.selected, b.selected);
    assert_eq!((a.substitutions, &a.metrics, a.loss), (b.substitutions, &b.metrics, b.loss));
}

#[test]
fn a_restored_run_ends_with_the_same_digits() {
    for seed in 0..150 {
        let data = random(seed);
        let p = data.x.len();
        for (name, settings) in METHODS {
            let spec = spec(settings);
            let mut whole = make(name, &spec, &data, Budget::unlimited());
            let cut = 2 * (seed as usize % p.div_ceil(2));
            if cut > 0 {
                offer(&mut *whole, &data, 0, cut);
            }
            let state = whole.save().unwrap();
            let mut resumed = make(name, &spec, &data, Budget::unlimited());
            resumed.restore(&state).unwrap();
            for selector in [&mut whole, &mut resumed] {
                offer(&mut **selector, &data, cut, p);
                selector.finish().unwrap();
            }
            same(&whole.selection().unwrap(), &resumed.selection().unwrap());
            assert!(whole.save().unwrap() == resumed.save().unwrap(), "{name} seed {seed}");
        }
    }
}

#[test]
fn over_budget_is_an_error_that_changes_nothing() {
    let (mut refused, mut evicted) = (0, 0);
    for seed in 0..200 {
        let data = random(seed);
        for (name, settings) in METHODS {
            let mut spec = spec(settings);
            let budget = Budget::bytes(1200);
            let mut selector = make(name, &spec, &data, budget.clone());
            for j in 0..data.x.len() {
                let before = selector.save().unwrap();
                let problem = Problem::binary(&data.y);
                let mut source = source(&data, Storage::Dense64);
                source.skip(j as u64).unwrap();
                let mut block = ColumnBlock::new(1);
                source.next_block(&mut block).unwrap();
                let mut checked =
                    check_block(&block, j as u64, &problem, &Default::default()).unwrap();
                checked.features.iter_mut().for_each(|f| f.group = Some(j as u32));
                if let Err(error) = selector.offer_block(&checked, &mut Vec::new()) {
                    assert!(error.to_string().contains("budget"), "{error}");
                    assert!(selector.save().unwrap() == before, "{name} seed {seed} feature {j}");
                    refused += 1;
                }
                assert!(selector.status().bytes < 1200 + 16 * data.y.len() as u64 + 600);
            }
            if name == "saola" {
                spec = spec.set("on-full", "evict");
                let mut selector = make(name, &spec, &data, budget);
                offer(&mut *selector, &data, 0, data.x.len());
                evicted += selector.selection().unwrap().selected.len();
            }
        }
    }
    assert!(refused > 100 && evicted > 100, "{refused} {evicted}");
}

#[test]
fn pinned_features_stay_and_a_second_scan_changes_nothing() {
    for seed in 0..60 {
        let data = random(seed);
        let pin = (0..data.x.len()).find(|j| !crate::naive::constant(&data.x[*j]));
        let Some(pin) = pin else { continue };
        for (name, settings) in METHODS {
            let problem = Problem::binary(&data.y);
            let selector = make(name, &spec(settings), &data, Budget::unlimited());
            let mut lane = Lane::new(problem, selector);
            lane.pinned.insert(format!("f{pin}"));
            let mut source = source(&data, Storage::Mixed);
            let options = RunOptions { scans: 2, width: 4, ..RunOptions::default() };
            let driver = Driver::new(&mut source, vec![lane], options).unwrap();
            let report = driver.with_groups(Groups::block(2).unwrap()).run(&mut Quiet).unwrap();
            let selection = &report.lanes[0].selection;
            assert_eq!(selection.pinned.len(), 1, "{name} seed {seed}");
            assert_eq!(selection.pinned[0].id.index, pin as u64);
            let mut again = make(name, &spec(settings), &data, Budget::unlimited());
            offer(&mut *again, &data, 0, data.x.len());
            let first = again.selection().unwrap();
            again.end_scan().unwrap();
            offer(&mut *again, &data, 0, data.x.len());
            same(&first, &again.selection().unwrap());
        }
    }
}

#[test]
fn what_a_method_cannot_use_is_refused_with_advice() {
    let data = random(1);
    let refused = |name: &str, spec: MethodSpec, problem: Problem| {
        let info = registry::find(name).unwrap();
        match registry::make(info, &spec, &problem, Budget::unlimited()) {
            Ok(_) => panic!("{name} took it"),
            Err(error) => error.to_string(),
        }
    };
    let binary = || Problem::binary(&data.y);
    assert!(refused("group-saola", MethodSpec::k(3), binary()).contains("no `k`"));
    assert!(refused("saola", MethodSpec::k(0), binary()).contains("at least 1"));
    let set = |name: &str, value: &str| MethodSpec::default().set(name, value);
    assert!(refused("saola", set("measure", "g2"), binary()).contains("su, mi"));
    assert!(refused("osfs", set("measure", "su"), binary()).contains("fisher-z or g2"));
    assert!(refused("saola", set("rules", "mine"), binary()).contains("paper or lofs"));
    assert!(refused("saola", set("alpha", "2"), binary()).contains("between 0 and 1"));
    assert!(refused("osfs", set("max-condition", "9"), binary()).contains("at most 8"));
    let mut offset = binary();
    offset.offset = Some(vec![0.0; data.y.len()]);
    assert!(refused("saola", set("measure", "su"), offset).contains("an offset"));
    let numbers = Problem::regression((0..data.y.len()).map(|i| i as f64 / 7.0).collect());
    assert!(refused("ogfs", MethodSpec::default(), numbers).contains("classification"));
}

#[test]
fn the_result_has_strengths_p_values_and_no_coefficients() {
    let data = random(2);
    for (name, settings) in METHODS {
        let groups = registry::find(name).unwrap().stream == keepnet::Stream::Groups;
        let problem = Problem::binary(&data.y);
        let got = run(&data, Storage::Mixed, name, &spec(settings), problem, groups.then_some(2));
        assert!(!got.selected.is_empty(), "{name}");
        assert_eq!(listed(&got).len(), got.selected.len());
        for s in &got.selected {
            assert!(s.coefficient.is_empty() && s.score > 0.0);
            assert_eq!(s.p_value.is_some(), got.p_value_kind.is_some());
        }
        assert!(got.selected.windows(2).all(|w| w[0].score >= w[1].score));
    }
}

#[test]
fn neither_blocks_nor_threads_change_a_digit() {
    for seed in 0..20 {
        let data = random(seed);
        for (name, settings) in METHODS {
            let mut want: Option<Selection> = None;
            for (width, threads) in [(1, 1), (5, 2), (64, 3)] {
                let selector = make(name, &spec(settings), &data, Budget::unlimited());
                let lanes = vec![Lane::new(Problem::binary(&data.y), selector)];
                let mut source = source(&data, Storage::Mixed);
                let options = RunOptions { scans: 1, width, ..RunOptions::default() };
                let driver = Driver::new(&mut source, lanes, options).unwrap();
                let driver = driver.with_groups(Groups::block(3).unwrap());
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let report = pool.install(|| driver.run(&mut Quiet)).unwrap();
                let got = report.lanes[0].selection.clone();
                same(want.get_or_insert_with(|| got.clone()), &got);
            }
        }
    }
}
