//! Methods that make as many scans as they take: what they hold changes the number of scans and no
//! digit of the selection.

use keepnet::{
    Budget, FeatureSource, Generated, Lane, Observer, Order, Quiet, Result, RunOptions, RunReport,
};

use crate::cases::{Case, cases};
use crate::common::{Data, width};

/// Whole numbers, so that there are many ties, with copies and constants among them; the target is
/// of a few of them.
fn tied(seed: u64) -> Data {
    let mut data = Data::normal(150, 60, seed);
    for (j, column) in data.columns.iter_mut().enumerate() {
        let scale = if j % 3 == 0 { 0.6 } else { 1.1 };
        column.iter_mut().for_each(|x| *x = (scale * *x).round());
    }
    for j in 0..20 {
        data.columns[3 * j + 1] = data.columns[(7 * j) % 60].clone();
    }
    data.columns[11] = vec![2.0; 150];
    data.y = (0..150).map(|i| [3, 8, 20, 41].iter().map(|j| data.columns[*j][i]).sum()).collect();
    data
}

fn scanning() -> impl Iterator<Item = Case> {
    cases().into_iter().filter(|case| case.method.scans == 0)
}

/// Everything but the setting itself, and the place in a scan where an order is drawn anew.
fn answer(report: &RunReport) -> String {
    let mut selection = report.lanes[0].selection.clone();
    selection.params.retain(|(name, _)| *name != "hold");
    selection.selected.iter_mut().chain(&mut selection.pinned).for_each(|s| s.arrival = 0);
    format!("{selection:?}")
}

#[test]
fn every_hold_gives_the_same_digits() {
    for (seed, shuffled) in [(31, false), (32, true), (33, false)] {
        for data in [Data::normal(150, 60, seed), tied(seed)] {
            for case in scanning() {
                let order = if shuffled { Order::Shuffled } else { Order::Given };
                let run = |hold: &str, block: usize| {
                    let case = case.clone().set("hold", hold);
                    let mut lane = case.lane(case.problem(&data));
                    if seed == 33 {
                        lane.pinned = ["f5".to_string(), "f50".into()].into();
                    }
                    let options = RunOptions { order: order.clone(), ..width(block) };
                    case.driver(&mut data.dense(), lane, options).run(&mut Quiet).unwrap()
                };
                let all = run("all", 16);
                assert!(all.complete && all.scans == 1, "{case}");
                for (hold, block) in [("1", 7), ("2", 16), ("7", 1), ("auto", 5)] {
                    let got = run(hold, block);
                    assert!(got.complete, "{case} hold={hold}");
                    assert_eq!(answer(&got), answer(&all), "{case} hold={hold} seed {seed}");
                }
            }
        }
    }
}

#[test]
fn the_memory_decides_how_much_is_held_and_changes_no_digit() {
    let data = Data::normal(400, 80, 34);
    for case in scanning() {
        let run = |budget: Budget| {
            let problem = case.problem(&data);
            let selector = case.make(&problem, budget).unwrap();
            case.driver(&mut data.dense(), Lane::new(problem, selector), width(9)).run(&mut Quiet)
        };
        let want = answer(&run(Budget::unlimited()).unwrap());
        let mut scans = Vec::new();
        for bytes in [40_000, 60_000, 100_000, 1_000_000] {
            match run(Budget::bytes(bytes)) {
                Ok(report) => {
                    assert_eq!(answer(&report), want, "{case} in {bytes} bytes");
                    scans.push(report.scans);
                }
                // Room for the selected ones is needed in any case.
                Err(error) => assert!(error.to_string().contains("budget"), "{case}: {error}"),
            }
        }
        assert!(scans.len() > 1 && scans.is_sorted_by(|a, b| a >= b), "{case} {scans:?}");
    }
}

#[test]
fn fewer_scans_than_it_takes_are_not_complete() {
    let data = Data::normal(150, 60, 35);
    let mut short = 0;
    for case in scanning() {
        let case = case.set("hold", 1);
        let report = |scans: u32| {
            let options = RunOptions { scans, ..width(16) };
            let mut source = data.dense();
            let lane = case.lane(case.problem(&data));
            let driver = keepnet::Driver::new(&mut source, vec![lane], options).unwrap();
            driver.run(&mut Quiet).unwrap()
        };
        let all = report(0);
        assert!(all.complete, "{case}");
        let part = report(1);
        assert_eq!((part.scans, part.complete), (1, all.scans == 1), "{case}");
        let enough = report(all.scans);
        assert!(enough.complete && answer(&enough) == answer(&all), "{case}");
        short += u32::from(all.scans > 2);
    }
    assert!(short > 2);
}

/// A source that is read once.
struct Once(Generated);

impl FeatureSource for Once {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn features(&self) -> Option<u64> {
        None
    }

    fn sources(&self) -> &[String] {
        self.0.sources()
    }

    fn fingerprint(&self) -> u64 {
        0
    }

    fn next_block(&mut self, out: &mut keepnet::ColumnBlock) -> Result<bool> {
        self.0.next_block(out)
    }

    fn rewind(&mut self) -> Result<()> {
        Err(keepnet::Error::Unsupported("a pipe is read once".into()))
    }
}

#[test]
fn a_source_that_is_read_once_needs_all_columns_held() {
    let data = Data::normal(150, 60, 36);
    for case in scanning() {
        let run = |hold: &str| {
            let case = case.clone().set("hold", hold);
            let lane = case.lane(case.problem(&data));
            let quiet: &mut dyn Observer = &mut Quiet;
            case.driver(&mut Once(data.dense()), lane, width(16)).run(quiet)
        };
        let error = run("1").unwrap_err().to_string();
        let named = error.contains(case.method.name) && error.contains("`hold=all`");
        assert!(named && error.contains("a pipe is read once"), "{case}: {error}");
        assert!(run("all").unwrap().complete, "{case}");
    }
}
