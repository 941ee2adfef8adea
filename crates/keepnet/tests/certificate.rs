//! `--scans rest` and what it is built from, against least squares fits made here.
//!
//! Every number compared with is of a fit by modified Gram-Schmidt with weights, of this file.

mod common;

use common::Data;
use keepnet::data::{Wants, check_block_for};
use keepnet::select::substitution::os_plus::{Best, OsPlus, OsPlusParams};
use keepnet::{
    Budget, CheckPolicy, ColumnBlock, ColumnData, ColumnSelector, Covariate, Driver, Feature,
    FeatureId, Generated, Lane, LossKind, MethodSpec, Numbers, Order, Problem, Quiet, RawColumn,
    RowMap, RunOptions, RunReport, Selection, Snapshot, Value, Whole, registry,
};

const N: usize = 80;
const P: usize = 60;
const K: usize = 5;

/// Half the weighted mean square of what a least squares fit leaves.
fn loss(columns: &[&[f64]], y: &[f64], v: &[f64]) -> f64 {
    let total: f64 = v.iter().sum();
    let dot = |a: &[f64], b: &[f64]| (0..y.len()).map(|i| v[i] * a[i] * b[i]).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let clean = |x: &[f64], basis: &[Vec<f64>]| {
        let mut x = x.to_vec();
        for _ in 0..2 {
            for q in basis {
                let share = dot(q, &x);
                x.iter_mut().zip(q).for_each(|(x, q)| *x -= share * q);
            }
        }
        x
    };
    for x in columns {
        let size = dot(x, x).sqrt();
        let e = clean(x, &basis);
        let left = dot(&e, &e).sqrt();
        if left > 1e-5 * size {
            basis.push(e.iter().map(|e| e / left).collect());
        }
    }
    let r = clean(y, &basis);
    0.5 * dot(&r, &r) / total
}

/// A problem with the columns as the fits of this file want them.
struct Case {
    name: &'static str,
    columns: Vec<Vec<f64>>,
    stored: Vec<ColumnData>,
    problem: Problem,
    /// Of the problem's rows.
    y: Vec<f64>,
    v: Vec<f64>,
    intercept: bool,
    pinned: Vec<usize>,
}

impl Case {
    fn new(name: &'static str, data: &Data, stored: Vec<ColumnData>, problem: Problem) -> Self {
        let take: Vec<usize> = match &problem.rows {
            RowMap::All(n) => (0..*n).collect(),
            RowMap::Some { take, .. } => take.iter().map(|i| *i as usize).collect(),
        };
        let column = |x: &Vec<f64>| take.iter().map(|i| x[*i]).collect();
        let columns = data.columns.iter().map(column).collect();
        let mut y = problem.target.outputs()[0].clone();
        if let Some(offset) = &problem.offset {
            y.iter_mut().zip(offset).for_each(|(y, o)| *y -= o);
        }
        let v = problem.weight.clone().unwrap_or_else(|| vec![1.0; y.len()]);
        Self { name, columns, stored, problem, y, v, intercept: true, pinned: Vec::new() }
    }

    /// The loss with these features and everything that is in every model.
    fn loss(&self, features: &[usize]) -> f64 {
        let ones = vec![1.0; self.y.len()];
        let mut columns: Vec<&[f64]> = if self.intercept { vec![&ones] } else { Vec::new() };
        columns.extend(self.problem.covariates.iter().map(|c| c.values.as_slice()));
        columns.extend(self.pinned.iter().chain(features).map(|j| self.columns[*j].as_slice()));
        loss(&columns, &self.y, &self.v)
    }

    fn params(&self) -> OsPlusParams {
        OsPlusParams { intercept: self.intercept, ..OsPlusParams::new(K) }
    }

    fn selector(&self) -> OsPlus {
        OsPlus::new(self.params(), &self.problem, Budget::unlimited()).unwrap()
    }

    fn run(&self, order: Order, width: usize) -> RunReport {
        let mut selector = self.selector();
        selector.certify(2).unwrap();
        let mut lane = Lane::new(self.problem.clone(), Box::new(selector));
        lane.pinned = self.pinned.iter().map(|j| format!("x{j}")).collect();
        let options = RunOptions { scans: 0, order, seed: 1, width };
        let mut source = self.source();
        Driver::new(&mut source, vec![lane], options).unwrap().run(&mut Quiet).unwrap()
    }

    fn source(&self) -> Generated {
        Generated::columns(self.stored[0].view().rows(), self.stored.clone())
            .with_names(|j| format!("x{j}"))
    }

