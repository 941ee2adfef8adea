//! What works around a method: lanes against separate runs, and error rates on data whose truth is
//! known. Accepted rates are those of the specification, measured with programs of its own.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use keepnet::data::generator;
use keepnet::registry::{self, MethodSpec};
use keepnet::{Budget, ColumnData, Driver, Generated, Lane, Problem, Quiet, RunOptions};
use keepnet_run::columns::{Made, integral};
use keepnet_run::lanes::{self, Whole};
use keepnet_run::request::text::FromText;
use keepnet_run::request::{Inferring, MethodRequest, Pairs, RunRequest, TrustRequest};
use keepnet_run::result::{Context, Rows};
use keepnet_run::{Here, Outcome, Request};
use rand_distr::{Distribution, StandardNormal};

/// Columns, and a target of some of them.
struct Data {
    columns: Vec<Vec<f64>>,
    y: Vec<f64>,
    truth: HashSet<u64>,
}

/// `p` normal columns, each with correlation `rho` with the one before; every `p / s`-th has an
/// effect of `beta`, signs in turn; noise of deviation 1.
fn data(seed: u64, (n, p, s): (usize, usize, usize), beta: f64, rho: f64) -> Data {
    let mut random = generator(seed, 77);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(p);
    for j in 0..p {
        let own: Vec<f64> = (0..n).map(|_| normal()).collect();
        let rest = (1.0 - rho * rho).sqrt();
        columns.push(match j.checked_sub(1) {
            Some(last) if rho > 0.0 => {
                own.iter().zip(&columns[last]).map(|(x, z)| rest * x + rho * z).collect()
            }
            _ => own,
        });
    }
    let truth: Vec<usize> = (0..s).map(|t| t * (p / s) + p / s / 2).collect();
    let sign = |t: usize| if t.is_multiple_of(2) { beta } else { -beta };
    let effect = |i: usize| truth.iter().enumerate().map(|(t, j)| sign(t) * columns[*j][i]).sum();
    let y = (0..n)
        .map(|i| {
            let fixed: f64 = effect(i);
            fixed + normal()
        })
        .collect();
    Data { y, truth: truth.iter().map(|j| *j as u64).collect(), columns }
}

impl Data {
    fn source(&self) -> Generated {
        let columns = self.columns.iter().cloned().map(ColumnData::dense).collect();
        Generated::columns(self.y.len(), columns)
    }

    fn whole(&self) -> Whole {
        Whole { problem: Problem::regression(self.y.clone()).into(), balanced: false }
    }

    fn run(&self, request: &Request) -> Outcome {
        let (mut source, whole) = (self.source(), self.whole());
        let features = Some(self.columns.len() as u64);
        let arrangements = [lanes::arrange(request, &whole, features).unwrap()];
        let order = keepnet::Order::Given;
        let made = Made::new(request, &source, &arrangements, order, &Here).unwrap();
        let driver = Driver::new(&mut source, made.lanes, made.options).unwrap();
        let mut report = driver.run(&mut Quiet).unwrap();
        let concluded = lanes::conclude(&arrangements, &mut report, &mut source, request);
        let concluded = concluded.unwrap().swap_remove(0);
        let told = (&Rows::in_memory(&whole.problem), integral(request, &source));
        let context = Context { request, notes: &[], start: Instant::now(), command: "test" };
        let sources = ["memory".to_string()];
        Outcome::features(&context, &report, concluded, &sources, told).unwrap()
    }

    fn wrong(&self, outcome: &Outcome) -> usize {
        outcome.selection.indices().iter().filter(|j| !self.truth.contains(j)).count()
    }
}

fn request(k: usize, seed: u64, trust: TrustRequest) -> Request {
    let method = MethodRequest { k: Some(k.into()), ..MethodRequest::default() };
    Request {
        method,
        trust,
        run: RunRequest { seed, ..RunRequest::default() },
        ..Request::default()
    }
}

fn pairs(text: &str) -> TrustRequest {
    TrustRequest { stability: Some(Pairs::from_text(text).unwrap()), ..TrustRequest::default() }
}

fn inferring(text: &str) -> TrustRequest {
    let inference = Some(Inferring::from_text(text).unwrap());
    TrustRequest { inference, ..TrustRequest::default() }
}

