//! The quick part of the acceptance tests of running averages (specs, section 9).
//!
//! The design is the slides' (a common factor, every tenth feature true); expected numbers are
//! the specification's. The long part is `examples/row_tables`.

use keepnet::data::generator;
use keepnet::learn::{
    AnnealedRidge, AnnealedRidgeParams, AveragesParams, Extract, Olasso, OlassoParams, OlsParams,
    Olsth, RunningAverages,
};
use keepnet::registry::{self, MethodSpec};
use keepnet::{Budget, Row, RowBlock, RowLearner, RowProblem};
use rand::RngExt;
use rand_distr::StandardNormal;

struct Design {
    random: rand_xoshiro::Xoshiro256PlusPlus,
    p: usize,
    step: usize,
    beta: f64,
    classes: bool,
}

impl Design {
    fn new(p: usize, step: usize, beta: f64, classes: bool, seed: u64) -> Self {
        Self { random: generator(seed, 77), p, step, beta, classes }
    }

    fn is_true(&self, j: u64) -> bool {
        (j + 1).is_multiple_of(self.step as u64)
    }

    fn block(&mut self, n: usize) -> RowBlock {
        let mut block = RowBlock::new(self.p, n);
        for _ in 0..n {
            let z: f32 = self.random.sample(StandardNormal);
            let x: Vec<f32> =
                (0..self.p).map(|_| z + self.random.sample::<f32, _>(StandardNormal)).collect();
            let sum: f32 = x.iter().skip(self.step - 1).step_by(self.step).sum();
            let u = self.beta * f64::from(sum) + self.random.sample::<f64, _>(StandardNormal);
            let y = if self.classes { f64::from(u8::from(u > 0.0)) } else { u };
            block.push(Row::F32(&x), y, 1.0).unwrap();
        }
        block
    }

    fn averages(&mut self, n: usize) -> RunningAverages {
        let mut averages = RunningAverages::new(self.p, 0, AveragesParams::default()).unwrap();
        for _ in 0..n / 1000 {
            averages.push(&self.block(1000)).unwrap();
        }
        averages
    }

    fn run(&mut self, learner: &mut dyn RowLearner, n: usize) -> f64 {
        for _ in 0..n / 500 {
            learner.learn_block(&self.block(500)).unwrap();
        }
        let found = learner.selection().unwrap().indices();
        let hits = found.iter().filter(|j| self.is_true(**j)).count();
        100.0 * hits as f64 / (self.p / self.step) as f64
    }
}

fn learner(name: &str, spec: &MethodSpec, problem: &RowProblem) -> Box<dyn RowLearner> {
    registry::make_rows(registry::find(name).unwrap(), spec, problem, Budget::unlimited()).unwrap()
}

#[test]
fn annealed_ridge_is_at_the_limit_where_rows_are_as_many_as_features() {
    let method = AnnealedRidge::new(AnnealedRidgeParams::default()).unwrap();
    let (mut errors, mut weak) = (Vec::new(), Vec::new());
    for seed in 0..48 {
        for beta in [1.0, 0.1] {
            if beta == 1.0 && seed >= 4 {
                continue;
            }
            let mut design = Design::new(1000, 10, beta, false, seed);
            let gram = design.averages(1000).gram().unwrap();
            let set = method.choose(&gram, 100).unwrap();
            let hits = set.iter().filter(|j| design.is_true(**j as u64)).count();
            if beta < 1.0 {
                weak.push(hits as f64);
                continue;
            }
            assert_eq!(hits, 100);
            let model = gram.model(&set, &gram.refit(&set).unwrap());
            let d: Vec<f64> = model.coefficient[0].iter().map(|w| w - 1.0).collect();
            let (square, sum) = (d.iter().map(|d| d * d).sum::<f64>(), d.iter().sum::<f64>());
            errors.push((1.0 + square + sum * sum + model.intercept[0].powi(2)).sqrt());
        }
    }
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    assert!((mean(&errors) - 1.058).abs() < 0.01, "{errors:?}");
    // The specification asks 75; its own twelve runs gave 76.6 (0.7). The first 240 seeds here gave
    // 76.52 (0.26), these 48 of them 75.67 (0.53).
    assert!(mean(&weak) >= 75.0, "{weak:?}");
}

