//! Methods on rows: blocks, storages, saved states, missing values, budgets.

use keepnet::run::{RowCounts, RowDriver, RowMissing, RowObserver, RowOptions};
use keepnet::{Budget, Flow, Result, Row, RowBlock, RowLearner};

use crate::row_cases::{Case, P, Rows, Sample, assert_near, block, cases, shown};

#[test]
fn source_blocks_and_looks_change_no_digit() {
    for case in cases() {
        let all = case.rows(700, 3);
        let want = case.learn(&case.spec(3), &all);
        for width in [61, 256] {
            let mut parts = case.make(&case.spec(3));
            for part in all.chunks(width) {
                parts.learn_block(&block(part, false)).unwrap();
                parts.selection().unwrap();
            }
            let got = parts.selection().unwrap();
            assert_eq!(shown(&got), shown(&want), "{case} in blocks of {width}");
        }
        let every_feature = case.method.name == "ols";
        assert_eq!(want.selected.len(), if every_feature { P } else { 3 }, "{case}");
    }
}

#[test]
fn threads_change_no_digit() {
    for case in cases() {
        let all = case.rows(700, 13);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| shown(&case.learn(&case.spec(3), &all)))
        };
        let want = on(1);
        for threads in [2, 3] {
            assert_eq!(on(threads), want, "{case} on {threads} threads");
        }
    }
}

#[test]
fn a_learner_saved_after_any_block_goes_on_as_if_never_saved() {
    for case in cases() {
        let (all, spec) = (case.rows(400, 4), case.spec(4));
        let want = case.learn(&spec, &all);
        let mut learner = case.make(&spec);
        for part in all.chunks(50) {
            learner.learn_block(&block(part, false)).unwrap();
            let mut taken_up = case.make(&spec);
            taken_up.restore(&learner.save().unwrap()).unwrap();
            learner = taken_up;
        }
        assert_eq!(shown(&learner.selection().unwrap()), shown(&want), "{case}");
        assert!(learner.restore(b"nonsense").is_err(), "{case}");
    }
}

#[test]
fn sparse_rows_give_the_model_of_dense_rows() {
    for case in cases() {
        let all = case.rows(600, 5);
        let models = [false, true].map(|sparse| {
            let mut learner = case.make(&case.promised(4));
            learner.learn_block(&block(&all, sparse)).unwrap();
            learner.selection().unwrap()
        });
        assert_near(&case.to_string(), &models[0], &models[1], 1e-9, |_| 1.0);
    }
}

#[test]
fn narrow_rows_give_the_model_of_wide_ones() {
    for case in cases() {
        let mut all = case.rows(600, 14);
        all.iter_mut().flat_map(|(x, ..)| x).for_each(|x| *x = f64::from(*x as f32));
        let wide = case.learn(&case.promised(4), &all);
        let mut narrow = RowBlock::new(P, all.len());
        for (x, y, w) in &all {
            let x: Vec<f32> = x.iter().map(|x| *x as f32).collect();
            narrow.push(Row::F32(&x), *y, *w).unwrap();
        }
        let mut learner = case.make(&case.promised(4));
        learner.learn_block(&narrow).unwrap();
        assert_near(&case.to_string(), &wide, &learner.selection().unwrap(), 1e-9, |_| 1.0);
    }
}

/// Saves after each block.
#[derive(Default)]
struct Saves(Vec<Vec<u8>>);

impl RowObserver for Saves {
    fn progress(&mut self, _: &RowCounts, _: &dyn RowLearner) -> Result<Flow> {
        Ok(Flow { save: true, stop: false })
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        self.0.push(state);
        Ok(())
    }
}

#[test]
fn a_run_resumed_from_any_block_gives_every_digit() {
    for case in cases() {
        let (all, spec) = (case.rows(400, 15), case.spec(3));
        let options = RowOptions { block: 64, ..RowOptions::default() };
        let run = |state: Option<&Vec<u8>>| {
            let (mut source, mut learner) = (Rows::new(all.clone()), case.make(&spec));
            let mut driver = RowDriver::new(&mut source, &mut *learner, options);
            if let Some(state) = state {
                driver.restore(state).unwrap();
            }
            let mut saves = Saves::default();
            let counts = driver.run(&mut saves).unwrap().counts;
            assert_eq!((counts.input, counts.used), (400, 400), "{case}");
            (shown(&learner.selection().unwrap()), saves.0)
        };
        let (want, states) = run(None);
        assert_eq!(states.len(), 7, "{case}");
        for (at, state) in states.iter().enumerate() {
            assert_eq!(run(Some(state)).0, want, "{case} from block {}", at + 1);
        }
    }
}

fn driven(case: &Case, rows: Vec<Sample>, missing: RowMissing) -> Result<(String, RowCounts)> {
    let (mut source, mut learner) = (Rows::new(rows), case.make(&case.spec(3)));
    let options = RowOptions { missing, ..RowOptions::default() };
    let report = RowDriver::new(&mut source, &mut *learner, options).run(&mut Saves::default())?;
    Ok((shown(&learner.selection()?), report.counts))
}

#[test]
fn missing_values_meet_the_policy_before_any_method() {
    for case in cases() {
        let whole = case.rows(300, 16);
        let mut holes = whole.clone();
        holes[41].0[7] = f64::NAN;
        holes[99].1 = f64::NAN;
        let mut error = holes.clone();
        error.remove(99);
        let error = driven(&case, error, RowMissing::Error).unwrap_err().to_string();
        assert!(error.contains("f7") && error.contains("41"), "{case}: {error}");
        let without = |gone: &[usize]| -> Vec<Sample> {
            (0..300).filter(|i| !gone.contains(i)).map(|i| whole[i].clone()).collect()
        };
        let (got, counts) = driven(&case, holes.clone(), RowMissing::DropRow).unwrap();
        let counted = (counts.used, counts.dropped, counts.without_target);
        assert_eq!(counted, (298, 1, 1), "{case}");
        let (want, _) = driven(&case, without(&[41, 99]), RowMissing::Error).unwrap();
        assert_eq!(got, want, "{case}");
        let mut zeros = without(&[99]);
        zeros[41].0[7] = 0.0;
        let (got, counts) = driven(&case, holes, RowMissing::Zero).unwrap();
        assert_eq!((counts.used, counts.filled), (299, 1), "{case}");
        assert_eq!(got, driven(&case, zeros, RowMissing::Error).unwrap().0, "{case}");
    }
}

#[test]
fn over_budget_is_an_error_that_changes_nothing() {
    for case in cases() {
        let spec = case.spec(3);
        match case.try_make(&spec, Budget::bytes(64)) {
            Err(error) => assert!(error.to_string().contains("memory"), "{case}: {error}"),
            Ok(mut learner) => {
                let before = learner.save().unwrap();
                let error = learner.learn_block(&block(&case.rows(50, 17), false)).unwrap_err();
                assert!(error.to_string().contains("memory"), "{case}: {error}");
                assert!(learner.save().unwrap() == before, "{case}");
            }
        }
    }
}