/// 25 pairs of lanes on one read against 50 runs of their own, each on the half's rows alone.
#[test]
fn halves_of_one_read_are_those_of_separate_runs() {
    let data = data(1, (80, 60, 4), 0.7, 0.3);
    for method in ["os-plus", "fast-osfs"] {
        let mut asked = request(5, 4, pairs("25:0.6"));
        asked.method.method = Some(method.into());
        let outcome = data.run(&asked);
        let arrangement = lanes::arrange(&asked, &data.whole(), Some(60)).unwrap();
        assert_eq!(arrangement.asks().len(), 50);
        let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
        let mut sizes = 0;
        for ask in arrangement.asks() {
            let rows: Vec<usize> =
                (0..ask.problem.n()).map(|row| ask.problem.rows.source_row(row)).collect();
            assert_eq!(rows.len(), 40);
            let pick =
                |values: &Vec<f64>| rows.iter().map(|row| values[*row]).collect::<Vec<f64>>();
            let columns = data.columns.iter().map(|x| ColumnData::dense(pick(x))).collect();
            let mut source = Generated::columns(40, columns);
            let problem = Problem::regression(pick(&data.y));
            let info = registry::find(method).unwrap();
            let spec = MethodSpec { seed: 4, ..MethodSpec::k(5) };
            let selector = registry::make(info, &spec, &problem, Budget::unlimited()).unwrap();
            let options = RunOptions { scans: info.scans, ..RunOptions::default() };
            let lane = Lane::new(problem, selector);
            let report =
                Driver::new(&mut source, vec![lane], options).unwrap().run(&mut Quiet).unwrap();
            let selected = report.lanes[0].selection.indices();
            sizes += selected.len();
            selected.into_iter().for_each(|j| *counts.entry(j).or_default() += 1);
        }
        counts.retain(|_, count| *count as f64 / 50.0 >= 0.6);
        let got: BTreeMap<u64, usize> = outcome
            .selection
            .selected
            .iter()
            .map(|feature| {
                let frequency = outcome.found.features[&feature.id].frequency.unwrap();
                assert_eq!(feature.score, frequency);
                (feature.id.index, (50.0 * frequency).round() as usize)
            })
            .collect();
        assert_eq!(got, counts, "{method}");
        assert!(!got.is_empty());
        let stability = outcome.found.stability.as_ref().unwrap();
        assert_eq!(stability.mean_size, sizes as f64 / 50.0);
        let model = !outcome.selection.selected[0].coefficient.is_empty();
        assert_eq!(model, method == "os-plus");
    }
}

/// Lanes that share rows keep one copy of a column: several sizes of the same rows take the memory
/// of the largest one, nearly.
#[test]
fn lanes_on_the_same_rows_agree_with_lanes_of_their_own() {
    let data = data(9, (60, 40, 3), 1.0, 0.0);
    let whole = data.whole();
    let made = |sizes: &[usize]| {
        let mut source = data.source();
        let lanes = sizes.iter().map(|k| {
            let problem = Arc::clone(&whole.problem);
            let info = registry::find("os-plus").unwrap();
            let spec = MethodSpec::k(*k);
            let selector = registry::make(info, &spec, &problem, Budget::unlimited()).unwrap();
            Lane::new(problem, selector)
        });
        let report = Driver::new(&mut source, lanes.collect(), RunOptions::default()).unwrap();
        let report = report.run(&mut Quiet).unwrap();
        (report.checked, report.lanes)
    };
    let (checked, together) = made(&[2, 3, 5]);
    assert_eq!(checked, 80);
    for (lane, k) in together.iter().zip([2, 3, 5]) {
        let (_, alone) = made(&[k]);
        assert_eq!(lane.selection.selected, alone[0].selection.selected);
        assert_eq!(lane.dropped, alone[0].dropped);
    }
}

