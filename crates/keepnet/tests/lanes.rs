//! Several lanes of one run: each gives what it gives alone, and a column is checked once for each
//! problem.

mod common;

use std::sync::Arc;

use common::{Data, width};
use keepnet::data::Whole;
use keepnet::{
    Budget, CheckPolicy, ColumnData, Driver, Generated, Lane, MethodSpec, Missing, Numbers,
    Problem, Quiet, RowMap, RunOptions, RunReport, Target, registry, run::LaneReport,
};

/// Methods with glances and without, that centre and do not, that compact and do not.
const METHODS: [&str; 6] = ["os-plus", "os-plus", "os", "alpha-investing", "saola", "l1-cd"];

fn data() -> Data {
    Data::normal(120, 200, 5)
}

/// Columns with gaps, some far from zero.
fn source(data: &Data) -> Generated {
    let gaps = |(j, x): (usize, &Vec<f64>)| {
        let far = if j % 7 == 0 { 1e6 } else { 0.0 };
        let value = |(i, x): (usize, &f64)| if (i + j) % 31 == 0 { f64::NAN } else { x + far };
        ColumnData::dense(x.iter().enumerate().map(value).collect())
    };
    Generated::columns(data.n, data.columns.iter().enumerate().map(gaps).collect())
}

/// A lane for which another scan would change nothing rests, as its run alone would end.
#[test]
fn a_lane_that_has_converged_is_as_it_would_be_alone() {
    let data = data();
    let mut other = problem(&data, false);
    let Target::Numbers(y) = &mut other.target else { unreachable!() };
    y.iter_mut()
        .enumerate()
        .for_each(|(i, y)| *y += data.columns[7][i] - 2.0 * data.columns[50][i]);
    let problems = [problem(&data, true), problem(&data, false), other].map(Arc::new);
    let mut apart = 0;
    for method in ["l1-cd", "l0-cd", "grafting"] {
        let lanes = || problems.iter().map(|problem| lane(problem, method, Missing::Mean));
        let together = run(&data, lanes().collect(), 300);
        for (one, got) in lanes().zip(&together.lanes) {
            assert_eq!(digits(got), digits(&run(&data, vec![one], 300).lanes[0]), "{method}");
        }
        let most = together.lanes.iter().map(|lane| lane.scans).max();
        assert_eq!(Some(together.scans), most, "{method}");
        apart += usize::from(together.lanes.iter().any(|lane| lane.scans < together.scans));
    }
    assert!(apart > 0, "all lanes took the same scans");
}

/// The problem on every row but each fifth, or on all.
fn problem(data: &Data, fold: bool) -> Problem {
    let rows: Vec<u32> = (0..data.n as u32).filter(|row| !fold || row % 5 > 0).collect();
    let mut problem = Problem::regression(rows.iter().map(|row| data.y[*row as usize]).collect());
    problem.rows = RowMap::new(data.n, rows).unwrap();
    problem
}

fn lane(problem: &Arc<Problem>, method: &str, missing: Missing) -> Lane {
    let (method, spec) = (registry::find(method).unwrap(), MethodSpec::k(8));
    let selector = registry::make(method, &spec, problem, Budget::unlimited()).unwrap();
    let mut lane = Lane::new(Arc::clone(problem), selector);
    lane.policy = CheckPolicy { missing, ..CheckPolicy::default() };
    lane.pinned.insert("f33".into());
    lane
}

fn run(data: &Data, lanes: Vec<Lane>, scans: u32) -> RunReport {
    let options = RunOptions { scans, ..width(16) };
    Driver::new(&mut source(data), lanes, options).unwrap().run(&mut Quiet).unwrap()
}

fn digits(lane: &LaneReport) -> String {
    let LaneReport { selection, dropped, trace, scans, complete } = lane;
    format!("{selection:?} {dropped:?} {trace:?} {scans} {complete}")
}

#[test]
fn lanes_that_share_a_check_give_what_each_gives_alone() {
    let data = data();
    for missing in [Missing::Mean, Missing::Indicator] {
        let problems = [false, true].map(|fold| Arc::new(problem(&data, fold)));
        let all = || METHODS.iter().flat_map(|method| problems.iter().map(move |p| (p, *method)));
        let together = run(&data, all().map(|(p, method)| lane(p, method, missing)).collect(), 1);
        for ((problem, method), got) in all().zip(&together.lanes) {
            let alone = run(&data, vec![lane(problem, method, missing)], 1);
            assert!(!got.selection.selected.is_empty(), "{method}");
            assert_eq!(digits(got), digits(&alone.lanes[0]), "{method} {missing:?}");
        }
    }
}