    fn block(&self) -> ColumnBlock {
        let mut block = ColumnBlock::new(P + 4);
        for (j, data) in self.stored.iter().enumerate() {
            let (id, name) = (FeatureId::new(j as u64), format!("x{j}").into());
            block.push(RawColumn { id, name, source: 0, data: data.clone() });
        }
        block
    }

    /// The features of a block as the selector wants them.
    fn checked<'a>(&self, block: &'a ColumnBlock) -> Vec<Feature<'a>> {
        let wants = Wants { centres: self.intercept, ..Wants::default() };
        let policy = CheckPolicy::default();
        check_block_for(block, 0, &self.problem, &policy, wants).unwrap().features
    }

    /// The best exchange of `j` for one of `kept`, by fits alone.
    fn fall(&self, kept: &[usize], j: usize) -> f64 {
        let now = self.loss(kept);
        let without = |out: usize| {
            let set: Vec<usize> =
                kept.iter().enumerate().filter(|(at, _)| *at != out).map(|(_, j)| *j).collect();
            now - self.loss(&[&set[..], &[j]].concat())
        };
        (0..kept.len()).map(without).fold(f64::NEG_INFINITY, f64::max)
    }
}

fn dense(data: &Data) -> Vec<ColumnData> {
    data.columns.iter().map(|x| ColumnData::dense(x.clone())).collect()
}

/// Whole numbers from 0 to 3.
fn levels(seed: u64) -> Data {
    let mut data = Data::normal(N, P, seed);
    data.columns.iter_mut().flatten().for_each(|x| *x = (*x + 1.5).round().clamp(0.0, 3.0));
    data
}

fn cases() -> Vec<Case> {
    let plain = Data::normal(N, P, 7);
    let problem = || Problem::regression(plain.y.clone());
    let mut out = vec![Case::new("plain", &plain, dense(&plain), problem())];

    let weight: Vec<f64> = (0..N).map(|i| 0.25 + (i % 5) as f64).collect();
    let weighted = Problem { weight: Some(weight.clone()), ..problem() };
    out.push(Case::new("weights", &plain, dense(&plain), weighted));

    let take: Vec<u32> = (0..N as u32).rev().filter(|i| i % 4 != 1).collect();
    let y = take.iter().map(|i| plain.y[*i as usize]).collect();
    let mut masked = Problem::regression(y);
    masked.rows = RowMap::new(N, take).unwrap();
    out.push(Case::new("mask", &plain, dense(&plain), masked));

    let covariate = |name: &str, step: usize| Covariate {
        name: name.into(),
        values: (0..N).map(|i| ((i * step) % 17) as f64).collect(),
    };
    let covariates = vec![covariate("age", 3), covariate("sex", 7)];
    let offset = Some((0..N).map(|i| (i % 3) as f64).collect());
    let with = Problem { covariates, offset, weight: Some(weight), ..problem() };
    out.push(Case { pinned: vec![11, 44], ..Case::new("covariates", &plain, dense(&plain), with) });

    let bare = Case::new("no intercept", &plain, dense(&plain), problem());
    out.push(Case { intercept: false, ..bare });

    let thin = Data::normal(N, P, 8).thinned(0.8, 8);
    let sparse = |x: &Vec<f64>| {
        let index: Vec<u32> = (0..N as u32).filter(|i| x[*i as usize] != 0.0).collect();
        let value = index.iter().map(|i| x[*i as usize]).collect();
        ColumnData::Sparse { rows: N, index, value: Numbers::narrow(value) }
    };
    let stored = thin.columns.iter().map(sparse).collect();
    out.push(Case::new("sparse", &thin, stored, Problem::regression(thin.y.clone())));

    let few = levels(9);
    let whole = |x: &Vec<f64>| ColumnData::Whole(Whole::U8(x.iter().map(|x| *x as u8).collect()));
    let stored = few.columns.iter().map(whole).collect();
    out.push(Case::new("integers", &few, stored, Problem::regression(few.y.clone())));
    let codes = |x: &Vec<f64>| ColumnData::Codes {
        codes: x.iter().map(|x| *x as u8).collect(),
        levels: vec![0.0, 1.0, 2.0, 3.0],
    };
    let stored = few.columns.iter().map(codes).collect();
    out.push(Case::new("codes", &few, stored, Problem::regression(few.y.clone())));

    let mut two = levels(10);
    two.columns.iter_mut().flatten().for_each(|x| *x = f64::from(*x > 1.5));
    let bits = |x: &Vec<f64>| {
        let mut words = vec![0_u64; N.div_ceil(64)];
        (0..N).filter(|i| x[*i] == 1.0).for_each(|i| words[i / 64] |= 1 << (i % 64));
        ColumnData::Bits { rows: N, words }
    };
    let stored = two.columns.iter().map(bits).collect();
    out.push(Case::new("bits", &two, stored, Problem::regression(two.y.clone())));

    // Halves are exact beside 1e8, so the fits of this file may take the values without it.
    let mut halves = Data::normal(N, P, 11);
    halves.columns.iter_mut().flatten().for_each(|x| *x = (*x * 64.0).round() / 64.0);
    let far = |x: &Vec<f64>| ColumnData::dense(x.iter().map(|x| x + 1e8).collect());
    let stored = halves.columns.iter().map(far).collect();
    let shifted = Problem::regression(halves.y.iter().map(|y| y + 1e8).collect());
    let mut case = Case::new("offset 1e8", &halves, stored, shifted);
    case.y.iter_mut().for_each(|y| *y -= 1e8);
    out.push(case);

    let mut copies = Data::normal(N, P, 12);
    for j in (0..P).step_by(3) {
        copies.columns[j + 1] = copies.columns[j].clone();
        copies.columns[j + 2] = copies.columns[j].iter().map(|x| 2.0 * x - 1.0).collect();
    }
    out.push(Case::new("copies", &copies, dense(&copies), Problem::regression(copies.y.clone())));
    out
}