/// The design of section 4 with fewer features and seeds: the mean number of false features is at
/// most the unimodal bound.
#[test]
fn stability_keeps_fewer_false_features_than_its_bound() {
    let (mut wrong, mut found, mut bound) = (0.0, 0.0, 0.0);
    let seeds = 8;
    for seed in 0..seeds {
        let data = data(seed, (200, 250, 10), 0.5, 0.0);
        let outcome = data.run(&request(15, seed, pairs("25:0.7")));
        let stability = outcome.found.stability.as_ref().unwrap();
        wrong += data.wrong(&outcome) as f64 / seeds as f64;
        found += (outcome.selection.selected.len() - data.wrong(&outcome)) as f64 / seeds as f64;
        bound += stability.expected_false.unimodal.unwrap() / seeds as f64;
    }
    assert!(wrong <= bound, "{wrong} false, bound {bound}");
    assert!(found >= 6.0, "{found} of 10 found");
}

/// Intervals from rows that did not choose cover; those of the rows that chose would cover .59
/// (measured, specification).
#[test]
fn intervals_from_other_rows_cover_and_tests_keep_their_level() {
    let (mut covered, mut all, mut errors, mut found) = (0, 0, 0, 0);
    let seeds = 40;
    for seed in 0..seeds {
        let data = data(seed, (400, 200, 10), 0.4, 0.0);
        let outcome = data.run(&request(15, seed, inferring("split")));
        assert_eq!(outcome.selection.p_value_kind, Some("split"));
        let mut any = false;
        for feature in &outcome.selection.selected {
            let evidence = &outcome.found.features[&feature.id];
            let j = feature.id.index;
            // Effects of +0.4 and -0.4 in turn at 10, 30, 50, ...
            let effect = match data.truth.contains(&j) {
                true if j / 20 % 2 == 0 => 0.4,
                true => -0.4,
                false => 0.0,
            };
            covered += usize::from((evidence.ci_low[0]..=evidence.ci_high[0]).contains(&effect));
            all += 1;
            if evidence.p_adjusted[0] <= 0.05 {
                any |= effect == 0.0;
                found += usize::from(effect != 0.0);
            }
        }
        errors += usize::from(any);
    }
    let coverage = covered as f64 / all as f64;
    assert!((coverage - 0.95).abs() < 0.03, "{coverage}");
    // 0.05 and two standard errors of 40 runs.
    assert!(errors as f64 / seeds as f64 <= 0.05 + 2.0 * 0.0345, "{errors} runs with a false one");
    assert!(found as f64 / (10.0 * seeds as f64) > 0.9, "{found}");
}

/// Ten runs of the design of section 6 with 400 features. The standard error of the mean share of
/// false features is about 0.03.
#[test]
fn knockoffs_keep_their_level() {
    let (mut share, mut power) = (0.0, 0.0);
    let seeds = 6;
    for seed in 0..seeds {
        let data = data(seed, (800, 300, 30), 0.25, 0.0);
        let mut asked = request(60, seed, inferring("knockoffs"));
        asked.method.level = Some(0.1);
        let outcome = data.run(&asked);
        let kept = outcome.selection.selected.len();
        share += data.wrong(&outcome) as f64 / kept.max(1) as f64 / seeds as f64;
        power += (kept - data.wrong(&outcome)) as f64 / 30.0 / seeds as f64;
        let told = outcome.found.error_control.as_ref().unwrap();
        assert_eq!((told.rate, told.level, told.rejected), ("fdr", 0.1, kept as u64));
        assert_eq!(outcome.selection.indices(), data.run(&asked).selection.indices());
    }
    assert!(share <= 0.1 + 0.08, "{share}");
    assert!(power >= 0.5, "{power}");
}

#[test]
fn repeated_knockoffs_have_e_values() {
    let data = data(3, (800, 200, 30), 0.3, 0.0);
    let mut asked = request(50, 3, inferring("knockoffs"));
    (asked.method.level, asked.trust.repeats) = (Some(0.2), Some(5));
    let outcome = data.run(&asked);
    assert!(outcome.selection.selected.len() >= 10);
    for feature in &outcome.selection.selected {
        let evidence = &outcome.found.features[&feature.id];
        // e-BH at 0.2 of 50: at least 50 / (0.2 * selected).
        let least = 50.0 / (0.2 * outcome.selection.selected.len() as f64);
        assert!(evidence.e_value.unwrap() >= least * (1.0 - 1e-9));
        assert!(feature.coefficient.len() == 1);
    }
}