#[test]
fn a_column_is_checked_once_for_each_problem_and_policy() {
    let data = data();
    let shared = Arc::new(problem(&data, true));
    let features = data.columns.len() as u64;
    let os_plus = |problem: &Arc<Problem>, missing| lane(problem, METHODS[1], missing);
    let checked = |lanes: Vec<Lane>| {
        let report = run(&data, lanes, 2);
        (report.checked, u64::from(report.scans) * features)
    };
    let (got, scans) = checked((0..5).map(|_| os_plus(&shared, Missing::Mean)).collect());
    assert_eq!(got, scans, "five lanes on one problem");
    // The same rows and weights are enough; other rows are checked apart, and so is another policy.
    let equal = Arc::new(problem(&data, true));
    let (got, scans) =
        checked(vec![os_plus(&shared, Missing::Mean), os_plus(&equal, Missing::Mean)]);
    assert_eq!(got, scans, "two problems on the same rows");
    let other = Arc::new(problem(&data, false));
    let (got, scans) =
        checked(vec![os_plus(&shared, Missing::Mean), os_plus(&other, Missing::Mean)]);
    assert_eq!(got, 2 * scans, "two problems");
    let (got, scans) =
        checked(vec![os_plus(&shared, Missing::Mean), os_plus(&shared, Missing::Zero)]);
    assert_eq!(got, 2 * scans, "two policies");
}

/// Columns of every storage and of many scales.
fn mixed(data: &Data) -> Generated {
    let n = data.n;
    let column = |(j, x): (usize, &Vec<f64>)| {
        let far = [0.0, 1e8, -3e4][j % 3];
        match j % 8 {
            0 => ColumnData::f32(x.iter().map(|x| *x as f32).collect()),
            1 => {
                let index: Vec<u32> =
                    (0..n as u32).filter(|i| (*i as usize + j).is_multiple_of(6)).collect();
                let value = Numbers::F64(index.iter().map(|i| x[*i as usize]).collect());
                ColumnData::Sparse { rows: n, index, value }
            }
            // One row has another value: in half of the lanes it is constant.
            2 => ColumnData::dense((0..n).map(|i| far + f64::from(u8::from(i == j % n))).collect()),
            3 => ColumnData::Whole(Whole::I8(x.iter().map(|x| (20.0 * x) as i8).collect())),
            4 => ColumnData::dense(
                x.iter()
                    .enumerate()
                    .map(|(i, x)| if i % 37 == j % 37 { f64::NAN } else { *x })
                    .collect(),
            ),
            5 => ColumnData::dense(x.iter().map(|x| 1e-9 * x).collect()),
            _ => ColumnData::dense(x.iter().map(|x| x + far).collect()),
        }
    };
    Generated::columns(n, data.columns.iter().enumerate().map(column).collect())
}

/// Both halves of the rows in some order; the last of an odd number is in neither.
fn halves(data: &Data, pair: usize) -> [Arc<Problem>; 2] {
    let mut rows: Vec<u32> = (0..data.n as u32).collect();
    rows.sort_by_key(|row| (*row as usize * (2 * pair + 31)) % 127);
    [0, 1].map(|side| {
        let mut half: Vec<u32> = rows.chunks_exact(2).map(|two| two[side]).collect();
        half.sort_unstable();
        let y = half.iter().map(|row| data.y[*row as usize]).collect();
        let mut problem = Problem::regression(y);
        problem.rows = RowMap::new(data.n, half).unwrap();
        Arc::new(problem)
    })
}

#[test]
fn brief_lanes_that_look_at_columns_together_select_what_each_selects_alone() {
    let data = Data::normal(121, 400, 5);
    let all: Vec<Arc<Problem>> = (0..4).flat_map(|pair| halves(&data, pair)).collect();
    for (reserve, intercept, blocks) in
        [(0, true, 128), (6, true, 7), (0, false, 33), (3, false, 1)]
    {
        let lane = |problem: &Arc<Problem>, brief| {
            let spec = MethodSpec::k(6).set("reserve", reserve as u64).set("intercept", intercept);
            let method = registry::find("os-plus").unwrap();
            let selector = registry::make(method, &spec, problem, Budget::unlimited()).unwrap();
            let mut lane = Lane::new(Arc::clone(problem), selector);
            lane.policy = CheckPolicy { missing: Missing::Mean, ..CheckPolicy::default() };
            lane.brief = brief;
            lane
        };
        let run = |lanes: Vec<Lane>| {
            let options = RunOptions { scans: 2, ..width(blocks) };
            Driver::new(&mut mixed(&data), lanes, options).unwrap().run(&mut Quiet).unwrap()
        };
        let together = run(all.iter().map(|problem| lane(problem, true)).collect());
        assert_eq!(together.checked, 800, "one look at a column for all lanes");
        for (problem, got) in all.iter().zip(&together.lanes) {
            let alone = run(vec![lane(problem, false)]);
            assert_eq!(alone.lanes[0].selection.selected.len(), 6);
            let (got, want) = (&got.selection, &alone.lanes[0].selection);
            assert_eq!(format!("{got:?}"), format!("{want:?}"), "{reserve} {intercept} {blocks}");
        }
    }
}
