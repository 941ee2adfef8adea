//! `sparse-group-lasso` against a plain proximal gradient method written out here.
//!
//! The objective has one least value, and both solvers stay above it: where they agree to 1e-9, both
//! have found it.

mod common;

use common::{Data, width};
use keepnet::{
    Budget, Driver, Groups, Lane, LossKind, MethodSpec, Order, Problem, Quiet, RunOptions,
    RunReport, Selection, Target, Value, registry,
};

/// A problem as the plain method sees it: standardised columns, one target per output.
struct Plain {
    x: Vec<Vec<f64>>,
    y: Vec<Vec<f64>>,
    weight: Vec<f64>,
    group: Vec<usize>,
    loss: LossKind,
}

impl Plain {
    fn new(data: &Data, problem: &Problem, group: Vec<usize>, loss: LossKind) -> Self {
        let weight = problem.weight.clone().unwrap_or_else(|| vec![1.0; data.n]);
        let total: f64 = weight.iter().sum();
        let mean = |x: &[f64]| x.iter().zip(&weight).map(|(x, v)| x * v).sum::<f64>() / total;
        let scaled = |x: &Vec<f64>| {
            let m = mean(x);
            let x: Vec<f64> = x.iter().map(|x| x - m).collect();
            let sd = mean(&x.iter().map(|x| x * x).collect::<Vec<_>>()).sqrt();
            x.iter().map(|x| x / sd).collect()
        };
        let mut y = match &problem.target {
            Target::Numbers(y) => vec![y.clone()],
            Target::Classes { names, codes } => {
                let one =
                    |class: u32| codes.iter().map(move |c| if *c == class { 1.0 } else { -1.0 });
                let classes = if names.len() == 2 { 1..2 } else { 0..names.len() as u32 };
                classes.map(|class| one(class).collect()).collect()
            }
        };
        if loss == LossKind::Squared {
            for y in &mut y {
                let m = mean(y);
                y.iter_mut().for_each(|y| *y -= m);
            }
        }
        Self { x: data.columns.iter().map(scaled).collect(), y, weight, group, loss }
    }

    /// Loss and its slope in a margin.
    fn of(&self, u: f64, y: f64) -> (f64, f64) {
        match self.loss {
            LossKind::Squared => (0.5 * (u - y) * (u - y), u - y),
            LossKind::Logistic => ((-u * y).exp().ln_1p(), -y / (1.0 + (u * y).exp())),
            other => panic!("{other:?}"),
        }
    }

    /// Mean loss and its gradient, the intercepts last; `w` has a vector per output.
    fn gradient(&self, w: &[Vec<f64>]) -> (f64, Vec<Vec<f64>>) {
        let (p, total) = (self.x.len(), self.weight.iter().sum::<f64>());
        let mut value = 0.0;
        let mut out = vec![vec![0.0; p + 1]; w.len()];
        for (c, w) in w.iter().enumerate() {
            for i in 0..self.weight.len() {
                let u = w[p] + (0..p).map(|j| w[j] * self.x[j][i]).sum::<f64>();
                let (loss, slope) = self.of(u, self.y[c][i]);
                value += loss * self.weight[i] / total;
                let slope = slope * self.weight[i] / total;
                (0..p).for_each(|j| out[c][j] += slope * self.x[j][i]);
                if self.loss != LossKind::Squared {
                    out[c][p] += slope;
                }
            }
        }
        (value, out)
    }

    fn members(&self, group: usize) -> Vec<usize> {
        (0..self.group.len()).filter(|j| self.group[*j] == group).collect()
    }

    fn groups(&self) -> usize {
        self.group.iter().max().unwrap() + 1
    }

    fn penalty(&self, w: &[Vec<f64>], (l1, l2): (f64, f64)) -> f64 {
        let size = |j: usize| w.iter().map(|w| w[j] * w[j]).sum::<f64>();
        let one = |group: usize| {
            let members = self.members(group);
            let square: f64 = members.iter().map(|j| size(*j)).sum();
            let single: f64 = members.iter().map(|j| size(*j).sqrt()).sum();
            l1 * single + l2 * (members.len() as f64 * square).sqrt()
        };
        (0..self.groups()).map(one).sum()
    }

    /// Soft threshold of each member, then of its group.
    fn proximal(&self, w: &mut [Vec<f64>], (l1, l2): (f64, f64)) {
        for group in 0..self.groups() {
            let members = self.members(group);
            let shrink = |w: &mut [Vec<f64>], slots: &[usize], by: f64| {
                let square: f64 = slots.iter().flat_map(|j| w.iter().map(|w| w[*j] * w[*j])).sum();
                let factor = if square.sqrt() > by { 1.0 - by / square.sqrt() } else { 0.0 };
                slots.iter().for_each(|j| w.iter_mut().for_each(|w| w[*j] *= factor));
            };
            members.iter().for_each(|j| shrink(w, &[*j], l1));
            shrink(w, &members, l2 * (members.len() as f64).sqrt());
        }
    }