fn chosen(selection: &Selection) -> Vec<usize> {
    selection.indices().iter().map(|j| *j as usize).collect()
}

fn metric<'a>(selection: &'a Selection, name: &str) -> &'a Value {
    &selection.metrics.iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn at_the_end_no_exchange_lowers_a_direct_fit() {
    for case in cases() {
        for order in [Order::Given, Order::Shuffled] {
            let report = case.run(order, 16);
            let selection = &report.lanes[0].selection;
            let kept = chosen(selection);
            assert_eq!(kept.len(), K, "{}", case.name);
            assert_eq!(metric(selection, "certificate"), &Value::Bool(true), "{}", case.name);
            assert_eq!(metric(selection, "certificate_kind"), &Value::Text("exact".into()));
            assert!(report.complete && report.scans > 2, "{}", case.name);
            let now = case.loss(&kept);
            assert!((now - selection.loss.unwrap()).abs() < 1e-9 * now, "{}", case.name);
            for j in (0..P).filter(|j| !kept.contains(j) && !case.pinned.contains(j)) {
                let fall = case.fall(&kept, j);
                assert!(fall <= 2e-9 * now, "{}: {j} lowers {now} by {fall}", case.name);
            }
        }
    }
}

#[test]
fn a_fall_is_the_difference_of_two_fits() {
    for case in cases() {
        let block = case.block();
        let mut selector = case.selector();
        let mut checked = case.checked(&block);
        checked.iter_mut().for_each(|feature| {
            feature.pinned = case.pinned.contains(&(feature.id.index as usize));
        });
        // An arbitrary model, far from any optimum.
        let kept: Vec<usize> = (0..K).map(|at| 12 * at + 2).collect();
        let wanted = |f: &&Feature<'_>| f.pinned || kept.contains(&(f.id.index as usize));
        let start: Vec<Feature<'_>> = checked.iter().filter(wanted).map(Feature::owned).collect();
        selector.start(&start).unwrap();
        assert!((selector.loss() - case.loss(&kept)).abs() < 1e-9 * case.loss(&kept));
        let mut best = Best::new(P);
        selector.screen(&checked, 0.0, &mut best).unwrap();
        let mut falling = 0;
        for j in (0..P).filter(|j| !kept.contains(j) && !case.pinned.contains(j)) {
            let want = case.fall(&kept, j);
            let found =
                best.found().iter().find(|found| found.column.id.unwrap().index == j as u64);
            let scale = case.loss(&kept);
            match found {
                Some(found) => {
                    assert!((found.fall - want).abs() < 1e-9 * scale, "{} {j}", case.name);
                    let out = found.leaves.unwrap().index as usize;
                    let set: Vec<usize> =
                        kept.iter().copied().filter(|i| *i != out).chain([j]).collect();
                    let fall = scale - case.loss(&set);
                    assert!((fall - want).abs() < 1e-9 * scale, "{} {j} leaves {out}", case.name);
                    falling += 1;
                }
                None => assert!(want < 1e-9 * scale, "{} {j} {want}", case.name),
            }
        }
        assert!(falling > 3, "{}", case.name);
        assert!(best.found().is_sorted_by(|a, b| a.fall >= b.fall));
    }
}