#[test]
fn a_ridge_that_falls_finds_more_among_correlated_features() {
    // Neighbours correlate by 0.9, random signs: the specification's AR(1) design (section 6). A
    // prototype with its own generator gave 92.4 (0.5) and 95.0 (0.3) over 30 seeds.
    let found = |cool: f64, seed: u64| {
        let method =
            AnnealedRidge::new(AnnealedRidgeParams { cool, ..Default::default() }).unwrap();
        let mut random = generator(seed, 78);
        let p = 1000;
        let truth = rand::seq::index::sample(&mut random, p, p / 10).into_vec();
        let signs: Vec<f32> =
            truth.iter().map(|_| [-0.2, 0.2][random.random_range(0..2)]).collect();
        let mut block = RowBlock::new(p, 3000);
        for _ in 0..3000 {
            let mut x: Vec<f32> = vec![random.sample(StandardNormal)];
            for j in 1..p {
                let new: f32 = random.sample(StandardNormal);
                x.push(0.9 * x[j - 1] + 0.19f32.sqrt() * new);
            }
            let sum: f32 = truth.iter().zip(&signs).map(|(j, b)| x[*j] * b).sum();
            let noise: f64 = random.sample(StandardNormal);
            block.push(Row::F32(&x), f64::from(sum) + noise, 1.0).unwrap();
        }
        let mut averages = RunningAverages::new(p, 0, AveragesParams::default()).unwrap();
        averages.push(&block).unwrap();
        let set = method.choose(&averages.gram().unwrap(), p / 10).unwrap();
        set.iter().filter(|j| truth.contains(j)).count()
    };
    let [kept, falls] = [0.0, 0.5].map(|cool| (0..6).map(|seed| found(cool, seed)).sum::<usize>());
    assert!(falls >= kept + 12, "{falls} against {kept} of 600; 578 and 556 when written");
}

#[test]
fn weak_signals_are_found_as_often_as_specified() {
    // n 1e4, beta .01: OLSth 22.5, lasso 32, annealed ridge at least 31; at 4 runs a standard
    // error is 2, so three of them are allowed for.
    let ridge = AnnealedRidge::new(AnnealedRidgeParams::default()).unwrap();
    let lasso = Olasso::new(OlassoParams::default()).unwrap();
    let olsth = Olsth::new(OlsParams::default()).unwrap();
    let methods: [(&dyn Extract, f64); 3] = [(&olsth, 22.5), (&lasso, 32.0), (&ridge, 32.3)];
    let mut found = [0.0; 3];
    for seed in 10..14 {
        let mut design = Design::new(1000, 10, 0.01, false, seed);
        let gram = design.averages(10_000).gram().unwrap();
        for ((method, _), found) in methods.iter().zip(&mut found) {
            let set = method.choose(&gram, 100).unwrap();
            *found += set.iter().filter(|j| design.is_true(**j as u64)).count() as f64 / 4.0;
        }
    }
    for ((method, want), found) in methods.iter().zip(found) {
        assert!((found - want).abs() < 6.0, "{}: {found} for {want}", method.name());
    }
}

#[test]
fn faithful_baselines_fail_and_tuned_ones_do_not() {
    let mut design = Design::new(1000, 10, 0.1, false, 1);
    let spec = MethodSpec::k(100).set("preset", "published");
    let siht = design.run(&mut *learner("siht", &spec, &RowProblem::regression(1000)), 10_000);
    assert!((4.0..18.0).contains(&siht), "published SIHT finds {siht}, expected about 10");
    let mut design = Design::new(1000, 10, 1.0, true, 2);
    let rda = learner("rda", &MethodSpec::k(100), &RowProblem::binary(1000));
    let rda = design.run(&mut *{ rda }, 30_000);
    assert!(rda >= 90.0, "tuned RDA finds {rda}, expected at least 90");
}

#[test]
fn an_active_set_finds_what_the_full_gram_would() {
    let mut design = Design::new(5000, 100, 0.1, false, 3);
    let spec = MethodSpec::k(50).set("active", 500).set("iterations", 1000);
    let mut ofsa = learner("ofsa", &spec, &RowProblem::regression(5000));
    let found = design.run(&mut *ofsa, 16_000);
    assert!(found >= 98.0, "the active set finds {found}, expected at least 98");
}

#[test]
fn the_logistic_loss_finds_more_where_classes_are_nearly_separable() {
    use keepnet::LossKind;
    let problem = RowProblem::binary(500);
    let spec = |loss, choose: &str| {
        let spec = MethodSpec::k(50).set("choose", choose);
        MethodSpec { loss: Some(loss), ..spec }
    };
    let run = |spec: &MethodSpec, beta| {
        let mut learner = learner("annealed-ridge", spec, &problem);
        let found = Design::new(500, 10, beta, true, 5).run(&mut *learner, 10_000);
        let selection = learner.selection().unwrap();
        let (_, loss) = selection.params.iter().find(|p| p.0 == "loss").unwrap().clone();
        (found, loss)
    };
    let (squared, _) = run(&spec(LossKind::Squared, "bic"), 1.0);
    let (logistic, _) = run(&spec(LossKind::Logistic, "bic"), 1.0);
    assert!(logistic > squared + 10.0, "logistic {logistic}, squared {squared}");
    let (found, loss) = run(&spec(LossKind::Logistic, "holdout"), 1.0);
    assert_eq!(loss, keepnet::Value::from("logistic"));
    assert!(found > squared, "hold-out {found}, squared {squared}");
}