    /// The least objective, by accelerated proximal steps that start again where they overshoot.
    fn least(&self, penalty: (f64, f64)) -> (f64, Vec<Vec<f64>>) {
        let (p, count) = (self.x.len(), self.y.len());
        // No eigenvalue of X'X / W is above its trace.
        let mut step = 1.0 / (p + 1) as f64;
        let at = |w: &[Vec<f64>]| self.gradient(w).0 + self.penalty(w, penalty);
        let mut w = vec![vec![0.0; p + 1]; count];
        let (mut v, mut t, mut value) = (w.clone(), 1.0f64, at(&w));
        for _ in 0..20_000 {
            let (here, slope) = self.gradient(&v);
            let (next, found) = loop {
                let mut next = v.clone();
                for (next, slope) in next.iter_mut().zip(&slope) {
                    next.iter_mut().zip(slope).for_each(|(w, s)| *w -= step * s);
                }
                self.proximal(&mut next, (step * penalty.0, step * penalty.1));
                let far = next.iter().flatten().zip(v.iter().flatten());
                let (mut along, mut square) = (0.0, 0.0);
                for ((a, b), s) in far.zip(slope.iter().flatten()) {
                    along += s * (a - b);
                    square += (a - b) * (a - b);
                }
                let found = self.gradient(&next).0;
                if found <= here + along + square / (2.0 * step) + 1e-15 {
                    break (next, found);
                }
                step *= 0.5;
            };
            let found = found + self.penalty(&next, penalty);
            if found > value && t > 1.0 {
                (v, t) = (w.clone(), 1.0);
                continue;
            }
            let moved = next.iter().flatten().zip(w.iter().flatten()).map(|(a, b)| (a - b).abs());
            let moved = moved.fold(0.0, f64::max);
            let faster = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
            let share = (t - 1.0) / faster;
            for ((v, next), w) in v.iter_mut().zip(&next).zip(&w) {
                v.iter_mut().zip(next).zip(w).for_each(|((v, n), w)| *v = n + share * (n - w));
            }
            (w, value, t) = (next, found, faster);
            step *= 1.1;
            if moved < 1e-13 {
                break;
            }
        }
        (value, w)
    }
}

fn metric(selection: &Selection, name: &str) -> f64 {
    match selection.metrics.iter().find(|(key, _)| *key == name) {
        Some((_, Value::Float(value))) => *value,
        Some((_, Value::Int(value))) => *value as f64,
        other => panic!("{name}: {other:?}"),
    }
}

/// Groups that are not of neighbouring columns: `j % count`.
fn dealt(p: usize, count: usize) -> (Groups, Vec<usize>) {
    let pairs = (0..p).map(|j| (format!("f{j}"), format!("g{}", j % count)));
    (Groups::table(pairs).unwrap(), (0..p).map(|j| j % count).collect())
}

fn fit(data: &Data, problem: &Problem, groups: &Groups, spec: &MethodSpec) -> RunReport {
    let method = registry::find("sparse-group-lasso").unwrap();
    let selector = registry::make(method, spec, problem, Budget::unlimited()).unwrap();
    let mut source = data.dense();
    let driver = Driver::new(&mut source, vec![Lane::new(problem.clone(), selector)], width(7));
    driver.unwrap().with_groups(groups.clone()).run(&mut Quiet).unwrap()
}

/// Correlated columns: each has a share of the one before.
fn correlated(n: usize, p: usize, seed: u64) -> Data {
    let mut data = Data::normal(n, p, seed);
    for j in 1..p {
        let before = data.columns[j - 1].clone();
        data.columns[j].iter_mut().zip(before).for_each(|(x, b)| *x = 0.6 * *x + 0.8 * b);
    }
    data
}

fn weights(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.5 + (i % 4) as f64).collect()
}

#[test]
fn the_objective_is_the_least_for_every_mix() {
    let data = correlated(60, 24, 5);
    let (groups, group) = dealt(24, 6);
    for weighted in [false, true] {
        let mut problem = Problem::regression(data.y.clone());
        problem.weight = weighted.then(|| weights(60));
        let plain = Plain::new(&data, &problem, group.clone(), LossKind::Squared);
        for mix in [0.0, 0.3, 0.95, 1.0] {
            for lambda in [0.6, 0.2, 0.03] {
                let spec = MethodSpec::default().set("mix", mix).set("lambda", lambda);
                let report = fit(&data, &problem, &groups, &spec.set("ratio", true));
                let selection = &report.lanes[0].selection;
                let lambda = metric(selection, "lambda");
                let (least, w) = plain.least((mix * lambda, (1.0 - mix) * lambda));
                let got = metric(selection, "objective");
                assert!((got - least).abs() < 1e-9 * least, "mix {mix}: {got}, least {least}");
                assert!(metric(selection, "kkt_residual") < 1e-7, "mix {mix}");
                let mut kept = selection.indices();
                kept.sort_unstable();
                let used: Vec<u64> = (0..24).filter(|j| w[0][*j as usize].abs() > 1e-7).collect();
                assert_eq!(kept, used, "mix {mix} lambda {lambda}");
            }
        }
    }
}

