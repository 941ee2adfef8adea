//! The last pass of `os-plus` under the curved losses, against a forward selection made here.
//!
//! The selection of this file solves every model to its optimum by plain Newton steps and computes
//! every curvature anew; it shares no code with the engine.

mod common;

use common::Data;
use keepnet::{
    Budget, Driver, Generated, Lane, LossKind, MethodSpec, Observer, Problem, Pushed, Quiet,
    RunOptions, RunReport, Selection, Target, Value, registry,
};

const K: usize = 6;
/// The ridge of the refit, on columns of unit variance.
const RIDGE: f64 = 1e-3;

/// Value, slope and curvature of a loss at a margin.
fn at(loss: LossKind, u: f64, y: f64) -> (f64, f64, f64) {
    match loss {
        LossKind::Logistic => {
            let miss = 1.0 / (1.0 + (u * y).exp());
            ((1.0 + (-u * y).exp()).ln(), -y * miss, miss * (1.0 - miss))
        }
        _ => {
            let slack = (1.0 - u * y).max(0.0);
            (0.5 * slack * slack, -slack * y, f64::from(u8::from(slack > 0.0)))
        }
    }
}

/// Solves a small system by elimination with pivots.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|x, y| a[*x][i].abs().total_cmp(&a[*y][i].abs())).unwrap();
        a.swap(i, pivot);
        b.swap(i, pivot);
        for r in i + 1..n {
            let share = a[r][i] / a[i][i];
            let row = a[i].clone();
            a[r].iter_mut().zip(row).for_each(|(x, p)| *x -= share * p);
            b[r] -= share * b[i];
        }
    }
    for i in (0..n).rev() {
        b[i] = (b[i] - (i + 1..n).map(|j| a[i][j] * b[j]).sum::<f64>()) / a[i][i];
    }
    b
}

/// Columns with mean 0 and variance 1, a column of ones before them.
struct Table {
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    loss: LossKind,
}

/// A model at its optimum: coefficients, penalised loss, slopes and curvatures of the rows.
struct Model {
    w: Vec<f64>,
    value: f64,
    g: Vec<f64>,
    d: Vec<f64>,
}

