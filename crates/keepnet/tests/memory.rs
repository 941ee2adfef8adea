//! What a method says it will hold is what it holds: measured by an allocator that counts.
//!
//! Only allocations inside the calls of a method count, on whatever thread they are made.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

use keepnet::registry::{self, Maker};
use keepnet::run::verdict::Fitted;
use keepnet::{
    Budget, CheckedBlock, ColumnData, ColumnSelector, Driver, Generated, Groups, Lane, LossKind,
    Memory, MethodInfo, MethodSpec, Numbers, Outcome, Problem, Quiet, Result, Row, RowBlock,
    RowProblem, RunOptions, Selection, Snapshot, Status, Target,
};

/// Counts the bytes that are allocated while a method works.
struct Counting;

static INSIDE: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

fn count(bytes: i64) {
    if INSIDE.load(Relaxed) {
        let live = LIVE.fetch_add(bytes, Relaxed) + bytes;
        PEAK.fetch_max(live, Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts what `work` allocates.
fn inside<T>(work: impl FnOnce() -> T) -> T {
    INSIDE.store(true, Relaxed);
    let result = work();
    INSIDE.store(false, Relaxed);
    result
}

/// Starts a new count.
fn reset() {
    LIVE.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    KEPT.store(0, Relaxed);
}

/// A selector whose calls count.
struct Weighed(Box<dyn ColumnSelector>);

/// Most features that a method kept at once.
static KEPT: AtomicU64 = AtomicU64::new(0);

impl Snapshot for Weighed {
    fn save(&self) -> Result<Vec<u8>> {
        self.0.save()
    }

    fn restore(&mut self, state: &[u8]) -> Result<()> {
        self.0.restore(state)
    }
}

impl ColumnSelector for Weighed {
    fn offer_block(&mut self, block: &CheckedBlock<'_>, out: &mut Vec<Outcome>) -> Result<()> {
        let offered = inside(|| self.0.offer_block(block, out));
        KEPT.fetch_max(self.0.status().kept as u64, Relaxed);
        offered
    }

    fn settle(&mut self, wait: bool, out: &mut Vec<keepnet::select::Late>) -> Result<()> {
        inside(|| self.0.settle(wait, out))
    }

    fn end_scan(&mut self) -> Result<bool> {
        inside(|| self.0.end_scan())
    }

    fn unfinished(&self) -> bool {
        self.0.unfinished()
    }

    fn finish(&mut self) -> Result<()> {
        inside(|| self.0.finish())
    }

    fn selection(&self) -> Result<Selection> {
        inside(|| self.0.selection())
    }

    fn fitted(&self, see: &mut dyn FnMut(&Fitted<'_>) -> Result<()>) -> Result<()> {
        self.0.fitted(see)
    }

    fn whole_groups(&self) -> bool {
        self.0.whole_groups()
    }

    fn compacts(&self) -> bool {
        self.0.compacts()
    }

    fn centres(&self) -> bool {
        self.0.centres()
    }

    fn status(&self) -> Status {
        self.0.status()
    }

    fn memory(&self, column: u64, features: Option<u64>) -> Memory {
        self.0.memory(column, features)
    }
}

const FEATURES: usize = 400;

/// One problem that every method is run on.
#[derive(Clone, Copy, Debug)]
struct Case {
    rows: usize,
    k: usize,
    /// Classes of the target; 0 for numbers.
    classes: u32,
    wide: bool,
    weighted: bool,
}

/// A number from -1 to 1 that is the same each time; neighbouring columns are correlated.
fn value(i: usize, j: usize) -> f64 {
    let draw = |i: usize, j: usize| {
        let mut z = ((j * 1_000_003 + i) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    draw(i, j) + 0.5 * draw(i, j / 2 + 1000)
}

fn score(i: usize) -> f64 {
    (0..FEATURES).step_by(8).map(|j| (1.0 + (j % 3) as f64) * value(i, j)).sum()
}

impl Case {
    fn target(&self) -> Target {
        let scores: Vec<f64> = (0..self.rows).map(score).collect();
        if self.classes == 0 {
            return Target::Numbers(scores);
        }
        let mut sorted = scores.clone();
        sorted.sort_by(f64::total_cmp);
        let class = |score: &f64| {
            let rank = sorted.partition_point(|other| other < score);
            (rank * self.classes as usize / self.rows) as u32
        };
        let names = (0..self.classes).map(|class| class.to_string()).collect();
        Target::Classes { names, codes: scores.iter().map(class).collect() }
    }

    fn column(&self, j: usize) -> ColumnData {
        let values = (0..self.rows).map(|i| value(i, j));
        ColumnData::Dense(match self.wide {
            true => Numbers::F64(values.collect()),
            false => Numbers::F32(values.map(|x| x as f32).collect()),
        })
    }

    /// What the method said and what it held, with the features that it kept.
    fn columns(&self, method: &MethodInfo, spec: &MethodSpec) -> Option<(Memory, u64, u64)> {
        let mut problem = Problem::regression(vec![0.0; self.rows]);
        problem.target = self.target();
        problem.weight =
            self.weighted.then(|| (0..self.rows).map(|i| 1.0 + (i % 3) as f64).collect());
        reset();
        let selector =
            inside(|| registry::make(method, spec, &problem, Budget::unlimited())).ok()?;
        let column = self.rows as u64 * if self.wide { 8 } else { 4 };
        let stated = selector.memory(column, Some(FEATURES as u64));
        let columns = (0..FEATURES).map(|j| self.column(j)).collect();
        let mut source = Generated::columns(self.rows, columns);
        let lanes = vec![Lane::new(problem, Box::new(Weighed(selector)))];
        let options = RunOptions {
            scans: method.scans,
            width: if method.has_loss { 32 } else { 5 },
            ..RunOptions::default()
        };
        let driver = Driver::new(&mut source, lanes, options).unwrap();
        let report = driver.with_groups(Groups::block(5).unwrap()).run(&mut Quiet).unwrap();
        assert!(!report.lanes[0].selection.selected.is_empty(), "{}", method.name);
        Some((stated, PEAK.load(Relaxed) as u64, KEPT.load(Relaxed)))
    }

    /// The same of a method on rows.
    fn samples(&self, method: &MethodInfo, spec: &MethodSpec) -> Option<(Memory, u64, u64)> {
        let names = (0..self.classes).map(|class| class.to_string()).collect();
        let problem = RowProblem { classes: names, ..RowProblem::regression(FEATURES) };
        reset();
        let made = inside(|| registry::make_rows(method, spec, &problem, Budget::unlimited()));
        let mut learner = made.ok()?;
        let stated = Memory { bytes: learner.memory(), each: 0 };
        let y = match self.target() {
            Target::Numbers(y) => y,
            Target::Classes { codes, .. } => codes.into_iter().map(f64::from).collect(),
        };
        let mut block = RowBlock::new(FEATURES, 250);
        for first in (0..self.rows).step_by(250) {
            block.reset(250);
            for i in first..(first + 250).min(self.rows) {
                let row: Vec<f64> = (0..FEATURES).map(|j| value(i, j)).collect();
                block.push(Row::F64(&row), y[i], 1.0).unwrap();
            }
            inside(|| learner.learn_block(&block)).unwrap();
        }
        let selection = inside(|| learner.selection()).unwrap();
        assert!(!selection.selected.is_empty(), "{}", method.name);
        Some((stated, PEAK.load(Relaxed) as u64, 0))
    }
}

/// The ways in which a method is run: with and without a bound where it has none of its own, and
/// with each form of its state.
fn specs(method: &MethodInfo, k: usize) -> Vec<MethodSpec> {
    let spec = MethodSpec::k(k);
    match method.name {
        "asy-os" => vec![spec.set("centre", "simulated").set("workers", 3)],
        "os-plus" => vec![spec.clone().set("reserve", k / 2), spec],
        // Thresholds that fill the kept list, and a pool that these features fill.
        "ossfs-dd" => [spec, MethodSpec::default()]
            .map(|spec| spec.set("low", 0).set("high", 0.1).set("pool", 8))
            .to_vec(),
        // A level at which every feature is a candidate.
        "fcbf" => [spec, MethodSpec::default()].map(|spec| spec.set("alpha", 0.999_999)).to_vec(),
        // The same, with small sets of conditions, as there are many of them.
        "mmpc" => [10, 20]
            .map(|k| MethodSpec::k(k).set("alpha", 0.999_999).set("max-condition", 1))
            .to_vec(),
        "mmmb" => [MethodSpec::k(10), MethodSpec::default()]
            .map(|spec| spec.set("alpha", 1e-6).set("max-condition", 1))
            .to_vec(),
        "annealed-ridge" => vec![
            spec.clone(),
            spec.clone().set("active", 100),
            MethodSpec { loss: Some(LossKind::Logistic), ..spec },
        ],
        _ if method.has_loss => vec![spec],
        _ => vec![spec, MethodSpec::default()],
    }
}

/// Whether what was said is what was held: no less, and no more than three times as much.
fn judge(what: &str, said: u64, held: u64) -> Option<String> {
    let ratio = said as f64 / held as f64;
    let fits = (1.0..=3.0).contains(&ratio);
    (!fits).then(|| format!("{what}: said {said}, held {held}, ratio {ratio:.2}"))
}

#[test]
fn methods_hold_what_they_say() {
    let case = Case { rows: 2000, k: 10, classes: 0, wide: true, weighted: false };
    let many = Case { k: 50, ..case };
    let cases = [
        case,
        many,
        Case { rows: 6000, ..many },
        Case { wide: false, ..many },
        Case { classes: 2, ..many },
        Case { classes: 4, wide: false, weighted: true, ..many },
        Case { weighted: true, ..many },
    ];
    // Buffers of the matrix products, which every thread has once.
    let warm = || {
        many.columns(registry::find("os-plus").unwrap(), &MethodSpec::k(50).set("reserve", 25));
        let active = MethodSpec::k(10).set("active", 100);
        many.samples(registry::find("annealed-ridge").unwrap(), &active).unwrap();
    };
    rayon::broadcast(|_| warm());
    warm();
    let mut wrong = Vec::new();
    for method in registry::methods() {
        let mut ran = 0;
        let all =
            cases.iter().flat_map(|case| specs(method, case.k).into_iter().map(move |s| (case, s)));
        for (case, spec) in all {
            let held = match method.make {
                Maker::Columns(_) => case.columns(method, &spec),
                Maker::Rows(_) => case.samples(method, &spec),
            };
            // A method or setting that is not for this target.
            let Some((stated, held, kept)) = held else { continue };
            ran += 1;
            let what = format!("{} {case:?} {:?} {:?}", method.name, spec.k, spec.settings);
            wrong.extend(judge(&what, stated.with(kept), held));
        }
        assert!(ran > 0, "{} ran on nothing", method.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