#[test]
fn classes_and_a_curved_loss_reach_the_least_objective_too() {
    let data = correlated(50, 12, 6);
    let (groups, group) = dealt(12, 4);
    let codes = data.y.iter().map(|y| if *y < -0.7 { 0 } else { 1 + u32::from(*y > 0.7) });
    let names = ["a", "b", "c"].map(String::from).to_vec();
    let three = Problem::new(Target::Classes { names, codes: codes.collect() });
    let two = Problem::binary(&data.labels());
    for (problem, loss) in [
        (&three, LossKind::Squared),
        (&two, LossKind::Squared),
        (&two, LossKind::Logistic),
        (&three, LossKind::Logistic),
    ] {
        let plain = Plain::new(&data, problem, group.clone(), loss);
        for (mix, share) in [(0.2, 0.5), (0.8, 0.2)] {
            let spec = MethodSpec { loss: Some(loss), ..MethodSpec::default() };
            let spec = spec.set("mix", mix).set("lambda", share).set("ratio", true);
            let report = fit(&data, problem, &groups, &spec);
            let selection = &report.lanes[0].selection;
            let lambda = metric(selection, "lambda");
            let least = plain.least((mix * lambda, (1.0 - mix) * lambda)).0;
            let got = metric(selection, "objective");
            assert!((got - least).abs() < 1e-8 * least, "{loss:?} {mix}: {got}, least {least}");
        }
    }
}

#[test]
fn at_the_largest_lambda_nothing_has_a_weight_and_just_below_something_has() {
    let data = correlated(60, 24, 7);
    let (groups, _) = dealt(24, 6);
    let problem = Problem::regression(data.y.clone());
    for mix in [0.0, 0.5, 1.0] {
        for (share, some) in [(1.0, false), (0.999, true)] {
            let spec = MethodSpec::default().set("mix", mix).set("lambda", share);
            let report = fit(&data, &problem, &groups, &spec.set("ratio", true));
            assert_eq!(report.lanes[0].selection.selected.is_empty(), !some, "{mix} {share}");
        }
    }
}

#[test]
fn with_mix_1_it_is_the_lasso_and_two_penalties_are_lambda_and_mix() {
    let data = correlated(60, 24, 8);
    let (groups, _) = dealt(24, 6);
    let problem = Problem::regression(data.y.clone());
    let objective = |report: &RunReport| metric(&report.lanes[0].selection, "objective");
    let spec = MethodSpec::default().set("lambda", 0.1);
    let lasso = common::run(&mut data.dense(), problem.clone(), "lasso", &spec, width(8));
    let grouped = fit(&data, &problem, &groups, &spec.set("mix", 1.0));
    assert!((objective(&lasso) - objective(&grouped)).abs() < 1e-10);
    let same = |a: &RunReport, b: &RunReport| {
        let indices = |r: &RunReport| r.lanes[0].selection.indices();
        assert_eq!(indices(a), indices(b));
    };
    same(&lasso, &grouped);
    let mixed = MethodSpec::default().set("lambda", 0.2).set("mix", 0.25);
    let pair = MethodSpec::default().set("lambda1", 0.05).set("lambda2", 0.15);
    let (mixed, pair) =
        (fit(&data, &problem, &groups, &mixed), fit(&data, &problem, &groups, &pair));
    assert!((objective(&mixed) - objective(&pair)).abs() < 1e-12);
    same(&mixed, &pair);
    // Shares in SLEP's way: of the largest slope, then of what is left of a group.
    let shares = MethodSpec::default().set("lambda1", 0.3).set("lambda2", 1.0).set("ratio", true);
    assert!(fit(&data, &problem, &groups, &shares).lanes[0].selection.selected.is_empty());
    let shares = MethodSpec::default().set("lambda1", 0.3).set("lambda2", 0.99).set("ratio", true);
    assert!(!fit(&data, &problem, &groups, &shares).lanes[0].selection.selected.is_empty());
}

