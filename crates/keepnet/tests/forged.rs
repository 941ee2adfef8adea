//! A saved state with nonsense inside, as one with a right checksum may have: refused, or taken
//! up without a panic. Each method's own state is changed in many places, by a fixed sequence.

mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{Data, width};
use keepnet::{
    Budget, Driver, Flow, Generated, Groups, Lane, LossKind, MethodSpec, Observer, Progress, Quiet,
    Result, registry,
};

/// Saves after the first block and ends there.
struct First(Vec<u8>);

impl Observer for First {
    fn progress(&mut self, _: &Progress) -> Result<Flow> {
        Ok(Flow { save: true, stop: true })
    }

    fn save(&mut self, state: Vec<u8>) -> Result<()> {
        self.0 = state;
        Ok(())
    }
}

/// A fixed sequence of numbers.
struct Sequence(u64);

impl Sequence {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// One change: a bit, a byte at an edge, bytes left out or doubled, a number that is none.
fn change(state: &mut Vec<u8>, by: &mut Sequence) {
    let at = by.below(state.len());
    match by.below(6) {
        0 => state[at] ^= 1 << by.below(8),
        1 => state[at] = [0, 1, 0x7f, 0x80, 0xff][by.below(5)],
        2 => drop(state.drain(at..(at + 1 + by.below(9)).min(state.len()))),
        3 => {
            let part = state[at..(at + 1 + by.below(9)).min(state.len())].to_vec();
            drop(state.splice(at..at, part));
        }
        4 => state.truncate(at.max(1)),
        _ => {
            let number = [f64::NAN, f64::INFINITY, -1e308, 0.0][by.below(4)].to_le_bytes();
            state.iter_mut().skip(at).zip(number).for_each(|(byte, new)| *byte = new);
        }
    }
}

fn driver<'a>(source: &'a mut Generated, data: &Data, spec: &MethodSpec, name: &str) -> Driver<'a> {
    let method = registry::find(name).unwrap();
    let problem = data.problem(spec.loss.unwrap_or(LossKind::Logistic));
    let selector = registry::make(method, spec, &problem, Budget::unlimited()).unwrap();
    let driver = Driver::new(source, vec![Lane::new(problem, selector)], width(16)).unwrap();
    match method.stream {
        keepnet::Stream::Groups => driver.with_groups(Groups::parse("block:5").unwrap().unwrap()),
        _ => driver,
    }
}

fn cases() -> Vec<(&'static str, MethodSpec)> {
    let columns = registry::methods().iter().filter(|m| m.stream != keepnet::Stream::Samples);
    let mut cases = Vec::new();
    for method in columns {
        let mut spec = MethodSpec::k(4);
        if method.name == "group-saola" {
            spec = MethodSpec::default();
        }
        if method.name == "asy-os" {
            spec = spec.set("centre", "simulated").set("workers", 2);
        }
        match method.has_loss {
            false => cases.push((method.name, spec)),
            true => cases.extend(
                [LossKind::Squared, LossKind::Logistic]
                    .map(|loss| (method.name, MethodSpec { loss: Some(loss), ..spec.clone() })),
            ),
        }
    }
    cases
}

#[test]
fn no_state_with_nonsense_inside_brings_a_run_down() {
    let data = Data::normal(30, 48, 3);
    let (mut refused, mut taken) = (0, 0);
    let mut broken = Vec::new();
    for (name, spec) in cases() {
        for sparse in [false, true] {
            let make = || if sparse { data.clone().thinned(0.8, 4).sparse() } else { data.dense() };
            let (mut first, mut source) = (First(Vec::new()), make());
            driver(&mut source, &data, &spec, name).run(&mut first).unwrap();
            let mut by = Sequence(5);
            for number in 0..150 {
                let mut state = first.0.clone();
                (0..=by.below(2)).for_each(|_| change(&mut state, &mut by));
                let ran = catch_unwind(AssertUnwindSafe(|| {
                    let mut source = make();
                    let mut driver = driver(&mut source, &data, &spec, name);
                    driver.restore(&state).and_then(|()| driver.run(&mut Quiet)).is_ok()
                }));
                match ran {
                    Ok(true) => taken += 1,
                    Ok(false) => refused += 1,
                    Err(_) => broken.push(format!("{name} {:?} {sparse} {number}", spec.loss)),
                }
            }
        }
    }
    println!("{refused} refused, {taken} taken up, {} panics", broken.len());
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(refused > taken / 4 && taken > 0);
}