#[test]
fn falls_have_the_same_digits_in_blocks_of_any_width_and_from_a_model_that_travelled() {
    for case in cases() {
        let block = case.block();
        let checked = case.checked(&block);
        let mut selector = case.selector();
        let start: Vec<Feature<'_>> =
            checked.iter().step_by(13).take(K).map(Feature::owned).collect();
        selector.start(&start).unwrap();
        let falls = |selector: &mut OsPlus, width: usize| {
            let mut best = Best::new(P);
            for some in checked.chunks(width) {
                selector.screen(some, 0.0, &mut best).unwrap();
            }
            let of = |found: &keepnet::select::substitution::os_plus::Found| {
                (found.column.id, found.leaves, found.fall.to_bits())
            };
            best.found().iter().map(of).collect::<Vec<_>>()
        };
        let want = falls(&mut selector, P);
        assert!(!want.is_empty());
        for width in [1, 7, 13] {
            assert_eq!(falls(&mut selector, width), want, "{} {width}", case.name);
        }
        let mut other = case.selector();
        other.redraw(&selector.outline().unwrap(), selector.held().to_vec()).unwrap();
        assert_eq!(falls(&mut other, 5), want, "{}", case.name);
        let bytes = selector.model_bytes().unwrap();
        let unlimited = Budget::unlimited;
        let again = OsPlus::from_model_bytes(case.params(), &case.problem, unlimited(), &bytes);
        assert_eq!(falls(&mut again.unwrap(), 5), want, "{}", case.name);
        let fewer = OsPlusParams { k: 4, ..case.params() };
        let refused = OsPlus::from_model_bytes(fewer, &case.problem, unlimited(), &bytes);
        assert!(refused.err().unwrap().to_string().contains("other settings"));
    }
}

#[test]
fn every_loss_ends_with_a_certificate_and_no_higher_loss() {
    let data = Data::normal(120, P, 5);
    for loss in [LossKind::Logistic, LossKind::SquaredHinge, LossKind::SquaredEpsilon] {
        let problem = data.problem(loss);
        // The model as it stands, with no last pass over a reserve.
        let make = || {
            let params = OsPlusParams { loss: Some(loss), ..OsPlusParams::new(K) };
            let params = params.without_last_pass(&problem).unwrap();
            OsPlus::new(params, &problem, Budget::unlimited()).unwrap()
        };
        let run = |selector: OsPlus, scans| {
            let lane = Lane::new(problem.clone(), Box::new(selector));
            let options = RunOptions { scans, width: 16, ..RunOptions::default() };
            let mut source = data.dense();
            Driver::new(&mut source, vec![lane], options).unwrap().run(&mut Quiet).unwrap()
        };
        let two = run(make(), 2);
        let mut selector = make();
        selector.certify(2).unwrap();
        let rest = run(selector, 0);
        let (two, rest) = (&two.lanes[0].selection, &rest.lanes[0].selection);
        assert_eq!(metric(rest, "certificate"), &Value::Bool(true), "{loss:?}");
        assert_eq!(metric(rest, "certificate_kind"), &Value::Text("quadratic".into()));
        let (before, after) = (two.loss.unwrap(), rest.loss.unwrap());
        // The ridge of the method is not that of the refit.
        assert!(after <= before * 1.01, "{loss:?}: {before} {after}");
    }
}

/// Three classes: the falls of all outputs add up.
#[test]
fn several_classes_share_a_certificate() {
    let data = Data::normal(90, 40, 3);
    let codes: Vec<u32> = data.y.iter().map(|y| (y + 2.0).clamp(0.0, 2.0) as u32).collect();
    let names = ["a", "b", "c"].map(String::from).to_vec();
    for loss in ["squared", "logistic"] {
        let problem =
            Problem::new(keepnet::Target::Classes { names: names.clone(), codes: codes.clone() });
        let kind = if loss == "squared" { LossKind::Squared } else { LossKind::Logistic };
        let params = OsPlusParams { loss: Some(kind), ..OsPlusParams::new(4) };
        let mut selector = OsPlus::new(params, &problem, Budget::unlimited()).unwrap();
        selector.certify(2).unwrap();
        let lane = Lane::new(problem, Box::new(selector));
        let options = RunOptions { scans: 0, ..RunOptions::default() };
        let mut source = data.dense();
        let report =
            Driver::new(&mut source, vec![lane], options).unwrap().run(&mut Quiet).unwrap();
        let selection = &report.lanes[0].selection;
        assert_eq!(metric(selection, "certificate"), &Value::Bool(true), "{loss}");
        assert_eq!(selection.selected.len(), 4);
    }
}

