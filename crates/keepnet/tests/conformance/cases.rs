//! The column methods of the registry, with each of their losses and measures.

use std::fmt;

use keepnet::measure::MeasureKind;
use keepnet::registry::{self, MethodInfo, MethodSpec, Relation, Stream};
use keepnet::{
    Budget, ColumnSelector, Driver, FeatureSource, Groups, Lane, LossKind, Problem, Quiet, Result,
    RunOptions, RunReport,
};

use crate::common::Data;

/// Features that a method keeps where it can be told.
pub const K: usize = 10;

/// One method with the settings and the kind of target that it is tested with.
#[derive(Clone)]
pub struct Case {
    pub method: &'static MethodInfo,
    pub spec: MethodSpec,
    classes: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?} {:?}", self.method.name, self.spec.loss, self.spec.settings)
    }
}

impl Case {
    /// The target of some data that the method takes.
    pub fn problem(&self, data: &Data) -> Problem {
        match self.classes {
            true => Problem::binary(&data.labels()),
            false => Problem::regression(data.y.clone()),
        }
    }

    pub fn make(&self, problem: &Problem, budget: Budget) -> Result<Box<dyn ColumnSelector>> {
        registry::make(self.method, &self.spec, problem, budget)
    }

    pub fn lane(&self, problem: Problem) -> Lane {
        let selector = self.make(&problem, Budget::unlimited()).unwrap();
        Lane::new(problem, selector)
    }

    /// A driver, with groups of three features where the method wants groups.
    pub fn driver<'a>(
        &self,
        source: &'a mut dyn FeatureSource,
        lane: Lane,
        options: RunOptions,
    ) -> Driver<'a> {
        // As many scans as it takes.
        let scans = if self.method.scans == 0 { 0 } else { options.scans };
        let options = RunOptions { scans, ..options };
        let driver = Driver::new(source, vec![lane], options).unwrap();
        match self.method.stream {
            Stream::Groups => driver.with_groups(Groups::block(3).unwrap()),
            _ => driver,
        }
    }

    pub fn run(
        &self,
        source: &mut dyn FeatureSource,
        problem: Problem,
        options: RunOptions,
    ) -> RunReport {
        self.driver(source, self.lane(problem), options).run(&mut Quiet).unwrap()
    }

    /// A run on dense columns.
    pub fn go(&self, data: &Data, options: RunOptions) -> RunReport {
        self.run(&mut data.dense(), self.problem(data), options)
    }

    /// The same with another setting.
    pub fn set(mut self, name: &str, value: impl Into<keepnet::Value>) -> Self {
        self.spec = self.spec.set(name, value);
        self
    }

    pub fn promises(&self, relation: Relation) -> bool {
        self.method.promises.why_not(relation).is_none()
    }

    /// Whether it fits a model, and so keeps as many features as it was told.
    pub fn has_model(&self) -> bool {
        self.promises(Relation::Fit)
    }

    /// Whether all columns are held until the end of one scan.
    pub fn batch(&self) -> bool {
        self.has_model() && self.method.scans == 1
    }
}

/// Every method on columns, with every loss and every measure that it takes.
pub fn cases() -> Vec<Case> {
    let columns = registry::methods().iter().filter(|m| m.stream != Stream::Samples);
    columns.flat_map(|method| cases_of(method)).collect()
}

fn cases_of(method: &'static MethodInfo) -> Vec<Case> {
    let losses: Vec<Option<LossKind>> = match method.has_loss {
        true => LossKind::ALL.into_iter().map(Some).collect(),
        false => vec![None],
    };
    let knows = |name: &str| method.settings.iter().any(|setting| setting.name == name);
    let measures: Vec<Option<MeasureKind>> = match knows("measure") {
        true => MeasureKind::ALL.into_iter().map(Some).collect(),
        false => vec![None],
    };
    let mut out = Vec::new();
    for loss in losses {
        for measure in &measures {
            let mut spec = MethodSpec { loss, ..MethodSpec::default() };
            for (name, value) in method.promises.with {
                spec = spec.set(name, *value);
            }
            if knows("workers") {
                spec = spec.set("workers", 3);
            }
            if let Some(measure) = measure {
                // Normal columns have as many levels as rows; a loose level keeps enough.
                spec = spec.set("measure", measure.name()).set("bins", 3).set("alpha", 0.1);
            }
            out.extend(fitting(method, spec));
        }
    }
    assert!(!out.is_empty(), "{}: no target and settings that it takes", method.name);
    out
}

/// The case of these settings: with `k` and numbers where the method takes them.
fn fitting(method: &'static MethodInfo, spec: MethodSpec) -> Option<Case> {
    // More rows than a discrete measure takes levels of a target.
    let data = Data::normal(300, 2, 1);
    [(Some(K), false), (Some(K), true), (None, false), (None, true)].into_iter().find_map(
        |(k, classes)| {
            let case = Case { method, spec: MethodSpec { k, ..spec.clone() }, classes };
            let made = case.make(&case.problem(&data), Budget::unlimited()).is_ok();
            made.then_some(case)
        },
    )
}

/// All that a second run must give again, digit for digit.
pub fn digits(report: &RunReport) -> String {
    let lane = &report.lanes[0];
    format!("{:?} {:?} {:?}", lane.selection, lane.dropped, report.features_seen)
}

#[test]
fn the_cases_cover_every_loss_and_every_measure() {
    let cases = cases();
    for loss in LossKind::ALL {
        assert!(cases.iter().any(|case| case.spec.loss == Some(loss)), "{loss:?}");
    }
    for measure in MeasureKind::ALL {
        let name = keepnet::Value::from(measure.name());
        let with = |case: &Case| case.spec.settings.get("measure") == Some(&name);
        assert!(cases.iter().any(with), "{measure:?}");
    }
}