/// Noise is warned of, and a target that features explain is not.
#[test]
fn a_permuted_target_tells_noise_from_signal() {
    let trust = || TrustRequest { null: Some(5), ..TrustRequest::default() };
    let noise = |seed| data(seed, (60, 200, 1), 0.0, 0.0).run(&request(5, seed, trust()));
    let warned = |outcome: &Outcome| {
        outcome.warnings.iter().any(|text| text.contains("a permuted target is explained as well"))
    };
    assert!((0..6).filter(|seed| warned(&noise(*seed))).count() >= 4);
    let signal = data(1, (60, 200, 3), 2.0, 0.0);
    let outcome = signal.run(&request(5, 1, trust()));
    assert!(!warned(&outcome));
    let null = outcome.found.null.as_ref().unwrap();
    assert_eq!(null.lanes, 5);
    assert!(null.least <= null.mean && outcome.selection.loss.unwrap() < null.least);
    let alone = signal.run(&request(5, 1, TrustRequest::default()));
    assert_eq!(alone.selection.selected, outcome.selection.selected);
}

/// statsmodels 0.15.0 on wdbc, columns f1, f4, f9, f20, f24 standardised, all rows: coefficients
/// without the intercept, standard errors, p-values, lower ends of the intervals
/// (`oracles/error-control/inference.json`).
#[test]
fn fits_have_the_numbers_of_a_published_package() {
    use keepnet::{ColumnBlock, FeatureSource};
    use keepnet_eval::trust::fits::{Estimate, Named, least_squares, logistic};

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../keepnet-cli/tests/lofs/wdbc.parquet");
    let dataset =
        keepnet_io::open(&[path.to_string()], &keepnet_io::OpenOptions::default()).unwrap();
    let mut source = dataset.source(&[]).unwrap();
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut block = ColumnBlock::new(64);
    while source.next_block(&mut block).unwrap() {
        for raw in block.columns() {
            let mut values = vec![0.0; 569];
            raw.data.view().fill(&mut values);
            all.insert(raw.name.to_string(), values);
        }
        block.reset(64);
    }
    let standard = |name: &str| {
        let x = &all[name];
        let mean = x.iter().sum::<f64>() / 569.0;
        let sd = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 569.0).sqrt();
        let values = x.iter().map(|x| (x - mean) / sd).collect();
        Named { name: name.into(), values }
    };
    let columns: Vec<Named> = ["f1", "f4", "f9", "f20", "f24"].map(standard).into();
    let check = |fits: &[Estimate], want: [[f64; 4]; 5]| {
        for (fit, want) in fits.iter().zip(want) {
            let got = [fit.value, fit.std_error, fit.p_value, fit.interval[0]];
            for (got, want) in got.iter().zip(want) {
                assert!((got - want).abs() <= 1e-9 * want.abs(), "{got} {want}");
            }
        }
    };
    let (fits, df) = least_squares(&columns, &all["y"], 0.05).unwrap();
    assert_eq!(df, 563.0);
    check(
        &fits,
        [
            [
                -0.07685405115240808,
                0.012293758585496082,
                8.038461835241243e-10,
                -0.10100128615879816,
            ],
            [0.005844296064804433, 0.0214132479487482, 0.7850078837030272, -0.03621531710171346],
            [
                -0.028457684408977016,
                0.015998482219747298,
                0.07581631934106707,
                -0.059881687672028124,
            ],
            [-0.33158086285600696, 0.01418247658853388, 5.401292338409608e-85, -0.359437892321348],
            [
                -0.11634380055277972,
                0.019360232927253345,
                3.346052336164164e-09,
                -0.15437090926991204,
            ],
        ],
    );
    let y: Vec<f64> = all["y"].iter().map(|y| 2.0 * y - 1.0).collect();
    check(
        &logistic(&columns, &y, None, 0.05).unwrap(),
        [
            [-1.687705111215779, 0.326449215874629, 2.3423729944164492e-07, -2.327533817111393],
            [-0.4877923124516804, 0.6237077089977929, 0.4341647450434466, -1.710236958967343],
            [-0.19913227504954564, 0.5009618420415931, 0.6909988706700416, -1.1809994430799116],
            [-8.132356155759755, 1.1098013423735504, 2.340340567050846e-13, -10.30752681680612],
            [-1.8010721380625647, 0.5143430944322792, 0.0004623102232911737, -2.809166078846716],
        ],
    );
}
