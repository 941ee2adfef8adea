//! The trace of a run on rows depends on the rows alone: not on the blocks that they come in, nor
//! on a break and a resume.

use keepnet::registry;
use keepnet::run::{RowCounts, RowDriver, RowMissing, RowObserver, RowOptions, TracePoint};
use keepnet::{
    Budget, Flow, MethodSpec, Result, Row, RowBlock, RowLearner, RowProblem, SampleSource,
};

const ROWS: usize = 3000;
const FEATURES: usize = 4;

/// Rows that come up to `piece` at a time; some have a missing value, some no target.
struct Pieces {
    names: Vec<String>,
    piece: usize,
    rows: usize,
    at: usize,
}

impl SampleSource for Pieces {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn fingerprint(&self) -> u64 {
        0
    }

    fn next_block(&mut self, out: &mut RowBlock) -> Result<bool> {
        let end = self.rows.min(self.at + self.piece.min(out.room()));
        for i in self.at..end {
            let mut x = [0.0; FEATURES];
            x.iter_mut().enumerate().for_each(|(j, x)| *x = ((i * (j + 3)) as f64).sin());
            let y = if i % 23 == 0 { f64::NAN } else { x[1] - 2.0 * x[3] };
            if i % 17 == 0 {
                x[2] = f64::NAN;
            }
            out.push(Row::F64(&x), y, 1.0)?;
        }
        self.at = end;
        Ok(end < self.rows)
    }
}

/// Ends after some blocks and keeps the state.
struct Ending {
    left: Option<usize>,
    state: Vec<u8>,
}

impl RowObserver for Ending {
    fn progress(&mut self, _: &RowCounts, _: &dyn RowLearner) -> Result<Flow> {
        let stop = self.left == Some(0);
        self.left = self.left.map(|left| left.saturating_sub(1));
        Ok(Flow { save: stop, stop })
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        self.state = state;
        Ok(())
    }
}

/// The trace, and the state where the run was ended.
fn run(
    method: &str,
    (rows, piece): (usize, usize),
    stop: Option<usize>,
    from: Option<&[u8]>,
) -> (Vec<TracePoint>, Vec<u8>) {
    let problem = RowProblem::regression(FEATURES);
    let method = registry::find(method).unwrap();
    let made = registry::make_rows(method, &MethodSpec::k(2), &problem, Budget::unlimited());
    let mut learner = made.unwrap();
    let mut source = Pieces { names: problem.names.clone(), piece, rows, at: 0 };
    let options = RowOptions { missing: RowMissing::DropRow, ..RowOptions::default() };
    let mut driver = RowDriver::new(&mut source, learner.as_mut(), options);
    if let Some(state) = from {
        driver.restore(state).unwrap();
    }
    let mut ending = Ending { left: stop, state: Vec::new() };
    let report = driver.run(&mut ending).unwrap();
    (report.filter.trace(), ending.state)
}

#[test]
fn neither_pieces_nor_a_resume_change_the_trace() {
    let (want, _) = run("sgd", (ROWS, 256), None, None);
    // 3,000 rows less those without a value or a target: 2,700 were used, ten times 256.
    let arrived: Vec<u64> = want.iter().map(|point| point.arrived).collect();
    assert_eq!(arrived, (1..=10).map(|point| 256 * point).collect::<Vec<_>>());
    assert!(want.iter().all(|point| point.loss.is_some() && point.kept > 0));
    for piece in [1, 7, 100, 255, 1000] {
        assert_eq!(run("sgd", (ROWS, piece), None, None).0, want, "pieces of {piece}");
    }
    for stop in [0, 1, 5, 20] {
        let (part, state) = run("sgd", (ROWS, 100), Some(stop), None);
        assert!(part.len() < want.len(), "{stop}");
        assert_eq!(run("sgd", (ROWS, 256), None, Some(&state)).0, want, "after {stop} blocks");
    }
}

#[test]
fn a_long_trace_is_thinned_to_200_points() {
    let (trace, _) = run("sgd", (120_000, 5000), None, None);
    let first = trace[0].arrived;
    assert!(first > 256 && first.is_multiple_of(256) && trace.len() <= 200);
    assert!(trace.iter().zip(1..).all(|(point, at)| point.arrived == first * at));
}

/// Running averages have a loss only once a model is extracted.
#[test]
fn a_method_without_a_running_loss_has_no_trace() {
    assert_eq!(run("annealed-ridge", (ROWS, 256), None, None).0, []);
}