/// The problem of the copies is solved as it is; the selection has one of each.
#[test]
fn of_copies_the_first_is_selected_and_the_objective_is_still_the_least() {
    let mut data = correlated(60, 24, 9);
    // 3 and 9 are of one group, 4 and 11 of two, and 11 is turned round.
    data.columns[9] = data.columns[3].clone();
    data.columns[11] = data.columns[4].iter().map(|x| -x).collect();
    data.y =
        (0..60).map(|i| data.y[i] + 4.0 * data.columns[3][i] + 3.0 * data.columns[4][i]).collect();
    let (groups, group) = dealt(24, 6);
    let problem = Problem::regression(data.y.clone());
    let plain = Plain::new(&data, &problem, group, LossKind::Squared);
    for mix in [0.0, 0.5, 0.95, 1.0] {
        let spec = MethodSpec::default().set("mix", mix).set("lambda", 0.2);
        let report = fit(&data, &problem, &groups, &spec);
        let selection = &report.lanes[0].selection;
        let least = plain.least((mix * 0.2, (1.0 - mix) * 0.2)).0;
        let got = metric(selection, "objective");
        assert!((got - least).abs() < 1e-9 * least, "mix {mix}: {got}, least {least}");
        let kept = selection.indices();
        assert!(kept.contains(&3) && kept.contains(&4), "mix {mix}: {kept:?}");
        assert!(!kept.contains(&9) && !kept.contains(&11), "mix {mix}: {kept:?}");
    }
}

#[test]
fn offsets_scales_and_the_order_of_arrival_change_nothing() {
    let data = correlated(80, 30, 10);
    let mut moved = data.clone();
    for (j, column) in moved.columns.iter_mut().enumerate() {
        let (scale, shift) = if j % 2 == 0 { (1024.0, 1e8) } else { (0.125, -3.0) };
        column.iter_mut().for_each(|x| *x = *x * scale + shift);
    }
    let (groups, _) = dealt(30, 7);
    let problem = Problem::regression(data.y.clone());
    let spec = MethodSpec::k(8).set("mix", 0.6);
    let want = fit(&data, &problem, &groups, &spec);
    let got = fit(&moved, &problem, &groups, &spec);
    assert_eq!(want.lanes[0].selection.indices().len(), 8);
    let sets = [&want, &got].map(|report| {
        let mut set = report.lanes[0].selection.indices();
        set.sort_unstable();
        set
    });
    assert_eq!(sets[0], sets[1]);
    let method = registry::find("sparse-group-lasso").unwrap();
    let selector = registry::make(method, &spec, &problem, Budget::unlimited()).unwrap();
    let options = RunOptions { order: Order::Shuffled, seed: 5, ..width(4) };
    let mut source = data.dense();
    let lanes = vec![Lane::new(problem.clone(), selector)];
    let driver = Driver::new(&mut source, lanes, options).unwrap().with_groups(groups);
    let shuffled = driver.run(&mut Quiet).unwrap();
    assert_eq!(shuffled.lanes[0].selection.indices(), want.lanes[0].selection.indices());
    assert_eq!(shuffled.lanes[0].selection.loss, want.lanes[0].selection.loss);
}

#[test]
fn wrong_settings_are_refused_by_name() {
    let data = Data::normal(30, 6, 1);
    let problem = Problem::regression(data.y.clone());
    let method = registry::find("sparse-group-lasso").unwrap();
    let refused = |spec: MethodSpec| {
        registry::make(method, &spec, &problem, Budget::unlimited()).err().unwrap().to_string()
    };
    let spec = MethodSpec::default;
    assert!(refused(spec()).contains("k=K"));
    assert!(refused(spec().set("lambda1", 0.1)).contains("lambda2"));
    assert!(refused(spec().set("lambda2", 0.1)).contains("lambda1"));
    assert!(refused(spec().set("lambda1", 0.0).set("lambda2", 0.0)).contains("above 0"));
    let both = spec().set("lambda", 0.1).set("lambda1", 0.1).set("lambda2", 0.1);
    assert!(refused(both).contains("no `lambda`"));
    let mixed = spec().set("mix", 0.5).set("lambda1", 0.1).set("lambda2", 0.1);
    assert!(refused(mixed).contains("no `mix`"));
    assert!(refused(spec().set("mix", 1.5).set("lambda", 0.1)).contains("mix"));
    assert!(refused(spec().set("lambda", 1.5).set("ratio", true)).contains("at most 1"));
    assert!(refused(MethodSpec::k(2).set("ratio", true)).contains("ratio"));
    let selector = registry::make(method, &MethodSpec::k(2), &problem, Budget::unlimited());
    let lane = Lane::new(problem.clone(), selector.unwrap());
    let mut source = data.dense();
    let error = Driver::new(&mut source, vec![lane], width(4)).unwrap().run(&mut Quiet);
    assert!(error.unwrap_err().to_string().contains("groups"));
}