impl Table {
    fn new(data: &Data, loss: LossKind) -> Self {
        let n = data.n as f64;
        let scaled = |x: &Vec<f64>| {
            let mean = x.iter().sum::<f64>() / n;
            let deviation = (x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
            x.iter().map(|x| (x - mean) / deviation).collect()
        };
        let ones = vec![1.0; data.n];
        let x = std::iter::once(ones).chain(data.columns.iter().map(scaled)).collect();
        Self { x, y: data.labels(), loss }
    }

    fn evaluate(&self, columns: &[usize], w: &[f64]) -> Model {
        let n = self.y.len();
        let mut model = Model { w: w.to_vec(), value: 0.0, g: vec![0.0; n], d: vec![0.0; n] };
        for i in 0..n {
            let u: f64 = columns.iter().zip(w).map(|(j, w)| w * self.x[*j][i]).sum();
            let (value, g, d) = at(self.loss, u, self.y[i]);
            model.value += value / n as f64;
            (model.g[i], model.d[i]) = (g, d);
        }
        model.value += 0.5 * RIDGE * w[1..].iter().map(|w| w * w).sum::<f64>();
        model
    }

    fn product(&self, a: usize, b: usize, d: &[f64]) -> f64 {
        let sum: f64 = (0..d.len()).map(|i| self.x[a][i] * d[i] * self.x[b][i]).sum();
        sum / d.len() as f64 + if a == b && a > 0 { RIDGE } else { 0.0 }
    }

    fn slope(&self, j: usize, g: &[f64]) -> f64 {
        self.x[j].iter().zip(g).map(|(x, g)| x * g).sum::<f64>() / g.len() as f64
    }

    /// Newton with halved steps until nothing changes.
    fn fit(&self, columns: &[usize], start: Vec<f64>) -> Model {
        let mut model = self.evaluate(columns, &start);
        for _ in 0..200 {
            let h = columns.iter().map(|a| {
                columns.iter().map(|b| self.product(*a, *b, &model.d)).collect::<Vec<f64>>()
            });
            let slopes: Vec<f64> = columns
                .iter()
                .zip(&model.w)
                .map(|(j, w)| self.slope(*j, &model.g) + if *j > 0 { RIDGE * w } else { 0.0 })
                .collect();
            let step = solve(h.collect(), slopes);
            let mut length = 1.0;
            let next = loop {
                let w: Vec<f64> = model.w.iter().zip(&step).map(|(w, s)| w - length * s).collect();
                let next = self.evaluate(columns, &w);
                if next.value <= model.value || length < 1e-6 {
                    break next;
                }
                length *= 0.5;
            };
            let done = model.value - next.value <= 1e-14;
            model = next;
            if done {
                break;
            }
        }
        model
    }

    /// How far the penalised loss falls along one further column, by halving an interval.
    fn fall(&self, columns: &[usize], model: &Model, j: usize) -> f64 {
        let u: Vec<f64> = (0..self.y.len())
            .map(|i| columns.iter().zip(&model.w).map(|(j, w)| w * self.x[*j][i]).sum())
            .collect();
        let along = |t: f64| {
            let each = (0..u.len()).map(|i| at(self.loss, u[i] + t * self.x[j][i], self.y[i]));
            let (value, slope) = each
                .zip(&self.x[j])
                .fold((0.0, 0.0), |sum, (at, x)| (sum.0 + at.0, sum.1 + at.1 * x));
            let n = u.len() as f64;
            (value / n + 0.5 * RIDGE * t * t, slope / n + RIDGE * t)
        };
        let (mut low, mut high) = (-50.0, 50.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if along(middle).1 > 0.0 { high = middle } else { low = middle }
        }
        along(0.0).0 - along(low).0
    }

    /// Forward selection over every column: the largest fall of the quadratic model joins.
    fn forward(&self, k: usize) -> (Vec<usize>, f64) {
        let mut columns = vec![0];
        let mut model = self.fit(&columns, vec![0.0]);
        while columns.len() <= k {
            let h: Vec<Vec<f64>> = columns
                .iter()
                .map(|a| columns.iter().map(|b| self.product(*a, *b, &model.d)).collect())
                .collect();
            // Its fall is followed along the true loss before it is believed.
            let gain = |j: usize, raised: f64| {
                let cross: Vec<f64> =
                    columns.iter().map(|a| self.product(*a, j, &model.d)).collect();
                let d = solve(h.clone(), cross.clone());
                let shared: f64 = cross.iter().zip(&d).map(|(a, b)| a * b).sum();
                let slope = self.slope(j, &model.g);
                slope * slope / (self.product(j, j, &model.d) - shared + raised)
            };
            let outside: Vec<usize> = (1..self.x.len()).filter(|j| !columns.contains(j)).collect();
            let mut raised = vec![None; self.x.len()];
            let best = loop {
                let corrected = |j: usize| gain(j, raised[j].unwrap_or(0.0));
                let most = |a: &usize, b: &usize| corrected(*a).total_cmp(&corrected(*b));
                let best = outside.iter().copied().max_by(most).unwrap();
                if raised[best].is_some() {
                    break best;
                }
                let (curve, slope) =
                    (self.product(best, best, &model.d), self.slope(best, &model.g));
                let modelled = 0.5 * slope * slope / curve;
                let fall = self.fall(&columns, &model, best);
                let short = fall < 0.9 * modelled;
                raised[best] = Some(if short { curve * (modelled / fall - 1.0) } else { 0.0 });
            };
            columns.push(best);
            let start = model.w.iter().copied().chain([0.0]).collect();
            model = self.fit(&columns, start);
        }
        let mut chosen: Vec<usize> = columns[1..].iter().map(|j| j - 1).collect();
        chosen.sort_unstable();
        (chosen, model.value)
    }

    /// The penalised loss of a set of features.
    fn value(&self, set: &[usize]) -> f64 {
        let columns: Vec<usize> = std::iter::once(0).chain(set.iter().map(|j| j + 1)).collect();
        self.fit(&columns, vec![0.0; columns.len()]).value
    }
}

fn lane(problem: Problem, loss: LossKind, reserve: usize) -> Lane {
    let mut spec = MethodSpec::k(K).set("reserve", reserve);
    spec.loss = Some(loss);
    let method = registry::find("os-plus").unwrap();
    let selector = registry::make(method, &spec, &problem, Budget::unlimited()).unwrap();
    Lane::new(problem, selector)
}

fn run(source: &mut Generated, lane: Lane) -> RunReport {
    let options = RunOptions { scans: 2, width: 16, ..RunOptions::default() };
    Driver::new(source, vec![lane], options).unwrap().run(&mut Quiet).unwrap()
}

fn set(selection: &Selection) -> Vec<usize> {
    let mut set: Vec<usize> = selection.indices().iter().map(|j| *j as usize).collect();
    set.sort_unstable();
    set
}

fn entered(selection: &Selection) -> u64 {
    let metric = selection.metrics.iter().find(|(name, _)| *name == "last_pass_entered");
    match metric.expect("a curved loss with a reserve tells it").1 {
        Value::Int(count) => count,
        _ => panic!("a count"),
    }
}

/// With a reserve that holds every column that promises anything, the last pass is forward selection
/// over all of them, and the better of it and the model is the answer. Tables as small as these have
/// their curvature computed anew at every step.
#[test]
fn a_reserve_of_all_columns_gives_the_better_of_forward_selection_and_the_model() {
    let mut taken = 0;
    for seed in 0..12 {
        let data = Data::normal(150, 40, 100 + seed);
        for loss in [LossKind::Logistic, LossKind::SquaredHinge] {
            let table = Table::new(&data, loss);
            let problem = || data.problem(loss);
            let without = run(&mut data.dense(), lane(problem(), loss, 0));
            let with = run(&mut data.dense(), lane(problem(), loss, 40));
            let (model, with) = (set(&without.lanes[0].selection), &with.lanes[0].selection);
            let (forward, value) = table.forward(K);
            let below = value < table.value(&model) * (1.0 - 1e-9);
            let want = if below { &forward } else { &model };
            assert_eq!(&set(with), want, "seed {seed}, {loss:?}: forward {forward:?}");
            assert_eq!(entered(with) > 0, below && forward != model, "seed {seed}, {loss:?}");
            taken += u32::from(entered(with) > 0);
        }
    }
    assert!(taken >= 3, "the last pass changed {taken} of 24 answers");
}

/// Whatever the reserve holds, the answer has no higher loss, ridge of the refit included.
#[test]
fn the_loss_of_the_answer_is_never_above_that_of_the_model() {
    for seed in 0..20 {
        let data = Data::normal(120, 80, 200 + seed);
        for loss in [LossKind::Logistic, LossKind::SquaredHinge] {
            let table = Table::new(&data, loss);
            let value = |reserve| {
                let report = run(&mut data.dense(), lane(data.problem(loss), loss, reserve));
                table.value(&set(&report.lanes[0].selection))
            };
            let (without, with) = (value(0), value(K));
            assert!(with <= without * (1.0 + 1e-8), "{seed} {loss:?}: {with} above {without}");
        }
    }
}

/// The answer of a stream so far changes nothing of what comes after it.
#[test]
fn a_stream_that_goes_on_after_an_answer_has_every_digit() {
    let data = Data::normal(120, 60, 7);
    let problem = || data.problem(LossKind::Logistic);
    let columns = |range: std::ops::Range<usize>| {
        let column =
            |j: usize| (format!("f{j}"), keepnet::ColumnData::dense(data.columns[j].clone()));
        range.map(column).collect::<Vec<_>>()
    };
    let told = |report: &RunReport| {
        let selection = &report.lanes[0].selection;
        let each = selection.selected.iter();
        each.map(|f| (f.id.index, f.coefficient[0].to_bits())).collect::<Vec<_>>()
    };
    let run = |stops: bool| {
        let lane = lane(problem(), LossKind::Logistic, K);
        let mut run = Pushed::new(vec![lane], RunOptions::default(), None).unwrap();
        run.begin_scan().unwrap();
        run.push(columns(0..35), &mut Quiet).unwrap();
        if stops {
            run.finish(false).unwrap();
            let state = run.save(&mut Quiet).unwrap();
            run.restore(&state).unwrap();
        }
        run.push(columns(35..60), &mut Quiet).unwrap();
        run.end_scan(&mut Quiet as &mut dyn Observer).unwrap();
        told(&run.finish(true).unwrap())
    };
    assert_eq!(run(true), run(false));
}

/// Pinned features and covariates stay in the answer, several classes share it, weights count.
#[test]
fn what_is_pinned_stays_and_several_classes_share_the_answer() {
    let mut passes = 0;
    for seed in 0..8 {
        let data = Data::normal(150, 60, 300 + seed);
        let codes: Vec<u32> =
            data.y.iter().map(|y| (y / 2.0 + 1.5).clamp(0.0, 2.0) as u32).collect();
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let mut problem = Problem::new(Target::Classes { names, codes });
        problem.weight = Some((0..150).map(|i| 1.0 + f64::from(i % 3)).collect());
        let age: Vec<f64> = (0..150).map(|i| f64::from(i * i % 17)).collect();
        problem.covariates.push(keepnet::Covariate { name: "age".into(), values: age });
        let mut lane = lane(problem, LossKind::Logistic, K);
        lane.pinned.insert("f59".into());
        let report = run(&mut data.dense(), lane);
        let selection = &report.lanes[0].selection;
        assert_eq!(selection.selected.len(), K);
        assert_eq!(selection.pinned[0].name, "f59");
        assert_eq!(selection.covariates[0].name, "age");
        assert!(selection.selected.iter().all(|f| f.coefficient.len() == 3));
        passes += u32::from(entered(selection) > 0);
    }
    assert!(passes > 0, "no answer was changed");
}
