//! A run that was saved between any two blocks and taken up again.

use keepnet::{Flow, Observer, Order, Progress, Quiet, Result, RunOptions};

use crate::cases::{cases, digits};
use crate::common::{Data, width};

/// Saves after every block and goes on, or after one and stops.
struct Saves {
    stop: Option<usize>,
    states: Vec<Vec<u8>>,
}

impl Observer for Saves {
    fn progress(&mut self, _: &Progress) -> Result<Flow> {
        Ok(Flow { save: true, stop: self.stop == Some(self.states.len() + 1) })
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        self.states.push(state);
        Ok(())
    }
}

#[test]
fn a_resumed_run_gives_every_digit_of_an_unbroken_one() {
    let data = Data::normal(120, 240, 15);
    for case in cases() {
        let options = RunOptions { order: Order::Shuffled, ..width(32) };
        let lane = || case.lane(case.problem(&data));
        let want = case.driver(&mut data.dense(), lane(), options.clone()).run(&mut Quiet).unwrap();
        let mut all = Saves { stop: None, states: Vec::new() };
        let saved = case.driver(&mut data.dense(), lane(), options.clone()).run(&mut all).unwrap();
        assert_eq!(digits(&saved), digits(&want), "{case}: saving changes the run");
        // Groups are not cut, so their blocks may be wider.
        assert!(all.states.len() >= 7 * want.scans as usize, "{case}: {}", all.states.len());
        for (at, state) in all.states.iter().enumerate() {
            let mut source = data.dense();
            let mut driver = case.driver(&mut source, lane(), options.clone());
            driver.restore(state).unwrap();
            let got = driver.run(&mut Quiet).unwrap();
            assert_eq!(digits(&got), digits(&want), "{case} from block {}", at + 1);
            assert_eq!(got.lanes[0].trace, want.lanes[0].trace, "{case} from block {}", at + 1);
        }
    }
}

#[test]
fn a_stopped_run_says_so_and_goes_on() {
    let data = Data::normal(120, 240, 15);
    for case in cases() {
        let options = || RunOptions { order: Order::Shuffled, ..width(32) };
        let lane = || case.lane(case.problem(&data));
        let want = case.driver(&mut data.dense(), lane(), options()).run(&mut Quiet).unwrap();
        assert!(want.complete, "{case}");
        for block in [1, 4, 7] {
            let mut saves = Saves { stop: Some(block), states: Vec::new() };
            let part = case.driver(&mut data.dense(), lane(), options()).run(&mut saves).unwrap();
            assert!(!part.complete, "{case} stopped at block {block}");
            assert_eq!(saves.states.len(), block, "{case}");
            let mut source = data.dense();
            let mut driver = case.driver(&mut source, lane(), options());
            driver.restore(&saves.states[block - 1]).unwrap();
            assert_eq!(digits(&driver.run(&mut Quiet).unwrap()), digits(&want), "{case} {block}");
        }
    }
}

#[test]
fn half_a_state_is_refused() {
    let data = Data::normal(60, 64, 25);
    for case in cases() {
        let mut saves = Saves { stop: Some(1), states: Vec::new() };
        let lane = || case.lane(case.problem(&data));
        case.driver(&mut data.dense(), lane(), width(16)).run(&mut saves).unwrap();
        let mut source = data.dense();
        let mut driver = case.driver(&mut source, lane(), width(16));
        let state = &saves.states[0];
        assert!(driver.restore(&state[..state.len() / 2]).is_err(), "{case}");
        assert!(driver.restore(b"nonsense").is_err(), "{case}");
    }
}