#[test]
fn a_run_with_rounds_resumes_with_every_digit() {
    struct Stops {
        at: u64,
        seen: u64,
        state: Vec<u8>,
    }
    impl keepnet::Observer for Stops {
        fn progress(&mut self, _: &keepnet::Progress) -> keepnet::Result<keepnet::Flow> {
            self.seen += 1;
            let stop = self.seen == self.at;
            Ok(keepnet::Flow { save: stop, stop })
        }
        fn save(&mut self, state: Vec<u8>) -> keepnet::Result<()> {
            self.state = state;
            Ok(())
        }
    }
    let cases = cases();
    let case = &cases[0];
    let want = case.run(Order::Shuffled, 16);
    let options = || RunOptions { scans: 0, order: Order::Shuffled, seed: 1, width: 16 };
    let lane = || {
        let mut selector = case.selector();
        selector.certify(2).unwrap();
        Lane::new(case.problem.clone(), Box::new(selector))
    };
    let blocks = u64::from(want.scans) * P.div_ceil(16) as u64;
    for at in 1..blocks {
        let mut source = case.source();
        let mut stops = Stops { at, seen: 0, state: Vec::new() };
        let driver = Driver::new(&mut source, vec![lane()], options()).unwrap();
        let half = driver.run(&mut stops).unwrap();
        let half = &half.lanes[0].selection;
        assert_eq!(metric(half, "certificate"), &Value::Bool(false));
        assert!(half.warnings.iter().any(|w| w.starts_with("no certificate")), "{at}");
        let mut source = case.source();
        let mut driver = Driver::new(&mut source, vec![lane()], options()).unwrap();
        driver.restore(&stops.state).unwrap();
        let report = driver.run(&mut Quiet).unwrap();
        let (a, b) = (&report.lanes[0].selection, &want.lanes[0].selection);
        assert_eq!(a.selected, b.selected, "stopped after block {at}");
        assert_eq!((a.loss, &a.metrics), (b.loss, &b.metrics));
        // A state of a run without rounds, and the other way round, is refused.
        assert!(case.selector().restore(&lane().selector.save().unwrap()).is_err());
    }
}

#[test]
fn fates_add_up_and_other_methods_refuse() {
    for case in cases() {
        let report = case.run(Order::Given, 16);
        let lane = &report.lanes[0];
        let d = lane.dropped;
        let kept = (lane.selection.selected.len() + lane.selection.pinned.len()) as u64;
        let all = d.weak + d.redundant + d.constant + d.missing + d.evicted + kept;
        assert_eq!((all, d.evicted), (P as u64, 0), "{}", case.name);
    }
    let problem = Problem::regression(Data::normal(30, 5, 1).y);
    for method in ["os", "asy-os", "saola", "lasso"] {
        let info = registry::find(method).unwrap();
        let spec = MethodSpec::k(3);
        let mut made = registry::make(info, &spec, &problem, Budget::unlimited()).unwrap();
        let error = made.certify(2).unwrap_err().to_string();
        assert!(error.contains("scans is rest"), "{error}");
    }
}

#[test]
fn a_start_that_cannot_be_is_refused() {
    let cases = cases();
    let case = &cases[0];
    let block = case.block();
    let checked = case.checked(&block);
    let error = case.selector().start(&checked[..K + 1]).unwrap_err().to_string();
    assert!(error.contains("at most `k` columns"), "{error}");
    let twice = [0, 0].map(|at| {
        let mut feature = checked[at].owned();
        feature.id = FeatureId::new(900 + at as u64);
        feature
    });
    let mut selector = case.selector();
    selector.start(&twice[..1]).unwrap();
    let error = selector.start(&twice[1..]).unwrap_err().to_string();
    assert!(error.contains("holds nothing yet"), "{error}");
    let copy = [checked[0].owned(), {
        let mut copy = checked[0].owned();
        copy.id = FeatureId::new(901);
        copy
    }];
    let error = case.selector().start(&copy).unwrap_err().to_string();
    assert!(error.contains("comes twice"), "{error}");
    let mut other = case.selector();
    assert!(other.redraw(b"nothing", Vec::new()).is_err());
}
